/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Trampolines without frame pointer, one slot each.
 *
 * Rules for an editor: a slot is position independent and its rows repeat with
 * the slot; no argument may be on the stack; r2 to r6 and f0, f2, f4, f6 and
 * the vector registers pass through. Registers are saved in the 160 bytes that
 * the caller has for it above its stack pointer: rN at 8 * N. The CFA is above
 * them.
 */
#include "trampoline.h"

#define FRAME		160

/* The caller passes the target as the fifth, the last integer argument. */
slot_start sfjit_tramp_arg
	stmg	%r14, %r15, 112(%r15)
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	aghi	%r15, -FRAME
	.cfi_def_cfa_offset 320
	basr	%r14, %r6
	lmg	%r14, %r15, FRAME + 112(%r15)
	.cfi_restore 14
	.cfi_restore 15
	.cfi_def_cfa_offset 160
	br	%r14
slot_end sfjit_tramp_arg

/* The target is in the word one window after the slot. */
slot_start sfjit_tramp_slot
	stmg	%r14, %r15, 112(%r15)
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	lgrl	%r1, .Lstart_of_sfjit_tramp_slot + SFJIT_WINDOW_SIZE
	aghi	%r15, -FRAME
	.cfi_def_cfa_offset 320
	basr	%r14, %r1
	lmg	%r14, %r15, FRAME + 112(%r15)
	.cfi_restore 14
	.cfi_restore 15
	.cfi_def_cfa_offset 160
	br	%r14
slot_end sfjit_tramp_slot

/* As the first, with r11 as a general register across the call. */
slot_start sfjit_tramp_rbp
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset 11, -72
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	aghi	%r15, -FRAME
	.cfi_def_cfa_offset 320
	lgr	%r11, %r6
	basr	%r14, %r11
	lmg	%r11, %r15, FRAME + 88(%r15)
	.cfi_restore 11
	.cfi_restore 14
	.cfi_restore 15
	.cfi_def_cfa_offset 160
	br	%r14
slot_end sfjit_tramp_rbp

	.section .note.GNU-stack, "", %progbits
