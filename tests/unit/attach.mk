# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Calls in other processes, and a program that they must not disturb.

TESTS += $(addprefix $(O)/tests/run/attach-, target odd no-call) \
	$(O)/tests/unit/attach-engine

# Its assembly has frames of its own.
$(O)/tests/run/attach-target: tests/unit/attach/target.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -mno-red-zone -o $@ $< \
		-pthread

$(O)/tests/run/attach-odd: tests/unit/attach/odd.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -o $@ $<

# Its code is in pages of its own.
$(O)/tests/run/attach-no-call: tests/unit/attach/no_call.S
	@mkdir -p $(@D)
	$(CC) -nostdlib -static -Wl,-z,separate-code -Wl,--build-id=none -o $@ $<

$(O)/tests/unit/attach-engine: tests/unit/attach-engine.c tests/lib/case.c \
		tests/lib/case.h userspace/sfjit/must.c $(ATTACH_ENGINE) \
		arch/$(ARCH)/registers.h | $(O)/tests/run/attach-target
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -iquote userspace/sfjit/attach \
		-o $@ $(filter %.c,$^)
