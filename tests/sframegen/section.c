// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Description: rows become the bytes of the format and are read back. */
#include "test.h"

#define SP(off)		SFJIT_REG(7, off)
#define FP(off)		SFJIT_REG(6, off)
#define SLOT(off)	{ .offset = (off), .base = SFJIT_BASE_CFA, .deref = 1 }
#define AT(r, off)	{ .offset = (off), .reg = (r), \
			  .base = SFJIT_BASE_REG, .deref = 1 }

static const struct sfjit_row push_rbp[] = {
	{ .start = 0, .cfa = SP(8) },
	{ .start = 1, .cfa = SP(16), .fp = SLOT(-16) },
	{ .start = 4, .cfa = FP(16), .fp = SLOT(-16) },
	{ .start = 300, .cfa = SP(8) },
};

static const struct sfjit_row wide[] = {
	{ .start = 0, .cfa = SP(127) },
	{ .start = 1, .cfa = SP(128) },
	{ .start = 2, .cfa = SP(32767), .fp = SLOT(-32768) },
	{ .start = 3, .cfa = SP(32768) },
	{ .start = 70000, .flags = SFJIT_ROW_OUTERMOST },
};

static const struct sfjit_row drap[] = {
	{ .start = 0, .cfa = SP(8) },
	{ .start = 1, .cfa = { .reg = 10, .base = SFJIT_BASE_REG } },
	{ .start = 2, .cfa = AT(6, -8), .fp = AT(6, 0) },
	{ .start = 3, .cfa = SP(8), .ra = SLOT(-24), .fp = SLOT(-16) },
	{ .start = 4, .cfa = SP(8), .ra = { .reg = 2,
				.base = SFJIT_BASE_REG } },
	{ .start = 5, .flags = SFJIT_ROW_OUTERMOST },
};

static const struct sfjit_row slot[] = {
	{ .start = 0, .cfa = SP(8) },
	{ .start = 11, .cfa = SP(16) },
};

static const struct sfjit_function fdes[] = {
	{ .addr = 0x1000, .size = 400, .rows = push_rbp, .nr_rows = 4 },
	{ .addr = 0x2000, .size = 80000, .rows = wide, .nr_rows = 5 },
	{ .addr = 0x20000, .size = 16, .rows = drap, .nr_rows = 6 },
	{ .addr = 0x20010, .size = 0x10000, .rows = slot, .nr_rows = 2,
	  .repeat = 16 },
	{ .addr = 0x40000, .size = 10, .flags = SFJIT_FUNCTION_SIGNAL },
};

#define NR	ARRAY_SIZE(fdes)

static uint8_t section[4096];
static size_t section_len;

static void test_write(void)
{
	struct sfg_error err = { 0 };
	size_t size = 0;
	int ret;

	ret = sfg_section_size(SFRAME_ABI_AMD64_LE, fdes, NR, &size, &err);
	result(!ret && size > 28 + NR * 21 && size <= SFG_SECTION_MAX(NR, 17),
	       "size", "%d, %zu: %s", ret, size, err.reason);
	ret = sfg_write_section(SFRAME_ABI_AMD64_LE, fdes, NR, 0x900000,
				section, size - 1, &section_len, &err);
	result(ret == -ENOSPC, "one byte too few", "%d", ret);
	ret = sfg_write_section(SFRAME_ABI_AMD64_LE, fdes, NR, 0x900000,
				section, size, &section_len, &err);
	result(!ret && section_len == size, "fill", "%d, %zu of %zu", ret,
	       section_len, size);
}

static void test_bytes(void)
{
	static const uint8_t want[] = {
		0xe2, 0xde, 3, 5, 3, 0, 0xf8, 0, 1, 0, 0, 0, 2, 0, 0, 0,
		11, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0,
		/* -28 + 0x1000 */
		0xe4, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
		2, 0, 0x10, 0, 16, 0, 3, 8, 11, 3, 16,
	};
	struct sfjit_function fde = {
		.addr = 0x1000, .size = 0x10000, .rows = slot, .nr_rows = 2,
		.repeat = 16,
	};
	uint8_t buf[SFG_SECTION_MAX(1, 2)];
	size_t used = 0;
	int ret = sfg_write_section(SFRAME_ABI_AMD64_LE, &fde, 1, 0, buf,
				    sizeof(buf), &used, NULL);

	result(!ret && used == sizeof(want) && !memcmp(buf, want, used),
	       "bytes of a window", "%d, %zu bytes", ret, used);
}

