// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: packed tables have the bytes of the specification, of each machine;
 * they say what the rows say at each address; damaged ones are refused or stay
 * within bounds.
 */
#include "test.h"

#define SP(n)		{ .offset = (n), .reg = 7, .base = SFJIT_BASE_REG }
#define REG(r, n)	{ .offset = (n), .reg = (r), .base = SFJIT_BASE_REG }
#define SLOT(n)		SFJIT_SAVED(n)
#define LOADED(r, n, add) { .offset = (n), .reg = (r), \
	.base = SFJIT_BASE_REG, .deref = 1, .addend = (add) }
#define FDE(at, bytes, list, ...) { .addr = (at), .size = (bytes), \
	.rows = (list), .nr_rows = ARRAY_SIZE(list), ##__VA_ARGS__ }

static const struct sfjit_row amd64_rows[] = {
	{ .start = 0, .cfa = SP(8) },
	{ .start = 1, .cfa = SP(16), .fp = SLOT(-16) },
	{ .start = 4, .cfa = REG(6, 16), .fp = SLOT(-16) },
	{ .start = 40, .cfa = REG(3, 16), .fp = SLOT(-24) },
	{ .start = 41, .cfa = LOADED(7, 40, 8), .fp = SLOT(-24) },
	{ .start = 50, .cfa = LOADED(6, -8, 0), .ra = REG(2, 0) },
	{ .start = 51, .flags = SFJIT_ROW_OUTERMOST },
	{ .start = 52, .flags = SFG_ROW_FP },
	{ .start = 60, .cfa = SP(8), .ra = SLOT(-24), .fp = REG(10, -8) },
	{ .start = 61, .cfa = SP(8), .flags = SFJIT_ROW_RBX_KEPT },
	{ .start = 62, .cfa = SP(24), .flags = SFJIT_ROW_RBX_SAVED(-16) },
	{ .start = 63, .cfa = REG(6, 256), .ra = SLOT(-24), .fp = SLOT(-256),
	  .flags = SFJIT_ROW_RBX_SAVED(-248) },
};
static const struct sfjit_row one_row[] = { { .cfa = SP(8) } };
static const struct sfjit_row plt_rows[] = {
	{ .start = 0, .cfa = SP(8) }, { .start = 11, .cfa = SP(16) },
};
static const struct sfjit_function amd64[] = {
	FDE(0x12340, 64, amd64_rows),
	FDE(0x12380, 0x400, one_row, .flags = SFJIT_FUNCTION_SIGNAL),
	{ .addr = 0x12780, .size = 9, .flags = SFJIT_FUNCTION_SIGNAL },
	FDE(0x12800, 0x333, plt_rows, .repeat = 16),
};

static const struct sfjit_row aarch64_rows[] = {
	{ .start = 0, .cfa = REG(31, 0) },
	{ .start = 4, .cfa = REG(31, 32), .ra = SLOT(-24), .fp = SLOT(-32),
	  .flags = SFJIT_ROW_MANGLED_RA },
	{ .start = 8, .cfa = REG(29, 32), .ra = SLOT(-24), .fp = SLOT(-32),
	  .flags = SFJIT_ROW_MANGLED_RA },
	{ .start = 40, .cfa = REG(31, 0), .ra = REG(9, 0) },
	{ .start = 44, .cfa = REG(31, 0), .flags = SFJIT_ROW_MANGLED_RA },
};
static const struct sfjit_function aarch64[] = {
	FDE(0x10004, 64, aarch64_rows, .flags = SFJIT_FUNCTION_PAUTH_KEY_B),
	FDE(0x20000, 64, aarch64_rows),
};

static const struct sfjit_row s390x_rows[] = {
	{ .start = 0, .cfa = REG(15, 160) },
	{ .start = 6, .cfa = REG(15, 160), .ra = REG(16, 0), .fp = REG(17, 0) },
	{ .start = 10, .cfa = REG(15, 320), .ra = SLOT(-48), .fp = SLOT(-72) },
	{ .start = 16, .cfa = REG(11, 320), .fp = SLOT(-72) },
};
static const struct sfjit_function s390x[] = {
	FDE(0x1002, 200, s390x_rows), FDE(0x2000, 30, s390x_rows),
};

/* In memory of its exact length, so that reads past it are seen. */
static void pack(unsigned int abi, const struct sfjit_function *fdes,
		 size_t nr, struct sfg_output *out)
{
	struct sfg_error err = { 0 };

	if (sfg_write_packed(abi, fdes, nr, out, &err)) {
		result(false, "table is written", "%s", err.reason);
		exit(finish());
	}
}

