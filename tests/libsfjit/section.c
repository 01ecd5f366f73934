// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: sections from rows of a JIT: exact bytes, and each refusal. On
 * machines without an SFrame ABI there is none.
 */
#include <sfjit/format.h>

#include "machine.h"

static struct sfjit_row frame[4];

static void make_frame(void)
{
	const struct sfjit_row rows[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 1, 0, SP(8), RA, SAVED(-16) },
		{ 4, 0, FP(8), RA, SAVED(-16) },
		{ 30, 0, SP(0), SAME, SAME },
	};

	memcpy(frame, rows, sizeof(frame));
}

static const struct sfjit_row outermost[] = {
	{ 0, SFJIT_ROW_OUTERMOST, SFJIT_NO_RULE, SFJIT_NO_RULE,
	  SFJIT_NO_RULE },
};

/* ---- Bytes ----------------------------------------------------------- */

/* The bytes before the rows, and most rows used here. */
struct expected {
	struct sframe_header header;
	struct sframe_fde fde;
	struct sframe_fde_attr attr;
	unsigned char rows[32];
} __attribute__((packed));

/* Writes a start, the info byte (number of words, CFA base), and words. */
static unsigned char *put_row(unsigned char *p, const struct sfjit_row *row)
{
	unsigned char *info = p + 1;

	*p++ = row->start;
	*p++ = row->cfa.reg == SP_REG;
	*p++ = cfa_word(row->cfa.offset);
	*info += 2;
	if (!row->fp.base)
		return p;
	if (HAS_RA) {
		*p++ = -8;
		*info += 2;
	}
	*p++ = -16;
	*info += 2;
	return p;
}

static size_t expect(struct expected *want, uint32_t nr)
{
	unsigned char *p = want->rows;
	uint32_t i;

	for (i = 0; i < nr; i++)
		p = put_row(p, &frame[i]);
	want->header = (struct sframe_header){
		0xdee2, 3, 0x5, SFG_HOST_ABI, 0, HAS_RA ? 0 : -8, 0,
		1, nr, p - want->rows + 5, 0, 16,
	};
	want->fde = (struct sframe_fde){ 0, 31, 0 };
	want->attr = (struct sframe_fde_attr){ nr, 0, 0, 0 };
	return p - (unsigned char *)want;
}

static void test_bytes(void)
{
	struct expected want;
	unsigned char got[sizeof(want) + 1];
	size_t size = expect(&want, 4);
	struct sfjit_function f = {
		(uintptr_t)got + 0x100000, 31, 4, frame, 0, 0
	};

	want.fde.func_start = 0x100000 - 28;
	memset(got, 0xaa, sizeof(got));
	IS("size", sfjit_section_size(&f, 1), size);
	IS("fill", sfjit_section_fill(got, sizeof(got), &f, 1), size);
	TRUE("bytes", !memcmp(got, &want, size));
	IS("not one byte more", got[size], 0xaa);
	IS("fill exactly", sfjit_section_fill(got, size, &f, 1), size);
}

static void test_repeat(void)
{
	struct expected want;
	unsigned char got[sizeof(want)];
	struct sfjit_function f = {
		(uintptr_t)got + 4096, 65536, 3, frame, 0, 16
	};

	IS("repeating block", sfjit_section_fill(got, sizeof(got), &f, 1),
	   expect(&want, 3));
	IS("is PCMASK", got[46], 0x10);
	IS("of 16 bytes", got[48], 16);
}

static void test_outermost(void)
{
	unsigned char got[64];
	struct sfjit_function f = {
		(uintptr_t)got - 4096, 16, 1, outermost, 0, 0
	};

	IS("outermost", sfjit_section_fill(got, sizeof(got), &f, 1), 51);
	IS("has no words", got[50], 0);
}

