# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What the tests of sfjit run run, besides run-any.mk: build/tests/preload/programs

RUN_PROGRAMS := $(RUN_ANY) $(addprefix $(RUN_TESTS)/, jit jit-mistakes gdb-jit \
	debugger unwind-jit later loader refused hello-static hello-asan user-tls \
	user-plugin)
RUN_LIBRARIES := $(addprefix $(RUN_TESTS)/, libframes.so plugin1.so plugin2.so \
	formats.so ptraces.so plugin-gap.so plugin-bare.so plugin-early.so \
	libpcre2-8.so plugin-maps.so unwind/libunwind.so.1 \
	plugin-gdb.so plugin-jit.so plugin-anonymous.so plugin-broken.so libtls.so \
	origin/libopener.so origin/sub/libhidden.so)

TESTS += $(RUN_PROGRAMS) $(RUN_LIBRARIES) $(RUN_READERS) $(O)/tests/sfjit/ps

run_so = $(run_cc) -shared -fPIC

# At a fixed address.
$(RUN_TESTS)/gdb-jit: tests/preload/programs/gdb_jit.c tests/preload/programs/jit_code.h \
		tests/preload/programs/jit_elf.h tests/preload/programs/jit_gdb.h
	$(run_cc) -rdynamic -no-pie -fno-pie -o $@ $<

$(RUN_TESTS)/debugger: tests/preload/programs/debugger.c
	$(run_cc) -o $@ $<

# It needs libunwind.so.1, and neither libgcc_s nor a path to find it by.
$(RUN_TESTS)/unwind/libunwind.so.1: tests/preload/programs/unwind_stub.c
	$(run_so) -Wl,-soname,$(@F) -o $@ $<

$(RUN_TESTS)/unwind-jit: tests/preload/programs/unwind.c tests/preload/programs/jit_code.h \
		tests/lib/tap.c tests/lib/tap.h \
		$(RUN_TESTS)/unwind/libunwind.so.1
	$(run_cc) -o $@ $(filter %.c,$^) $(RUN_TESTS)/unwind/libunwind.so.1

$(RUN_TESTS)/later: tests/preload/programs/later.c
	$(run_cc) -o $@ $< -ldl

$(RUN_TESTS)/refused: tests/preload/programs/refused.c
	$(run_cc) -I sframegen/include -o $@ $< -pthread

$(RUN_TESTS)/loader: tests/preload/programs/loader.c
	$(run_cc) $(run_id) -o $@ $< -ldl -pthread

$(RUN_TESTS)/libframes.so: tests/preload/programs/frames.c
	$(run_so) -o $@ $<

# libgcc_s: the functions of libgcc.a cannot be interposed.
# -rdynamic: what gdb looks for is among the dynamic symbols.
run_jit := tests/preload/programs/jit.c tests/preload/programs/jit_code.h \
	tests/preload/programs/jit_elf.h tests/preload/programs/jit_gdb.h tests/lib/tap.c \
	tests/lib/tap.h

$(RUN_TESTS)/jit: $(run_jit)
	$(run_cc) -rdynamic -o $@ $(filter %.c,$^) -lgcc_s -ldl -pthread

$(RUN_TESTS)/jit-mistakes: $(run_jit) $(RUN_TESTS)/libframes.so
	$(run_cc) -rdynamic -o $@ $(filter %.c,$^) $(RUN_TESTS)/libframes.so -lgcc_s -ldl -pthread \
		'-Wl,-rpath,$$ORIGIN'

$(RUN_TESTS)/hello-static: tests/preload/programs/hello.c
	$(run_cc) -static -o $@ $<

$(RUN_TESTS)/hello-asan: tests/preload/programs/hello.c
	$(run_cc) -fsanitize=address -o $@ $<

$(RUN_TESTS)/formats.so: tests/preload/programs/formats.c
	$(run_so) -o $@ $<

$(RUN_TESTS)/ptraces.so: tests/preload/programs/ptraces.c
	$(run_so) -D_GNU_SOURCE -o $@ $< -ldl

