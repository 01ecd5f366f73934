// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: areas: functions in any order, against a model and as the kernel
 * looks them up; each refusal; full tables, and larger ones; no system call;
 * what a fork cuts off; 1, 2 and 8 concurrent threads with a reader. Runs with
 * ASan and UBSan, and with TSan.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>

#include <sfjit/area.h>
#include <sfjit/packed.h>
#include <slot.h>

#include "machine.h"
#include "prctl.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

/* Not mapped: neither the library nor this test accesses the text. */
#define TEXT		0x7e0000001000UL
#define LENGTH		(64 * UNIT * 256UL)

/* Bytes of an instruction's place; 256 of them are a bucket. */
#define UNIT		(1U << SLOT_UNIT_SHIFT)
#define BUCKET		(256UL * UNIT)

#define MANY		700

static struct sfjit_row many[MANY], few[3];

static struct sfjit_row a_row(uint32_t start, int32_t cfa)
{
	struct sfjit_row row = {
		.start = start, .cfa = SP(cfa), .ra = RA, .fp = SAVED(-16),
	};

	return row;
}

static void make_rows(void)
{
	uint32_t i;

	few[0] = (struct sfjit_row){ .cfa = SP(0), .ra = SAME, .fp = SAME };
	few[1] = a_row(UNIT, 16);
	few[2] = a_row(4 * UNIT, 48);
	few[2].flags = RBX_SAVED(-24);
	for (i = 0; i < MANY; i++)
		many[i] = a_row(i * UNIT, 16 + i % 90 * 8);
}

/* Sizes are in units. */
static struct sfjit_function of_size(uint64_t addr, uint32_t size)
{
	return (struct sfjit_function){
		.addr = addr, .size = size * UNIT, .rows = few,
		.nr_rows = size > 4 ? 3 : size > 1 ? 2 : 1,
	};
}

static struct sfjit_function of_many(uint64_t addr, uint32_t nr, uint32_t size)
{
	return (struct sfjit_function){
		.addr = addr, .size = size * UNIT, .rows = many, .nr_rows = nr,
	};
}

static struct sfjit_area *make(size_t rules, size_t blocks)
{
	struct sfjit_area *area;

	MUST(!sfjit_area_create((void *)TEXT, LENGTH, rules, blocks, &area));
	return area;
}

static struct sfjit_area_info stat_of(const struct sfjit_area *area)
{
	struct sfjit_area_info stat;

	MUST(!sfjit_area_stat(area, &stat));
	return stat;
}

static size_t functions_of(const struct sfjit_area *area)
{
	return stat_of(area).functions;
}

static int publish(struct sfjit_area *area, struct sfjit_function f)
{
	return sfjit_area_publish(area, &f);
}

static int withdraw(struct sfjit_area *area, uint64_t addr)
{
	return sfjit_area_withdraw(area, (void *)addr);
}

static struct sfg_packed open_table(const struct sfjit_area *area)
{
	struct sfjit_area_info stat = stat_of(area);
	struct sfg_packed table;

	MUST(!sfg_open_packed(&table, stat.table, stat.length, NULL));
	return table;
}

/* The table is valid as a whole. Returns what is wrong, or NULL. */
static const char *is_wrong(const struct sfjit_area *area)
{
	struct sfg_packed table = open_table(area);
	struct sfg_error error;

	return sfg_check_packed(&table, &error) ? error.reason : NULL;
}

static const struct sfjit_row *row_of(const struct sfjit_function *function,
				      uint32_t offset)
{
	const struct sfjit_row *row = function->rows;
	uint32_t i;

	if (function->repeat)
		offset %= function->repeat;
	for (i = 1; i < function->nr_rows; i++)
		if (function->rows[i].start <= offset)
			row = &function->rows[i];
	return row;
}

/* Whether an address has the row of @function, or none if that is NULL. */
static bool is_at(const struct sfg_packed *table, uint64_t ip,
		  const struct sfjit_function *function)
{
	struct sfjit_function fde;
	struct sfjit_row row;
	int ret = sfg_find_packed_row(table, ip, &fde, &row, NULL);

	if (!function)
		return ret == -ENOENT && !fde.size;
	if (ret)
		return false;
	return sfg_rows_equal(&row, row_of(function, ip - function->addr));
}

/* Units of [start, end) that do not have the row of @function. */
static uint32_t wrong_in(const struct sfjit_area *area, uint64_t start,
			 uint64_t end, const struct sfjit_function *function)
{
	struct sfg_packed table = open_table(area);
	uint32_t wrong = 0;

	for (; start < end; start += UNIT)
		wrong += !is_at(&table, start, function);
	return wrong;
}

static void check(const char *name, const struct sfjit_area *area,
		  struct sfjit_function f)
{
	const char *why = is_wrong(area);

	if (!why && wrong_in(area, f.addr, f.addr + f.size, &f))
		why = "rows";
	result(!why, name, "%s", why);
}

static void check_none(const char *name, const struct sfjit_area *area,
		       struct sfjit_function f)
{
	IS(name, wrong_in(area, f.addr, f.addr + f.size, NULL), 0);
}

/* ---- Against a model ------------------------------------------------- */

static uint32_t random_state = 12345;

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 8;
}

static uint32_t random_below(uint32_t limit)
{
	return next_random(&random_state) % limit;
}

#define NR_MODEL	96

static struct sfjit_function model[NR_MODEL];

static bool overlap(const struct sfjit_function *a,
		    const struct sfjit_function *b)
{
	return a->size && a->addr < b->addr + b->size &&
	       b->addr < a->addr + a->size;
}

static int expected(const struct sfjit_function *f)
{
	int i;

	if (f->addr + f->size > TEXT + LENGTH)
		return -EINVAL;
	for (i = 0; i < NR_MODEL; i++)
		if (overlap(&model[i], f))
			return -EEXIST;
	return 0;
}

static struct sfjit_function random_function(void)
{
	uint64_t addr = TEXT + random_below(LENGTH / UNIT) * (uint64_t)UNIT;
	struct sfjit_function f;

	switch (random_below(8)) {
	case 0:
		return of_many(addr, 1 + random_below(MANY), MANY);
	case 1:
		return of_size(addr, 1 + random_below(1500));
	case 2:
		f = of_size(addr, 1 + random_below(400));
		f.repeat = 8 * UNIT;
		return f;
	default:
		return of_size(addr, 1 + random_below(60));
	}
}

static const struct sfjit_function *model_at(uint64_t ip)
{
	int i;

	for (i = 0; i < NR_MODEL; i++)
		if (ip - model[i].addr < model[i].size)
			return &model[i];
	return NULL;
}

static unsigned int wrong_addresses(const struct sfjit_area *area)
{
	struct sfg_packed table = open_table(area);
	unsigned int wrong = is_wrong(area) != NULL;
	uint64_t ip;

	for (ip = TEXT; ip < TEXT + LENGTH; ip += 3 * UNIT)
		wrong += !is_at(&table, ip, model_at(ip));
	return wrong;
}

