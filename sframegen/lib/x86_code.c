// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Effects of x86-64 instructions on the stack, for code_flow.c. */
#include "x86_insn.h"

#include "code_facts.h"

static const uint8_t dwarf[16] = {
	0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15,
};

#define SP	7
#define FP	6

static int8_t reg_of(int insn_reg)
{
	return insn_reg < 0 || insn_reg > 15 ? CODE_NO_REG : dwarf[insn_reg];
}

static uint32_t mask_of(uint32_t insn_regs)
{
	uint32_t mask = 0;
	int i;

	for (i = 0; i < 16; i++)
		if (insn_regs & 1u << i)
			mask |= 1u << dwarf[i];
	return mask;
}

static struct code_op *add_op(struct code_insn *out, uint8_t kind, int8_t dst,
			      int8_t src, int32_t imm)
{
	struct code_op *op = &out->ops[out->nr_ops++];

	*op = (struct code_op) {
		.kind = kind, .dst = dst, .src = src, .imm = imm,
	};
	return op;
}

static void clobber(struct code_insn *out, uint32_t mask)
{
	if (mask)
		add_op(out, CODE_CLOBBER, CODE_NO_REG, CODE_NO_REG, 0)->mask =
			mask;
}

static void lose(struct code_insn *out)
{
	out->nr_ops = 0;
	add_op(out, CODE_LOSE, CODE_NO_REG, CODE_NO_REG, 0);
}

/* Only a base register; with an index, or without a base, it is unknown. */
static int8_t base_of(const struct insn *insn)
{
	return insn->index == INSN_NO_REG ? reg_of(insn->base) : CODE_NO_REG;
}

static void x86_push(struct code_insn *out, int8_t src)
{
	add_op(out, CODE_SET, SP, SP, -8);
	add_op(out, CODE_STORE, SP, src == SP ? CODE_NO_REG : src, 0);
}

static void x86_pop(struct code_insn *out, int8_t dst)
{
	if (dst == SP) {
		add_op(out, CODE_LOAD, SP, SP, 0);
		return;
	}
	if (dst != CODE_NO_REG)
		add_op(out, CODE_LOAD, dst, SP, 0);
	add_op(out, CODE_SET, SP, SP, 8);
}

/* pop computes an address from the stack pointer after popping. */
static void pop_to(struct code_insn *out, const struct insn *insn)
{
	int8_t base = base_of(insn);

	x86_pop(out, insn->mod == 3 ? reg_of(insn->rm) : CODE_NO_REG);
	if (insn->mod != 3 && base != CODE_NO_REG)
		add_op(out, CODE_STORE, base, CODE_NO_REG, insn->disp);
}

static bool is_group(const struct insn *insn, uint8_t op, unsigned int nr)
{
	return insn->op == op && (insn->reg & 7) == nr;
}

/* An operand of 16 bits would misalign the stack pointer; no code does so. */
static bool push_or_pop(struct code_insn *out, const struct insn *insn)
{
	if (insn->map == INSN_MAP_0F && !insn->vex && (insn->op & 0xf6) == 0xa0) {
		if (insn->op & 1)
			x86_pop(out, CODE_NO_REG);
		else
			x86_push(out, CODE_NO_REG);
		return true;
	}
	if (insn->map)
		return false;
	if ((insn->op & 0xf8) == 0x50) {
		x86_push(out, reg_of(insn->opreg));
	} else if ((insn->op & 0xf8) == 0x58) {
		x86_pop(out, reg_of(insn->opreg));
	} else if (insn->op == 0x68 || insn->op == 0x6a || insn->op == 0x9c) {
		x86_push(out, CODE_NO_REG);
	} else if (insn->op == 0x9d) {
		x86_pop(out, CODE_NO_REG);
	} else if (is_group(insn, 0xff, 6)) {
		x86_push(out, insn->mod == 3 ? reg_of(insn->rm) : CODE_NO_REG);
	} else if (insn->op == 0x8f && !(insn->reg & 7)) {
		pop_to(out, insn);
	} else if (insn->op == 0xc9) {
		add_op(out, CODE_SET, SP, FP, 0);
		x86_pop(out, FP);
	} else {
		return false;
	}
	if (insn->small)
		lose(out);
	return true;
}

