// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: offsets ROUNDS
 *
 * A loop of known instructions, each executed once per round. An emulator sees
 * three blocks, ending with the call, the return and the branch.
 */
#include <stdlib.h>

void rounds(long nr);

asm(".type one_round, @function\n"
    "one_round:\n"
    "1:	push %rbp\n"
    "	mov %rsp, %rbp\n"
    "	sub $16, %rsp\n"
    "	mov %rdi, -8(%rbp)\n"
    "	mov -8(%rbp), %rax\n"
    "	leave\n"
    "	ret\n"
    "2:	call 1b\n"
    "	xor %eax, %eax\n"
    "	add $3, %eax\n"
    "	nop\n"
    "	dec %rdi\n"
    "	jnz 2b\n"
    ".size one_round, . - one_round\n"
    "	ret\n"
    ".globl rounds\n"
    ".type rounds, @function\n"
    "rounds:\n"
    "	jmp 2b\n"
    ".size rounds, . - rounds\n");

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	rounds(atol(argv[1]));
	return 0;
}
