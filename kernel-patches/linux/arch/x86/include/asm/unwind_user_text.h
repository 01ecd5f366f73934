/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decode instructions of x86-64 for walks of user stacks.
 */
#ifndef _ASM_X86_UNWIND_USER_TEXT_H
#define _ASM_X86_UNWIND_USER_TEXT_H

#include <linux/types.h>
#include <linux/unwind_user.h>

#define UNWIND_USER_OPCODE_CALL		0xe8	/* rel32 */
#define UNWIND_USER_OPCODE_GROUP5	0xff	/* /2: call, indirect */

/* Length of an indirect call, by its ModRM byte and its SIB byte, if any. */
static inline unsigned int unwind_user_indirect_size(u8 modrm, u8 sib)
{
	static const u8 displacement[] = { 0, 1, 4, 0 };
	unsigned int mod = modrm >> 6, rm = modrm & 7;
	unsigned int size = 2 + displacement[mod];

	if (mod == 3)
		return size;
	if (rm == 4) {
		size++;
		rm = sib & 7;
	}
	/* No base register, or RIP: a displacement of 32 bits. */
	if (!mod && rm == 5)
		size += 4;
	return size;
}

/* Does @before end in a call? Its last byte is the highest one. */
static inline bool unwind_user_ends_in_call(u64 before)
{
	unsigned int size;
	u8 insn[3];

	if ((u8)(before >> 24) == UNWIND_USER_OPCODE_CALL)
		return true;
	for (size = 2; size <= 7; size++) {
		insn[0] = before >> 8 * (8 - size);
		insn[1] = before >> 8 * (9 - size);
		insn[2] = size > 2 ? before >> 8 * (10 - size) : 0;
		if (insn[0] == UNWIND_USER_OPCODE_GROUP5 &&
		    (insn[1] >> 3 & 7) == 2 &&
		    unwind_user_indirect_size(insn[1], insn[2]) == size)
			return true;
	}
	return false;
}

/*
 * Does a function start here with NOP, the end of @before, and CALL, the start
 * of @code? In Go, the first function of a goroutine returns to such a CALL,
 * which has not called it.
 */
static inline bool unwind_user_starts_stack(u64 before, u64 code)
{
	return before >> 56 == 0x90 && (u8)code == UNWIND_USER_OPCODE_CALL;
}

/*
 * Find the start of the function that the call before @ra has called. @before
 * ends in the call. If it is indirect, the start was in a register, and @regs
 * may still have it.
 *
 * Return: false if the start is not known.
 */
static inline bool unwind_user_call_target(struct pt_regs *regs, u64 before,
					   unsigned long ra,
					   unsigned long *target)
{
	/* DWARF numbers of the registers, by ModRM number. */
	static const u8 numbers[] = { 0, 2, 1, 3, 7, 6, 4, 5 };
	unsigned int modrm = before >> 56, number;
	u8 prefix = before >> 40;

	if ((u8)(before >> 24) == UNWIND_USER_OPCODE_CALL) {
		*target = ra + (s32)(before >> 32);
		return true;
	}
	if (!regs || (u8)(before >> 48) != UNWIND_USER_OPCODE_GROUP5 ||
	    modrm >> 3 != 0x1a)
		return false;
	/* REX.B selects r8 to r15. */
	number = (prefix & 0xf1) == 0x41 ? 8 + (modrm & 7) :
					   numbers[modrm & 7];
	return unwind_user_reg(regs, number, target);
}

#define unwind_user_call_target unwind_user_call_target

/* Is RET next? @code begins there, its lowest byte first. */
static inline bool unwind_user_at_return(u64 code)
{
	/* Ignore a "bnd" or "rep" prefix. */
	if ((u8)code == 0xf2 || (u8)code == 0xf3)
		code >>= 8;
	return (u8)code == 0xc3 || (u8)code == 0xc2;
}

int unwind_user_code_pushes(const u8 *code, unsigned int length);

#endif /* _ASM_X86_UNWIND_USER_TEXT_H */
