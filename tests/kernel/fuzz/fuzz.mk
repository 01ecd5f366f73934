# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# make fuzz TIME=60	every target for so many seconds, two at once, or TIME=1x
#			for so many times the runs of its options; and the
#			coverage of its corpus, to $(FUZZ_FOUND)/summary.json
# FUZZ_PARTS=kernel	only the targets of this part, or these
#
# A target NAME is $(FUZZ_OUT)/NAME, with libFuzzer; NAME-cov is the same for
# measuring coverage. The kernel's unwinder is compiled as it is. To compile
# another one: FUZZ_KERNEL, a copy of kernel-patches/linux; FUZZ_DEFINES for
# the preprocessor; FUZZ_OUT for what is made. To compile it with the hooks of
# another machine: FUZZ_ARCH, whose inputs are those of x86-64 with its header.
# NAME-replay needs neither clang nor libFuzzer: NAME-replay -n 100000
# $(fuzz_corpus)/NAME fails on the first finding. With FUZZ_REPLAY_CC and the
# sanitizers that it has, FUZZ_SANITIZERS, replays are for another byte order.

FUZZ_CC ?= clang
# Whose tables, registers and signal frames, as the kernel calls the machine; the
# byte order is that of this one.
FUZZ_ARCH ?= x86
FUZZ_OUT ?= $(T)/kernel/fuzz$(addprefix -,$(FUZZ_ARCH:x86=))
FUZZ_KERNEL ?= kernel-patches/linux
FUZZ_DEFINES ?=
FUZZ_REPLAY_CC ?= $(CC)
FUZZ_SANITIZERS ?= address,undefined
FUZZ_PARTS ?= kernel sframegen perfdata stacks
TIME ?= 60
FUZZ_FOUND ?= $(O)/fuzz

fuzz_dir := tests/kernel/fuzz/kernel
fuzz_names := kernel-step kernel-walk kernel-register
# The library's reader against the kernel's, see check_target.c; sframegen;
# recordings of perf; libsfjit-stacks.
FUZZ_TARGETS := $(filter $(FUZZ_PARTS:%=%-%),$(fuzz_names) kernel-check $(addprefix \
	sframegen-,cfi code rows section packed elf go) $(addprefix perfdata-,recording jitdump \
	retired ends) stacks-tracker)

# A directory for each corpus. Nothing else may write there. The inputs of
# kernel-check are those of steps.
fuzz_corpus := $(T)/kernel/fuzz/corpus
fuzz_unpack = $(call to,UNPACK) tests/kernel/fuzz/inputs unpack $< $@

$(fuzz_corpus)/%: tests/kernel/fuzz/corpus/%.hex tests/kernel/fuzz/inputs
	$(fuzz_unpack)
$(fuzz_corpus)/kernel-check: tests/kernel/fuzz/corpus/kernel-step.hex \
		tests/kernel/fuzz/inputs
	$(fuzz_unpack)

# Of the kernel's own: what the series edits, and what signal frames look like.
fuzz_tree := $(T)/kernel/fuzz-tree$(addprefix -,$(FUZZ_ARCH:x86=))
fuzz_arch := arch/$(FUZZ_ARCH)/include
fuzz_kernel_files := include/linux/unwind_user.h \
	include/linux/unwind_user_types.h $(fuzz_arch)/asm/unwind_user.h \
	$(fuzz_arch)/uapi/asm/sigcontext.h $(fuzz_arch)/uapi/asm/ucontext.h \
	include/uapi/asm-generic/ucontext.h kernel/unwind/user.c
# What else is included there comes from the shim.
fuzz_shim_headers := $(addprefix linux/,atomic.h bitops.h bits.h build_bug.h cache.h \
	compat.h compiler.h err.h errno.h ioctl.h kconfig.h kernel.h log2.h math.h \
	maple_tree.h minmax.h mm.h mm_types.h mutex.h nospec.h overflow.h \
	pagemap.h perf_event.h rcupdate.h refcount.h sched.h security.h \
	sched/clock.h sched/signal.h sched/task_stack.h signal_types.h \
	sizes.h slab.h stddef.h string.h swab.h types.h uaccess.h \
	unaligned.h unroll.h uprobes.h fpu.h processor.h) \
	$(addprefix asm/,compiler.h insn.h ptrace.h segment.h sve_context.h \
	unistd.h uprobes.h)

