// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Finds the row of one address from the instructions near it: for code without
 * CFI that is too long, or too unlike a compiler's, for code_flow.c.
 *
 * If code executes leave, or the same in two instructions, before anything else
 * writes the frame pointer, then the frame pointer already points to its frame:
 * the word there is the caller's, the next one the return address. How the
 * frame was made does not matter.
 *
 * Otherwise the function may not have made its frame yet. Find its entry by the
 * padding before it, and follow the stack pointer from there, up to calls.
 */
#include <stdlib.h>

#include "code_facts.h"

#define MAX_INSNS	2048	/* visited at most */
#define MAX_WAYS	64	/* branches to visit */
#define MAX_BACK	4096	/* bytes to the entry */
#define ENTRY_ALIGN	32	/* V8 aligns to 64, Go to 32 */

/*
 * The stack pointer is @sp above the frame pointer or, from an entry, above the
 * CFA. The frame pointer is unchanged.
 */
struct way {
	size_t at;
	bool knows_sp;
	int64_t sp;
};

struct search {
	const struct code_machine *m;
	const uint8_t *code;
	size_t size;
	uint8_t *seen;		/* a bit for each byte */
	struct way waiting[MAX_WAYS];
	unsigned int nr_waiting;
	bool leaves;		/* one path executes leave */

	/* From an entry. */
	bool from_entry;
	size_t goal;
	bool found;
	int64_t sp;		/* at the goal */
};

enum verdict { GOES_ON, ENDS, LEAVES, CONTRADICTS };

/* Whether it writes the caller's frame pointer or the return address above. */
static bool hits_record(const struct search *s, const struct way *way, int base,
			int64_t disp)
{
	if (base == s->m->sp && way->knows_sp)
		disp += way->sp;
	else if (base != s->m->fp || s->from_entry)
		return false;
	return s->from_entry ? disp > -16 && disp < 0 : disp > -8 && disp < 16;
}

static void set_sp(const struct search *s, struct way *way,
		   const struct code_op *op)
{
	if (op->src == s->m->fp) {
		way->knows_sp = true;
		way->sp = op->imm;
	} else if (op->src == s->m->sp) {
		way->sp += op->imm;
	} else {
		way->knows_sp = false;
	}
}

static enum verdict load_place(const struct search *s, struct way *way,
			       const struct code_op *op)
{
	if (op->dst == s->m->sp) {
		way->knows_sp = false;
		/* to another frame, as longjmp() goes */
		return op->src == s->m->sp || op->src == s->m->fp ? GOES_ON :
								    ENDS;
	}
	if (op->dst != s->m->fp)
		return GOES_ON;
	return op->src == s->m->sp && way->knows_sp && way->sp + op->imm == 0 ?
	       LEAVES : CONTRADICTS;
}

static enum verdict follow_op(const struct search *s, struct way *way,
			      const struct code_op *op)
{
	switch (op->kind) {
	case CODE_SET:
		if (op->dst == s->m->sp)
			set_sp(s, way, op);
		return op->dst == s->m->fp ? CONTRADICTS : GOES_ON;
	case CODE_LOAD:
		return load_place(s, way, op);
	case CODE_STORE:
		return hits_record(s, way, op->dst, op->imm) ? CONTRADICTS :
							       GOES_ON;
	case CODE_CALL:
	case CODE_CLOBBER:
		if (op->mask >> s->m->sp & 1)
			way->knows_sp = false;
		return op->mask >> s->m->fp & 1 ? CONTRADICTS : GOES_ON;
	case CODE_LOSE:
		return ENDS;
	}
	return GOES_ON;
}

/* Drops a path if there is no room. */
static void wait(struct search *s, const struct way *way, int64_t at)
{
	if (at < 0 || s->nr_waiting == MAX_WAYS)
		return;
	s->waiting[s->nr_waiting] = *way;
	s->waiting[s->nr_waiting++].at = at;
}

/* A call followed by padding does not return. */
static bool returns(const struct search *s, size_t at)
{
	struct code_insn next;

	return !s->m->decode(s->code, s->size, at, &next) || !next.pads;
}

static enum verdict go_on(struct search *s, struct way *way,
			  const struct code_insn *insn)
{
	way->at += insn->length;
	switch (insn->next) {
	case CODE_JUMPS_IF:
		wait(s, way, insn->to);
		return GOES_ON;
	case CODE_FALLS:
		return GOES_ON;
	case CODE_CALLS:
		return returns(s, way->at) ? GOES_ON : ENDS;
	case CODE_JUMPS:
		way->at = insn->to < 0 ? s->size : (size_t)insn->to;
		return GOES_ON;
	case CODE_RETURNS:
	case CODE_TAIL:
		return CONTRADICTS;
	}
	return ENDS;
}

static enum verdict follow_insn(struct search *s, struct way *way)
{
	enum verdict verdict = GOES_ON;
	struct code_insn insn;
	unsigned int i;

