// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A value is a symbol and an offset. Symbols are the CFA, the caller's frame
 * pointer, the return address, and anchors. An anchor is the stack pointer
 * after an instruction that makes its distance from the CFA unknown. Where two
 * paths meet, values that differ become unknown.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <grow.h>

#include "flow.h"
#include <x86_insn.h>

enum { UNKNOWN, CFA, RETURN, OLD_FP, ANCHOR };

#define NR_REGS		16

struct value {
	uint32_t	sym;
	int32_t		off;
};

/* @ra_at, @fp_at, @cfa_at: where they are stored */
struct state {
	struct value	reg[NR_REGS];
	struct value	ra_at;
	struct value	fp_at;
	struct value	cfa_at;
};

/*
 * @state_of:	for each byte of the code 1 + the index of its state, or 0. Few
 *		instructions change a state, so many bytes have the same one,
 *		and a state is never changed
 * @todo:	instructions whose state changed
 * @inside:	for each byte: inside an instruction, but not its first byte
 * @lost:	for each byte: paths meet with different stack pointers
 * @again:	another such byte was found, so earlier results may be wrong
 */
struct flow {
	const struct flow_code	*code;
	uint32_t		*state_of;
	unsigned char		*inside;
	unsigned char		*lost;
	bool			again;
	unsigned int		rounds;
	struct state		*states;
	size_t			nr_states, max_states;
	uint32_t		*todo;
	size_t			nr_todo, max_todo;
	bool			no_memory;
};

static bool is_same_value(struct value a, struct value b)
{
	return a.sym == b.sym && a.off == b.off;
}

static bool is(struct value a, uint32_t sym)
{
	return a.sym == sym && !a.off;
}

static const struct value unknown = { UNKNOWN, 0 };

/* ---- Work to do ------------------------------------------------------ */

static bool grow_flow(struct flow *f, void *array, size_t *max, size_t nr,
		      size_t size)
{
	f->no_memory |= !grow_array(array, max, nr, size);
	return !f->no_memory;
}

static void push_todo(struct flow *f, uint32_t at)
{
	if (grow_flow(f, &f->todo, &f->max_todo, f->nr_todo, sizeof(*f->todo)))
		f->todo[f->nr_todo++] = at;
}

static bool join_value(struct value *to, struct value from)
{
	if (is_same_value(*to, from) || to->sym == UNKNOWN)
		return false;
	*to = unknown;
	return true;
}

static bool join(struct state *to, const struct state *from)
{
	bool changed = false;
	int i;

	for (i = 0; i < NR_REGS; i++)
		changed |= join_value(&to->reg[i], from->reg[i]);
	changed |= join_value(&to->ra_at, from->ra_at);
	changed |= join_value(&to->fp_at, from->fp_at);
	changed |= join_value(&to->cfa_at, from->cfa_at);
	return changed;
}

static const struct state *state_at(const struct flow *f, uint32_t at)
{
	return &f->states[f->state_of[at] - 1];
}

static void set_state(struct flow *f, uint32_t at, const struct state *state)
{
	if (!grow_flow(f, &f->states, &f->max_states, f->nr_states,
		       sizeof(*f->states)))
		return;
	f->states[f->nr_states++] = *state;
	f->state_of[at] = f->nr_states;
	push_todo(f, at);
}

static void join_state(struct flow *f, uint32_t at, const struct state *state)
{
	struct state joined = *state_at(f, at);

	if (join(&joined, state))
		set_state(f, at, &joined);
}

/*
 * After a place where the stack pointer is lost, anchors change. So the
 * analysis restarts with that place known. Each round finds one place; code
 * with more than a few is not worth it.
 */
#define MAX_ROUNDS	16

static bool loses_sp(struct flow *f, int64_t at, const struct state *state)
{
	struct value sp = state_at(f, at)->reg[RSP];

	if (sp.sym == UNKNOWN || is_same_value(sp, state->reg[RSP]) ||
	    f->lost[at] || f->rounds == MAX_ROUNDS)
		return false;
	f->lost[at] = 1;
	f->again = true;
	return true;
}

/* Jumps out of the code are not followed. */
static void reach_block(struct flow *f, int64_t at, struct state *state)
{
	if (at < 0 || at >= f->code->size || f->again)
		return;
	if (f->lost[at])
		state->reg[RSP] = unknown;
	if (!f->state_of[at])
		set_state(f, at, state);
	else if (!loses_sp(f, at, state))
		join_state(f, at, state);
}

