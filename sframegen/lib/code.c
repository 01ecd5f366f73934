// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Derives rows from the instructions of code without an FDE. */
#include <stdlib.h>

#include "code_facts.h"

/* Bounds memory, which is about 15 times this. */
#define MAX_PIECE	(4U << 20)

/*
 * Runtimes without CFI, such as Go's, keep frame pointers. In a stretch of at
 * least this length either three quarters of the code gets rows, or none does:
 * a stack ends where a table has no row.
 */
#define LONG_STRETCH	(64U << 10)

struct analysis {
	struct code_sink sink;
	const struct sfg_input *in;
	const struct sfg_arch *arch;
	const struct code_machine *m;
	struct sfg_builder *rows;	/* NULL: only count */
	uint64_t addr;		/* of the piece */
	uint64_t end;		/* of the last row */
	uint64_t bytes;
};

/* The sink is the first member. */
static int add_code_row(struct code_sink *sink, uint32_t start, uint32_t end,
			const struct code_facts *facts)
{
	struct analysis *a = (struct analysis *)sink;
	struct sfjit_row row;

	if (!sfg_facts_row(facts, a->m, &row) ||
	    !sfg_row_fits(a->arch, &row) ||
	    (row.cfa.addend && !(a->in->flags & SFG_INPUT_ADDENDS)))
		return 0;
	a->bytes += end - start;
	if (!a->rows)
		return 0;
	if (a->addr + start != a->end)
		sfg_close_range(a->rows);
	a->end = a->addr + end;
	return sfg_add_row(a->rows, a->addr + start, a->end, 0, &row);
}

static uint8_t *read_all_code(const struct sfg_input *in,
			      const struct sfg_image *range, uint64_t addr,
			      uint32_t size)
{
	uint8_t *code = malloc(size);
	const uint8_t *p;
	uint32_t at, n;

	for (at = 0; code && at < size; at += n) {
		n = size - at < SFG_READ_MAX ? size - at : SFG_READ_MAX;
		p = sfg_text_at(in, range, addr + at, n);
		if (p)
			memcpy(code + at, p, n);
		else
			memset(code + at, 0, n);
	}
	return code;
}

static int follow_instructions(struct analysis *a, const uint8_t *code,
			       uint32_t size)
{
	const struct sfg_input *in = a->in;
	const size_t first = sfg_find_address(in->entries, in->nr_entries,
					      a->addr);
	const struct code_text text = {
		.text = code, .size = size, .addr = a->addr,
		.entries = in->nr_entries ? in->entries + first : NULL,
		.nr_entries = sfg_find_address(in->entries, in->nr_entries,
					       a->addr + size) - first,
		.no_return = in->no_return,
		.nr_no_return = in->nr_no_return,
		.in = in,
	};

	return sfg_code_follow(a->m, &text, &a->sink);
}

static int analyse_piece(struct analysis *a, const struct sfg_image *range,
			 uint32_t size)
{
	uint8_t *code = read_all_code(a->in, range, a->addr, size);
	int ret = 0;

	if (!code)
		return -ENOMEM;
	if (sfg_padding(a->in->abi, code, size) != size)
		ret = follow_instructions(a, code, size);
	free(code);
	return ret;
}

static int analyse(struct analysis *a, const struct sfg_image *range,
		   uint64_t lo, uint64_t hi)
{
	uint32_t size;
	int ret = 0;

	a->bytes = 0;
	for (a->addr = lo; a->addr < hi && !ret; a->addr += size) {
		size = hi - a->addr < MAX_PIECE ? hi - a->addr : MAX_PIECE;
		ret = analyse_piece(a, range, size);
	}
	return ret;
}

int sfg_add_derived(const struct sfg_input *in, const struct sfg_image *range,
		    uint64_t lo, uint64_t hi, struct sfg_builder *rows,
		    uint64_t *bytes)
{
	struct analysis a = {
		.sink.insn = add_code_row, .in = in,
		.arch = sfg_any_arch(in->abi), .m = sfg_code_machine(in->abi),
	};
	int ret = 0;

	if (!a.m || (!range->data && !in->read_text))
		return 0;
	if (hi - lo >= LONG_STRETCH) {
		ret = analyse(&a, range, lo, hi);
		if (ret || a.bytes < (hi - lo) / 4 * 3)
			return ret;
	}
	a.rows = rows;
	sfg_close_range(rows);
	ret = analyse(&a, range, lo, hi);
	sfg_close_range(rows);
	*bytes += a.bytes;
	return ret;
}