static unsigned int nr_model(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < NR_MODEL; i++)
		nr += model[i].size != 0;
	return nr;
}

static unsigned int nr_grown;

/* Returns the result of a call that was repeated if the table was full. */
static int with_space(struct sfjit_area *area, const struct sfjit_function *f,
		      bool publishes)
{
	int ret = publishes ? sfjit_area_publish(area, f) :
			      withdraw(area, f->addr);

	if (ret != -ENOSPC)
		return ret;
	nr_grown++;
	MUST(!sfjit_area_grow(area, NULL, 0, 0, 0));
	return publishes ? sfjit_area_publish(area, f) :
			   withdraw(area, f->addr);
}

static int reset_some(struct sfjit_area *area)
{
	uint64_t start = TEXT + random_below(LENGTH - 1), i;
	size_t length = 1 + random_below(2 * BUCKET);
	int ret;

	if (start + length > TEXT + LENGTH)
		length = TEXT + LENGTH - start;
	ret = sfjit_area_reset(area, (void *)start, length);
	if (ret == -ENOSPC) {
		nr_grown++;
		MUST(!sfjit_area_grow(area, NULL, 0, 0, 0));
		ret = sfjit_area_reset(area, (void *)start, length);
	}
	for (i = 0; i < NR_MODEL; i++)
		if (model[i].addr - start < length)
			model[i].size = 0;
	return ret;
}

struct counts {
	unsigned int wrong, refused, published;
};

static void change_model(struct sfjit_area *area, struct counts *counts)
{
	struct sfjit_function *slot = &model[random_below(NR_MODEL)], f;
	int want, ret;

	if (slot->size) {
		counts->wrong += with_space(area, slot, false) != 0;
		slot->size = 0;
		return;
	}
	f = random_function();
	want = expected(&f);
	ret = with_space(area, &f, true);
	counts->wrong += ret != want;
	counts->refused += ret == -EEXIST;
	counts->published += !ret;
	if (!ret)
		*slot = f;
}

static void test_model(size_t blocks)
{
	struct sfjit_area *area = make(0, blocks);
	struct counts counts = { 0 };
	unsigned int i;

	memset(model, 0, sizeof(model));
	nr_grown = 0;
	for (i = 0; i < 6000; i++) {
		change_model(area, &counts);
		if (i % 256 == 7)
			counts.wrong += reset_some(area) != 0;
		if (i % 128 == 0)
			counts.wrong += wrong_addresses(area);
	}
	counts.wrong += functions_of(area) != nr_model();
	result(!counts.wrong && counts.refused > 100 &&
	       counts.published > 1000 && nr_grown > 2, "as the model",
	       "%u wrong, %u refused, %u published, %u times full",
	       counts.wrong, counts.refused, counts.published, nr_grown);
	IS("reset", sfjit_area_reset(area, NULL, 0), 0);
	memset(model, 0, sizeof(model));
	IS("nothing is left", wrong_addresses(area), 0);
	IS("no function", functions_of(area), 0);
	sfjit_area_retire(area);
}

/* ---- What the kernel is told ----------------------------------------- */

static struct sframe_packed_header header_of(const struct sfjit_area *area)
{
	struct sframe_packed_header header;

	memcpy(&header, stat_of(area).table, sizeof(header));
	return header;
}

static void test_create(void)
{
	struct sfjit_area *area = make(10, 5000);
	struct sfjit_area_info stat = stat_of(area);
	struct sframe_packed_header header = header_of(area);
	int windows = nr_windows;

	IS("create registers", call.option, PR_SFRAME_REGISTER);
	IS("a packed table", call.opts.format, SFRAME_FORMAT_PACKED);
	IS("key is the text", call.key, TEXT);
	IS("table", call.address, (long)stat.table);
	IS("is aligned", call.address % 16, 0);
	IS("length", call.length, stat.length);
	IS("no flags", call.opts.flags, 0);
	IS("text start", call.opts.text_start, TEXT);
	IS("text length", call.opts.text_length, LENGTH);
	IS("no bias", call.opts.text_bias, 0);
	IS("link-time address", header.text_start, TEXT);
	IS("the whole area", header.text_length, LENGTH);
	IS("ten rules", header.nr_rules, 10);
	IS("are counted", stat.max_rules, 10);
	IS("two are there", stat.rules, 2);
	TRUE("bytes of blocks", header.blocks_len >= 5000);
	TRUE("most of them are free", stat.room >= header.blocks_len * 7 / 8);
	TRUE("the table is valid", !is_wrong(area));
	IS("no function", stat.functions, 0);
	IS("no error", stat.error, 0);
	IS("retire", sfjit_area_retire(area), 0);
	IS("unregisters", call.option, PR_SFRAME_UNREGISTER);
	IS("by its key", call.key, TEXT);
	IS("one window less", windows - nr_windows, 1);
}

static void test_defaults(void)
{
	struct sfjit_area *area = make(0, 0);
	struct sframe_packed_header header = header_of(area);

	IS("rules", header.nr_rules, LENGTH / 64);
	IS("as many bytes as text", header.blocks_len, LENGTH);
	IS("retire", sfjit_area_retire(area), 0);
	MUST(!sfjit_area_create((void *)TEXT, (1UL << 32) - 4096, 0, 0, &area));
	IS("at most 1 GiB", header_of(area).blocks_len, 1 << 30);
	IS("most rules", header_of(area).nr_rules, 4096);
	IS("the last function", publish(area, of_size(TEXT + (1UL << 32) -
						      4096 - 10 * UNIT, 10)), 0);
	IS("is there", functions_of(area), 1);
	IS("retire the large one", sfjit_area_retire(area), 0);
	MUST(!sfjit_area_create((void *)TEXT, UNIT, 0, 0, &area));
	IS("least rules", header_of(area).nr_rules, 256);
	IS("retire the small one", sfjit_area_retire(area), 0);
}

static void refuse_create(const char *name, const void *text, size_t length,
			  size_t rules, size_t blocks, int error)
{
	struct sfjit_area *area = (void *)1;
	int calls = nr_calls;

	IS(name, sfjit_area_create(text, length, rules, blocks, &area), error);
	TRUE(name, area == (void *)1 && nr_calls == calls);
}

