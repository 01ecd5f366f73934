# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

ifdef amd64
# The library's parts, with every access checked; and with samples of real programs:
# tests/kernel/replay has more that walks them.
room.tests/stacks := -D_GNU_SOURCE -Itests/lib -Iuserspace/stacks
room.tests/kernel/replay := -D_GNU_SOURCE -Itests/lib
san_tests += stacks/eh-frame stacks/history stacks/tracker
stacks_san := $(addprefix $T/, stacks/eh-frame stacks/history stacks/tracker \
	kernel/replay/steps)

$(stacks_san): private libs := -lelf
$(stacks_san): $(call objects,userspace/stacks/*.c sframegen/lib/*.c,san/)

$T/kernel/replay/steps: tests/kernel/replay/steps.c $(patsubst %,$(O)/obj/san/%.o, \
		tests/lib/tap tests/kernel/replay/corpus)
	$(program) $(san)

# It steps through itself: without the sanitizers' code.
plain_tests += stacks/walk
$T/stacks/walk: private flags := -fno-builtin -Wl,-z,lazy
$T/stacks/walk: private libs := -lelf -lm
$T/stacks/walk: $(O)/lib/libsfjit-stacks.a

TESTS += $(call in_tests,kernel/replay/steps) $T/stacks/programs/stacks-edges

$T/stacks/programs/stacks-edges: tests/stacks/edges.c
	$(program)
endif
