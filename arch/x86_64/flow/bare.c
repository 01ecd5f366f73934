// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <string.h>

#include <bare.h>

#include <x86_insn.h>

#include "framed.h"

/* Leaves are found by libsframegen, which knows the instructions. */
const struct sfjit_row bare_rows[1];
const unsigned int bare_nr_rows;

void bare_decode(struct bare_step *steps, const uint8_t *text, uint32_t size)
{
}

static bool is_op(const struct insn *insn, uint8_t map, uint8_t op)
{
	return insn->map == map && insn->op == op;
}

static bool is_call(const struct insn *insn)
{
	return is_op(insn, 0, 0xe8) ||
	       (is_op(insn, 0, 0xff) && (insn->reg & 7) == 2);
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
		if (!sfg_insn_decode(text + at, size - at, &insn))
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
