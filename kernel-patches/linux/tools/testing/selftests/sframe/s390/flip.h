/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Make and read signal frames for flip_test.c.
 */
#ifndef SFRAME_FLIP_H
#define SFRAME_FLIP_H

#include <sys/ucontext.h>

/* Bytes of the frame of sft_escape. */
#define SFT_ESCAPE_FRAME	160
/* Offset from the CFA where functions of the table save the frame pointer. */
#define SFT_FP_FROM_CFA		-24
/* The code that a handler returns to: svc of rt_sigreturn() */
#define SFT_SIGNAL_INSN		0x0aad
#define SFT_SIGNAL_CODE		"\x0a\xad"

/*
 * Offsets of registers from the stack pointer in that code, after a save area,
 * a word, and a siginfo.
 */
#define SFT_SIGNAL_REG(field)						\
	(160 + 8 + 128 + offsetof(ucontext_t, uc_mcontext.field))
#define SFT_SIGNAL_IP		SFT_SIGNAL_REG(psw.addr)
#define SFT_SIGNAL_SP		SFT_SIGNAL_REG(gregs[15])
#define SFT_SIGNAL_FP		SFT_SIGNAL_REG(gregs[11])
#define SFT_SIGNAL_LR		SFT_SIGNAL_REG(gregs[14])
#define SFT_SIGNAL_MODE		SFT_SIGNAL_REG(psw.mask)

/* The 64-bit addressing mode. */
#define SFT_USER_MODE		0x180000000UL

static inline bool sft_is_user_mode(__u64 mode)
{
	return (mode & SFT_USER_MODE) == SFT_USER_MODE;
}

#endif /* SFRAME_FLIP_H */
