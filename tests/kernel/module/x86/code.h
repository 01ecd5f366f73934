/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code that NMIs interrupt, and rows.
 */
#ifndef SFRAME_CODE_H
#define SFRAME_CODE_H

#include "sframe_test.h"

/* 0: push %rax; 1: pause; 3: cmpb $0,(%r9); 7: je 1; 9: pop %rcx; 10: ret */
static const __u8 spin_code[] = {
	0x50, 0xf3, 0x90, 0x41, 0x80, 0x39, 0x00, 0x74, 0xf8, 0x59, 0xc3,
};

static const struct sft_row spin_rows[] = {
	SFT_SP(0, 8), SFT_SP(1, 16), SFT_SP(10, 8),
};

/* Where a function has a frame pointer. */
#define ROW_WITH_FP(off)	SFT_FP_FP(off, 16, -16)

/* After the prologue of toggle(), and where a round begins. */
#define TOGGLE_BODY	(toggle + 4)
#define TOGGLE_ROUND	(toggle + 7)

#endif /* SFRAME_CODE_H */
