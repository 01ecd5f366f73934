# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The trampolines of the machine that the compiler is for: machine code and its
# .eh_frame by the assembler, the rest by sframegen.

TRAMPOLINE := $(O)/obj/arch/$(ARCH)/trampoline.o

$(TRAMPOLINE:.o=.s): arch/$(ARCH)/trampoline.S arch/$(ARCH)/slot.h \
		arch/trampoline.h userspace/libsfjit/layout.h
	@mkdir -p $(@D)
	$(CC) -E -P -x assembler-with-cpp -Iarch -Iarch/$(ARCH) \
		-Iuserspace/libsfjit -o $@ $<

$(TRAMPOLINE): $(TRAMPOLINE:.o=.s)
	$(CC) -c -Wa,--fatal-warnings -o $@ $<

# What belongs to code.h.
CODE_OBJ := $(O)/obj/arch/$(ARCH)/event.o

$(CODE_OBJ): arch/$(ARCH)/event.S arch/$(ARCH)/code.h
	@mkdir -p $(@D)
	$(CC) -Iarch/$(ARCH) -c -o $@ $<

$(O)/gen/sfjit_trampoline.h: $(TRAMPOLINE) $(SFRAMEGEN)
	@mkdir -p $(@D)
	$(SFRAMEGEN) --template $< -o $@
