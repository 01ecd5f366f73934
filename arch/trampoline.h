/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * For trampoline.S: begin and end of a slot.
 */
#include "layout.h"

	.text

.macro slot_start name
	.balign	SFJIT_SLOT_SIZE
	.globl	\name
	.type	\name, @function
\name:
.Lstart_of_\name:
	.cfi_startproc
.endm

/* The rest of the slot traps; rows of a slot cover it to its end. */
.macro slot_end name
	.if	. - .Lstart_of_\name > SFJIT_SLOT_SIZE
	.error	"trampoline does not fit its slot"
	.endif
	.balign	SFJIT_SLOT_SIZE, SLOT_TRAP
	.cfi_endproc
	.size	\name, . - \name
.endm
