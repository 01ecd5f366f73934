# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The generator of prctl() arguments, built as the kernel's selftests are
# (tests/kselftest.mk).

$(O)/tests/prctl/prctl: $(addprefix tests/prctl/,prctl.c model.c memory.c \
		model.h) tests/race/check.c tests/race/check.h \
		tests/lib/case.c tests/lib/case.h \
		$(ksft_common) $(ksft_headers)
	$(ksft_link)

kselftests: $(O)/tests/prctl/prctl
