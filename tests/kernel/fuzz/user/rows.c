// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Rows made from bytes, given to the encoder: what it sizes it fills, what it
 * refuses it refuses both times, and the strict reader reads the same rows. The
 * check of one function, which is there for each ABI, says the same.
 *
 * Input: ABI, then for each FDE a head, its numbers and its rows.
 */
#include <elf.h>
#include <stdlib.h>

#include "cursor.h"
#include "oracle.h"

#define MAX_FDES	64
#define MAX_ROWS	1024
#define TOO_MANY_ROWS	65536
#define SECTION_ADDR	0xfedcba9876543210

struct rows {
	struct cursor c;
	const struct sfg_arch *arch;
	struct sfjit_function fdes[MAX_FDES];
	size_t nr_fdes;
	struct sfjit_row *rows;
	size_t nr_rows;
	uint64_t addr;
	bool too_many;		/* of the last FDE's rows most are not there */
};

/* 0, 1, 2 or 4 bytes, as two bits say. */
static uint32_t number(struct cursor *c, unsigned int width)
{
	static const uint8_t bytes[] = { 0, 1, 2, 4 };

	return cursor_uint(c, bytes[width & 3]);
}

/* Signed; without any byte of its own what rows mostly have. */
static int32_t offset(struct cursor *c, unsigned int width, int32_t usual)
{
	switch (width & 3) {
	case 0:
		return usual;
	case 1:
		return (int8_t)cursor_u8(c);
	case 2:
		return (int16_t)cursor_u16(c);
	}
	return cursor_u32(c);
}

static const uint8_t usual_base[] = {
	SFJIT_BASE_NONE, SFJIT_BASE_CFA, SFJIT_BASE_REG, SFJIT_BASE_REG,
};

/*
 * A byte: base, deref, widths of offset and addend, and whether all is as it
 * comes.
 */
static struct sfjit_rule rule(struct rows *r, uint8_t reg)
{
	uint8_t head = cursor_u8(&r->c);
	struct sfjit_rule rule = {
		.base = usual_base[head & 3], .deref = head >> 2 & 1,
	};

	if ((head & 3) == 2)
		rule.reg = reg;
	if ((head & 3) == 3)
		rule.reg = cursor_u8(&r->c);
	rule.offset = offset(&r->c, head >> 3, rule.base ? -16 : 0);
	rule.addend = offset(&r->c, head >> 5, 0);
	if (head & 0x80) {
		rule.base = cursor_u8(&r->c);
		rule.deref = cursor_u8(&r->c);
		rule.reg = cursor_u16(&r->c);
	}
	return rule;
}

/* Widths of the start, flags, which rules there are. */
static void add_row(struct rows *r, uint32_t *start)
{
	struct sfjit_row *row = &r->rows[r->nr_rows++];
	uint8_t head = cursor_u8(&r->c);

	memset(row, 0, sizeof(*row));
	row->start = *start + number(&r->c, head);
	*start = row->start + 1;
	if (head & 4)
		row->flags = cursor_u8(&r->c);
	row->cfa = (struct sfjit_rule) {
		.base = SFJIT_BASE_REG,
		.reg = head & 8 ? r->arch->fp : r->arch->sp,
		.offset = offset(&r->c, head >> 4, 16 + r->arch->sp_bias),
	};
	if (head & 0x40)
		row->fp = rule(r, r->arch->fp);
	if (head & 0x80)
		row->ra = rule(r, r->arch->ra);
	if ((head & 0xf0) == 0xf0)
		row->cfa = rule(r, r->arch->sp);
}

/* False: no FDE may follow, so that the oracle's buffers stay small. */
static bool add_fde(struct rows *r)
{
	struct sfjit_function *fde = &r->fdes[r->nr_fdes++];
	uint8_t head = cursor_u8(&r->c);
	uint32_t start = 0;

	memset(fde, 0, sizeof(*fde));
	r->addr += head & 0x40 ? cursor_u64(&r->c) : number(&r->c, head);
	fde->addr = r->addr;
	fde->size = head & 0xc ? number(&r->c, head >> 2) : 64;
	r->addr += fde->size;
	if (head & 0x10)
		fde->flags = cursor_u8(&r->c);
	if (head & 0x20)
		fde->repeat = cursor_u8(&r->c);
	fde->rows = r->rows + r->nr_rows;
	fde->nr_rows = head & 0x80 ? cursor_u8(&r->c) : 1;
	/* refused before a row is looked at */
	if (fde->nr_rows == 255) {
		fde->nr_rows = TOO_MANY_ROWS;
		r->too_many = true;
		return false;
	}
	if (fde->nr_rows > MAX_ROWS - r->nr_rows)
		fde->nr_rows = MAX_ROWS - r->nr_rows;
	while (r->rows + r->nr_rows != fde->rows + fde->nr_rows)
		add_row(r, &start);
	return true;
}