static bool rows_match(struct sfg_row_reader *r,
		       const struct sfjit_function *want)
{
	struct sfjit_row row;
	uint32_t i;

	for (i = 0; i < want->nr_rows; i++)
		if (sfg_read_row(r, &row, NULL) ||
		    memcmp(&row, &want->rows[i], sizeof(row)))
			return false;
	return sfg_read_row(r, &row, NULL) == -ENOENT;
}

static void test_read(void)
{
	struct sfg_section s;
	struct sfg_row_reader r;
	struct sfg_error err = { 0 };
	size_t i;
	int ret = sfg_open_section(&s, section, section_len, 0x900000, &err);

	if (!ret)
		ret = sfg_check_section(&s, &err);
	result(!ret, "reader accepts it", "%d: 0x%zx: %s", ret, err.offset,
	       err.reason);
	for (i = 0; i < NR; i++) {
		ret = sfg_read_fde(&s, i, &r, &err);
		result(!ret && r.fde.addr == fdes[i].addr &&
		       r.fde.size == fdes[i].size &&
		       r.fde.flags == fdes[i].flags &&
		       r.fde.repeat == fdes[i].repeat &&
		       rows_match(&r, &fdes[i]), "FDE is read back",
		       "number %zu: %d", i, ret);
	}
	result(sfg_read_fde(&s, NR, &r, &err) == -ENOENT, "no FDE after",
	       "found");
}

static void find(const struct sfg_section *s, uint64_t addr, int want,
		 uint32_t start)
{
	struct sfjit_function fde;
	struct sfjit_row row = { .start = 0xffff };
	int ret = sfg_find_row(s, addr, &fde, &row, NULL);

	result(ret == want && (ret || row.start == start), "find",
	       "0x%llx: %d, row %u", (unsigned long long)addr, ret, row.start);
}

static void test_find(void)
{
	struct sfg_section s;

	sfg_open_section(&s, section, section_len, 0x900000, NULL);
	find(&s, 0xfff, -ENOENT, 0);
	find(&s, 0x1000, 0, 0);
	find(&s, 0x1001, 0, 1);
	find(&s, 0x1003, 0, 1);
	find(&s, 0x1000 + 399, 0, 300);
	find(&s, 0x1000 + 400, -ENOENT, 0);
	find(&s, 0x2000 + 69999, 0, 3);
	find(&s, 0x20010 + 160 + 10, 0, 0);
	find(&s, 0x20010 + 160 + 11, 0, 11);
	find(&s, 0x20010 + 0xffff, 0, 11);
	find(&s, 0x20010 + 0x10000, -ENOENT, 0);
	find(&s, 0x40000, -ENOENT, 0);
	find(&s, UINT64_MAX, -ENOENT, 0);
}

/* Bytes that nothing has written to. */
static bool untouched(const void *p, size_t len)
{
	const uint8_t *bytes = p;
	size_t i;

	for (i = 0; i < len && bytes[i] == 0xa5; i++)
		;
	return i == len;
}

