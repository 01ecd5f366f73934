// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: windows from .eh_frame: one that is made of rows, this
 * program's, and damaged ones: rows of each instruction, gaps, ranges, errors;
 * the same in an area. Runs with ASan and UBSan.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>

#include <sfjit/check.h>
#include <sfjit/area.h>

#include "machine.h"
#include "prctl.h"

extern const char __executable_start[], etext[];

/* Two functions, and stubs without CFI around them, of 16 bytes each. */
#define SAMPLE_SIZE	64

/* The CFI follows the code closely. */
static struct {
	unsigned char code[SAMPLE_SIZE] __attribute__((aligned(64)));
	unsigned char cfi[1024];
} made;

static unsigned char *const sample = made.code, *const eh_frame = made.cfi;
static size_t eh_frame_size;

static const unsigned char *own_frame;
static size_t own_frame_size;

static void put_function(size_t offset, const struct sfjit_row *rows,
			 uint32_t nr)
{
	unsigned char *to = eh_frame + eh_frame_size;
	struct sfjit_function f = {
		(uintptr_t)sample + offset, 16, nr, rows, 0, 0,
	};
	size_t used, hdr;
	uint32_t length;

	MUST(!sfg_write_cfi(SFG_HOST_ABI, &f, (uintptr_t)to - f.addr, to,
			    sizeof(made.cfi) - eh_frame_size, &used, &hdr));
	/* The next frames replace the terminator. */
	while (memcpy(&length, eh_frame + eh_frame_size, 4), length)
		eh_frame_size += 4 + length;
}

static void make_sample(void)
{
	const struct sfjit_row first[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 4, 0, SP(8), SAME, SAME },
		{ 8, 0, SP(40), SAME, SAME },
		{ 12, 0, SP(0), SAME, SAME },
	};
	const struct sfjit_row second[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 4, 0, SP(8), RA, SAVED(-16) },
		{ 8, 0, FP(8), RA, SAVED(-16) },
		{ 12, 0, SP(0), SAME, SAME },
	};

	/* Bytes that do not look like padding. */
	memset(sample, 0x11, SAMPLE_SIZE);
	put_function(16, first, 4);
	put_function(32, second, 4);
	eh_frame_size += 4;
}

/* The program is the first object. */
static int find_eh_frame(struct dl_phdr_info *info, size_t size, void *unused)
{
	const unsigned char *hdr = NULL, *end = NULL;
	int32_t distance;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			hdr = (void *)(info->dlpi_addr +
				       info->dlpi_phdr[i].p_vaddr);
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && hdr >= (unsigned char *)
		    info->dlpi_addr + p->p_vaddr)
			end = (unsigned char *)info->dlpi_addr + p->p_vaddr +
			      p->p_memsz;
	}
	MUST(hdr && end && hdr[1] == 0x1b);
	memcpy(&distance, hdr + 4, sizeof(distance));
	own_frame = hdr + 4 + distance;
	own_frame_size = end - own_frame;
	return 1;
}

static struct sfjit_area *area;
static struct sfjit_range area_text;

/* The last registration, or the area while there is one. */
static struct sfjit_table registered(void)
{
	struct sfjit_area_info info;

	if (area && !sfjit_area_stat(area, &info))
		return (struct sfjit_table){
			info.table, info.length, area_text.start,
			area_text.length, 0, 0,
		};
	return (struct sfjit_table){
		(const void *)call.address, call.length,
		(const void *)call.opts.text_start, call.opts.text_length, 0, 0,
	};
}

static void row_is(const char *name, uint32_t off, struct sfjit_rule cfa,
		   struct sfjit_rule ra, struct sfjit_rule fp)
{
	struct sfjit_table table = registered();
	struct sfjit_row row, want = { 0, 0, cfa, ra, fp };
	int ret = sfjit_find_row(&table, sample + off, NULL, &row, NULL);

	result(!ret && sfg_rows_equal(&row, &want), name,
	       "%d at %u: CFA %u + %d", ret, off, row.cfa.reg, row.cfa.offset);
}

static void no_row(const char *name, uint32_t off)
{
	struct sfjit_table table = registered();
	struct sfjit_row row;

	IS(name, sfjit_find_row(&table, sample + off, NULL, &row, NULL),
	   -ENOENT);
}

static int reg(const unsigned char *start, size_t length, unsigned int flags,
	       struct sfjit_code **code)
{
	struct sfjit_range text = { start, length };

	return sfjit_register_eh_frame(eh_frame, eh_frame_size, &text, 1,
				       flags, code);
}

