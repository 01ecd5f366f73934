// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Any bytes as a packed table: a look-up ends in an error or a row, whether the
 * table was checked or not. An accepted one says the same by each way to read it,
 * and can be written again.
 */
#include <stdlib.h>

#include "commands.h"
#include "oracle.h"

#define MAX_FOUND	64
#define MAX_ROWS	1024

static int find(const struct sfg_packed *t, uint64_t addr,
		struct sfjit_function *fde, struct sfjit_row *row)
{
	struct sfg_error err = { 0 };
	int ret = sfg_find_packed_row(t, addr, fde, row, &err);

	if (ret && ret != -ENOENT)
		require_error(ret, &err, t->len);
	else
		REQUIRE(!fde->size || addr - fde->addr < fde->size);
	return ret;
}

static void find_anyhow(const struct sfg_packed *t)
{
	uint64_t start = t->header.text_start;
	struct sfjit_function fde;
	char text[ROW_TEXT_MAX];
	struct sfjit_row row;
	unsigned int i;

	for (i = 0; i < MAX_FOUND; i++)
		if (!find(t, start - 1 + 37 * i, &fde, &row))
			format_row(t->header.abi_arch, &row, text);
	find(t, start + t->header.text_length - 1, &fde, &row);
	REQUIRE(find(t, start + t->header.text_length, &fde, &row) == -ENOENT);
}

static int next_row(const struct sfg_packed *t, uint64_t *at,
		    struct sfjit_function *fde, struct sfjit_row *row)
{
	struct sfg_error err = { 0 };
	uint64_t before = *at;
	int ret = sfg_next_packed_row(t, at, fde, row, &err);

	if (!ret)
		REQUIRE(*at > before && *at <= t->header.text_length);
	else if (ret != -ENOENT)
		require_error(ret, &err, t->len);
	REQUIRE(!ret || *at == before);
	return ret;
}

/* At the start of each stretch. */
static void require_same(const struct sfg_packed *t,
			 const struct sfjit_function *fde,
			 const struct sfjit_row *row)
{
	struct sfjit_function found;
	struct sfjit_row same;
	int ret = find(t, fde->addr + row->start, &found, &same);

	REQUIRE(ret == (fde->nr_rows ? 0 : -ENOENT));
	REQUIRE(found.flags == fde->flags && found.repeat == fde->repeat);
	REQUIRE(ret || (sfg_rows_equal(row, &same) && same.start == row->start));
}

/* Of a table that repeats, one FDE with all rows that begins with the first. */
static void collect(const struct sfg_packed *t, struct sfg_fdes *fdes)
{
	struct sfjit_function *fde = fdes->fdes;
	struct sfjit_row *row = fdes->rows;
	uint64_t at = 0;
	int ret;

	for (fdes->nr = 0; fdes->nr < MAX_ROWS; fdes->nr++, fde++, row++) {
		ret = next_row(t, &at, fde, row);
		REQUIRE(!ret || ret == -ENOENT);
		if (ret)
			break;
		require_same(t, fde, row);
		fde->rows = row;
	}
}

static void require_written(const struct sfg_packed *t)
{
	static struct sfjit_function functions[MAX_ROWS];
	static struct sfjit_row rows[MAX_ROWS];
	struct sfg_fdes fdes = { .fdes = functions, .rows = rows };

	collect(t, &fdes);
	if (!t->header.repeat)
		require_packed(arch_by_number(t->header.abi_arch), &fdes, false);
}

static void run(const uint8_t *data, size_t size)
{
	struct sfg_packed t, untouched;
	struct sfjit_function fde;
	struct sfg_error err = { 0 };
	struct sfjit_row row;
	uint64_t at = 0;
	int ret;

	data = exact_copy(data, size);
	fill_memory(0xa5);
	memset(&untouched, 0x77, sizeof(t));
	t = untouched;
	ret = sfg_open_packed(&t, data, size, &err);
	if (ret) {
		require_error(ret, &err, size);
		REQUIRE(!memcmp(&t, &untouched, sizeof(t)));
	} else {
		find_anyhow(&t);
		while (!next_row(&t, &at, &fde, &row))
			;
		ret = sfg_check_packed(&t, &err);
		if (ret)
			require_error(ret, &err, size);
		else
			require_written(&t);
	}
	fill_memory(0);
	free((void *)data);
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed);

/* Makes a header consistent with itself and with the length after it. */
static void repair(uint8_t *data, size_t room)
{
	unsigned int abi = sfg_abi_has_sframe(data[3]) ? data[3] :
			   1 + (data[3] & 3);
	const struct sfg_arch *arch = sfg_arch_by_abi(abi);
	unsigned int shift = SFRAME_PACKED_BUCKET_SHIFT + arch->unit_shift;
	bool swap = arch_swaps(arch);
	struct sframe_packed_header h;
	uint32_t rules, buckets;

	memcpy(&h, data, sizeof(h));
	rules = 1 + swap16(swap, h.nr_rules) % 8;
	room -= SFRAME_PACKED_PAD + 16;
	rules = rules <= room / 16 ? rules : 1 + room / 16;
	room -= 16 * (rules - 1);
	buckets = 1 + swap32(swap, h.text_length) % 4;
	buckets = buckets <= room / 4 ? buckets : room / 4;
	h = (struct sframe_packed_header){
		.magic = swap16(swap, SFRAME_PACKED_MAGIC),
		.version = SFRAME_PACKED_VERSION, .abi_arch = abi,
		.unit_shift = arch->unit_shift, .repeat = data[5] & -(1 << arch->unit_shift),
		.nr_rules = swap16(swap, rules),
		.text_start = swap64(swap, 0x10000),
		.text_length = swap32(swap, buckets << shift),
		.blocks_len = swap32(swap, room - 4 * buckets),
	};
	memcpy(data, &h, sizeof(h));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed)
{
	const size_t fixed = sizeof(struct sframe_packed_header) + 16 +
			     SFRAME_PACKED_PAD;

	size = LLVMFuzzerMutate(data, size, max);
	if (seed % 8 && size >= fixed)
		repair(data, size - sizeof(struct sframe_packed_header));
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run_bounded(run, data, size);
	return 0;
}