/* What fails leaves its arguments alone, but sfg_find_row() where it says. */
static void test_failures(void)
{
	struct sfg_section s;
	struct sfg_row_reader r;
	struct sfjit_function fde;
	struct sfjit_row row;
	uint8_t copy[sizeof(section)];
	size_t rows;
	int ret;

	memset(&r, 0xa5, sizeof(r));
	memset(&fde, 0xa5, sizeof(fde));
	memset(&row, 0xa5, sizeof(row));
	memcpy(copy, section, section_len);
	sfg_open_section(&s, copy, section_len, 0x900000, NULL);
	ret = sfg_find_row(&s, 0xfff, &fde, &row, NULL);
	result(ret == -ENOENT && untouched(&fde, sizeof(fde)) &&
	       untouched(&row, sizeof(row)), "no FDE: nothing is written",
	       "%d", ret);
	/* reserved bits in the second row of the first FDE */
	rows = s.fres_off + sizeof(struct sframe_fde_attr);
	copy[rows + 4 + 2] |= 0x80;
	ret = sfg_find_row(&s, 0x1000 + 2, &fde, &row, NULL);
	result(ret == -EINVAL && untouched(&fde, sizeof(fde)) &&
	       untouched(&row, sizeof(row)), "bad row: nothing is written",
	       "%d", ret);
	copy[s.fres_off + 2] = 0xff;
	ret = sfg_read_fde(&s, 0, &r, NULL);
	result(ret == -EINVAL && untouched(&r, sizeof(r)),
	       "bad FDE: nothing is written", "%d", ret);
	ret = sfg_find_row(&s, 0x40000, &fde, &row, NULL);
	result(ret == -ENOENT && fde.addr == 0x40000 && fde.size == 10 &&
	       untouched(&row, sizeof(row)), "no row: the FDE is written",
	       "%d", ret);
}

static void test_rebase(void)
{
	uint8_t copy[sizeof(section)];
	struct sfg_section s;

	memcpy(copy, section, section_len);
	result(!sfg_rebase(copy, section_len, -0x1000), "rebase", "failed");
	sfg_open_section(&s, copy, section_len, 0x900000, NULL);
	find(&s, 0x0, 0, 0);
	find(&s, 300, 0, 300);
	result(sfg_rebase(copy, 40, 1) == -EINVAL, "rebase, cut off",
	       "accepted");
}

static void refuse_write(const char *name, const struct sfjit_function *bad,
			 size_t nr, int want)
{
	size_t size;
	struct sfg_error err = { 0 };
	int ret = sfg_section_size(SFRAME_ABI_AMD64_LE, bad, nr, &size, &err);

	result(ret == want && err.reason, name, "%d", ret);
	if (nr != 1)
		return;
	err.reason = NULL;
	ret = sfg_check_function(SFRAME_ABI_AMD64_LE, bad, &err);
	result(ret == want && err.reason, name, "by itself: %d", ret);
}

static void check_function(const char *name, unsigned int abi,
			   unsigned int sp, int want)
{
	struct sfjit_row row = { .cfa = SFJIT_REG(sp, 16) };
	struct sfjit_function fde = { .addr = 16, .size = 16, .rows = &row,
				      .nr_rows = 1 };
	size_t size;

	row.ra = (struct sfjit_rule)SLOT(-8);
	IS(name, sfg_check_function(abi, &fde, NULL), want);
	fde.size = 0;
	IS(name, sfg_check_function(abi, &fde, NULL), want ? want : -EINVAL);
	IS(name, sfg_section_size(abi, &fde, 1, &size, NULL), -ENOTSUP);
}

static void test_no_sections(void)
{
	check_function("rows of RISC-V", RISCV, 2, 0);
	check_function("rows of Power", POWER, 1, 0);
	check_function("rows of no machine", 99, 1, -ENOTSUP);
}