static void rows_of_functions(void)
{
	row_is("first function", 16, SP(0), SAME, SAME);
	row_is("a word more", 20, SP(8), SAME, SAME);
	row_is("to the last byte", 23, SP(8), SAME, SAME);
	row_is("40 bytes", 24, SP(40), SAME, SAME);
	row_is("its end", 31, SP(0), SAME, SAME);
	row_is("second function", 32, SP(0), SAME, SAME);
	row_is("both are saved", 36, SP(8), RA, SAVED(-16));
	row_is("from the frame pointer", 40, FP(8), RA, SAVED(-16));
	row_is("its end", 47, SP(0), SAME, SAME);
}

static void test_functions(void)
{
	struct sfjit_code *code = NULL;
	struct sfjit_table table;
	int windows = nr_windows;

	IS("register", reg(sample, SAMPLE_SIZE, 0, &code), 0);
	IS("one window", nr_windows - windows, 1);
	IS("its key", call.key, (long)sample);
	IS("its text", call.opts.text_start, (long)sample);
	IS("and length", call.opts.text_length, SAMPLE_SIZE);
	table = registered();
	IS("it is as the kernel wants it", sfjit_check(&table, NULL), 0);
	rows_of_functions();
	no_row("stub in front", 0);
	no_row("stub after", 48);
	IS("retire", sfjit_code_retire(code), 0);
	IS("no window is left", nr_windows - windows, 0);
	IS("by its key", call.key, (long)sample);
}

static void test_gaps(void)
{
	struct sfjit_code *code = NULL;
	struct sfjit_table table;

	IS("register with gaps", reg(sample, SAMPLE_SIZE, SFJIT_GAPS_CALLED,
				     &code), 0);
	table = registered();
	IS("it is good, too", sfjit_check(&table, NULL), 0);
	rows_of_functions();
	row_is("stub in front", 0, SP(0), SAME, SAME);
	row_is("stub in front, its end", 15, SP(0), SAME, SAME);
	row_is("stub after", 48, SP(0), SAME, SAME);
	row_is("to the last byte", 63, SP(0), SAME, SAME);
	IS("retire", sfjit_code_retire(code), 0);
}

static void test_ranges(void)
{
	struct sfjit_range two[2] = { { sample + 16, 16 }, { sample + 32, 16 } };
	struct sfjit_code *code = NULL;
	int windows = nr_windows, calls = nr_calls;

	IS("two ranges", sfjit_register_eh_frame(eh_frame, eh_frame_size, two,
						 2, 0, &code), 0);
	IS("two windows", nr_windows - windows, 2);
	row_is("the second has its function", 36, SP(8), RA, SAVED(-16));
	IS("by a packed table", call.opts.format, SFRAME_FORMAT_PACKED);
	IS("retire both", sfjit_code_retire(code), 0);
	IS("none is left", nr_windows - windows, 0);
	two[1].start = sample;	/* a stub */
	calls = nr_calls;
	code = NULL;
	IS("a range without functions", sfjit_register_eh_frame(eh_frame,
		eh_frame_size, two, 2, 0, &code), -ENOENT);
	IS("nothing was registered", nr_calls - calls, 0);
	TRUE("no handle", !code);
	IS("as a gap it is one", sfjit_register_eh_frame(eh_frame,
		eh_frame_size, two, 2, SFJIT_GAPS_CALLED, &code), 0);
	IS("retire", sfjit_code_retire(code), 0);
}

static void fail_second(void)
{
	next_error = EEXIST;
}

static void test_kernel_refuses(void)
{
	struct sfjit_range two[2] = { { sample + 16, 16 }, { sample + 32, 16 } };
	struct sfjit_code *code = NULL;
	int windows = nr_windows;

	after_change = fail_second;
	IS("the second is refused", sfjit_register_eh_frame(eh_frame,
		eh_frame_size, two, 2, 0, &code), -EEXIST);
	IS("the first is removed", nr_windows - windows, 0);
	IS("by its key", call.key, (long)sample + 16);
	TRUE("no handle", !code);
	present = false;
	IS("old kernel", reg(sample, SAMPLE_SIZE, 0, &code), 0);
	IS("retire there", sfjit_code_retire(code), 0);
	present = true;
}

