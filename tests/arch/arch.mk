# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs for qemu-user, of each machine that has trampolines.

ARCH_PROGRAMS := $(addprefix $(O)/tests/arch/, convert rows step)
arch_libs := $(O)/obj/userspace/libsfjit-test.a $(O)/lib/libsframegen.a

$(O)/tests/arch/rows: tests/lib/case.c tests/lib/case.h tests/unit/lib-test.h

# Not PIE: symbols of step are where nm says.
$(ARCH_PROGRAMS): $(O)/tests/arch/%: tests/arch/%.c $(arch_libs)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -no-pie -o $@ $< $(filter-out $<, \
		$(filter %.c,$^)) $(arch_libs) -pthread

ifneq ($(CROSS_COMPILE),)
# Of the lane unit: what neither has code of AMD64, nor needs of the kernel what
# qemu-user does not have.
# Here the sanitizers see nothing that they do not see there.
ARCH_UNIT := $(addprefix $(O)/tests/unit/, lib-atfork lib-jitdump lib-names \
	lib-section)
ARCH_UNIT_INNER := $(addprefix $(O)/tests/unit/, lib-area lib-check \
	lib-eh-frame lib-epoch lib-live lib-pool lib-register lib-rows \
	sframegen-cfi sframegen-layout sframegen-section)

$(ARCH_UNIT): $(O)/lib/libsfjit.a $(O)/lib/libsframegen.a
$(ARCH_UNIT_INNER): sframegen/cmd/format.c $(arch_libs)
$(ARCH_UNIT_INNER): arch_test := -DSFJIT_TEST -Isframegen/lib -Isframegen/cmd

$(ARCH_UNIT) $(ARCH_UNIT_INNER): $(O)/tests/unit/%: tests/unit/%.c \
		tests/lib/case.c $(wildcard tests/lib/*.h tests/unit/*.h)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(arch_test) $(CFLAGS) -o $@ $(filter %.c,$^) \
		$(filter %.a,$^) -pthread

TESTS += $(ARCH_PROGRAMS) $(ARCH_UNIT) $(ARCH_UNIT_INNER)

# Of sfjit run.
ifneq ($(wildcard arch/$(ARCH)/code.h),)
include tests/unit/readers.mk tests/unit/run-any.mk tests/qemu/edges.mk \
	tests/demo/demo.mk

ARCH_CODE := $(addprefix $(O)/tests/unit/, code-$(ARCH) event-$(ARCH))

$(O)/tests/unit/code-$(ARCH): $(PRELOAD_BARE)
$(O)/tests/unit/event-$(ARCH): tests/arch/event-$(ARCH).S $(CODE_OBJ)

$(ARCH_CODE): $(O)/tests/unit/%: tests/arch/%.c tests/lib/case.c \
		tests/lib/case.h $(PRELOAD_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.S %.o,$^)

guest-programs: all $(RUN_ANY)

.PHONY: guest-programs

TESTS += $(ARCH_CODE) $(addprefix $(O)/tests/unit/, run-amend run-clip \
	run-covers run-image)
endif
else
ARCHES := $(patsubst arch/%/psabi.py,%,$(wildcard arch/*/psabi.py))
arch_triple = $(shell sed -n "s/^ *triple='\([^']*\)'.*/\1/p" arch/$(1)/psabi.py)

arch-programs: $(ARCHES:%=arch-programs-%) $(addprefix $(O)/tests/arch/, \
		convert rows)

arch-programs-%: $(SFRAMEGEN)
	$(MAKE) CROSS_COMPILE=$(call arch_triple,$*)- ARCH=$* O=$(O)/arch/$* \
		SFRAMEGEN=$(SFRAMEGEN) arch-tests

# The kernel's, for a guest.
arch-kselftests-%:
	$(MAKE) CROSS_COMPILE=$*-linux-gnu- O=$(O)/arch/$* kselftests

# sfjit run, and a program for it in a guest.
arch-edges-aarch64: $(SFRAMEGEN)
	$(MAKE) CROSS_COMPILE=aarch64-linux-gnu- O=$(O)/arch/aarch64 \
		SFRAMEGEN=$(SFRAMEGEN) edges

# What a guest with the programs of a distribution runs.
arch-guest-%: $(SFRAMEGEN)
	$(MAKE) CROSS_COMPILE=$*-linux-gnu- O=$(O)/arch/$* \
		SFRAMEGEN=$(SFRAMEGEN) guest-programs

.PHONY: arch-programs arch-edges-aarch64
endif
