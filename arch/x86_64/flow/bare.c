// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <string.h>

#include <bare.h>

#include "framed.h"
#include "insn.h"

const struct sfjit_row bare_rows[] = {
	{ 0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, SFJIT_NO_RULE },
};
const unsigned int bare_nr_rows = 1;

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

static void make_step(struct bare_step *step, const struct insn *insn,
		      uint32_t at, uint32_t size, bool tainted)
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
void bare_decode(struct bare_step *steps, const uint8_t *text, uint32_t size)
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

/* mov %rcx,%rsp */
static const uint8_t take_stack[] = { 0x48, 0x89, 0xcc };

#define DWARF_RCX	2

/* The row is that of the end of such a function; false from there to it. */
static bool is_end(const struct sfjit_row *row, const uint8_t *text,
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

static size_t find_resume(const struct sfjit_function *f, const uint8_t *text,
			  struct bare_range ranges[BARE_FALSE_MAX])
{
	uint32_t i, from;

	for (i = 1; i < f->nr_rows; i++)
		if (is_end(&f->rows[i], text, f->size, &from)) {
			ranges[0].start = from;
			ranges[0].end = f->rows[i].start;
			return 1;
		}
	return 0;
}

size_t bare_false(const struct sfjit_function *f, const uint8_t *text,
		  struct bare_range ranges[BARE_FALSE_MAX])
{
	return f->nr_rows == 1 ? framed_false(f, text, ranges) :
				 find_resume(f, text, ranges);
}

/* It is known. */
bool bare_signal(const uint8_t *text, uint32_t size)
{
	return false;
}

/* None is. */
void bare_correct(struct sfjit_row *rows, uint32_t nr)
{
}