static bool add_constant(struct code_insn *out, const struct insn *insn)
{
	unsigned int nr = insn->reg & 7;

	if (insn->map || (insn->op != 0x81 && insn->op != 0x83) ||
	    insn->mod != 3 || !insn->wide || (nr != 0 && nr != 5) ||
	    insn->imm == INT32_MIN)
		return false;
	add_op(out, CODE_SET, reg_of(insn->rm), reg_of(insn->rm),
	       nr ? -insn->imm : insn->imm);
	return true;
}

static bool move_register(struct code_insn *out, const struct insn *insn)
{
	int8_t base = base_of(insn), reg = reg_of(insn->reg);

	if (insn->map || !insn->wide || !insn->has_modrm)
		return false;
	switch (insn->op) {
	case 0x8b:
		if (insn->mod == 3)
			add_op(out, CODE_SET, reg, reg_of(insn->rm), 0);
		else if (base != CODE_NO_REG)
			add_op(out, CODE_LOAD, reg, base, insn->disp);
		else
			clobber(out, 1u << reg);
		return true;
	case 0x89:
		if (insn->mod == 3)
			add_op(out, CODE_SET, reg_of(insn->rm), reg, 0);
		else if (base != CODE_NO_REG)
			add_op(out, CODE_STORE, base, reg, insn->disp);
		return true;
	case 0x8d:
		if (insn->mod == 3)
			return false;
		if (base != CODE_NO_REG)
			add_op(out, CODE_SET, reg, base, insn->disp);
		else
			clobber(out, 1u << reg);
		return true;
	case 0xc7:
		if (insn->mod == 3 || base == CODE_NO_REG)
			return false;
		add_op(out, CODE_STORE, base, CODE_NO_REG, insn->disp);
		return true;
	}
	return false;
}

static bool is_nop(const struct insn *insn)
{
	if (insn->map == INSN_MAP_0F)
		return !insn->vex && insn->op == 0x1f;
	return !insn->map && insn->op == 0x90 && !insn->opreg;
}

/* endbr64, and nops without shadow stacks. */
static bool is_hint(const struct insn *insn)
{
	return insn->map == INSN_MAP_0F && !insn->vex && insn->op == 0x1e;
}

static void other(struct code_insn *out, const struct insn *insn)
{
	if (is_nop(insn) || is_hint(insn))
		return;
	if (insn->has_modrm && insn->mod != 3 && base_of(insn) != CODE_NO_REG)
		add_op(out, CODE_TOUCH, base_of(insn), CODE_NO_REG, insn->disp);
	clobber(out, mask_of(sfg_insn_changes(insn)));
}

/*
 * Privileged instructions, and ones that no compiler or assembler author uses.
 */
static bool is_nothing(const struct insn *insn)
{
	if (insn->map == INSN_MAP_0F)
		return !insn->vex && (insn->op == 0x06 || insn->op == 0x07 ||
				      insn->op == 0x08 || insn->op == 0x09 ||
				      insn->op == 0x35 || insn->op == 0x30 ||
				      insn->op == 0x32 || insn->op == 0xaa ||
				      insn->op == 0x04 || insn->op == 0x0a ||
				      insn->op == 0x0c || insn->op == 0x24 ||
				      insn->op == 0x36 || insn->op == 0x39);
	if (insn->map)
		return false;
	switch (insn->op) {
	case 0x00:
		return !insn->mod && !(insn->reg | insn->rm);
	case 0x6c: case 0x6d: case 0x6e: case 0x6f:
	case 0x8e: case 0xc8: case 0xca: case 0xcb: case 0xcd: case 0xcf:
	case 0xe4: case 0xe5: case 0xe6: case 0xe7:
	case 0xec: case 0xed: case 0xee: case 0xef:
	case 0xf1: case 0xfa: case 0xfb:
		return true;
	case 0xff:
		return (insn->reg & 7) == 3 || (insn->reg & 7) == 5 ||
		       (insn->reg & 7) == 7;
	}
	return false;
}