static void test_arguments(void)
{
	void *text = (void *)TEXT;

	refuse_create("no text", NULL, 64, 0, 0, -EINVAL);
	refuse_create("no length", text, 0, 0, 0, -EINVAL);
	refuse_create("wraps", (void *)-64L, 65, 0, 0, -EINVAL);
	if (UNIT > 1)
		refuse_create("no place of an instruction",
			      (void *)(TEXT + 1), 64, 0, 0, -EINVAL);
	refuse_create("text", text, (1UL << 32) - 4095, 0, 0, -E2BIG);
	refuse_create("rules", text, 64, 65536, 0, -E2BIG);
	refuse_create("blocks", text, 64, 0, (1UL << 30) + 1, -E2BIG);
	fail_call = "mmap";
	refuse_create("memory", text, 64, 0, 0, -ENOMEM);
	fail_call = NULL;
	IS("no result", sfjit_area_create(text, 64, 0, 0, NULL), -EINVAL);
	IS("retire nothing", sfjit_area_retire(NULL), 0);
	IS("publish nothing", sfjit_area_publish(NULL, NULL), -EINVAL);
	IS("withdraw nothing", sfjit_area_withdraw(NULL, text), -EINVAL);
	IS("reset nothing", sfjit_area_reset(NULL, text, 1), -EINVAL);
	IS("grow nothing", sfjit_area_grow(NULL, NULL, 0, 0, 0), -EINVAL);
	IS("look at nothing", sfjit_area_stat(NULL, NULL), -EINVAL);
}

/* It works like any other. Retire must not remove another producer's window. */
static void test_not_registered(const char *name, int error,
				unsigned int formats, int want)
{
	unsigned int all = known_formats;
	struct sfjit_function f = of_size(TEXT, 31);
	int windows = nr_windows, calls;
	struct sfjit_area *area;

	next_error = error;
	known_formats = formats;
	area = make(0, 0);
	next_error = 0;
	IS(name, stat_of(area).error, want);
	IS("publish all the same", sfjit_area_publish(area, &f), 0);
	check("with a whole table", area, f);
	known_formats = all;
	calls = nr_calls;
	IS("retire", sfjit_area_retire(area), 0);
	IS("unregisters nothing", nr_calls - calls, 0);
	IS("no window", nr_windows - windows, 0);
}

static void test_absent(void)
{
	struct sfjit_function f = of_size(TEXT, 31);
	struct sfjit_area *area;

	present = false;
	area = make(0, 0);
	IS("absent: no error", stat_of(area).error, 0);
	IS("absent: publish", sfjit_area_publish(area, &f), 0);
	IS("absent: grow", sfjit_area_grow(area, NULL, 0, 0, 0), 0);
	check("absent: table", area, f);
	IS("absent: withdraw", withdraw(area, TEXT), 0);
	IS("absent: retire", sfjit_area_retire(area), 0);
	present = true;
}

/* ---- One by one ------------------------------------------------------ */

static void test_places(void)
{
	struct sfjit_area *area = make(0, 0);
	struct sfjit_function f = of_size(TEXT + BUCKET, 0x80);
	uint64_t at = f.addr, end = f.addr + f.size;

	IS("publish", sfjit_area_publish(area, &f), 0);
	IS("twice", sfjit_area_publish(area, &f), -EEXIST);
	IS("inside", publish(area, of_size(at + 0x3f * UNIT, 1)), -EEXIST);
	IS("its last unit", publish(area, of_size(end - UNIT, 10)), -EEXIST);
	IS("after it", publish(area, of_size(end, 10)), 0);
	IS("into it", publish(area, of_size(at - 0x10 * UNIT, 0x11)),
	   -EEXIST);
	IS("around it", publish(area, of_size(at - UNIT, 0x1000)), -EEXIST);
	IS("from far", publish(area, of_size(TEXT, 0x101)), -EEXIST);
	IS("up to it", publish(area, of_size(at - 0x10 * UNIT, 0x10)), 0);
	IS("before the area", publish(area, of_size(TEXT - UNIT, 10)),
	   -EINVAL);
	IS("after it", publish(area, of_size(TEXT + LENGTH, 10)), -EINVAL);
	IS("over the end", publish(area, of_size(TEXT + LENGTH - 9 * UNIT, 10)),
	   -EINVAL);
	IS("to the end", publish(area, of_size(TEXT + LENGTH - 9 * UNIT, 9)),
	   0);
	if (UNIT > 1)
		IS("no place of an instruction",
		   publish(area, of_size(TEXT + 1, 9)), -EINVAL);
	IS("four are there", functions_of(area), 4);
	check("the first is", area, f);
	IS("other start", withdraw(area, at + UNIT), -ENOENT);
	IS("inside of a unit", UNIT > 1 ? withdraw(area, at + 1) : -ENOENT,
	   -ENOENT);
	IS("before the area", withdraw(area, TEXT - UNIT), -ENOENT);
	IS("after the area", withdraw(area, TEXT + LENGTH), -ENOENT);
	IS("withdraw", withdraw(area, at), 0);
	check_none("it is gone", area, f);
	IS("again", withdraw(area, at), -ENOENT);
	IS("three are left", functions_of(area), 3);
	IS("there is space for it", sfjit_area_publish(area, &f), 0);
	sfjit_area_retire(area);
}

/* Nothing but their starts tells them apart. */
static void test_neighbours(void)
{
	struct sfjit_function f[3] = {
		{ TEXT + BUCKET - 8 * UNIT, 8 * UNIT, 1, few, 0, 0 },
		{ TEXT + BUCKET, 256 * UNIT, 1, few, 0, 0 },
		{ TEXT + 2 * BUCKET, 8 * UNIT, 1, few, 0, 0 },
	};
	struct sfjit_area *area = make(0, 0);
	int i;

	for (i = 2; i >= 0; i--)
		MUST(!sfjit_area_publish(area, &f[i]));
	IS("three with one row", functions_of(area), 3);
	IS("withdraw the second", withdraw(area, f[1].addr), 0);
	check_none("it is gone", area, f[1]);
	check("the first is there", area, f[0]);
	check("the third is there", area, f[2]);
	MUST(!sfjit_area_publish(area, &f[1]));
	IS("withdraw the first", withdraw(area, f[0].addr), 0);
	check("the second is there", area, f[1]);
	IS("grow", sfjit_area_grow(area, NULL, 0, 0, 0), 0);
	IS("two are left", functions_of(area), 2);
	IS("withdraw the third", withdraw(area, f[2].addr), 0);
	check("the second is there", area, f[1]);
	sfjit_area_retire(area);
}

static void refuse(const char *name, struct sfjit_area *area,
		   struct sfjit_function f, int error)
{
	IS(name, sfjit_area_publish(area, &f), error);
	check_none(name, area, f);
}

static void refuse_row(struct sfjit_area *area, const char *name,
		       struct sfjit_row row)
{
	struct sfjit_row rows[2] = { few[0], row };
	struct sfjit_function f = { TEXT + 64 * UNIT, 31 * UNIT, 2, rows, 0,
				    0 };

	refuse(name, area, f, -EINVAL);
	/* In another bucket than the first row. */
	if (row.start == few[1].start) {
		rows[1].start = 300 * UNIT;
		f.size = 301 * UNIT;
		refuse(name, area, f, -EINVAL);
	}
}