static void test_distance(void)
{
	static unsigned char a[sizeof(struct expected)], b[sizeof(a)];
	struct sfjit_function f = { 0x7000, 31, 4, frame, 0, 0 };
	int64_t at_a, at_b;

	sfjit_section_fill(a, sizeof(a), &f, 1);
	sfjit_section_fill(b, sizeof(b), &f, 1);
	memcpy(&at_a, a + 28, 8);
	memcpy(&at_b, b + 28, 8);
	IS("code in front of the section", (long)a + 28 + at_a, 0x7000);
	IS("the same code from elsewhere", (long)b + 28 + at_b, 0x7000);
}

/* ---- Refusals -------------------------------------------------------- */

static void refused(const char *name, const struct sfjit_function *f,
		    size_t nr, int error)
{
	unsigned char got[256], before[256];

	memset(got, 0xaa, sizeof(got));
	memset(before, 0xaa, sizeof(before));
	IS(name, sfjit_section_size(f, nr), error);
	IS(name, sfjit_section_fill(got, sizeof(got), f, nr), error);
	TRUE(name, !memcmp(got, before, sizeof(got)));
}

static void refused_row(const char *name, struct sfjit_row second)
{
	struct sfjit_row rows[2] = { frame[0], second };
	struct sfjit_function f = { 0x7000, 31, 2, rows, 0, 0 };

	refused(name, &f, 1, -EINVAL);
}

static void test_bad_rows(void)
{
	struct sfjit_row row = frame[1];

	row.start = 0;
	refused_row("row start does not increase", row);
	row.start = 31;
	refused_row("row start past the function", row);
	row.start = 1;
	row.cfa.base = SFJIT_BASE_CFA;
	refused_row("CFA from the CFA", row);
	row.cfa.base = SFJIT_BASE_NONE;
	refused_row("no CFA", row);
	row.cfa.base = 9;
	refused_row("unknown base", row);
	row = frame[1];
	row.flags = 0x80;
	refused_row("unknown row flag", row);
	row = frame[1];
	row.fp.deref = 2;
	refused_row("unknown deref", row);
}

static void test_bad_functions(void)
{
	struct sfjit_function two[2] = {
		{ 0x7000, 31, 4, frame, 0, 0 },
		{ 0x7010, 31, 4, frame, 0, 0 },
	};

	refused("no functions", NULL, 1, -EINVAL);
	refused("no function", two, 0, -EINVAL);
	refused("overlapping functions", two, 2, -EINVAL);
	two[1].addr = 0x6000;
	refused("unsorted functions", two, 2, -EINVAL);
	two[0].nr_rows = 0;
	refused("no rows", two, 1, -EINVAL);
	two[0].nr_rows = 4;
	two[0].size = 0;
	refused("no code", two, 1, -EINVAL);
	two[0].size = 31;
	two[0].repeat = 16;
	refused("row past the block", two, 1, -EINVAL);
	two[0].repeat = 0;
	two[0].flags = 0x80;
	refused("unknown function flag", two, 1, -EINVAL);
}

static void test_buffer(void)
{
	struct sfjit_function f = { 0x7000, 31, 4, frame, 0, 0 };
	unsigned char got[sizeof(struct expected)], before[sizeof(got)];

	memset(got, 0xaa, sizeof(got));
	memset(before, 0xaa, sizeof(before));
	IS("one byte too small",
	   sfjit_section_fill(got, sfjit_section_size(&f, 1) - 1, &f, 1),
	   -ENOSPC);
	TRUE("nothing was written", !memcmp(got, before, sizeof(got)));
	IS("no buffer", sfjit_section_fill(NULL, 64, &f, 1), -EINVAL);
}

static void test_none(void)
{
	struct sfjit_function f = { 0x7000, 31, 4, frame, 0, 0 };

	refused("no number", &f, 1, -ENOTSUP);
	f.repeat = 31;
	refused("no number, code that repeats", &f, 1, -ENOTSUP);
}

int main(void)
{
	make_frame();
	if (!HAS_SECTIONS) {
		test_none();
		return finish();
	}
	test_bytes();
	test_repeat();
	test_outermost();
	test_distance();
	test_bad_rows();
	test_bad_functions();
	test_buffer();
	return finish();
}
