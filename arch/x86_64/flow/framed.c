// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * LuaJIT's interpreter is one function of 16 KiB, with one row: that of code
 * that has a frame. There are places in it where that is entered, left, or not
 * there: what returns has nothing but a return address on the stack.
 *
 * Code is looked at block by block: up to what does not go on with the next
 * instruction. A block that does not move the stack pointer is as the row says.
 */
#include <stdlib.h>

#include "framed.h"
#include <x86_insn.h>

#define WORD		8
#define DWARF_RBP	6
#define DWARF_RSP	7

/* Words that who jumps to a function may have pushed for it. */
#define PUSHED_BEFORE	3

/* Passes over the code; if more are needed the whole code is false. */
#define PASSES		64

/* The effect of an instruction on the pointer that the row starts from. */
enum effect {
	NOTHING,
	MOVES,			/* the stack pointer: by 'growth' */
	SETS,			/* from then on it may be as the row says */
	DROPS,			/* from then on it is not */
};

struct place {
	uint32_t at;
	uint32_t to;		/* where it jumps to, or NOWHERE */
	int32_t growth;
	uint8_t length;
	uint8_t effect;
	bool pushes, returns, calls;
	bool ends;		/* a block */
	bool is_false;
	bool frameless;		/* false, in a block that returns */
};

#define NOWHERE		UINT32_MAX

struct code {
	struct place *places;
	uint32_t nr, size;
	int32_t frame;		/* from the stack pointer to the CFA */
	bool by_rbp;
};

static bool is_op(const struct insn *insn, uint8_t op)
{
	return !insn->map && insn->op == op;
}

static bool is_push(const struct insn *insn)
{
	return !insn->map && ((insn->op & 0xf8) == 0x50 || insn->op == 0x68 ||
			      insn->op == 0x6a || insn->op == 0x9c ||
			      (insn->op == 0xff && (insn->reg & 7) == 6));
}

static bool is_pop(const struct insn *insn)
{
	return !insn->map && ((insn->op & 0xf8) == 0x58 || insn->op == 0x8f ||
			      insn->op == 0x9d);
}

static bool is_pop_of(const struct insn *insn, int reg)
{
	return !insn->map && (insn->op & 0xf8) == 0x58 && insn->opreg == reg;
}

/* add and sub of a constant, and lea. */
static bool is_added(const struct insn *insn, int32_t *growth)
{
	if (insn->map || !insn->wide)
		return false;
	if ((insn->op == 0x81 || insn->op == 0x83) && insn->mod == 3 &&
	    insn->rm == RSP &&
	    ((insn->reg & 7) == 0 || (insn->reg & 7) == 5)) {
		*growth = (insn->reg & 7) ? insn->imm : -insn->imm;
		return true;
	}
	if (insn->op == 0x8d && insn->reg == RSP && insn->base == RSP &&
	    insn->index == INSN_NO_REG) {
		*growth = -insn->disp;
		return true;
	}
	return false;
}

static void take_rsp(struct place *place, const struct insn *insn)
{
	place->pushes = is_push(insn);
	place->effect = MOVES;
	if (place->pushes)
		place->growth = WORD;
	else if (is_pop(insn) && !is_pop_of(insn, RSP))
		place->growth = -WORD;
	else if (!is_added(insn, &place->growth))
		place->effect = is_op(insn, 0xc8) || is_op(insn, 0xc9) ||
				is_pop_of(insn, RSP) ||
				sfg_insn_changes(insn) & 1u << RSP ? SETS : NOTHING;
}

static void take_rbp(struct place *place, const struct insn *insn)
{
	bool moved = is_op(insn, 0x89) && insn->mod == 3 && insn->wide;

	if (moved && insn->rm == RBP && insn->reg == RSP)
		place->effect = SETS;
	else if (is_op(insn, 0x8b) && insn->mod == 3 && insn->wide &&
		 insn->reg == RBP && insn->rm == RSP)
		place->effect = SETS;
	else if (is_op(insn, 0xc9) || is_pop_of(insn, RBP))
		place->effect = DROPS;
}

