/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Registers of a traced thread, for sfjit attach.
 */
#ifndef SFJIT_ARCH_REGISTERS_H
#define SFJIT_ARCH_REGISTERS_H

#include <stdint.h>
#include <sys/user.h>

/* The registers of a program of another word size have another size. */
typedef struct user_regs_struct registers;

/* The instruction of a system call. */
static const uint8_t registers_call_code[] = { 0x0f, 0x05 };

#define REGISTERS_FLAG_TF	0x100UL

static inline uint64_t registers_ip(const registers *r)
{
	return r->rip;
}

static inline void registers_set_ip(registers *r, uint64_t ip)
{
	r->rip = ip;
}

/*
 * To make a call by the instruction at 'code'. A program that steps through
 * itself must not stop after it. With orig_rax -1 the kernel does not
 * take this for a call that a signal has interrupted.
 */
static inline void registers_call(registers *r, uint64_t code, long nr,
				  const uint64_t args[6])
{
	r->rip = code;
	r->rax = nr;
	r->orig_rax = -1;
	r->eflags &= ~REGISTERS_FLAG_TF;
	r->rdi = args[0];
	r->rsi = args[1];
	r->rdx = args[2];
	r->r10 = args[3];
	r->r8 = args[4];
	r->r9 = args[5];
}

static inline long registers_result(const registers *r)
{
	return r->rax;
}

#endif /* SFJIT_ARCH_REGISTERS_H */
