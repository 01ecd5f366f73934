// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: rows from stack operations, functions of many rows, rows that no
 * walk can use, and windows that own their section. Runs with ASan and UBSan.
 */
#include <sfjit/code.h>
#include <sfjit/row_builder.h>

#include "machine.h"
#include "prctl.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

/* A callee-saved register, which rules do not follow. */
#define OTHER		3
#define TEXT		0x7e0000001000UL

static struct sfjit_row array[64];
static struct sfjit_rows rows;

static void begin(void)
{
	sfjit_rows_init(&rows, array, NR(array));
}

/* Checks the rows of the operations one by one. */
static void makes(const char *name, uint32_t size,
		  const struct sfjit_row *want, uint32_t nr)
{
	struct sfjit_function f;
	uint32_t i;

	IS(name, sfjit_rows_function(&rows, (void *)TEXT, size, &f), 0);
	IS(name, f.nr_rows, nr);
	for (i = 0; i < nr && i < f.nr_rows; i++) {
		IS(name, f.rows[i].start, want[i].start);
		TRUE(name, sfg_rows_equal(&f.rows[i], &want[i]));
	}
	IS(name, f.addr, TEXT);
	IS(name, f.size, size);
	IS(name, f.flags | f.repeat, 0);
}

/* ---- Operations ------------------------------------------------------- */

static void test_saved(void)
{
	const struct sfjit_row want[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 4, 0, SP(32), SAME, SAME },
		{ 9, 0, SP(32), SAME, SAVED(-24) },
		{ 30, 0, SP(32), SAME, SAME },
		{ 34, 0, SP(0), SAME, SAME },
	};

	begin();
	sfjit_rows_adjust(&rows, 4, 32);
	sfjit_rows_saved(&rows, 9, 24);
	sfjit_rows_saved(&rows, 30, 0);
	sfjit_rows_adjust(&rows, 34, -32);
	makes("saved by a store", 35, want, NR(want));
}

/* sljit's fast call, as in the guide: pop at 20, push at 30, ret at 31. */
static void test_fast_call(void)
{
	const struct sfjit_row want[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 4, 0, SP(32), SAME, SAME },
		{ 20, 0, SP(40), SAME, SAME },
		{ 21, 0, SP(32), SAME, SAME },
		{ 31, 0, SP(40), SAME, SAME },
		{ 32, 0, SP(32), SAME, SAME },
	};

	begin();
	sfjit_rows_adjust(&rows, 4, 32);
	sfjit_rows_adjust(&rows, 20, 8);
	sfjit_rows_adjust(&rows, 21, -8);
	sfjit_rows_adjust(&rows, 31, 8);
	sfjit_rows_adjust(&rows, 32, -8);
	makes("a call without a frame of its own", 40, want, NR(want));
}

static void test_outermost(void)
{
	const struct sfjit_row all[] = {
		{ 0, SFJIT_ROW_OUTERMOST, SAME, SAME, SAME },
	};
	const struct sfjit_row part[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 7, SFJIT_ROW_OUTERMOST, SAME, SAME, SAME },
		{ 9, 0, SP(0), SAME, SAME },
	};

	begin();
	sfjit_rows_outermost(&rows, 0);
	sfjit_rows_adjust(&rows, 1, 8);
	makes("no caller", 20, all, NR(all));
	begin();
	sfjit_rows_outermost(&rows, 7);
	sfjit_rows_restore(&rows, 9);
	makes("no caller in the middle", 20, part, NR(part));
}

/* Operations that end at one place make one row, or none without a change. */
static void test_one_place(void)
{
	const struct sfjit_row want[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 9, 0, SP(16), SAME, SAME },
	};

	begin();
	sfjit_rows_adjust(&rows, 3, 16);
	sfjit_rows_adjust(&rows, 3, -16);
	sfjit_rows_adjust(&rows, 9, 8);
	sfjit_rows_adjust(&rows, 9, 8);
	sfjit_rows_adjust(&rows, 30, -8);
	makes("row after the last instruction", 30, want, NR(want));
}

/* ---- Mistakes --------------------------------------------------------- */

