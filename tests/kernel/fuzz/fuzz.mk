# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# make fuzz TIME=60	every target for so many seconds, two at once, and the
#			coverage of its corpus: $(O)/fuzz/summary.json
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
FUZZ_OUT ?= $(O)/tests/kernel/fuzz$(addprefix -,$(FUZZ_ARCH:x86=))
FUZZ_KERNEL ?= kernel-patches/linux
FUZZ_DEFINES ?=
FUZZ_REPLAY_CC ?= $(CC)
FUZZ_SANITIZERS ?= address,undefined
TIME ?= 60

fuzz_dir := tests/kernel/fuzz/kernel
fuzz_names := kernel-step kernel-walk kernel-register kernel-live
FUZZ_TARGETS += $(fuzz_names)

# A directory for each corpus. Nothing else may write there.
fuzz_corpus := $(O)/tests/kernel/fuzz/corpus
fuzz_corpora := $(patsubst tests/kernel/fuzz/corpus/%.hex,$(fuzz_corpus)/%, \
	$(wildcard tests/kernel/fuzz/corpus/*.hex))

$(fuzz_corpora): $(fuzz_corpus)/%: tests/kernel/fuzz/corpus/%.hex tests/kernel/fuzz/inputs
	tests/kernel/fuzz/inputs unpack $< $@

# Of the kernel's own: what the series edits, and what signal frames look like.
fuzz_tree := $(O)/tests/kernel/fuzz-tree$(addprefix -,$(FUZZ_ARCH:x86=))
fuzz_arch := arch/$(FUZZ_ARCH)/include
fuzz_kernel_files := include/linux/unwind_user.h \
	include/linux/unwind_user_types.h $(fuzz_arch)/asm/unwind_user.h \
	$(fuzz_arch)/uapi/asm/sigcontext.h $(fuzz_arch)/uapi/asm/ucontext.h \
	include/uapi/asm-generic/ucontext.h kernel/unwind/user.c
# What else is included there comes from the shim.
fuzz_shim_headers := $(addprefix linux/,bits.h build_bug.h cache.h cleanup.h \
	compat.h compiler.h cpumask.h err.h errno.h hash.h kernel.h log2.h \
	maple_tree.h minmax.h mm.h mm_types.h mutex.h nospec.h overflow.h \
	pagemap.h percpu.h perf_event.h rcupdate.h refcount.h sched.h \
	lockdep.h sched/clock.h sched/signal.h sched/task_stack.h signal_types.h sizes.h slab.h \
	stddef.h string.h topology.h types.h uaccess.h unaligned.h unroll.h \
	uprobes.h vmalloc.h fpu.h processor.h) \
	$(addprefix asm/,compiler.h insn.h ptrace.h segment.h sve_context.h \
	unistd.h uprobes.h)

$(fuzz_tree)/done: tests/kernel/fuzz/fuzz.mk kernel-patches/series \
		$(wildcard kernel-patches/commits/*/edit.patch)
	@mkdir -p $(@D)
	tree=$$(tools/kernel source patched | tail -n 1) && \
	tests/kernel/fuzz/kernel/tree $(@D) "$$tree" $(fuzz_kernel_files) -- \
		$(fuzz_shim_headers)
	touch $@

$(fuzz_tree)/kernel/unwind/user.c: $(fuzz_tree)/done ;

fuzz_cppflags = -iquote $(FUZZ_KERNEL)/kernel/unwind -iquote $(fuzz_dir) \
	-I$(fuzz_dir)/include -I$(FUZZ_KERNEL)/include \
	-I$(fuzz_dir)/machine/$(FUZZ_ARCH) \
	-I$(FUZZ_KERNEL)/$(fuzz_arch) -I$(fuzz_tree)/include \
	-include shim.h $(FUZZ_DEFINES)
fuzz_cflags = -std=gnu11 -g -Wall -Wno-pointer-sign -Wno-unused-function \
	-fno-strict-aliasing $(fuzz_cppflags)
fuzz_san := -fsanitize=$(FUZZ_SANITIZERS) -fno-sanitize-recover=all
# x86 and its kernel have no rule for alignment.
fuzz_san += -fno-sanitize=alignment

# The unwinder, looked at by sanitizers and for coverage; and the rest.
fuzz_unwinder := sframe sframe_cache sframe_known sframe_section \
	sframe_callchain sframe_prctl user
fuzz_harness := model ref input compare
# Comparisons are no use to mutations that know the fields.
fuzz_unwinder_flags = -O2 -fsanitize=fuzzer-no-link \
	-fno-sanitize-coverage=trace-cmp $(fuzz_san)
fuzz_cov_flags := -O1 -fprofile-instr-generate -fcoverage-mapping
fuzz_headers = $(fuzz_tree)/done $(wildcard $(fuzz_dir)/*.h \
	$(fuzz_dir)/include/*.h $(FUZZ_KERNEL)/kernel/unwind/*.h \
	$(FUZZ_KERNEL)/include/*/*.h $(FUZZ_KERNEL)/include/uapi/*/*.h \
	$(fuzz_dir)/machine/*.h $(fuzz_dir)/machine/$(FUZZ_ARCH)/*.h \
	$(FUZZ_KERNEL)/$(fuzz_arch)/asm/*.h)
fuzz_wrap := -Wl,--wrap=sframe_step,--wrap=sframe_steps_known \
	-Wl,--wrap=sframe_read

# fuzz_compile VARIANT, SOURCES' DIRECTORY, COMMAND
define fuzz_compile
$(FUZZ_OUT)/$(1)/%.o: $(2)/%.c $$(fuzz_headers)
	@mkdir -p $$(@D)
	$(3) $$(fuzz_cflags) -c -o $$@ $$<
endef

# fuzz_variant NAME, COMPILER AND FLAGS FOR THE UNWINDER, FOR THE REST
define fuzz_variant
$(eval $(call fuzz_compile,$(1)/unwinder,$$(FUZZ_KERNEL)/kernel/unwind,$(2)))
$(eval $(call fuzz_compile,$(1)/unwinder,$$(fuzz_tree)/kernel/unwind,$(2)))
$(eval $(call fuzz_compile,$(1)/unwinder,$(fuzz_dir),$(2)))
$(eval $(call fuzz_compile,$(1)/harness,$(fuzz_dir),$(3)))
endef
$(call fuzz_variant,fuzz,$$(FUZZ_CC) $$(fuzz_unwinder_flags),$$(FUZZ_CC) -O2)
$(call fuzz_variant,cov,$$(FUZZ_CC) $$(fuzz_cov_flags),$$(FUZZ_CC) -O1)
$(call fuzz_variant,replay,$$(FUZZ_REPLAY_CC) -O1 $$(fuzz_san), \
	$$(FUZZ_REPLAY_CC) -O1)

# fuzz_objects VARIANT, TARGET, MORE
fuzz_objects = $(patsubst %,$(FUZZ_OUT)/$(1)/unwinder/%.o,$(fuzz_unwinder)) \
	$(patsubst %,$(FUZZ_OUT)/$(1)/harness/%.o,$(fuzz_harness) $(2)_target $(3) \
	finding $(if $(filter live,$(2)),,mutate))

# The glibc of the host, not the kernel, is around these.
$(patsubst %,$(FUZZ_OUT)/\%/harness/%.o,replay flip_main finding): \
	fuzz_cflags = -std=gnu11 -g -O1 -Wall

define fuzz_target
$(FUZZ_OUT)/kernel-$(1): $$(call fuzz_objects,fuzz,$(1))
	$$(FUZZ_CC) -fsanitize=fuzzer $$(fuzz_san) $$(fuzz_wrap) -o $$@ $$^
$(FUZZ_OUT)/kernel-$(1)-cov: $$(call fuzz_objects,cov,$(1))
	$$(FUZZ_CC) -fsanitize=fuzzer -fprofile-instr-generate $$(fuzz_wrap) \
		-o $$@ $$^
$(FUZZ_OUT)/kernel-$(1)-replay: $$(call fuzz_objects,replay,$(1),replay)
	$$(FUZZ_REPLAY_CC) $$(fuzz_san) $$(fuzz_wrap) -o $$@ $$^
endef
$(foreach name,$(fuzz_names),$(eval $(call fuzz_target,$(name:kernel-%=%))))

# Each bit of whole sections, see tests/kernel/fuzz/flip.sh.
$(FUZZ_OUT)/kernel-flip: $(call fuzz_objects,replay,live,flip flip_main)
	$(CC) $(fuzz_san) $(fuzz_wrap) -o $@ $(filter-out %/live_target.o,$^)

# The library's reader against the kernel's, see check_target.c. Its inputs are
# those of steps.
FUZZ_TARGETS += kernel-check
fuzz_check_unwinder := sframe sframe_section sframe_prctl
fuzz_check_lib := $(LIBSFJIT_DIR)/section.o $(LIBSFJIT_DIR)/pieces.o \
	$(O)/lib/libsframegen.a
fuzz_check_objects = $(patsubst %,$(FUZZ_OUT)/$(1)/unwinder/%.o, \
	$(fuzz_check_unwinder)) $(patsubst %,$(FUZZ_OUT)/$(1)/harness/%.o, \
	check_target finding mutate) $(FUZZ_OUT)/$(1)/check.o $(fuzz_check_lib)

# fuzz_check_variant NAME, COMPILER AND FLAGS
define fuzz_check_variant
$(FUZZ_OUT)/$(1)/check.o: userspace/libsfjit/check.c $$(LIBSFJIT_DEPS)
	@mkdir -p $$(@D)
	$(2) $$(SF_CFLAGS) -g -c -o $$@ $$<
$(FUZZ_OUT)/$(1)/harness/check_target.o: fuzz_cflags += -Isframegen/include \
	-Iuserspace/include
$(FUZZ_OUT)/$(1)/harness/check_target.o: $$(LIBSFJIT_DEPS)
endef
$(eval $(call fuzz_check_variant,fuzz,$$(FUZZ_CC) -O2 \
	-fsanitize=fuzzer-no-link $$(fuzz_san)))
$(eval $(call fuzz_check_variant,cov,$$(FUZZ_CC) $$(fuzz_cov_flags)))
$(eval $(call fuzz_check_variant,replay,$$(CC) -O1 $$(fuzz_san)))

$(FUZZ_OUT)/kernel-check: $(call fuzz_check_objects,fuzz)
	$(FUZZ_CC) -fsanitize=fuzzer $(fuzz_san) -o $@ $^
$(FUZZ_OUT)/kernel-check-cov: $(call fuzz_check_objects,cov)
	$(FUZZ_CC) -fsanitize=fuzzer -fprofile-instr-generate -o $@ $^
$(FUZZ_OUT)/kernel-check-replay: $(call fuzz_check_objects,replay) \
		$(FUZZ_OUT)/replay/harness/replay.o
	$(CC) $(fuzz_san) -o $@ $^

fuzz_corpora += $(fuzz_corpus)/kernel-check
$(fuzz_corpus)/kernel-check: tests/kernel/fuzz/corpus/kernel-step.hex tests/kernel/fuzz/inputs
	tests/kernel/fuzz/inputs unpack $< $@

# Walks within walks, see nested.c.
$(FUZZ_OUT)/kernel-nested: $(FUZZ_OUT)/replay/unwinder/sframe_cache.o \
		$(FUZZ_OUT)/replay/harness/nested.o \
		$(FUZZ_OUT)/replay/harness/finding.o
	$(CC) $(fuzz_san) -o $@ $^

# Steps by rules that are at hand, see known.c.
$(FUZZ_OUT)/kernel-known: $(patsubst %,$(FUZZ_OUT)/replay/unwinder/%.o, \
		sframe_cache sframe_known) $(patsubst %, \
		$(FUZZ_OUT)/replay/harness/%.o,known finding)
	$(FUZZ_REPLAY_CC) $(fuzz_san) -o $@ $^

# Of the machine of FUZZ_ARCH; what else there is in fuzz-replays knows x86-64.
fuzz-machine: $(patsubst %,$(FUZZ_OUT)/%-replay,$(fuzz_names)) \
	$(FUZZ_OUT)/kernel-known $(addprefix $(fuzz_corpus)/,$(fuzz_names))

# The other machines, with libFuzzer as well.
fuzz-machines:
	+$(MAKE) FUZZ_ARCH=arm64 fuzz-machine fuzz-machine-programs
	+$(MAKE) FUZZ_ARCH=s390 fuzz-machine fuzz-machine-programs

# s390x in its own byte order, for qemu-user. Inputs of live windows are bytes.
fuzz_big := $(addprefix $(fuzz_corpus)-big-endian/, \
	$(filter-out kernel-live,$(fuzz_names)))

$(fuzz_big): $(fuzz_corpus)-big-endian/%: $(fuzz_corpus)/% \
		tests/kernel/fuzz/kernel/big-endian
	rm -rf $@
	tests/kernel/fuzz/kernel/big-endian $< $@

fuzz-big-endian: $(fuzz_big)
	+$(MAKE) FUZZ_ARCH=s390 FUZZ_OUT=$(O)/tests/kernel/fuzz-s390x \
		FUZZ_REPLAY_CC=s390x-linux-gnu-gcc FUZZ_SANITIZERS=undefined \
		fuzz-machine

fuzz-machine-programs: $(addprefix $(FUZZ_OUT)/,$(fuzz_names))

fuzz-replays: fuzz-machine $(FUZZ_OUT)/kernel-nested

# FUZZ_TARGETS is complete when all fragments are read, as in a recipe.
fuzz-programs: $(fuzz_corpora)
	+$(MAKE) $(foreach name,$(FUZZ_TARGETS),$(FUZZ_OUT)/$(name) \
		$(FUZZ_OUT)/$(name)-cov)

fuzz: fuzz-programs
	O=$(O) tests/kernel/fuzz/run-targets $(TIME) $(FUZZ_TARGETS)

.PHONY: fuzz fuzz-programs fuzz-replays fuzz-machine \
	fuzz-machine-programs fuzz-machines fuzz-big-endian
.SECONDARY:
