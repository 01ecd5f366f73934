/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Where functions that do nothing are diverted to. No register may change,
 * vectors and the condition code included: see arch/x86_64/event.S.
 *
 * The save area at the stack pointer is the diverted function's, but for its
 * first word, in which the caller may have a back chain.
 */
#include "code.h"

/* Of what is called, a save area: above it r0 to r5, CC, FPC and vectors. */
#define GENERAL	160
#define STATUS	(GENERAL + 6 * 8)
#define VECTORS	(STATUS + 8)
#define FRAME	(VECTORS + CODE_VECTORS_VX)

	.machine "z13"
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
	.cfi_restore 14
	.cfi_restore 15
	stmg	%r14, %r15, 112(%r15)
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	lghi	%r14, number
	jg	event
	.set	number, number + 1
	.endr
	.cfi_endproc
	.size	code_events, . - code_events

	/* fp OPERATION: of f0 to f15 */
	.macro	fp, op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\op	%f\n, VECTORS + 8 * \n(%r15)
	.endr
	.endm

	/* vectors OPERATION: of v0 to v31 */
	.macro	vectors, op
	\op	%v0, %v15, VECTORS(%r15)
	\op	%v16, %v31, VECTORS + 256(%r15)
	.endm

	.macro	compare_size
	lgrl	%r1, code_vectors
	cghi	%r1, CODE_VECTORS_VX
	.endm

	.type	event, @function
event:
	.cfi_startproc
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	lay	%r15, -FRAME(%r15)
	.cfi_def_cfa_offset 160 + FRAME
	stmg	%r0, %r5, GENERAL(%r15)
	ipm	%r0
	st	%r0, STATUS(%r15)
	stfpc	STATUS + 4(%r15)
	compare_size
	je	1f
	fp	std
	j	2f
1:	vectors	vstm
2:	lgr	%r2, %r14
	brasl	%r14, code_event
	compare_size
	je	3f
	fp	ld
	j	4f
3:	vectors	vlm
4:	lfpc	STATUS + 4(%r15)
	l	%r0, STATUS(%r15)
	spm	%r0
	lmg	%r0, %r5, GENERAL(%r15)
	lmg	%r14, %r15, FRAME + 112(%r15)
	.cfi_restore 14
	.cfi_restore 15
	.cfi_def_cfa_offset 160
	br	%r14
	.cfi_endproc
	.size	event, . - event

/* Pages of text for trials. */
	.globl	code_trial
	.hidden	code_trial
	.balign	CODE_TRIAL_SIZE
code_trial:
	.fill	CODE_TRIAL_SIZE

	.section .note.GNU-stack, "", @progbits
