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
#define SFT_ENTRY_KNOWN		1
/*
 * Do deferred walks of return probes begin in their trampoline? They do if it
 * makes a system call.
 */
#define SFT_RETURN_LOST		1
/* Bytes of the slot's second instruction if the kernel emulates it, else 0. */
#define SFT_EMULATED		1

/* jmp to the offset @to */
static inline void sft_put_jump(__u8 *page, int at, int to)
{
	const __s32 distance = to - (at + 5);

	page[at] = 0xe9;
	memcpy(page + at + 1, &distance, sizeof(distance));
}

/* Removes the return address from the stack: pop %rax */
static const __u8 sft_drop_code[] = { 0x58 };

/*
 * At the nop, its row leads to a copy of the return address instead of to the
 * return address itself: push (%rsp); nop; pop %rax; ret
 */
#define SFT_COPY_NOP		3
static const __u8 sft_copy_code[] = { 0xff, 0x34, 0x24, 0x90, 0x58, 0xc3 };

/*
 * A frame on a realigned stack, as gcc makes it.
 *
 * 0 lea 8(%rsp),%r10	 5 and $-64,%rsp	 9 push -8(%r10)
 * 13 push %rbp		14 mov %rsp,%rbp	17 nop
 * 18 pop %rbp		19 lea -8(%r10),%rsp	23 ret
 */
#define SFT_ALIGN_NOP		17
static const __u8 sft_align_code[] = {
	0x4c, 0x8d, 0x54, 0x24, 0x08, 0x48, 0x83, 0xe4, 0xc0, 0x41, 0xff, 0x72,
	0xf8, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x5d, 0x49, 0x8d, 0x62, 0xf8, 0xc3,
};

#endif /* SFRAME_PROBES_H */
