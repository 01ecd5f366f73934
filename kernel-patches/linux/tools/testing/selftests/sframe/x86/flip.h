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

/* Where registers are, from the stack pointer of that code. */
#define SFT_SIGNAL_REG(nr)						\
	(offsetof(ucontext_t, uc_mcontext.gregs) + 8 * (nr))
#define SFT_SIGNAL_IP		SFT_SIGNAL_REG(REG_RIP)
#define SFT_SIGNAL_SP		SFT_SIGNAL_REG(REG_RSP)
#define SFT_SIGNAL_FP		SFT_SIGNAL_REG(REG_RBP)
#define SFT_SIGNAL_MODE		SFT_SIGNAL_REG(REG_CSGSFS)

#define SFT_USER_MODE		0x33

static inline bool sft_is_user_mode(__u64 mode)
{
	return (__u16)mode == SFT_USER_MODE;
}

#endif /* SFRAME_FLIP_H */
