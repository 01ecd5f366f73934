# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs for guests with a debug kernel, built as its selftests are
# (tests/kselftest.mk).

debug_tests := $(addprefix $(O)/tests/kselftest/,failslab_test \
	failslab_assist_test)

$(debug_tests): $(O)/tests/kselftest/%: tests/debug/%.c tests/debug/failing.h \
		$(ksft_common) $(ksft_headers)
	$(ksft_link)

kselftests: $(debug_tests)
