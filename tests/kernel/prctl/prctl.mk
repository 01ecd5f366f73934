# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The generators of prctl() arguments, built as the kernel's selftests are
# (tests/kernel/selftests/kselftest.mk).

prctl_checks := $(addprefix tests/kernel/prctl/,memory.c chance.h model.h) \
	tests/kernel/race/check.c tests/kernel/race/check.h tests/lib/tap.c tests/lib/tap.h \
	$(ksft_common) $(ksft_headers)

$(O)/tests/kernel/prctl/prctl: $(addprefix tests/kernel/prctl/,prctl.c model.c) $(prctl_checks)
	$(ksft_link)

$(O)/tests/kernel/prctl/assist: tests/kernel/prctl/assist.c $(prctl_checks)
	$(ksft_link)

kselftests: $(O)/tests/kernel/prctl/prctl $(O)/tests/kernel/prctl/assist