static void refused(const char *name, int error)
{
	struct sfjit_function f = { .addr = 1 };

	IS(name, sfjit_rows_function(&rows, (void *)TEXT, 100, &f), error);
	IS(name, f.addr, 1);
	/* Later operations do not clear the error. */
	sfjit_rows_adjust(&rows, 90, 0);
	IS(name, sfjit_rows_function(&rows, (void *)TEXT, 100, &f), error);
}

static void test_mistakes(void)
{
	begin();
	sfjit_rows_adjust(&rows, 5, 8);
	sfjit_rows_adjust(&rows, 4, -8);
	refused("offset goes back", -EINVAL);
	begin();
	sfjit_rows_adjust(&rows, 4, 12);
	refused("12 bytes", -EINVAL);
	begin();
	sfjit_rows_adjust(&rows, 1, -8);
	refused("above what a call has stored", -EINVAL);
	begin();
	sfjit_rows_depth(&rows, 1, -8);
	refused("above the caller's frame", -EINVAL);
	begin();
	sfjit_rows_restore(&rows, 1);
	refused("nothing was remembered", -EINVAL);
	begin();
	sfjit_rows_frame(&rows, 3);
	refused("frame pointer was not saved", -EINVAL);
	begin();
	sfjit_rows_saved(&rows, 1, 20);
	refused("saved at 20 bytes", -EINVAL);
}

static void test_limits(void)
{
	struct sfjit_function f;
	uint32_t i;

	begin();
	for (i = 0; i < SFJIT_ROWS_REMEMBERED; i++)
		sfjit_rows_remember(&rows);
	IS("8 remembered", sfjit_rows_function(&rows, (void *)TEXT, 1, &f), 0);
	sfjit_rows_remember(&rows);
	refused("9 remembered", -EOVERFLOW);
	begin();
	sfjit_rows_adjust(&rows, 4, INT32_MAX & ~7);
	sfjit_rows_adjust(&rows, 8, 8);
	refused("frame of 2 GiB", -EOVERFLOW);
	sfjit_rows_init(&rows, array, 2);
	sfjit_rows_adjust(&rows, 1, 8);
	IS("two rows", sfjit_rows_function(&rows, (void *)TEXT, 9, &f), 0);
	sfjit_rows_adjust(&rows, 2, 8);
	refused("three rows", -ENOSPC);
	sfjit_rows_init(&rows, NULL, 2);
	refused("no array", -ENOSPC);
	begin();
	sfjit_rows_adjust(&rows, 10, 8);
	sfjit_rows_adjust(&rows, 12, 8);
	IS("row outside", sfjit_rows_function(&rows, (void *)TEXT, 10, &f),
	   -EINVAL);
	IS("no size", sfjit_rows_function(&rows, (void *)TEXT, 0, &f),
	   -EINVAL);
	IS("no start", sfjit_rows_function(&rows, NULL, 20, &f), -EINVAL);
	IS("no function", sfjit_rows_function(&rows, (void *)TEXT, 20, NULL),
	   -EINVAL);
	IS("no rows", sfjit_rows_function(NULL, (void *)TEXT, 20, &f),
	   -EINVAL);
}

static void test_rules(void)
{
	struct sfjit_row row = {
		0, 0, SFJIT_REG(1, 8), SFJIT_NO_RULE, SFJIT_NO_RULE,
	};
	struct sfjit_row want = {
		0, 0, SFJIT_REG(2, 24), SFJIT_NO_RULE, SFJIT_SAVED(-16),
	};

	row.cfa = sfjit_rule_reg(2, 24);
	row.fp = sfjit_rule_saved(-16);
	TRUE("rules by assignment", sfg_rows_equal(&row, &want));
	want.fp = sfjit_rule_none();
	row.fp.base = SFJIT_BASE_NONE;
	row.fp = sfjit_rule_none();
	TRUE("no rule by assignment", sfg_rows_equal(&row, &want));
}

/* ---- Where calls store the return address ------------------------------ */

