// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: verdicts of sfjit_check() on packed tables of the library, and on
 * each mistake in one; rows of addresses. Runs with ASan and UBSan.
 * tests/kernel/fuzz/kernel/check_target.c compares it with the kernel.
 */
#include <sfjit/packed.h>

#include "verdicts.h"

#define RULE(nr)	(32 + 16 * (nr))

/* Of the bytes of a rule. */
enum { KIND, CFA, RETURN, FP, CFA_OFF, RA_OFF = 8, FP_OFF = 12 };

static struct sfjit_row rows[3], places[2], ends_here[1];

static void make_rows(void)
{
	const struct sfjit_row plain[] = {
		{ 0, RBX_KEPT, SP(0), SAME, SAME },
		{ 4, RBX_SAVED(-24), SP(8), RA, SAVED(-16) },
		{ 12, RBX_KEPT, SP(0), SAME, SAME },
	};
	const struct sfjit_row other[] = {
		{ 0, 0, sfjit_rule_reg(10, ENTRY), SAME, SAME },
		{ 4, 0, { ENTRY + 8, 10, SFJIT_BASE_REG, 1, 8 }, SAVED(-24),
		  SAVED(-16) },
	};
	const struct sfjit_row outermost[] = {
		{ 0, SFJIT_ROW_OUTERMOST, SAME, SAME, SAME },
	};

	memcpy(rows, plain, sizeof(rows));
	memcpy(places, other, sizeof(places));
	memcpy(ends_here, outermost, sizeof(ends_here));
}

static size_t index_off, blocks_off;

static void set_table(long length)
{
	struct sframe_packed_header h;
	unsigned int shift;

	MUST(length > 0);
	memcpy(&h, bytes, sizeof(h));
	shift = 8 + h.unit_shift;
	index_off = RULE(h.nr_rules);
	blocks_off = index_off + 4 * (h.repeat ? 1 :
		     (h.text_length + (1u << shift) - 1) >> shift);
	use_table(length);
}

/*
 * Rule 1 is that of the entry, 2 is plain, 3 of a register, 4 loaded with the
 * addend 5, 6 has no caller. The first bucket has changes at 4, 12, 32, 64, 68,
 * 96 and 112 bytes.
 */
static void make(void)
{
	const struct sfjit_function f[] = {
		{ TEXT, 32, 3, rows, 0, 0 },
		{ TEXT + 64, 32, 2, places, 0, 0 },
		{ TEXT + 96, 16, 1, ends_here, 0, 0 },
		{ TEXT + 0x800, 0x200, 3, rows, 0, 0 },
	};

	set_table(sfjit_section_fill(bytes, sizeof(bytes), f, 4));
}

static void ends(const char *name, const char *reason, uint64_t address)
{
	ends_unless("row_order", name, reason, address);
}

static void is_good(const char *name)
{
	IS(name, sfjit_check(&table, &complaint), 0);
	TRUE(name, !complaint.reason);
	make();
}

static void test_good(void)
{
	make();
	IS("rules", table.length > 0 ? bytes[__BYTE_ORDER__ ==
					     __ORDER_BIG_ENDIAN__ ? 7 : 6] : 0, 7);
	is_good("a table of the library");
	table.flags = SFJIT_TABLE_LIVE;
	is_good("it may grow");
	table.text = NULL;
	table.text_length = 0;
	is_good("text from the table");
	table.length += 100;
	is_good("space after the table");
	table.text = (void *)(TEXT + 20);
	is_good("text begins in the code");
	table.text = (void *)(TEXT - 0x100);
	is_good("text begins before the code");
}

