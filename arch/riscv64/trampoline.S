/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Trampolines without frame pointer, one slot each.
 *
 * Rules for an editor: a slot is position independent and its rows repeat with
 * the slot; no argument may be on the stack; a0 to a7 and fa0 to fa7 pass
 * through. Nothing is left to the linker, which would move code. Instructions of
 * two bytes are used, so that a slot has 32.
 */
#include "trampoline.h"

	.option	norelax
	.option	rvc

/* The caller passes the target as the sixth integer argument. */
slot_start sfjit_tramp_arg
	addi	sp, sp, -16
	.cfi_def_cfa_offset 16
	sd	ra, 8(sp)
	.cfi_offset ra, -8
	jalr	a5
	ld	ra, 8(sp)
	.cfi_restore ra
	addi	sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
slot_end sfjit_tramp_arg

/*
 * The target is in the word one window after the slot: auipc is its first
 * instruction.
 */
slot_start sfjit_tramp_slot
	auipc	t1, SFJIT_WINDOW_SIZE >> 12
	ld	t1, 0(t1)
	addi	sp, sp, -16
	.cfi_def_cfa_offset 16
	sd	ra, 8(sp)
	.cfi_offset ra, -8
	jalr	t1
	ld	ra, 8(sp)
	.cfi_restore ra
	addi	sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
slot_end sfjit_tramp_slot

/* As the first, with s0 as a general register across the call. */
slot_start sfjit_tramp_rbp
	addi	sp, sp, -16
	.cfi_def_cfa_offset 16
	sd	ra, 8(sp)
	.cfi_offset ra, -8
	sd	s0, 0(sp)
	.cfi_offset s0, -16
	mv	s0, a5
	jalr	s0
	ld	ra, 8(sp)
	.cfi_restore ra
	ld	s0, 0(sp)
	.cfi_restore s0
	addi	sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
slot_end sfjit_tramp_rbp

	.section .note.GNU-stack, "", %progbits