/* Goes on at @next with the state after the instruction at @at. */
static void reach_next(struct flow *f, int64_t next, struct state *state,
		       uint32_t at)
{
	if (next >= f->code->size || f->lost[next] || f->state_of[next] ||
	    f->again || memcmp(state, state_at(f, at), sizeof(*state))) {
		reach_block(f, next, state);
		return;
	}
	f->state_of[next] = f->state_of[at];
	push_todo(f, next);
}

/* ---- Entries --------------------------------------------------------- */

static void at_call(struct state *state)
{
	state->reg[RSP] = (struct value){ CFA, -8 };
	state->reg[RBP] = (struct value){ OLD_FP, 0 };
	state->ra_at = (struct value){ CFA, -8 };
}

static bool begin_flow(const struct flow_code *code, enum flow_kind kind,
		       struct state *state)
{
	memset(state, 0, sizeof(*state));
	switch (kind) {
	case FLOW_CALLED:
	case FLOW_ADAPTER:
		at_call(state);
		return true;
	case FLOW_FRAME:
		state->reg[RSP] = (struct value){ CFA, -(int32_t)code->frame };
		state->ra_at = (struct value){ CFA, -8 };
		state->fp_at = (struct value){ CFA, -16 };
		return true;
	case FLOW_JUMPED_RDX:
		state->reg[RDX] = (struct value){ RETURN, 0 };
		/* fall through */
	case FLOW_JUMPED:
		state->reg[RSP] = (struct value){ CFA, 0 };
		state->reg[RBP] = (struct value){ OLD_FP, 0 };
		return true;
	case FLOW_SENDER:
		state->reg[R13] = (struct value){ CFA, 0 };
		state->reg[RSP] = state->ra_at = (struct value){ ANCHOR, 0 };
		state->reg[RBP] = (struct value){ OLD_FP, 0 };
		return true;
	case FLOW_SENDER_FRAME:
		state->reg[RBP] = (struct value){ ANCHOR, 0 };
		state->fp_at = (struct value){ ANCHOR, 0 };
		state->ra_at = (struct value){ ANCHOR, 8 };
		state->cfa_at = (struct value){ ANCHOR, -8 };
		return true;
	case FLOW_FP_FRAME:
		state->reg[RBP] = state->fp_at = (struct value){ CFA, -16 };
		state->ra_at = (struct value){ CFA, -8 };
		return true;
	default:
		return false;
	}
}

static bool is_adapter(const struct flow_code *code)
{
	return code->nr_entries && code->entries[0].kind == FLOW_ADAPTER;
}

/* ---- What instructions do -------------------------------------------- */

/* The number depends only on the instruction, so repeated states are equal. */
static struct value anchor(uint32_t at)
{
	return (struct value){ ANCHOR + 1 + at, 0 };
}

static void lose_below(struct value *place, struct value sp)
{
	if (place->sym == sp.sym ? place->off < sp.off : sp.sym == CFA)
		*place = unknown;
}

/* Values stored below the stack pointer are lost. */
static void move_sp(struct state *s, struct value sp)
{
	s->reg[RSP] = sp;
	if (sp.sym == UNKNOWN)
		return;
	lose_below(&s->ra_at, sp);
	lose_below(&s->fp_at, sp);
	lose_below(&s->cfa_at, sp);
}

static void set_reg(struct state *s, unsigned int reg, struct value value)
{
	if (reg == RSP)
		move_sp(s, value);
	else
		s->reg[reg] = value;
}

static struct value load_value(const struct state *s, struct value at)
{
	if (at.sym == UNKNOWN)
		return unknown;
	if (is_same_value(at, s->ra_at))
		return (struct value){ RETURN, 0 };
	if (is_same_value(at, s->fp_at))
		return (struct value){ OLD_FP, 0 };
	if (is_same_value(at, s->cfa_at))
		return (struct value){ CFA, 0 };
	return unknown;
}

/*
 * The return address slot keeps its meaning, whatever is stored there. Other
 * slots lose theirs if something else is stored.
 */
