/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * One instruction of 64-bit code: its length, operands and, as far as flow.c
 * needs to know, what it changes.
 */
#ifndef SFRAMEGEN_X86_INSN_H
#define SFRAMEGEN_X86_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Register numbers of instructions, which differ from DWARF's. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R12 = 12, R13, R14, R15 };

#define INSN_NO_REG	-1
#define INSN_RIP	-2

/* insn.map: the opcode map, by the bytes before the opcode */
#define INSN_MAP_0F	1
#define INSN_MAP_0F38	2
#define INSN_MAP_0F3A	3

/**
 * struct insn - a decoded instruction
 * @length:	bytes
 * @map:	0 or INSN_MAP_*
 * @op:		opcode, the last of its bytes
 * @wide:	operands of 64 bits by REX.W or VEX.W
 * @small:	operands of 16 bits, or an SSE prefix 66
 * @repeat:	F2 or F3, or 0
 * @vex:	encoded as VEX or EVEX
 * @evex:	as EVEX
 * @has_modrm:	@mod, @reg and @rm are valid, for memory @base, @index, @disp
 * @mod:	3: @rm is a register; else memory
 * @reg:	register of the ModRM byte, extended; its low 3 bits may be a
 *		part of the opcode
 * @rm:		register, extended, if @mod is 3
 * @vvvv:	third operand of VEX
 * @opreg:	register in the low bits of the opcode, extended
 * @base:	of memory, or INSN_NO_REG, INSN_RIP
 * @index:	of memory, or INSN_NO_REG
 * @disp:	of memory; of EVEX not scaled
 * @imm:	immediate, with its sign
 */
struct insn {
	uint8_t	length;
	uint8_t	map;
	uint8_t	op;
	bool	wide;
	bool	small;
	uint8_t	repeat;
	bool	vex;
	bool	evex;
	bool	has_modrm;
	uint8_t	mod;
	uint8_t	reg;
	uint8_t	rm;
	uint8_t	vvvv;
	uint8_t	opreg;
	int8_t	base;
	int8_t	index;
	int32_t	disp;
	int64_t	imm;
};

/* Decodes what is at @text; false: no instruction within @room bytes. */
bool sfg_insn_decode(const uint8_t *text, size_t room, struct insn *insn);

/*
 * Bit n for each general register n that may change, except the stack pointer
 * by push, pop and call.
 */
uint32_t sfg_insn_changes(const struct insn *insn);

/* A conditional jump, loop or jrcxz. */
bool sfg_insn_jumps_if(const struct insn *insn);

#endif /* SFRAMEGEN_X86_INSN_H */
