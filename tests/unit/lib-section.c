// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: sections from rows of a JIT: exact bytes, and each refusal.
 */
#include "lib-test.h"

#define SP(offset)	SFJIT_REG(SFJIT_X86_64_SP, offset)
#define FP(offset)	SFJIT_REG(SFJIT_X86_64_FP, offset)
#define SAME		SFJIT_NO_RULE

static const struct sfjit_row frame[] = {
	{ 0, 0, SP(8), SAME, SAME },
	{ 1, 0, SP(16), SAME, SFJIT_SAVED(-16) },
	{ 4, 0, FP(16), SAME, SFJIT_SAVED(-16) },
	{ 30, 0, SP(8), SAME, SAME },
};

static const struct sfjit_row outermost[] = {
	{ 0, SFJIT_ROW_OUTERMOST, SAME, SAME, SAME },
};

/* ---- Bytes ----------------------------------------------------------- */

/* Header, FDE, attributes, four rows of 1 + 1 + 1 or 2 bytes. */
static const unsigned char expected[] = {
	0xe2, 0xde, 3, 0x5, 3, 0, 0xf8, 0,
	1, 0, 0, 0,  4, 0, 0, 0,  19, 0, 0, 0,  0, 0, 0, 0,  16, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,  31, 0, 0, 0,  0, 0, 0, 0,
	4, 0,  0,  0,  0,
	0, 0x03, 8,
	1, 0x05, 16, 0xf0,
	4, 0x04, 16, 0xf0,
	30, 0x03, 8,
};

static void test_bytes(void)
{
	unsigned char want[sizeof(expected)], got[sizeof(expected) + 1];
	struct sfjit_function f = {
		(uintptr_t)got + 0x100000, 31, 4, frame, 0, 0
	};
	int64_t distance = 0x100000 - 28;

	memcpy(want, expected, sizeof(want));
	memcpy(want + 28, &distance, sizeof(distance));
	memset(got, 0xaa, sizeof(got));
	IS("size", sfjit_section_size(&f, 1), sizeof(want));
	IS("fill", sfjit_section_fill(got, sizeof(got), &f, 1), sizeof(want));
	TRUE("bytes", !memcmp(got, want, sizeof(want)));
	IS("not one byte more", got[sizeof(want)], 0xaa);
	IS("fill exactly",
	   sfjit_section_fill(got, sizeof(want), &f, 1), sizeof(want));
}

static void test_repeat(void)
{
	unsigned char got[64];
	struct sfjit_function f = {
		(uintptr_t)got + 4096, 65536, 3, frame, 0, 16
	};

	IS("repeating block", sfjit_section_fill(got, sizeof(got), &f, 1), 60);
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
	static unsigned char a[64], b[64];
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
	unsigned char got[64], before[64];

	memset(got, 0xaa, sizeof(got));
	memset(before, 0xaa, sizeof(before));
	IS("one byte too small",
	   sfjit_section_fill(got, sizeof(expected) - 1, &f, 1), -ENOSPC);
	TRUE("nothing was written", !memcmp(got, before, sizeof(got)));
	IS("no buffer", sfjit_section_fill(NULL, 64, &f, 1), -EINVAL);
}

int main(void)
{
	test_bytes();
	test_repeat();
	test_outermost();
	test_distance();
	test_bad_rows();
	test_bad_functions();
	test_buffer();
	return finish();
}
