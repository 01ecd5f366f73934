// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Evaluates the DWARF expressions that SFrame rules can hold: constants,
 * register or CFA plus constant, and one load from there plus constant. The pc
 * is known only modulo a power of two, as in `rip & 15` in linkers' CFI for
 * PLTs. When a frame is unwound, all of these are constants.
 */

#include "core.h"
#include "cursor.h"
#include "dwarf_cfi.h"

/* Linkers' PLT expressions are 3 deep, those of window_cfi.c 4. */
#define STACK_MAX	16
/* The largest power of two that fits PCMASK's block size, one byte. */
#define MAX_PERIOD	128

struct machine {
	const struct sfg_expr *expr;
	struct cursor cur;
	struct sfg_value stack[STACK_MAX];
	unsigned int depth;
};

static bool push_value(struct machine *m, struct sfg_value v)
{
	if (m->depth == STACK_MAX)
		return false;
	m->stack[m->depth++] = v;
	return true;
}

static bool push_entry(struct machine *m, enum sfg_value_kind kind,
		       unsigned int reg, int64_t offset)
{
	return push_value(m, (struct sfg_value) {
		.kind = kind, .reg = reg, .offset = offset,
	});
}

static bool push_const(struct machine *m, int64_t v)
{
	return push_entry(m, SFG_VALUE_CONST, 0, v);
}

static bool push_known(struct machine *m, uint64_t reg, int64_t offset)
{
	const struct sfg_frame *frame = m->expr->frame;

	if (reg == m->expr->arch->pc)
		return push_const(m, frame->pc + (uint64_t)offset);
	if (!frame_has(frame, reg))
		return false;
	return push_const(m, frame->reg[reg] + (uint64_t)offset);
}

/*
 * Linkers read the pc by AMD64's return address column: `breg16`. No other ABI
 * here has a number for the pc.
 */
static bool push_reg(struct machine *m, uint64_t reg, int64_t offset)
{
	if (m->expr->frame)
		return push_known(m, reg, offset);
	if (reg == m->expr->arch->pc)
		return push_entry(m, SFG_VALUE_PC, 0, offset);
	if (!arch_has_reg(m->expr->arch, reg))
		return false;
	return push_entry(m, SFG_VALUE_REG, reg, offset);
}

static bool pop_entry(struct machine *m, struct sfg_value *v)
{
	if (!m->depth)
		return false;
	*v = m->stack[--m->depth];
	return true;
}

static bool pop_const(struct machine *m, int64_t *v)
{
	struct sfg_value top;

	if (!pop_entry(m, &top) || top.kind != SFG_VALUE_CONST)
		return false;
	*v = top.offset;
	return true;
}

static bool pick(struct machine *m, unsigned int index)
{
	if (index >= m->depth)
		return false;
	return push_value(m, m->stack[m->depth - 1 - index]);
}

static bool swap_entries(struct machine *m)
{
	struct sfg_value *top, v;

	if (m->depth < 2)
		return false;
	top = &m->stack[m->depth - 1];
	v = top[0];
	top[0] = top[-1];
	top[-1] = v;
	return true;
}

/* The top goes to third place; the second becomes the top (2.5.1.3). */
static bool rot(struct machine *m)
{
	struct sfg_value *top;
	struct sfg_value v;

	if (m->depth < 3)
		return false;
	top = &m->stack[m->depth - 1];
	v = top[0];
	top[0] = top[-1];
	top[-1] = top[-2];
	top[-2] = v;
	return true;
}

static bool load_word(struct machine *m, uint64_t addr)
{
	const struct sfg_frame *frame = m->expr->frame;
	uint64_t word;

	return frame && frame->read(frame->arg, addr, &word) &&
	       push_const(m, word);
}

/*
 * Loads a word of the size of an address (2.5.1.3). A loaded word cannot be
 * loaded from: a FLEX control word has one bit for it.
 */
static bool deref(struct machine *m)
{
	struct sfg_value v;

	if (!pop_entry(m, &v))
		return false;
	if (v.kind == SFG_VALUE_REG)
		return push_entry(m, SFG_VALUE_REG_LOAD, v.reg, v.offset);
	if (v.kind == SFG_VALUE_CFA)
		return push_entry(m, SFG_VALUE_CFA_LOAD, 0, v.offset);
	return v.kind == SFG_VALUE_CONST && load_word(m, v.offset);
}

