# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# What looks at instructions, and the parts of the agent for HotSpot that need no
# Java, with the sanitizers.

HOTSPOT_UNIT := $(addprefix $(O)/tests/unit/, flow-bare hotspot-flow hotspot-vm \
	hotspot-abi)

TESTS += $(HOTSPOT_UNIT)

# The newest JDK of this machine, if it has one.
JDK := $(lastword $(sort $(wildcard /usr/lib/jvm/java-*/include/jvmti.h)))
JDK_INC = $(addprefix -DJDK -I, $(JDK:/jvmti.h=) )
JDK_INC += $(addprefix -I, $(JDK:/jvmti.h=/linux))

$(HOTSPOT_UNIT): $(O)/tests/unit/%: tests/unit/%.c tests/lib/case.c \
		tests/lib/case.h $(FLOW_H) $(wildcard arch/bare.c \
		arch/x86_64/flow/*.c userspace/hotspot/*.[ch])
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -Iarch/x86_64/flow \
		-iquote userspace/hotspot $(JDK_INC) -fsanitize=address,undefined \
		-fno-sanitize-recover=all -o $@ $< tests/lib/case.c \
		arch/bare.c $(wildcard arch/x86_64/flow/*.c) \
		userspace/hotspot/vm.c userspace/hotspot/stubs.c
