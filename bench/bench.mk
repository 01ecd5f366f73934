# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs of the benchmarks: those for this machine in build/bench/bin, static
# ones for the guest in build/tests/bench.

BENCH_HOST := $(addprefix $(O)/bench/bin/, area attach encode publish \
	walk-cfi)
BENCH_GUEST := $(addprefix $(O)/tests/bench/, _sample.so free-list hostile \
	live-growth plain-v3.so start walk windows)

include bench/guest/guest.mk

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

$(O)/bench/bin/area: bench/native/area.c $(BENCH_DEPS) $(sfjit_h) \
		$(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $< $(O)/lib/libsfjit.a -pthread

# sfjit attach as it is, but for its answers to what an unpatched kernel has not.
bench_attach_wrap := remote_call session_attach ps_open

$(O)/bench/bin/attach: bench/native/attach.c \
		$(filter-out %/sfjit/main.o,$(SFJIT_OBJ)) $(SFJIT_LIBS) \
		$(wildcard userspace/sfjit/attach/*.h)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -iquote userspace/sfjit/attach \
		-iquote userspace/sfjit -iquote userspace/preload \
		$(patsubst %,-Xlinker --wrap=%,$(bench_attach_wrap)) -o $@ \
		$(filter %.c %.o %.a, $^) $(SFJIT_LD)

# The kernel's unwinder as it is, but for what it calls. It takes the kernel's
# source, so this is no part of TESTS.
bench_kernel := $(O)/bench/kernel
bench_kernel_cflags = -O2 -g -Wno-maybe-uninitialized -DPAGE_SHIFT=12 \
	-Ibench/native/kernel -include memory.h $(fuzz_cflags)

$(bench_kernel)/%.o: $(FUZZ_KERNEL)/kernel/unwind/%.c $(fuzz_tree)/done \
		$(wildcard bench/native/kernel/*.h)
	@mkdir -p $(@D)
	$(CC) $(bench_kernel_cflags) -c -o $@ $<

$(bench_kernel)/%.o: $(fuzz_tree)/kernel/unwind/%.c $(fuzz_tree)/done \
		$(wildcard bench/native/kernel/*.h)
	@mkdir -p $(@D)
	$(CC) $(bench_kernel_cflags) -c -o $@ $<

$(bench_kernel)/%.o: bench/native/kernel/%.c $(fuzz_tree)/done \
		$(wildcard bench/native/kernel/*.h)
	@mkdir -p $(@D)
	$(CC) $(bench_kernel_cflags) -c -o $@ $<

$(O)/bench/bin/step: $(addprefix bench/native/, step.c timed.c big.c) \
		$(addprefix bench/guest/, made.c legal.c probe.c event.c \
		stack.c shape.c table.c trigger.c) \
		$(bench_machine)/signal.c $(BENCH_GUEST_SRC) \
		$(patsubst %,$(bench_kernel)/%.o, \
		$(filter-out nofault,$(fuzz_unwinder)) walk) \
		$(BENCH_DEPS) \
		$(wildcard bench/native/*.h)
	@mkdir -p $(@D)
	$(bench_cc) -Ibench/guest -Ibench/native -o $@ \
		$(filter %.c %.S %.o, $^) $(O)/lib/libsframegen.a

$(O)/tests/bench/hostile: $(addprefix bench/guest/, hostile.c made.c legal.c \
		other.c probe.c event.c stack.c trigger.c) \
		$(bench_machine)/signal.c $(BENCH_GUEST_SRC) $(BENCH_DEPS)
	@mkdir -p $(@D)
	$(bench_cc) -static -o $@ $(filter %.c %.S, $^) \
		$(O)/lib/libsframegen.a

$(O)/tests/bench/windows: bench/guest/windows.c $(BENCH_GUEST_SRC) \
		$(BENCH_DEPS)
	@mkdir -p $(@D)
	$(bench_cc) -static -o $@ $(filter %.c %.S, $^)

$(O)/tests/bench/live-growth: $(addprefix bench/guest/, live-growth.c \
		live-walk.c event.c stack.c) $(BENCH_GUEST_SRC) $(BENCH_DEPS) \
		$(sfjit_h) $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(bench_cc) -static -o $@ $(filter %.c %.S, $^) \
		$(O)/lib/libsfjit.a -pthread

$(O)/tests/bench/free-list: bench/guest/free-list.c $(BENCH_GUEST_SRC) \
		$(BENCH_DEPS) $(sfjit_h) $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(bench_cc) -static -o $@ $(filter %.c %.S, $^) \
		$(O)/lib/libsfjit.a -pthread

# An extension for the Python of the guest.
$(O)/tests/bench/_sample.so: $(addprefix bench/guest/, sample.c event.c \
		measure.c) $(bench_machine)/trigger.S $(BENCH_DEPS) $(sfjit_h) \
		$(O)/lib/libsfjit.so
	@mkdir -p $(@D)
	$(bench_cc) -isystem $(PYTHON_INC) -fPIC -shared \
		-Wl,-rpath,'$$ORIGIN/../../lib' -o $@ $(filter %.c %.S %.so, $^)

$(O)/tests/bench/start: bench/guest/start.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -static -o $@ $<

$(O)/tests/bench/plain-v3.so: bench/guest/plain-v3.c $(SFG_PUBLIC_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -shared -fPIC -o $@ $<

# For a compiler in a guest that has no headers.
BENCH_SOURCE := $(patsubst sframegen/lib/%.c, $(O)/tests/bench/source/%.i, \
	$(wildcard sframegen/lib/*.c))

bench-source: $(BENCH_SOURCE)

$(BENCH_SOURCE): $(O)/tests/bench/source/%.i: sframegen/lib/%.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -E -P -o $@ $<

.PHONY: bench-programs bench-native bench-source
