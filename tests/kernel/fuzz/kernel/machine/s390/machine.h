/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * s390x; include before the shim. Names of the kernel, and some for ref.c. Has
 * the byte order of the building machine.
 */
#ifndef FUZZ_MACHINE_H
#define FUZZ_MACHINE_H

#include "../task.h"

#define CONFIG_HAVE_UNWIND_USER_BACKCHAIN	1

typedef struct {
	unsigned long mask, addr;
} psw_t;

struct pt_regs {
	psw_t psw;
	unsigned long gprs[16];
};

/* Of the mask of a PSW: problem state, and two bits for the addresses. */
#define MACHINE_PSTATE			(1UL << 48)
#define MACHINE_64BIT			0x180000000UL

struct machine_psw_bits {
	unsigned int eaba;
};

#define psw_bits(psw) \
	((struct machine_psw_bits){ .eaba = (psw).mask >> 31 & 3 })
#define PSW_BITS_AMODE_64BIT		3
#define NUM_GPRS			16
#define STACK_FRAME_OVERHEAD		160
#define __NR_sigreturn			119
#define __NR_rt_sigreturn		173
#define user_mode(regs)			((regs)->psw.mask & MACHINE_PSTATE)
#define instruction_pointer(regs)	((regs)->psw.addr)
#define user_stack_pointer(regs)	((regs)->gprs[15])
#define frame_pointer(regs)		((regs)->gprs[11])

typedef struct {
	unsigned long high, low;
} __vector128;

struct machine_thread {
	struct {
		__vector128 vxrs[16];
	} ufpu;
};

#define MACHINE_THREAD			struct machine_thread thread;
#define MACHINE_CONTEXT			struct { unsigned long vdso_base; } context;
#define save_user_fpu_regs()		((void)0)
#define vdso_text_size()		0UL
#define in_range(value, start, size)	((value) - (start) < (size))

struct siginfo {
	char bytes[128];
};

static inline void machine_set_task(struct pt_regs *r, unsigned long ip,
				    enum machine_task task)
{
	r->psw.addr = ip;
	r->psw.mask = task == TASK_KERNEL ? MACHINE_64BIT :
		      task == TASK_PLAIN ? MACHINE_PSTATE | MACHINE_64BIT :
		      MACHINE_PSTATE;
}

/* Bytes of a word of the stack, or 0. */
static inline unsigned int machine_word_size(const struct pt_regs *r)
{
	return (r->psw.mask & MACHINE_64BIT) == MACHINE_64BIT ? 8 : 0;
}

/* Bytes of the header: the number of the ABI, where return addresses are. */
#define MACHINE_ABI		4
#define MACHINE_RA		0
/* Instructions start at multiples of 1 << this. */
#define MACHINE_UNIT_SHIFT	1
/* Return addresses may be signed: this is left of them. */
#define MACHINE_SIGNS		0
#define machine_strip(ra)	(ra)
/* Numbers of stack and frame pointer, and of the link register, if any. */
#define MACHINE_SP		15
#define MACHINE_FP		11
#define MACHINE_LR		14
/* No third register that walks follow. */
#define MACHINE_THIRD		0xffffffffU
/* How far the CFA is above the caller's stack pointer; its offsets' unit. */
#define MACHINE_SAVED		160
#define MACHINE_SCALE		8
/* Where a return probe finds the address, from the caller's stack pointer. */
#define MACHINE_PROBED		0

/* Where no window is: what a step follows, and what it does not tell. */
#define MACHINE_BY_FP		0
#define MACHINE_FP_GIVES_SP	1

/*
 * From struct _sigregs: PSW mask and address, registers. The instruction at the
 * address tells where it is: after a save area and a sigcontext of 16 bytes, or
 * after a word, a siginfo of 128 bytes and 40 of a ucontext.
 */
#define MACHINE_SIGNAL_MODE	0
#define MACHINE_SIGNAL_IP	8
#define MACHINE_SIGNAL_FP	(16 + 11 * 8)
#define MACHINE_SIGNAL_LR	(16 + 14 * 8)
#define MACHINE_SIGNAL_SP	(16 + 15 * 8)
#define MACHINE_USER_MODE	MACHINE_64BIT
#define machine_is_user(mode)	(((mode) & MACHINE_64BIT) == MACHINE_64BIT)
#define MACHINE_SIGNAL_AT(insn)						\
	((insn) == 0x0a00 + 119 ? 160 + 16 :				\
	 (insn) == 0x0a00 + 173 ? 160 + 8 + 128 + 40 : 0)

#endif
