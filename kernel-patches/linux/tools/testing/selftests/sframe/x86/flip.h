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

/* Offsets of registers from SP in that code. */
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
