// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: packed tables from rows of a JIT: exact bytes, and each refusal.
 * On machines without an SFrame ABI there is none.
 */
#include <sfjit/format.h>
#include <sfjit/packed.h>
#include <slot.h>

#include "machine.h"

#define SIZE	28	/* of the function */

static struct sfjit_row frame[4];

static void make_frame(void)
{
	const struct sfjit_row rows[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 4, 0, SP(8), RA, SAVED(-16) },
		{ 8, 0, FP(8), RA, SAVED(-16) },
		{ 24, 0, SP(0), SAME, SAME },
	};

	memcpy(frame, rows, sizeof(frame));
}

static const struct sfjit_row outermost[] = {
	{ 0, SFJIT_ROW_OUTERMOST, SFJIT_NO_RULE, SFJIT_NO_RULE,
	  SFJIT_NO_RULE },
};

/* ---- Bytes ----------------------------------------------------------- */

/* The table of one function in one bucket, with these rows. */
struct expected {
	struct sframe_packed_header header;
	struct sframe_packed_rule rules[4];
	uint32_t index;
	unsigned char block[8];
	unsigned char pad[8];
} __attribute__((packed));

/* Calls store the return address, or leave it in its register. */
static struct sframe_packed_rule entry_rule(void)
{
	if (HAS_RA)
		return (struct sframe_packed_rule){
			SFRAME_PACKED_RULES, SFRAME_PACKED_REG | SP_REG, 0, 0,
			ENTRY, 0, 0,
		};
	return (struct sframe_packed_rule){
		SFRAME_PACKED_PLAIN, 0, 0, 0, ENTRY, -8, 0,
	};
}

static void expect(struct expected *want, uint64_t addr)
{
	const unsigned int shift = SLOT_UNIT_SHIFT;
	const uint8_t saved = SFRAME_PACKED_PLAIN | SFRAME_PACKED_FP_SAVED;

	*want = (struct expected){
		.header = {
			.magic = 0x5053, .version = 1,
			.abi_arch = SFG_HOST_ABI, .unit_shift = shift,
			.nr_rules = 4, .text_start = addr, .text_length = SIZE,
			.blocks_len = 8,
		},
		.rules = {
			{ 0 }, entry_rule(),
			{ saved, 0, 0, 0, ENTRY + 8, -8, -16 },
			{ saved | SFRAME_PACKED_FROM_FP, 0, 0, 0, ENTRY + 8, -8,
			  -16 },
		},
		.index = SFRAME_PACKED_BLOCK,
		.block = { 3, 4 >> shift, 8 >> shift, 24 >> shift, 1, 2, 3, 1 },
	};
}

static void test_bytes(void)
{
	_Alignas(16) unsigned char got[sizeof(struct expected) + 1];
	struct sfjit_function f = { 0x107004, SIZE, 4, frame, 0, 0 };
	const size_t size = sizeof(struct expected);
	struct expected want;

	expect(&want, f.addr);
	memset(got, 0xaa, sizeof(got));
	IS("size", sfjit_section_size(&f, 1), size);
	IS("fill", sfjit_section_fill(got, sizeof(got), &f, 1), size);
	TRUE("bytes", !memcmp(got, &want, size));
	IS("not one byte more", got[size], 0xaa);
	IS("fill exactly", sfjit_section_fill(got, size, &f, 1), size);
}

static void test_repeat(void)
{
	_Alignas(16) unsigned char got[128];
	struct sframe_packed_header h;
	struct sfjit_function f = { 0x7000, 65536, 3, frame, 0, 16 };
	long size = sfjit_section_fill(got, sizeof(got), &f, 1);

	IS("repeating block", size, sizeof(struct expected) - 2);
	memcpy(&h, got, sizeof(h));
	IS("is of 16 bytes", h.repeat, 16);
	IS("in 64 KiB", h.text_length, 65536);
}

static void test_outermost(void)
{
	_Alignas(16) unsigned char got[128];
	struct sfjit_function f = { 0x7000, 16, 1, outermost, 0, 0 };

	IS("outermost", sfjit_section_fill(got, sizeof(got), &f, 1),
	   32 + 2 * 16 + 4 + 8);
	IS("has no rules", got[48], SFRAME_PACKED_OUTERMOST);
}