$(fuzz_tree)/done: tests/kernel/fuzz/fuzz.mk kernel-patches/series \
		$(wildcard kernel-patches/*/*/edit.patch)
	$(call to,TREE) tree=$$(tools/kernel source patched | tail -n 1) && \
	tests/kernel/fuzz/kernel/tree $(@D) "$$tree" $(fuzz_kernel_files) -- \
		$(fuzz_shim_headers)
	@touch $@

$(fuzz_tree)/kernel/unwind/user.c: | $(fuzz_tree)/done ;

# What is to have sanitizers: x86 and its kernel have no rule for alignment. In
# the kernel's unwinder comparisons are no use to mutations that know the fields.
fuzz_san := -fsanitize=$(FUZZ_SANITIZERS) -fno-sanitize-recover=all \
	-fno-sanitize=alignment
fuzz_cov := -fprofile-instr-generate -fcoverage-mapping
fuzz_cflags = -std=gnu11 -g -Wall -Wno-pointer-sign -Wno-unused-function \
	-fno-strict-aliasing -iquote $(FUZZ_KERNEL)/kernel/unwind \
	-iquote $(fuzz_dir) -I$(fuzz_dir)/include -I$(FUZZ_KERNEL)/include \
	-I$(fuzz_dir)/machine/$(FUZZ_ARCH) -I$(FUZZ_KERNEL)/$(fuzz_arch) \
	-I$(fuzz_tree)/include -include shim.h $(FUZZ_DEFINES) $(fuzz_room)
# To make allocations fail where no allocation of the target is meant.
fuzz_user_cflags = $(SF_CFLAGS) -Isframegen/lib -Isframegen/cmd \
	-Itests/kernel/fuzz/user -iquote userspace/sfjit/perfdata $(room.$(<D)) \
	$(fuzz_count) -g -O1 -Dmalloc=fuzz_malloc -Dcalloc=fuzz_calloc -Drealloc=fuzz_realloc
room.tests/kernel/fuzz/perfdata := -D_GNU_SOURCE
fuzz_o = $(dep) -c -o $@ $<

# $(call fuzz_variant,NAME,COMPILER,FLAGS OF THE UNWINDER,OF THE REST,OF USERSPACE)
define fuzz_variant
$(FUZZ_OUT)/$(1)/unwinder/%.o: $(FUZZ_KERNEL)/kernel/unwind/%.c $(fuzz_tree)/done
	$$(call to,CC) $(2) $(3) $$(fuzz_cflags) $$(fuzz_o)
$(FUZZ_OUT)/$(1)/unwinder/%.o: $(fuzz_tree)/kernel/unwind/%.c $(fuzz_tree)/done
	$$(call to,CC) $(2) $(3) $$(fuzz_cflags) $$(fuzz_o)
$(FUZZ_OUT)/$(1)/unwinder/%.o: $(fuzz_dir)/%.c $(fuzz_tree)/done
	$$(call to,CC) $(2) $(3) $$(fuzz_cflags) $$(fuzz_o)
$(FUZZ_OUT)/$(1)/harness/%.o: $(fuzz_dir)/%.c $(fuzz_tree)/done
	$$(call to,CC) $(2) $(4) $$(fuzz_cflags) $$(fuzz_o)
$(FUZZ_OUT)/$(1)/check.o $(FUZZ_OUT)/$(1)/check_packed.o: $(FUZZ_OUT)/$(1)/%.o: \
		userspace/libsfjit/%.c
	$$(call to,CC) $(if $(filter replay,$(1)),$$(CC),$(2)) $(3) $$(SF_CFLAGS) -g $$(fuzz_o)
