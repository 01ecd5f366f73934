/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Trampolines without frame pointer, one slot each, for the ELFv2 ABI.
 *
 * Rules for an editor: a slot is position independent and its rows repeat with
 * the slot; no argument may be on the stack; r3 to r10 and the floating-point
 * and vector registers pass through. A caller through a pointer has its entry
 * in r12, and restores r2. So a trampoline has one entry, may change r2, and
 * must set r12 to the target. The frame has the parameter save area of 64 bytes
 * after the header of 32; variadic functions store to it.
 */
#include "trampoline.h"

#define FRAME		96
#define FRAME_SAVED	112	/* with r31 */

	.abiversion 2
	.machine power8

/* The caller passes the target as the sixth integer argument. */
slot_start sfjit_tramp_arg
	.localentry sfjit_tramp_arg, 1
	mflr	0
	std	0, 16(1)
	.cfi_offset lr, 16
	stdu	1, -FRAME(1)
	.cfi_def_cfa_offset FRAME
	mr	12, 8
	mtctr	12
	bctrl
	addi	1, 1, FRAME
	.cfi_def_cfa_offset 0
	ld	0, 16(1)
	mtlr	0
	.cfi_restore lr
	blr
slot_end sfjit_tramp_arg

/*
 * The target is in the word one window after the slot, whose address is in r12.
 */
slot_start sfjit_tramp_slot
	.localentry sfjit_tramp_slot, 1
	mflr	0
	std	0, 16(1)
	.cfi_offset lr, 16
	stdu	1, -FRAME(1)
	.cfi_def_cfa_offset FRAME
	addis	12, 12, SFJIT_WINDOW_SIZE >> 16
	ld	12, 0(12)
	mtctr	12
	bctrl
	addi	1, 1, FRAME
	.cfi_def_cfa_offset 0
	ld	0, 16(1)
	mtlr	0
	.cfi_restore lr
	blr
slot_end sfjit_tramp_slot

/* As the first, with r31 as a general register across the call. */
slot_start sfjit_tramp_rbp
	.localentry sfjit_tramp_rbp, 1
	mflr	0
	std	0, 16(1)
	.cfi_offset lr, 16
	std	31, -8(1)
	.cfi_offset 31, -8
	stdu	1, -FRAME_SAVED(1)
	.cfi_def_cfa_offset FRAME_SAVED
	mr	31, 8
	mr	12, 31
	mtctr	12
	bctrl
	addi	1, 1, FRAME_SAVED
	.cfi_def_cfa_offset 0
	ld	0, 16(1)
	mtlr	0
	.cfi_restore lr
	ld	31, -8(1)
	.cfi_restore 31
	blr
slot_end sfjit_tramp_rbp

	.section .note.GNU-stack, "", %progbits