static void test_arguments(void)
{
	struct sfjit_range text = { sample, SAMPLE_SIZE }, none = { sample, 0 };
	struct sfjit_range wraps = { sample, -1UL }, null = { NULL, 16 };
	struct sfjit_code *code;

#define REFUSED(name, frame, size, range, nr, flags, result)		\
	IS(name, sfjit_register_eh_frame(frame, size, range, nr, flags,	\
					 result), -EINVAL)
	REFUSED("no frames", NULL, 64, &text, 1, 0, &code);
	REFUSED("no length", eh_frame, 0, &text, 1, 0, &code);
	REFUSED("no ranges", eh_frame, eh_frame_size, NULL, 1, 0, &code);
	REFUSED("no range", eh_frame, eh_frame_size, &text, 0, 0, &code);
	REFUSED("empty range", eh_frame, eh_frame_size, &none, 1, 0, &code);
	REFUSED("range wraps around", eh_frame, eh_frame_size, &wraps, 1, 0,
		&code);
	REFUSED("range of nothing", eh_frame, eh_frame_size, &null, 1, 0,
		&code);
	REFUSED("unknown flag", eh_frame, eh_frame_size, &text, 1, 2, &code);
	REFUSED("no result", eh_frame, eh_frame_size, &text, 1, 0, NULL);
#undef REFUSED
}

/*
 * Exact copies, so that ASan sees a read beyond the end. Each must have a
 * verdict.
 */
static void test_damaged(void)
{
	static const int want[] = { 0, -EINVAL, -ENOENT };
	struct sfjit_range text = { sample, SAMPLE_SIZE };
	size_t size, length = 400 < own_frame_size ? 400 : own_frame_size, i;
	unsigned int seen = 0, bad = 0;
	struct sfjit_code *code;
	unsigned char *copy;
	int ret;

	for (size = 1; size < length; size++) {
		copy = malloc(size);
		memcpy(copy, own_frame, size);
		copy[size / 2] ^= size;
		ret = sfjit_register_eh_frame(copy, size, &text, 1, size & 1,
					      &code);
		for (i = 0; i < 3 && ret != want[i]; i++)
			;
		bad += i == 3;
		seen |= 1 << i;
		if (!ret)
			bad += !!sfjit_code_retire(code);
		free(copy);
	}
	IS("damaged frames are refused or used", bad, 0);
	TRUE("some are malformed", seen & 2);
}

/* ---- In an area -------------------------------------------------------- */

static void make_area(void)
{
	area_text = (struct sfjit_range){ sample, SAMPLE_SIZE };
	MUST(!sfjit_area_create(sample, SAMPLE_SIZE, 0, 0, &area));
}

static void retire_area(void)
{
	IS("retire the area", sfjit_area_retire(area), 0);
	area = NULL;
}

static int publish(const unsigned char *start, size_t length,
		   unsigned int flags, const void **first)
{
	struct sfjit_range text = { start, length };

	return sfjit_area_publish_eh_frame(area, eh_frame, eh_frame_size, &text,
					   flags, first);
}

static struct sfjit_area_info stat_of_area(void)
{
	struct sfjit_area_info info;

	MUST(!sfjit_area_stat(area, &info));
	return info;
}

static void table_is_good(const char *name)
{
	struct sfjit_table table = registered();

	IS(name, sfjit_check(&table, NULL), 0);
}

static void test_area_functions(void)
{
	const void *first = NULL;
	int calls = nr_calls;

	make_area();
	calls = nr_calls;
	IS("area: publish", publish(sample, SAMPLE_SIZE, 0, &first), 0);
	IS("area: no call of the kernel", nr_calls - calls, 0);
	IS("area: starts at the first function", (long)first, (long)sample + 16);
	table_is_good("area: the table is good");
	rows_of_functions();
	no_row("area: stub in front", 0);
	no_row("area: stub after", 48);
	IS("area: its middle is no start",
	   sfjit_area_withdraw(area, sample + 32), -ENOENT);
	IS("area: taken back at once", sfjit_area_withdraw(area, first), 0);
	no_row("area: the first is gone", 17);
	no_row("area: and the second", 33);
	IS("area: all of them", stat_of_area().functions, 0);
	IS("area: not twice", sfjit_area_withdraw(area, first), -ENOENT);
	IS("area: again", publish(sample, SAMPLE_SIZE, 0, NULL), 0);
	IS("area: not twice at this place",
	   publish(sample, SAMPLE_SIZE, 0, NULL), -EEXIST);
	rows_of_functions();
	retire_area();
}

