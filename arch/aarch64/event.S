/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Where functions that do nothing are diverted to. No register may change,
 * vectors and flags included: see arch/x86_64/event.S.
 */
#include "code.h"

/* The frame record, x0 to x15, x17, x18, NZCV, FPSR and FPCR. */
#define SAVED	192

	.arch	armv8.2-a+sve
	.text
	.balign	CODE_EVENT_SIZE
	.globl	code_events
	.hidden	code_events
	.type	code_events, %function
	.cfi_startproc
/* Branches to these name them: no landing pads are needed. */
code_events:
	.set	number, 0
	.rept	CODE_EVENTS
	.balign	CODE_EVENT_SIZE
	.cfi_def_cfa_offset 0
	str	x16, [sp, #-16]!
	.cfi_def_cfa_offset 16
	mov	x16, #number
	b	event
	.set	number, number + 1
	.endr
	.cfi_endproc
	.size	code_events, . - code_events

	/* vectors OPERATION: of z0 to z31 */
	.macro	vectors, op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, \
		17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	z\n, [sp, #\n, mul vl]
	.endr
	.endm

	.macro	predicates, op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\op	p\n, [x17, #\n, mul vl]
	.endr
	.endm

	/* simd OPERATION: of q0 to q31, two at a time */
	.macro	simd, op
	.set	place, 0
	.irp	pair, "q0, q1", "q2, q3", "q4, q5", "q6, q7", "q8, q9", \
		"q10, q11", "q12, q13", "q14, q15", "q16, q17", "q18, q19", \
		"q20, q21", "q22, q23", "q24, q25", "q26, q27", "q28, q29", \
		"q30, q31"
	\op	\pair, [sp, #place]
	.set	place, place + 32
	.endr
	.endm

	.macro	general, op
	.set	place, 16
	.irp	pair, "x0, x1", "x2, x3", "x4, x5", "x6, x7", "x8, x9", \
		"x10, x11", "x12, x13", "x14, x15"
	\op	\pair, [x29, #place]
	.set	place, place + 16
	.endr
	.endm

	/* Bytes of vectors in x17; the flags say whether they are SVE's. */
	.macro	vectors_size
	adrp	x17, code_vectors
	ldr	x17, [x17, #:lo12:code_vectors]
	cmp	x17, #CODE_VECTORS_SIMD
	.endm

	.type	event, %function
event:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	stp	x29, x30, [sp, #-SAVED]!
	.cfi_def_cfa_offset 16 + SAVED
	.cfi_offset x29, -16 - SAVED
	.cfi_offset x30, -8 - SAVED
	mov	x29, sp
	.cfi_def_cfa_register x29
	general	stp
	stp	x17, x18, [x29, #144]
	mrs	x0, nzcv
	mrs	x1, fpsr
	mrs	x2, fpcr
	stp	x0, x1, [x29, #160]
	str	x2, [x29, #176]
	vectors_size
	sub	sp, sp, x17
	b.ne	1f
	simd	stp
	b	2f
1:	vectors	str
	add	x17, sp, #CODE_SVE_PREDICATES
	predicates str
	rdffr	p0.b
	str	p0, [x17, #16, mul vl]
2:	mov	x0, x16
	bl	code_event
	vectors_size
	b.ne	3f
	simd	ldp
	b	4f
3:	add	x17, sp, #CODE_SVE_PREDICATES
	ldr	p0, [x17, #16, mul vl]
	wrffr	p0.b
	predicates ldr
	vectors	ldr
4:	mov	sp, x29
	ldp	x0, x1, [x29, #160]
	ldr	x2, [x29, #176]
	msr	nzcv, x0
	msr	fpsr, x1
	msr	fpcr, x2
	ldp	x17, x18, [x29, #144]
	general	ldp
	ldp	x29, x30, [sp], #SAVED
	.cfi_def_cfa sp, 16
	.cfi_restore x29
	.cfi_restore x30
	ldr	x16, [sp], #16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	event, . - event

/* Pages of text for trials. */
	.globl	code_trial
	.hidden	code_trial
	.balign	CODE_TRIAL_SIZE
code_trial:
	.fill	CODE_TRIAL_SIZE

	/*
	 * All of this may be guarded: NT_GNU_PROPERTY_TYPE_0 with the BTI bit in
	 * GNU_PROPERTY_AARCH64_FEATURE_1_AND.
	 */
	.section .note.gnu.property, "a", %note
	.balign	8
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0

	.section .note.GNU-stack, "", %progbits
