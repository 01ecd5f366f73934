/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A boot sector for qemu.sh: calls in loops, and what generated code calls C
 * for: memory that is new, string operations, devices, cpuid, division.
 */
	.code16
	.globl	_start
_start:
	xorw	%ax, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movw	$0x7000, %sp
	cld
	movb	$'!', %al		/* it runs: to -debugcon */
	outb	%al, $0xe9
again:
	movw	$200, %cx
1:	call	outer
	loop	1b
	xorl	%eax, %eax
	cpuid
	rdtsc
	inb	$0x71, %al
	movw	$0x8000, %di
	movw	$64, %cx
	rep stosw
	movl	$123456789, %eax
	xorl	%edx, %edx
	movl	$1237, %ebx
	divl	%ebx
	fldpi
	fsqrt
	fstp	%st(0)
	jmp	again

outer:
	pushw	%cx
	movw	$50, %cx
2:	call	inner
	loop	2b
	popw	%cx
	ret

inner:
	addl	%ecx, (0x9000)
	rorl	$3, (0x9000)
	ret

	.org	510
	.word	0xaa55
