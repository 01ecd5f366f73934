/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * void kept_fp(const void *function, const struct kept *before,
 *		struct kept *after): calls it with all registers set
 * void kept_vx(...): the same with vector registers
 * void spoil_fp(void), void spoil_vx(void): change all that a function may
 */
	.machine "z13"

/* Of struct kept. */
#define STATUS	96
#define STACK	112
#define VECTORS	128

	/* vectors OPERATION, BASE: of v0 to v31 */
	.macro	vectors, op, base
	\op	%v0, %v15, VECTORS(\base)
	\op	%v16, %v31, VECTORS + 256(\base)
	.endm

	/* fp OPERATION, BASE: of f0 to f15 */
	.macro	fp, op, base
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\op	%f\n, VECTORS + 8 * \n(\base)
	.endr
	.endm

	.macro	saved, op
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	\op	%f\n, 160 + 8 * (\n - 8)(%r15)
	.endr
	.endm

	/*
	 * r0 to r11 are set, and the word at the stack pointer; r12 and r13
	 * have where from and where to.
	 */
	.macro	kept_by, what, load, store
	stmg	%r6, %r15, 48(%r15)
	aghi	%r15, -(160 + 64 + 8)
	saved	std
	lgr	%r12, %r3
	lgr	%r13, %r4
	stg	%r2, 224(%r15)
	mvc	0(8, %r15), STACK(%r12)
	\what	\load, %r12
	lfpc	STATUS + 4(%r12)
	l	%r0, STATUS(%r12)
	spm	%r0
	lg	%r14, 224(%r15)
	lmg	%r0, %r11, 0(%r12)
	basr	%r14, %r14
	stmg	%r0, %r11, 0(%r13)
	ipm	%r0
	st	%r0, STATUS(%r13)
	stfpc	STATUS + 4(%r13)
	\what	\store, %r13
	mvc	STACK(8, %r13), 0(%r15)
	lghi	%r0, 0
	sfpc	%r0
	saved	ld
	lmg	%r6, %r15, 48 + 160 + 64 + 8(%r15)
	br	%r14
	.endm

	.text
	.globl	kept_fp
	.type	kept_fp, @function
kept_fp:
	kept_by	fp, ld, std
	.size	kept_fp, . - kept_fp

	.globl	kept_vx
	.type	kept_vx, @function
kept_vx:
	kept_by	vectors, vlm, vstm
	.size	kept_vx, . - kept_vx

	.globl	spoil_fp
	.type	spoil_fp, @function
spoil_fp:
	.irp	n, 0, 1, 2, 3, 4, 5
	lghi	%r\n, 0x77
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	ldgr	%f\n, %r0
	.endr
	sfpc	%r1
	/* The save area of the caller, but for its first word. */
	mvc	8(152, %r15), 0(%r14)
	tmll	%r0, 0x8
	br	%r14
	.size	spoil_fp, . - spoil_fp

	/* Of 8 to 15 the upper halves stay: they are f8 to f15. */
	.globl	spoil_vx
	.type	spoil_vx, @function
spoil_vx:
	lghi	%r0, 0x77
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, \
		24, 25, 26, 27, 28, 29, 30, 31
	vrepib	%v\n, 0x77
	.endr
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	vlvgg	%v\n, %r0, 1
	.endr
	br	%r14
	.size	spoil_vx, . - spoil_vx

	.section .note.GNU-stack, "", @progbits
