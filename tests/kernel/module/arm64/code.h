/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code that NMIs interrupt, and rows.
 */
#ifndef SFRAME_CODE_H
#define SFRAME_CODE_H

#include "slots.h"

/* 4: yield; 8: ldrb w10, [x9]; 12: cbz w10, 4; 16: ldr x30, ...; 20: ret */
static const __u32 spin_code[] = {
	SFT_PUSH_X30, 0xd503203f, 0x3940012a, 0x34ffffca, SFT_POP_X30, SFT_RET,
};

static const struct sft_row spin_rows[] = {
	SFT_ROW_LR(0), SFT_ROW_RA(4, 1, 16, -16), SFT_ROW_LR(20),
};

/* Where a function has a frame pointer. */
#define ROW_WITH_FP(off)	SFT_ROW_RA_FP(off, 0, 16, -8, -16)

/* After the prologue of toggle(), and where a round begins. */
#define TOGGLE_BODY	(toggle + 8)
#define TOGGLE_ROUND	(toggle + 12)

#endif /* SFRAME_CODE_H */
