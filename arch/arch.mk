# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The trampolines of the machine that the compiler is for: machine code and its
# .eh_frame by the assembler, the rest by sframegen.

room.arch := -D_GNU_SOURCE
room.arch/$(ARCH)/flow := -D_GNU_SOURCE -Isframegen/lib
TRAMPOLINE := $(O)/obj/arch/$(ARCH)/trampoline.o

$(TRAMPOLINE:.o=.s): arch/$(ARCH)/trampoline.S
	$(call to,CPP) $(CC) -E -P -x assembler-with-cpp -Iarch -Iarch/$(ARCH) \
		-Iuserspace/libsfjit $(dep) -o $@ $<

$(TRAMPOLINE): $(TRAMPOLINE:.o=.s)
	$(call to,AS) $(CC) -c -Wa,--fatal-warnings -o $@ $<

$(O)/gen/sfjit_trampoline.h: $(TRAMPOLINE) $(SFRAMEGEN)
	$(call to,GEN) $(SFRAMEGEN) --template $< -o $@

# With the assembler's SFrame, which tests compare with ours.
TRAMPOLINE_SFRAME := $(if $(amd64),$(TRAMPOLINE:.o=-sframe.o))

$(TRAMPOLINE:.o=-sframe.o): $(TRAMPOLINE:.o=.s)
	$(call to,AS) $(AS_SFRAME) --64 --gsframe --fatal-warnings -o $@ $<
