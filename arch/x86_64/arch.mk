# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# Where code.h is, and what belongs to it.
CODE_INC := -Iarch/x86_64
CODE_OBJ := $(O)/obj/arch/x86_64/event.o

$(CODE_OBJ): arch/x86_64/event.S arch/x86_64/code.h
	@mkdir -p $(@D)
	$(CC) $(CODE_INC) -c -o $@ $<

TRAMPOLINE := $(O)/obj/arch/x86_64/trampoline.o

$(O)/obj/arch/x86_64/trampoline.s: arch/x86_64/trampoline.S \
		userspace/libsfjit/layout.h
	@mkdir -p $(@D)
	$(CC) -E -P -x assembler-with-cpp -Iuserspace/libsfjit -o $@ $<

$(TRAMPOLINE): $(O)/obj/arch/x86_64/trampoline.s
	$(AS) --64 --fatal-warnings -o $@ $<

# With the assembler's SFrame, which tests compare with ours.
TRAMPOLINE_SFRAME := $(TRAMPOLINE:.o=-sframe.o)

$(TRAMPOLINE_SFRAME): $(O)/obj/arch/x86_64/trampoline.s
	$(AS_SFRAME) --64 --gsframe --fatal-warnings -o $@ $<

$(O)/gen/sfjit_trampoline.h: $(TRAMPOLINE) $(O)/bin/sframegen
	@mkdir -p $(@D)
	$(O)/bin/sframegen --template $< -o $@
