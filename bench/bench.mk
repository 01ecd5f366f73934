# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs of the benchmarks: those for this machine in build/bench/bin, static
# ones for the guest in build/tests/bench.

BENCH_HOST := $(addprefix $(O)/bench/bin/, encode publish walk-cfi)
BENCH_GUEST := $(addprefix $(O)/tests/bench/, hostile live-growth walk windows)
BENCH_DEPS := $(wildcard bench/*.h bench/guest/*.h) $(SFG_PUBLIC_H) \
	$(O)/gen/sfjit_trampoline.h $(O)/lib/libsframegen.a

TESTS += $(BENCH_HOST) $(BENCH_GUEST)

bench-programs: all $(BENCH_HOST) $(BENCH_GUEST)

bench-native: $(O)/bin/sframegen $(BENCH_HOST)

$(O)/bench/bin/encode: $(addprefix bench/native/, encode.c peer.c encode.h) \
		$(BENCH_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -I$(LIBSFRAME)/include -o $@ \
		$(filter %.c, $^) $(O)/lib/libsframegen.a \
		$(LIBSFRAME)/lib/libsframe.a

$(O)/bench/bin/walk-cfi: bench/native/walk-cfi.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $< -ldw -lelf

$(O)/bench/bin/publish: bench/native/publish.c $(BENCH_DEPS) $(sfjit_h) \
		$(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $< $(O)/lib/libsfjit.a -pthread

BENCH_GUEST_SRC := $(addprefix bench/guest/, measure.c window.c trigger.S)

$(O)/tests/bench/walk: $(addprefix bench/guest/, walk.c event.c stack.c \
		shape.c table.c) $(BENCH_GUEST_SRC) $(BENCH_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -static -o $@ $(filter %.c %.S, $^) \
		$(O)/lib/libsframegen.a

$(O)/tests/bench/hostile: $(addprefix bench/guest/, hostile.c made.c legal.c \
		probe.c event.c stack.c measure.c trigger.S) $(BENCH_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -static -o $@ $(filter %.c %.S, $^) \
		$(O)/lib/libsframegen.a

$(O)/tests/bench/windows: bench/guest/windows.c $(BENCH_GUEST_SRC) \
		$(BENCH_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -static -o $@ $(filter %.c %.S, $^)

$(O)/tests/bench/live-growth: $(addprefix bench/guest/, live-growth.c \
		live-walk.c event.c stack.c) $(BENCH_GUEST_SRC) $(BENCH_DEPS) \
		$(sfjit_h) $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -static -o $@ $(filter %.c %.S, $^) \
		$(O)/lib/libsfjit.a -pthread

.PHONY: bench-programs bench-native