static void test_push(void)
{
	const struct sfjit_row want[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 1, 0, SP(8), SAME, SAME },
		{ 5, 0, SP(40), SAME, SAME },
		{ 60, 0, SP(8), SAME, SAME },
		{ 61, 0, SP(0), SAME, SAME },
	};

	begin();
	sfjit_rows_push(&rows, 1, OTHER);
	sfjit_rows_adjust(&rows, 5, 32);
	sfjit_rows_adjust(&rows, 60, -32);
	sfjit_rows_pop(&rows, 61, OTHER);
	makes("push, adjust, pop", 62, want, NR(want));
}

static void test_frame(void)
{
	const struct sfjit_row want[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 1, 0, SP(8), SAME, SAVED(-16) },
		{ 4, 0, FP(8), SAME, SAVED(-16) },
		{ 50, 0, SP(0), SAME, SAME },
	};

	begin();
	sfjit_rows_push(&rows, 1, FP_REG);
	sfjit_rows_frame(&rows, 4);
	/* Neither an alloca() nor this changes a row. */
	sfjit_rows_adjust(&rows, 8, 64);
	sfjit_rows_push(&rows, 9, OTHER);
	sfjit_rows_leave(&rows, 50);
	makes("frame, leave", 51, want, NR(want));
}

/* lea -8(%rbp), %rsp; pop %rbx; pop %rbp */
static void test_depth(void)
{
	const struct sfjit_row want[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 1, 0, SP(8), SAME, SAVED(-16) },
		{ 4, 0, FP(8), SAME, SAVED(-16) },
		{ 46, 0, SP(0), SAME, SAME },
	};

	begin();
	sfjit_rows_push(&rows, 1, FP_REG);
	sfjit_rows_frame(&rows, 4);
	sfjit_rows_push(&rows, 5, OTHER);
	sfjit_rows_depth(&rows, 44, 24);
	sfjit_rows_pop(&rows, 45, OTHER);
	sfjit_rows_pop(&rows, 46, FP_REG);
	makes("depth, pop of the frame pointer", 47, want, NR(want));
}

/* Two exits in the middle, one of them by leave. */
static void test_exits(void)
{
	const struct sfjit_row want[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 1, 0, SP(8), SAME, SAVED(-16) },
		{ 4, 0, FP(8), SAME, SAVED(-16) },
		{ 20, 0, SP(0), SAME, SAME },
		{ 21, 0, FP(8), SAME, SAVED(-16) },
		{ 40, 0, SP(0), SAME, SAME },
		{ 41, 0, FP(8), SAME, SAVED(-16) },
	};

	begin();
	sfjit_rows_push(&rows, 1, FP_REG);
	sfjit_rows_frame(&rows, 4);
	sfjit_rows_epilogue(&rows, 20);
	sfjit_rows_restore(&rows, 21);
	sfjit_rows_remember(&rows);
	sfjit_rows_leave(&rows, 40);
	sfjit_rows_restore(&rows, 41);
	makes("exits in the middle", 60, want, NR(want));
}

static void test_stored_mistakes(void)
{
	begin();
	sfjit_rows_pop(&rows, 1, OTHER);
	refused("pop of the return address", -EINVAL);
	begin();
	sfjit_rows_leave(&rows, 3);
	refused("leave without a frame", -EINVAL);
	begin();
	sfjit_rows_push(&rows, 1, FP_REG);
	sfjit_rows_push(&rows, 2, OTHER);
	sfjit_rows_pop(&rows, 3, FP_REG);
	refused("another register's value is popped", -EINVAL);
	begin();
	sfjit_rows_push(&rows, 1, FP_REG);
	sfjit_rows_pop(&rows, 2, OTHER);
	refused("frame pointer is popped to elsewhere", -EINVAL);
	begin();
	sfjit_rows_saved(&rows, 1, 8);
	refused("saved over the return address", -EINVAL);
	begin();
	sfjit_rows_saved_ra(&rows, 1, 8);
	refused("return address is stored again", -EINVAL);
}

static void test_stored(void)
{
	test_push();
	test_frame();
	test_depth();
	test_exits();
	test_stored_mistakes();
}

/* ---- Where they leave it in a register --------------------------------- */