/*
 * Arithmetic is modulo 2^64 (2.5.1.4), hence unsigned: signed overflow is
 * undefined in C.
 */
static bool add_constant(struct machine *m, struct sfg_value a, int64_t n)
{
	bool loaded = a.kind == SFG_VALUE_REG_LOAD ||
		      a.kind == SFG_VALUE_CFA_LOAD;
	int64_t *sum = loaded ? &a.addend : &a.offset;

	*sum = (uint64_t)*sum + (uint64_t)n;
	return push_value(m, a);
}

static bool plus(struct machine *m)
{
	struct sfg_value a, b;

	if (!pop_entry(m, &b) || !pop_entry(m, &a))
		return false;
	if (b.kind == SFG_VALUE_CONST)
		return add_constant(m, a, b.offset);
	if (a.kind == SFG_VALUE_CONST)
		return add_constant(m, b, a.offset);
	return false;
}

static bool minus(struct machine *m)
{
	struct sfg_value a, b;

	if (!pop_entry(m, &b) || !pop_entry(m, &a) || b.kind != SFG_VALUE_CONST)
		return false;
	return add_constant(m, a, -(uint64_t)b.offset);
}

/*
 * Periods are powers of two, so if an expression masks the pc repeatedly, the
 * largest is a multiple of all.
 */
static bool and_pc(struct machine *m, const struct sfg_value *pc, int64_t mask)
{
	/* only low bits survive the load address */
	if (mask <= 0 || mask >= MAX_PERIOD || mask & (mask + 1))
		return false;
	if (*m->expr->period < mask + 1)
		*m->expr->period = mask + 1;
	return push_const(m, (m->expr->pc + pc->offset) & mask);
}

static bool and(struct machine *m)
{
	struct sfg_value a, b;

	if (!pop_entry(m, &b) || !pop_entry(m, &a))
		return false;
	if (a.kind == SFG_VALUE_PC && b.kind == SFG_VALUE_CONST)
		return and_pc(m, &a, b.offset);
	if (b.kind == SFG_VALUE_PC && a.kind == SFG_VALUE_CONST)
		return and_pc(m, &b, a.offset);
	if (a.kind != SFG_VALUE_CONST || b.kind != SFG_VALUE_CONST)
		return false;
	return push_const(m, a.offset & b.offset);
}

/*
 * C leaves counts of 64 and more undefined. GCC and Clang shift negative
 * numbers arithmetically, as shra needs; C does not promise it.
 */
static bool shift(struct machine *m, unsigned int op)
{
	int64_t n, v;

	if (!pop_const(m, &n) || !pop_const(m, &v) || n < 0 || n > 63)
		return false;
	if (op == DW_OP_shl)
		return push_const(m, (uint64_t)v << n);
	if (op == DW_OP_shr)
		return push_const(m, (uint64_t)v >> n);
	return push_const(m, v >> n);
}

/* Comparisons are signed and give 1 or 0 (2.5.1.5). */
static bool binary(struct machine *m, unsigned int op)
{
	int64_t a, b;

	if (!pop_const(m, &b) || !pop_const(m, &a))
		return false;
	switch (op) {
	case DW_OP_or:
		return push_const(m, a | b);
	case DW_OP_xor:
		return push_const(m, a ^ b);
	case DW_OP_mul:
		return push_const(m, (uint64_t)a * (uint64_t)b);
	case DW_OP_eq:
		return push_const(m, a == b);
	case DW_OP_ge:
		return push_const(m, a >= b);
	case DW_OP_gt:
		return push_const(m, a > b);
	case DW_OP_le:
		return push_const(m, a <= b);
	case DW_OP_lt:
		return push_const(m, a < b);
	case DW_OP_ne:
		return push_const(m, a != b);
	}
	return false;
}

static bool unary(struct machine *m, unsigned int op)
{
	int64_t v;

	if (!pop_const(m, &v))
		return false;
	return push_const(m, op == DW_OP_not ? ~v : (int64_t)-(uint64_t)v);
}

