# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs for sfjit explain, of nothing but known calls.

EXPLAIN_RUN := $(addprefix $(O)/tests/sfjit/programs/explain-, fp table bare gap copy)

TESTS += $(EXPLAIN_RUN)

$(O)/tests/sfjit/programs/explain-fp: explain_cflags := -fno-omit-frame-pointer
$(O)/tests/sfjit/programs/explain-bare: explain_cflags := -fno-asynchronous-unwind-tables \
	-DBARE
$(O)/tests/sfjit/programs/explain-gap: explain_cflags := -DGAP
$(O)/tests/sfjit/programs/explain-copy: explain_cflags := -DCOPY

$(EXPLAIN_RUN): tests/sfjit/explain/calls.c tests/sfjit/inject/middle.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -O2 -g0 -fomit-frame-pointer $(explain_cflags) \
		-mno-red-zone -fno-stack-protector -nostdlib -static \
		-Wl,--build-id -o $@ $<
