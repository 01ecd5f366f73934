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
 * rdi: struct toggle. Registers and unregisters a window again and again, with
 * frame pointer.
 */
	.globl	toggle, toggle_ret
	.type	toggle, @function
	.balign	16
toggle:
	push	%rbp
	mov	%rsp, %rbp
	mov	%rdi, %r12
1:	mov	24(%r12), %rdi
	mov	40(%r12), %rsi
	mov	48(%r12), %rdx
	mov	56(%r12), %r10
	xor	%r8d, %r8d
	mov	$__NR_prctl, %eax
	syscall
	mov	32(%r12), %rdi
	mov	40(%r12), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	mov	$__NR_prctl, %eax
	syscall
	decq	16(%r12)
	jnz	1b
	pop	%rbp
toggle_ret:
	ret

	.section .note.GNU-stack, "", @progbits
