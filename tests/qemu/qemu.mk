# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The kernel's selftests as static programs for a guest without libraries.
# Their harness is that of the kernel source, which a plain `make tests' must
# not need: the scripts of this directory ask for `make kselftests'.

ksft_dir := kernel-patches/linux/tools/testing/selftests/sframe
ksft_out := $(O)/tests/kselftest
ksft_common := $(addprefix $(ksft_dir)/,section.c walk.c frames.S)
ksft_headers := $(wildcard $(ksft_dir)/*.h tests/module/*.h) \
	kernel-patches/linux/include/uapi/linux/sframe.h

KSELFTEST_TREE ?= $(eval KSELFTEST_TREE := \
	$(call tool,kernel source unpatched))$(KSELFTEST_TREE)
ksft_cc = $(CC) $(CFLAGS) -std=gnu11 -Wall -static -pthread -D_GNU_SOURCE= \
	-I$(ksft_dir) -Ikernel-patches/linux/include/uapi \
	-isystem $(KSELFTEST_TREE)/tools/include/uapi \
	-I$(KSELFTEST_TREE)/tools/testing/selftests

define ksft_link
	@mkdir -p $(@D)
	$(ksft_cc) -o $@ $(filter %.c %.S,$^) $(filter %.a,$^)
endef

$(ksft_out)/%_test: $(ksft_dir)/%_test.c $(ksft_common) $(ksft_headers)
	$(ksft_link)

$(ksft_out)/nmi_test: tests/module/nmi_test.c tests/module/toggle.S \
		$(ksft_common) $(ksft_headers)
	$(ksft_link)

# Those of the library.
ksft_lib := $(addprefix $(ksft_out)/,libsfjit_test libsfjit_live_test)

$(ksft_lib): $(ksft_out)/%: tests/qemu/%.c tests/qemu/check_slot.h \
		$(ksft_common) $(ksft_headers) $(O)/lib/libsfjit.a
	$(ksft_link)

$(ksft_lib): ksft_cc += -Iuserspace/include

KSELFTESTS := $(patsubst $(ksft_dir)/%.c,$(ksft_out)/%,\
	$(wildcard $(ksft_dir)/*_test.c)) \
	$(ksft_out)/nmi_test $(ksft_lib)

kselftests: $(KSELFTESTS)

.PHONY: kselftests