/* Both saved, an exit in the middle, and rules above the CFA. */
static void test_register_saved(void)
{
	const struct sfjit_row want[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 4, 0, SP(32), SAME, SAME },
		{ 8, 0, SP(32), SAVED(-24), SAVED(-32) },
		{ 12, 0, FP(32), SAVED(-24), SAVED(-32) },
		{ 40, 0, SP(0), SAME, SAME },
		{ 44, 0, FP(32), SAVED(-24), SAVED(-32) },
		{ 60, 0, FP(32), SAME, SAVED(-32) },
		{ 64, 0, SP(32), SAME, SAME },
		{ 68, 0, SP(32), SAVED(16), SAME },
	};

	begin();
	sfjit_rows_adjust(&rows, 4, 32);
	sfjit_rows_saved_ra(&rows, 8, 24);
	sfjit_rows_saved(&rows, 8, 32);
	sfjit_rows_frame(&rows, 12);
	sfjit_rows_epilogue(&rows, 40);
	sfjit_rows_restore(&rows, 44);
	sfjit_rows_saved_ra(&rows, 60, 0);
	sfjit_rows_saved(&rows, 64, 0);
	sfjit_rows_saved_ra(&rows, 68, -16);
	makes("saved by stores", 70, want, NR(want));
}

static void test_register_mistakes(void)
{
	begin();
	sfjit_rows_push(&rows, 1, OTHER);
	refused("push", -EINVAL);
	begin();
	sfjit_rows_adjust(&rows, 1, 8);
	sfjit_rows_pop(&rows, 2, OTHER);
	refused("pop", -EINVAL);
	begin();
	sfjit_rows_adjust(&rows, 1, 16);
	sfjit_rows_saved(&rows, 2, 16);
	sfjit_rows_frame(&rows, 3);
	rows.now.saved = rows.now.frame;
	sfjit_rows_leave(&rows, 4);
	refused("leave", -EINVAL);
	begin();
	sfjit_rows_saved_ra(&rows, 1, 12);
	refused("return address at 12 bytes", -EINVAL);
}

static void test_register(void)
{
	test_register_saved();
	test_register_mistakes();
}

/* ---- Many rows -------------------------------------------------------- */

#define MOST	70000
#define STEP	4		/* bytes of each row */

static struct sfjit_row many[MOST];
static _Alignas(16) unsigned char section[1000000];

/* Neighbours differ, and each begins at its own offset. */
static void make_many(void)
{
	uint32_t i;

	for (i = 0; i < MOST; i++) {
		many[i] = (struct sfjit_row){ .start = STEP * i };
		many[i].cfa = SP(i % 17 * 8);
		if (i % 5 == 1)
			many[i].fp = sfjit_rule_saved(-16);
	}
}

static struct sfjit_function long_function(uint64_t addr, uint32_t nr)
{
	return (struct sfjit_function){ addr, STEP * nr, nr, many, 0, 0 };
}

/* Each address has the row of the function. */
static void finds_all(const char *name, const struct sfg_packed *t,
		      const struct sfjit_function *f)
{
	struct sfjit_function found;
	uint32_t off, bad = 0, at;
	struct sfjit_row row;

	for (off = 0; off < f->size; off++) {
		at = f->repeat ? off % f->repeat : off;
		if (sfg_find_packed_row(t, f->addr + off, &found, &row, NULL) ||
		    !sfg_rows_equal(&row, &f->rows[at / STEP]))
			bad++;
	}
	IS(name, bad, 0);
}

/* Every rule is there once, up to the number that the encoder remembers. */
static void packs(const char *name, const struct sfjit_function *functions,
		  size_t nr, uint32_t nr_rules)
{
	long size = sfjit_section_size(functions, nr);
	struct sfg_packed t;
	size_t i;

	MUST(size < (long)sizeof(section));
	IS(name, sfjit_section_fill(section, sizeof(section), functions, nr),
	   size);
	IS(name, sfjit_section_fill(section, size - 1, functions, nr),
	   -ENOSPC);
	MUST(!sfg_open_packed(&t, section, size, NULL));
	IS(name, sfg_check_packed(&t, NULL), 0);
	IS(name, t.header.nr_rules, nr_rules);
	for (i = 0; i < nr; i++)
		finds_all(name, &t, &functions[i]);
}

