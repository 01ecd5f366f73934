/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * void kept(const void *function, const struct kept *before,
 *	     struct kept *after): calls it with all registers set
 * void kept_sve(...): the same with SVE's
 * void spoil(void), void spoil_sve(void): change all that a function may
 */
	.arch	armv8.2-a+sve

/* Of struct kept. */
#define STATUS	152
#define VECTORS	192

	.macro	general, op, base
	.set	place, 0
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, \
		17, 18
	\op	x\n, [\base, #place]
	.set	place, place + 8
	.endr
	.endm

	.macro	enter
	stp	x29, x30, [sp, #-112]!
	mov	x29, sp
	stp	x26, x27, [sp, #16]
	str	x28, [sp, #32]
	stp	d8, d9, [sp, #48]
	stp	d10, d11, [sp, #64]
	stp	d12, d13, [sp, #80]
	stp	d14, d15, [sp, #96]
	mov	x26, x2
	mov	x27, x0
	mov	x28, x1
	.endm

	.macro	leave
	msr	fpcr, xzr
	ldp	x26, x27, [sp, #16]
	ldr	x28, [sp, #32]
	ldp	d8, d9, [sp, #48]
	ldp	d10, d11, [sp, #64]
	ldp	d12, d13, [sp, #80]
	ldp	d14, d15, [sp, #96]
	ldp	x29, x30, [sp], #112
	ret
	.endm

	.macro	call
	ldr	x0, [x28, #STATUS]
	msr	nzcv, x0
	ldr	x0, [x28, #STATUS + 8]
	msr	fpsr, x0
	ldr	x0, [x28, #STATUS + 16]
	msr	fpcr, x0
	general	ldr, x28
	blr	x27
	general	str, x26
	mrs	x0, nzcv
	str	x0, [x26, #STATUS]
	mrs	x0, fpsr
	str	x0, [x26, #STATUS + 8]
	mrs	x0, fpcr
	str	x0, [x26, #STATUS + 16]
	.endm

	.macro	simd, op, base
	.set	place, VECTORS
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, \
		17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	q\n, [\base, #place]
	.set	place, place + 16
	.endr
	.endm

	.macro	sve, op, base
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, \
		17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	z\n, [\base, #\n, mul vl]
	.endr
	.endm

	.macro	predicates, op, base
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\op	p\n, [\base, #\n, mul vl]
	.endr
	.endm

	.text
	.globl	kept
	.type	kept, %function
kept:
	enter
	simd	ldr, x28
	call
	simd	str, x26
	leave
	.size	kept, . - kept

	/* Vectors, then predicates, then FFR, which begins with all of them. */
	.globl	kept_sve
	.type	kept_sve, %function
kept_sve:
	enter
	add	x0, x28, #VECTORS
	addvl	x1, x0, #31
	addvl	x1, x1, #1
	ldr	p0, [x1, #16, mul vl]
	wrffr	p0.b
	sve	ldr, x0
	predicates ldr, x1
	call
	add	x0, x26, #VECTORS
	addvl	x1, x0, #31
	addvl	x1, x1, #1
	sve	str, x0
	predicates str, x1
	rdffr	p0.b
	str	p0, [x1, #16, mul vl]
	leave
	.size	kept_sve, . - kept_sve

	/* Of 8 to 15 the lower halves stay. */
	.globl	spoil
	.type	spoil, %function
spoil:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, \
		17, 18
	mov	x\n, #0x77
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, \
		24, 25, 26, 27, 28, 29, 30, 31
	movi	v\n\().16b, #0x77
	.endr
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	mov	v\n\().d[1], x0
	.endr
	msr	nzcv, xzr
	msr	fpsr, xzr
	msr	fpcr, xzr
	ret
	.size	spoil, . - spoil

	.globl	spoil_sve
	.type	spoil_sve, %function
spoil_sve:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	pfalse	p\n\().b
	.endr
	wrffr	p0.b
	ret
	.size	spoil_sve, . - spoil_sve

	.section .note.GNU-stack, "", %progbits
