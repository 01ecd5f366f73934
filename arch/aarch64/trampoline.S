/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Trampolines without frame pointer, one slot each.
 *
 * Rules for an editor: a slot is position independent and its rows repeat with
 * the slot; no argument may be on the stack; x0 to x7, x8 (where a result in
 * memory goes) and the vector registers pass through. The first instruction is
 * a landing pad: paciasp and pacibsp are.
 */
#include "trampoline.h"

	.arch	armv8.5-a

/* The caller passes the target as the sixth integer argument. */
slot_start sfjit_tramp_arg
	bti	c
	str	x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -16
	blr	x5
	ldr	x30, [sp], #16
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
slot_end sfjit_tramp_arg

/* The target is in the word one window after the slot. */
slot_start sfjit_tramp_slot
	bti	c
	str	x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -16
	ldr	x16, .Lstart_of_sfjit_tramp_slot + SFJIT_WINDOW_SIZE
	blr	x16
	ldr	x30, [sp], #16
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
slot_end sfjit_tramp_slot

/* As the first, with x29 as a general register across the call. */
slot_start sfjit_tramp_rbp
	bti	c
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, x5
	blr	x29
	ldp	x29, x30, [sp], #16
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
slot_end sfjit_tramp_rbp

/* As the second, with a signed return address. */
slot_start sfjit_tramp_signed_a
	paciasp
	.cfi_negate_ra_state
	str	x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -16
	ldr	x16, .Lstart_of_sfjit_tramp_signed_a + SFJIT_WINDOW_SIZE
	blr	x16
	ldr	x30, [sp], #16
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	autiasp
	.cfi_negate_ra_state
	ret
slot_end sfjit_tramp_signed_a

slot_start sfjit_tramp_signed_b
	.cfi_b_key_frame
	pacibsp
	.cfi_negate_ra_state
	str	x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -16
	ldr	x16, .Lstart_of_sfjit_tramp_signed_b + SFJIT_WINDOW_SIZE
	blr	x16
	ldr	x30, [sp], #16
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	autibsp
	.cfi_negate_ra_state
	ret
slot_end sfjit_tramp_signed_b

	.section .note.GNU-stack, "", %progbits
