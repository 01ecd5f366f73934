# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

system := $T/system

# demo: its C workload. It is compiled with frame pointers on purpose: what it
# shows is what happens to such code when it calls through code without. In place
# of these s390x has back chains.
demo := $(system)/demo/c-trampolines
demo_s390x := -mbackchain

$(demo): tools/demo.d/c-trampolines.c $(O)/lib/libsfjit.a
	$(program) -O2 $(or $(demo_$(ARCH)),-fno-omit-frame-pointer \
		-mno-omit-leaf-frame-pointer) -lpthread

ALL += $(if $(walks),$(patsubst %,$(demo),$(wildcard tools/demo.d/c-trampolines.c)))

# guest: programs for `sfjit run' without a root file system, and what runs them
# there, the C library that the compiler links with. Functions have no frame
# records. Not PIE: the address of a function of a library is that of its PLT
# entry, and functions are bound when they are called.
ifndef native
ifdef walks
edges_libc := $(dir $(shell $(CC) -print-file-name=libc.so.6))
edges_loader := $(notdir $(wildcard $(edges_libc)ld*.so.[0-9]))
edges_lib := $(addprefix $(system)/guest/lib/, $(edges_loader) libc.so.6 libm.so.6)
edges := $(addprefix $(system)/guest/, edges \
	$(if $(filter aarch64,$(ARCH)),edges-signed))
edges_flags := -D_GNU_SOURCE -O2 -fomit-frame-pointer -fno-pie
flags-edges-signed := -mbranch-protection=standard

$(edges_lib): $(system)/guest/lib/%:
	$(call to,CP) cp -L $(edges_libc)$* $@

$(O)/obj/edges/%.o: %.c
	$(cc) $(edges_flags) -c $<
$(O)/obj/edges-signed/%.o: %.c
	$(cc) $(edges_flags) $(flags-edges-signed) -c $<

$(edges): $(system)/guest/%: tests/system/guest/edges.c $(O)/obj/tests/lib/tap.o \
		$(O)/obj/%/tests/arch/edges-$(ARCH).o
	$(program) $(edges_flags) $(flags-$*) -DEDGES_LOADER='"/$(edges_loader)"' \
		-no-pie -Wl,-z,lazy -static-libgcc

edges: $(edges) $(edges_lib) $(SFJIT) $(PRELOAD)
endif
endif

# One program for `sfjit run', as programs are built, and one that has its C
# library in itself. All symbols are bound at start: ld.so's code that does it
# later keeps its caller's stack pointer in rbx, which ends a walk.
signals := $(addprefix $(system)/guest/signals, -dynamic -static)
signals_flags := -D_GNU_SOURCE -O2 -fomit-frame-pointer -pthread \
	-Itests/system/guest -Iuserspace/preload

$(system)/guest/signals-dynamic: tests/system/guest/signals_dynamic.c \
		$(O)/obj/signals/tests/system/guest/signals.o
	$(program) $(signals_flags) -Wl,-z,now
$(system)/guest/signals-static: tests/system/guest/signals_static.c \
		$(patsubst %,$(O)/obj/signals/%.o,tests/system/guest/signals \
		$(addprefix userspace/preload/,cfi image self sys table \
		windows)) \
		$(O)/obj/userspace/libsfjit/node.o $(O)/lib/libsframegen.a
	$(program) $(signals_flags) -static-pie -fPIE

$(O)/obj/signals/%.o: %.c
	$(cc) $(signals_flags) -fPIE -c $<

# jits: programs of tools/jits that are compiled, and the judge's test. A function
# that ends with a jump does so with -O2 only.
programs += $(addprefix system/jits/,oracle sample)
$(system)/jits/oracle: $(patsubst %,$(O)/obj/tests/system/jits/%.o,code truth verdict)
$(system)/jits/oracle: private flags := -D_GNU_SOURCE
$(system)/jits/oracle: private libs := -ldw -lelf
$(system)/jits/sample: private flags := -D_GNU_SOURCE -O2 -g0 \
	-fno-omit-frame-pointer

$(system)/jits/jits-calls: tests/system/jits/calls.c
	$(program) -O2 -g0

$(system)/jits/llvmpipe $(system)/jits/without: $(system)/jits/%: \
		tests/system/jits/%.c
	$(program)

$(system)/jits/qemu.img: tests/system/jits/qemu.S
	$(call to,AS) $(CC) -c -m32 -o $@.o $<
	@objcopy -O binary -j .text $@.o $@

# By clang, which not every test needs: not part of `tests'.
$(system)/jits/lli.bc $(system)/jits/llvm.bc: tests/system/jits/lli.cc
	$(call to,CLANG) clang++ -Wall -O2 $(bc_flags) -emit-llvm -c -o $@ $<
$(system)/jits/llvm.bc: private bc_flags := -DROUNDS=256 -DSTUBS

# With Debian 13's LLVM, which they find in the guest. The module calls functions
# of theirs, and of libsfjit, whose names the archive hides.
llvm_examples := $(addprefix $(O)/examples/, llvm_jitlink llvm_rtdyld)

$(llvm_examples): $(O)/examples/%: userspace/examples/%.cc \
		userspace/examples/llvm_run.h $(O)/lib/libsfjit.so
	$(call to,CXX) llvm=$$(tools/llvm) && $(CXX) -std=c++17 -Wall -Wextra \
		-Wno-unused-parameter -O1 -fno-rtti -isystem $$llvm/include \
		-Iuserspace/include -Isframegen/include $(dep) -o $@ $< \
		$(O)/lib/libsfjit.so $$llvm/libLLVM.so \
		-Wl,-rpath,'$$ORIGIN/../lib' -Wl,--allow-shlib-undefined -Wl,--export-dynamic -pthread

