# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The generators of prctl() arguments, built as the kernel's selftests are
# (tests/kselftest.mk).

prctl_checks := $(addprefix tests/prctl/,memory.c chance.h model.h) \
	tests/race/check.c tests/race/check.h tests/lib/tap.c tests/lib/tap.h \
	$(ksft_common) $(ksft_headers)

$(O)/tests/prctl/prctl: $(addprefix tests/prctl/,prctl.c model.c) $(prctl_checks)
	$(ksft_link)

$(O)/tests/prctl/assist: tests/prctl/assist.c $(prctl_checks)
	$(ksft_link)

kselftests: $(O)/tests/prctl/prctl $(O)/tests/prctl/assist
