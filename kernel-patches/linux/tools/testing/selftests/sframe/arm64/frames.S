/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code whose stack is known at each instruction. All functions but sft_enter
 * keep a frame record; sft_enter starts a stack with frame pointer 0, where
 * every walk by frame pointer ends.
 *
 * x19 holds the stack of sft_enter's caller, everything else leaves it alone.
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
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
.endm

/* A function without a body, whose rows are sft_leaf_rows. */
.macro leaf name
func \name
	bti	c
	prologue
label \name\()_body
	nop
	ldp	x29, x30, [sp], #16
	ret
label \name\()_end
.endm

/* void sft_enter(void *stack, void (*func)(void *), void *arg) */
func sft_enter
	stp	x29, x30, [sp, #-32]!
	str	x19, [sp, #16]
	mov	x19, sp
	mov	sp, x0
	mov	x0, x2
	mov	x29, #0
	blr	x1
label sft_enter_ret
	mov	sp, x19
	ldr	x19, [sp, #16]
	ldp	x29, x30, [sp], #32
	ret

/* void sft_outer(const struct sft_call *call) */
func sft_outer
	prologue
	bl	sft_inner
label sft_outer_ret
	ldp	x29, x30, [sp], #16
	ret

/* Restores sp from x29: a callee may change it. */
func sft_inner
	prologue
	ldp	x10, x9, [x0]
	blr	x10
label sft_inner_ret
	mov	sp, x29
	ldp	x29, x30, [sp], #16
	ret

	leaf	sft_leaf

/* Calls sft_leaf; its frame record is not at the end of its frame. */
func sft_pass
	bti	c
	stp	x29, x30, [sp, #-32]!
	mov	x29, sp
	bl	sft_leaf
label sft_pass_ret
	ldp	x29, x30, [sp], #32
	ret

/* Handlers of a signal, and of another signal that interrupts the first. */
	leaf	sft_handler
	leaf	sft_handler_2

func sft_escape
	bti	c
	prologue
label sft_escape_body
	nop
	b	sft_enter_ret
label sft_escape_end

/* Switches to the stack at x9, as if sft_escape had been called there. */
func sft_onto
	ldr	x30, [x9]
	add	sp, x9, #32
	b	sft_escape

/*
 * The code that a signal handler returns to. Its FDE begins one instruction
 * early, as there is no call instruction before the return address.
 */
	.balign	16
label sft_restorer_fde
	nop
label sft_restorer
	mov	x8, #__NR_rt_sigreturn
label sft_restorer_syscall
	svc	#0
label sft_restorer_end

/* Sends itself SIGUSR1. */
func sft_kill
	bti	c
	prologue
	mov	x8, #__NR_getpid
	svc	#0
	mov	x1, #10
	mov	x8, #__NR_kill
	svc	#0
label sft_kill_ret
	ldp	x29, x30, [sp], #16
	ret

/* x0: struct sft_write_call */
func sft_write
	bti	c
	prologue
	ldr	x1, [x0, #24]
	ldr	w0, [x0, #16]
	mov	x2, #1
	mov	x8, #__NR_write
	svc	#0
label sft_write_ret
	ldp	x29, x30, [sp], #16
	ret

	.arch	armv8.5-a+memtag

/* x9: a tag for the frame pointer. */
func sft_tag_fp
	prologue
	orr	x29, x29, x9
	bl	sft_leaf
label sft_tag_fp_ret
	ldp	x29, x30, [sp], #16
	ret
label sft_tag_fp_end

/* x9: a tagged pointer. */
func sft_tag_granule
	prologue
	stg	x9, [x9]
label sft_tag_granule_body
	nop
	and	x9, x9, #0x00ffffffffffffff
	stg	x9, [x9]
	ldp	x29, x30, [sp], #16
	ret

/* Reads the byte at the address in x9. */
func sft_touch
	bti	c
	prologue
label sft_touch_load
	ldrb	w9, [x9]
label sft_touch_loaded
	ldp	x29, x30, [sp], #16
	ret

/* Abort handler of a restartable sequence; the signature comes first. */
	.inst	0xd428bc00
label sft_touch_abort
	b	sft_touch_loaded

	.section .note.GNU-stack, "", %progbits
