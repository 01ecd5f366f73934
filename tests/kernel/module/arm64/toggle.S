/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code to be interrupted, with a known stack; called as the functions of the
 * selftests' frames.S.
 */
#include <asm/unistd.h>

	.text

/*
 * x0: struct toggle. Registers and unregisters a window again and again, with a
 * frame record.
 */
	.globl	toggle, toggle_ret
	.type	toggle, %function
	.balign	16
toggle:
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	mov	x12, x0
1:	ldr	x0, [x12, #24]
	ldp	x1, x2, [x12, #40]
	ldr	x3, [x12, #56]
	mov	x4, #0
	mov	x8, #__NR_prctl
	svc	#0
	ldp	x0, x1, [x12, #32]
	mov	x2, #0
	mov	x3, #0
	mov	x4, #0
	mov	x8, #__NR_prctl
	svc	#0
	ldr	x10, [x12, #16]
	subs	x10, x10, #1
	str	x10, [x12, #16]
	b.ne	1b
	ldp	x29, x30, [sp], #16
toggle_ret:
	ret

	.section .note.GNU-stack, "", %progbits
