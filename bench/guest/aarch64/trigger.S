/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * unsigned long bench_trigger(void *sp, void *fp)
 *
 * Executes bench_trigger_insn on the given stack and frame pointer and returns
 * how far the counter went meanwhile, in instructions. Nothing is pushed: the
 * words at sp and above stay as they are.
 */
#include "machine.h"

	.text

	.macro	count register
	isb
	mrs	\register, cntvct_el0
	.endm

	.globl	bench_trigger, bench_trigger_insn
	.type	bench_trigger, %function
	.balign	16
bench_trigger:
	stp	x29, x30, [sp, #-32]!
	str	x19, [sp, #16]
	mov	x19, sp
	mov	sp, x0
	mov	x29, x1
	count	x9
bench_trigger_insn:
	nop
	count	x10
	mov	sp, x19
	ldr	x19, [sp, #16]
	ldp	x29, x30, [sp], #32
	sub	x0, x10, x9
	mov	x11, #NOW_STEP
	mul	x0, x0, x11
	ret
	.size	bench_trigger, . - bench_trigger

/*
 * unsigned long bench_thousand(void)
 *
 * The same around 1,000 instructions, of which the second reading is two.
 */
	.globl	bench_thousand
	.type	bench_thousand, %function
	.balign	16
bench_thousand:
	count	x9
	.rept	998
	nop
	.endr
	count	x10
	sub	x0, x10, x9
	mov	x11, #NOW_STEP
	mul	x0, x0, x11
	ret
	.size	bench_thousand, . - bench_thousand

	.section .note.GNU-stack, "", %progbits
