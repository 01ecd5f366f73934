# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# All of sframegen once more with the sanitizers; its tests link that.

SFG_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all
SFG_SAN_OBJS := $(patsubst $(O)/obj/%,$(O)/obj/san/%, \
	$(SFG_LIB_OBJS) $(filter-out %/main.o,$(SFG_CMD_OBJS)))
SFG_UNIT := $(addprefix $(O)/tests/sframegen/,cfi section \
	layout output step template)
# What takes long is told by the basic blocks that are executed, not by a clock.
SFG_COUNTED := $(SFG_SAN_OBJS:$(O)/obj/san/%=$(O)/obj/counted/%)
SFG_HOSTILE := $(O)/tests/sframegen/hostile
SFG_TEST_I := -Isframegen/lib -Isframegen/cmd
SFG_TINY := $(O)/obj/tests/sframegen/tiny.so

TESTS += $(SFG_UNIT) $(SFG_HOSTILE) $(SFG_TINY)

$(SFG_SAN_OBJS): $(O)/obj/san/%.o: %.c $(SFG_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(SFG_TEST_I) $(CFLAGS) $(SFG_SAN) -c -o $@ $<

$(SFG_COUNTED): $(O)/obj/counted/%.o: %.c $(SFG_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(SFG_TEST_I) $(CFLAGS) $(SFG_SAN) \
		-fsanitize-coverage=trace-pc -c -o $@ $<

$(SFG_UNIT): $(SFG_SAN_OBJS)
$(SFG_HOSTILE): $(SFG_COUNTED)
$(SFG_HOSTILE): SFG_WRAP := -Wl,--wrap=memcpy,--wrap=memmove \
	-Wl,--wrap=memset,--wrap=memchr,--wrap=memcmp,--wrap=strlen,--wrap=strnlen

$(SFG_UNIT) $(SFG_HOSTILE): $(O)/tests/sframegen/%: tests/sframegen/%.c \
		tests/sframegen/test.h tests/lib/tap.c tests/lib/tap.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(SFG_TEST_I) $(CFLAGS) $(SFG_SAN) $(SFG_WRAP) \
		-o $@ $(filter %.c %.o,$^) -lelf

$(O)/tests/sframegen/template: $(O)/gen/sfjit_trampoline.h

# Small enough to be cut at each length.
$(SFG_TINY): tests/sframegen/tiny.c
	@mkdir -p $(@D)
	$(CC) -O2 -fPIC -fasynchronous-unwind-tables -shared -nostdlib \
		-Wl,-z,noseparate-code,-z,max-page-size=4096 -o $@ $<

$(SFG_HOSTILE): | $(SFG_TINY) $(TRAMPOLINE_SFRAME)
