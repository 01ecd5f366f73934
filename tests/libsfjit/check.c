// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: verdicts of sfjit_check() on sections of the library, and on
 * each mistake in one; rows of addresses. Runs with ASan and UBSan.
 * tests/kernel/fuzz/kernel/check_target.c compares it with the kernel.
 */
#include <sfjit/area.h>

#include "verdicts.h"

#define HEADER		28
#define INDEX		16

static struct sfjit_row rows[3], flex[2];

static void make_rows(void)
{
	const struct sfjit_row plain[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 1, 0, SP(8), RA, SAVED(-16) },
		{ 30, 0, SP(0), SAME, SAME },
	};
	const struct sfjit_row other[] = {
		{ 0, 0, sfjit_rule_reg(10, ENTRY), SAME, SAME },
		{ 4, 0, { ENTRY + 8, 10, SFJIT_BASE_REG, 1, 0 }, SAVED(-24),
		  SAVED(-16) },
	};

	memcpy(rows, plain, sizeof(rows));
	memcpy(flex, other, sizeof(flex));
}

/* Makes three functions and their table. */
static void make(void)
{
	struct sfjit_function f[] = {
		{ TEXT, 31, 3, rows, 0, 0 },
		{ TEXT + 32, 64, 2, flex, 0, 0 },
		{ TEXT + 96, 256, 2, rows, 0, 16 },
	};
	size_t length;

	MUST(!sfg_write_section(SFG_HOST_ABI, f, 3, (uintptr_t)bytes, bytes,
				sizeof(bytes), &length, NULL));
	use_table(length);
}

/* Offset of a function's attributes. */
static size_t block(uint32_t nr)
{
	struct sframe_fde fde;

	memcpy(&fde, bytes + HEADER + nr * INDEX, sizeof(fde));
	return HEADER + 3 * INDEX + fde.fre_off;
}

static void ends(const char *name, const char *reason, uint64_t address)
{
	ends_unless("fde_order", name, reason, address);
}

static void test_good(void)
{
	make();
	IS("a section of a toolchain", sfjit_check(&table, &complaint), 0);
	TRUE("no complaint", !complaint.reason);
	flex[1].cfa.addend = 8;
	make();
	ends("an addend", "row_rule", TEXT + 32 + 4);
	flex[1].cfa.addend = 0;
	make();
	table.text = NULL;
	table.text_length = 0;
	IS("text from the functions", sfjit_check(&table, NULL), 0);
	make();
	table.length += 100;
	IS("space after the section", sfjit_check(&table, NULL), 0);
}

static void test_registration(void)
{
	make();
	table.length = 27;
	not_registered("27 bytes", "section is shorter than a header");
	table.section = NULL;
	not_registered("no section", "section is shorter than a header");
	table.text = NULL;
	not_registered("length of nothing",
		       "one of text and its length is 0");
	table.text_length = -1UL;
	not_registered("text wraps around", "text is empty or wraps around");
	table.flags = 2;
	not_registered("flag 2", "unknown flag");
	table.length = 1UL << 32;
	not_registered("4 GiB", "section is longer than 4 GiB");
	put(2, 2, 1);
	not_registered("version 2",
		       "not the header of this format and machine");
	put(8, 4, 4);
	not_registered("one function more",
		       "index is shorter than its number of functions");
	put(16, 1000, 4);
	not_registered("more rows than there are",
		       "rows outside of the section");
	put(24, 1000, 4);
	not_registered("rows outside",
		       "index or rows outside of the section");
	put(8, 0, 4);
	table.text = NULL;
	table.text_length = 0;
	not_registered("no functions", "neither functions nor text range");
	table.flags = SFJIT_TABLE_LIVE;
	not_registered("one that grows", "a section cannot grow");
	IS("no table", sfjit_check(NULL, NULL), -EINVAL);
}

