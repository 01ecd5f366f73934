# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# What looks at instructions, and the parts of the agent for HotSpot that need no
# Java, with the sanitizers.

HOTSPOT_UNIT := $(addprefix $(O)/tests/runtimes/hotspot/, bare flow vm \
	abi early table)
HOTSPOT_UNIT_NOW := $(O)/tests/runtimes/hotspot/early-now
HOTSPOT_UNIT_C := tests/lib/tap.c arch/bare.c \
	$(wildcard arch/x86_64/flow/*.c) \
	$(addprefix userspace/runtimes/hotspot/, vm.c stubs.c table.c early.c import.c)

TESTS += $(HOTSPOT_UNIT) $(HOTSPOT_UNIT_NOW)

# The newest JDK of this machine, if it has one.
JDK := $(lastword $(sort $(wildcard /usr/lib/jvm/java-*/include/jvmti.h)))
JDK_INC = $(addprefix -DJDK -I, $(JDK:/jvmti.h=) )
JDK_INC += $(addprefix -I, $(JDK:/jvmti.h=/linux))

hotspot_cc = @mkdir -p $(@D) && $(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE \
	-Iarch/x86_64/flow -iquote userspace/runtimes/hotspot $(JDK_INC) \
	-fsanitize=address,undefined -fno-sanitize-recover=all

HOTSPOT_UNIT_OBJ := $(HOTSPOT_UNIT_C:%.c=$(O)/obj/san/hotspot/%.o)

$(HOTSPOT_UNIT_OBJ): $(O)/obj/san/hotspot/%.o: %.c tests/lib/tap.h $(FLOW_H) \
		$(wildcard userspace/runtimes/hotspot/*.h) $(sfjit_h)
	$(hotspot_cc) -c -o $@ $<

$(HOTSPOT_UNIT): $(O)/tests/runtimes/hotspot/%: tests/runtimes/hotspot/%.c
$(HOTSPOT_UNIT_NOW): tests/runtimes/hotspot/early.c

# Imports are read when they are first called, or all at the start and protected.
$(HOTSPOT_UNIT): HOTSPOT_UNIT_FLAGS := -Wl,-z,lazy
$(HOTSPOT_UNIT_NOW): HOTSPOT_UNIT_FLAGS := -Wl,-z,now -fno-plt

$(HOTSPOT_UNIT) $(HOTSPOT_UNIT_NOW): tests/lib/tap.h $(HOTSPOT_UNIT_OBJ) \
		$(O)/lib/libsfjit.a $(FLOW_H) $(wildcard userspace/runtimes/hotspot/*.h)
	$(hotspot_cc) $(HOTSPOT_UNIT_FLAGS) -pthread -o $@ \
		$(filter %.c %.o %.a,$^)
