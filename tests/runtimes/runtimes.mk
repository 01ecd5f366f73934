# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# Tests of instruction analysis and of the parts of the HotSpot agent that need
# no Java, with the sanitizers; and the newest JDK of this machine, if any.
JDK := $(patsubst %/jvmti.h,%,$(lastword $(sort $(wildcard \
	/usr/lib/jvm/java-*/include/jvmti.h))))
room.tests/runtimes/hotspot := -Iarch/x86_64/flow -Isframegen/lib -iquote \
	userspace/runtimes/hotspot $(if $(JDK),-DJDK -I$(JDK) -I$(JDK)/linux)
hotspot_unit := $(addprefix $T/runtimes/hotspot/, abi bare early flow table vm)

ifdef amd64
san_tests += $(hotspot_unit:$T/%=%)
other_tests += $T/runtimes/hotspot/early-now
endif

$(hotspot_unit) $T/runtimes/hotspot/early-now: $(call objects,arch/bare.c \
	arch/x86_64/flow/*.c $(addprefix userspace/runtimes/hotspot/, \
	vm.c stubs.c table.c early.c import.c flow.c),san/) $(O)/lib/libsfjit.a \
	$(O)/lib/libsframegen.a

# Imports are bound lazily; or at the start, and protected.
$(hotspot_unit): private flags := -D_GNU_SOURCE -pthread -Wl,-z,lazy
$T/runtimes/hotspot/early-now: tests/runtimes/hotspot/early.c \
		$(O)/obj/san/tests/lib/tap.o
	$(program) $(san) -D_GNU_SOURCE -pthread -Wl,-z,now -fno-plt

hotspot_step := $(addprefix $T/runtimes/hotspot/programs/, step record.so)
TESTS += $(if $(amd64),$(hotspot_step))

$T/runtimes/hotspot/programs/step: tests/runtimes/hotspot/step.c \
		$(O)/lib/libsframegen.a
	$(program)
$T/runtimes/hotspot/programs/record.so: tests/runtimes/hotspot/record.c
	$(program) -fPIC -shared

# Compiled by javac, which not every test needs.
$T/system/jits/hotspot/Churn.class: tests/runtimes/hotspot/Churn.java
	$(call to,JAVAC) javac --release 17 -d $(@D) $<

jits-java: $T/system/jits/hotspot/Churn.class $(hotspot_step)

# The reader of Lua with the Lua of this machine, and without libsfjit.
room.tests/runtimes/lua := -isystem $(LUA_INC) -iquote userspace/runtimes/lua
plain_tests += $(if $(and $(LUA_INC),$(amd64)),runtimes/lua/steps)
$T/runtimes/lua/steps: private libs := -llua5.4 -pthread -Wl,-z,now
$T/runtimes/lua/steps: $(filter-out %/module.o,$(call objects, \
	userspace/runtimes/lua/*.c))

# The reader of CPython.
cpython_reader := $T/runtimes/python/programs/_reader.so
room.tests/runtimes/python = $(python_cflags) -D_GNU_SOURCE
TESTS += $(if $(amd64),$(cpython_reader))

$(cpython_reader): tests/runtimes/python/reader.c $(call objects, \
		userspace/runtimes/python/assist*.c) $(O)/lib/libsframegen.a
	$(program) -fPIC -shared -pthread

cpython-reader: $(cpython_reader)

.PHONY: cpython-reader jits-java