static void decode(struct rows *r, const uint8_t *data, size_t size)
{
	static const unsigned int abis[] = {
		SFRAME_ABI_AARCH64_BE, SFRAME_ABI_AARCH64_LE,
		SFRAME_ABI_AMD64_LE, SFRAME_ABI_S390X_BE,
		SFG_ABI_ELF(ELFDATA2LSB, EM_RISCV),
		SFG_ABI_ELF(ELFDATA2LSB, EM_PPC64),
	};
	unsigned int abi;

	cursor_init(&r->c, data, 0, size, false);
	abi = cursor_u8(&r->c);
	r->arch = sfg_any_arch(abis[abi % ARRAY_SIZE(abis)]);
	if (abi & 0x80 && sfg_trial_abi(r->arch->abi))
		r->arch = arch_by_number(sfg_trial_abi(r->arch->abi));
	r->nr_fdes = 0;
	r->nr_rows = 0;
	r->addr = 0x1000;
	while (cursor_left(&r->c) && r->nr_fdes < MAX_FDES && add_fde(r))
		;
}

/* Where the rows of the section begin. */
static size_t fdes_end(const struct rows *r)
{
	return sizeof(struct sframe_header) +
	       r->nr_fdes * sizeof(struct sframe_fde);
}

/*
 * An FDE by itself is the same bytes, and never more than there is room; but
 * its rows have to lead to a caller.
 */
static void require_appended(const struct rows *r,
			     const struct sfjit_function *fde,
			     const uint8_t *section, size_t index, size_t at,
			     size_t end)
{
	struct sfg_place place = {
		.index = malloc(sizeof(struct sframe_fde)),
		.index_addr = SECTION_ADDR + index,
		.rows = malloc(end - at), .len = end - at - 1,
		.fre_off = at - fdes_end(r), .end_before = fde->addr,
	};
	bool good = sfg_cfas_are_possible(r->arch->abi, fde->rows,
					  fde->nr_rows);
	size_t used = 12345;

	REQUIRE(sfg_write_fde(r->arch->abi, fde, &place, &used, NULL) ==
		(good ? -ENOSPC : -EINVAL));
	place.len++;
	if (good) {
		REQUIRE(used == 12345);
		REQUIRE(!sfg_write_fde(r->arch->abi, fde, &place, &used, NULL));
		REQUIRE(used == end - at);
		REQUIRE(!memcmp(place.rows, section + at, used));
		REQUIRE(!memcmp(place.index, section + index,
				sizeof(struct sframe_fde)));
		place.end_before = fde->addr + 1;
	}
	REQUIRE(sfg_write_fde(r->arch->abi, fde, &place, &used, NULL) ==
		-EINVAL);
	free(place.index);
	free(place.rows);
}

static void require_all_appended(const struct rows *r,
				 const struct sfg_fdes *fdes,
				 const struct sfg_output *out)
{
	size_t index = sizeof(struct sframe_header), at = fdes_end(r), end, i;

	for (i = 0; i < fdes->nr; i++) {
		end = at + sfg_block_size(r->arch, &fdes->fdes[i]);
		require_appended(r, &fdes->fdes[i], out->data, index, at, end);
		index += sizeof(struct sframe_fde);
		at = end;
	}
	REQUIRE(at == out->len);
}

/* Refused before an FDE is looked at. */
static void require_unread(const struct rows *r)
{
	const unsigned int none = SFG_NR_ABIS;
	struct sfg_place place = { .len = 0 };
	size_t size;

	REQUIRE(sfg_section_size(none, NULL, 1, &size, NULL) == -ENOTSUP);
	REQUIRE(sfg_write_section(none, NULL, 1, 0, NULL, 0, &size, NULL) ==
		-ENOTSUP);
	REQUIRE(sfg_write_fde(0, NULL, &place, &size, NULL) == -ENOTSUP);
	REQUIRE(sfg_write_packed(none, NULL, 1, NULL, NULL) == -ENOTSUP);
	REQUIRE(sfg_fill_packed(none, NULL, 1, NULL, 0, &size, NULL) ==
		-ENOTSUP);
	REQUIRE(sfg_section_size(r->arch->abi, NULL, UINT32_MAX, &size,
				 NULL) ==
		(sfg_abi_has_sframe(r->arch->abi) ? -E2BIG : -ENOTSUP));
	REQUIRE(sfg_check_function(none, NULL, NULL) == -ENOTSUP);
	REQUIRE(!sfg_trial_abi(none));
}

