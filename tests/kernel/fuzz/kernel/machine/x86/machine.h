/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* x86-64; include before the shim. Names of the kernel, and some for ref.c. */
#ifndef FUZZ_MACHINE_H
#define FUZZ_MACHINE_H

#include "../task.h"

#define CONFIG_X86_64			1
#define CONFIG_HAVE_UNWIND_USER_FP	1
#define CONFIG_HAVE_UNWIND_USER_TEXT	1

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

#define X86_VM_MASK			0x00020000
#define __USER32_CS			0x23
#define __USER_CS			0x33
#define user_mode(regs)			((regs)->cs & 3)
#define user_64bit_mode(regs)		((regs)->cs == __USER_CS)
#define instruction_pointer(regs)	((regs)->ip)
#define user_stack_pointer(regs)	((regs)->sp)
#define frame_pointer(regs)		((regs)->bp)
#define is_uprobe_at_func_entry(regs)	shim_function_start
#define regs_get_register(regs, offset) \
	(*(unsigned long *)((char *)(regs) + (offset)))

static inline void machine_set_task(struct pt_regs *r, unsigned long ip,
				    enum machine_task task)
{
	r->ip = ip;
	r->cs = task == TASK_KERNEL ? 0x10 :
		task == TASK_COMPAT ? __USER32_CS : __USER_CS;
	r->flags = task == TASK_ODD ? X86_VM_MASK : 0;
}

/* Bytes of a word of the stack, or 0. */
static inline unsigned int machine_word_size(const struct pt_regs *r)
{
	if (r->flags & X86_VM_MASK)
		return 0;
	return r->cs == __USER_CS ? 8 : 4;
}

/* Bytes of the header: the number of the ABI, where return addresses are. */
#define MACHINE_ABI		3
#define MACHINE_RA		-8
/* Instructions start at multiples of 1 << this. */
#define MACHINE_UNIT_SHIFT	0
/* Return addresses may be signed: this is left of them. */
#define MACHINE_SIGNS		0
#define machine_strip(ra)	(ra)
/* Numbers of stack and frame pointer, and of the link register, if any. */
#define MACHINE_SP		7
#define MACHINE_FP		6
#define MACHINE_LR		0xffffffffU
/* A third register that walks follow, or none. */
#define MACHINE_THIRD		3
/* How far the CFA is above the caller's stack pointer; its offsets' unit. */
#define MACHINE_SAVED		0
#define MACHINE_SCALE		1
/* Where a return probe finds the address, from the caller's stack pointer. */
#define MACHINE_PROBED		-8

/* Where no window is: what a step follows, and what it does not tell. */
#define MACHINE_BY_FP		1
#define MACHINE_FP_GIVES_SP	1

/* Do these bytes before an address end with a call? */
static inline bool machine_is_call(const unsigned char *before)
{
	unsigned int mod, rm, base, size;
	const unsigned char *at;

	if (before[3] == 0xe8)
		return true;
	for (at = before + 1; at < before + 7; at++) {
		mod = at[1] >> 6;
		rm = base = at[1] & 7;
		size = mod == 2 ? 6 : mod == 1 ? 3 : 2;
		if (mod < 3 && rm == 4) {
			size++;
			base = at[2] & 7;
		}
		if (!mod && base == 5)
			size += 4;
		if (at[0] == 0xff && (at[1] & 0x38) == 0x10 &&
		    at + size == before + 8)
			return true;
	}
	return false;
}

#define MACHINE_IS_CALL		machine_is_call

static inline bool machine_starts_stack(const unsigned char *before,
					const unsigned char *code)
{
	return before[7] == 0x90 && code[0] == 0xe8;
}

/* Where it leads, if that is known; @regs may be NULL. */
static inline int machine_call_target(struct pt_regs *regs,
				      const unsigned char *before,
				      unsigned long ra, unsigned long *target)
{
	static const size_t low[] = {
		offsetof(struct pt_regs, ax), offsetof(struct pt_regs, cx),
		offsetof(struct pt_regs, dx), offsetof(struct pt_regs, bx),
		offsetof(struct pt_regs, sp), offsetof(struct pt_regs, bp),
		offsetof(struct pt_regs, si), offsetof(struct pt_regs, di),
	};
	unsigned int number = before[7] & 7;
	int displacement;

	if (before[3] == 0xe8) {
		memcpy(&displacement, before + 4, 4);
		*target = ra + displacement;
		return 1;
	}
	if (!regs || before[6] != 0xff || (before[7] & 0xf8) != 0xd0)
		return 0;
	if (before[5] >> 4 == 4 && before[5] & 1)
		*target = (&regs->r8)[-(int)number];
	else
		*target = *(unsigned long *)((char *)regs + low[number]);
	return 1;
}

#define MACHINE_CALL_TARGET	machine_call_target

static inline int machine_is_return(const unsigned char *code)
{
	code += *code == 0xf2 || *code == 0xf3;
	return *code == 0xc2 || *code == 0xc3;
}

/* sp is at the ucontext, its mcontext at 40, and there rbp at 80 and so on. */
#define MACHINE_SIGNAL_FP	120
#define MACHINE_SIGNAL_THIRD	128
#define MACHINE_SIGNAL_SP	160
#define MACHINE_SIGNAL_IP	168
#define MACHINE_SIGNAL_MODE	184
#define MACHINE_USER_MODE	0x33
#define machine_is_user(mode)	((unsigned short)(mode) == 0x33)

#endif