static void test_registration(void)
{
	make();
	table.length = 31;
	not_registered("31 bytes", "table is shorter than a header");
	table.section = bytes + 8;
	memmove(bytes + 8, bytes, table.length);
	not_registered("at 8", "table is not at a multiple of 16");
	table.text = NULL;
	not_registered("length of nothing",
		       "one of text and its length is 0");
	table.text_length = -1UL;
	not_registered("text wraps around", "text is empty or wraps around");
	table.flags = 2;
	not_registered("flag 2", "unknown flag");
	table.length = 1UL << 32;
	not_registered("4 GiB", "table is longer than 4 GiB");
	put(2, 2, 1);
	not_registered("version 2",
		       "not the header of this format and machine");
	put(3, SFG_HOST_ABI % 4 + 1, 1);
	not_registered("another machine",
		       "not the header of this format and machine");
	put(4, 3, 1);
	not_registered("another unit",
		       "not the header of this format and machine");
	put(6, 0, 2);
	not_registered("no rules", "no rules");
	table.length--;
	not_registered("a byte is missing",
		       "table is shorter than its header says");
	put(16, 0x10000, 4);
	not_registered("more code",
		       "table is shorter than its header says");
	put(16, 0, 4);
	table.text = NULL;
	table.text_length = 0;
	not_registered("no code", "text is empty or wraps around");
	if (bytes[4]) {
		put(5, 1, 1);
		not_registered("repeats in an instruction",
			       "code is not aligned to instructions");
		put(8, TEXT + 1, 8);
		not_registered("begins in an instruction",
			       "code is not aligned to instructions");
	}
}

static void test_index(void)
{
	make();
	put(index_off, 7, 4);
	ends("no such rule", "fre_offset", TEXT);
	put(index_off, SFRAME_PACKED_BLOCK | 0x3fffffff, 4);
	ends("no such block", "fre_offset", TEXT);
	put(blocks_off, 255, 1);
	ends("block leaves the table", "fre_offset", TEXT);
	put(blocks_off + 1 + 7, 7, 1);
	ends("no such rule in a block", "fre_offset", TEXT);
	put(blocks_off + 1, 0, 1);
	ends("changes do not increase", "row_order", TEXT);
	put(index_off, 1, 4);
	is_good("one rule in a bucket");
	table.text = (void *)(TEXT + TEXT_LENGTH);
	ends("code elsewhere", "no_fde", TEXT + TEXT_LENGTH);
	table.text = (void *)(TEXT - TEXT_LENGTH);
	ends("code before", "no_fde", TEXT - TEXT_LENGTH);
}

static void put_rule(unsigned int nr, unsigned int at, uint64_t value)
{
	put(RULE(nr) + at, value, at < CFA_OFF ? 1 : 4);
}

static void test_rules(void)
{
	const uint8_t reg = SFRAME_PACKED_REG;

	make();
	put_rule(2, KIND, 6);
	ends("an addend is no rule", "row_rule", TEXT + 4);
	put_rule(2, KIND, 7);
	ends("unknown kind", "row_rule", TEXT + 4);
	put_rule(2, KIND, SFRAME_PACKED_FP | SFRAME_PACKED_EXACT);
	ends("flag of another kind", "row_rule", TEXT + 4);
	put_rule(3, CFA, SFRAME_PACKED_CFA);
	ends("CFA from itself", "row_rule", TEXT + 64);
	put_rule(3, CFA, 0);
	ends("no CFA", "row_rule", TEXT + 64);
	put_rule(3, RETURN, SFRAME_PACKED_CFA);
	ends("a stack address as caller", "row_rule", TEXT + 64);
	put_rule(3, RETURN, 3);
	ends("register of nothing", "row_rule", TEXT + 64);
	put_rule(3, FP, SFRAME_PACKED_CFA | 3);
	ends("register with the CFA", "row_rule", TEXT + 64);
	put_rule(3, FP, SFRAME_PACKED_BASE);
	ends("place 3", "row_rule", TEXT + 64);
	put_rule(3, KIND, SFRAME_PACKED_RULES | SFRAME_PACKED_FP_SAVED);
	ends("flag of a plain rule", "row_rule", TEXT + 64);
	put_rule(3, KIND, SFRAME_PACKED_RULES | SFRAME_PACKED_HAS_ADDEND);
	ends("addend to a register", "row_rule", TEXT + 64);
	put_rule(5, KIND, SFRAME_PACKED_OUTERMOST);
	ends("no addend", "row_rule", TEXT + 68);
	put_rule(6, KIND, SFRAME_PACKED_RULES | SFRAME_PACKED_HAS_ADDEND);
	put_rule(6, CFA, reg | SFRAME_PACKED_LOAD | 1);
	put_rule(6, RETURN, reg | 2);
	ends("addend after the last rule", "fre_offset", TEXT + 96);
	if (!HAS_RA) {
		put_rule(3, RETURN, 0);
		ends("return address in no register", "row_rule", TEXT + 64);
	}
	put_rule(2, CFA_OFF, ENTRY + 12);
	ends("CFA is sp + 12", "cfa_align", TEXT + 4);
	put_rule(2, CFA_OFF, ENTRY - 8);
	ends("CFA is below that at the entry", "cfa_order", TEXT + 4);
}