$(RUN_TESTS)/plugin1.so $(RUN_TESTS)/plugin2.so: $(RUN_TESTS)/plugin%.so: \
		tests/preload/programs/plugin.c
	$(run_so) -DNUMBER=$* $(run_id) -o $@ $<

$(RUN_TESTS)/plugin-gap.so: tests/preload/programs/plugin.c
	$(run_so) -DNUMBER=3 -DGAP -fno-toplevel-reorder -o $@ $<

# One whose JIT is known by the name of its library, and one of another name.
$(RUN_TESTS)/libpcre2-8.so $(RUN_TESTS)/plugin-maps.so: \
		tests/preload/programs/plugin.c
	$(run_so) -DNUMBER=8 -DMAPS -o $@ $<

# Without crti.o: nothing of ours is called when it is loaded.
$(RUN_TESTS)/plugin-bare.so: tests/preload/programs/plugin.c
	$(run_so) -DNUMBER=4 -nostartfiles -o $@ $<

$(RUN_TESTS)/plugin-gdb.so: tests/preload/programs/plugin.c
	$(run_so) -DNUMBER=7 -DGDB $(run_id) -fno-toplevel-reorder -o $@ $<

$(RUN_TESTS)/plugin-jit.so: tests/preload/programs/plugin_jit.c \
		tests/preload/programs/jit_code.h tests/preload/programs/jit_elf.h \
		tests/preload/programs/jit_gdb.h
	$(run_so) $(run_id) -fno-toplevel-reorder -o $@ $<

# Nothing of it is relocated when its resolver runs.
$(RUN_TESTS)/plugin-early.so: tests/preload/programs/early.c
	$(run_so) -fno-stack-protector -o $@ $<

$(RUN_TESTS)/plugin-anonymous.so: tests/preload/programs/plugin.c
	$(run_so) -DNUMBER=5 -Wl,--build-id=none -o $@ $<

# A length that leads out of .eh_frame.
$(RUN_TESTS)/plugin-broken.so: $(RUN_TESTS)/plugin2.so
	objcopy -O binary --only-section=.eh_frame $< $@.cfi
	printf '\377\377\377\177' | dd of=$@.cfi conv=notrunc status=none
	objcopy --update-section .eh_frame=$@.cfi $< $@

$(RUN_TESTS)/libtls.so: tests/preload/programs/tls.c
	$(run_so) -o $@ $<

$(RUN_TESTS)/user-tls: tests/preload/programs/user.c $(RUN_TESTS)/libtls.so
	$(run_cc) -o $@ $< $(RUN_TESTS)/libtls.so '-Wl,-rpath,$$ORIGIN'

$(RUN_TESTS)/origin/sub/libhidden.so: tests/preload/programs/plugin.c
	$(run_so) -DNUMBER=6 -o $@ $<

$(RUN_TESTS)/origin/libopener.so: tests/preload/programs/origin.c
	$(run_so) -o $@ $< -ldl -Wl,--enable-new-dtags '-Wl,-rpath,$$ORIGIN/sub'

$(RUN_TESTS)/user-plugin: tests/preload/programs/user.c \
		$(RUN_TESTS)/origin/libopener.so
	$(run_cc) -o $@ $< $(RUN_TESTS)/origin/libopener.so \
		'-Wl,-rpath,$$ORIGIN/origin'

# Every access to what processes wrote is checked here, too.
run_shared := $(foreach part,columns json must printable, \
	$(addprefix userspace/sfjit/$(part), .c .h))

$(O)/tests/sfjit/ps: tests/sfjit/ps.c $(lib_test) \
		$(wildcard userspace/sfjit/ps*.[ch]) $(run_shared) \
		userspace/sfjit/commands.h
	$(run_cc) -D_GNU_SOURCE -Iuserspace/sfjit \
		-fsanitize=address,undefined -fno-sanitize-recover=undefined \
		-o $@ $(filter %.c,$^) -pthread
