// SPDX-License-Identifier: GPL-2.0
/*
 * Find instructions that change the stack pointer, for walks of user stacks.
 */
#include <linux/bits.h>
#include <linux/ptrace.h>
#include <linux/types.h>

#include <asm/insn.h>
#include <asm/unwind_user_text.h>

#define REGNUM_SP	4	/* in ModRM */

static bool unwind_user_insn_is_push_fp(const struct insn *insn)
{
	return insn->length == 1 && insn->opcode.bytes[0] == 0x55;
}

/* CMP and TEST write no register; x87 registers are separate. */
static bool unwind_user_insn_only_reads(const struct insn *insn)
{
	switch (insn->opcode.bytes[0]) {
	case 0x38 ... 0x3b:
	case 0x84 ... 0x85:
	case 0xd8 ... 0xdf:
		return true;
	case 0x80 ... 0x83:
		return X86_MODRM_REG(insn->modrm.value) == 7;
	case 0xf6 ... 0xf7:
		return X86_MODRM_REG(insn->modrm.value) < 2;
	default:
		return false;
	}
}

/* Does ModRM.reg extend the opcode, in place of a register? */
static bool unwind_user_insn_is_group(const struct insn *insn)
{
	switch (insn->opcode.bytes[0]) {
	case 0x80 ... 0x83:
	case 0x8f:
	case 0xc0 ... 0xc1:
	case 0xc6 ... 0xc7:
	case 0xd0 ... 0xd3:
	case 0xf6 ... 0xf7:
	case 0xfe ... 0xff:
		return true;
	default:
		return false;
	}
}

/* Is the stack pointer itself one of the operands? */
static bool unwind_user_insn_names_sp(const struct insn *insn)
{
	u8 modrm = insn->modrm.value, rex = insn->rex_prefix.value;

	if (!insn->modrm.nbytes)
		return false;
	if (X86_MODRM_MOD(modrm) == 3 && X86_MODRM_RM(modrm) == REGNUM_SP &&
	    !X86_REX_B(rex))
		return true;
	return !unwind_user_insn_is_group(insn) &&
	       X86_MODRM_REG(modrm) == REGNUM_SP && !X86_REX_R(rex);
}

static bool unwind_user_insn_moves_sp(const struct insn *insn)
{
	switch (insn->opcode.bytes[0]) {
	case 0x0f:
		/* PUSH and POP of FS and GS; assume the others keep SP. */
		return (insn->opcode.bytes[1] & 0xf6) == 0xa0;
	case 0x50 ... 0x5f:	/* PUSH, POP */
	case 0x68:		/* PUSH */
	case 0x6a:
	case 0x8f:		/* POP */
	case 0x9a:		/* CALL */
	case 0x9c ... 0x9d:	/* PUSHF, POPF */
	case 0xc8 ... 0xc9:	/* ENTER, LEAVE */
	case 0xcf:		/* IRET */
	case 0xe8:		/* CALL */
		return true;
	case 0x94:		/* XCHG, MOV of an immediate */
	case 0xbc:
		return !X86_REX_B(insn->rex_prefix.value);
	case 0xff:		/* CALL, PUSH */
		if (X86_MODRM_REG(insn->modrm.value) != 4 &&
		    X86_MODRM_REG(insn->modrm.value) > 1)
			return true;
		fallthrough;
	default:
		return !unwind_user_insn_only_reads(insn) &&
		       unwind_user_insn_names_sp(insn);
	}
}

/**
 * unwind_user_code_pushes - find out what code without a frame has pushed
 * @code:	the first instructions of a function
 * @length:	their length in bytes
 *
 * Jumps are not followed: if no instruction moves the stack pointer, it does
 * not matter which of them have run.
 *
 * Return: bytes pushed: 0, or 8 if the frame pointer is pushed; or -1 if the
 * stack pointer may move otherwise, or if @length does not end at an
 * instruction.
 */
int unwind_user_code_pushes(const u8 *code, unsigned int length)
{
	int pushed = 0;
	struct insn insn;

	for (; length; code += insn.length, length -= insn.length) {
		if (insn_decode(&insn, code, length, INSN_MODE_64))
			return -1;
		/* APX prefixes add registers, and instructions that push. */
		if (insn_is_rex2(&insn) ||
		    (insn_is_evex(&insn) && insn_vex_m_bits(&insn) == 4))
			return -1;
		if (!pushed && unwind_user_insn_is_push_fp(&insn))
			pushed = sizeof(long);
		else if (!insn_is_avx_or_xop(&insn) &&
			 unwind_user_insn_moves_sp(&insn))
			return -1;
	}
	return pushed;
}