static void test_refused_input(void)
{
	struct sfjit_row rows[3] = { push_rbp[0], push_rbp[1], push_rbp[2] };
	struct sfjit_function two[2] = { fdes[0], fdes[1] };
	struct sfjit_function fde = { .addr = 16, .size = 16, .rows = rows,
			       .nr_rows = 3 };
	size_t size;

	two[1].addr = two[0].addr + two[0].size - 1;
	refuse_write("overlap", two, 2, -EINVAL);
	rows[2].start = 1;
	refuse_write("equal starts", &fde, 1, -EINVAL);
	rows[2].start = 16;
	refuse_write("row at the end", &fde, 1, -EINVAL);
	fde.repeat = 4;
	rows[2].start = 4;
	refuse_write("row at the end of a block", &fde, 1, -EINVAL);
	fde.repeat = 0;
	rows[0].start = 1;
	rows[1].start = 2;
	refuse_write("no row at 0", &fde, 1, -EINVAL);
	rows[0].start = 0;
	rows[0].cfa.reg = 17;
	refuse_write("register that is not in the ABI", &fde, 1, -EINVAL);
	rows[0].cfa = (struct sfjit_rule)SLOT(8);
	refuse_write("CFA from the CFA", &fde, 1, -EINVAL);
	rows[0] = push_rbp[0];
	rows[0].ra = (struct sfjit_rule) { .offset = -16,
		      .base = SFJIT_BASE_CFA };
	refuse_write("RA that a reader would take for none", &fde, 1, -EINVAL);
	rows[0] = push_rbp[0];
	rows[0].flags = SFJIT_ROW_MANGLED_RA;
	refuse_write("mangled RA on AMD64", &fde, 1, -EINVAL);
	rows[0].flags = 0;
	fde.nr_rows = 0;
	refuse_write("no rows", &fde, 1, -EINVAL);
	fde.nr_rows = 65536;
	refuse_write("65536 rows", &fde, 1, -E2BIG);
	fde.nr_rows = 1;
	fde.size = 0;
	refuse_write("no code", &fde, 1, -EINVAL);
	fde.size = 32;
	fde.addr = -16ull;
	refuse_write("code that wraps around", &fde, 1, -EINVAL);
	result(sfg_section_size(77, &fde, 1, &size, NULL) == -ENOTSUP,
	       "unknown ABI", "accepted");
}

/* One byte changed: where the reader has to see it, and how. */
struct damage {
	const char *name;
	size_t at;
	uint8_t value;
	int want;
};

static int check_damaged(const uint8_t *p, size_t len)
{
	struct sfg_section s;
	int ret = sfg_open_section(&s, p, len, 0, NULL);

	return ret ? ret : sfg_check_section(&s, NULL);
}

static void test_damage(void)
{
	enum { ATTR = 28 + 16 * NR };
	static const struct damage damages[] = {
		{ "magic", 0, 0, -EINVAL },
		{ "version", 2, 2, -ENOTSUP },
		{ "flags", 3, 7, -EINVAL },
		{ "not relative to the field", 3, 1, -EINVAL },
		{ "ABI", 4, 9, -ENOTSUP },
		{ "ABI of the other byte order", 4, 4, -ENOTSUP },
		{ "fixed FP", 5, 8, -EINVAL },
		{ "fixed RA", 6, 0, -EINVAL },
		{ "auxiliary header", 7, 4, -EINVAL },
		{ "number of FDEs", 10, 1, -EINVAL },
		{ "length of the FREs", 18, 1, -EINVAL },
		{ "offset of the FDEs", 20, 1, -EINVAL },
		{ "offset of the FREs", 26, 1, -EINVAL },
		{ "start of the second FDE", 28 + 16 + 1, 0, -EINVAL },
		{ "rows of an FDE", 28 + 14, 1, -EINVAL },
		{ "number of rows", ATTR, 5, -EINVAL },
		{ "many rows", ATTR + 1, 0xff, -EINVAL },
		{ "row type", ATTR + 2, 3, -EINVAL },
		{ "reserved bit", ATTR + 2, 0x41, -EINVAL },
		{ "PCMASK of block size 0", ATTR + 2, 0x11, -EINVAL },
		{ "block size without PCMASK", ATTR + 4, 1, -EINVAL },
		{ "FDE type", ATTR + 3, 2, -EINVAL },
		{ "reserved type bits", ATTR + 3, 0x20, -EINVAL },
		{ "start of a row", ATTR + 5 + 4, 0, -EINVAL },
		{ "row after its function", ATTR + 5 + 5, 2, -EINVAL },
		{ "word size", ATTR + 5 + 2, 0x63, -EINVAL },
		{ "15 words", ATTR + 5 + 2, 0x1f, -EINVAL },
	};
	uint8_t copy[sizeof(section)];
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(damages); i++) {
		memcpy(copy, section, section_len);
		copy[damages[i].at] = damages[i].value;
		ret = check_damaged(copy, section_len);
		result(ret == damages[i].want, damages[i].name, "%d", ret);
	}
}

