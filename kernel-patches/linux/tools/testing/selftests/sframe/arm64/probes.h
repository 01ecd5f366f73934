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

/* b to the offset @to */
static inline void sft_put_jump(__u8 *page, int at, int to)
{
	const __u32 insn = 0x14000000 | ((to - at) / 4 & 0x3ffffff);

	memcpy(page + at, &insn, sizeof(insn));
}

/* A call puts nothing on the stack: nop */
static const __u32 sft_drop_code[] = { 0xd503201f };

/*
 * At the nop, its row gives another stack pointer than that with which the
 * function was entered: sub sp, sp, #16; nop; add sp, sp, #16; ret
 */
#define SFT_COPY_NOP		4
static const __u32 sft_copy_code[] = {
	0xd10043ff, 0xd503201f, 0x910043ff, 0xd65f03c0,
};

/*
 * A frame record that is not at the end of its frame:
 * stp x29, x30, [sp, #-32]!; mov x29, sp; nop; ldp x29, x30, [sp], #32; ret
 */
#define SFT_ALIGN_NOP		8
static const __u32 sft_align_code[] = {
	0xa9be7bfd, 0x910003fd, 0xd503201f, 0xa8c27bfd, 0xd65f03c0,
};

#endif /* SFRAME_PROBES_H */