static void test_functions(void)
{
	struct sframe_fde fde[2];

	make();
	memcpy(fde, bytes + HEADER, sizeof(fde));
	put(HEADER + 8, 33, 4);
	ends("functions overlap", "fde_order", TEXT + 32);
	put(HEADER + INDEX, fde[0].func_start - INDEX - 4, 8);
	ends("functions are not sorted", "fde_order", TEXT - 4);
	table.text_length = 100;
	ends("function leaves the text", "fde_range", TEXT + 96);
	table.text = (void *)TEXT + 4;
	table.text_length -= 4;
	ends("function begins in front of it", "fde_range", TEXT + 4);
	put(HEADER + INDEX + 12, 1000, 4);
	ends("rows outside of the section", "fre_offset", TEXT + 32);
	put(block(1) + 2, 0x40, 1);
	ends("reserved bit", "fde_type", TEXT + 32);
	put(block(1) + 3, 2, 1);
	ends("unknown type", "fde_type", TEXT + 32);
	put(block(2) + 4, 0, 1);
	ends("blocks of 0 bytes", "rep_size", TEXT + 96);
}

static void test_rows(void)
{
	make();
	put(block(0) + 5, 1, 1);
	ends("first row is not at 0", "no_row", TEXT);
	put(block(0) + 5 + 3, 0, 1);
	ends("rows stand still", "row_order", TEXT);
	put(block(0) + 5 + 1, 1 + 2 * (3 + HAS_RA), 1);
	ends("a word too many in a plain row", "row_words", TEXT);
	put(block(0) + 5 + 1, 0x63, 1);
	ends("words of 8 bytes", "row_words", TEXT);
	if (SFG_HOST_ABI != SFRAME_ABI_AARCH64_LE) {
		put(block(0) + 5 + 1, 0x83, 1);
		ends("signed return address", "row_rule", TEXT);
	}
	if (cfa_scale() == 1) {
		put(block(0) + 5 + 2, 12, 1);
		ends("CFA is sp + 12", "cfa_align", TEXT);
	}
	put(block(0) + 5 + 2, cfa_word(ENTRY - 8), 1);
	ends("CFA is below that at the entry", "cfa_order", TEXT);
	put(block(1) + 5 + 2, 0x50, 1);
	ends("CFA from itself", "row_rule", TEXT + 32);
}

/* More than the library puts in one entry. */
static void test_many_rows(void)
{
	static struct sfjit_row many[65];
	struct sfjit_function f = { TEXT, 130, 65, many, 0, 0 };
	size_t used;
	int i;

	for (i = 0; i < 65; i++) {
		many[i] = rows[i % 2];
		many[i].start = 2 * i;
	}
	MUST(!sfg_write_section(SFG_HOST_ABI, &f, 1, (uintptr_t)bytes, bytes,
				sizeof(bytes), &used, NULL));
	table = (struct sfjit_table){ bytes, used, (void *)TEXT, 130, 0, 0 };
	IS("65 rows", sfjit_check(&table, &complaint), 0);
}

static void has_row(const char *name, uint64_t ip, uint32_t nr,
		    const struct sfjit_row *want)
{
	struct sfjit_function f;
	struct sfjit_row row;

	IS(name, sfjit_find_row(&table, (void *)ip, &f, &row, NULL), 0);
	IS(name, row.start, want->start);
	TRUE(name, sfg_rows_equal(&row, want));
	IS(name, f.nr_rows, nr);
}

static void test_find(void)
{
	struct sfjit_row row;

	make();
	has_row("first byte", TEXT, 3, &rows[0]);
	has_row("second row", TEXT + 29, 3, &rows[1]);
	has_row("last byte", TEXT + 30, 3, &rows[2]);
	has_row("of another register", TEXT + 33, 2, &flex[0]);
	has_row("loaded", TEXT + 95, 2, &flex[1]);
	has_row("of a block", TEXT + 96 + 16, 2, &rows[0]);
	has_row("in a block", TEXT + 96 + 31, 2, &rows[1]);
	no_row("between functions", TEXT + 31, "no_fde");
	no_row("after them", TEXT + 352, "no_fde");
	no_row("in front of the text", TEXT - 1, "outside of the text");
	no_row("past the text", TEXT + TEXT_LENGTH, "outside of the text");
	IS("nowhere", sfjit_find_row(&table, (void *)TEXT, NULL, NULL, NULL),
	   -EINVAL);
	IS("of no table", sfjit_find_row(NULL, (void *)TEXT, NULL, &row, NULL),
	   -EINVAL);
	put(2, 2, 1);
	IS("of none that is registered",
	   sfjit_find_row(&table, (void *)TEXT, NULL, &row, NULL), -EINVAL);
	make();
	put(block(0) + 2, 0x80, 1);
	IS("a signal frame", sfjit_check(&table, NULL), 0);
}