static void store_value(struct state *s, struct value at, struct value value)
{
	if (at.sym == UNKNOWN)
		return;
	if (is(value, OLD_FP)) {
		if (s->fp_at.sym == UNKNOWN)
			s->fp_at = at;
	} else if (is_same_value(at, s->fp_at)) {
		s->fp_at = unknown;
	}
	if (is(value, CFA))
		s->cfa_at = at;
	else if (is_same_value(at, s->cfa_at))
		s->cfa_at = unknown;
	if (s->ra_at.sym == UNKNOWN && is(value, RETURN))
		s->ra_at = at;
}

/*
 * In code that was jumped to, a push to the return address slot only makes
 * room; a mov then stores the return address.
 */
static void store_by_mov(struct state *s, struct value at, struct value value)
{
	store_value(s, at, value);
	if (s->ra_at.sym == UNKNOWN && at.sym == CFA && at.off == -8)
		s->ra_at = at;
}

static struct value address(const struct state *s, const struct insn *insn)
{
	struct value at;

	if (insn->base < 0 || insn->index != INSN_NO_REG)
		return unknown;
	at = s->reg[insn->base];
	at.off += insn->disp;
	return at.sym == UNKNOWN ? unknown : at;
}

/*
 * An adapter moves the end of the frame. From here on the frame is the
 * callee's.
 */
static void new_frame(struct state *s)
{
	memset(s->reg, 0, sizeof(s->reg));
	s->fp_at = s->cfa_at = unknown;
	at_call(s);
}

static void push_word(struct flow *f, struct state *s, uint32_t at,
		      struct value value)
{
	bool known = s->reg[RSP].sym == CFA;

	if (is(value, RETURN) && !known && is_adapter(f->code) &&
	    is(s->reg[RBP], OLD_FP)) {
		new_frame(s);
		return;
	}
	if (s->reg[RSP].sym == UNKNOWN)
		s->reg[RSP] = anchor(at);
	else
		s->reg[RSP].off -= 8;
	store_value(s, s->reg[RSP], value);
}

static struct value pop_value(struct state *s)
{
	struct value value = load_value(s, s->reg[RSP]), sp = s->reg[RSP];

	if (sp.sym != UNKNOWN) {
		sp.off += 8;
		move_sp(s, sp);
	}
	return value;
}

static void leave_frame(struct state *s)
{
	move_sp(s, s->reg[RBP]);
	s->reg[RBP] = pop_value(s);
}

/* Callees preserve stack and frame pointer. C preserves more, Java does not. */
static void apply_call(struct state *s)
{
	int i;

	for (i = 0; i < NR_REGS; i++)
		if (i != RSP && i != RBP)
			s->reg[i] = unknown;
}

/*
 * and of the stack pointer. Frames of compiled code are aligned, and so is the
 * code that they jump to. Elsewhere the distance to the CFA is lost.
 */
static struct value align(const struct flow *f, const struct state *s,
			  const struct insn *insn, uint32_t at)
{
	const struct flow_code *code = f->code;
	struct value sp = s->reg[RSP];

	if (code->nr_entries && code->entries[0].kind == FLOW_JUMPED_RDX &&
	    insn->imm == -16 && sp.sym == CFA && sp.off % 16 == 0)
		return sp;
	return anchor(at);
}

/* add, sub or and with a constant; else false. */
static bool apply_add(const struct flow *f, struct state *s,
		      const struct insn *insn, uint32_t at)
{
	struct value value;

	if (insn->map || (insn->op != 0x81 && insn->op != 0x83) ||
	    insn->mod != 3 || !insn->wide)
		return false;
	value = s->reg[insn->rm];
	switch (insn->reg & 7) {
	case 0:
		value.off += insn->imm;
		break;
	case 5:
		value.off -= insn->imm;
		break;
	case 4:
		value = insn->rm == RSP ? align(f, s, insn, at) : unknown;
		break;
	case 7:
		return true;
	default:
		return false;
	}
	set_reg(s, insn->rm, value.sym == UNKNOWN ? unknown : value);
	return true;
}

/* 64-bit mov or lea; else false. */
static bool apply_move(struct state *s, const struct insn *insn)
{
	if (insn->map || !insn->wide || !insn->has_modrm)
		return false;
	switch (insn->op) {
	case 0x8b:
		set_reg(s, insn->reg, insn->mod == 3 ? s->reg[insn->rm] :
			load_value(s, address(s, insn)));
		return true;
	case 0x89:
		if (insn->mod == 3)
			set_reg(s, insn->rm, s->reg[insn->reg]);
		else
			store_by_mov(s, address(s, insn),
				     s->reg[insn->reg]);
		return true;
	case 0x8d:
		set_reg(s, insn->reg, address(s, insn));
		return true;
	case 0xc7:
		if (insn->mod == 3)
			return false;
		store_value(s, address(s, insn), unknown);
		return true;
	}
	return false;
}

