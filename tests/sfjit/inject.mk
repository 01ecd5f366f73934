# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# sfjit inject with a tracker that takes frames from samples, every access
# checked.

INJECT_SAN := $(patsubst %.c,$(O)/obj/san/%.o,$(wildcard \
	userspace/sfjit/perfdata/*.c))
INJECT_TESTS := $(addprefix $(O)/tests/sfjit/programs/, inject-fake inject-mutate)

TESTS += $(INJECT_TESTS)

$(INJECT_SAN): $(O)/obj/san/%.o: %.c $(PERFDATA_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE $(SFG_SAN) -c -o $@ $<

$(O)/tests/sfjit/programs/inject-fake: $(CONVERT_SRC) tests/sfjit/inject/fake.c \
		$(INJECT_SAN)
$(O)/tests/sfjit/programs/inject-mutate: tests/sfjit/inject/mutate.c \
		tests/sfjit/inject/fake.c tests/lib/tap.c $(INJECT_SAN)

$(INJECT_TESTS): $(PERFDATA_H) $(wildcard userspace/sfjit/*.h) tests/lib/tap.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE $(SFG_SAN) -Itests/lib \
		-iquote userspace/sfjit/perfdata -iquote userspace/sfjit \
		-iquote sframegen/cmd -o $@ \
		$(filter %.c %.o,$^)

# Only call frame information tells its frames.
$(O)/tests/sfjit/programs/inject-edges: tests/sfjit/inject/edges.c tests/lib/tap.c \
		tests/lib/tap.h tests/sfjit/inject/middle.h \
		$(O)/lib/libsfjit.a $(sfjit_h)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fomit-frame-pointer -Itests/lib -o $@ \
		$(filter %.c %.a,$^) -pthread

TESTS += $(O)/tests/sfjit/programs/inject-edges

$(O)/tests/sfjit/inject-table: tests/sfjit/inject-table.c tests/lib/tap.c \
		tests/lib/tap.h $(INJECT_SAN)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE $(SFG_SAN) -Itests/lib \
		-iquote userspace/sfjit/perfdata -o $@ $< tests/lib/tap.c \
		$(filter %/table.o %/order.o %/ends.o %/grow.o,$^)

TESTS += $(O)/tests/sfjit/inject-table
