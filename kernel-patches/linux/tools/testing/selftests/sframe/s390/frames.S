/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code whose stack is known at each instruction. All functions but sft_enter
 * keep a back chain; sft_enter starts a stack with back chain 0, where every
 * walk without windows ends.
 *
 * r8 holds the stack of sft_enter's caller, everything else leaves it alone.
 */
#include <asm/unistd.h>

	.text

.macro func name
	.globl	\name
	.type	\name, %function
	.balign	16
\name:
.endm

.macro label name
	.globl	\name
\name:
.endm

.macro prologue
	stmg	%r14, %r15, 112(%r15)
	lgr	%r0, %r15
	aghi	%r15, -160
	stg	%r0, 0(%r15)
.endm

.macro epilogue
	lmg	%r14, %r15, 160 + 112(%r15)
	br	%r14
.endm

/* A function without a body, whose rows are sft_leaf_rows. */
.macro leaf name
func \name
	prologue
label \name\()_body
	nopr
	epilogue
label \name\()_end
.endm

/* void sft_enter(void *stack, void (*func)(void *), void *arg) */
func sft_enter
	stmg	%r8, %r15, 64(%r15)
	lgr	%r8, %r15
	lgr	%r15, %r2
	lghi	%r0, 0
	stg	%r0, 0(%r15)
	lgr	%r2, %r4
	basr	%r14, %r3
label sft_enter_ret
	lgr	%r15, %r8
	lmg	%r8, %r15, 64(%r15)
	br	%r14

/* void sft_outer(const struct sft_call *call) */
func sft_outer
	prologue
	brasl	%r14, sft_inner
label sft_outer_ret
	epilogue

func sft_inner
	prologue
	lg	%r1, 8(%r2)
	lg	%r3, 0(%r2)
	basr	%r14, %r3
label sft_inner_ret
	epilogue

	leaf	sft_leaf

/* Calls sft_leaf. */
func sft_pass
	prologue
	brasl	%r14, sft_leaf
label sft_pass_ret
	epilogue

/* Handlers of a signal, and of another signal that interrupts the first. */
	leaf	sft_handler
	leaf	sft_handler_2

/* Its return address stays in r14. */
func sft_odd
	lgr	%r0, %r15
	la	%r1, 1(%r14)
	stg	%r1, 112(%r15)
	aghi	%r15, -160
	stg	%r0, 0(%r15)
label sft_odd_body
	nopr
	aghi	%r15, 160
	br	%r14

/* Calls a function of the vDSO; there is room for what it writes. */
func sft_vdso
	stmg	%r14, %r15, 112(%r15)
	lgr	%r0, %r15
	aghi	%r15, -176
	stg	%r0, 0(%r15)
	lghi	%r2, 0
	la	%r3, 160(%r15)
	basr	%r14, %r1
label sft_vdso_ret
	lmg	%r14, %r15, 176 + 112(%r15)
	br	%r14

func sft_escape
	prologue
label sft_escape_body
	nopr
	jg	sft_enter_ret
label sft_escape_end

/* Switches to the stack at r1, as if sft_escape had been called there. */
func sft_onto
	lg	%r14, 0(%r1)
	lgr	%r15, %r1
	jg	sft_escape

/*
 * The code that a signal handler returns to. Its FDE begins one instruction
 * early, as there is no call instruction before the return address.
 */
	.balign	16
label sft_restorer_fde
	nopr
label sft_restorer
label sft_restorer_syscall
	svc	__NR_rt_sigreturn
label sft_restorer_end

/* The same for a handler that gets no siginfo. */
	.balign	16
label sft_plain_restorer_fde
	nopr
label sft_plain_restorer
	svc	__NR_sigreturn
label sft_plain_restorer_end

/* r2: struct sft_write_call */
func sft_write
	prologue
	lg	%r3, 24(%r2)
	lg	%r2, 16(%r2)
	lghi	%r4, 1
	svc	__NR_write
label sft_write_ret
	epilogue

/* Sends itself SIGUSR1. */
func sft_kill
	prologue
	svc	__NR_getpid
	lghi	%r3, 10
	svc	__NR_kill
label sft_kill_ret
	epilogue
label sft_kill_end

/* Reads the byte at the address in r1. */
func sft_touch
	prologue
label sft_touch_load
	llgc	%r1, 0(%r1)
label sft_touch_loaded
	epilogue

/* Abort handler of a restartable sequence; the signature comes first. */
	.long	0xb2ff0fff
label sft_touch_abort
	jg	sft_touch_loaded

	.section .note.GNU-stack, "", %progbits
