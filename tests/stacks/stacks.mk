# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# The library's parts, with every access checked.
STACKS_SAN := $(patsubst %.c,$(O)/obj/san/%.o,$(wildcard userspace/stacks/*.c))
STACKS_UNIT := $(addprefix $(O)/tests/stacks/, history tracker)

TESTS += $(STACKS_UNIT) $(O)/tests/stacks/walk

$(STACKS_SAN): $(O)/obj/san/%.o: %.c $(STACKS_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE $(CFLAGS) $(SFG_SAN) -c -o $@ $<

$(STACKS_UNIT): $(O)/tests/stacks/%: tests/stacks/%.c tests/lib/tap.c tests/stacks/test.h \
		tests/lib/tap.h $(STACKS_SAN) $(SFG_SAN_OBJS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE $(CFLAGS) $(SFG_SAN) -Itests/lib \
		-Iuserspace/stacks -o $@ $(filter %.c %.o,$^) -lelf

# It steps through itself: without the sanitizers' code.
$(O)/tests/stacks/walk: tests/stacks/walk.c tests/stacks/test.h \
		tests/lib/tap.c tests/lib/tap.h $(O)/lib/libsfjit-stacks.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE $(CFLAGS) -fno-builtin -Itests/lib \
		-Wl,-z,lazy -o $@ $(filter %.c %.a,$^) -lelf -lm

# Samples of real programs: tests/kernel/replay has more that walks them.
$(O)/tests/kernel/replay/steps: tests/kernel/replay/steps.c tests/kernel/replay/corpus.c \
		tests/lib/tap.c tests/lib/tap.h \
		$(wildcard tests/kernel/replay/*.h) $(STACKS_SAN) $(SFG_SAN_OBJS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE $(SFG_SAN) -Itests/lib \
		-o $@ $(filter %.c %.o,$^) -lelf

TESTS += $(O)/tests/kernel/replay/steps

TESTS += $(O)/tests/sfjit/programs/record-fork \
	$(O)/tests/stacks/programs/stacks-edges

$(O)/tests/sfjit/programs/record-fork: tests/sfjit/record-fork.c
$(O)/tests/stacks/programs/stacks-edges: tests/stacks/edges.c
$(O)/tests/sfjit/programs/record-fork $(O)/tests/stacks/programs/stacks-edges:
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $<