/* Each length in a buffer of just that size, for the sanitizer. */
static void test_truncated(void)
{
	size_t len, accepted = 0;
	uint8_t *p;

	for (len = 0; len < section_len; len++) {
		p = malloc(len ? len : 1);
		memcpy(p, section, len);
		accepted += check_damaged(p, len) == 0;
		free(p);
	}
	result(!accepted, "truncated at every length", "%zu accepted",
	       accepted);
}

static void test_bit_flips(void)
{
	size_t bit;
	uint8_t *p = malloc(section_len);

	for (bit = 0; bit < section_len * 8; bit++) {
		memcpy(p, section, section_len);
		p[bit / 8] ^= 1 << bit % 8;
		check_damaged(p, section_len);
	}
	free(p);
	result(true, "every bit flipped", " ");
}

static void test_shared_rows(void)
{
	size_t len;
	uint8_t *p = make_shared_rows(&len);
	struct sfg_section s;
	struct sfg_error err = { 0 };
	int ret = sfg_open_section(&s, p, len, 0, &err);

	if (!ret)
		ret = sfg_check_section(&s, &err);
	result(ret == -EINVAL && !strcmp(err.reason,
					 "rows are shared beyond reason"),
	       "rows shared without end", "%d: %s", ret, err.reason);
	free(p);
}

static void test_big_endian(void)
{
	static const struct sfjit_row rows[] = {
		{ .start = 0, .cfa = { .offset = 160, .reg = 15,
				       .base = SFJIT_BASE_REG } },
		{ .start = 6, .cfa = { .offset = 320, .reg = 15,
				       .base = SFJIT_BASE_REG },
		  .fp = SLOT(-72) },
		{ .start = 600, .cfa = { .offset = 3200, .reg = 11,
					 .base = SFJIT_BASE_REG },
		  .ra = SLOT(-48), .fp = SLOT(-72) },
	};
	static const uint8_t want[] = {
		0xde, 0xe2, 3, 5, 4, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3,
		0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 16,
		0, 0, 0, 0, 0, 0, 0x0f, 0xe4, 0, 0, 3, 0, 0, 0, 0, 0,
		0, 3, 1, 0, 0, 0, 0, 3, 0, 0, 6, 7, 20, 0, 0xb8,
		/* 2, 88: 3200 needs two bytes */
		0x02, 0x58, 0x26, 1, 0x7c, 0xff, 0xd0, 0xff, 0xb8,
	};
	struct sfjit_function fde = {
		.addr = 0x1000, .size = 0x300, .rows = rows, .nr_rows = 3,
	};
	uint8_t buf[SFG_SECTION_MAX(1, 3)];
	struct sfg_section s;
	struct sfg_row_reader r;
	size_t used = 0;
	int ret = sfg_write_section(SFRAME_ABI_S390X_BE, &fde, 1, 0, buf,
				    sizeof(buf), &used, NULL);

	buf[19] = want[19];
	result(!ret && used == sizeof(want) && !memcmp(buf, want, used),
	       "bytes of s390x", "%d, %zu bytes", ret, used);
	buf[19] = used - 44;
	ret = sfg_open_section(&s, buf, used, 0, NULL);
	if (!ret)
		ret = sfg_read_fde(&s, 0, &r, NULL);
	result(!ret && r.fde.addr == 0x1000 && rows_match(&r, &fde),
	       "s390x is read back", "%d", ret);
}

