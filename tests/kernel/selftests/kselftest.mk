# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The kernel's selftests, and programs that are built as they are: static, for a
# guest without libraries. Their harness is that of the kernel source, which a plain
# `make tests' must not need: tests ask for `make kselftests'.

ksft := $T/kernel/selftests
ksft_dir := kernel-patches/linux/tools/testing/selftests/sframe
ksft_arch_aarch64 := arm64
ksft_arch_s390x := s390
ksft_arch_x86_64 := x86
ksft_arch := $(ksft_arch_$(ARCH))
ksft_module := tests/kernel/module/$(ksft_arch)

KSELFTEST_TREE ?= $(eval KSELFTEST_TREE := \
	$(call tool,kernel source unpatched))$(KSELFTEST_TREE)
ksft_cc = $(call to,CC) $(CC) $(CFLAGS) -std=gnu11 -Wall -pthread -D_GNU_SOURCE= \
	-I$(ksft_dir) -I$(ksft_dir)/$(ksft_arch) -iquote $(ksft_module) \
	-iquote kernel-patches/linux/kernel/unwind \
	-include tests/kernel/selftests/types.h \
	'-D__packed=__attribute__((packed))' \
	-Ikernel-patches/linux/include/uapi -Iuserspace/include \
	-Isframegen/include -isystem $(KSELFTEST_TREE)/tools/include/uapi \
	-I$(KSELFTEST_TREE)/tools/testing/selftests $(dep) -o $@

ksft_link = $(call to,LD) $(CC) $(CFLAGS) -static -pthread \
	$(addprefix -Wl$(comma)--wrap=, fopen sft_attr_init sft_chain_at) \
	-o $@ $(filter %.o %.a,$^)
# $(call ksft_obj,SOURCE...), and what all share
ksft_obj = $(patsubst %,$(O)/obj/ksft/%.o,$(basename $(1)))
ksft_shared := $(call ksft_obj,$(wildcard $(addprefix $(ksft_dir)/, assist.c \
	break.c section.c stats.c walk.c $(ksft_arch)/frames.S)) \
	tests/kernel/selftests/stock.c)

$(O)/obj/ksft/%.o: %.c
	$(ksft_cc) -c $<
$(O)/obj/ksft/%.o: %.S
	$(ksft_cc) -c $<

# Of the series.
ksft_names := $(shell SFJIT_KERNEL=$(ARCH) tests/kernel/selftests/selftests)
kselftests: $(addprefix $(ksft)/,$(ksft_names))

$(ksft)/%_test: $(O)/obj/ksft/$(ksft_dir)/%_test.o $(ksft_shared)
	$(ksft_link)

# The same stacks through packed tables, see packed.c.
ksft_packed := $(addprefix $(ksft)/packed_,$(addsuffix _test, callchain probe signal))
$(ksft_packed): $(ksft)/packed_%: $(O)/obj/ksft/$(ksft_dir)/%.o $(ksft_shared) \
		$(call ksft_obj,tests/kernel/selftests/packed.c) \
		$(O)/lib/libsframegen.a
	$(ksft_link) -Wl,--wrap=prctl
kselftests: $(ksft_packed)

# Those that need a module, or a debug kernel; those of the library.
$(ksft)/%_test: $(O)/obj/ksft/tests/kernel/module/%_test.o $(ksft_shared)
	$(ksft_link)
$(ksft)/%_test: $(O)/obj/ksft/tests/kernel/debug/%_test.o $(ksft_shared)
	$(ksft_link)
$(ksft)/%_test: $(O)/obj/ksft/tests/libsfjit/%_test.o $(ksft_shared) \
		$(O)/lib/libsfjit.a
	$(ksft_link)

ksft_toggle := $(wildcard $(ksft_module)/toggle.S)
$(ksft)/nmi_test: $(call ksft_obj,$(ksft_toggle))
kselftests: $(patsubst %,$(ksft)/%_test,tracer $(if $(ksft_toggle),nmi) \
	failslab failslab_assist failslab_files $(if $(native),libsfjit libsfjit_area))

# Generators of prctl() arguments; threads and processes against each other.
ksft_checked := $(call ksft_obj,tests/kernel/race/check.c tests/lib/tap.c) \
	$(ksft_shared)
ksft_generated := $(call ksft_obj,tests/kernel/prctl/memory.c) $(ksft_checked)
ksft_racing := $(call ksft_obj,$(addprefix tests/kernel/race/, spin.c sample.c)) \
	$(ksft_checked)

$T/kernel/prctl/prctl: $(call ksft_obj,$(addprefix tests/kernel/prctl/, prctl.c \
		model.c)) $(ksft_generated)
	$(ksft_link)
$T/kernel/prctl/assist: $(call ksft_obj,tests/kernel/prctl/assist.c) \
		$(ksft_generated)
	$(ksft_link)
$T/kernel/race/race: $(call ksft_obj,$(addprefix tests/kernel/race/, race.c area.c \
		churn.c swap.c storm.c proc.c leak.c)) $(ksft_racing)
	$(ksft_link)
$T/kernel/race/grow $T/kernel/race/files: $T/kernel/race/%: \
		$(call ksft_obj,tests/kernel/race/%.c) $(ksft_racing)
	$(ksft_link)
kselftests: $(addprefix $T/kernel/, prctl/prctl prctl/assist $(if $(amd64), \
	race/race race/grow race/files))

# Static: a guest without libraries runs it.
TESTS += $(if $(amd64),$(call in_tests,kernel/selftests/proc_test))
$(ksft)/proc_test: tests/kernel/selftests/proc_test.c $(O)/obj/tests/lib/tap.o
	$(program) -D_GNU_SOURCE -static -pthread

.PHONY: kselftests
