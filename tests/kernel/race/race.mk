# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Threads and processes against each other, as static programs for a guest,
# with what the kernel's selftests share; see tests/kernel/selftests/kselftest.mk.

race_out := $(O)/tests/kernel/race
race_common := $(addprefix tests/kernel/race/,check.c spin.c sample.c) \
	tests/lib/tap.c $(ksft_common)
race_headers := $(wildcard tests/kernel/race/*.h) tests/lib/tap.h $(ksft_headers)

$(race_out)/race: $(addprefix tests/kernel/race/,race.c area.c churn.c swap.c storm.c \
		proc.c leak.c) $(race_common) $(race_headers)
	$(ksft_link)

$(race_out)/append: tests/kernel/race/append.c $(race_common) $(race_headers)
	$(ksft_link)

kselftests: $(race_out)/race $(race_out)/append
