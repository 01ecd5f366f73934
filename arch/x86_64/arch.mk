# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# What belongs to code.h.
CODE_OBJ := $(O)/obj/arch/x86_64/event.o

$(CODE_OBJ): arch/x86_64/event.S arch/x86_64/code.h
	@mkdir -p $(@D)
	$(CC) -Iarch/x86_64 -c -o $@ $<

# With the assembler's SFrame, which tests compare with ours.
TRAMPOLINE_SFRAME := $(TRAMPOLINE:.o=-sframe.o)

$(TRAMPOLINE_SFRAME): $(TRAMPOLINE:.o=.s)
	$(AS_SFRAME) --64 --gsframe --fatal-warnings -o $@ $<