$(FUZZ_OUT)/$(1)/library/%.o: sframegen/lib/%.c
	$$(call to,CC) $(2) $(3) $$(SF_CFLAGS) -Isframegen/lib $$(fuzz_o)
$(FUZZ_OUT)/$(1)/user/%.o: %.c
	$$(call to,CC) $(2) $$(fuzz_user_cflags) $(5) $$(fuzz_o)
$(FUZZ_OUT)/$(1)/user/fake.o: tests/sfjit/inject/fake.c
	$$(call to,CC) $(2) $$(SF_CFLAGS) -D_GNU_SOURCE -g -O1 $(5) $$(fuzz_o)
$(FUZZ_OUT)/$(1)/harness/check_target.o $(FUZZ_OUT)/$(1)/harness/rules.o: private fuzz_room := \
	-Isframegen/include -Iuserspace/include
# The glibc of the host, not the kernel, is around these.
$(patsubst %,$(FUZZ_OUT)/$(1)/harness/%.o,replay accepts flip_main rules_main finding): private \
	fuzz_cflags := -std=gnu11 -g -O1 -Wall
endef
fuzz_fuzz := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
$(eval $(call fuzz_variant,fuzz,$$(FUZZ_CC),-O2 -fsanitize=fuzzer-no-link \
	-fno-sanitize-coverage=trace-cmp $(fuzz_san),-O2,$(fuzz_fuzz)))
$(eval $(call fuzz_variant,cov,$$(FUZZ_CC),-O1 $(fuzz_cov),-O1,-fsanitize=fuzzer \
	$(fuzz_cov)))
$(eval $(call fuzz_variant,replay,$$(FUZZ_REPLAY_CC),-O1 $(fuzz_san),-O1))

# Objects: $(call fuzz_u,VARIANT,NAME...) of the unwinder, fuzz_h of the harness.
fuzz_u = $(patsubst %,$(FUZZ_OUT)/$(1)/unwinder/%.o,$(2))
fuzz_h = $(patsubst %,$(FUZZ_OUT)/$(1)/harness/%.o,$(2))
fuzz_unwinder := sframe sframe_packed sframe_section \
	sframe_callchain sframe_prctl user $(if $(filter s390,$(FUZZ_ARCH)),,text)
fuzz_kernel = $(call fuzz_u,$(1),$(fuzz_unwinder)) $(call fuzz_h,$(1),model ref \
	input compare finding mutate $(2)_target)
fuzz_check = $(call fuzz_u,$(1),sframe sframe_packed sframe_section sframe_prctl) \
	$(call fuzz_h,$(1),check_target finding mutate) \
	$(addprefix $(FUZZ_OUT)/$(1)/,check.o check_packed.o) \
	$(O)/lib/libsframegen.a
fuzz_wrap := -Wl,--wrap=sframe_step,--wrap=sframe_steps

# $(call fuzz_target,NAME,OBJECTS' VARIABLE,ITS ARGUMENT,LIBRARIES)
define fuzz_target
$(FUZZ_OUT)/$(1): $(call $(2),fuzz,$(3))
	$$(call to,LD) $$(FUZZ_CC) -fsanitize=fuzzer $(fuzz_san) $(4) -o $$@ $$^ $(5)
$(FUZZ_OUT)/$(1)-cov: $(call $(2),cov,$(3))
	$$(call to,LD) $$(FUZZ_CC) -fsanitize=fuzzer -fprofile-instr-generate $(4) \
		-o $$@ $$^ $(5)
endef
define fuzz_replay
$(FUZZ_OUT)/$(1)-replay: $(call $(2),replay,$(3)) $(call fuzz_h,replay,replay)
	$$(call to,LD) $(4) $(fuzz_san) $(5) -o $$@ $$^
endef
$(foreach name,$(fuzz_names),$(eval $(call fuzz_target,$(name),fuzz_kernel, \
	$(name:kernel-%=%),$(fuzz_wrap))) $(eval $(call fuzz_replay,$(name), \
	fuzz_kernel,$(name:kernel-%=%),$$(FUZZ_REPLAY_CC),$(fuzz_wrap))))