static void test_bad_rows(void)
{
	struct sfjit_area *area = make(0, 0);
	struct sfjit_row row = few[1];

	row.start = 0;
	refuse_row(area, "row start does not increase", row);
	row.start = 31 * UNIT;
	refuse_row(area, "row start past the function", row);
	row = few[1];
	row.cfa.base = SFJIT_BASE_NONE;
	refuse_row(area, "no CFA", row);
	row = few[1];
	row.cfa.offset += 1;
	refuse_row(area, "no place of a stack", row);
	row = few[1];
	row.flags = 0x100;
	refuse_row(area, "unknown row flag", row);
	row.flags = 0x10000;
	refuse_row(area, "a flag of the library", row);
	row.flags = SFG_ROW_FP;
	refuse_row(area, "a flag of tables", row);
	row = few[1];
	row.fp.deref = 2;
	refuse_row(area, "unknown deref", row);
	IS("no rule is left of them", stat_of(area).rules, 3);
	sfjit_area_retire(area);
}

static void test_bad_functions(void)
{
	struct sfjit_area *area = make(0, 0);
	struct sfjit_function f = of_size(TEXT + 64 * UNIT, 31);

	IS("publish nothing", sfjit_area_publish(area, NULL), -EINVAL);
	f.nr_rows = 0;
	refuse("no rows", area, f, -EINVAL);
	f = of_size(TEXT + 64 * UNIT, 31);
	f.size = 0;
	refuse("no code", area, f, -EINVAL);
	f = of_size(TEXT + 64 * UNIT, 31);
	f.flags = 1;
	refuse("function flag", area, f, -EINVAL);
	f.flags = 0;
	f.repeat = 4 * UNIT;
	refuse("row past the block", area, f, -EINVAL);
	f = of_size(TEXT + 64 * UNIT, 31);
	f.rows = few + 1;
	refuse("first row does not start at 0", area, f, -EINVAL);
	sfjit_area_retire(area);
}

static void test_same_rule(void)
{
	struct sfjit_row rows[3] = { few[0], few[1], few[1] };
	struct sfjit_function f = { TEXT, 31 * UNIT, 3, rows, 0, 0 };
	struct sfjit_area *area = make(0, 0);
	unsigned int rules;

	rows[2].start = 9 * UNIT;
	MUST(!sfjit_area_publish(area, &f));
	rules = stat_of(area).rules;
	/* What has no base has no offset. */
	rows[0].fp.offset = 5;
	rows[0].fp.addend = 6;
	f.addr += 40 * UNIT;
	MUST(!sfjit_area_publish(area, &f));
	IS("rows without a meaning", stat_of(area).rules, rules);
	rows[0] = few[0];
	check("are the same rule", area, f);
	rows[2] = (struct sfjit_row){
		.start = 9 * UNIT, .flags = SFJIT_ROW_OUTERMOST,
	};
	f.addr += 40 * UNIT;
	MUST(!sfjit_area_publish(area, &f));
	check("the outermost function", area, f);
	IS("has a rule", stat_of(area).rules, rules + 1);
	sfjit_area_retire(area);
}

static void test_addend(void)
{
	struct sfjit_row rows[2] = { few[0], few[1] };
	struct sfjit_function f = { TEXT, 600 * UNIT, 2, rows, 0, 0 };
	struct sfjit_area *area = make(0, 0);

	rows[1].cfa = sfjit_rule_reg(FP_REG, -8);
	rows[1].cfa.deref = 1;
	rows[1].cfa.addend = 8;
	MUST(!sfjit_area_publish(area, &f));
	check("a rule with an addend", area, f);
	IS("is two rules", stat_of(area).rules, 5);
	IS("grow", sfjit_area_grow(area, NULL, 0, 0, 0), 0);
	check("in the new table, too", area, f);
	IS("is two rules", stat_of(area).rules, 5);
	sfjit_area_retire(area);
}

/* It begins and ends in the middle of buckets. */
static void test_long(void)
{
	struct sfjit_function f = of_many(TEXT + 200 * UNIT, MANY, MANY + 900);
	struct sfjit_function before = of_size(TEXT, 200), after;
	struct sfjit_area *area = make(0, 0);

	after = of_size(f.addr + f.size, 30);
	IS("before", sfjit_area_publish(area, &before), 0);
	IS("after", sfjit_area_publish(area, &after), 0);
	IS("a row for each unit", sfjit_area_publish(area, &f), 0);
	check("has them", area, f);
	IS("three functions", functions_of(area), 3);
	IS("a part is none", withdraw(area, TEXT + BUCKET), -ENOENT);
	IS("withdraw", withdraw(area, f.addr), 0);
	check_none("it is gone", area, f);
	check("not what is before", area, before);
	check("not what is after", area, after);
	IS("publish again", sfjit_area_publish(area, &f), 0);
	check("is there", area, f);
	sfjit_area_retire(area);
}

static void test_repeat(void)
{
	struct sfjit_function f = of_size(TEXT + 100 * UNIT, 1003);
	struct sfjit_area *area = make(0, 0);

	f.repeat = 8 * UNIT;
	IS("a function that repeats", sfjit_area_publish(area, &f), 0);
	check("repeats", area, f);
	IS("is one", functions_of(area), 1);
	IS("withdraw", withdraw(area, f.addr), 0);
	check_none("all of it", area, f);
	sfjit_area_retire(area);
}

/* Rows inside of instructions: the last one counts, from the next one on. */
static void test_units(void)
{
	struct sfjit_row rows[3] = { few[0], few[1], few[2] }, row;
	struct sfjit_function f = { TEXT, 40, 3, rows, 0, 0 }, fde;
	struct sfjit_area *area = make(0, 0);
	struct sfg_packed table;

	rows[1].start = 1;
	rows[2].start = 2;
	MUST(!sfjit_area_publish(area, &f));
	table = open_table(area);
	IS("first row", sfg_find_packed_row(&table, TEXT, &fde, &row, NULL), 0);
	IS("has its CFA", row.cfa.offset, few[0].cfa.offset);
	MUST(!sfg_find_packed_row(&table, TEXT + 4, &fde, &row, NULL));
	IS("last row", row.cfa.offset, few[2].cfa.offset);
	IS("withdraw", withdraw(area, TEXT), 0);
	check_none("all of it", area, f);
	sfjit_area_retire(area);
}

