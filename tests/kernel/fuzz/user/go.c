// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Any bytes as Go's table of functions, its code and writable data: a table that
 * is accepted gives rows inside of the code that the encoder takes, and those of
 * one address are the same.
 *
 * Input: flags, the number of the allocation that fails, lengths of table and code
 * in 2 bytes each, then the bytes of table, code and data.
 */
#include <stdlib.h>

#include "cursor.h"
#include "oracle.h"

#define HEAD		6
#define CODE		0x401000
#define TABLE		0x500000
#define DATA		0x600000
#define BIAS		0x7f0000000000
#define SECTION_ADDR	0xfedcba9876543210

/* As many addresses have to give the row of all. */
#define MOST_FOUND	4

/*
 * HALVES: rows are derived from two ranges of text, and the search for one row
 * has only one of them.
 */
enum {
	SEARCHED = 1, IN_MEMORY = 2, NO_DATA = 4, NO_ADDENDS = 8, NO_TEXT = 16,
	OTHER_ABI = 32, HALVES = 64,
};

struct go_case {
	uint8_t flags, fails;
	struct sfg_image table, code, data;
	struct sfg_image searched[2];	/* the code, or its halves */
	struct sfg_go_input in;
};

static struct sfg_image take(const uint8_t **p, size_t *left, size_t len,
			     uint64_t addr)
{
	struct sfg_image image = { .addr = addr };

	image.len = len < *left ? len : *left;
	image.data = exact_copy(*p, image.len);
	*p += image.len;
	*left -= image.len;
	return image;
}

static void decode(struct go_case *c, const uint8_t *data, size_t size)
{
	const uint8_t *p = data + HEAD;
	size_t left = size - HEAD;

	c->flags = data[0];
	c->fails = data[1];
	c->table = take(&p, &left, data[2] | data[3] << 8, TABLE);
	c->code = take(&p, &left, data[4] | data[5] << 8, CODE);
	c->data = take(&p, &left, left, DATA);
	c->in = (struct sfg_go_input) {
		.abi = c->flags & OTHER_ABI ? SFRAME_ABI_AARCH64_LE :
					      SFRAME_ABI_AMD64_LE,
		.table = c->table,
		.bias = c->flags & IN_MEMORY ? BIAS : 0,
		.text = &c->code,
		.nr_text = !(c->flags & NO_TEXT),
		.data = &c->data,
		.nr_data = !(c->flags & NO_DATA),
	};
}

static bool open_table(const struct go_case *c, struct sfg_go *go)
{
	struct sfg_error err;
	int ret = c->flags & SEARCHED ? sfg_find_go(go, &c->in, &err) :
					sfg_open_go(go, &c->in, &err);

	if (ret == -ENOENT)
		REQUIRE(err.reason && *err.reason);
	else if (ret)
		require_error(ret, &err, c->table.len);
	return !ret;
}

static const struct sfjit_row *row_at(const struct sfg_fdes *fdes,
				      uint64_t addr, bool *exact)
{
	const struct sfjit_row *row = NULL;
	const struct sfjit_function *f;
	uint32_t k;

	for (f = fdes->fdes; f < fdes->fdes + fdes->nr; f++)
		if (addr - f->addr < f->size)
			for (k = 0; k < f->nr_rows &&
			     f->rows[k].start <= addr - f->addr; k++) {
				row = &f->rows[k];
				*exact = f->flags & SFJIT_FUNCTION_SIGNAL;
			}
	return row;
}

static void require_row(const struct go_case *c, const struct sfg_go *go,
			const struct sfg_fdes *fdes, uint64_t addr)
{
	bool exact = false, found_exact = false;
	const struct sfjit_row *row = row_at(fdes, addr, &exact);
	struct sfg_image function;
	struct sfjit_row found;
	int ret = sfg_find_go_row(go, &c->searched[addr & 1], addr, &found,
				  &found_exact);

	REQUIRE(!ret || ret == -ENOENT || ret == -ENODATA);
	if (c->flags & HALVES)
		return;
	REQUIRE(!ret == !!row);
	if (ret)
		return;
	REQUIRE(sfg_rows_equal(row, &found) && exact == found_exact);
	REQUIRE(!sfg_go_function_at(go, addr, &function));
	REQUIRE(addr - function.addr < function.len);
}

static void require_encoded(const struct sfg_fdes *fdes)
{
	struct sfg_output out;
	struct sfg_fdes again;

	REQUIRE(!encode(sfg_any_arch(SFRAME_ABI_AMD64_LE), fdes, SECTION_ADDR,
			&out));
	read_section(out.data, out.len, SECTION_ADDR, &again);
	require_equal_fdes(fdes, &again);
	sfg_free_fdes(&again);
	free(out.data);
}

static void require_rows(const struct go_case *c, const struct sfg_go *go,
			 const struct sfg_fdes *fdes)
{
	uint64_t len = go->text_end - go->text, at, i;
	struct sfg_image function;

	REQUIRE(sfg_go_function_at(go, go->text_end, &function) == -ENOENT);
	require_good_fdes(sfg_any_arch(SFRAME_ABI_AMD64_LE), fdes);
	for (i = 0; i < fdes->nr; i++)
		REQUIRE(!bytes_outside(&c->code, 1, &fdes->fdes[i]));
	require_encoded(fdes);
	/* A search for one address has no row that needs an addend left out. */
	for (i = 0; i < MOST_FOUND && !(c->flags & NO_ADDENDS); i++) {
		at = go->text + i * len / MOST_FOUND;
		require_row(c, go, fdes, at | i % 2);
	}
}

static void derive(struct go_case *c, const struct sfg_go *go)
{
	const uint64_t half = c->code.len / 2 & -16ULL;
	const struct sfg_image halves[] = {
		{ c->code.data, half, CODE },
		{ (const uint8_t *)c->code.data + half, c->code.len - half,
		  CODE + half },
	};
	const struct sfg_input in = {
		.abi = SFRAME_ABI_AMD64_LE,
		.text = c->flags & HALVES ? halves : &c->code,
		.nr_text = c->flags & HALVES ? 2 : 1,
		.flags = c->flags & NO_ADDENDS ? 0 : SFG_INPUT_ADDENDS,
		.go = go,
	};
	struct sfg_summary sum;
	struct sfg_error err;
	struct sfg_fdes fdes;
	int ret;

	fail_allocation(c->fails);
	ret = sfg_derive(&in, &fdes, &sum, &err);
	REQUIRE(!ret || (ret == -ENOMEM && allocation_failed()));
	fail_allocation(0);
	if (ret)
		return;
	REQUIRE(sum.go_bytes <= c->code.len);
	c->searched[0] = in.text[0];
	c->searched[1] = in.text[in.nr_text - 1];
	require_rows(c, go, &fdes);
	sfg_free_fdes(&fdes);
}

static void run(const uint8_t *data, size_t size)
{
	struct go_case c;
	struct sfg_go go;

	fill_memory(0xa5);
	decode(&c, data, size);
	if (open_table(&c, &go))
		derive(&c, &go);
	fill_memory(0);
	free((void *)c.table.data);
	free((void *)c.code.data);
	free((void *)c.data.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= HEAD)
		run_bounded(run, data, size);
	return 0;
}