static bool apply_push_or_pop(struct flow *f, struct state *s,
			      const struct insn *insn, uint32_t at)
{
	struct value value;

	if (insn->map)
		return false;
	if ((insn->op & 0xf8) == 0x50) {
		push_word(f, s, at, s->reg[insn->opreg]);
	} else if ((insn->op & 0xf8) == 0x58) {
		value = pop_value(s);
		set_reg(s, insn->opreg, value);
	} else if (insn->op == 0x68 || insn->op == 0x6a || insn->op == 0x9c) {
		push_word(f, s, at, unknown);
	} else if (insn->op == 0xff && (insn->reg & 7) == 6) {
		push_word(f, s, at, insn->mod == 3 ? s->reg[insn->rm] :
			  load_value(s, address(s, insn)));
	} else if (insn->op == 0x8f) {
		value = pop_value(s);
		if (insn->mod == 3)
			set_reg(s, insn->rm, value);
		else
			store_value(s, address(s, insn), value);
	} else if (insn->op == 0x9d) {
		pop_value(s);
	} else if (insn->op == 0xc9) {
		leave_frame(s);
	} else {
		return false;
	}
	return true;
}

static void apply_insn(struct flow *f, struct state *s, const struct insn *insn,
		       uint32_t at)
{
	uint32_t changed;

	if (apply_push_or_pop(f, s, insn, at) || apply_add(f, s, insn, at) ||
	    apply_move(s, insn))
		return;
	for (changed = sfg_insn_changes(insn); changed; changed &= changed - 1)
		s->reg[__builtin_ctz(changed)] = unknown;
}

/* ---- Where it goes --------------------------------------------------- */

static bool is_end(const struct insn *insn)
{
	if (insn->map == INSN_MAP_0F)
		return insn->op == 0x0b;
	if (insn->map)
		return false;
	switch (insn->op) {
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcc: case 0xcf:
	case 0xf4:
		return true;
	case 0xff:
		return (insn->reg & 6) == 4;
	}
	return false;
}

static bool is_direct(const struct insn *insn, uint8_t one, uint8_t other)
{
	return !insn->map && (insn->op == one || insn->op == other);
}

/* A call of the next instruction pushes its address. */
static void follow_call(struct flow *f, struct state *s,
			const struct insn *insn, uint32_t next)
{
	struct state callee = *s;

	if (insn->op == 0xe8 && !insn->imm) {
		push_word(f, s, next, unknown);
		reach_block(f, next, s);
		return;
	}
	if (insn->op == 0xe8) {
		if (f->code->inner_calls)
			push_word(f, &callee, next, unknown);
		else
			begin_flow(f->code, FLOW_CALLED, &callee);
		reach_block(f, next + insn->imm, &callee);
	}
	apply_call(s);
	reach_block(f, next, s);
}

static void follow_block(struct flow *f, uint32_t at)
{
	struct state s = *state_at(f, at), other;
	struct insn insn;
	int64_t next;

	if (!sfg_insn_decode(f->code->text + at, f->code->size - at, &insn))
		return;
	next = (int64_t)at + insn.length;
	memset(f->inside + at + 1, 1, insn.length - 1);
	if (sfg_insn_jumps_if(&insn)) {
		other = s;
		reach_block(f, next + insn.imm, &other);
		reach_next(f, next, &s, at);
	} else if (is_direct(&insn, 0xe9, 0xeb)) {
		reach_block(f, next + insn.imm, &s);
	} else if (is_direct(&insn, 0xe8, 0xe8) ||
		   (is_direct(&insn, 0xff, 0xff) && (insn.reg & 6) == 2)) {
		follow_call(f, &s, &insn, next);
	} else if (!is_end(&insn)) {
		apply_insn(f, &s, &insn, at);
		reach_next(f, next, &s, at);
	}
}

static void follow_all(struct flow *f)
{
	while (f->nr_todo && !f->no_memory && !f->again)
		follow_block(f, f->todo[--f->nr_todo]);
}