static void test_reset(void)
{
	struct sfjit_area *area = make(0, 8192);
	struct sfjit_function f = of_size(TEXT + BUCKET - 5 * UNIT, 10), into;
	size_t room = stat_of(area).room;

	into = of_size(TEXT + 3 * BUCKET - 5 * UNIT, 10);
	IS("no start", sfjit_area_reset(area, NULL, 1), -EINVAL);
	IS("no length", sfjit_area_reset(area, (void *)TEXT, 0), -EINVAL);
	IS("too far", sfjit_area_reset(area, (void *)TEXT, LENGTH + 1),
	   -EINVAL);
	IS("too early", sfjit_area_reset(area, (void *)TEXT - 1, 2), -EINVAL);
	IS("wraps", sfjit_area_reset(area, (void *)TEXT, -1UL), -EINVAL);
	MUST(!sfjit_area_publish(area, &f));
	MUST(!sfjit_area_publish(area, &into));
	MUST(!publish(area, of_size(TEXT + 2 * BUCKET, 20)));
	IS("two buckets", sfjit_area_reset(area, (void *)(TEXT + BUCKET),
					   2 * BUCKET), 0);
	check("a function from before stays", area, f);
	check_none("one that goes further does not", area, into);
	IS("one is left", functions_of(area), 1);
	IS("a unit", sfjit_area_reset(area, (void *)(f.addr + UNIT), UNIT), 0);
	check("has no start", area, f);
	IS("its start", sfjit_area_reset(area, (void *)f.addr, 1), 0);
	check_none("has one", area, f);
	TRUE("bytes are in use", stat_of(area).room < room);
	TRUE("rules are in use", stat_of(area).rules > 2);
	IS("all", sfjit_area_reset(area, NULL, 0), 0);
	IS("all bytes are free", stat_of(area).room, room);
	IS("and rules", stat_of(area).rules, 2);
	MUST(!sfjit_area_publish(area, &into));
	check("publish again", area, into);
	sfjit_area_retire(area);
}

/* For ever: each round takes bytes, and the reset of its 4 KiB frees them. */
static void test_reset_frees(void)
{
	struct sfjit_area *area;
	uint64_t at = TEXT + 4096;
	int i, k, failed = 0;
	struct sfjit_function other = of_size(TEXT + 4096 - 40 * UNIT, 30);

	MUST(!sfjit_area_create((void *)TEXT, 16384, 0, 8192, &area));
	MUST(!sfjit_area_publish(area, &other));
	for (i = 0; i < 200; i++) {
		for (k = 0; k < 20; k++)
			failed += publish(area, of_size(at + k * 8 * UNIT, 7)) !=
				  0;
		failed += sfjit_area_reset(area, (void *)at, 4096) != 0;
	}
	IS("publish and reset 200 times", failed, 0);
	IS("one is left", functions_of(area), 1);
	check("it is whole", area, other);
	sfjit_area_retire(area);
}

/* ---- Full tables, and larger ones -------------------------------------- */

static void test_full(void)
{
	struct sfjit_area *area = make(0, 65536);
	struct sfjit_function f = of_size(TEXT, 10);
	unsigned int i, nr = 0, failed = 0;
	int ret;

	while (!(ret = sfjit_area_publish(area, &f))) {
		nr++;
		f.addr += 12 * UNIT;
	}
	IS("full", ret, -ENOSPC);
	IS("nothing is free", stat_of(area).room, 0);
	TRUE("there were many", nr > 500);
	check_none("nothing has changed", area, f);
	IS("nor the number", functions_of(area), nr);
	ret = publish(area, of_many(TEXT + LENGTH - MANY * UNIT, MANY, MANY));
	IS("a long one", ret, -ENOSPC);
	IS("nor its parts", functions_of(area), nr);
	for (i = 0; i < nr; i += 25)
		failed += withdraw(area, TEXT + i * 12 * UNIT) != 0;
	IS("withdraw some all the same", failed, 0);
	IS("grow", sfjit_area_grow(area, NULL, 0, 0, 0), 0);
	IS("publish then", sfjit_area_publish(area, &f), 0);
	check("it is there", area, f);
	IS("and the others", functions_of(area), nr - (nr + 24) / 25 + 1);
	check("are whole", area, of_size(TEXT + 12 * UNIT, 10));
	sfjit_area_retire(area);
}

static void test_full_rules(void)
{
	struct sfjit_area *area = make(6, 0);
	struct sfjit_function f = of_many(TEXT, 90, 90);

	IS("three rules fit", publish(area, of_size(TEXT + BUCKET, 9)), 0);
	refuse("not 90", area, f, -ENOSPC);
	IS("grow", sfjit_area_grow(area, NULL, 0, 2, 0), 0);
	check("what was there is there", area, of_size(TEXT + BUCKET, 9));
	IS("to at least as many", sfjit_area_grow(area, NULL, 0, 400, 0), 0);
	IS("as wanted", stat_of(area).max_rules, 400);
	IS("90 then", sfjit_area_publish(area, &f), 0);
	check("are there", area, f);
	sfjit_area_retire(area);
}

/* Numbers of rules that take two bytes. */
static void test_wide(void)
{
	struct sfjit_area *area = make(1024, 1 << 20);
	struct sfjit_row rows[2] = { few[0], few[1] };
	struct sfjit_function f = { TEXT, 16 * UNIT, 2, rows, 0, 0 };
	unsigned int i, wrong = 0;

	for (i = 0; i < 600; i++) {
		rows[1].cfa.offset = few[1].cfa.offset + 8 * i;
		wrong += sfjit_area_publish(area, &f) != 0;
		f.addr += 20 * UNIT;
	}
	wrong += is_wrong(area) != NULL;
	for (i = 0; i < 600; i++) {
		f.addr = TEXT + 20 * i * UNIT;
		rows[1].cfa.offset = few[1].cfa.offset + 8 * i;
		wrong += wrong_in(area, f.addr, f.addr + f.size, &f);
	}
	IS("600 rules", wrong, 0);
	IS("are counted", stat_of(area).rules, 603);
	MUST(!sfjit_area_grow(area, NULL, 0, 0, 0));
	for (i = 0; i < 600; i++) {
		f.addr = TEXT + 20 * i * UNIT;
		rows[1].cfa.offset = few[1].cfa.offset + 8 * i;
		wrong += wrong_in(area, f.addr, f.addr + f.size, &f);
		wrong += withdraw(area, f.addr) != 0;
	}
	IS("also in a new table", wrong, 0);
	MUST(!sfjit_area_grow(area, NULL, 0, 0, 0));
	IS("which has no others", stat_of(area).rules, 2);
	sfjit_area_retire(area);
}

static void test_grow(void)
{
	struct sfjit_area *area = make(0, 0);
	struct sfjit_function f = of_size(TEXT + 300 * UNIT, 700);
	uint64_t start = TEXT - 36 * UNIT;
	size_t length = LENGTH + 100 * UNIT;
	int windows = nr_windows;
	struct sfjit_area_info stat;

	MUST(!sfjit_area_publish(area, &f));
	IS("grow", sfjit_area_grow(area, NULL, 0, 0, 0), 0);
	stat = stat_of(area);
	IS("is a registration", call.option, PR_SFRAME_REGISTER);
	IS("of the same key", call.key, TEXT);
	IS("that replaces", call.opts.flags, SFRAME_WINDOW_REPLACE);
	IS("the same text", call.opts.text_start, TEXT);
	IS("of the same length", call.opts.text_length, LENGTH);
	IS("by a table", call.address, (long)stat.table);
	IS("of its length", call.length, stat.length);
	IS("no window more", nr_windows - windows, 0);
	check("the same function", area, f);
	IS("grow the area", sfjit_area_grow(area, (void *)start, length, 0, 0),
	   0);
	IS("the key stays", call.key, TEXT);
	IS("the start moves", call.opts.text_start, start);
	IS("the end moves", call.opts.text_length, length);
	check("the function does not", area, f);
	IS("one function", functions_of(area), 1);
	IS("publish at the new start", publish(area, of_size(start, 30)), 0);
	IS("and the new end", publish(area, of_size(start + length - 30 * UNIT,
						    30)), 0);
	check("it is there", area, of_size(start + length - 30 * UNIT, 30));
	IS("withdraw the first", withdraw(area, f.addr), 0);
	check_none("it is gone", area, f);
	IS("retire", sfjit_area_retire(area), 0);
	IS("by its key", call.key, TEXT);
}

