/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Signal frames for flip_test.c, made and read.
 */
#ifndef SFRAME_FLIP_H
#define SFRAME_FLIP_H

#include <sys/ucontext.h>

/* Bytes of the frame of sft_escape, where the frame pointer is, too. */
#define SFT_ESCAPE_FRAME	16
/* Where functions of the table save it, from the CFA. */
#define SFT_FP_FROM_CFA		-16
/* What the code is that a handler returns to. */
#define SFT_SIGNAL_CODE		"\xcc"

/* Where registers are, from the stack pointer of that code: behind a siginfo. */
#define SFT_SIGNAL_REG(field)						\
	(128 + offsetof(ucontext_t, uc_mcontext.field))
#define SFT_SIGNAL_IP		SFT_SIGNAL_REG(pc)
#define SFT_SIGNAL_SP		SFT_SIGNAL_REG(sp)
#define SFT_SIGNAL_FP		SFT_SIGNAL_REG(regs[29])
#define SFT_SIGNAL_LR		SFT_SIGNAL_REG(regs[30])
#define SFT_SIGNAL_MODE		SFT_SIGNAL_REG(pstate)
/* Where the frame record of the handler is. */
#define SFT_SIGNAL_SIZE		((128 + sizeof(ucontext_t) + 15) & -16UL)

#define SFT_USER_MODE		0

/* A bit says that it is AArch32. */
static inline bool sft_is_user_mode(__u64 mode)
{
	return !(mode & 0x10);
}

#endif /* SFRAME_FLIP_H */
