# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Samples of real programs, walked again by the kernel's code as the fuzz
# targets compile it (tests/kernel/fuzz/fuzz.mk); and their recorder, for a guest.

replay_dir := tests/kernel/replay
replay_headers := $(wildcard $(replay_dir)/*.h) tests/lib/tap.h
replay_host_cflags := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Itests/lib

$(FUZZ_OUT)/replay/stacks/task.o: $(replay_dir)/task.c $(replay_headers) \
		$(fuzz_headers)
	@mkdir -p $(@D)
	$(CC) -O2 $(fuzz_cflags) -c -o $@ $<

$(FUZZ_OUT)/replay-stacks: $(addprefix $(replay_dir)/,replay.c corpus.c) \
		tests/lib/tap.c $(FUZZ_OUT)/replay/stacks/task.o \
		$(FUZZ_OUT)/replay/harness/finding.o \
		$(patsubst %,$(FUZZ_OUT)/replay/unwinder/%.o, \
		$(fuzz_unwinder)) $(replay_headers)
	$(CC) $(replay_host_cflags) $(fuzz_san) -o $@ $(filter %.c %.o,$^)

fuzz-replays: $(FUZZ_OUT)/replay-stacks

$(O)/tests/kernel/replay/recorder: $(addprefix $(replay_dir)/,recorder.c processes.c) \
		$(replay_dir)/record.h $(SFG_PUBLIC_H) $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -static -o $@ $(filter %.c %.a,$^)

TESTS += $(O)/tests/kernel/replay/recorder

# Behind a last call, without padding, is another function.
$(O)/tests/kernel/replay/exceptions: $(replay_dir)/programs/exceptions.cc
	@mkdir -p $(@D)
	g++ -std=c++20 $(CFLAGS) -falign-functions=1 -pthread -o $@ $<

# What tests/kernel/replay/record needs besides sfjit.
replay-programs: $(O)/tests/kernel/replay/recorder $(O)/tests/kernel/replay/exceptions \
	$(FUZZ_OUT)/replay-stacks

.PHONY: replay-programs
