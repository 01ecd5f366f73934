# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# sfjit inject with a tracker that takes frames from samples, every access
# checked.

INJECT_SAN := $(patsubst %.c,$(O)/obj/san/%.o,$(wildcard \
	userspace/perfdata/*.c))
INJECT_TESTS := $(addprefix $(O)/tests/run/, inject-fake inject-mutate)

TESTS += $(INJECT_TESTS)

$(INJECT_SAN): $(O)/obj/san/%.o: %.c $(PERFDATA_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE $(SFG_SAN) -c -o $@ $<

$(O)/tests/run/inject-fake: $(CONVERT_SRC) tests/unit/inject/fake.c \
		$(INJECT_SAN)
$(O)/tests/run/inject-mutate: tests/unit/inject/mutate.c \
		tests/unit/inject/fake.c tests/lib/case.c $(INJECT_SAN)

$(INJECT_TESTS): $(PERFDATA_H) $(wildcard userspace/run/*.h) tests/lib/case.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE $(SFG_SAN) -Itests/lib \
		-iquote userspace/perfdata -iquote userspace/run \
		-iquote sframegen/cmd -o $@ \
		$(filter %.c %.o,$^)

# Only call frame information tells its frames.
$(O)/tests/run/inject-edges: tests/unit/inject/edges.c tests/lib/case.c \
		tests/lib/case.h tests/unit/inject/middle.h \
		$(O)/lib/libsfjit.a $(sfjit_h)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fomit-frame-pointer -Itests/lib -o $@ \
		$(filter %.c %.a,$^) -pthread

TESTS += $(O)/tests/run/inject-edges

$(O)/tests/unit/inject-table: tests/unit/inject-table.c tests/lib/case.c \
		tests/lib/case.h $(INJECT_SAN)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE $(SFG_SAN) -Itests/lib \
		-iquote userspace/perfdata -o $@ $< tests/lib/case.c \
		$(filter %/table.o %/order.o %/ends.o %/grow.o,$^)

TESTS += $(O)/tests/unit/inject-table