static void test_many(void)
{
	struct sfjit_function three[3] = {
		long_function(TEXT, 64), long_function(TEXT + 256, 129),
		long_function(TEXT + 0x1000, 2),
	};
	static const uint32_t counts[] = { 1, 2, 64, 65, 1000 };
	static const uint32_t rules[] = { 2, 3, 31, 31, 35 };
	struct sfjit_function f;
	size_t i;

	for (i = 0; i < NR(counts); i++) {
		f = long_function(TEXT, counts[i]);
		packs("rows of a function", &f, 1, rules[i]);
	}
	packs("functions beside each other", three, 3, 35);
	f = long_function(TEXT, MOST);
	packs("70000 rows", &f, 1, 35);
	f = long_function(TEXT, 60);
	f.size = 0x10000;
	f.repeat = 240;
	packs("60 rows that repeat", &f, 1, 30);
	three[1].size = 1000;
	three[1].nr_rows = 3;
	three[1].repeat = 12;
	packs("rows that repeat beside others", three, 3, 31);
}

static void not_packed(const char *name, const struct sfjit_function *f,
		       size_t nr, int error)
{
	IS(name, sfjit_section_size(f, nr), error);
	IS(name, sfjit_section_fill(section, sizeof(section), f, nr), error);
}

static void test_bad_many(void)
{
	struct sfjit_function two[2] = {
		long_function(TEXT, 100), long_function(TEXT + 399, 100),
	};
	struct sfjit_function f;
	static struct sfjit_row bad[65];

	not_packed("long functions that overlap", two, 2, -EINVAL);
	f = long_function(TEXT, 65);
	f.size = STEP * 64;
	not_packed("65th row outside", &f, 1, -EINVAL);
	f = long_function(-4096UL, 65);
	f.size = 4097;
	not_packed("long function wraps around", &f, 1, -EINVAL);
	f = long_function(TEXT, 65);
	f.rows = bad;
	memcpy(bad, many, sizeof(bad));
	bad[64].start = bad[63].start;
	not_packed("65th row stands still", &f, 1, -EINVAL);
	bad[64].start = 1;
	not_packed("65th row goes back", &f, 1, -EINVAL);
	memcpy(bad, many, sizeof(bad));
	bad[0].start = 1;
	not_packed("first of 65 rows at 1", &f, 1, -EINVAL);
	memcpy(bad, many, sizeof(bad));
	bad[64].fp = sfjit_rule_saved(-16);
	bad[64].fp.deref = 2;
	not_packed("65th row is none", &f, 1, -EINVAL);
}

/* More than the encoder remembers, and than ids of a byte can name. */
static void test_many_rules(void)
{
	struct sfjit_function f = long_function(TEXT, 65533);
	static struct sfjit_row other[65535];
	struct sfg_packed t;
	long size;
	uint32_t i;

	f.rows = other;
	f.nr_rows = 1000;
	f.size = 1000 * STEP;
	for (i = 0; i < 65535; i++)
		other[i] = (struct sfjit_row){ .start = STEP * i,
					       .cfa = SP(8 * i) };
	size = sfjit_section_fill(section, sizeof(section), &f, 1);
	MUST(size > 0 && !sfg_open_packed(&t, section, size, NULL));
	IS("1001 rules", t.header.nr_rules, 1001);
	IS("are well", sfg_check_packed(&t, NULL), 0);
	finds_all("each has its own", &t, &f);
	f.nr_rows = 65535;
	f.size = 65535 * STEP;
	not_packed("65536 rules", &f, 1, -E2BIG);
}

/* ---- Rows that no walk can use ---------------------------------------- */

static int size_with(struct sfjit_rule cfa)
{
	struct sfjit_row row = { 0, 0, cfa, SAME, SAME };
	struct sfjit_function f = { TEXT, 16, 1, &row, 0, 0 };

	return sfjit_section_size(&f, 1);
}

