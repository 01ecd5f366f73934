// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Instructions are decoded one behind the other. A processor that comes to one
 * of these goes on with the same ones, so what is found is right for each that
 * it comes to. Behind data the first ones may begin at a wrong byte: these it
 * never comes to, and what is found of them is nothing of the real ones there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "insn.h"

/* Passes over the code; where more are needed nothing is found. */
#define PASSES		64

/* @to: where a jump goes, or the code's size; @length 0: no instruction */
struct step {
	uint32_t	to;
	uint8_t		length;
	bool		falls;		/* to the next one */
	bool		jumps;
	bool		leaf;
	bool		ends;		/* a way leads to a return */
};

static bool is_op(const struct insn *insn, uint8_t map, uint8_t op)
{
	return insn->map == map && insn->op == op;
}

static bool is_return(const struct insn *insn)
{
	return is_op(insn, 0, 0xc3);
}

static bool is_jump(const struct insn *insn)
{
	return is_op(insn, 0, 0xe9) || is_op(insn, 0, 0xeb);
}

static bool is_push(const struct insn *insn)
{
	if (insn->map == INSN_MAP_0F)
		return !insn->vex && (insn->op == 0xa0 || insn->op == 0xa8);
	return !insn->map && ((insn->op & 0xf8) == 0x50 || insn->op == 0x68 ||
			      insn->op == 0x6a || insn->op == 0x9c ||
			      (insn->op == 0xff && (insn->reg & 7) == 6));
}

static bool is_pop(const struct insn *insn)
{
	if (insn->map == INSN_MAP_0F)
		return !insn->vex && (insn->op == 0xa1 || insn->op == 0xa9);
	return !insn->map && ((insn->op & 0xf8) == 0x58 || insn->op == 0x8f ||
			      insn->op == 0x9d || insn->op == 0xc9);
}

static bool is_call(const struct insn *insn)
{
	return is_op(insn, 0, 0xe8) ||
	       (is_op(insn, 0, 0xff) && (insn->reg & 7) == 2);
}

/* The return address is at the stack pointer: it may be another one then. */
static bool is_at_return_address(const struct insn *insn)
{
	return insn->has_modrm && insn->mod != 3 && insn->base == RSP &&
	       insn->disp > -8 && insn->disp < 8;
}

/* Behind a system call there may be another stack: that of a signal. */
static bool is_other_transfer(const struct insn *insn)
{
	if (insn->map == INSN_MAP_0F)
		return !insn->vex && (insn->op == 0x05 || insn->op == 0x07 ||
				      insn->op == 0x0b || insn->op == 0x34 ||
				      insn->op == 0x35 || insn->op == 0xaa);
	if (insn->map)
		return false;
	if (insn->op == 0xff)
		return (insn->reg & 7) > 1;
	switch (insn->op) {
	case 0xc2: case 0xc8: case 0xca: case 0xcb: case 0xcc: case 0xcd:
	case 0xcf: case 0xe8: case 0xf1: case 0xf4:
		return true;
	}
	return false;
}

static bool changes_frame(const struct insn *insn)
{
	return insn_changes(insn) & (1u << RSP | 1u << RBP);
}

/*
 * What is pushed, or stored at the stack pointer, may be what a return takes
 * for its address: until the stack pointer is moved back, there is no leaf.
 */
static bool is_tainted(const struct insn *insn, bool tainted)
{
	if (is_push(insn) || is_call(insn) || is_at_return_address(insn))
		return true;
	if (is_pop(insn) || insn_changes(insn) & 1u << RSP ||
	    is_return(insn) || is_jump(insn))
		return false;
	return tainted;
}

static void make_step(struct step *step, const struct insn *insn, uint32_t at,
		      uint32_t size, bool tainted)
{
	int64_t to = (int64_t)at + insn->length + insn->imm;

	step->length = insn->length;
	step->ends = is_return(insn);
	step->jumps = is_jump(insn) || insn_jumps_if(insn);
	step->falls = !is_return(insn) && !is_jump(insn);
	step->to = step->jumps && to >= 0 && to < size ? to : size;
	step->leaf = !tainted && !is_push(insn) && !is_pop(insn) &&
		     !is_at_return_address(insn) &&
		     !is_other_transfer(insn) && !changes_frame(insn);
}