/* The same by the writer that allocates nothing. */
static void fill(unsigned int abi, const struct sfjit_function *fdes,
		 size_t nr, struct sfg_output *out)
{
	struct sfg_error err = { 0 };
	size_t size = 0, used = 0;
	uint8_t *buf;

	if (sfg_packed_size(abi, fdes, nr, &size, &err)) {
		result(false, "table is measured", "%s", err.reason);
		exit(finish());
	}
	buf = malloc(size);
	memset(buf, 0xaa, size);
	result(sfg_fill_packed(abi, fdes, nr, buf, size - 1, &used, &err) ==
	       -ENOSPC && !used && buf[0] == 0xaa && buf[size - 2] == 0xaa,
	       "nothing is written to a buffer that is too small", "%zu bytes",
	       used);
	result(!sfg_fill_packed(abi, fdes, nr, buf, size, &used, &err) &&
	       used == size, "as many bytes as measured", "%zu of %zu", used,
	       size);
	*out = (struct sfg_output){ buf, size };
}

static const struct sfjit_row *row_at(const struct sfjit_function *fdes,
				      size_t nr, uint64_t addr,
				      const struct sfjit_function **of)
{
	const struct sfjit_row *row = NULL;
	uint64_t at;
	uint32_t i;

	for (*of = NULL; nr--; fdes++)
		if (addr >= fdes->addr && addr - fdes->addr < fdes->size)
			*of = fdes;
	if (!*of)
		return NULL;
	at = addr - (*of)->addr;
	at = (*of)->repeat ? at % (*of)->repeat : at;
	for (i = 0; i < (*of)->nr_rows && (*of)->rows[i].start <= at; i++)
		row = &(*of)->rows[i];
	return row;
}

static bool same_at(const struct sfg_packed *t,
		    const struct sfjit_function *fdes, size_t nr, uint64_t addr)
{
	const struct sfjit_function *of;
	const struct sfjit_row *want = row_at(fdes, nr, addr, &of);
	struct sfjit_function f;
	struct sfjit_row row;
	int ret = sfg_find_packed_row(t, addr, &f, &row, NULL);

	if (!want)
		return ret == -ENOENT && !f.nr_rows &&
		       f.flags == (of ? of->flags : 0) && !of == !f.size;
	/* the end is that of a unit; without a caller there are no flags */
	return !ret && sfg_rows_equal(&row, want) && f.nr_rows == 1 &&
	       addr - f.addr < f.size &&
	       f.addr + f.size < of->addr + of->size + 4 &&
	       (want->flags & (SFJIT_ROW_OUTERMOST | SFG_ROW_FP) ||
		f.flags == of->flags);
}

static bool open_and_check(const struct sfg_output *out, struct sfg_packed *t)
{
	struct sfg_error err = { 0 };

	if (!sfg_open_packed(t, out->data, out->len, &err) &&
	    !sfg_check_packed(t, &err))
		return true;
	result(false, "table is checked", "0x%zx: %s", err.offset, err.reason);
	return false;
}

/* Every address, and what is found one by one is what a walk through it gives. */
static size_t wrong_rows(const struct sfg_packed *t,
			 const struct sfjit_function *fdes, size_t nr,
			 unsigned int unit)
{
	uint64_t lo = fdes[0].addr - unit, addr, at = 0;
	uint64_t hi = fdes[nr - 1].addr + fdes[nr - 1].size + unit;
	struct sfjit_function f, found;
	const struct sfjit_function *of;
	struct sfjit_row row;
	size_t wrong = 0, known = 0;

	for (addr = lo; addr < hi; addr += unit) {
		wrong += !same_at(t, fdes, nr, addr);
		row_at(fdes, nr, addr, &of);
		known += of != NULL;
	}
	while (!t->header.repeat && !sfg_next_packed_row(t, &at, &f, &row, NULL)) {
		for (addr = f.addr; addr < f.addr + f.size; addr += unit)
			known -= same_at(t, fdes, nr, addr);
		sfg_find_packed_row(t, f.addr, &found, &row, NULL);
		wrong += found.addr > f.addr || found.flags != f.flags;
	}
	return wrong + (t->header.repeat ? 0 : known);
}

static void same_as(const char *name, const struct sfg_output *out,
		    const struct sfjit_function *fdes, size_t nr,
		    unsigned int unit)
{
	struct sfg_packed t;
	size_t wrong;

	if (open_and_check(out, &t)) {
		wrong = wrong_rows(&t, fdes, nr, unit);
		result(!wrong, name, "%zu addresses differ", wrong);
	}
	free(out->data);
}