/* A word 0 keeps the place of the return address; the frame pointer's follows. */
static void test_padding(void)
{
	const struct sfjit_row row = {
		.cfa = { .offset = 160, .reg = 15, .base = SFJIT_BASE_REG },
		.fp = SLOT(-72),
	};
	const struct sfjit_function fde = {
		.addr = 0x1000, .size = 16, .rows = &row, .nr_rows = 1,
	};
	uint8_t buf[SFG_SECTION_MAX(1, 1)];
	const size_t at = 28 + 16 + 5;
	size_t used = 0;
	int ret = sfg_write_section(SFRAME_ABI_S390X_BE, &fde, 1, 0, buf,
				    sizeof(buf), &used, NULL);

	result(!ret && buf[at + 3] == 0, "padding", "%d, %d", ret, buf[at + 3]);
	result(!check_damaged(buf, used), "is read", "%d",
	       check_damaged(buf, used));
	buf[at + 1] = (buf[at + 1] & ~(3 << 1)) | 2 << 1;
	result(check_damaged(buf, used) == -EINVAL,
	       "padding with no rule after it", "%d", check_damaged(buf, used));
}

/* As OpenSSL's assembly keeps its stack: CFA = *(rsp + 40) + 8. */
static const struct sfjit_row addend_rows[] = {
	{ .start = 0, .cfa = SP(8) },
	{ .start = 3, .cfa = { .offset = 40, .reg = 7, .base = SFJIT_BASE_REG,
			       .deref = 1, .addend = 8 }, .fp = SLOT(-24) },
	{ .start = 9, .cfa = { .offset = -8, .reg = 7, .base = SFJIT_BASE_REG,
			       .deref = 1, .addend = -300 } },
};

static const struct sfjit_function addend_fde = {
	.addr = 0x1000, .size = 16, .rows = addend_rows, .nr_rows = 3,
};

static const uint8_t addend_bytes[] = {
	3, 0, 0, 1, 0,
	0, 2 << 1, 7 << 3 | 1, 8,
	/* CFA: control, offset, addend; no RA; FP: control, offset */
	3, 6 << 1, 7 << 3 | 7, 40, 8, 0, 2, 0xe8,
	9, 3 << 1 | 1 << 5, 7 << 3 | 7, 0, 0xf8, 0xff, 0xd4, 0xfe,
};

enum { FIRST_BLOCK = 28 + 16, SECOND_ROW = FIRST_BLOCK + 5 + 4 };

static void test_addend(void)
{
	uint8_t buf[SFG_SECTION_MAX(1, 3)];
	struct sfg_section s;
	struct sfg_row_reader r;
	size_t used = 0;
	int ret = sfg_write_section(SFRAME_ABI_AMD64_LE, &addend_fde, 1, 0,
				    buf, sizeof(buf), &used, NULL);

	result(!ret && used == FIRST_BLOCK + sizeof(addend_bytes) &&
	       !memcmp(buf + FIRST_BLOCK, addend_bytes, sizeof(addend_bytes)),
	       "bytes of rows with an addend", "%d, %zu bytes", ret, used);
	ret = sfg_open_section(&s, buf, used, 0, NULL);
	if (!ret)
		ret = sfg_read_fde(&s, 0, &r, NULL);
	result(!ret && rows_match(&r, &addend_fde),
	       "rows with an addend are read back", "%d", ret);
}

/* The control words are at SECOND_ROW + 2 and + 6, the info byte is at + 1. */
static void test_addend_damage(void)
{
	static const struct damage damages[] = {
		{ "addend to what is not loaded", SECOND_ROW + 2, 7 << 3 | 5,
		  -EINVAL },
		{ "word 0 in the place of the addend", SECOND_ROW + 4, 0, 0 },
		{ "addend of the frame pointer", SECOND_ROW + 6, 6, -EINVAL },
		{ "row that ends before its addend", SECOND_ROW + 1, 2 << 1,
		  -EINVAL },
		{ "no addend, and one word more", SECOND_ROW + 2, 7 << 3 | 3,
		  -EINVAL },
	};
	uint8_t buf[SFG_SECTION_MAX(1, 3)], copy[sizeof(buf)];
	size_t used, i;
	int ret;

	sfg_write_section(SFRAME_ABI_AMD64_LE, &addend_fde, 1, 0, buf,
			  sizeof(buf), &used, NULL);
	for (i = 0; i < ARRAY_SIZE(damages); i++) {
		memcpy(copy, buf, used);
		copy[damages[i].at] = damages[i].value;
		ret = check_damaged(copy, used);
		result(ret == damages[i].want, damages[i].name, "%d", ret);
	}
}

