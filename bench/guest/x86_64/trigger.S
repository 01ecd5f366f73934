/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * unsigned long bench_trigger(void *sp, void *fp)
 *
 * Executes bench_trigger_insn on the given stack and frame pointer and returns
 * how far the time stamp counter went meanwhile. Nothing is pushed: the words
 * at sp and above stay as they are.
 */
#include <asm/unistd.h>

	.text
	.globl	bench_trigger, bench_trigger_insn
	.type	bench_trigger, @function
bench_trigger:
	endbr64
	push	%rbp
	push	%rbx
	mov	%rsp, %rbx
	mov	%rdi, %rsp
	mov	%rsi, %rbp
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, %r8
bench_trigger_insn:
	nop
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	sub	%r8, %rax
	mov	%rbx, %rsp
	pop	%rbx
	pop	%rbp
	ret
	.size	bench_trigger, . - bench_trigger

/*
 * unsigned long bench_thousand(void)
 *
 * The same around 1,000 instructions, of which the second RDTSC is one.
 */
	.globl	bench_thousand
	.type	bench_thousand, @function
bench_thousand:
	endbr64
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, %r8
	.rept	996
	nop
	.endr
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	sub	%r8, %rax
	ret
	.size	bench_thousand, . - bench_thousand

/*
 * long bench_probe(void *sp, void *fp, int device, const char *context)
 *
 * write() of one byte on the given stack and frame pointer, which stay as they
 * are; its result.
 */
	.globl	bench_probe, bench_probe_ret, bench_probe_end
	.type	bench_probe, @function
bench_probe:
	endbr64
	push	%rbp
	push	%rbx
	mov	%rsp, %rbx
	mov	%rdi, %rsp
	mov	%rsi, %rbp
	mov	%edx, %edi
	mov	%rcx, %rsi
	mov	$1, %edx
	mov	$__NR_write, %eax
	syscall
bench_probe_ret:
	mov	%rbx, %rsp
	pop	%rbx
	pop	%rbp
	ret
bench_probe_end:
	.size	bench_probe, . - bench_probe

	.section .note.GNU-stack, "", @progbits
