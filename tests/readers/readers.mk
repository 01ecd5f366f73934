# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

$(O)/tests/readers/bpf_stacks: tests/readers/bpf_stacks.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -O2 -g -o $@ $<

TESTS += $(O)/tests/readers/bpf_stacks