static bool is_good(const struct sfg_arch *arch,
		    const struct sfjit_function *fde)
{
	uint32_t end = fde->repeat ? fde->repeat : fde->size, i;

	/* not all of them are there */
	if (fde->nr_rows == TOO_MANY_ROWS)
		return false;
	if (!fde->size || fde->addr + fde->size < fde->addr)
		return false;
	if (!fde->nr_rows)
		return fde->flags & SFJIT_FUNCTION_SIGNAL;
	if (fde->rows[0].start || fde->rows[fde->nr_rows - 1].start >= end)
		return false;
	for (i = 0; i < fde->nr_rows; i++)
		if ((i && fde->rows[i].start <= fde->rows[i - 1].start) ||
		    !sfg_row_fits(arch, &fde->rows[i]))
			return false;
	return true;
}

/* One by one; false: one of them is refused. */
static bool all_are_good(const struct rows *r, const struct sfg_fdes *fdes)
{
	bool good = true, one;
	size_t i;

	for (i = 0; i < fdes->nr; i++) {
		one = is_good(r->arch, &fdes->fdes[i]);
		REQUIRE(one == !sfg_check_function(r->arch->abi,
						   &fdes->fdes[i], NULL));
		good &= one;
	}
	return good;
}

static bool are_sorted(const struct sfg_fdes *fdes)
{
	const struct sfjit_function *fde = fdes->fdes;
	size_t i;

	for (i = 1; i < fdes->nr; i++)
		if (fde[i].addr < fde[i - 1].addr + fde[i - 1].size)
			return false;
	return true;
}

static void require_encoded(const struct rows *r, const struct sfg_fdes *fdes,
			    const struct sfg_output *out)
{
	struct sfg_fdes again;
	struct sfg_section s;

	read_section(out->data, out->len, SECTION_ADDR, &again);
	require_equal_fdes(fdes, &again);
	require_good_fdes(r->arch, &again);
	sfg_open_section(&s, out->data, out->len, SECTION_ADDR, NULL);
	require_found(&s, &again);
	require_all_appended(r, fdes, out);
	require_packed(r->arch, fdes, fdes->nr < 4);
	require_rebase(out->data, out->len, fdes->nr ? -r->addr : 0);
	sfg_free_fdes(&again);
}

/* A row that no section can have; only tables may have it. */
static void require_only_packed(const struct rows *r,
				const struct sfg_fdes *fdes)
{
	struct sfg_output out;
	size_t size;
	int ret = sfg_write_packed(r->arch->abi, fdes->fdes, fdes->nr, &out,
				   NULL);

	if (!ret) {
		require_is_packed(&out, fdes, 0);
		free(out.data);
	}
	if (ret != -E2BIG)
		REQUIRE(sfg_packed_size(r->arch->abi, fdes->fdes, fdes->nr,
					&size, NULL) == ret);
}

/* The arrays end where they are said to. */
static void require_encoding(const struct rows *r)
{
	struct sfg_fdes fdes = {
		.fdes = exact_copy(r->fdes, r->nr_fdes * sizeof(*r->fdes)),
		.rows = exact_copy(r->rows, r->nr_rows * sizeof(*r->rows)),
		.nr = r->nr_fdes,
	};
	bool has_sframe = sfg_abi_has_sframe(r->arch->abi), good;
	struct sfg_output out;
	size_t i;
	int ret;

	for (i = 0; i < fdes.nr; i++)
		fdes.fdes[i].rows = fdes.rows + (r->fdes[i].rows - r->rows);
	good = all_are_good(r, &fdes) && are_sorted(&fdes);
	ret = encode(r->arch, &fdes, SECTION_ADDR, &out);
	REQUIRE(!ret == (good && has_sframe));
	if (ret && has_sframe && !r->too_many)
		require_only_packed(r, &fdes);
	REQUIRE((ret == -ENOTSUP) == !has_sframe);
	if (!ret) {
		require_encoded(r, &fdes, &out);
		free(out.data);
	}
	sfg_free_fdes(&fdes);
}

static void run(const uint8_t *data, size_t size)
{
	static struct sfjit_row row_buffer[MAX_ROWS];
	struct rows r = { .rows = row_buffer };

	fill_memory(0xa5);
	decode(&r, data, size);
	require_unread(&r);
	require_encoding(&r);
	fill_memory(0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		run_bounded(run, data, size);
	return 0;
}