static void test_same(const char *name, unsigned int abi,
		      const struct sfjit_function *fdes, size_t nr,
		      unsigned int unit)
{
	struct sfg_output out;

	pack(abi, fdes, nr, &out);
	same_as(name, &out, fdes, nr, unit);
	fill(abi, fdes, nr, &out);
	same_as(name, &out, fdes, nr, unit);
}

static const uint8_t amd64_bytes[] = {
	0x53, 0x50, 1, 3, 0, 0, 5, 0,		/* magic to nr_rules */
	0, 0x10, 0, 0, 0, 0, 0, 0,		/* text_start */
	0x0a, 2, 0, 0, 14, 0, 0, 0,		/* text_length, blocks_len */
	0, 0, 0, 0, 0, 0, 0, 0,
	/* nothing is known */
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* CFA = sp + 8, RA at CFA - 8 */
	1, 0, 0, 0, 8, 0, 0, 0, 0xf8, 0xff, 0xff, 0xff, 0, 0, 0, 0,
	/* the same from fp + 16, FP at CFA - 16, rbx at CFA - 24 */
	0xc1, 3, 0, 0, 16, 0, 0, 0, 0xf8, 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff,
	0xff,
	/* CFA = [sp + 40] + 8, and the addend */
	0x42, 0xc7, 0xa0, 0, 40, 0, 0, 0, 0xf8, 0xff, 0xff, 0xff, 0, 0, 0, 0,
	6, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* index */
	0, 0, 0, 0x80, 1, 0, 0, 0, 4, 0, 0, 0x80,
	/* one change, at 16; four of them */
	1, 16, 0, 1,
	4, 4, 6, 7, 10, 1, 2, 1, 3, 0,
	0, 0, 0, 0, 0, 0, 0, 0,
};

static const struct sfjit_row exact_rows[] = {
	{ .start = 0, .cfa = SP(8) },
	{ .start = 0x1f4, .cfa = REG(6, 16), .fp = SLOT(-16),
	  .flags = SFJIT_ROW_RBX_SAVED(-24) },
	{ .start = 0x1f6, .cfa = SP(8) },
	{ .start = 0x1f7, .cfa = LOADED(7, 40, 8) },
};
static const struct sfjit_function exact[] = { FDE(0x1010, 0x1fa, exact_rows) };

static const struct sfjit_row big_rows[] = {
	{ .start = 0, .cfa = REG(15, 160) },
	{ .start = 6, .cfa = REG(15, 320), .ra = REG(16, 0), .fp = SLOT(-72) },
};
static const struct sfjit_function big[] = { FDE(0x1002, 8, big_rows) };

static const uint8_t s390x_bytes[] = {
	0x50, 0x53, 1, 4, 1, 0, 0, 3,
	0, 0, 0, 0, 0, 0, 0x10, 0,
	0, 0, 0, 10, 0, 0, 0, 8,
	0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* CFA = r15 + 160, RA in the link register */
	2, 0x4f, 0, 0, 0, 0, 0, 160, 0, 0, 0, 0, 0, 0, 0, 0,
	/* CFA = r15 + 320, RA in f0, FP at CFA - 72 */
	2, 0x4f, 0x50, 0xa0, 0, 0, 1, 64, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xb8,
	0x80, 0, 0, 0,
	/* in units of 2 bytes */
	3, 1, 4, 5, 0, 1, 2, 0,
	0, 0, 0, 0, 0, 0, 0, 0,
};

static void test_bytes(const char *name, unsigned int abi,
		       const struct sfjit_function *fdes, const uint8_t *want,
		       size_t len)
{
	struct sfg_output out;
	size_t i = 0;

	pack(abi, fdes, 1, &out);
	while (i < len && i < out.len && ((uint8_t *)out.data)[i] == want[i])
		i++;
	result(out.len == len && i == len, name, "%zu bytes, differ at %zu",
	       out.len, i);
	free(out.data);
}

/* More rules than ids of a byte: some buckets have wide ones. */
static void test_wide(unsigned int abi, const char *name)
{
	enum { NR = 700 };
	static struct sfjit_row rows[3 * NR];
	const struct sfjit_function fde = FDE(0x5000, 3 * NR * 4, rows);
	unsigned int i;

	for (i = 0; i < 3 * NR; i++) {
		sfg_entry_row(abi, &rows[i]);
		rows[i].start = 4 * i;
		rows[i].cfa.offset += 8 * (i % 3 ? i % 3 : i);
	}
	test_same(name, abi, &fde, 1, 4);
}

