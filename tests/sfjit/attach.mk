# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Calls in other processes, and a program that they must not disturb.

TESTS += $(addprefix $(O)/tests/sfjit/programs/attach-, target odd no-call) \
	$(O)/tests/sfjit/attach-engine

# Its assembly has frames of its own.
$(O)/tests/sfjit/programs/attach-target: tests/sfjit/attach/target.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -mno-red-zone -o $@ $< \
		-pthread

$(O)/tests/sfjit/programs/attach-odd: tests/sfjit/attach/odd.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -o $@ $<

# Its code is in pages of its own.
$(O)/tests/sfjit/programs/attach-no-call: tests/sfjit/attach/no_call.S
	@mkdir -p $(@D)
	$(CC) -nostdlib -static -Wl,-z,separate-code -Wl,--build-id=none -o $@ $<

$(O)/tests/sfjit/attach-engine: tests/sfjit/attach-engine.c tests/lib/tap.c \
		tests/lib/tap.h userspace/sfjit/must.c $(ATTACH_ENGINE) \
		arch/$(ARCH)/registers.h | $(O)/tests/sfjit/programs/attach-target
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -iquote userspace/sfjit/attach \
		-o $@ $(filter %.c,$^)
