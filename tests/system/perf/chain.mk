# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# Frame pointers all the way: what is lost is lost by the trampoline.
$(O)/tests/system/perf/chain: tests/system/perf/chain.c userspace/include/sfjit.h \
		$(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -O1 -g -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -o $@ $< $(O)/lib/libsfjit.a

TESTS += $(O)/tests/system/perf/chain
