/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Functions of x86_text_test.c, on several stacks and without frames.
 */
#ifndef SFT_TEXT_H
#define SFT_TEXT_H

/*
 * sft_above and sft_keeps call sft_leaf on the stack at r9. sft_keeps saves its
 * CFA on that stack, and has no frame pointer. sft_strays sets the frame
 * pointer to r9. sft_direct calls sft_bare, which has no frame.
 */
asm(".text\n"
	"sft_above:		push %rbp\n"
	"			mov %rsp, %rbp\n"
	"			mov %r9, %rsp\n"
	"			call sft_leaf\n"
	"sft_above_ret:	mov %rbp, %rsp\n"
	"			pop %rbp\n"
	"			ret\n"
	"sft_keeps:		lea 8(%rsp), %rax\n"
	"			lea -16(%r9), %rsp\n"
	"			mov %rax, (%rsp)\n"
	"			call sft_leaf\n"
	"sft_keeps_ret:	mov (%rsp), %rsp\n"
	"			sub $8, %rsp\n"
	"			ret\n"
	"sft_keeps_end:\n"
	"sft_strays:		push %rbp\n"
	"			mov %r9, %rbp\n"
	"sft_strays_body:	nop\n"
	"			pop %rbp\n"
	"			ret\n"
	"sft_direct:		push %rbp\n"
	"			mov %rsp, %rbp\n"
	"			call sft_bare\n"
	"sft_direct_ret:	pop %rbp\n"
	"			ret\n"
	"sft_bare:		endbr64\n"
	"sft_bare_2:		xor %eax, %eax\n"
	"sft_bare_3:		cmp $1, %rsp\n"
	"sft_bare_4:		ret\n");

extern const char sft_above[], sft_above_ret[], sft_keeps[], sft_keeps_ret[];
extern const char sft_keeps_end[], sft_strays[], sft_strays_body[];
extern const char sft_direct[], sft_direct_ret[];
extern const char sft_bare[], sft_bare_2[], sft_bare_3[], sft_bare_4[];

#endif
