/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* AArch64; include before the shim. Names of the kernel, and some for ref.c. */
#ifndef FUZZ_MACHINE_H
#define FUZZ_MACHINE_H

#include "../task.h"

#define CONFIG_HAVE_UNWIND_USER_FP	1
#define CONFIG_HAVE_UNWIND_USER_TEXT	1

typedef unsigned __int128 __u128;

struct pt_regs {
	unsigned long regs[31], sp, pc, pstate;
};

#define PSR_MODE32_BIT			0x10
#define user_mode(regs)			(!((regs)->pstate & 0xf))
#define compat_user_mode(regs)		((regs)->pstate & PSR_MODE32_BIT)
#define instruction_pointer(regs)	((regs)->pc)
#define user_stack_pointer(regs)	((regs)->sp)
#define frame_pointer(regs)		((regs)->regs[29])
#define procedure_link_pointer(regs)	((regs)->regs[30])
/* With addresses of 48 bits. */
#define ptrauth_strip_user_insn_pac(ra)	((ra) & ~GENMASK(54, 48))

struct siginfo {
	char bytes[128];
};

static inline void machine_set_task(struct pt_regs *r, unsigned long ip,
				    enum machine_task task)
{
	r->pc = ip;
	r->pstate = task == TASK_KERNEL ? 5 :
		    task == TASK_PLAIN ? 0 : PSR_MODE32_BIT;
}

/* Bytes of a word of the stack, or 0. */
static inline unsigned int machine_word_size(const struct pt_regs *r)
{
	return r->pstate & PSR_MODE32_BIT ? 0 : 8;
}

/* Bytes of the header: the number of the ABI, where return addresses are. */
#define MACHINE_ABI		2
#define MACHINE_RA		0
/* Instructions start at multiples of 1 << this. */
#define MACHINE_UNIT_SHIFT	2
/* Return addresses may be signed: this is left of them. */
#define MACHINE_SIGNS		1
#define machine_strip(ra)	((ra) & 0xff80ffffffffffffUL)
/* Numbers of stack and frame pointer, and of the link register, if any. */
#define MACHINE_SP		31
#define MACHINE_FP		29
#define MACHINE_LR		30
/* No third register that walks follow. */
#define MACHINE_THIRD		0xffffffffU
/* How far the CFA is above the caller's stack pointer; its offsets' unit. */
#define MACHINE_SAVED		0
#define MACHINE_SCALE		1
/* Where a return probe finds the address, from the caller's stack pointer. */
#define MACHINE_PROBED		0

/* Where no window is: what a step follows, and what it does not tell. */
#define MACHINE_BY_FP		1
#define MACHINE_FP_GIVES_SP	0

/*
 * After a siginfo of 128 bytes and 176 of the ucontext: fault address, 31
 * registers, sp, pc, pstate. The frame record is last, at 4688.
 */
#define MACHINE_SIGNAL_FP	(304 + 8 + 29 * 8)
#define MACHINE_SIGNAL_LR	(304 + 8 + 30 * 8)
#define MACHINE_SIGNAL_SP	(304 + 8 + 31 * 8)
#define MACHINE_SIGNAL_IP	(304 + 8 + 32 * 8)
#define MACHINE_SIGNAL_MODE	(304 + 8 + 33 * 8)
#define MACHINE_SIGNAL_RECORD	4688
#define MACHINE_USER_MODE	0
#define machine_is_user(mode)	(!((mode) & 0x10))

/* Do these bytes before an address end with a call? */
static inline bool machine_is_call(const unsigned char *before)
{
	return (before[7] & 0xfc) == 0x94 ||
	       ((before[7] & 0xfe) == 0xd6 && before[6] == 0x3f &&
		before[5] < 0x10);
}

#define MACHINE_IS_CALL		machine_is_call

static inline bool machine_starts_stack(const unsigned char *before,
					const unsigned char *code)
{
	return (!memcmp(before + 4, "\x1f\x20\x03\xd5", 4) ||
		!memcmp(before + 4, "\xe0\x03\x00\xaa", 4)) &&
	       (code[3] & 0xfc) == 0x94;
}

#endif
