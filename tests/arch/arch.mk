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
	$(CC) $(SF_CFLAGS) $(CFLAGS) -no-pie -o $@ $< $(filter %.c %.a, \
		$(filter-out $<,$^)) -pthread

ifneq ($(CROSS_COMPILE),)
TESTS += $(ARCH_PROGRAMS)
else
ARCHES := aarch64 ppc64le riscv64 s390x

arch-programs: $(ARCHES:%=arch-programs-%) $(addprefix $(O)/tests/arch/, \
		convert rows)

arch-programs-%: $(SFRAMEGEN)
	$(MAKE) CROSS_COMPILE=$(patsubst ppc%,powerpc%,$*)-linux-gnu- \
		O=$(O)/arch/$* SFRAMEGEN=$(SFRAMEGEN) tests

.PHONY: arch-programs
endif
