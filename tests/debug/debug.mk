# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs for guests with a debug kernel, built as its selftests are
# (tests/kselftest.mk).

$(O)/tests/kselftest/failslab_test: tests/debug/failslab_test.c \
		$(ksft_common) $(ksft_headers)
	$(ksft_link)

kselftests: $(O)/tests/kselftest/failslab_test