static void test_unusable(void)
{
	struct sfjit_rule loaded = sfjit_rule_reg(SP_REG, -8);

	loaded.deref = 1;
	IS("CFA is below the entry's", size_with(SP(-8)), -EINVAL);
	IS("CFA is 8 bytes more below", size_with(SP(-16)), -EINVAL);
	IS("CFA is sp - 2 GiB", size_with(sfjit_rule_reg(SP_REG, INT32_MIN)),
	   -EINVAL);
	IS("CFA is no multiple of 8 from sp", size_with(SP(4)), -EINVAL);
	IS("CFA is none from fp", size_with(FP(4)), -EINVAL);
	TRUE("CFA is the entry's", size_with(SP(0)) > 0);
	TRUE("CFA is fp - 128", size_with(sfjit_rule_reg(FP_REG, -128)) > 0);
	/* Not representable in units of 8. */
	IS("CFA is 12 from another register",
	   size_with(sfjit_rule_reg(OTHER, 12)) > 0, cfa_scale() == 1);
	TRUE("CFA is loaded from below the stack", size_with(loaded) > 0);
}

/* ---- Windows that own their section ----------------------------------- */

static void test_window(void)
{
	struct sfjit_function two[2] = {
		long_function(TEXT, 5), long_function(TEXT + 64, 100),
	};
	struct sfjit_code *code = NULL;
	int windows = nr_windows, calls = nr_calls;

	IS("register", sfjit_register_functions(two, 2, &code), 0);
	IS("one window", nr_windows - windows, 1);
	IS("one call", nr_calls - calls, 1);
	IS("its key", call.key, TEXT);
	IS("its text", call.opts.text_start, TEXT);
	IS("to the end", call.opts.text_length, 64 + 400);
	IS("its table", call.length, sfjit_section_size(two, 2));
	IS("is packed", call.opts.format, SFRAME_FORMAT_PACKED);
	IS("at a multiple of 16", call.address % 16, 0);
	IS("retire", sfjit_code_retire(code), 0);
	IS("no window", nr_windows - windows, 0);
	IS("by its key", call.key, TEXT);
	IS("retire nothing", sfjit_code_retire(NULL), 0);
}

static void test_window_fails(void)
{
	struct sfjit_function f = long_function(TEXT, 5);
	struct sfjit_code *code = NULL;
	int calls = nr_calls;

	f.size = 0;
	IS("bad function", sfjit_register_functions(&f, 1, &code), -EINVAL);
	f = long_function(TEXT, 5);
	IS("no function", sfjit_register_functions(&f, 0, &code), -EINVAL);
	IS("no result", sfjit_register_functions(&f, 1, NULL), -EINVAL);
	IS("the kernel was not asked", nr_calls - calls, 0);
	next_error = EEXIST;
	IS("overlap", sfjit_register_functions(&f, 1, &code), -EEXIST);
	TRUE("no handle", !code);
	present = false;
	IS("old kernel", sfjit_register_functions(&f, 1, &code), 0);
	IS("retire there", sfjit_code_retire(code), 0);
	present = true;
	IS("register", sfjit_register_functions(&f, 1, &code), 0);
	next_error = ENOENT;
	IS("code was unmapped", sfjit_code_retire(code), -ENOENT);
}

static void test_none(void)
{
	struct sfjit_function f = long_function(TEXT, 5);
	struct sfjit_function more = long_function(TEXT, 100);
	struct sfjit_code *code = NULL;
	int calls = nr_calls;

	not_packed("no number", &f, 1, -ENOTSUP);
	not_packed("no number, long function", &more, 1, -ENOTSUP);
	IS("no number: register", sfjit_register_functions(&f, 1, &code),
	   -ENOTSUP);
	TRUE("no number: no handle", !code);
	IS("no number: the kernel was not asked", nr_calls - calls, 0);
}

static void test_sections(void)
{
	test_many();
	test_bad_many();
	test_many_rules();
	test_unusable();
	test_window();
	test_window_fails();
}

int main(void)
{
	present = true;
	test_saved();
	test_fast_call();
	test_outermost();
	test_one_place();
	test_mistakes();
	test_limits();
	test_rules();
	if (HAS_RA)
		test_register();
	else
		test_stored();
	make_many();
	if (HAS_SECTIONS)
		test_sections();
	else
		test_none();
	return finish();
}
