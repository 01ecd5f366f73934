# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs for qemu-user, of each machine that has trampolines.

ARCH_PROGRAMS := $(addprefix $(O)/tests/arch/, convert rows step)
arch_libs := $(O)/obj/userspace/libsfjit-test.a $(O)/lib/libsframegen.a

# As the header of the library, but with sections of each machine.
trial := $(O)/gen/trial/sfjit_trampoline.h

$(trial): $(TRAMPOLINE) $(SFRAMEGEN)
	@mkdir -p $(@D)
	$(SFRAMEGEN) --template $< --trial-abi -o $@

$(O)/tests/arch/step: private SF_CFLAGS := -I$(dir $(trial)) $(SF_CFLAGS)
$(O)/tests/arch/step: $(trial)
$(O)/tests/arch/rows: tests/lib/tap.c tests/lib/tap.h tests/libsfjit/test.h

# Not PIE: symbols of step are where nm says.
$(ARCH_PROGRAMS): $(O)/tests/arch/%: tests/arch/%.c $(arch_libs)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -no-pie -o $@ $< $(filter-out $<, \
		$(filter %.c,$^)) $(arch_libs) -pthread

ifneq ($(CROSS_COMPILE),)
# Of the lane unit: what neither has code of AMD64, nor needs of the kernel what
# qemu-user does not have.
# Here the sanitizers see nothing that they do not see there.
ARCH_UNIT := $(addprefix $(O)/tests/libsfjit/, atfork jitdump names section)
ARCH_UNIT_INNER := $(addprefix $(O)/tests/, $(addprefix libsfjit/, area check \
	eh-frame epoch live pool register rows) \
	$(addprefix sframegen/, cfi layout section))

$(ARCH_UNIT): $(O)/lib/libsfjit.a $(O)/lib/libsframegen.a
$(ARCH_UNIT_INNER): sframegen/cmd/format.c $(arch_libs)
$(ARCH_UNIT_INNER): arch_test := -DSFJIT_TEST -Isframegen/lib -Isframegen/cmd

$(ARCH_UNIT) $(ARCH_UNIT_INNER): $(O)/tests/%: tests/%.c \
		tests/lib/tap.c $(wildcard tests/lib/*.h tests/libsfjit/*.h \
		tests/sframegen/*.h)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(arch_test) $(CFLAGS) -o $@ $(filter %.c,$^) \
		$(filter %.a,$^) -pthread

TESTS += $(ARCH_PROGRAMS) $(ARCH_UNIT) $(ARCH_UNIT_INNER)

# For a guest whose kernel knows no windows.
include tests/system/perf/chain.mk

chain: $(O)/tests/system/perf/chain

.PHONY: chain

# Of sfjit run.
ifneq ($(wildcard arch/$(ARCH)/code.h),)
include tests/preload/readers.mk tests/preload/run-any.mk tests/system/guest/edges.mk \
	tests/system/demo/demo.mk

ARCH_CODE := $(addprefix $(O)/tests/arch/unit/, code-$(ARCH) event-$(ARCH))

$(O)/tests/arch/unit/code-$(ARCH): tests/arch/leaves.c tests/arch/leaves.h \
		$(PRELOAD_BARE) $(O)/lib/libsframegen.a
$(O)/tests/arch/unit/event-$(ARCH): tests/arch/event-$(ARCH).S $(CODE_OBJ)

$(ARCH_CODE): $(O)/tests/arch/unit/%: tests/arch/%.c tests/lib/tap.c \
		tests/lib/tap.h $(PRELOAD_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.S %.o,$^) \
		$(filter %.a,$^)

# sfjit inject by itself: sfjit is built for other machines without libelf.
INJECT := $(O)/tests/sfjit/programs/inject
INJECT_SRC := $(CONVERT_SRC) $(wildcard userspace/sfjit/perfdata/*.c \
	userspace/stacks/*.c)

$(INJECT): $(INJECT_SRC) $(O)/lib/libsframegen.a tools/libelf \
		$(wildcard userspace/sfjit/perfdata/*.h userspace/stacks/*.h \
		userspace/sfjit/*.h userspace/include/*.h) $(SFG_PUBLIC_H)
	@mkdir -p $(@D)
	libelf=$$(tools/libelf $(ARCH)) && $(CC) $(SF_CFLAGS) $(CFLAGS) \
		-D_GNU_SOURCE -isystem $$libelf/include \
		-iquote userspace/sfjit/perfdata -iquote userspace/sfjit \
		-iquote sframegen/cmd -o $@ \
		$(filter %.c %.a,$^) $$libelf/lib/*/libelf.so.1 \
		-Wl,--allow-shlib-undefined

# Return addresses by key A and B, and in a leaf's link register, where there are
# such; those that are not, too.
signing = $(if $(filter aarch64,$(ARCH)),-mbranch-protection=$*)
SIGNED := $(addprefix $(O)/tests/sfjit/programs/signed-, none \
	$(if $(filter aarch64,$(ARCH)),pac-ret pac-ret+b-key pac-ret+leaf))

$(SIGNED): $(O)/tests/sfjit/programs/signed-%: tests/sfjit/inject/signed.c \
		tests/sfjit/inject/middle.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fomit-frame-pointer $(signing) -o $@ $<

guest-programs: all $(RUN_ANY) $(INJECT) $(SIGNED)

.PHONY: guest-programs

TESTS += $(ARCH_CODE) $(addprefix $(O)/tests/preload/, amend clip \
	covers image)
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

# Of the benchmarks.
arch-bench-%: $(SFRAMEGEN)
	$(MAKE) CROSS_COMPILE=$*-linux-gnu- O=$(O)/arch/$* \
		SFRAMEGEN=$(SFRAMEGEN) $(O)/arch/$*/tests/bench/walk

# sfjit run, and a program for it in a guest.
arch-edges-%: $(SFRAMEGEN)
	$(MAKE) CROSS_COMPILE=$*-linux-gnu- O=$(O)/arch/$* \
		SFRAMEGEN=$(SFRAMEGEN) edges

arch-chain-%: $(SFRAMEGEN)
	$(MAKE) CROSS_COMPILE=$*-linux-gnu- O=$(O)/arch/$* \
		SFRAMEGEN=$(SFRAMEGEN) chain

# What a guest with the programs of a distribution runs, without and with tests.
arch-all-%: $(SFRAMEGEN)
	$(MAKE) CROSS_COMPILE=$*-linux-gnu- O=$(O)/arch/$* \
		SFRAMEGEN=$(SFRAMEGEN) all

arch-guest-%: $(SFRAMEGEN)
	$(MAKE) CROSS_COMPILE=$*-linux-gnu- O=$(O)/arch/$* \
		SFRAMEGEN=$(SFRAMEGEN) guest-programs

.PHONY: arch-programs
endif