llvm-examples: $(llvm_examples) $(system)/jits/llvm.bc $(system)/jits/without

# By javac, which not every test needs. HotSpot inlines no method of more than 325
# bytes of bytecode.
hotspot_bulk = $(foreach n,$(shell seq 34),x = x * 31 + $(n) ^ x >>> 3;)
# Of the JDK that javac is of.
javac_include = $(dir $(shell readlink -f "$$(command -v javac)"))../include

$(system)/jits/hotspot/Graph.class: tests/system/jits/hotspot.java.in
$(system)/jits/hotspot/Changes.class: tests/system/jits/hotspot-changes.java.in
$(system)/jits/hotspot/Graph.class $(system)/jits/hotspot/Changes.class:
	$(call to,JAVAC) sed 's/@BULK@/$(hotspot_bulk)/' $< >$(@:class=java)
	@javac --release 17 -d $(@D) $(@:class=java)

$(system)/jits/hotspot/libchanges.so: tests/system/jits/hotspot-changes.c
	$(program) -g0 -fomit-frame-pointer -fPIC -shared -I$(javac_include) \
		-I$(javac_include)/linux

jits-java: $(addprefix $(system)/jits/hotspot/, Graph.class Changes.class \
	libchanges.so)

jits-programs: $(addprefix $(system)/jits/, lli.bc oracle llvmpipe qemu.img) \
	$T/kernel/replay/recorder

# patterns: what each calls, and what they would be without the library
programs += system/patterns/by_hand
$(system)/patterns/by_hand: private flags := -O2
$(system)/patterns/%.calls: $(O)/examples/% tests/system/patterns/calls
	$(call to,GEN) tests/system/patterns/calls $< >$@

# perf: frame pointers all the way, so that what is lost is lost by the trampoline;
# readers
perf := $(system)/perf
fp := -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls
programs += $(addprefix system/perf/,assist chain names unload) \
	system/readers/bpf_stacks
$(addprefix $(perf)/, assist assist-shared chain names): private flags := $(fp)
$(addprefix $(perf)/, assist chain names): $(O)/lib/libsfjit.a
$(perf)/assist: private libs := -pthread

$(perf)/assist-shared: tests/system/perf/assist.c $(O)/lib/libsfjit.so
	$(program) -pthread -Wl,-rpath,'$$ORIGIN/../../../lib'

$(perf)/took: tests/system/perf/took.c $(patsubst %,$(O)/obj/%.o,tests/lib/tap \
		$(addprefix bench/guest/, made probe event stack measure \
		$(ARCH)/trigger))
	$(program) -Itests/lib -Ibench/guest -iquote bench/guest/$(ARCH) -static

# At the addresses that the list of its instructions has.
$(perf)/offsets: tests/system/perf/offsets.c
	$(program) -static -no-pie
	@objdump -d --no-show-raw-insn --disassemble=one_round $@ | \
		sed -n 's/^ *\([0-9a-f]*\):\s*/\1 /p' >$@.list

# Two libraries that differ in the size of a frame, and what loads them.
$(perf)/unload: private flags := -fomit-frame-pointer
$(perf)/unload-first.so $(perf)/unload-second.so: tests/system/perf/unload.c
	$(program) -shared -fPIC
$(perf)/unload-first.so: private flags := -DLIBRARY=first -DFRAME=24
$(perf)/unload-second.so: private flags := -DLIBRARY=second -DFRAME=104

# sfjit inject with elfutils as its tracker. Its libraries are those of the guest's
# next release, which need a later libc than the host may have.
$(perf)/dwflst: $(O)/obj/elf/tests/system/perf/dwflst.o \
		$(convert:%=$(O)/obj/elf/%.o) $(O)/obj/elf/tests/sfjit/inject/main.o \
		$(call objects,userspace/sfjit/perfdata/*.c) tools/elfutils
	$(call to,LD) mkdir -p $(@D)/elfutils && \
		cp -L $(LIBELF)/lib/*/lib*.so.1 $(@D)/elfutils
	@$(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(@D)/elfutils/libdw.so.1 \
		$(@D)/elfutils/libelf.so.1 -Wl,-rpath,'$$ORIGIN/elfutils' \
		-Wl,--allow-shlib-undefined

dwflst: $(perf)/dwflst

# $(call made_of,SOURCE,TARGET...): if the source is there
made_of = $(if $(wildcard tests/system/$(1)),$(2))
TESTS += $(if $(amd64), \
	$(if $(PRELOAD),$(call made_of,guest/signals.c,$(signals))) \
	$(call made_of,jits/calls.c,$(system)/jits/jits-calls) \
	$(call made_of,patterns/calls,$(patsubst $(O)/examples/%, \
		$(system)/patterns/%.calls,$(filter $(PATTERNS:%=$(O)/examples/%), \
		$(EXAMPLES)))) \
	$(call made_of,perf/assist.c,$(perf)/assist-shared) \
	$(call made_of,perf/unload.c,$(addprefix $(perf)/unload-,first.so second.so)) \
	$(call in_tests,system/perf/offsets $(if $(wildcard \
		bench/guest/made.c),system/perf/took)))

.PHONY: edges jits-programs jits-java llvm-examples dwflst