static bool is_end(const struct insn *insn)
{
	if (insn->map)
		return insn->map == INSN_MAP_0F && !insn->vex &&
		       insn->op == 0x0b;
	switch (insn->op) {
	case 0xc2: case 0xc3: case 0xcc: case 0xe9: case 0xeb: case 0xf4:
		return true;
	}
	return insn->op == 0xff && (insn->reg & 7) == 4;
}

static void take(struct code *code, const struct insn *insn, uint32_t at)
{
	struct place *place = &code->places[code->nr++];
	int64_t to;

	*place = (struct place) {
		.at = at, .length = insn->length, .to = NOWHERE,
		.returns = is_op(insn, 0xc3) || is_op(insn, 0xc2),
		.calls = is_op(insn, 0xe8), .ends = is_end(insn),
	};
	if (sfg_insn_jumps_if(insn) || place->calls || is_op(insn, 0xe9) ||
	    is_op(insn, 0xeb)) {
		to = (int64_t)at + insn->length + insn->imm;
		if (to >= 0 && to < code->size)
			place->to = to;
	}
	if (code->by_rbp)
		take_rbp(place, insn);
	else
		take_rsp(place, insn);
}

static struct place *place_at(const struct code *code, uint32_t at)
{
	uint32_t lo = 0, hi = code->nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (code->places[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < code->nr && code->places[lo].at == at ?
	       &code->places[lo] : NULL;
}

/* A call target begins a block: a call that does not return may precede it. */
static void split(struct code *code)
{
	struct place *called;
	uint32_t i;

	for (i = 0; i < code->nr; i++) {
		if (!code->places[i].calls)
			continue;
		called = place_at(code, code->places[i].to);
		code->places[i].to = NOWHERE;
		if (called && called > code->places)
			called[-1].ends = true;
	}
}

/* The effect of the last instruction does not matter to the function. */
static void decode(struct code *code, const uint8_t *text)
{
	struct insn insn;
	uint32_t at;

	for (at = 0; at < code->size; at += insn.length) {
		if (!sfg_insn_decode(text + at, code->size - at, &insn))
			break;
		take(code, &insn, at);
	}
	if (code->nr)
		code->places[code->nr - 1].effect = NOTHING;
	split(code);
}

static void mark(struct code *code, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		code->places[from].is_false = true;
}

/* A block that is as the row says where its last instruction begins. */
static void judge_back(struct code *code, uint32_t first, uint32_t end)
{
	int64_t grown = 0;
	uint32_t i;

	for (i = end - 1; i > first; i--) {
		const struct place *before = &code->places[i - 1];

		if (before->effect == SETS) {
			mark(code, first, i);
			return;
		}
		grown += before->growth;
		code->places[i - 1].is_false |= grown;
	}
}

/*
 * A return finds its address on top of the stack. Back from there: how much of
 * the block is as the row says?
 */
static uint32_t unreturned(struct code *code, uint32_t first, uint32_t end)
{
	int64_t frame = WORD;
	uint32_t i = end - 1;

	for (; i > first; i--) {
		const struct place *before = &code->places[i - 1];

		if (before->effect == SETS)
			break;
		frame -= before->growth;
		if (frame == code->frame || frame < WORD)
			break;
	}
	mark(code, i, end);
	if (i > first)
		return i;
	for (i = first; i < end; i++)
		code->places[i].frameless = true;
	return first;
}

/* The instructions that build the frame, if the block begins with them. */
static uint32_t prologue(const struct code *code, uint32_t first, uint32_t end)
{
	int64_t grown = 0, before;
	uint32_t i;

	for (i = first; i < end && code->places[first].pushes; i++) {
		const struct place *place = &code->places[i];

		if (place->effect == SETS || place->growth < 0)
			return 0;
		grown += place->growth;
		if (!place->growth || place->pushes)
			continue;
		before = code->frame - grown - WORD;
		return before >= 0 && before <= PUSHED_BEFORE * WORD &&
		       !(before % WORD) ? i + 1 - first : 0;
	}
	return 0;
}

/* Where the stack pointer is moved until it is moved back. */
static void unbalanced(struct code *code, uint32_t first, uint32_t end)
{
	uint32_t i, moved = first, start = first;
	int64_t grown = 0;

	for (i = first; i < end; i++) {
		const struct place *place = &code->places[i];

		if (place->effect == SETS) {
			mark(code, start, i + 1);
			grown = 0;
			start = i + 1;
		} else if (place->effect == MOVES) {
			moved = grown ? moved : i + 1;
			grown += place->growth;
			if (!grown)
				mark(code, moved, i + 1);
		}
	}
	if (!grown)
		return;
	/* A block that begins so may be one that is entered without a frame. */
	mark(code, moved == start + 1 ? start : moved, end);
}

static void judge_rsp(struct code *code, uint32_t first, uint32_t end)
{
	uint32_t n;

	if (code->places[end - 1].returns) {
		end = unreturned(code, first, end);
		if (first < end)
			judge_back(code, first, end);
		return;
	}
	n = prologue(code, first, end);
	mark(code, first, first + n);
	unbalanced(code, first + n, end);
}

static void judge_rbp(struct code *code, uint32_t first, uint32_t end)
{
	uint32_t i;

	for (i = first; i < end; i++) {
		if (code->places[i].effect == SETS)
			mark(code, first, i + 1);
		if (code->places[i].effect == DROPS)
			mark(code, i + 1, end);
	}
}

/* The first from there on that is the end of a block. */
static uint32_t block_end(const struct code *code, uint32_t i)
{
	while (i < code->nr && !code->places[i].ends)
		i++;
	return i < code->nr ? i + 1 : i;
}

/* A block that jumps to one without a frame, or comes from there, has none. */
static bool spread_block(struct code *code, uint32_t first, uint32_t end)
{
	struct place *to;
	bool changed = false;
	uint32_t i, j;

	for (i = first; i < end; i++) {
		to = place_at(code, code->places[i].to);
		if (!to || to->frameless == code->places[i].frameless)
			continue;
		j = to->frameless ? first : to - code->places;
		for (; j < code->nr && !code->places[j].frameless; j++) {
			code->places[j].frameless = true;
			code->places[j].is_false = true;
			changed = true;
			if (code->places[j].ends)
				break;
		}
	}
	return changed;
}

static bool spread(struct code *code)
{
	bool changed = false;
	uint32_t i, end;

	for (i = 0; i < code->nr; i = end) {
		end = block_end(code, i);
		changed |= spread_block(code, i, end);
	}
	return changed;
}

static void find_false(struct code *code)
{
	uint32_t i, end;

	for (i = 0; i < code->nr; i = end) {
		end = block_end(code, i);
		if (code->by_rbp)
			judge_rbp(code, i, end);
		else
			judge_rsp(code, i, end);
	}
	for (i = 0; i < PASSES; i++)
		if (!spread(code))
			return;
	mark(code, 0, code->nr);
}

static size_t list(const struct code *code,
		   struct bare_range ranges[BARE_FALSE_MAX])
{
	const struct place *p = code->places;
	size_t n = 0;

	for (; p < code->places + code->nr; p++) {
		if (!p->is_false)
			continue;
		if (n && ranges[n - 1].end == p->at) {
			ranges[n - 1].end += p->length;
			continue;
		}
		if (n == BARE_FALSE_MAX) {
			ranges[0] = (struct bare_range) { .end = code->size };
			return 1;
		}
		ranges[n++] = (struct bare_range) {
			.start = p->at, .end = p->at + p->length,
		};
	}
	return n;
}

static bool is_framed(const struct sfjit_function *f)
{
	const struct sfjit_rule *cfa = &f->rows->cfa;

	if (f->nr_rows != 1 || cfa->base != SFJIT_BASE_REG || cfa->deref)
		return false;
	return cfa->reg == DWARF_RSP ? cfa->offset > WORD :
	       cfa->reg == DWARF_RBP && cfa->offset == 2 * WORD;
}

size_t framed_false(const struct sfjit_function *f, const uint8_t *text,
		    struct bare_range ranges[BARE_FALSE_MAX])
{
	struct code code = { .size = f->size };
	size_t n;

	if (!is_framed(f) || !f->size)
		return 0;
	code.frame = f->rows->cfa.offset;
	code.by_rbp = f->rows->cfa.reg == DWARF_RBP;
	code.places = malloc(f->size * sizeof(*code.places));
	if (!code.places) {
		ranges[0] = (struct bare_range) { .end = f->size };
		return 1;
	}
	decode(&code, text);
	find_false(&code);
	n = list(&code, ranges);
	free(code.places);
	return n;
}
