# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs for qemu-user, of each machine that has trampolines. Not PIE: symbols of
# step are where nm says.

arch_libs := $(O)/obj/userspace/libsfjit-test.a $(O)/lib/libsframegen.a
arch_programs := $(addprefix $T/arch/, convert rows step)

$(arch_programs): $T/arch/%: tests/arch/%.c $(arch_libs) \
		| $(O)/gen/sfjit_trampoline.h
	$(program) -no-pie -pthread
$T/arch/rows: $(O)/obj/tests/lib/tap.o

# As the header of the library, but with sections of each machine.
trial := $(O)/gen/trial/sfjit_trampoline.h

$(trial): $(TRAMPOLINE) $(SFRAMEGEN)
	$(call to,GEN) $(SFRAMEGEN) --template $< --trial-abi -o $@

$T/arch/step: private SF_CFLAGS := -I$(dir $(trial)) $(SF_CFLAGS)
$T/arch/step: | $(trial)

# For a guest whose kernel knows no windows.
chain: $T/system/perf/chain

ifdef native
arch_triple = $(shell sed -n "s/^ *triple='\([^']*\)'.*/\1/p" arch/$(1)/psabi.py)
other_tests += $T/arch/rows

arch-programs-%: $(SFRAMEGEN) $T/arch/convert
	+$(MAKE) CROSS_COMPILE=$(call arch_triple,$*)- ARCH=$* O=$(O)/arch/$* \
		SFRAMEGEN=$(SFRAMEGEN) arch-tests

# $(call foreign,TARGET): of another machine
foreign = +$(MAKE) CROSS_COMPILE=$*-linux-gnu- O=$(O)/arch/$* \
	SFRAMEGEN=$(SFRAMEGEN) $(1)

# The kernel's, for a guest; of the benchmarks; sfjit run, and a program for it in
# a guest; what a guest with the programs of a distribution runs, without and with
# tests.
arch-kselftests-%: $(SFRAMEGEN)
	$(call foreign,kselftests)
arch-bench-%: $(SFRAMEGEN)
	$(call foreign,$(O)/arch/$*/tests/bench/walk)
arch-edges-%: $(SFRAMEGEN)
	$(call foreign,edges)
arch-chain-%: $(SFRAMEGEN)
	$(call foreign,chain)
arch-all-%: $(SFRAMEGEN)
	$(call foreign,all $(if $(wildcard arch/$*/code.h),python))
arch-guest-%: $(SFRAMEGEN)
	$(call foreign,guest-programs)
else
TESTS += $(arch_programs) $(call in_tests,system/perf/chain)

# sfjit inject and sfjit daemon by themselves: sfjit is built for other machines
# without libelf.
elf_commands := $T/sfjit/programs/inject $T/sfjit/programs/daemon

$T/sfjit/programs/inject: $(O)/obj/elf/tests/sfjit/inject/main.o $(patsubst %, \
		$(O)/obj/elf/%.o,$(convert)) $(call objects,userspace/sfjit/perfdata/*.c \
		userspace/stacks/*.c,elf/)
$T/sfjit/programs/daemon: $(call objects,tests/sfjit/daemon/main.c \
		userspace/sfjit/daemon/*.c userspace/stacks/*.c $(addprefix \
		sframegen/cmd/,object*.c file.c format.c path.c) $(addprefix \
		userspace/sfjit/,file_tables.c printable.c program.c ps_maps.c util.c),elf/)

$(elf_commands): $(O)/lib/libsframegen.a
	$(call to,LD) $(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
		$(LIBELF)/lib/*/libelf.so.1 -Wl,--allow-shlib-undefined

# Return addresses by key A and B, and in a leaf's link register, where there are
# such; those that are not, too.
signed := $(addprefix $T/sfjit/programs/signed-, none \
	$(if $(filter aarch64,$(ARCH)),pac-ret pac-ret+b-key pac-ret+leaf))
signing = $(if $(filter aarch64,$(ARCH)),-mbranch-protection=$*)

$(signed): $T/sfjit/programs/signed-%: tests/sfjit/inject/signed.c
	$(program) -fomit-frame-pointer $(signing)

guest-programs: all python $(run_any:%=$(run)/%) $(elf_commands) $(signed)

# Of sfjit run.
ifneq ($(and $(walks),$(PRELOAD)),)
arch_code := $(addprefix $T/arch/unit/, code-$(ARCH) event-$(ARCH))
TESTS += $(arch_code)

$T/arch/unit/code-$(ARCH): $(patsubst %,$(O)/obj/%.o,tests/arch/leaves \
		$(preload_flow)) $(O)/lib/libsframegen.a
$T/arch/unit/event-$(ARCH): $(O)/obj/arch/$(ARCH)/event.o \
		$(O)/obj/tests/arch/event.o

$(arch_code): $T/arch/unit/%: tests/arch/%.c $(O)/obj/tests/lib/tap.o
	$(program)

$(O)/obj/tests/arch/event.o: tests/arch/event-$(ARCH).S
	$(cc) -c $<
endif
endif

.PHONY: chain guest-programs