/*
 * A jump through a word of memory without index is a linkage table's, or a tail
 * call by pointer. One through a register may be that or a jump table's.
 */
static uint8_t next_of(const struct insn *insn)
{
	if (is_nothing(insn))
		return CODE_NOTHING;
	if (sfg_insn_jumps_if(insn))
		return CODE_JUMPS_IF;
	if (insn->map == INSN_MAP_0F)
		return !insn->vex && (insn->op == 0x0b || insn->op == 0xb9 ||
				      insn->op == 0xff) ? CODE_STOPS :
							  CODE_FALLS;
	if (insn->map)
		return CODE_FALLS;
	switch (insn->op) {
	case 0xc2: case 0xc3:
		return CODE_RETURNS;
	case 0xcc: case 0xf4:
		return CODE_STOPS;
	case 0xe8:
		return CODE_CALLS;
	case 0xe9: case 0xeb:
		return CODE_JUMPS;
	case 0xff:
		if ((insn->reg & 7) == 2)
			return CODE_CALLS;
		if ((insn->reg & 7) == 4)
			return insn->mod != 3 && insn->base == INSN_RIP ?
			       CODE_TAIL : CODE_STOPS;
	}
	return CODE_FALLS;
}

#define KEPT	(1u << SP | 1u << FP | 1u << 3 | 0xf000)

/* A call of the next instruction pushes its address. */
static void call_function(struct code_insn *out, const struct insn *insn)
{
	if (insn->op == 0xe8 && !insn->imm) {
		out->next = CODE_FALLS;
		x86_push(out, CODE_NO_REG);
		return;
	}
	add_op(out, CODE_TOUCH, SP, CODE_NO_REG, -8);
	add_op(out, CODE_CALL, CODE_NO_REG, CODE_NO_REG, 0)->mask =
		0xffff & ~KEPT;
}

static bool decode_x86(const uint8_t *text, size_t size, size_t at,
		       struct code_insn *out)
{
	struct insn insn;

	out->nr_ops = 0;
	out->to = -1;
	out->far = out->word = 0;
	if (!sfg_insn_decode(text + at, size - at, &insn))
		return false;
	out->length = insn.length;
	out->next = next_of(&insn);
	out->pads = is_nop(&insn) || (!insn.map && insn.op == 0xcc);
	out->lands = is_hint(&insn);
	out->calls_system = insn.map == INSN_MAP_0F && !insn.vex &&
			    insn.op == 0x05;
	out->number = -1;
	if (!insn.map && insn.op == 0xb8 && !insn.opreg)
		out->number = (uint32_t)insn.imm;
	if (out->next == CODE_JUMPS || out->next == CODE_JUMPS_IF ||
	    (out->next == CODE_CALLS && insn.op == 0xe8)) {
		out->to = (int64_t)at + insn.length + insn.imm;
		if (out->to < 0 || out->to >= (int64_t)size) {
			out->far = out->next == CODE_CALLS ? out->to : 0;
			out->to = -1;
		}
	}
	if ((out->next == CODE_TAIL || out->next == CODE_CALLS) &&
	    insn.op == 0xff && insn.mod != 3 && insn.base == INSN_RIP)
		out->word = (int64_t)at + insn.length + insn.disp;
	if (out->next == CODE_CALLS)
		call_function(out, &insn);
	else if (out->next == CODE_FALLS && !push_or_pop(out, &insn) &&
		 !add_constant(out, &insn) && !move_register(out, &insn))
		other(out, &insn);
	return out->next != CODE_NOTHING;
}

/*
 * After clone(), vfork() and clone3() threads begin; sigreturn never returns.
 */
static bool keeps_stack(int64_t number)
{
	return number >= 0 && number != 15 && number != 56 && number != 57 &&
	       number != 58 && number != 435;
}

const struct code_machine sfg_code_x86 = {
	.decode = decode_x86, .keeps_stack = keeps_stack, .number = 0,
	.align = 16, .sp = SP, .fp = FP, .preserved = KEPT,
};
