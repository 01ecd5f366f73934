# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

room.tests/libsfjit := -pthread
lib_tests = $(addprefix $T/libsfjit/,$(1))
lib_san := $(call objects,userspace/libsfjit/*.c sframegen/lib/*.c,san/)
lib_race := $(call objects,userspace/libsfjit/*.c sframegen/lib/*.c,race/)
lib_faults := $(O)/obj/userspace/libsfjit-test.a $(O)/lib/libsframegen.a

# With the library as programs link it, without and with libsframegen.
lib_plain := atfork names node $(if $(amd64),absent call memory signals threads)
lib_both := jitdump section
# These define sfjit_fault() and use hidden symbols.
lib_inner := pool register $(if $(amd64),alloc assist assist-names debug fork)
lib_checked := area check check-packed eh-frame epoch rows

plain_tests += $(addprefix libsfjit/,$(lib_plain) $(lib_both) $(lib_inner))
san_tests += $(addprefix libsfjit/,$(lib_checked))

$(call lib_tests,$(lib_plain) $(lib_both)): $(O)/lib/libsfjit.a
$(call lib_tests,$(lib_both)): $(O)/lib/libsframegen.a
$(call lib_tests,$(lib_inner)): $(lib_faults) | $(O)/gen/sfjit_trampoline.h
$(call lib_tests,$(lib_checked)): $(lib_san) | $(SFRAMEGEN)

$T/libsfjit/call: $(O)/obj/tests/libsfjit/saved-registers.o
$T/libsfjit/fork: private flags := -Wl,--wrap=pthread_atfork
$T/libsfjit/node: private flags := -Wl,--wrap=syscall
# Its allocator is between the library and libc's.
$T/libsfjit/alloc: private flags = $(patsubst %,-Wl$(comma)--wrap=%,malloc calloc \
	realloc free strdup)

ifdef amd64
# With the shared library, and these with another copy of it in a plugin.
lib_shared := cover two assist-two
plain_tests += $(addprefix libsfjit/,$(lib_shared) client)
other_tests += $(call lib_tests,atfork-shared area-races assist-races epoch-races)
TESTS += $(call lib_tests,$(addprefix programs/, kernel two-plugin.so \
	assist-plugin.so))

$(call lib_tests,$(lib_shared) atfork-shared): $(O)/lib/libsfjit.so
$(call lib_tests,$(lib_shared)): private libs := -Wl,-rpath,'$$ORIGIN/../../lib'
$T/libsfjit/cover: private flags := -D_GNU_SOURCE
$T/libsfjit/cover: | $(PRELOAD)
$T/libsfjit/two: | $T/libsfjit/programs/two-plugin.so
$T/libsfjit/assist-two: | $T/libsfjit/programs/assist-plugin.so

$T/libsfjit/atfork-shared: tests/libsfjit/atfork.c $(O)/obj/tests/lib/tap.o
	$(program) -Wl,-rpath,$(abspath $(O)/lib)

$T/libsfjit/programs/%-plugin.so: tests/libsfjit/%-plugin.c $(O)/lib/libsfjit.a
	$(program) -fPIC -shared

# For a guest: tests/system/guest/library.sh.
$T/libsfjit/programs/kernel: tests/libsfjit/kernel.c $(O)/obj/tests/lib/tap.o \
		$(O)/lib/libsfjit.a
	$(program)

$T/libsfjit/%-races: tests/libsfjit/%.c $(O)/obj/race/tests/lib/tap.o $(lib_race)
	$(program) $(race)
$T/libsfjit/assist-races: tests/libsfjit/assist-names.c \
		$(O)/obj/race/tests/lib/tap.o $(lib_race)
	$(program) $(race)
endif
