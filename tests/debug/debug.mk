# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs for guests with a debug kernel, built as its selftests are
# (tests/qemu/qemu.mk).

debug_ksft := kernel-patches/linux/tools/testing/selftests/sframe

$(O)/tests/kselftest/failslab_test: tests/debug/failslab_test.c \
		$(addprefix $(debug_ksft)/,section.c walk.c frames.S) \
		$(wildcard $(debug_ksft)/*.h)
	$(ksft_link)

kselftests: $(O)/tests/kselftest/failslab_test
