// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Rows that were derived, as CFI again: from it the same rows are derived. */
#include <stdlib.h>

#include "cfi.h"
#include "oracle.h"

#define MAX_BLOCKS	64
#define MAX_CFI		(1 << 20)

/* Of a function that repeats its rows, with those of each block. */
static struct sfjit_function write_out(const struct sfjit_function *f)
{
	uint32_t block = f->repeat ? f->repeat : f->size, i, n = 0;
	uint32_t blocks = (f->size - 1) / block + 1;
	struct sfjit_row *rows = malloc(blocks * f->nr_rows * sizeof(*rows));
	struct sfjit_function all = *f;

	for (i = 0; i < blocks * f->nr_rows; i++) {
		rows[n] = f->rows[i % f->nr_rows];
		rows[n].start += i / f->nr_rows * block;
		n += rows[n].start < f->size;
	}
	all.repeat = 0;
	all.rows = rows;
	all.nr_rows = n;
	return all;
}

static uint32_t end_of_row(const struct sfjit_function *f, uint32_t i)
{
	return i + 1 < f->nr_rows ? f->rows[i + 1].start : f->size;
}

/* Either may repeat a row. */
static void require_same_rows(const struct sfjit_function *want,
			      const struct sfjit_function *got)
{
	uint32_t i = 0, k = 0, a, b;

	while (i < want->nr_rows) {
		REQUIRE(sfg_rows_equal(&want->rows[i], &got->rows[k]));
		a = end_of_row(want, i);
		b = end_of_row(got, k);
		i += a <= b;
		k += b <= a;
	}
	REQUIRE(k == got->nr_rows);
}

static void require_derived(const struct sfg_input *in,
			    const struct sfjit_function *want)
{
	struct sfg_fdes fdes;

	REQUIRE(!sfg_derive(in, &fdes, NULL, NULL));
	REQUIRE(fdes.nr == 1 && fdes.fdes->addr == want->addr);
	REQUIRE(fdes.fdes->size == want->size);
	REQUIRE(fdes.fdes->flags == want->flags && !fdes.fdes->repeat);
	require_same_rows(want, fdes.fdes);
	sfg_free_fdes(&fdes);
}

/* After the code. Sized first, then filled. */
static void require_function_cfi(struct sfg_input *in,
				 const struct sfjit_function *f,
				 const struct sfjit_function *want)
{
	size_t size = 12345, used, hdr = 12345;
	int ret = sfg_write_cfi(in->abi, f, f->size, NULL, 0, &size, &hdr);
	uint8_t *cfi;

	if (ret == -E2BIG) {
		REQUIRE(f->size > INT32_MAX - MAX_CFI);
		REQUIRE(size == 12345 && hdr == 12345);
		return;
	}
	REQUIRE(ret == -ENOSPC);
	cfi = malloc(size);
	REQUIRE(sfg_write_cfi(in->abi, f, f->size, cfi, size - 1, &used,
			      &hdr) == -ENOSPC);
	REQUIRE(!sfg_write_cfi(in->abi, f, f->size, cfi, size, &used, &hdr));
	REQUIRE(used == size && hdr < size);
	in->cfi = (struct sfg_image) { cfi, size - hdr, f->addr + f->size };
	require_derived(in, want);
	free(cfi);
}

static void put_number(uint8_t *p, uint64_t v, bool big_endian)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		p[i] = v >> 8 * (big_endian ? 7 - i : i);
}

static void require_slot_cfi(struct sfg_input *in,
			     const struct sfjit_function *f,
			     const struct sfjit_function *want)
{
	bool big_endian = sfg_any_arch(in->abi)->big_endian;
	struct sfg_window_cfi cfi;
	int ret = sfg_make_slot_cfi(in->abi, f, &cfi);

	if (ret) {
		REQUIRE(ret == -E2BIG && cfi.len > sizeof(cfi.data));
		return;
	}
	put_number(cfi.data + cfi.start_off, f->addr, big_endian);
	put_number(cfi.data + cfi.size_off, f->size, big_endian);
	in->cfi = (struct sfg_image) { cfi.data, cfi.len, 0 };
	require_derived(in, want);
}

static void require_known_abi(const struct sfjit_function *f)
{
	struct sfg_window_cfi cfi;
	size_t used, hdr;

	REQUIRE(sfg_write_cfi(0, f, 0, NULL, 0, &used, &hdr) == -ENOTSUP);
	REQUIRE(sfg_make_slot_cfi(0, f, &cfi) == -ENOTSUP);
}

void require_written(unsigned int abi, unsigned int flags,
		     const struct sfjit_function *f)
{
	struct sfg_input in = {
		.abi = abi, .flags = flags & SFG_INPUT_ADDENDS,
	};
	struct sfjit_function want;

	/* a signal frame has none; the work is that for each block */
	if (!f->nr_rows || (f->repeat && f->size / f->repeat > MAX_BLOCKS))
		return;
	require_known_abi(f);
	want = write_out(f);
	require_function_cfi(&in, f, &want);
	require_slot_cfi(&in, f, &want);
	free((void *)want.rows);
}