/*
 * Forward only, so that expressions end; DWARF (2.5.1.5) also allows backward.
 * The distance is signed, 2 bytes, from the end of the operand.
 */
static bool branch(struct machine *m, unsigned int op)
{
	int16_t distance = cursor_u16(&m->cur);
	int64_t taken = 1;

	if (op == DW_OP_bra && !pop_const(m, &taken))
		return false;
	if (!taken)
		return true;
	if (distance < 0 || (size_t)distance > cursor_left(&m->cur))
		return false;
	m->cur.pos += distance;
	return true;
}

static bool push_operand(struct machine *m, unsigned int op)
{
	struct cursor *c = &m->cur;

	switch (op) {
	case DW_OP_const1u:
		return push_const(m, cursor_u8(c));
	case DW_OP_const1s:
		return push_const(m, (int8_t)cursor_u8(c));
	case DW_OP_const2u:
		return push_const(m, cursor_u16(c));
	case DW_OP_const2s:
		return push_const(m, (int16_t)cursor_u16(c));
	case DW_OP_const4u:
		return push_const(m, cursor_u32(c));
	case DW_OP_const4s:
		return push_const(m, (int32_t)cursor_u32(c));
	case DW_OP_const8u:
	case DW_OP_const8s:
		return push_const(m, cursor_u64(c));
	case DW_OP_constu:
		return push_const(m, cursor_uleb(c));
	default:	/* DW_OP_consts */
		return push_const(m, cursor_sleb(c));
	}
}

static bool stack_op(struct machine *m, unsigned int op)
{
	struct sfg_value v;

	switch (op) {
	case DW_OP_dup:
		return pick(m, 0);
	case DW_OP_over:
		return pick(m, 1);
	case DW_OP_pick:
		return pick(m, cursor_u8(&m->cur));
	case DW_OP_drop:
		return pop_entry(m, &v);
	case DW_OP_swap:
		return swap_entries(m);
	default:	/* DW_OP_rot */
		return rot(m);
	}
}

static bool arithmetic(struct machine *m, unsigned int op)
{
	switch (op) {
	case DW_OP_deref:
		return deref(m);
	case DW_OP_plus:
		return plus(m);
	case DW_OP_plus_uconst:
		return push_const(m, cursor_uleb(&m->cur)) && plus(m);
	case DW_OP_minus:
		return minus(m);
	case DW_OP_and:
		return and(m);
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		return shift(m, op);
	case DW_OP_neg:
	case DW_OP_not:
		return unary(m, op);
	case DW_OP_bra:
	case DW_OP_skip:
		return branch(m, op);
	case DW_OP_nop:
		return true;
	}
	return binary(m, op);
}

static bool step(struct machine *m)
{
	unsigned int op = cursor_u8(&m->cur);
	uint64_t reg;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return push_const(m, op - DW_OP_lit0);
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return push_reg(m, op - DW_OP_breg0, cursor_sleb(&m->cur));
	if (op == DW_OP_bregx) {
		reg = cursor_uleb(&m->cur);
		return push_reg(m, reg, cursor_sleb(&m->cur));
	}
	if (op >= DW_OP_const1u && op <= DW_OP_consts)
		return push_operand(m, op);
	if (op >= DW_OP_dup && op <= DW_OP_rot)
		return stack_op(m, op);
	return arithmetic(m, op);
}

/*
 * For the rule of a register the stack starts with the CFA (6.4.2.3), for the
 * CFA's own it is empty. The budget is for the whole input: hostile CFI may
 * share one long expression among all rows, and a repeating row evaluates it up
 * to 128 times.
 */
bool sfg_eval(const struct sfg_expr *expr, struct sfg_value *value)
{
	struct machine m = { .expr = expr };

	cursor_init(&m.cur, expr->code, 0, expr->len,
		    expr->arch->big_endian);
	if (expr->cfa_pushed)
		push_entry(&m, expr->frame ? SFG_VALUE_CONST : SFG_VALUE_CFA, 0,
			   expr->cfa);
	while (cursor_left(&m.cur)) {
		if (!*expr->budget || !step(&m) || m.cur.bad)
			return false;
		--*expr->budget;
	}
	return pop_entry(&m, value);
}
