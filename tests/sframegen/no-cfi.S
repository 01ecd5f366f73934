/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A program of functions as in hand-written libraries, without CFI, but for the
 * first, which says that there is no caller, and the last, whose CFI is wrong.
 */
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	mov	$0x1234567, %ebp
	call	saved
	call	framed
	call	aligned
	call	kept
	call	as_data
	lea	table(%rip), %rbx
	call	*(%rbx)
	call	tail
	call	asks
	call	saves
	cmp	$0x1234567, %ebp
	setne	%dil
	movzbl	%dil, %edi
	mov	$60, %eax
	syscall
	.cfi_endproc

	/* Registers saved by push, a loop, a leaf with a red zone. */
	.p2align 4
saved:	push	%rbx
	push	%r12
	sub	$24, %rsp
	mov	$3, %ebx
1:	call	leaf
	dec	%ebx
	jnz	1b
	add	$24, %rsp
	pop	%r12
	pop	%rbx
	ret

	.p2align 4
leaf:	mov	%rbx, -8(%rsp)
	mov	-8(%rsp), %rax
	ret

	.p2align 4
framed:	push	%rbp
	mov	%rsp, %rbp
	sub	$32, %rsp
	movq	$0, (%rsp)
	call	leaf
	leave
	ret

	/* A stack pointer that is aligned, with a frame pointer, */
	.p2align 4
aligned:
	push	%rbp
	mov	%rsp, %rbp
	sub	$96, %rsp
	and	$-64, %rsp
	movaps	%xmm0, (%rsp)
	mov	%rbp, %rsp
	pop	%rbp
	ret

	/* and without one: the old one is in a register, or in memory. */
	.p2align 4
kept:	mov	%rsp, %rax
	sub	$80, %rsp
	and	$-32, %rsp
	mov	%rax, 64(%rsp)
	xor	%eax, %eax
	mov	64(%rsp), %rsp
	ret

	/* The frame pointer has something else. */
	.p2align 4
as_data:
	push	%rbp
	push	%rbx
	mov	$99, %ebp
	lea	(%rbp,%rbp), %rbx
	call	leaf
	pop	%rbx
	pop	%rbp
	ret

	/* Called through a pointer alone: no jump or symbol leads there. */
	.p2align 4
.Lhidden:
	push	%r13
	pushfq
	popfq
	pop	%r13
	ret

	.p2align 4
tail:	sub	$8, %rsp
	add	$8, %rsp
	jmp	leaf

	/* Calls a function with other CFI. */
	.p2align 4
asks:	sub	$8, %rsp
	call	liar
	add	$8, %rsp
	ret

	/* Calls a function that leaves another frame pointer. */
	.p2align 4
saves:	push	%rbp
	call	*8(%rbx)
	pop	%rbp
	ret

	.p2align 4
.Lchanges:
	mov	$5, %ebp
	ret

	.p2align 4
	.type	liar, @function
liar:	.cfi_startproc
	nop
	.cfi_def_cfa_offset 64
	nop
	nop
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

	.section .data.rel.ro, "aw"
	.p2align 3
table:	.quad	.Lhidden, .Lchanges
	.section .note.GNU-stack, "", @progbits
