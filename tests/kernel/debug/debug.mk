# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs for guests with a debug kernel, built as its selftests are
# (tests/kernel/selftests/kselftest.mk).

debug_tests := $(addprefix $(O)/tests/kernel/selftests/,failslab_test \
	failslab_assist_test)

$(debug_tests): $(O)/tests/kernel/selftests/%: tests/kernel/debug/%.c tests/kernel/debug/failing.h \
		$(ksft_common) $(ksft_headers)
	$(ksft_link)

kselftests: $(debug_tests)