/* Up to what is no instruction: data, or code that is not known here. */
static void decode(struct step *steps, const uint8_t *text, uint32_t size)
{
	bool tainted = false;
	struct insn insn;
	uint32_t at;

	for (at = 0; at < size; at += insn.length) {
		if (!insn_decode(text + at, size - at, &insn))
			return;
		make_step(steps + at, &insn, at, size, tainted);
		tainted = is_tainted(&insn, tainted);
	}
}

/* Each step that it may lead to is one. steps[size] is none. */
static bool stays(const struct step *steps, uint32_t at)
{
	const struct step *s = steps + at;

	return (!s->falls || s[s->length].leaf) &&
	       (!s->jumps || steps[s->to].leaf);
}

static bool ends(const struct step *steps, uint32_t at)
{
	const struct step *s = steps + at;

	return (s->falls && s[s->length].ends) ||
	       (s->jumps && steps[s->to].ends);
}

/* Backwards, as most ways lead forwards; returns whether something changed. */
static bool narrow(struct step *steps, uint32_t size)
{
	bool changed = false;
	uint32_t at;

	for (at = size; at-- > 0; )
		if (steps[at].leaf && !stays(steps, at)) {
			steps[at].leaf = false;
			changed = true;
		}
	return changed;
}

static bool widen(struct step *steps, uint32_t size)
{
	bool changed = false;
	uint32_t at;

	for (at = size; at-- > 0; )
		if (steps[at].leaf && !steps[at].ends && ends(steps, at)) {
			steps[at].ends = true;
			changed = true;
		}
	return changed;
}

static bool settle(struct step *steps, uint32_t size,
		   bool (*pass)(struct step *steps, uint32_t size))
{
	unsigned int i;

	for (i = 0; i < PASSES; i++)
		if (!pass(steps, size))
			return true;
	return false;
}

static size_t list(const struct step *steps, uint32_t size,
		   struct bare_range *ranges)
{
	const struct step *s;
	uint32_t at;
	size_t n = 0;

	for (at = 0; at < size && steps[at].length; at += s->length) {
		s = steps + at;
		if (!s->leaf || !s->ends)
			continue;
		if (!n || ranges[n - 1].end != at)
			ranges[n++].start = at;
		ranges[n - 1].end = at + s->length;
	}
	return n;
}

int bare_leaves(const uint8_t *text, uint32_t size, struct bare_range **ranges,
		size_t *nr)
{
	struct step *steps = calloc((size_t)size + 1, sizeof(*steps));
	/* A leaf and what is none have a byte at least. */
	struct bare_range *found = calloc(size / 2 + 1, sizeof(*found));

	*nr = 0;
	*ranges = found;
	if (!steps || !found) {
		free(steps);
		free(found);
		return -ENOMEM;
	}
	decode(steps, text, size);
	if (settle(steps, size, narrow) && settle(steps, size, widen))
		*nr = list(steps, size, found);
	free(steps);
	return 0;
}

/* mov %rcx,%rsp */
static const uint8_t take_stack[] = { 0x48, 0x89, 0xcc };

#define DWARF_RCX	2

bool bare_resumes(const struct sfjit_row *row, const uint8_t *text,
		  uint32_t size, uint32_t *false_from)
{
	uint32_t at, last = 0, before = 0;
	struct insn insn;

	if (row->cfa.base != SFJIT_BASE_REG || row->cfa.reg != DWARF_RCX ||
	    row->cfa.deref || row->cfa.offset != 8 || row->start > size ||
	    size - row->start < sizeof(take_stack) ||
	    memcmp(text + row->start, take_stack, sizeof(take_stack)))
		return false;
	for (at = 0; at < row->start; at += insn.length) {
		if (!insn_decode(text + at, size - at, &insn))
			return false;
		if (!is_call(&insn))
			continue;
		before = last;
		last = at;
	}
	*false_from = before;
	return at == row->start && before;
}
