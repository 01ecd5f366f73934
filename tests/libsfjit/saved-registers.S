/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * long changed_registers(const void *entry, const void *target): calls entry
 * with the target as sixth argument and known values in every register that
 * the x86-64 psABI has the callee keep; counts those that changed.
 */
.macro check value, reg
	xor	%ecx, %ecx
	cmp	$\value, \reg
	setne	%cl
	add	%rcx, %rax
.endm

	.text
	.globl	changed_registers
	.type	changed_registers, @function
changed_registers:
	endbr64
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$8, %rsp
	mov	%rsp, saved_sp(%rip)
	mov	$0x1001, %ebx
	mov	$0x1002, %ebp
	mov	$0x1003, %r12d
	mov	$0x1004, %r13d
	mov	$0x1005, %r14d
	mov	$0x1006, %r15d
	mov	%rsi, %r9
	call	*%rdi
	xor	%eax, %eax
	check	0x1001, %rbx
	check	0x1002, %rbp
	check	0x1003, %r12
	check	0x1004, %r13
	check	0x1005, %r14
	check	0x1006, %r15
	xor	%ecx, %ecx
	cmp	saved_sp(%rip), %rsp
	setne	%cl
	add	%rcx, %rax
	mov	saved_sp(%rip), %rsp
	add	$8, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	.size	changed_registers, . - changed_registers

	.local	saved_sp
	.comm	saved_sp, 8, 8
	.section .note.GNU-stack, "", @progbits
