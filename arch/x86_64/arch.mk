# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# With the assembler's SFrame, which tests compare with ours.
TRAMPOLINE_SFRAME := $(TRAMPOLINE:.o=-sframe.o)

$(TRAMPOLINE_SFRAME): $(TRAMPOLINE:.o=.s)
	$(AS_SFRAME) --64 --gsframe --fatal-warnings -o $@ $<
