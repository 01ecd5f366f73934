# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# How programs are built on top of the kernel's selftests, static, for a guest
# without libraries. Read before the rules of tests/*/*.mk, tests/*/*/*.mk, which use it.
# Their harness is that of the kernel source, which a plain `make tests' must
# not need: the scripts of tests/kernel and tests/system ask for `make kselftests'.

ksft_dir := kernel-patches/linux/tools/testing/selftests/sframe
ksft_out := $(O)/tests/kernel/selftests
# The kernel's name of the machine, and those of its tests that know it.
ksft_arch_aarch64 := arm64
ksft_arch_s390x := s390
ksft_arch_x86_64 := x86
ksft_arch := $(ksft_arch_$(ARCH))
ksft_tests := $(shell SFJIT_KERNEL=$(ARCH) tests/kernel/selftests/selftests)
ksft_common := $(addprefix $(ksft_dir)/,assist.c break.c section.c stats.c \
	walk.c $(ksft_arch)/frames.S)
ksft_headers := $(wildcard $(ksft_dir)/*.h $(ksft_dir)/$(ksft_arch)/*.h \
	tests/kernel/module/*.h) \
	kernel-patches/linux/include/uapi/linux/sframe.h \
	kernel-patches/linux/include/uapi/linux/unwind_assist.h \
	kernel-patches/linux/kernel/unwind/sframe_format.h

KSELFTEST_TREE ?= $(eval KSELFTEST_TREE := \
	$(call tool,kernel source unpatched))$(KSELFTEST_TREE)
ksft_cc = $(CC) $(CFLAGS) -std=gnu11 -Wall -static -pthread -D_GNU_SOURCE= \
	-I$(ksft_dir) -I$(ksft_dir)/$(ksft_arch) \
	-iquote kernel-patches/linux/kernel/unwind -include tests/kernel/selftests/types.h \
	'-D__packed=__attribute__((packed))' \
	-Ikernel-patches/linux/include/uapi \
	-isystem $(KSELFTEST_TREE)/tools/include/uapi \
	-I$(KSELFTEST_TREE)/tools/testing/selftests

define ksft_link
	@mkdir -p $(@D)
	$(ksft_cc) -o $@ $(filter %.c %.S,$^) $(filter %.a,$^)
endef