static void test_distance(void)
{
	static _Alignas(16) unsigned char a[sizeof(struct expected)];
	static _Alignas(16) unsigned char b[sizeof(a)];
	struct sfjit_function f = { 0x7000, SIZE, 4, frame, 0, 0 };
	struct sfjit_function two[2] = { f, f };
	long size;

	sfjit_section_fill(a, sizeof(a), &f, 1);
	sfjit_section_fill(b, sizeof(b), &f, 1);
	TRUE("the same table elsewhere", !memcmp(a, b, sizeof(a)));
	two[1].addr += 0x10000;
	size = sfjit_section_size(two, 2);
	two[0].addr += 0x7ffffff0;
	two[1].addr += 0x7ffffff0;
	IS("of the same size elsewhere", sfjit_section_size(two, 2), size);
}

/* ---- Refusals -------------------------------------------------------- */

static void refused(const char *name, const struct sfjit_function *f,
		    size_t nr, int error)
{
	_Alignas(16) unsigned char got[256], before[256];

	memset(got, 0xaa, sizeof(got));
	memset(before, 0xaa, sizeof(before));
	IS(name, sfjit_section_size(f, nr), error);
	IS(name, sfjit_section_fill(got, sizeof(got), f, nr), error);
	TRUE(name, !memcmp(got, before, sizeof(got)));
}

static void refused_row(const char *name, struct sfjit_row second)
{
	struct sfjit_row rows[2] = { frame[0], second };
	struct sfjit_function f = { 0x7000, SIZE, 2, rows, 0, 0 };

	refused(name, &f, 1, -EINVAL);
}

static void test_bad_rows(void)
{
	struct sfjit_row row = frame[1];

	row.start = 0;
	refused_row("row start does not increase", row);
	row.start = SIZE;
	refused_row("row start past the function", row);
	row.start = 4;
	row.cfa.base = SFJIT_BASE_CFA;
	refused_row("CFA from the CFA", row);
	row.cfa.base = SFJIT_BASE_NONE;
	refused_row("no CFA", row);
	row.cfa.base = 9;
	refused_row("unknown base", row);
	row = frame[1];
	row.flags = 0x100;
	refused_row("unknown row flag", row);
	row.flags = SFG_ROW_FP;
	refused_row("row flag of the encoder", row);
	row = frame[1];
	row.fp.deref = 2;
	refused_row("unknown deref", row);
}

static void test_bad_functions(void)
{
	struct sfjit_function two[2] = {
		{ 0x7000, SIZE, 4, frame, 0, 0 },
		{ 0x7010, SIZE, 4, frame, 0, 0 },
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
	two[0].size = SIZE;
	two[0].repeat = 16;
	refused("row past the block", two, 1, -EINVAL);
	two[0].repeat = 0;
	two[0].flags = 0x80;
	refused("unknown function flag", two, 1, -EINVAL);
	two[0].flags = 0;
	two[1].addr = 0x2007000;
	refused("functions that are far apart", two, 2, -E2BIG);
	two[1].addr += UINT32_MAX;
	refused("functions 4 GiB apart", two, 2, -E2BIG);
}

static void test_buffer(void)
{
	struct sfjit_function f = { 0x7000, SIZE, 4, frame, 0, 0 };
	_Alignas(16) unsigned char got[sizeof(struct expected)];
	unsigned char before[sizeof(got)];

	memset(got, 0xaa, sizeof(got));
	memset(before, 0xaa, sizeof(before));
	IS("one byte too small",
	   sfjit_section_fill(got, sfjit_section_size(&f, 1) - 1, &f, 1),
	   -ENOSPC);
	TRUE("nothing was written", !memcmp(got, before, sizeof(got)));
	IS("no buffer", sfjit_section_fill(NULL, 64, &f, 1), -EINVAL);
	IS("a buffer at no multiple of 16",
	   sfjit_section_fill(got + 8, sizeof(got), &f, 1), -EINVAL);
	TRUE("nothing was written there", !memcmp(got, before, sizeof(got)));
}

static void test_none(void)
{
	struct sfjit_function f = { 0x7000, SIZE, 4, frame, 0, 0 };

	refused("no number", &f, 1, -ENOTSUP);
	f.repeat = SIZE;
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
