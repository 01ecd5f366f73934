/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code whose stack is known at each instruction. All functions but sft_enter
 * keep a frame pointer; sft_enter starts a stack with frame pointer 0, where
 * every walk by frame pointer ends.
 *
 * rbx holds the stack of sft_enter's caller, everything else leaves it alone.
 */
#include <asm/unistd.h>

	.text

.macro func name
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
.endm

.macro label name
	.globl	\name
\name:
.endm

.macro prologue
	push	%rbp
	mov	%rsp, %rbp
.endm

/* A function without a body, whose rows are sft_leaf_rows. */
.macro leaf name
func \name
	endbr64
	prologue
label \name\()_body
	nop
	pop	%rbp
	ret
label \name\()_end
.endm

/* void sft_enter(void *stack, void (*func)(void *), void *arg) */
func sft_enter
	push	%rbp
	push	%rbx
	push	%r12
	mov	%rsp, %rbx
	mov	%rdi, %rsp
	mov	%rdx, %rdi
	xor	%ebp, %ebp
	call	*%rsi
label sft_enter_ret
	mov	%rbx, %rsp
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret

/* void sft_outer(const struct sft_call *call) */
func sft_outer
	prologue
	call	sft_inner
label sft_outer_ret
	pop	%rbp
	ret

/* Restores sp from rbp: a callee may pop arguments. */
func sft_inner
	prologue
	mov	8(%rdi), %r9
	call	*(%rdi)
label sft_inner_ret
	mov	%rbp, %rsp
	pop	%rbp
	ret

	leaf	sft_leaf

/* Calls sft_leaf. */
func sft_pass
	endbr64
	prologue
	call	sft_leaf
label sft_pass_ret
	pop	%rbp
	ret

/* Handlers of a signal, and of another signal that interrupts the first. */
	leaf	sft_handler
	leaf	sft_handler_2

func sft_leaf_pop
	endbr64
	prologue
label sft_leaf_pop_body
	nop
	pop	%rbp
	ret	$8

func sft_escape
	endbr64
	prologue
label sft_escape_body
	nop
	jmp	sft_enter_ret
label sft_escape_end

/* Switches to the stack at r9, as if sft_escape had been called there. */
func sft_onto
	mov	%r9, %rsp
	jmp	sft_escape

/*
 * The code that a signal handler returns to. Its FDE begins one byte early, as
 * there is no call instruction before the return address.
 */
	.balign	16
label sft_restorer_fde
	nop
label sft_restorer
	mov	$__NR_rt_sigreturn, %eax
label sft_restorer_syscall
	syscall
label sft_restorer_end

/* Sends itself SIGUSR1. */
func sft_kill
	endbr64
	prologue
	mov	$__NR_getpid, %eax
	syscall
	mov	%eax, %edi
	mov	$10, %esi
	mov	$__NR_kill, %eax
	syscall
label sft_kill_ret
	pop	%rbp
	ret

/* rdi: struct sft_write_call */
func sft_write
	endbr64
	prologue
	mov	24(%rdi), %rsi
	mov	16(%rdi), %edi
	mov	$1, %edx
	mov	$__NR_write, %eax
	syscall
label sft_write_ret
	pop	%rbp
	ret

/* Reads the byte at the address in r9. */
func sft_touch
	endbr64
	prologue
label sft_touch_load
	mov	(%r9), %al
label sft_touch_loaded
	pop	%rbp
	ret

/* Abort handler of a restartable sequence; the signature comes first. */
	.long	0x53053053
label sft_touch_abort
	jmp	sft_touch_loaded

	.section .note.GNU-stack, "", @progbits