/* Another form than the encoder's. */
static void test_forms(void)
{
	make();
	put_rule(2, CFA, 0xff);
	put_rule(2, FP, 0xff);
	is_good("places of a plain rule");
	put_rule(3, FP_OFF, 77);
	is_good("offset of nothing");
	put_rule(2, KIND, SFRAME_PACKED_UNKNOWN);
	is_good("nothing is known");
	put_rule(2, KIND, SFRAME_PACKED_SIGNAL);
	is_good("signal trampoline");
	put_rule(2, KIND, SFRAME_PACKED_FP);
	is_good("code that keeps frame pointers");
	put_rule(5, FP_OFF, 1);
	is_good("addend in another form");
}

static void has_row(const char *name, uint64_t ip, uint64_t start,
		    uint32_t size, const struct sfjit_row *want)
{
	struct sfjit_function f;
	struct sfjit_row row;

	IS(name, sfjit_find_row(&table, (void *)ip, &f, &row, NULL), 0);
	TRUE(name, sfg_rows_equal(&row, want));
	IS(name, row.start, 0);
	IS(name, f.addr, start);
	IS(name, f.size, size);
	IS(name, f.nr_rows, 1);
	IS(name, f.flags | f.repeat, 0);
}

static void test_find(void)
{
	struct sfjit_row row;

	make();
	has_row("first byte", TEXT, TEXT, 4, &rows[0]);
	has_row("second row", TEXT + 11, TEXT + 4, 8, &rows[1]);
	has_row("last byte", TEXT + 31, TEXT + 12, 20, &rows[2]);
	has_row("of another register", TEXT + 64, TEXT + 64, 4, &places[0]);
	has_row("loaded", TEXT + 95, TEXT + 68, 28, &places[1]);
	has_row("without a caller", TEXT + 96, TEXT + 96, 16, ends_here);
	has_row("in another bucket", TEXT + 0x800, TEXT + 0x800, 4, &rows[0]);
	no_row("between functions", TEXT + 32, "no_row");
	no_row("after them", TEXT + 0xa00, "no_fde");
	no_row("in front of the text", TEXT - 1, "outside of the text");
	no_row("past the text", TEXT + TEXT_LENGTH, "outside of the text");
	IS("nowhere", sfjit_find_row(&table, (void *)TEXT, NULL, NULL, NULL),
	   -EINVAL);
	put(2, 2, 1);
	IS("of none that is registered",
	   sfjit_find_row(&table, (void *)TEXT, NULL, &row, NULL), -EINVAL);
}

static void found_at(uint64_t ip, struct sfjit_function *f,
		     struct sfjit_row *row)
{
	MUST(!sfjit_find_row(&table, (void *)ip, f, row, NULL));
}

/* Kinds that the library does not write. */
static void test_kinds(void)
{
	struct sfjit_function f;
	struct sfjit_row row;

	make();
	put_rule(2, KIND, SFRAME_PACKED_SIGNAL);
	found_at(TEXT + 4, &f, &row);
	IS("signal trampoline", f.flags, SFJIT_FUNCTION_SIGNAL);
	IS("has no rows", f.nr_rows, 0);
	put_rule(2, KIND, SFRAME_PACKED_FP);
	found_at(TEXT + 4, &f, &row);
	IS("code that keeps frame pointers", row.flags, SFG_ROW_FP);
	IS("has no rules", row.cfa.base | row.ra.base | row.fp.base, 0);
	make();
	bytes[RULE(2)] |= SFRAME_PACKED_EXACT;
	found_at(TEXT + 4, &f, &row);
	IS("the caller's address is exact", f.flags, SFJIT_FUNCTION_SIGNAL);
	TRUE("by the same row", f.nr_rows == 1 && sfg_rows_equal(&row, &rows[1]));
	put_rule(2, RA_OFF, 8);
	IS("where no call is, a signal frame", sfjit_check(&table, NULL), 0);
}

