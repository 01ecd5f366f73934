# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# The library's parts, with every access checked.
STACKS_SAN := $(patsubst %.c,$(O)/obj/san/%.o,$(wildcard userspace/stacks/*.c))
STACKS_UNIT := $(addprefix $(O)/tests/unit/, stacks-history stacks-tracker)

TESTS += $(STACKS_UNIT) $(O)/tests/unit/stacks-walk

$(STACKS_SAN): $(O)/obj/san/%.o: %.c $(STACKS_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE $(CFLAGS) $(SFG_SAN) -c -o $@ $<

$(STACKS_UNIT): $(O)/tests/unit/%: tests/unit/%.c tests/lib/tap.c tests/unit/stacks-test.h \
		tests/lib/tap.h $(STACKS_SAN) $(SFG_SAN_OBJS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE $(CFLAGS) $(SFG_SAN) -Itests/lib \
		-Iuserspace/stacks -o $@ $(filter %.c %.o,$^) -lelf

# It steps through itself: without the sanitizers' code.
$(O)/tests/unit/stacks-walk: tests/unit/stacks-walk.c tests/unit/stacks-test.h \
		tests/lib/tap.c tests/lib/tap.h $(O)/lib/libsfjit-stacks.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE $(CFLAGS) -fno-builtin -Itests/lib \
		-Wl,-z,lazy -o $@ $(filter %.c %.a,$^) -lelf -lm

# Samples of real programs: tests/replay has more that walks them.
$(O)/tests/run/replay-steps: tests/replay/steps.c tests/replay/corpus.c \
		tests/lib/tap.c tests/lib/tap.h \
		$(wildcard tests/replay/*.h) $(STACKS_SAN) $(SFG_SAN_OBJS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE $(SFG_SAN) -Itests/lib \
		-o $@ $(filter %.c %.o,$^) -lelf

TESTS += $(O)/tests/run/replay-steps

TESTS += $(addprefix $(O)/tests/run/, record-fork stacks-edges)

$(addprefix $(O)/tests/run/, record-fork stacks-edges): $(O)/tests/run/%: \
		tests/unit/%.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $<
