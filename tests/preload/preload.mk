# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# Parts that read untrusted memory, with every access checked.
room.tests/preload := -D_GNU_SOURCE -Iuserspace/preload
readers := $(if $(walks),amend covers image \
	$(if $(amd64),borrowed debug-frame frames symfile))
san_tests += $(readers:%=preload/%)

# malloc() is the arena's, which a sanitizer would replace.
plain_tests += $(if $(walks),preload/arena)
$T/preload/arena: private flags := -fno-builtin
$T/preload/arena: $(O)/obj/userspace/preload/arena.o

preload_image := cfi image self
# $(call reader,PART...)
reader = $(patsubst %,$(O)/obj/san/userspace/preload/%.o,$(1))
$T/preload/amend: $(call reader,amend $(preload_image)) $(preload_flow:%=$(O)/obj/san/%.o)
$T/preload/borrowed: $(call reader,amend) $(preload_flow:%=$(O)/obj/san/%.o)
$T/preload/covers: $(call reader,covers store)
$T/preload/image: $(call reader,$(preload_image) sys table)
$T/preload/debug-frame: $(call reader,cfi self)
$T/preload/frames: $(call reader,cfi self)
$T/preload/symfile: $(call reader,cfi self)
$(readers:%=$T/preload/%): $(call objects,sframegen/lib/*.c,san/)

# Programs for the tests of sfjit run, first the portable ones.
run := $T/preload/programs
run_any := filter state prefork hello
run_same := debugger fork_scan later loader refused remap
run_plugins := 1.so 2.so -gap.so -gaps.so -sparse.so -maps.so -bare.so -gdb.so \
	-anonymous.so -debug.so -mono.so -mixed.so -assembly.so
run_other := gdb-jit guess lazy maps jit jit-mistakes hello-static prefork-static bare hello-asan unwind-jit user-tls \
	user-plugin libframes.so formats.so ptraces.so stop.so libtls.so libpcre2-8.so \
	plugin-jit.so plugin-early.so plugin-broken.so unwind/libunwind.so.1 \
	origin/libopener.so origin/sub/libhidden.so hello-bare stripped/loader \
	stripped/plugin1.so stripped/plugin-mixed.so stripped/plugin-assembly.so

programs += $(addprefix preload/programs/,$(run_any) $(run_same))
TESTS += $(if $(amd64),$(addprefix $(run)/,$(run_other)) \
	$(run_plugins:%=$(run)/plugin%))

# Sets the name of the table in the cache, without readelf.
run_id = -Wl,--build-id=0x$(firstword $(shell printf %s '$(@F)' | sha1sum))
$(addprefix $(run)/, state prefork hello loader plugin1.so plugin2.so plugin-gdb.so \
	plugin-jit.so plugin-debug.so plugin-mixed.so plugin-assembly.so): private run_named = $(run_id)
room.tests/preload/programs = $(run_named)
run_so = $(program) -shared -fPIC

$(run)/refused: private libs := -pthread
$(run)/loader: private libs := -ldl -pthread
$(run)/fork_scan: private libs := -ldl -pthread
$(run)/remap: private libs := -ldl

# Copies without call frame information, and without symbols.
$(run)/hello-bare: $(run)/hello-static
	$(call to,OBJCOPY) $(OBJCOPY) --remove-section=.eh_frame \
		--remove-section=.gcc_except_table $< $@
$(run)/stripped/%: $(run)/%
	$(call to,OBJCOPY) $(OBJCOPY) --strip-all $< $@

$(run)/hello-%: tests/preload/programs/hello.c
	$(program)
$(run)/prefork-static: tests/preload/programs/prefork.c
	$(program)
$(run)/bare: tests/preload/programs/bare.c
	$(program)
$(run)/hello-static: private flags := -static
$(run)/prefork-static: private flags := -static -Wl,--no-eh-frame-hdr
$(run)/bare: private flags := -static -nostdlib -g0 -fno-asynchronous-unwind-tables \
	-fno-stack-protector
$(run)/hello-asan: private flags := -fsanitize=address

# -rdynamic: gdb's symbols must be dynamic. One program is at a fixed address.
# libgcc_s: functions of libgcc.a cannot be interposed.
$(run)/gdb-jit: tests/preload/programs/gdb_jit.c
	$(program) -rdynamic -no-pie -fno-pie
$(run)/jit $(run)/jit-mistakes: tests/preload/programs/jit.c \
		$(O)/obj/tests/lib/tap.o
	$(program) -rdynamic -lgcc_s -ldl -pthread -Wl,-rpath,'$$ORIGIN'
$(run)/jit-mistakes: $(run)/libframes.so

# A libsfjit in the program, and one in the library.
$(run)/guess: tests/preload/programs/guess.c $(O)/obj/tests/lib/tap.o \
		$(O)/lib/libsfjit.a $(O)/lib/libsframegen.a \
		$(run)/libpcre2-guess.so
	$(program) -pthread -Wl,-rpath,'$$ORIGIN'
$(run)/libpcre2-guess.so: tests/preload/programs/guess_library.c \
		$(O)/lib/libsfjit.a
	$(run_so) -pthread -Wl,-soname,$(@F) -Wl,--exclude-libs,ALL

$(run)/lazy: tests/preload/programs/lazy.c $(O)/obj/tests/lib/tap.o \
		$(run)/liblazy.so
	$(program) -Wl,-z,lazy -Wl,-rpath,'$$ORIGIN'
$(run)/liblazy.so: tests/preload/programs/lazy_library.c
	$(run_so) -Wl,-soname,$(@F)

# It needs libunwind.so.1, but neither libgcc_s nor a path to find it.
$(run)/unwind/libunwind.so.1: tests/preload/programs/unwind_stub.c
	$(run_so) -Wl,-soname,$(@F)
$(run)/unwind-jit: tests/preload/programs/unwind.c $(O)/obj/tests/lib/tap.o \
		$(run)/unwind/libunwind.so.1
	$(program)

$(run)/libframes.so $(run)/libtls.so: $(run)/lib%.so: tests/preload/programs/%.c
	$(run_so)
$(run)/formats.so $(run)/ptraces.so $(run)/stop.so: $(run)/%.so: tests/preload/programs/%.c
	$(run_so)
$(run)/ptraces.so: private flags := -D_GNU_SOURCE
$(run)/ptraces.so: private libs := -ldl

# A library whose name identifies its JIT, and one of another name; one without
# crti.o, whose load calls nothing of the module.
$(run_plugins:%=$(run)/plugin%) $(run)/libpcre2-8.so $(run)/origin/sub/libhidden.so: \
		tests/preload/programs/plugin.c
	$(run_so)
$(run)/plugin1.so: private flags := -DNUMBER=1
$(run)/plugin2.so: private flags := -DNUMBER=2
$(run)/plugin-gap.so: private flags := -DNUMBER=3 -DGAP -fno-toplevel-reorder
$(run)/plugin-gaps.so: private flags := -DNUMBER=9 -DGAPS -fno-toplevel-reorder
$(run)/plugin-sparse.so: private flags := -DNUMBER=10 -DSPARSE -fno-toplevel-reorder
$(run)/plugin-bare.so: private flags := -DNUMBER=4 -nostartfiles
$(run)/plugin-anonymous.so: private flags := -DNUMBER=5 -Wl,--build-id=none
# Without .eh_frame: one with .debug_frame, and one as Mono compiles them.
$(addprefix $(run)/plugin,-debug.so -mono.so): private \
	room.tests/preload/programs += \
	-nostdlib -fno-asynchronous-unwind-tables -Wl,--no-eh-frame-hdr
$(run)/plugin-debug.so: private flags := -DNUMBER=11 -g -O0
$(run)/plugin-mono.so: private flags := -DNUMBER=12 -DMONO -g0
$(run)/plugin-mixed.so: private flags := -DNUMBER=13 -DMIXED \
	-Wl,-z,noseparate-code
$(run)/plugin-assembly.so: private flags := -DNUMBER=14 -DASSEMBLY
$(run)/origin/sub/libhidden.so: private flags := -DNUMBER=6
$(run)/plugin-gdb.so: private flags := -DNUMBER=7 -DGDB -fno-toplevel-reorder
$(run)/libpcre2-8.so $(run)/plugin-maps.so: private flags := -DNUMBER=8 -DMAPS

$(run)/maps: tests/preload/programs/maps.c tests/preload/programs/plugin.c
	$(program) tests/preload/programs/plugin.c -DNUMBER=8 -DMAPS

$(run)/plugin-jit.so: tests/preload/programs/plugin_jit.c
	$(run_so) -fno-toplevel-reorder

# Nothing in it is relocated when its resolver runs.
$(run)/plugin-early.so: tests/preload/programs/early.c
	$(run_so) -fno-stack-protector

# A length that points outside of .eh_frame.
$(run)/plugin-broken.so: $(run)/plugin2.so
	$(call to,GEN) objcopy -O binary --only-section=.eh_frame $< $@.cfi
	@printf '\377\377\377\177' | dd of=$@.cfi conv=notrunc status=none
	@objcopy --update-section .eh_frame=$@.cfi $< $@

$(run)/user-tls $(run)/user-plugin: tests/preload/programs/user.c
	$(program) -Wl,-rpath,'$$ORIGIN$(origin)'
$(run)/user-tls: $(run)/libtls.so
$(run)/user-plugin: private origin := /origin
$(run)/user-plugin: $(run)/origin/libopener.so

$(run)/origin/libopener.so: tests/preload/programs/origin.c
	$(run_so) -ldl -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN/sub'