static void test_area_gaps(void)
{
	const void *first = NULL;

	make_area();
	IS("area: publish with gaps", publish(sample, SAMPLE_SIZE,
					      SFJIT_GAPS_CALLED, &first), 0);
	IS("area: starts at the gap", (long)first, (long)sample);
	table_is_good("area: with gaps the table is good");
	rows_of_functions();
	row_is("area: stub in front", 0, SP(0), SAME, SAME);
	row_is("area: to the last byte", 63, SP(0), SAME, SAME);
	IS("area: taken back with gaps", sfjit_area_withdraw(area, first), 0);
	no_row("area: a gap is gone", 0);
	no_row("area: and the last", 63);
	retire_area();
}

/* Each of two pieces of code is one function. */
static void test_area_two(void)
{
	const void *first = NULL, *second = NULL;

	make_area();
	IS("area: publish one", publish(sample, 32, SFJIT_GAPS_CALLED, &first),
	   0);
	no_row("area: not the other", 33);
	IS("area: publish the other", publish(sample + 32, 32, 0, &second), 0);
	table_is_good("area: two, the table is good");
	rows_of_functions();
	IS("area: it starts after", (long)second, (long)sample + 32);
	IS("area: in front of both", publish(sample, 16, SFJIT_GAPS_CALLED,
					     NULL), -EEXIST);
	IS("area: two functions", stat_of_area().functions, 2);
	IS("area: grow", sfjit_area_grow(area, NULL, 0, 0, 0), 0);
	table_is_good("area: grown, the table is good");
	rows_of_functions();
	IS("area: take back the first", sfjit_area_withdraw(area, first), 0);
	no_row("area: it is gone", 17);
	no_row("area: with its gap", 0);
	IS("area: the second is there", sfjit_area_withdraw(area, second), 0);
	no_row("area: and gone", 33);
	retire_area();
}

/* All code of this program, as one function. */
static struct sfjit_range many_functions(void)
{
	return (struct sfjit_range){
		__executable_start, etext - __executable_start,
	};
}

static int publish_many(const void **first)
{
	struct sfjit_range text = many_functions();

	return sfjit_area_publish_eh_frame(area, own_frame, own_frame_size,
					   &text, 0, first);
}

static void make_area_many(size_t rules, size_t blocks)
{
	area_text = many_functions();
	MUST(!sfjit_area_create(area_text.start, area_text.length, rules,
				blocks, &area));
}

/*
 * The area has the rows of a window at each address. That also has rows of
 * padding between functions.
 */
static void rows_are_those_of(const struct sfjit_table *other)
{
	struct sfjit_table table = registered();
	unsigned int differ = 0, found = 0, others = 0;
	struct sfjit_row a, b;
	bool found_b;
	const char *ip;
	int ret;

	for (ip = other->text; ip < etext; ip += 13) {
		ret = sfjit_find_row(&table, ip, NULL, &a, NULL);
		found_b = !sfjit_find_row(other, ip, NULL, &b, NULL);
		others += found_b;
		found += !ret;
		differ += !ret && !(found_b && sfg_rows_equal(&a, &b));
	}
	IS("area: the same rows as of a window", differ, 0);
	TRUE("area: many", found > 100 && found > others / 10 * 9);
}

static void test_area_many(void)
{
	struct sfjit_range text = many_functions();
	struct sfjit_code *code = NULL;
	const void *first = NULL;
	struct sfjit_table table;

	IS("many: register", sfjit_register_eh_frame(own_frame, own_frame_size,
		&text, 1, 0, &code), 0);
	table = registered();
	make_area_many(0, 0);
	IS("many: publish", publish_many(&first), 0);
	IS("many: one function", stat_of_area().functions, 1);
	table_is_good("many: the table is good");
	rows_are_those_of(&table);
	IS("many: grow", sfjit_area_grow(area, NULL, 0, 0, 0), 0);
	table_is_good("many: grown, the table is good");
	rows_are_those_of(&table);
	IS("many: one start", sfjit_area_withdraw(area, (char *)first + 1),
	   -ENOENT);
	IS("many: taken back", sfjit_area_withdraw(area, first), 0);
	IS("many: all of them", stat_of_area().functions, 0);
	retire_area();
	IS("many: retire", sfjit_code_retire(code), 0);
}

static void refuse_many(const char *name)
{
	const void *first = sample;

	IS(name, publish_many(&first), -ENOSPC);
	IS("full: none is there", stat_of_area().functions, 0);
	IS("full: no start", (long)first, (long)sample);
	table_is_good("full: the table is good");
}

