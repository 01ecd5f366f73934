/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What instructions of x86-64 tell the walk of a user stack.
 */
#ifndef _ASM_X86_UNWIND_USER_TEXT_H
#define _ASM_X86_UNWIND_USER_TEXT_H

#include <linux/types.h>
#include <linux/unwind_user.h>

#define UNWIND_USER_OPCODE_CALL		0xe8	/* rel32 */
#define UNWIND_USER_OPCODE_GROUP5	0xff	/* /2: call, indirect */

/* Bytes of an indirect call, by its ModRM and, if it has one, SIB byte. */
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
	/* No base: the instruction pointer, or nothing. */
	if (!mod && rm == 5)
		size += 4;
	return size;
}

/* Is this the end of a call? The last byte is the highest one. */
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
 * Is this the start of a function that is NOP and CALL, with @before up to the
 * NOP and @code from the CALL on? Go has the first function of a goroutine return
 * there, though nothing has called it from there.
 */
static inline bool unwind_user_starts_stack(u64 before, u64 code)
{
	return before >> 56 == 0x90 && (u8)code == UNWIND_USER_OPCODE_CALL;
}

/*
 * The start of the function that the call before @ra, which it ends @before,
 * has called. An indirect one had it in a register, which @regs may still hold.
 *
 * Return: false if it cannot be told.
 */
static inline bool unwind_user_call_target(struct pt_regs *regs, u64 before,
					   unsigned long ra,
					   unsigned long *target)
{
	/* DWARF numbers registers otherwise. */
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
	/* REX.B is for r8 to r15. */
	number = (prefix & 0xf1) == 0x41 ? 8 + (modrm & 7) :
					   numbers[modrm & 7];
	return unwind_user_reg(regs, number, target);
}

#define unwind_user_call_target unwind_user_call_target

/* Is RET next? @code begins there, with the lowest byte. */
static inline bool unwind_user_at_return(u64 code)
{
	/* "bnd" or "rep" before it means nothing. */
	if ((u8)code == 0xf2 || (u8)code == 0xf3)
		code >>= 8;
	return (u8)code == 0xc3 || (u8)code == 0xc2;
}

int unwind_user_code_pushes(const u8 *code, unsigned int length);

#endif /* _ASM_X86_UNWIND_USER_TEXT_H */
