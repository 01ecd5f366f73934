# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs of the benchmarks for guests of each machine that has a directory
# bench/guest/ARCH.

bench_machine := bench/guest/$(ARCH)
BENCH_DEPS := $(wildcard bench/*.h bench/guest/*.h $(bench_machine)/*.h) \
	$(SFG_PUBLIC_H) $(O)/gen/sfjit_trampoline.h $(O)/lib/libsframegen.a
BENCH_GUEST_SRC := $(addprefix bench/guest/, measure.c window.c) \
	$(bench_machine)/trigger.S
bench_cc = $(CC) $(SF_CFLAGS) -iquote bench/guest -iquote $(bench_machine) \
	$(CFLAGS)

$(O)/tests/bench/walk: $(addprefix bench/guest/, walk.c other.c event.c \
		stack.c shape.c table.c trigger.c) $(BENCH_GUEST_SRC) \
		$(BENCH_DEPS)
	@mkdir -p $(@D)
	$(bench_cc) -static -o $@ $(filter %.c %.S, $^) \
		$(O)/lib/libsframegen.a