/* Buckets count from the first FDE. */
static void test_places(void)
{
	struct sfjit_function fdes[2] = {
		FDE(0, 64, amd64_rows), FDE(0, 0x333, plt_rows, .repeat = 16),
	};
	size_t size = 0, first = 0, differ = 0;
	struct sfg_output out;
	struct sfg_packed t;
	unsigned int i;

	for (i = 0; i < 256; i += 17) {
		fdes[0].addr = 0x12300 + i;
		fdes[1].addr = fdes[0].addr + 700;
		sfg_packed_size(SFRAME_ABI_AMD64_LE, fdes, 2, &size, NULL);
		first = i ? first : size;
		differ += size != first;
	}
	result(!differ, "the size does not depend on the address", "%zu differ",
	       differ);
	fill(SFRAME_ABI_AMD64_LE, fdes, 2, &out);
	result(open_and_check(&out, &t) && t.header.text_start == fdes[0].addr,
	       "code starts at the first FDE", "0x%llx",
	       (unsigned long long)t.header.text_start);
	free(out.data);
}

/* Blocks of buckets in a row are stored once if they are equal. */
static void test_neighbours(void)
{
	static const struct sfjit_row equal[] = {
		{ .start = 0, .cfa = SP(8) }, { .start = 16, .cfa = SP(16) },
		{ .start = 256, .cfa = SP(8) }, { .start = 272, .cfa = SP(16) },
	};
	static const struct sfjit_row other[] = {
		{ .start = 0, .cfa = SP(8) }, { .start = 16, .cfa = SP(16) },
		{ .start = 256, .cfa = SP(24) }, { .start = 272, .cfa = SP(8) },
	};
	const struct sfjit_function fdes[] = {
		FDE(0x1000, 512, equal), FDE(0x1000, 512, other),
	};
	struct sfg_output out;
	struct sfg_packed t;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		test_same("neighbours", SFRAME_ABI_AMD64_LE, &fdes[i], 1, 1);
		fill(SFRAME_ABI_AMD64_LE, &fdes[i], 1, &out);
		result(open_and_check(&out, &t) &&
		       t.header.blocks_len == (i ? 8 : 4), "blocks",
		       "%u bytes", t.header.blocks_len);
		free(out.data);
	}
}

static void test_empty(void)
{
	struct sfjit_function fde;
	struct sfg_output out;
	struct sfg_packed t;
	struct sfjit_row row;
	uint64_t at = 0;

	pack(SFRAME_ABI_AMD64_LE, NULL, 0, &out);
	result(open_and_check(&out, &t) && out.len == 32 + 16 + 8 &&
	       sfg_next_packed_row(&t, &at, &fde, &row, NULL) == -ENOENT &&
	       sfg_find_packed_row(&t, 0, &fde, &row, NULL) == -ENOENT,
	       "table of no code", "it has some");
	free(out.data);
}

/* All-zero memory after a header is a table that knows nothing. */
static void test_zero(void)
{
	struct sframe_packed_header h = {
		.magic = SFRAME_PACKED_MAGIC, .version = 1,
		.abi_arch = SFRAME_ABI_AMD64_LE, .nr_rules = 16,
		.text_start = 0x1000, .text_length = 0x10000, .blocks_len = 64,
		.writer = UINT64_MAX,
	};
	static uint8_t memory[sizeof(h) + 16 * 16 + 4 * 256 + 64 + 8];
	const struct sfg_output out = { memory, sizeof(memory) };
	struct sfjit_function fde;
	struct sfjit_row row;
	struct sfg_packed t;
	uint64_t at = 0;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	h.magic = __builtin_bswap16(h.magic);
	h.nr_rules = __builtin_bswap16(h.nr_rules);
	h.text_start = __builtin_bswap64(h.text_start);
	h.text_length = __builtin_bswap32(h.text_length);
	h.blocks_len = __builtin_bswap32(h.blocks_len);
#endif
	memcpy(memory, &h, sizeof(h));
	result(open_and_check(&out, &t) &&
	       sfg_next_packed_row(&t, &at, &fde, &row, NULL) == -ENOENT,
	       "table of zeros", "it knows something");
}

static void refused(const char *name, unsigned int abi,
		    const struct sfjit_function *fdes, size_t nr, int code,
		    size_t offset)
{
	struct sfg_output out = { (void *)name, 17 };
	struct sfg_error err = { 0 };
	int ret = sfg_write_packed(abi, fdes, nr, &out, &err);

	result(ret == code && err.reason && err.offset == offset &&
	       out.data == name && out.len == 17, name, "%d at %zu: %s", ret,
	       err.offset, err.reason);
	err = (struct sfg_error){ 0 };
	ret = sfg_packed_size(abi, fdes, nr, &out.len, &err);
	result(ret == code && err.reason && err.offset == offset &&
	       out.len == 17, name, "size: %d at %zu: %s", ret, err.offset,
	       err.reason);
	ret = sfg_fill_packed(abi, fdes, nr, NULL, SIZE_MAX, &out.len, &err);
	result(ret == code && out.len == 17, name, "fill: %d", ret);
}

