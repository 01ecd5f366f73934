/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Make and read signal frames for flip_test.c.
 */
#ifndef SFRAME_FLIP_H
#define SFRAME_FLIP_H

#include <sys/ucontext.h>

/* Bytes of the frame of sft_escape; the frame pointer equals SP there. */
#define SFT_ESCAPE_FRAME	16
/* Offset from the CFA where functions of the table save the frame pointer. */
#define SFT_FP_FROM_CFA		-16
/* The code that a handler returns to. */
#define SFT_SIGNAL_CODE		"\xcc"

/* Offsets of registers from SP in that code, after a siginfo. */
#define SFT_SIGNAL_REG(field)						\
	(128 + offsetof(ucontext_t, uc_mcontext.field))
#define SFT_SIGNAL_IP		SFT_SIGNAL_REG(pc)
#define SFT_SIGNAL_SP		SFT_SIGNAL_REG(sp)
#define SFT_SIGNAL_FP		SFT_SIGNAL_REG(regs[29])
#define SFT_SIGNAL_LR		SFT_SIGNAL_REG(regs[30])
#define SFT_SIGNAL_MODE		SFT_SIGNAL_REG(pstate)
/* Offset of the handler's frame record. */
#define SFT_SIGNAL_SIZE		((128 + sizeof(ucontext_t) + 15) & -16UL)

#define SFT_USER_MODE		0

/* Bit 4 means AArch32. */
static inline bool sft_is_user_mode(__u64 mode)
{
	return !(mode & 0x10);
}

#endif /* SFRAME_FLIP_H */
