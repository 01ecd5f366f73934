/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * 32-bit code with known stacks, to be copied to an address of 32 bits.
 */
#ifndef SFRAME_COMPAT_H
#define SFRAME_COMPAT_H

/*
 * 32-bit functions with frame pointer. The first one returns to 64-bit code,
 * whose return address is the next word on the stack.
 */
asm("	.pushsection .text\n"
	"	.code32\n"
	"compat_outer:\n"
	"	push	%ebp\n"
	"	mov	%esp, %ebp\n"
	"	call	compat_inner\n"
	"compat_outer_ret:\n"
	"	pop	%ebp\n"
	"	lret\n"
	"compat_inner:\n"
	"	push	%ebp\n"
	"	mov	%esp, %ebp\n"
	"compat_nop:\n"
	"	nop\n"
	"	pop	%ebp\n"
	"	ret\n"
	"	.code64\n"
	"compat_back:\n"
	"	ret\n"
	"compat_end:\n"
	/* void compat_enter(void *stack, const void *outer, const void *back) */
	"compat_enter:\n"
	"	push	%rbp\n"
	"	push	%rbx\n"
	"	push	%r12\n"
	"	push	%r13\n"
	"	push	%r14\n"
	"	push	%r15\n"
	"	mov	%rsp, compat_sp(%rip)\n"
	"	mov	%rdi, %rsp\n"
	"	xor	%ebp, %ebp\n"
	"	lea	compat_left(%rip), %rax\n"
	"	push	%rax\n"
	"	sub	$8, %rsp\n"
	"	mov	%edx, (%rsp)\n"
	"	movl	$0x33, 4(%rsp)\n"
	"	pushq	$0x23\n"
	"	push	%rsi\n"
	"	lretq\n"
	"compat_left:\n"
	"	mov	compat_sp(%rip), %rsp\n"
	"	pop	%r15\n"
	"	pop	%r14\n"
	"	pop	%r13\n"
	"	pop	%r12\n"
	"	pop	%rbx\n"
	"	pop	%rbp\n"
	"	ret\n"
	"	.popsection\n"
	"	.local	compat_sp\n"
	"	.comm	compat_sp, 8, 8\n"
);

void compat_enter(void *stack, const void *outer, const void *back);
extern const char compat_outer[], compat_outer_ret[], compat_nop[];
extern const char compat_back[], compat_end[];

#endif /* SFRAME_COMPAT_H */
