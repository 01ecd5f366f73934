/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Functions for the tests of probes, to be copied into a file.
 */
#ifndef SFRAME_PROBES_H
#define SFRAME_PROBES_H

#include <string.h>
#include <linux/types.h>

/* Do walks find the caller if the first instruction is probed? */
#define SFT_ENTRY_KNOWN		0
/*
 * Do deferred walks of return probes begin in their trampoline? They do if it
 * makes a system call.
 */
#define SFT_RETURN_LOST		0
/* Bytes of the slot's second instruction if the kernel emulates it, else 0. */
#define SFT_EMULATED		0

/*
 * nopr; jg to the offset @to: QEMU 7.2 does not branch in a single step, so do
 * not probe the jg.
 */
static inline void sft_put_jump(__u8 *page, int at, int to)
{
	const __u32 halves = (to - (at + 2)) / 2;
	const __u16 insns[] = { 0x0700, 0xc0f4, halves >> 16, halves };

	memcpy(page + at, insns, sizeof(insns));
}

/* A call puts nothing on the stack: nopr */
static const __u16 sft_drop_code[] = { 0x0700 };

/*
 * At the nopr, its row gives another stack pointer than that with which the
 * function was entered: aghi %r15,-160; nopr; aghi %r15,160;
 * br %r14
 */
#define SFT_COPY_NOP		4
static const __u16 sft_copy_code[] = {
	0xa7fb, 0xff60, 0x0700, 0xa7fb, 0x00a0, 0x07fe,
};

/*
 * A back chain across more than a minimal frame: stmg %r14,%r15,112(%r15);
 * lgr %r0,%r15; aghi %r15,-192; stg %r0,0(%r15); nopr; lmg; br %r14
 */
#define SFT_ALIGN_NOP		20
static const __u16 sft_align_code[] = {
	0xebef, 0xf070, 0x0024, 0xb904, 0x000f, 0xa7fb, 0xff40, 0xe300, 0xf000,
	0x0024, 0x0700, 0xebef, 0xf130, 0x0004, 0x07fe,
};

#endif /* SFRAME_PROBES_H */