static void test_area_full(void)
{
	unsigned int rules;

	make_area_many(0, 0);
	MUST(!publish_many(NULL));
	rules = stat_of_area().rules;
	retire_area();
	make_area_many(rules - 1, 0);
	refuse_many("full: a rule is missing");
	MUST(!sfjit_area_grow(area, NULL, 0, rules, 0));
	IS("full: grown it fits", publish_many(NULL), 0);
	IS("full: it is there", stat_of_area().functions, 1);
	retire_area();
	make_area_many(0, 1);
	refuse_many("full: bytes are missing");
	retire_area();
}

static void test_area_arguments(void)
{
	struct sfjit_range text = { sample, SAMPLE_SIZE }, none = { sample, 0 };
	struct sfjit_range wraps = { sample, -1UL }, null = { NULL, 16 };
	struct sfjit_range front = { (char *)((uintptr_t)sample - 1), 16 };
	struct sfjit_range behind = { sample + SAMPLE_SIZE, 16 };
	struct sfjit_range over = { sample + 48, 17 };

	make_area();
#define REFUSED(name, where, frame, size, range, flags)			\
	IS(name, sfjit_area_publish_eh_frame(where, frame, size, range,	\
					     flags, NULL), -EINVAL)
	REFUSED("area: nowhere", NULL, eh_frame, eh_frame_size, &text, 0);
	REFUSED("area: no frames", area, NULL, 64, &text, 0);
	REFUSED("area: no length", area, eh_frame, 0, &text, 0);
	REFUSED("area: no range", area, eh_frame, eh_frame_size, NULL, 0);
	REFUSED("area: empty range", area, eh_frame, eh_frame_size, &none, 0);
	REFUSED("area: wraps", area, eh_frame, eh_frame_size, &wraps, 0);
	REFUSED("area: nothing", area, eh_frame, eh_frame_size, &null, 0);
	REFUSED("area: in front", area, eh_frame, eh_frame_size, &front, 0);
	REFUSED("area: behind", area, eh_frame, eh_frame_size, &behind, 0);
	REFUSED("area: over the end", area, eh_frame, eh_frame_size, &over, 0);
	REFUSED("area: unknown flag", area, eh_frame, eh_frame_size, &text, 2);
#undef REFUSED
	IS("area: no function", publish(sample, 16, 0, NULL), -ENOENT);
	IS("area: nothing was published", stat_of_area().functions, 0);
	retire_area();
}

/* Whatever is published, the kernel would accept the section. */
static void test_area_damaged(void)
{
	struct sfjit_range text = { sample, SAMPLE_SIZE };
	size_t size, length = 400 < own_frame_size ? 400 : own_frame_size;
	unsigned int bad = 0, published = 0, refused = 0;
	struct sfjit_table table;
	const void *first;
	unsigned char *copy;
	int ret;

	make_area();
	table = registered();
	for (size = 1; size < length; size++) {
		copy = malloc(size);
		memcpy(copy, own_frame, size);
		copy[size / 2] ^= size;
		ret = sfjit_area_publish_eh_frame(area, copy, size, &text,
						  size & 1, &first);
		free(copy);
		bad += sfjit_check(&table, NULL) != 0;
		published += !ret;
		refused += ret == -EINVAL || ret == -ENOENT;
		bad += !ret && sfjit_area_withdraw(area, first);
		bad += ret && stat_of_area().functions;
		sfjit_area_reset(area, NULL, 0);
	}
	IS("area: damaged frames leave a good section", bad, 0);
	IS("area: each is published or refused", published + refused,
	   length - 1);
	TRUE("area: some are refused", refused);
	retire_area();
}

/* Nothing is registered or published. */
static void test_none(void)
{
	struct sfjit_code *code = NULL;
	const void *first = NULL;
	int calls = nr_calls;

	IS("no number: register", reg(sample, SAMPLE_SIZE, 0, &code),
	   -EOPNOTSUPP);
	TRUE("no number: no handle", !code);
	IS("no number: the kernel was not asked", nr_calls - calls, 0);
	make_area();
	IS("no number: publish", publish(sample, SAMPLE_SIZE, 0, &first),
	   -EOPNOTSUPP);
	IS("no number: nothing was", stat_of_area().functions, 0);
	TRUE("no number: no start", !first);
	retire_area();
}

int main(void)
{
	present = true;
	make_sample();
	dl_iterate_phdr(find_eh_frame, NULL);
	test_arguments();
	if (!HAS_SECTIONS) {
		test_none();
		return finish();
	}
	test_functions();
	test_gaps();
	test_ranges();
	test_kernel_refuses();
	test_damaged();
	test_area_functions();
	test_area_gaps();
	test_area_two();
	test_area_many();
	test_area_full();
	test_area_arguments();
	test_area_damaged();
	return finish();
}
