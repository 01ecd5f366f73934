# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs of the benchmarks: those for this machine in build/bench/bin, static
# ones for guests in build/tests/bench.

bench_machine := bench/guest/$(ARCH)
room.bench/guest := -iquote bench/guest -iquote $(bench_machine)
room.$(bench_machine) := $(room.bench/guest)
bench_host := $(addprefix $(O)/bench/bin/, area encode lookup publish walk-cfi \
	$(if $(sfjit_attach),attach))
bench_guest := $(addprefix $T/bench/, free-list hostile live-growth plain/bin/sfjit \
	spent start walk windows $(if $(python_dir),_sample.so))
TESTS += $(if $(amd64),$(bench_host) $(bench_guest))

bench-programs: all $(bench_host) $(bench_guest)

bench-native: $(O)/bin/sframegen $(bench_host)

# $(call bench_obj,NAME...) of bench/guest
bench_obj = $(patsubst %,$(O)/obj/bench/guest/%.o,$(1))
bench_measure := $(call bench_obj,measure window $(ARCH)/trigger)
$(call bench_obj,window trigger) $(bench_host): | $(O)/gen/sfjit_trampoline.h

$(O)/bench/bin/%: bench/native/%.c
	$(program)
$(O)/bench/bin/area $(O)/bench/bin/publish: private libs := -pthread
$(O)/bench/bin/area $(O)/bench/bin/publish: $(O)/lib/libsfjit.a
$(O)/bench/bin/encode: private libs = $(LIBSFRAME)/lib/libsframe.a
$(O)/bench/bin/encode: $(O)/obj/bench/native/peer.o $(O)/lib/libsframegen.a
$(O)/bench/bin/lookup: $(O)/lib/libsframegen.a
$(O)/bench/bin/walk-cfi: private libs := -ldw -lelf
room.bench/native = $(room.bench/guest) -Ibench/guest -Ibench/native \
	$(if $(filter %/encode %/peer.o,$@),-I$(LIBSFRAME)/include)

# sfjit attach, with answers of this program for what an unpatched kernel lacks.
$(O)/bench/bin/attach: private flags := -D_GNU_SOURCE -iquote \
	userspace/sfjit/attach -iquote userspace/sfjit -iquote userspace/preload \
	$(patsubst %,-Xlinker --wrap=%,remote_call session_attach ps_open_sframe)
$(O)/bench/bin/attach: private libs := -lelf
$(O)/bench/bin/attach: $(filter-out %/sfjit/main.o,$(sfjit_obj)) $(sfjit_libs)

# The kernel's unwinder, with replacements of the functions that it calls. Needs
# the kernel's source, so it is not part of TESTS.
bench_kernel := $(O)/bench/kernel
bench_kernel_cc = $(call to,CC) $(CC) -O2 -g -Wno-maybe-uninitialized \
	-DPAGE_SHIFT=12 -Ibench/native/kernel -include memory.h $(fuzz_cflags) \
	$(dep) -c -o $@ $<

$(bench_kernel)/%.o: $(FUZZ_KERNEL)/kernel/unwind/%.c $(fuzz_tree)/done
	$(bench_kernel_cc)
$(bench_kernel)/%.o: $(fuzz_tree)/kernel/unwind/%.c $(fuzz_tree)/done
	$(bench_kernel_cc)
$(bench_kernel)/%.o: bench/native/kernel/%.c $(fuzz_tree)/done
	$(bench_kernel_cc)

$(O)/bench/bin/step: $(addprefix $(O)/obj/bench/native/, timed.o big.o) \
	$(call bench_obj,made legal probe event stack shape table trigger \
	$(ARCH)/signal) $(bench_measure) $(patsubst %,$(bench_kernel)/%.o, \
	$(fuzz_unwinder) walk) $(O)/lib/libsframegen.a

$(O)/bench/bin/steps: $(call bench_obj,probe event stack shape table trigger \
	$(ARCH)/signal) $(bench_measure) $(patsubst %,$(bench_kernel)/%.o, \
	$(fuzz_unwinder) walk) $(O)/lib/libsframegen.a

# For guests.
$T/bench/%: bench/guest/%.c
	$(program) -static -pthread
$T/bench/walk: $(call bench_obj,event stack shape table trigger)
$T/bench/hostile: $(call bench_obj,made legal probe event stack trigger \
	$(ARCH)/signal)
$T/bench/live-growth: $(call bench_obj,live-walk event stack)
$(addprefix $T/bench/, walk hostile windows live-growth free-list): $(bench_measure)
$T/bench/walk $T/bench/hostile: $(O)/lib/libsframegen.a
$T/bench/live-growth $T/bench/free-list: $(O)/lib/libsfjit.a

# An extension for the Python of the guest.
$T/bench/_sample.so: bench/guest/sample.c $(patsubst %,$(O)/obj/pic/bench/guest/%.o, \
		event measure $(ARCH)/trigger) $(O)/lib/libsfjit.so
	$(program) -isystem $(PYTHON_INC) -fPIC -shared \
		-Wl,-rpath,'$$ORIGIN/../../lib'

# sfjit run without addends: a module, and a copy of the command beside it.
bench_plain := $T/bench/plain/lib/sfjit/libsfjit-preload.so

$(O)/obj/bench/plain/make_table.o: bench/guest/plain_table.c
	$(cc) $(room.userspace/preload) $(lib.userspace/preload) \
		-iquote userspace/preload -c $<

$(bench_plain): $(filter-out %/make_table.o,$(preload_parts)) \
		$(O)/obj/bench/plain/make_table.o
	$(link_preload)

$T/bench/plain/bin/sfjit: $(SFJIT) $(bench_plain)
	$(call to,CP) cp $< $@

# For a compiler in a guest without headers.
bench-source: $(patsubst sframegen/lib/%.c,$T/bench/source/%.i,$(wildcard \
	sframegen/lib/*.c))

$T/bench/source/%.i: sframegen/lib/%.c
	$(call to,CPP) $(CC) $(SF_CFLAGS) -E -P -o $@ $<

.PHONY: bench-programs bench-native bench-source