/* Buckets begin elsewhere, and each function goes on over some of them. */
static void test_move(void)
{
	struct sfjit_function f[40];
	struct sfjit_area *area = make(0, 0);
	uint64_t at = TEXT + 3 * UNIT, start = TEXT - 100 * UNIT;
	unsigned int i, wrong = 0;

	for (i = 0; i < NR(f); i++) {
		f[i] = i % 3 ? of_size(at, 1 + i * 29 % 400) :
			       of_many(at, 1 + i * 17 % 300, 300);
		MUST(!sfjit_area_publish(area, &f[i]));
		at += f[i].size + i % 2 * 7 * UNIT;
	}
	IS("grow", sfjit_area_grow(area, (void *)start, LENGTH + 100 * UNIT, 0,
				   0), 0);
	TRUE("the table is valid", !is_wrong(area));
	IS("all functions", functions_of(area), NR(f));
	for (i = 0; i < NR(f); i++) {
		wrong += wrong_in(area, f[i].addr, f[i].addr + f[i].size,
				  &f[i]);
		if (i + 1 < NR(f))
			wrong += wrong_in(area, f[i].addr + f[i].size,
					  f[i + 1].addr, NULL);
	}
	IS("with their rows", wrong, 0);
	for (i = 0; i < NR(f); i++) {
		MUST(!withdraw(area, f[i].addr));
		wrong += wrong_in(area, f[i].addr, f[i].addr + f[i].size, NULL);
	}
	IS("and each can be withdrawn", wrong, 0);
	sfjit_area_retire(area);
}

static bool same_stat(struct sfjit_area_info a, struct sfjit_area_info b)
{
	return a.table == b.table && a.length == b.length && a.room == b.room &&
	       a.functions == b.functions && a.rules == b.rules &&
	       a.max_rules == b.max_rules && a.error == b.error;
}

static void refuse_grow(const char *name, struct sfjit_area *area, void *text,
			size_t length, size_t rules, size_t blocks, int error)
{
	struct sfjit_area_info before = stat_of(area);

	IS(name, sfjit_area_grow(area, text, length, rules, blocks), error);
	TRUE(name, same_stat(before, stat_of(area)));
}

/*
 * What this process has mapped. statm of an emulator includes its own memory,
 * which changes; maps does not.
 */
