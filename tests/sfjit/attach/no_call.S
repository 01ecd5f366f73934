/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A program for x86-64 that has no instruction of a system call. It prints
 * "ready", unmaps the vDSO, and then the page that it has done so in.
 */
#define SYS_write	1
#define SYS_munmap	11
#define AT_NULL		0
#define AT_SYSINFO_EHDR	33	/* the vDSO; below 64 KiB, and nothing behind it */
#define PAGE		4096

	.section .rodata
ready:	.ascii	"ready\n"

	.text
	.balign	PAGE
	.globl	_start
_start:
	mov	$SYS_write, %eax
	mov	$1, %edi
	lea	ready(%rip), %rsi
	mov	$6, %edx
	syscall

	/* Behind arguments and environment, each with a word of 0 at its end. */
	mov	(%rsp), %rax
	lea	16(%rsp,%rax,8), %rbx
1:	add	$8, %rbx
	cmpq	$0, -8(%rbx)
	jne	1b
2:	mov	(%rbx), %rax
	mov	8(%rbx), %rdi
	add	$16, %rbx
	cmp	$AT_SYSINFO_EHDR, %rax
	je	3f
	cmp	$AT_NULL, %rax
	jne	2b
	ud2

3:	mov	$SYS_munmap, %eax
	mov	$0x10000, %esi
	syscall

	mov	$SYS_munmap, %eax
	lea	_start(%rip), %rdi
	mov	$PAGE, %esi
	jmp	4f
	/* It goes on in the next page. */
	.org	_start + PAGE - 2
4:	syscall
5:	pause
	jmp	5b
	.section .note.GNU-stack, "", @progbits