$(eval $(call fuzz_target,kernel-check,fuzz_check))
$(eval $(call fuzz_replay,kernel-check,fuzz_check,,$$(CC)))

# Sections that binutils make, see tests/kernel/fuzz/binutils.sh.
$(FUZZ_OUT)/kernel-accepts: $(filter-out %/mutate.o,$(call fuzz_check,replay)) \
		$(call fuzz_h,replay,accepts)
	$(call to,LD) $(CC) $(fuzz_san) -o $@ $^

# Each bit of whole sections, see tests/kernel/fuzz/flip.sh.
$(FUZZ_OUT)/kernel-flip: $(filter-out %/step_target.o %/mutate.o,$(call fuzz_kernel,replay,step)) \
		$(call fuzz_h,replay,flip flip_main)
	$(call to,LD) $(CC) $(fuzz_san) $(fuzz_wrap) -o $@ $^
# Steps through packed tables, and several at once, see packed.c.
$(FUZZ_OUT)/kernel-packed: $(call fuzz_u,replay,sframe_packed) \
		$(call fuzz_h,replay,packed finding)
	$(call to,LD) $(FUZZ_REPLAY_CC) $(fuzz_san) -o $@ $^
# Rules of packed tables, see rules.c.
$(FUZZ_OUT)/kernel-rules: $(call fuzz_u,replay,sframe_packed) \
		$(call fuzz_h,replay,rules rules_main finding) \
		$(patsubst sframegen/lib/%.c,$(FUZZ_OUT)/replay/library/%.o, \
		$(wildcard sframegen/lib/*.c))
	$(call to,LD) $(FUZZ_REPLAY_CC) $(fuzz_san) -o $@ $^

# run_bounded() counts basic blocks, in place of libFuzzer.
$(FUZZ_OUT)/fuzz/user/sframegen/%.o: private fuzz_count := \
	-fsanitize-coverage=trace-pc
fuzz_counted := -Wl,--wrap=__sanitizer_cov_trace_pc

# $(call fuzz_user,VARIANT,NAME...): of user space, with libsframegen.
fuzz_user = $(patsubst %,$(FUZZ_OUT)/$(1)/user/%.o,$(basename $(wildcard \
	sframegen/lib/*.c $(addprefix tests/kernel/fuzz/,$(addsuffix .c, \
	user/oracle $(2))) $(3))))
fuzz_sframegen_cfi = $(call fuzz_user,$(1),$(addprefix user/,cfi cfi-mutate \
	cfi-step cfi-written))
fuzz_sframegen_code = $(call fuzz_user,$(1),user/code)
fuzz_sframegen_rows = $(call fuzz_user,$(1),user/rows)
fuzz_sframegen_go = $(call fuzz_user,$(1),user/go)
fuzz_sframegen_section = $(call fuzz_user,$(1),user/section,sframegen/cmd/format.c)
fuzz_sframegen_packed = $(call fuzz_user,$(1),user/packed,sframegen/cmd/format.c)
fuzz_sframegen_elf = $(filter-out %/main.o %/output.o %/path.o,$(call fuzz_user,$(1), \
	user/elf user/files,sframegen/cmd/*.c))
fuzz_perfdata = $(call fuzz_user,$(1),perfdata/$(2),userspace/sfjit/perfdata/*.c) \
	$(FUZZ_OUT)/$(1)/user/fake.o
fuzz_stacks = $(call fuzz_user,$(1),stacks/tracker,userspace/stacks/*.c)
$(foreach name,cfi code rows section packed elf go,$(eval $(call fuzz_target,sframegen-$(name), \
	fuzz_sframegen_$(name),,$(fuzz_counted),$(if $(filter elf,$(name)),-lelf))))
$(foreach name,recording jitdump retired ends,$(eval $(call \
	fuzz_target,perfdata-$(name),fuzz_perfdata,$(name),$(fuzz_counted))))
$(eval $(call fuzz_target,stacks-tracker,fuzz_stacks,,$(fuzz_counted),-lelf))

# Of the machine of FUZZ_ARCH; what else there is in fuzz-replays knows x86-64.
fuzz-machine: $(patsubst %,$(FUZZ_OUT)/%-replay,$(fuzz_names)) \
	$(FUZZ_OUT)/kernel-packed $(FUZZ_OUT)/kernel-rules \
	$(addprefix $(fuzz_corpus)/,$(fuzz_names))

fuzz-machine-programs: $(addprefix $(FUZZ_OUT)/,$(fuzz_names))

# The other machines, with libFuzzer as well.
fuzz-machines:
	+$(MAKE) FUZZ_ARCH=arm64 fuzz-machine fuzz-machine-programs
	+$(MAKE) FUZZ_ARCH=s390 fuzz-machine fuzz-machine-programs

# s390x in its own byte order, for qemu-user.
fuzz_big := $(addprefix $(fuzz_corpus)-big-endian/,$(fuzz_names))

$(fuzz_big): $(fuzz_corpus)-big-endian/%: $(fuzz_corpus)/% \
		tests/kernel/fuzz/kernel/big-endian
	$(call to,GEN) rm -rf $@ && tests/kernel/fuzz/kernel/big-endian $< $@

fuzz-big-endian: $(fuzz_big)
	+$(MAKE) FUZZ_ARCH=s390 FUZZ_OUT=$(T)/kernel/fuzz-s390x \
		FUZZ_REPLAY_CC=s390x-linux-gnu-gcc FUZZ_SANITIZERS=undefined \
		fuzz-machine

fuzz-replays: fuzz-machine $(FUZZ_OUT)/replay-stacks

fuzz-programs: $(foreach name,$(FUZZ_TARGETS),$(fuzz_corpus)/$(name) \
	$(FUZZ_OUT)/$(name) $(FUZZ_OUT)/$(name)-cov)

fuzz: fuzz-programs
	O=$(O) FUZZ_FOUND=$(FUZZ_FOUND) tests/kernel/fuzz/run-targets $(TIME) \
		$(FUZZ_TARGETS)

# Samples of real programs, walked again by the kernel's code as the fuzz targets
# compile it; and their recorder, for a guest.
$(FUZZ_OUT)/replay/stacks/task.o: tests/kernel/replay/task.c $(fuzz_tree)/done
	$(call to,CC) $(CC) -O2 $(fuzz_cflags) $(fuzz_o)

$(FUZZ_OUT)/replay-stacks: tests/kernel/replay/replay.c $(FUZZ_OUT)/replay/stacks/task.o \
		$(addprefix $(O)/obj/tests/,lib/tap.o $(addprefix kernel/replay/,corpus.o table.o)) \
		$(call fuzz_h,replay,finding) $(call fuzz_u,replay,$(fuzz_unwinder)) \
		$(O)/lib/libsframegen.a
	$(program) -D_GNU_SOURCE -Itests/lib $(fuzz_san) -Wl,--wrap=sframe_steps

recorder := $(T)/kernel/replay/recorder
TESTS += $(if $(amd64),$(call in_tests,kernel/replay/recorder))

$(recorder): tests/kernel/replay/recorder.c $(addprefix $(O)/obj/tests/kernel/replay/, \
		processes.o section.o) \
		$(O)/lib/libsframegen.a
	$(program) -static

# After a last call, without padding, is another function.
$(T)/kernel/replay/exceptions: tests/kernel/replay/programs/exceptions.cc
	$(call to,CXX) g++ -std=c++20 $(CFLAGS) -falign-functions=1 -pthread -o $@ $<

# What tests/kernel/replay/record needs besides sfjit.
replay-programs: $(recorder) $(T)/kernel/replay/exceptions $(FUZZ_OUT)/replay-stacks

.PHONY: fuzz fuzz-programs fuzz-replays fuzz-machine fuzz-machine-programs \
	fuzz-machines fuzz-big-endian replay-programs