static unsigned long mapped(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long start, end, bytes = 0;
	char line[512];

	MUST(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			bytes += end - start;
	fclose(file);
	return bytes;
}

static void test_grow_refusals(void)
{
	struct sfjit_area *area = make(0, 0);
	struct sfjit_function f = of_size(TEXT, 500);
	void *text = (void *)TEXT;
	unsigned long before;

	MUST(!sfjit_area_publish(area, &f));
	refuse_grow("start inside", area, text + UNIT, LENGTH, 0, 0, -EINVAL);
	refuse_grow("end inside", area, text, LENGTH - 1, 0, 0, -EINVAL);
	refuse_grow("text without length", area, text, 0, 0, 0, -EINVAL);
	refuse_grow("length without text", area, NULL, 1, 0, 0, -EINVAL);
	refuse_grow("wraps around", area, text, -1UL, 0, 0, -EINVAL);
	if (UNIT > 1)
		refuse_grow("no place of an instruction", area, text - 1,
			    2 * LENGTH, 0, 0, -EINVAL);
	refuse_grow("too long", area, text, 1UL << 32, 0, 0, -E2BIG);
	refuse_grow("too many rules", area, NULL, 0, 65536, 0, -E2BIG);
	refuse_grow("too many bytes", area, NULL, 0, 0, (1UL << 30) + 1,
		    -E2BIG);
	fail_call = "mmap";
	refuse_grow("no memory", area, NULL, 0, 0, 0, -ENOMEM);
	fail_call = NULL;
	before = mapped();
	next_error = EEXIST;
	refuse_grow("the kernel refuses", area, NULL, 0, 0, 0, -EEXIST);
	IS("the new table is gone", mapped() - before, 0);
	IS("grow after all that", sfjit_area_grow(area, NULL, 0, 0, 0), 0);
	IS("the old table is gone", mapped() - before, 0);
	check("the function is there", area, f);
	sfjit_area_retire(area);
}

/* Its text, and the window with it, may have been unmapped. */
static void test_grow_registers(void)
{
	struct sfjit_area *area;
	int windows = nr_windows;

	next_error = ENOMEM;
	area = make(0, 0);
	IS("not registered", stat_of(area).error, -ENOMEM);
	IS("grow", sfjit_area_grow(area, NULL, 0, 0, 0), 0);
	IS("registers", call.opts.flags, 0);
	IS("one window", nr_windows - windows, 1);
	IS("no error", stat_of(area).error, 0);
	next_error = ENOENT;
	IS("grow when the window is gone",
	   sfjit_area_grow(area, NULL, 0, 0, 0), 0);
	IS("registers again", call.opts.flags, 0);
	IS("and knows it", stat_of(area).error, 0);
	sfjit_area_retire(area);
}

static void test_retire(void)
{
	struct sfjit_area_info stat;
	struct sfjit_area *area = make(0, 0);
	int windows = nr_windows;

	IS("stat of nothing", sfjit_area_stat(NULL, &stat), -EINVAL);
	IS("stat to nowhere", sfjit_area_stat(area, NULL), -EINVAL);
	fail_call = "munmap";
	IS("munmap fails", sfjit_area_retire(area), -ENOMEM);
	fail_call = NULL;
	IS("the window was unregistered before", windows - nr_windows, 1);
	/* The mapping is leaked; the error reports that. */
}

static void test_dump(void)
{
	const char *build = getenv("O") ? getenv("O") : "build";
	char file[] = "/tmp/lib-area-XXXXXX", command[4200];
	struct sfjit_area *area = make(0, 0);
	struct sfjit_area_info stat = stat_of(area);
	int i, fd = mkstemp(file);

	MUST(fd >= 0);
	for (i = 0; i < 5; i++)
		MUST(!publish(area, of_size(TEXT + i * 0x800UL, 50 * i + 9)));
	MUST(!withdraw(area, TEXT));
	MUST(write(fd, stat.table, stat.length) == (ssize_t)stat.length);
	close(fd);
	snprintf(command, sizeof(command), "%s/bin/sframegen --dump %s >%s.out",
		 build, file, file);
	IS("sframegen --dump reads it", system(command), 0);
	snprintf(command, sizeof(command), "grep -q '%lx' %s.out",
		 TEXT + 0x800, file);
	IS("and finds a function", system(command), 0);
	snprintf(command, sizeof(command), "%s.out", file);
	unlink(command);
	unlink(file);
	sfjit_area_retire(area);
}

/* ---- What a fork cuts off --------------------------------------------- */

static uint32_t *index_of(const struct sfjit_area *area)
{
	struct sfjit_area_info stat = stat_of(area);

	return (uint32_t *)((char *)stat.table +
			    sizeof(struct sframe_packed_header) +
			    stat.max_rules * sizeof(struct sframe_packed_rule));
}

/* As if a fork came when the function was in this many of its four buckets. */
static void test_fork_in(unsigned int nr)
{
	struct sfjit_function next = of_size(TEXT + 3 * BUCKET + 99 * UNIT, 50);
	struct sfjit_function f = of_many(TEXT + 200 * UNIT, 600, 600);
	uint32_t before[4], after[4], *index;
	struct sfjit_area *area = make(0, 0);
	unsigned int i;

	f.size = next.addr - f.addr;
	MUST(!sfjit_area_publish(area, &next));
	index = index_of(area);
	memcpy(before, index, sizeof(before));
	MUST(!sfjit_area_publish(area, &f));
	memcpy(after, index, sizeof(after));
	for (i = nr; i < 4; i++)
		index[i] = before[i];
	IS("withdraw it", withdraw(area, f.addr), nr ? 0 : -ENOENT);
	check_none("nothing of it is there", area, f);
	check("its neighbour is", area, next);
	IS("publish it", sfjit_area_publish(area, &f), 0);
	check("it is whole", area, f);
	IS("withdraw it then", withdraw(area, f.addr), 0);
	check("its neighbour is there", area, next);
	sfjit_area_retire(area);
}

/* Seccomp's strict mode kills the process for any other system call. */
static int publish_strictly(void)
{
	struct sfjit_area *area = make(0, 0);
	struct sfjit_function f = of_many(TEXT + 0x1000, MANY, MANY);

	if (syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
		return 77;
	if (sfjit_area_publish(area, &f) || withdraw(area, f.addr) ||
	    sfjit_area_publish(area, &f) ||
	    sfjit_area_reset(area, (void *)TEXT, LENGTH) ||
	    sfjit_area_reset(area, NULL, 0))
		syscall(SYS_exit, 1);
	syscall(SYS_exit, 0);
	return 2;
}

static int grow_strictly(void)
{
	struct sfjit_area *area = make(0, 0);

	syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	sfjit_area_grow(area, NULL, 0, 0, 0);
	syscall(SYS_exit, 0);
	return 2;
}

static void test_no_system_call(void)
{
	int status;

	/* qemu-user has no seccomp; tests/arch/units.sh sets this. */
	if (getenv("SFJIT_EMULATED"))
		return;
	status = in_child(publish_strictly);
	if (status == 77) {
		skip("no system call", "no seccomp");
		return;
	}
	IS("no system call", status, 0);
	IS("grow makes some, and is killed", in_child(grow_strictly),
	   256 + SIGKILL);
}

/* ---- As the kernel looks, while others write --------------------------- */

/* What a table has, from its header, which does not change. */
struct reader {
	const unsigned char *table;
	struct sframe_packed_header header;
	const uint32_t	*index;
	const uint8_t	*blocks;
};

static struct reader reader_of(const struct sfjit_area *area)
{
	struct sframe_packed_header header = header_of(area);
	const unsigned char *table = stat_of(area).table;
	uint32_t *index = index_of(area);

	return (struct reader){
		.table = table, .header = header, .index = index,
		.blocks = (const uint8_t *)
			(index + (header.text_length + BUCKET - 1) / BUCKET),
	};
}

/* The kernel's algorithm. Returns the CFA's offset, 0 for none, -1: damaged. */
static int look_up(const struct reader *r, uint64_t ip)
{
	uint32_t unit = (ip - r->header.text_start) / UNIT, entry, id, i, n;
	const struct sframe_packed_rule *rules = (const void *)
		(r->table + sizeof(r->header));
	const uint8_t *block;
	uint16_t wide;

	entry = __atomic_load_n(&r->index[unit >> 8], __ATOMIC_ACQUIRE);
	id = entry;
	if (entry & SFRAME_PACKED_BLOCK) {
		if (SFRAME_PACKED_OFFSET(entry) >= r->header.blocks_len)
			return -1;
		block = r->blocks + SFRAME_PACKED_OFFSET(entry);
		n = *block++;
		for (i = 0; i < n && block[i] <= (unit & 255); i++)
			;
		memcpy(&wide, block + n + 2 * i, sizeof(wide));
		id = entry & SFRAME_PACKED_WIDE ? wide : block[n + i];
	}
	if (id >= r->header.nr_rules)
		return -1;
	if (!rules[id].kind)
		return 0;
	return rules[id].cfa_off;
}

/*
 * Slots of 24 units, so that buckets have parts of up to 12 of them and some
 * go over. Each writer has every nth; every 13th stays as it is.
 */
#define SLOT_UNITS	24
#define NR_SLOTS	(LENGTH / UNIT / SLOT_UNITS)
#define FIXED		13
#define MOST_WRITERS	8

static struct sfjit_area *shared;
static unsigned int nr_writers;
static atomic_bool stop;
static _Atomic uint32_t states[1024];	/* 0, or the CFA of what is published */
static atomic_ulong nr_looks, nr_wrong;

static uint64_t slot_start(uint32_t slot)
{
	return TEXT + (uint64_t)slot * SLOT_UNITS * UNIT;
}

/* Its rows have this CFA, more by 8 for each. */
static int put_slot(uint32_t slot, int32_t cfa)
{
	struct sfjit_row rows[3] = {
		a_row(0, cfa), a_row(UNIT, cfa + 8), a_row(5 * UNIT, cfa + 16),
	};
	struct sfjit_function f = {
		slot_start(slot), SLOT_UNITS * UNIT, 3, rows, 0, 0,
	};

	return sfjit_area_publish(shared, &f);
}

static int cfa_of(uint32_t slot, uint32_t unit, int32_t cfa)
{
	return SP(cfa).offset + (unit >= 5 ? 16 : unit >= 1 ? 8 : 0);
}

static void change_slot(uint32_t slot, uint32_t random)
{
	if (states[slot]) {
		atomic_store(&states[slot], 0);
		nr_wrong += withdraw(shared, slot_start(slot)) != 0;
		return;
	}
	random = 8 * (2 + random % 500);
	nr_wrong += put_slot(slot, random) != 0;
	atomic_store(&states[slot], random);
}

static void *write_slots(void *arg)
{
	uint32_t seed = (uintptr_t)arg, slot;
	int i;

	for (i = 0; i < 24000 / (int)nr_writers; i++) {
		slot = next_random(&seed) % (NR_SLOTS / nr_writers) *
		       nr_writers + (uintptr_t)arg;
		if (slot % FIXED)
			change_slot(slot, next_random(&seed));
	}
	return NULL;
}

/* What is published before and after the look has its rows. */
static void look_at(const struct reader *reader, uint32_t slot, uint32_t unit)
{
	uint32_t state = atomic_load(&states[slot]);
	int found;

	if (!state)
		return;
	found = look_up(reader, slot_start(slot) + unit * UNIT);
	if (atomic_load(&states[slot]) != state)
		return;
	nr_looks++;
	nr_wrong += found != cfa_of(slot, unit, state);
}

static void *read_slots(void *arg)
{
	struct reader reader = reader_of(shared);
	uint32_t seed = 77, slot;

	while (!atomic_load(&stop)) {
		slot = next_random(&seed) % NR_SLOTS;
		look_at(&reader, slot, next_random(&seed) % SLOT_UNITS);
		look_at(&reader, slot / FIXED * FIXED,
			next_random(&seed) % SLOT_UNITS);
	}
	return NULL;
}

/* Everything is as the writers say. */
static unsigned int wrong_slots(void)
{
	struct reader reader = reader_of(shared);
	unsigned int wrong = 0, unit;
	uint32_t slot;

	for (slot = 0; slot < NR_SLOTS; slot++)
		for (unit = 0; unit < SLOT_UNITS; unit++)
			wrong += look_up(&reader, slot_start(slot) +
					 unit * UNIT) !=
				 (states[slot] ? cfa_of(slot, unit,
							states[slot]) : 0);
	return wrong;
}

static void prepare_slots(unsigned int writers)
{
	uint32_t slot;

	shared = make(8192, 16 << 20);
	nr_writers = writers;
	nr_looks = nr_wrong = 0;
	atomic_store(&stop, false);
	memset(states, 0, sizeof(states));
	for (slot = 0; slot < NR_SLOTS; slot += FIXED) {
		MUST(!put_slot(slot, 8 * (2 + slot % 90)));
		states[slot] = 8 * (2 + slot % 90);
	}
}

static void test_threads(unsigned int writers)
{
	pthread_t threads[MOST_WRITERS], reader;
	uintptr_t i;

	MUST(NR_SLOTS <= NR(states));
	prepare_slots(writers);
	MUST(!pthread_create(&reader, NULL, read_slots, NULL));
	for (i = 0; i < writers; i++)
		MUST(!pthread_create(&threads[i], NULL, write_slots,
				     (void *)i));
	for (i = 0; i < writers; i++)
		MUST(!pthread_join(threads[i], NULL));
	atomic_store(&stop, true);
	MUST(!pthread_join(reader, NULL));
	result(!nr_wrong && nr_looks, "look up while threads write",
	       "%u writers, %lu looks, %lu wrong", writers, nr_looks, nr_wrong);
	IS("everything is there", wrong_slots(), 0);
	TRUE("the table is valid", !is_wrong(shared));
	sfjit_area_retire(shared);
}

/* ---- Forks while threads write ----------------------------------------- */

/* Each slot is there or can be published, whatever its thread was doing. */
static int go_on_in_child(void)
{
	uint32_t slot;
	int ret;

	alarm(HANGS_SECONDS);
	if (is_wrong(shared))
		return 1;
	for (slot = 0; slot < NR_SLOTS; slot++) {
		ret = withdraw(shared, slot_start(slot));
		if (ret && ret != -ENOENT)
			return 2;
		if (put_slot(slot, 64))
			return 3;
		states[slot] = 64;
	}
	if (wrong_slots() || sfjit_area_grow(shared, NULL, 0, 0, 0) ||
	    wrong_slots())
		return 4;
	return sfjit_area_retire(shared) ? 5 : 0;
}

static void test_forks(void)
{
	pthread_t threads[2];
	uintptr_t i;
	int failed = 0;

	prepare_slots(2);
	for (i = 0; i < 2; i++)
		MUST(!pthread_create(&threads[i], NULL, write_slots,
				     (void *)i));
	for (i = 0; i < 20; i++)
		failed += in_child(go_on_in_child) != 0;
	for (i = 0; i < 2; i++)
		MUST(!pthread_join(threads[i], NULL));
	IS("children that could not go on", failed, 0);
	IS("nothing is wrong here", nr_wrong + wrong_slots(), 0);
	sfjit_area_retire(shared);
}

/* TSan has its own thread, which runs on after strict mode's exit. */
static void test_alone(void)
{
	unsigned int others = known_formats & ~(1 << SFRAME_FORMAT_PACKED);
	unsigned int i;

	test_create();
	test_defaults();
	test_arguments();
	test_not_registered("the kernel refuses", ENOSPC, known_formats,
			    -ENOSPC);
	test_not_registered("a mistake", EINVAL, known_formats, -EINVAL);
	test_not_registered("no packed tables", 0, others, -EOPNOTSUPP);
	test_absent();
	test_places();
	test_neighbours();
	test_bad_rows();
	test_bad_functions();
	test_same_rule();
	test_addend();
	test_long();
	test_repeat();
	test_units();
	test_reset();
	test_reset_frees();
	test_full();
	test_full_rules();
	test_wide();
	test_grow();
	test_move();
	test_grow_refusals();
	test_grow_registers();
	test_retire();
	test_dump();
	for (i = 0; i <= 4; i++)
		test_fork_in(i);
	test_no_system_call();
	test_model(40000);
	test_forks();
}

/* Nothing can be published; everything else works. */
static void test_none(void)
{
	struct sfjit_area *area = make(0, 0);
	struct sfjit_function f = of_size(TEXT, 31);

	IS("no number: publish", sfjit_area_publish(area, &f), -ENOTSUP);
	IS("no number: none is there", functions_of(area), 0);
	IS("no number: withdraw", withdraw(area, TEXT), -ENOENT);
	IS("no number: grow", sfjit_area_grow(area, NULL, 0, 0, 0), 0);
	IS("no number: publish then", sfjit_area_publish(area, &f), -ENOTSUP);
	IS("no number: reset", sfjit_area_reset(area, NULL, 0), 0);
	IS("no number: retire", sfjit_area_retire(area), 0);
}

int main(int argc, char **argv)
{
	present = true;
	make_rows();
	if (!HAS_SECTIONS) {
		test_none();
		return finish();
	}
	if (!strstr(argv[0], "races"))
		test_alone();
	test_threads(1);
	test_threads(2);
	test_threads(8);
	return finish();
}