static void enter(struct flow *f, uint32_t at, enum flow_kind kind)
{
	struct state state;

	if (!begin_flow(f->code, kind, &state))
		return;
	reach_block(f, at, &state);
	follow_all(f);
}

/* mov $imm64, %rbx; jmp: calls an interpreted method. */
static bool is_static_stub(const uint8_t *text, size_t room)
{
	return room >= 15 && text[0] == 0x48 && text[1] == 0xbb &&
	       text[10] == 0xe9;
}

static bool is_nop_insn(const struct insn *insn)
{
	return insn->map == INSN_MAP_0F ? insn->op == 0x1f :
	       !insn->map && insn->op == 0x90 && !insn->opreg;
}

/* Bytes of padding before a stub. */
static uint32_t flow_padding(const struct flow_code *code, uint32_t from)
{
	uint32_t at = from;
	struct insn insn;

	while (sfg_insn_decode(code->text + at, code->size - at, &insn) &&
	       is_nop_insn(&insn))
		at += insn.length;
	return is_static_stub(code->text + at, code->size - at) ? at - from : 0;
}

static bool is_left(const struct flow *f, uint32_t at)
{
	return !f->state_of[at] && !f->inside[at] && !f->no_memory && !f->again;
}

/* Stubs first: the code before a stub does not fall through to it. */
static void follow_stubs(struct flow *f)
{
	const struct flow_code *code = f->code;
	uint32_t at;

	for (at = code->stubs_from; at < code->size; at++)
		if (is_left(f, at) &&
		    is_static_stub(code->text + at, code->size - at))
			enter(f, at, FLOW_CALLED);
}

static void follow_rest(struct flow *f)
{
	const struct flow_code *code = f->code;
	uint32_t at;

	for (at = code->rest_from; at < code->size; at++) {
		if (!is_left(f, at))
			continue;
		if (at >= code->stubs_from)
			at += flow_padding(code, at);
		if (is_left(f, at))
			enter(f, at, code->rest);
	}
}

/* ---- Rows ------------------------------------------------------------ */

static const uint8_t dwarf[NR_REGS] = {
	0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15,
};

/*
 * Prefer frame and stack pointer: other registers are unknown in callers. The
 * frame pointer needs fewer rows.
 */
static const uint8_t order[NR_REGS] = {
	RBP, RSP, R13, RBX, RAX, RCX, RDX, RSI, RDI, 8, 9, 10, 11, R12, R14,
	R15,
};

static int find_reg(const struct state *s, uint32_t sym)
{
	int i;

	for (i = 0; i < NR_REGS; i++)
		if (s->reg[order[i]].sym == sym)
			return order[i];
	return -1;
}

static struct sfjit_rule from_reg(const struct state *s, int reg, int32_t off,
				  uint8_t deref)
{
	return (struct sfjit_rule){
		.offset = off - s->reg[reg].off, .reg = dwarf[reg],
		.base = SFJIT_BASE_REG, .deref = deref,
	};
}

/* Stored at an address relative to stack or frame pointer. */
static bool stored(const struct state *s, struct value at,
		   struct sfjit_rule *rule)
{
	int reg;

	if (at.sym == CFA) {
		*rule = (struct sfjit_rule)SFJIT_SAVED(at.off);
		return true;
	}
	reg = at.sym == UNKNOWN ? -1 : find_reg(s, at.sym);
	if (reg != RSP && reg != RBP)
		return false;
	*rule = from_reg(s, reg, at.off, 1);
	return true;
}

/*
 * Rows with the CFA at the stack pointer are refused, as the return address
 * would be below it. Here a register holds that, and the CFA may be in another
 * one.
 */
static int find_cfa_reg(const struct state *s)
{
	struct state other = *s;
	int reg = find_reg(s, CFA), second;

	if (reg != RSP || s->reg[RSP].off)
		return reg;
	other.reg[RSP] = unknown;
	second = find_reg(&other, CFA);
	return second < 0 ? reg : second;
}

static bool find_cfa_rule(const struct state *s, struct sfjit_rule *rule)
{
	int reg = find_cfa_reg(s);

	if (reg != RSP && reg != RBP && s->cfa_at.sym != CFA &&
	    stored(s, s->cfa_at, rule))
		return true;
	if (reg < 0)
		return false;
	*rule = from_reg(s, reg, 0, 0);
	return true;
}

