/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decode instructions of arm64 for walks of user stacks.
 */
#ifndef _ASM_ARM64_UNWIND_USER_TEXT_H
#define _ASM_ARM64_UNWIND_USER_TEXT_H

#include <linux/kconfig.h>
#include <linux/swab.h>
#include <linux/types.h>

/* The second of two instructions, which are always little-endian. */
static inline u32 unwind_user_last_insn(u64 words)
{
	return IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ? swab32(words) : words >> 32;
}

/* Does @before end in a call: BL, BLR, or BLRA*? */
static inline bool unwind_user_ends_in_call(u64 before)
{
	u32 insn = unwind_user_last_insn(before);

	return (insn & 0xfc000000) == 0x94000000 ||
	       (insn & 0xfefff000) == 0xd63f0000;
}

/*
 * Does a function start here with NOP, the end of @before, and BL, the start of
 * @code? In Go, the first function of a goroutine returns to such a BL, which
 * has not called it. Go's NOP is MOV x0, x0.
 */
static inline bool unwind_user_starts_stack(u64 before, u64 code)
{
	u32 nop = unwind_user_last_insn(before);
	u32 call = IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ? swab32(code >> 32) :
						       code;

	return (nop == 0xd503201f || nop == 0xaa0003e0) &&
	       (call & 0xfc000000) == 0x94000000;
}

#endif /* _ASM_ARM64_UNWIND_USER_TEXT_H */