static void test_third(void)
{
	struct sfjit_function f;
	struct sfjit_row row;

	make();
	put_rule(2, CFA, SFRAME_PACKED_THIRD_MAX + 1);
	found_at(TEXT + 4, &f, &row);
	IS("farther than a row can tell", row.flags, 0);
	put_rule(2, CFA, SFRAME_PACKED_THIRD_MAX);
	found_at(TEXT + 4, &f, &row);
	IS("as far as it can", row.flags, RBX_SAVED(-248));
}

/* The machine tells whether code may sign return addresses. */
static void test_signed(void)
{
	struct sfjit_function f;
	struct sfjit_row row;

	make();
	bytes[RULE(2)] |= SFRAME_PACKED_MANGLED_RA | SFRAME_PACKED_KEY_B;
	if (SFG_HOST_ABI != SFRAME_ABI_AARCH64_LE &&
	    SFG_HOST_ABI != SFRAME_ABI_AARCH64_BE) {
		ends("signed return address", "row_rule", TEXT + 4);
		return;
	}
	found_at(TEXT + 4, &f, &row);
	IS("signed return address", row.flags, SFJIT_ROW_MANGLED_RA);
	IS("with key B", f.flags, SFJIT_FUNCTION_PAUTH_KEY_B);
	is_good("is known");
}

static void test_repeat(void)
{
	const struct sfjit_function f = { TEXT, TEXT_LENGTH, 3, rows, 0, 16 };
	struct sfjit_function found;
	struct sfjit_row row;

	set_table(sfjit_section_fill(bytes, sizeof(bytes), &f, 1));
	IS("a table that repeats", sfjit_check(&table, NULL), 0);
	found_at(TEXT + 0x807, &found, &row);
	TRUE("row of a block", row.start == 4 && sfg_rows_equal(&row, &rows[1]));
	IS("the code begins", found.addr, TEXT);
	IS("is all of it", found.size, TEXT_LENGTH);
	IS("repeats", found.repeat, 16);
	put_rule(2, CFA_OFF, ENTRY + 12);
	table.text = (void *)(TEXT + 20);
	IS("bad row of a block", sfjit_check(&table, &complaint), -EBADMSG);
	IS("the first address in the text", (long)complaint.address, TEXT + 20);
	table.text = (void *)(TEXT + 28);
	IS("of another block", sfjit_check(&table, &complaint), -EBADMSG);
	IS("is in the next", (long)complaint.address, TEXT + 36);
}

static void test_bias(void)
{
	make();
	table.text = (void *)(TEXT + 0x100000);
	ends("code elsewhere", "no_fde", TEXT + 0x100000);
	table.text = (void *)(TEXT + 0x100000);
	table.bias = 0x100000;
	IS("code elsewhere, with a bias", sfjit_check(&table, &complaint), 0);
	has_row("its second row", TEXT + 0x100004, TEXT + 0x100004, 8,
		&rows[1]);
	table.bias = -0x1000UL;
	table.text = (void *)(TEXT - 0x1000);
	is_good("the other way");
}

int main(void)
{
	present = true;
	make_rows();
	if (!HAS_SECTIONS) {
		IS("no number: a packed table",
		   sfjit_section_size(&(struct sfjit_function){
			TEXT, 16, 1, rows, 0, 0 }, 1), -ENOTSUP);
		return finish();
	}
	test_good();
	test_registration();
	test_index();
	test_rules();
	test_forms();
	test_find();
	test_kinds();
	test_third();
	test_signed();
	test_repeat();
	test_bias();
	return finish();
}