/* Other offsets are not made into some that rows can have. */
static void test_rbx_flags(void)
{
	static const int bad[] = { -8, -20, -256, -264, -280, 0, 16 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		IS("rbx elsewhere", SFJIT_ROW_RBX_SAVED(bad[i]), 0);
	IS("rbx next to the return address", SFJIT_ROW_RBX_SAVED(-16), 16);
	IS("rbx as far as can be", SFJIT_ROW_RBX_SAVED(-248), 248);
}

static void test_refused(void)
{
	static const struct sfjit_row unsorted[] = {
		{ .start = 0, .cfa = SP(8) }, { .start = 4, .cfa = SP(16) },
		{ .start = 4, .cfa = SP(8) },
	};
	static const struct sfjit_row flags[] = {
		{ .cfa = SP(8), .flags = 0x100 },
	};
	static const struct sfjit_row rbx[] = {
		{ .cfa = REG(3, 8), .flags = SFJIT_ROW_RBX_KEPT },
		{ .cfa = LOADED(6, -8, 0), .flags = SFJIT_ROW_RBX_SAVED(-16) },
		{ .cfa = SP(8), .ra = REG(2, 0), .flags = SFJIT_ROW_RBX_KEPT },
		{ .cfa = SP(8), .fp = REG(2, 0), .flags = SFJIT_ROW_RBX_KEPT },
		{ .flags = SFJIT_ROW_OUTERMOST | SFJIT_ROW_RBX_KEPT },
		{ .flags = SFG_ROW_FP | SFJIT_ROW_RBX_KEPT },
	};
	static const struct sfjit_row other_rbx[] = {
		{ .cfa = REG(31, 32), .ra = SLOT(-8),
		  .flags = SFJIT_ROW_RBX_KEPT },
	};
	static const struct sfjit_function other_machine =
		FDE(0x1000, 4, other_rbx);
	static const struct sfjit_function bad[] = {
		FDE(0x1000, 16, one_row), FDE(0x1010, 16, unsorted),
	};
	static const struct sfjit_function bad_row = FDE(0x1000, 1, flags);
	static const struct sfjit_function overlap[] = {
		FDE(0x1000, 16, one_row), FDE(0x100f, 16, one_row),
	};
	static const struct sfjit_function apart[] = {
		FDE(0x1000, 16, one_row), FDE(0x2000000, 16, one_row),
	};
	static const struct sfjit_function repeats =
		FDE(0x1000, 0x100000, plt_rows, .repeat = 16);
	const struct sfjit_function twice[] = {
		FDE(0xf00, 16, one_row), repeats,
	};
	static const struct sfjit_function far[] = {
		FDE(0x1000, 16, one_row), FDE(1ULL << 40, 16, one_row),
	};
	struct sfjit_function with_rbx = FDE(0x1000, 1, flags);
	unsigned int i;

	refused("rows that do not increase", SFRAME_ABI_AMD64_LE, bad, 2,
		-EINVAL, 1);
	refused("row with an unknown flag", SFRAME_ABI_AMD64_LE, &bad_row, 1,
		-EINVAL, 0);
	for (i = 0; i < ARRAY_SIZE(rbx); i++) {
		with_rbx.rows = &rbx[i];
		refused("row that cannot say where rbx is", SFRAME_ABI_AMD64_LE,
			&with_rbx, 1, -EINVAL, 0);
	}
	refused("rbx of another machine", SFRAME_ABI_AARCH64_LE, &other_machine,
		1, -EINVAL, 0);
	refused("FDEs that overlap", SFRAME_ABI_AMD64_LE, overlap, 2, -EINVAL,
		1);
	refused("code that is sparse", SFRAME_ABI_AMD64_LE, apart, 2, -E2BIG,
		0);
	refused("more than 4 GiB of code", SFRAME_ABI_AMD64_LE, far, 2, -E2BIG,
		0);
	refused("rows that repeat too often", SFRAME_ABI_AMD64_LE, twice, 2,
		-E2BIG, 0);
	refused("ABI without a number", RISCV, amd64, 1, -ENOTSUP, 0);
}

static void all_ids(const struct sfg_output *out,
		    const struct sfjit_function *fde, size_t nr)
{
	struct sfg_packed t = { 0 };
	unsigned int i, wrong = 0;

	if (open_and_check(out, &t))
		for (i = 0; i < fde->size; i += 997)
			wrong += !same_at(&t, fde, nr, fde->addr + i);
	result(!wrong && t.header.nr_rules == UINT16_MAX,
	       "as many rules as there are ids", "%u rules, %u wrong",
	       t.header.nr_rules, wrong);
	free(out->data);
}

/* 65,535 ids are the most. */
static void test_many_rules(void)
{
	enum { MOST = UINT16_MAX - 1 };
	struct sfjit_row *rows = calloc(MOST + 1, sizeof(*rows));
	struct sfjit_function fde = {
		.addr = 0x1000, .size = MOST + 1, .rows = rows, .nr_rows = MOST,
	};
	struct sfg_output out;
	unsigned int i;

	for (i = 0; i <= MOST; i++) {
		sfg_entry_row(SFRAME_ABI_AMD64_LE, &rows[i]);
		rows[i].start = i;
		rows[i].cfa.offset += 8 * i;
	}
	pack(SFRAME_ABI_AMD64_LE, &fde, 1, &out);
	all_ids(&out, &fde, 1);
	fill(SFRAME_ABI_AMD64_LE, &fde, 1, &out);
	all_ids(&out, &fde, 1);
	fde.nr_rows++;
	refused("one rule more", SFRAME_ABI_AMD64_LE, &fde, 1, -E2BIG, 0);
	free(rows);
}

/* Wherever it starts: an address in an instruction has the row of before. */
static void test_rounding(void)
{
	static const struct sfjit_row rows[] = {
		{ .start = 0, .cfa = REG(31, 0) },
		{ .start = 2, .cfa = REG(31, 16) },
		{ .start = 3, .cfa = REG(31, 32) },
		{ .start = 6, .cfa = REG(31, 48) },
	};
	const struct sfjit_function fdes[] = {
		FDE(0x1000, 16, rows), FDE(0x1012, 15, rows),
		FDE(0x1030, 0x300, rows, .repeat = 7),
	};

	test_same("rows that start in instructions", SFRAME_ABI_AARCH64_LE, fdes,
		  3, 4);
}

static void test_repeat(void)
{
	const struct sfjit_function fde =
		FDE(0x12345, 0x1000, plt_rows, .repeat = 16);
	struct sfjit_function f;
	struct sfjit_row row;
	struct sfg_output out;
	struct sfg_packed t;
	uint64_t at = 0;

	test_same("table that repeats", SFRAME_ABI_AMD64_LE, &fde, 1, 1);
	pack(SFRAME_ABI_AMD64_LE, &fde, 1, &out);
	result(open_and_check(&out, &t) && t.nr_buckets == 1 &&
	       !sfg_next_packed_row(&t, &at, &f, &row, NULL) && !row.start &&
	       f.addr == fde.addr && f.size == fde.size && f.repeat == 16 &&
	       !sfg_next_packed_row(&t, &at, &f, &row, NULL) &&
	       row.start == 11 &&
	       sfg_next_packed_row(&t, &at, &f, &row, NULL) == -ENOENT,
	       "rows of a block", "row at %u, at %llu", row.start,
	       (unsigned long long)at);
	free(out.data);
}

/* What is accepted can be used without an error. */
static bool is_usable(const struct sfg_packed *t)
{
	uint64_t at = 0, start = t->header.text_start;
	struct sfjit_function fde;
	struct sfjit_row row;
	int ret;

	do
		ret = sfg_next_packed_row(t, &at, &fde, &row, NULL);
	while (!ret);
	for (at = 0; at < 0x1000 && (ret == -ENOENT || !ret); at += 61)
		ret = sfg_find_packed_row(t, start + at, &fde, &row, NULL);
	return !ret || ret == -ENOENT;
}

/* Also by who does not check it: no read outside, and an error or an answer. */
static bool is_harmless(const uint8_t *data, size_t len)
{
	struct sfg_error err = { 0 };
	struct sfjit_function fde;
	struct sfjit_row row;
	struct sfg_packed t;
	uint64_t at;
	int ret = sfg_open_packed(&t, data, len, &err);

	if (ret)
		return err.reason && err.offset <= len;
	for (at = 0; at < 0x1000; at += 61) {
		ret = sfg_find_packed_row(&t, t.header.text_start + at, &fde,
					  &row, &err);
		if (ret && ret != -ENOENT && ret != -EINVAL)
			return false;
	}
	ret = sfg_check_packed(&t, &err);
	return ret ? err.reason && err.offset <= len : is_usable(&t);
}

static void test_damage(const char *name, unsigned int abi,
			const struct sfjit_function *fdes, size_t nr)
{
	struct sfg_output out;
	size_t i, bad = 0, first = 0;
	static const uint8_t values[] = { 0, 1, 2, 5, 6, 0x7f, 0xff };
	unsigned int v;
	uint8_t *p, byte, *cut;

	pack(abi, fdes, nr, &out);
	p = out.data;
	for (i = 0; i < out.len; i++) {
		byte = p[i];
		for (v = 0; v < 8 + ARRAY_SIZE(values); v++) {
			p[i] = v < 8 ? byte ^ 1u << v : values[v - 8];
			if (!is_harmless(p, out.len) && !bad++)
				first = i;
		}
		p[i] = byte;
	}
	for (i = 0; i < out.len; i++) {
		cut = malloc(i);
		if (i)
			memcpy(cut, p, i);
		bad += sfg_open_packed(&(struct sfg_packed){ 0 }, cut, i, NULL)
		       != -EINVAL;
		free(cut);
	}
	result(!bad, name, "%zu, first at %zu", bad, first);
	free(out.data);
}

/* One byte or two of the table with known bytes, and the reason for refusal. */
static void test_reasons(void)
{
	static const struct {
		uint8_t at[2], byte[2];
		size_t offset;
		int code;
		const char *reason;
	} tests[] = {
		{ { 0 }, { 0 }, 0, -EINVAL, "no magic of a packed table" },
		{ { 2 }, { 2 }, 2, -ENOTSUP, "version of the table is not 1" },
		{ { 3 }, { 77 }, 3, -ENOTSUP, "unknown SFrame ABI" },
		{ { 4 }, { 1 }, 4, -EINVAL, "unit is not the ABI's" },
		{ { 6 }, { 0 }, 6, -EINVAL, "no rules" },
		{ { 6 }, { 6 }, 20, -EINVAL, "table is truncated" },
		{ { 16, 17 }, { 0x0b, 3 }, 20, -EINVAL, "table is truncated" },
		{ { 20 }, { 15 }, 20, -EINVAL, "table is truncated" },
		{ { 32 }, { 4 }, 32, -EINVAL,
		  "rule 0 is not that nothing is known" },
		{ { 33 }, { 1 }, 32, -EINVAL, "rule in another form" },
		{ { 48 }, { 7 }, 48, -EINVAL, "unknown kind of rule" },
		{ { 48 }, { 6 }, 48, -EINVAL, "unknown kind of rule" },
		{ { 48 }, { 9 }, 48, -EINVAL,
		  "rule that the format does not allow" },
		{ { 49 }, { 0x47 }, 48, -EINVAL, "rule in another form" },
		{ { 81 }, { 0xd0 }, 80, -EINVAL,
		  "rule that the format does not allow" },
		{ { 80 }, { 2 }, 96, -EINVAL, "unknown kind of rule" },
		{ { 100 }, { 0 }, 80, -EINVAL, "rule in another form" },
		{ { 97 }, { 1 }, 96, -EINVAL, "addend in another form" },
		{ { 116 }, { 5 }, 116, -EINVAL, "no such rule" },
		{ { 116 }, { 4 }, 116, -EINVAL, "addend in place of a rule" },
		{ { 114 }, { 1 }, 112, -EINVAL,
		  "block is outside of the table" },
		{ { 112 }, { 13 }, 112, -EINVAL,
		  "block is outside of the table" },
		{ { 124 }, { 0 }, 112, -EINVAL, "block without changes" },
		{ { 125 }, { 0 }, 112, -EINVAL, "changes do not increase" },
		{ { 127 }, { 9 }, 112, -EINVAL, "no such rule" },
		{ { 127 }, { 4 }, 112, -EINVAL, "addend in place of a rule" },
	};
	uint8_t copy[sizeof(amd64_bytes)];
	struct sfg_error err;
	struct sfg_packed t;
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		memcpy(copy, amd64_bytes, sizeof(copy));
		copy[tests[i].at[0]] = tests[i].byte[0];
		if (tests[i].at[1])
			copy[tests[i].at[1]] = tests[i].byte[1];
		err = (struct sfg_error){ 0, "none" };
		ret = sfg_open_packed(&t, copy, sizeof(copy), &err);
		if (!ret)
			ret = sfg_check_packed(&t, &err);
		result(ret == tests[i].code && err.offset == tests[i].offset &&
		       !strcmp(err.reason, tests[i].reason), tests[i].reason,
		       "%d, 0x%zx: %s", ret, err.offset, err.reason);
	}
}