	if (way->at >= s->size || s->seen[way->at / 8] >> way->at % 8 & 1 ||
	    !s->m->decode(s->code, s->size, way->at, &insn))
		return ENDS;
	s->seen[way->at / 8] |= 1u << way->at % 8;
	for (i = 0; i < insn.nr_ops && verdict == GOES_ON; i++)
		verdict = follow_op(s, way, &insn.ops[i]);
	return verdict == GOES_ON ? go_on(s, way, &insn) : verdict;
}

/* All visited paths must agree. */
static bool search(struct search *s)
{
	unsigned int left = MAX_INSNS;
	enum verdict verdict;
	struct way way;

	while (s->nr_waiting) {
		way = s->waiting[--s->nr_waiting];
		do
			verdict = follow_insn(s, &way);
		while (verdict == GOES_ON && --left);
		if (verdict == CONTRADICTS)
			return false;
		s->leaves |= verdict == LEAVES;
		if (!left)
			break;
	}
	return s->leaves;
}

static bool leaves_by_fp(struct search *s, size_t at, int64_t sp)
{
	s->waiting[0] = (struct way) { .at = at, .knows_sp = true, .sp = sp };
	s->nr_waiting = 1;
	return search(s);
}

/* ---- From the entry ---------------------------------------------------- */

static bool is_padding(const struct search *s, size_t at)
{
	struct code_insn insn;

	return s->m->decode(s->code, s->size, at, &insn) && insn.pads &&
	       insn.next == CODE_STOPS;
}

/* Traps fill gaps between functions, nops also gaps inside a function. */
static bool find_entry(const struct search *s, size_t *entry)
{
	size_t at = s->goal / ENTRY_ALIGN * ENTRY_ALIGN;

	for (; at >= 1 && s->goal - at <= MAX_BACK; at -= ENTRY_ALIGN)
		if (is_padding(s, at - 1) && !is_padding(s, at)) {
			*entry = at;
			return true;
		}
	return false;
}

/* false: another path reached this with another stack pointer */
static bool reach(struct search *s, const struct way *way)
{
	if (s->found && s->sp != way->sp)
		return false;
	s->found = true;
	s->sp = way->sp;
	return true;
}

static bool is_alive(const struct way *way)
{
	return way->knows_sp && way->sp <= -8 && way->sp % 8 == 0;
}

static enum verdict follow_to_goal(struct search *s, struct way *way)
{
	struct code_insn insn;

	if (!is_alive(way))
		return ENDS;
	if (way->at == s->goal)
		return reach(s, way) ? ENDS : CONTRADICTS;
	if (!s->m->decode(s->code, s->size, way->at, &insn) ||
	    insn.next == CODE_CALLS)
		return ENDS;
	/* paths that write the frame pointer have a frame */
	return follow_insn(s, way) == GOES_ON ? GOES_ON : ENDS;
}

static bool search_from(struct search *s, size_t entry)
{
	unsigned int left = MAX_INSNS;
	enum verdict verdict = ENDS;
	struct way way;

	s->waiting[0] = (struct way) { entry, true, -8 };
	s->nr_waiting = 1;
	while (s->nr_waiting && left && verdict != CONTRADICTS) {
		way = s->waiting[--s->nr_waiting];
		do
			verdict = follow_to_goal(s, &way);
		while (verdict == GOES_ON && --left);
	}
	return left && verdict != CONTRADICTS && s->found;
}

/* Finds the stack pointer of interrupted code that has no frame. */
static bool find_sp(struct search *s, size_t at)
{
	struct code_insn insn;
	size_t entry;

	s->from_entry = true;
	s->goal = at;
	s->sp = -8;
	if (s->m->decode(s->code, s->size, at, &insn) &&
	    insn.next == CODE_RETURNS)
		return true;
	memset(s->seen, 0, s->size / 8 + 1);
	return find_entry(s, &entry) && search_from(s, entry);
}

/* ---- Both -------------------------------------------------------------- */

static int find_code_row(struct search *s, size_t at, int64_t sp, bool called,
			 struct sfjit_row *row)
{
	memset(row, 0, sizeof(*row));
	row->fp = sfjit_rule_none();
	if (leaves_by_fp(s, at, sp)) {
		row->cfa = sfjit_rule_reg(s->m->fp, 16);
		row->fp = sfjit_rule_saved(-16);
	} else if (!called && find_sp(s, at)) {
		row->cfa = sfjit_rule_reg(s->m->sp, -s->sp);
	} else {
		return -ENOENT;
	}
	return 0;
}

int sfg_find_code_row(unsigned int abi, const struct sfg_image *code,
		      uint64_t addr, int64_t sp, bool called,
		      struct sfjit_row *row)
{
	struct search s = {
		.m = sfg_code_machine(abi), .code = code->data,
		.size = code->len,
	};
	int ret;

	if (!s.m)
		return -ENOTSUP;
	if (addr - code->addr >= code->len)
		return -ENOENT;
	s.seen = calloc(s.size / 8 + 1, 1);
	if (!s.seen)
		return -ENOMEM;
	ret = find_code_row(&s, addr - code->addr, sp, called, row);
	free(s.seen);
	return ret;
}
