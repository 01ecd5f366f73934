// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Derives rows from random instructions. They stay inside of the code, are sorted,
 * and are the same whether the text is at hand or read piece by piece, and whatever
 * memory held before.
 *
 * Input: a head, then 2 bytes for each entry, then the text.
 */
#include <stdlib.h>

#include "core.h"
#include "oracle.h"

#define TEXT_ADDR	0x401000
#define MAX_ENTRIES	15

#define HEAD_ENTRIES	0x0f	/* how many there are */
#define HEAD_SPLIT	0x10	/* the code is two ranges, 'split' bytes in */
#define HEAD_NO_RETURN	0x20	/* words at the ends of the code are of these */

struct head {
	uint8_t flags;
	uint8_t fails;		/* this allocation fails; 0: none */
	uint8_t split;
};

struct code {
	struct sfg_input in;
	struct sfg_image text, parts[2];
	uint64_t entries[MAX_ENTRIES], no_return[2];
	uint8_t *bytes;
	uint8_t piece[SFG_READ_MAX];
	uint8_t fails;
};

/* Overwrites the piece that the analyser read before. */
static const void *read_piece(void *arg, uint64_t addr, size_t len)
{
	struct code *c = arg;

	REQUIRE(len && len <= SFG_READ_MAX);
	REQUIRE(addr >= TEXT_ADDR && addr - TEXT_ADDR <= c->text.len &&
		len <= c->text.len - (addr - TEXT_ADDR));
	memset(c->piece, 0xcc, sizeof(c->piece));
	memcpy(c->piece, c->bytes + (addr - TEXT_ADDR), len);
	return c->piece;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* As many as there are; returns their bytes. */
static size_t set_entries(struct code *c, unsigned int nr, const uint8_t *data,
			  size_t size)
{
	if (nr > size / 2)
		nr = size / 2;
	for (c->in.nr_entries = 0; c->in.nr_entries < nr; c->in.nr_entries++) {
		c->entries[c->in.nr_entries] = TEXT_ADDR + data[0] +
					       256 * data[1];
		data += 2;
	}
	qsort(c->entries, nr, sizeof(*c->entries), compare);
	c->in.entries = c->entries;
	return 2 * nr;
}

static void set_parts(struct code *c, const struct head *head)
{
	c->text = (struct sfg_image) { c->bytes, c->text.len, TEXT_ADDR };
	c->in.text = &c->text;
	c->in.nr_text = 1;
	if (!(head->flags & HEAD_SPLIT) || head->split >= c->text.len)
		return;
	c->parts[0] = c->parts[1] = c->text;
	c->parts[0].len = head->split;
	c->parts[1].addr += head->split;
	c->parts[1].data = c->bytes + head->split;
	c->parts[1].len -= head->split;
	c->in.code = c->parts + !head->split;
	c->in.nr_code = 2 - !head->split;
}

static bool open_code(struct code *c, const uint8_t *data, size_t size)
{
	struct head head;
	size_t len;

	if (size < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	memset(c, 0, sizeof(*c));
	c->in.abi = SFRAME_ABI_AMD64_LE;
	c->in.flags = SFG_INPUT_CODE;
	len = sizeof(head) + set_entries(c, head.flags & HEAD_ENTRIES,
					 data + sizeof(head),
					 size - sizeof(head));
	c->text.len = size - len;
	c->bytes = exact_copy(data + len, size - len);
	c->fails = head.fails;
	set_parts(c, &head);
	c->no_return[0] = TEXT_ADDR - 8;
	c->no_return[1] = TEXT_ADDR + c->text.len;
	c->in.no_return = c->no_return;
	c->in.nr_no_return = head.flags & HEAD_NO_RETURN ? 2 : 0;
	return true;
}

static bool derive(const struct code *c, unsigned int fails,
		   struct sfg_fdes *fdes)
{
	struct sfg_summary sum;
	struct sfg_error err = { 0 };
	int ret;

	fail_allocation(fails);
	ret = sfg_derive(&c->in, fdes, &sum, &err);
	if (ret)
		require_error(ret, &err, 0);
	else
		REQUIRE(sum.derived_bytes <= c->text.len);
	fail_allocation(0);
	return !ret;
}

static void require_inside(const struct code *c, const struct sfg_fdes *fdes)
{
	const struct sfg_image *code = c->in.nr_code ? c->in.code : &c->text;
	size_t nr = c->in.nr_code ? c->in.nr_code : 1, i;

	for (i = 0; i < fdes->nr; i++)
		REQUIRE(!bytes_outside(code, nr, &fdes->fdes[i]));
}

static void require_same(struct code *c, const struct sfg_fdes *fdes)
{
	struct sfg_fdes other;

	c->in.read_text = read_piece;
	c->in.read_arg = c;
	c->text.data = c->parts[0].data = c->parts[1].data = NULL;
	fill_memory(0x5a);
	REQUIRE(derive(c, 0, &other));
	require_equal_fdes(fdes, &other);
	sfg_free_fdes(&other);
}

static void run(const uint8_t *data, size_t size)
{
	struct sfg_fdes fdes;
	struct code c;

	if (!open_code(&c, data, size))
		return;
	fill_memory(0xa5);
	if (c.fails && derive(&c, c.fails, &fdes))
		sfg_free_fdes(&fdes);
	if (derive(&c, 0, &fdes)) {
		require_good_fdes(sfg_any_arch(c.in.abi), &fdes);
		require_inside(&c, &fdes);
		require_same(&c, &fdes);
		sfg_free_fdes(&fdes);
	}
	fill_memory(0);
	free(c.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run_bounded(run, data, size);
	return 0;
}
