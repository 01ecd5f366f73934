# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

$(O)/tests/system/readers/bpf_stacks: tests/system/readers/bpf_stacks.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -O2 -g -o $@ $<

TESTS += $(O)/tests/system/readers/bpf_stacks