/* Of each row, the header and the rules of a table with that row alone. */
static bool has_rules(unsigned int abi, const struct sfjit_row *row,
		      uint8_t flags)
{
	struct sfjit_row first = *row;
	struct sfjit_function fde = {
		.addr = 0x1000, .size = 0x400, .rows = &first, .nr_rows = 1,
		.flags = flags,
	};
	struct sframe_packed_rule rules[2];
	struct sframe_packed_header want, header;
	struct sfg_output out;
	int nr = sfg_pack_row(abi, row, flags, rules);
	bool same;

	first.start = 0;
	MUST(!sfg_write_packed(abi, &fde, 1, &out, NULL));
	memcpy(&want, out.data, sizeof(want));
	same = nr == (row->cfa.addend ? 2 : 1) &&
	       !sfg_init_packed(abi, &header) && want.magic == header.magic &&
	       want.abi_arch == header.abi_arch && !header.nr_rules &&
	       want.unit_shift == header.unit_shift &&
	       !memcmp((uint8_t *)out.data + sizeof(want) + sizeof(rules[0]),
		       rules, nr * sizeof(rules[0]));
	free(out.data);
	return same;
}

static void test_pack_rows(const char *name, unsigned int abi,
			   const struct sfjit_function *fdes, size_t nr)
{
	unsigned int wrong = 0;
	size_t i, k;

	for (i = 0; i < nr; i++)
		for (k = 0; k < fdes[i].nr_rows; k++)
			wrong += !has_rules(abi, &fdes[i].rows[k],
					    fdes[i].flags);
	IS(name, wrong, 0);
}