static struct sfjit_row at(struct sfjit_row row, uint32_t start)
{
	row.start = start;
	return row;
}

/* Rows at bytes that are multiples of each machine's unit. */
static void test_area(void)
{
	const struct sfjit_row spaced[] = {
		rows[0], at(rows[1], 4), at(rows[2], 28),
	};
	struct sfjit_function f = { TEXT, 32, 3, spaced, 0, 0 };
	struct sfjit_area_info info;
	struct sfjit_area *area;
	struct sfjit_row row;

	MUST(!sfjit_area_create((void *)TEXT, TEXT_LENGTH, 0, 0, &area));
	MUST(!sfjit_area_publish(area, &f));
	f.addr += 64;
	MUST(!sfjit_area_publish(area, &f));
	MUST(!sfjit_area_stat(area, &info));
	table = (struct sfjit_table){
		info.table, info.length, (void *)TEXT, TEXT_LENGTH, 0, 0,
	};
	IS("the table of an area", sfjit_check(&table, &complaint), 0);
	IS("of a published function",
	   sfjit_find_row(&table, (void *)(TEXT + 68), &f, &row, NULL), 0);
	IS("where its row begins", f.addr, TEXT + 64 + spaced[1].start);
	TRUE("is the row", sfg_rows_equal(&row, &spaced[1]));
	MUST(!sfjit_area_withdraw(area, (void *)TEXT));
	IS("one was taken back", sfjit_check(&table, &complaint), 0);
	no_row("of this one", TEXT, "no_row");
	IS("of the other",
	   sfjit_find_row(&table, (void *)(TEXT + 68), NULL, &row, NULL), 0);
	sfjit_area_retire(area);
}

/* The code is elsewhere than the section's own addresses. */
static void test_bias(void)
{
	make();
	table.text = (void *)(TEXT + 0x1000);
	IS("code elsewhere", sfjit_check(&table, &complaint), -EBADMSG);
	table.bias = 0x1000;
	IS("code elsewhere, with a bias", sfjit_check(&table, &complaint), 0);
	has_row("its first byte", TEXT + 0x1000, 3, &rows[0]);
	table.bias = -0x1000UL;
	table.text = (void *)(TEXT - 0x1000);
	IS("the other way", sfjit_check(&table, &complaint), 0);
	has_row("its second row", TEXT - 0x1000 + 29, 3, &rows[1]);
}

/* No section is valid on this machine. */
static void test_none(void)
{
	struct sframe_header header = {
		0xdee2, 3, 5, SFRAME_ABI_AMD64_LE, 0, -8, 0, 0, 0, 0, 0, 0,
	};
	struct sfjit_row row;

	memcpy(bytes, &header, sizeof(header));
	use_table(sizeof(bytes));
	IS("another machine's", sfjit_check(&table, &complaint), -EINVAL);
	TRUE("is that", !strcmp(complaint.reason,
				"not the header of this format and machine"));
	IS("and has no rows", sfjit_find_row(&table, (void *)TEXT, NULL, &row,
					     NULL), -EINVAL);
	header.abi_arch = SFG_HOST_ABI;
	memcpy(bytes, &header, sizeof(header));
	IS("nor is one that a byte of its number is in",
	   sfjit_check(&table, NULL), -EINVAL);
}

int main(void)
{
	present = true;
	make_rows();
	if (!HAS_SECTIONS) {
		test_none();
		return finish();
	}
	test_good();
	test_registration();
	test_functions();
	test_rows();
	test_many_rows();
	test_find();
	test_area();
	test_bias();
	return finish();
}
