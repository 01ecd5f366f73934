/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Trampolines without frame pointer, one slot each.
 *
 * The comment at each instruction is the row that holds before it runs; ra is
 * at CFA - 8 in all of them. "fp same" means that rbp is still the caller's.
 *
 * Rules for an editor: a slot is position independent and its rows repeat with
 * the slot; no argument may be on the stack; rax (number of vector arguments,
 * later the result), rdx and the vector registers pass through. Pop into rcx
 * before ret: it returns nothing and is caller-saved. Push an even number of
 * words before the call, including the return address, to align rsp for the
 * callee.
 */
#include "trampoline.h"

/* The caller passes the target as the sixth, the last integer argument. */
slot_start sfjit_tramp_arg
	endbr64			/* CFA = sp + 8, fp same */
	push	%rax		/* CFA = sp + 8, fp same */
	.cfi_def_cfa_offset 16
	call	*%r9		/* CFA = sp + 16, fp same */
	pop	%rcx		/* CFA = sp + 16, fp same */
	.cfi_def_cfa_offset 8
	ret			/* CFA = sp + 8, fp same */
slot_end sfjit_tramp_arg

/*
 * The target is in the word one window after the slot. The label is local
 * because a template has no relocations.
 */
slot_start sfjit_tramp_slot
	endbr64			/* CFA = sp + 8, fp same */
	push	%rax		/* CFA = sp + 8, fp same */
	.cfi_def_cfa_offset 16
				/* CFA = sp + 16, fp same */
	call	*(.Lstart_of_sfjit_tramp_slot + SFJIT_WINDOW_SIZE)(%rip)
	pop	%rcx		/* CFA = sp + 16, fp same */
	.cfi_def_cfa_offset 8
	ret			/* CFA = sp + 8, fp same */
slot_end sfjit_tramp_slot

/*
 * As the first, with rbp as a general register across the call: what oneDNN
 * and xbyak kernels do. The callee finds an address of code in rbp.
 */
slot_start sfjit_tramp_rbp
	endbr64			/* CFA = sp + 8, fp same */
	push	%rbp		/* CFA = sp + 8, fp same */
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%r9, %rbp	/* CFA = sp + 16, fp = *(CFA - 16) */
	call	*%rbp		/* CFA = sp + 16, fp = *(CFA - 16) */
	pop	%rbp		/* CFA = sp + 16, fp = *(CFA - 16) */
	.cfi_restore %rbp
	.cfi_def_cfa_offset 8
	ret			/* CFA = sp + 8, fp same */
slot_end sfjit_tramp_rbp

	.section .note.GNU-stack, "", @progbits