static void test_pack_row(void)
{
	const struct sfjit_row bad = { .cfa = SLOT(8) };
	struct sframe_packed_rule rules[2];
	struct sframe_packed_header header;

	test_pack_rows("AMD64: rules of rows", SFRAME_ABI_AMD64_LE,
		       amd64, ARRAY_SIZE(amd64));
	test_pack_rows("AArch64: rules of rows",
		       SFRAME_ABI_AARCH64_LE, aarch64,
		       ARRAY_SIZE(aarch64));
	test_pack_rows("s390x: rules of rows", SFRAME_ABI_S390X_BE,
		       s390x, ARRAY_SIZE(s390x));
	IS("a signal trampoline", sfg_pack_row(SFRAME_ABI_AMD64_LE,
					       NULL, 0, rules), 1);
	IS("is its rule", rules[0].kind, SFRAME_PACKED_SIGNAL);
	IS("a row that is not expressible",
	   sfg_pack_row(SFRAME_ABI_AMD64_LE, &bad, 0, rules),
	   -EINVAL);
	IS("a row of no ABI", sfg_pack_row(0, one_row, 0, rules), -ENOTSUP);
	IS("a header of no ABI", sfg_init_packed(0, &header), -ENOTSUP);
}

int main(void)
{
	static const struct sfjit_function *const all[] = {
		amd64, aarch64, s390x, exact,
	};

	test_bytes("bytes, AMD64", SFRAME_ABI_AMD64_LE, exact, amd64_bytes,
		   sizeof(amd64_bytes));
	test_bytes("bytes, s390x", SFRAME_ABI_S390X_BE, big, s390x_bytes,
		   sizeof(s390x_bytes));
	test_same("rows, AMD64", SFRAME_ABI_AMD64_LE, all[0], 4, 1);
	test_same("rows, AArch64", SFRAME_ABI_AARCH64_LE, all[1], 2, 4);
	test_same("rows, AArch64 BE", SFRAME_ABI_AARCH64_BE, all[1], 2, 4);
	test_same("rows, s390x", SFRAME_ABI_S390X_BE, all[2], 2, 2);
	test_wide(SFRAME_ABI_AMD64_LE, "ids of two bytes, AMD64");
	test_wide(SFRAME_ABI_S390X_BE, "ids of two bytes, s390x");
	test_places();
	test_neighbours();
	test_empty();
	test_zero();
	test_rounding();
	test_repeat();
	test_pack_row();
	test_rbx_flags();
	test_refused();
	test_many_rules();
	test_reasons();
	test_damage("damage, AMD64", SFRAME_ABI_AMD64_LE, amd64, 4);
	test_damage("damage, AArch64 BE", SFRAME_ABI_AARCH64_BE, aarch64, 1);
	test_damage("damage, s390x", SFRAME_ABI_S390X_BE, s390x, 2);
	return finish();
}