static void test_refused_addends(void)
{
	struct sfjit_row row = addend_rows[1];
	struct sfjit_function fde = {
		.addr = 0x1000, .size = 16, .rows = &row, .nr_rows = 1,
	};

	row.start = 0;
	row.cfa.deref = 0;
	refuse_write("addend to a CFA that is not loaded", &fde, 1, -EINVAL);
	row.cfa = (struct sfjit_rule)SP(8);
	row.cfa.addend = 8;
	refuse_write("addend in a row that is plain otherwise", &fde, 1,
		     -EINVAL);
	row.cfa.addend = 0;
	row.fp.addend = 8;
	refuse_write("addend to a frame pointer", &fde, 1, -EINVAL);
	row.fp.addend = 0;
	row.ra = (struct sfjit_rule)SLOT(-16);
	row.ra.addend = 8;
	refuse_write("addend to a return address", &fde, 1, -EINVAL);
}

static size_t write_row(unsigned int abi, const struct sfjit_row *row,
			uint8_t *buf, size_t len)
{
	struct sfjit_function fde = { .addr = 0x1000, .size = 16, .rows = row,
			       .nr_rows = 1 };
	size_t used = 0;

	sfg_write_section(abi, &fde, 1, 0, buf, len, &used, NULL);
	return used;
}

/* What is in a rule that says nothing does not get into the bytes. */
static void ignores(const char *name, unsigned int abi,
		    const struct sfjit_row *dirty,
		    const struct sfjit_row *clean)
{
	uint8_t a[SFG_SECTION_MAX(1, 1)], b[SFG_SECTION_MAX(1, 1)];
	size_t a_len = write_row(abi, dirty, a, sizeof(a));
	size_t b_len = write_row(abi, clean, b, sizeof(b));

	result(a_len && a_len == b_len && !memcmp(a, b, a_len), name,
	       "%zu and %zu bytes", a_len, b_len);
}

static void test_ignored_fields(void)
{
	static const struct sfjit_row last = { .flags = SFJIT_ROW_OUTERMOST };
	static const struct sfjit_row plain = {
		.cfa = { .offset = 160, .reg = 15, .base = SFJIT_BASE_REG },
		.fp = SLOT(-72),
	};
	struct sfjit_row dirty = last;

	dirty.cfa = (struct sfjit_rule)SP(8);
	ignores("rules of an outermost row", SFRAME_ABI_AMD64_LE, &dirty,
		&last);
	dirty = plain;
	dirty.ra.offset = -48;
	dirty.ra.addend = 8;
	ignores("offset and addend of a rule that is none", SFRAME_ABI_S390X_BE, &dirty,
		&plain);
}

/* s390x stores the CFA by 8: a word can be beyond 32 bits of offset. */
static void test_large_cfa(void)
{
	static const struct sfjit_row row = {
		.cfa = { .offset = 0x70000000 + 160, .reg = 15,
			 .base = SFJIT_BASE_REG },
	};
	uint8_t buf[SFG_SECTION_MAX(1, 1)];
	size_t len = write_row(SFRAME_ABI_S390X_BE, &row, buf, sizeof(buf));
	int before = check_damaged(buf, len), after;

	buf[len - 4] = 0x10;
	after = check_damaged(buf, len);
	result(!before && after == -EINVAL, "CFA of more than 32 bits",
	       "%d, then %d", before, after);
}

int main(void)
{
	test_write();
	test_bytes();
	test_read();
	test_find();
	test_failures();
	test_rebase();
	test_refused_input();
	test_no_sections();
	test_damage();
	test_truncated();
	test_bit_flips();
	test_shared_rows();
	test_big_endian();
	test_ignored_fields();
	test_large_cfa();
	test_addend();
	test_padding();
	test_addend_damage();
	test_refused_addends();
	return finish();
}
