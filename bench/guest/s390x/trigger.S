/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * unsigned long bench_trigger(void *sp, void *fp)
 *
 * Executes bench_trigger_insn on the given stack and frame pointer and returns
 * how far the clock went meanwhile, in instructions. Nothing is pushed: the words
 * at sp and above stay as they are.
 */
	.text

	.macro	instructions first, second
	lg	%r2, \second
	sg	%r2, \first
	mghi	%r2, 125
	srlg	%r2, %r2, 9
	.endm

	.globl	bench_trigger, bench_trigger_insn
	.type	bench_trigger, %function
	.balign	16
bench_trigger:
	stmg	%r6, %r15, 48(%r15)
	aghi	%r15, -176
	lgr	%r8, %r15
	lgr	%r15, %r2
	lgr	%r11, %r3
	stckf	160(%r8)
bench_trigger_insn:
	nopr
	stckf	168(%r8)
	instructions 160(%r8), 168(%r8)
	lmg	%r6, %r15, 176 + 48(%r8)
	br	%r14
	.size	bench_trigger, . - bench_trigger

/*
 * unsigned long bench_thousand(void)
 *
 * The same around 1,000 instructions, of which the second reading is one.
 */
	.globl	bench_thousand
	.type	bench_thousand, %function
	.balign	16
bench_thousand:
	aghi	%r15, -176
	stckf	160(%r15)
	.rept	999
	nopr
	.endr
	stckf	168(%r15)
	instructions 160(%r15), 168(%r15)
	aghi	%r15, 176
	br	%r14
	.size	bench_thousand, . - bench_thousand

	.section .note.GNU-stack, "", %progbits
