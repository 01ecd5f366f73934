/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Where functions that do nothing are diverted to. The compiler may have seen
 * that such a function changes no register, and lets its callers keep values in
 * all of them (gcc's -fipa-ra): what is called from here must not be seen in any,
 * vectors and flags included.
 */
#include "code.h"

/* Registers below the frame pointer. */
#define SAVED	(11 * 8)

	.text
	.balign	CODE_EVENT_SIZE
	.globl	code_events
	.hidden	code_events
	.type	code_events, @function
	.cfi_startproc
code_events:
	.set	number, 0
	.rept	CODE_EVENTS
	.balign	CODE_EVENT_SIZE
	.cfi_def_cfa_offset 8
	push	$number
	.cfi_def_cfa_offset 16
	jmp	event
	.set	number, number + 1
	.endr
	.cfi_endproc
	.size	code_events, . - code_events

	.type	event, @function
event:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	push	%rbp
	.cfi_def_cfa_offset 24
	.cfi_offset %rbp, -24
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushfq
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbx
	cld
	mov	code_vectors(%rip), %rbx
	sub	%rbx, %rsp
	and	$-64, %rsp
	cmp	$512, %rbx
	je	1f
	/* The header of the area has to be 0 where it is not written. */
	xor	%eax, %eax
	lea	512(%rsp), %rdi
	mov	$8, %ecx
	rep stosq
	mov	$-1, %eax
	mov	$-1, %edx
	xsave64	(%rsp)
	jmp	2f
1:	fxsave64 (%rsp)
2:	mov	8(%rbp), %rdi
	call	code_event
	cmp	$512, %rbx
	je	3f
	mov	$-1, %eax
	mov	$-1, %edx
	xrstor64 (%rsp)
	jmp	4f
3:	fxrstor64 (%rsp)
4:	lea	-SAVED(%rbp), %rsp
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	popfq
	pop	%rbp
	.cfi_def_cfa %rsp, 16
	lea	8(%rsp), %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	event, . - event

/* Pages of text for trials. */
	.globl	code_trial
	.hidden	code_trial
	.balign	CODE_TRIAL_SIZE, 0xcc
code_trial:
	.fill	CODE_TRIAL_SIZE, 1, 0xcc

	.section .note.GNU-stack, "", @progbits