static bool find_ra_rule(const struct state *s, struct sfjit_rule *rule)
{
	int reg;

	if (s->ra_at.sym == CFA && s->ra_at.off == -8)
		return true;
	if (stored(s, s->ra_at, rule))
		return true;
	reg = find_reg(s, RETURN);
	if (reg < 0)
		return false;
	*rule = from_reg(s, reg, 0, 0);
	return true;
}

static bool find_fp_rule(const struct state *s, struct sfjit_rule *rule)
{
	int reg;

	/* Prefer the slot: it is valid for more instructions. */
	if (stored(s, s->fp_at, rule))
		return true;
	if (is(s->reg[RBP], OLD_FP))
		return true;
	reg = find_reg(s, OLD_FP);
	if (reg < 0)
		return false;
	*rule = from_reg(s, reg, 0, 0);
	return true;
}

static struct sfjit_row make_flow_row(const struct state *s, uint32_t at)
{
	struct sfjit_row row = { .start = at };
	struct sfjit_row none = row;

	return s && find_cfa_rule(s, &row.cfa) && find_ra_rule(s, &row.ra) &&
	       find_fp_rule(s, &row.fp) ? row : none;
}

static bool same_rules(const struct sfjit_row *a, const struct sfjit_row *b)
{
	return !memcmp(&a->cfa, &b->cfa, sizeof(a->cfa)) &&
	       !memcmp(&a->ra, &b->ra, sizeof(a->ra)) &&
	       !memcmp(&a->fp, &b->fp, sizeof(a->fp));
}

/* The bytes before are the end of code that does not return. */
static void extend_returned_to(struct flow *f)
{
	uint32_t at = f->code->returned_to;

	if (at && at < f->code->size)
		f->state_of[at - 1] = f->state_of[at];
}

static void add_flow_row(struct flow *f, struct flow_rows *rows, size_t *max,
			 uint32_t at)
{
	struct sfjit_row row = make_flow_row(f->state_of[at] ?
					     state_at(f, at) : NULL,
					     at ? at + f->code->lead : 0);

	if (rows->nr && same_rules(&rows->rows[rows->nr - 1], &row))
		return;
	if (grow_flow(f, &rows->rows, max, rows->nr, sizeof(row)))
		rows->rows[rows->nr++] = row;
}

static void collect_flow_rows(struct flow *f, struct flow_rows *rows)
{
	uint32_t at, last = 0;
	size_t max = 0;

	for (at = 0; at < f->code->size && !f->no_memory; at++) {
		if (f->inside[at] && !f->state_of[at])
			continue;
		if (!at || f->state_of[at] != f->state_of[last])
			add_flow_row(f, rows, &max, at);
		last = at;
	}
}

static int flow_init(struct flow *f, const struct flow_code *code)
{
	f->code = code;
	f->state_of = calloc(code->size, sizeof(*f->state_of));
	/* The last instruction may end after the code. */
	f->inside = calloc(code->size + 16, 1);
	f->lost = calloc(code->size, 1);
	return f->state_of && f->inside && f->lost ? 0 : -ENOMEM;
}

static void flow_free(struct flow *f)
{
	free(f->state_of);
	free(f->inside);
	free(f->lost);
	free(f->states);
	free(f->todo);
}

static void follow_entries(struct flow *f)
{
	const struct flow_code *code = f->code;
	size_t i;

	memset(f->state_of, 0, code->size * sizeof(*f->state_of));
	memset(f->inside, 0, code->size);
	f->nr_states = f->nr_todo = 0;
	f->again = false;
	for (i = 0; i < code->nr_entries; i++)
		enter(f, code->entries[i].at, code->entries[i].kind);
	if (code->rest != FLOW_NOTHING) {
		follow_stubs(f);
		follow_rest(f);
	}
}

int flow_rows(const struct flow_code *code, struct flow_rows *rows)
{
	struct flow f = { };
	int ret = flow_init(&f, code);

	memset(rows, 0, sizeof(*rows));
	if (!ret) {
		do {
			follow_entries(&f);
			f.rounds++;
		} while (f.again && !f.no_memory);
		extend_returned_to(&f);
		collect_flow_rows(&f, rows);
		ret = f.no_memory ? -ENOMEM : 0;
	}
	if (ret) {
		free(rows->rows);
		memset(rows, 0, sizeof(*rows));
	}
	flow_free(&f);
	return ret;
}
