// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: live windows: registrations, a whole section after each call,
 * each refusal, publishing without system calls, and forks while a thread
 * publishes. Runs with ASan and UBSan.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <linux/seccomp.h>
#include <linux/prctl.h>

#include <sfjit/live.h>

#include "machine.h"
#include "prctl.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

/* Not mapped: neither the library nor this test accesses the text. */
#define TEXT		0x7e0000001000UL
#define LENGTH		0x10000000UL

/* The widest row: 33 bytes. */
#define WIDE(start) { (start), 0, { 0x20000, 10, SFJIT_BASE_REG, 1, 8 }, \
		      { -0x20000, 0, SFJIT_BASE_CFA, 1, 0 }, \
		      { 0x20000, 3, SFJIT_BASE_REG, 1, 0 } }

static const struct sfjit_row wide[] = {
	WIDE(0), WIDE(1), WIDE(0x100000),
};

static const struct sfjit_row outermost[] = {
	{ 0, SFJIT_ROW_OUTERMOST, SFJIT_NO_RULE, SFJIT_NO_RULE,
	  SFJIT_NO_RULE },
};

static struct sfjit_row plain[4];

static void make_plain(void)
{
	const struct sfjit_row rows[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 1, 0, SP(8), RA, SAVED(-16) },
		{ 4, 0, FP(8), RA, SAVED(-16) },
		{ 30, 0, SP(0), SAME, SAME },
	};

	memcpy(plain, rows, sizeof(plain));
}

static const struct sfjit_function kinds[] = {
	{ 0, 31, NR(plain), plain, 0, 0 },
	{ 0, 0x100001, NR(wide), wide, 0, 0 },
	{ 0, 7, NR(outermost), outermost, 0, 0 },
	{ 0, 4096, NR(plain), plain, 0, 32 },
	{ 0, 300, 3, plain, 0, 0 },
};

static struct sfjit_function at(size_t kind, uint64_t addr)
{
	struct sfjit_function function = kinds[kind];

	function.addr = addr;
	return function;
}

static struct sfjit_live *make(size_t functions, size_t rows)
{
	struct sfjit_live *live;

	MUST(!sfjit_live_create((void *)TEXT, LENGTH, functions, rows, &live));
	return live;
}

static struct sfjit_live_info stat_of(const struct sfjit_live *live)
{
	struct sfjit_live_info stat;

	MUST(!sfjit_live_stat(live, &stat));
	return stat;
}

/* The bytes before the rows in a fixed section of one function. */
#define FIXED_BYTES	(sizeof(struct sframe_header) + \
			 sizeof(struct sframe_fde))

/* Bytes of attributes and rows. */
static size_t row_bytes(const struct sfjit_function *function)
{
	return sfjit_section_size(function, 1) - FIXED_BYTES;
}

/* ---- A strict reader ------------------------------------------------- */

static bool same_rows(struct sfg_row_reader *reader,
		      const struct sfjit_function *want)
{
	struct sfjit_row row;
	uint32_t i;

	if (reader->fde.nr_rows != want->nr_rows)
		return false;
	for (i = 0; i < want->nr_rows; i++)
		if (sfg_read_row(reader, &row, NULL) ||
		    memcmp(&row, &want->rows[i], sizeof(row)))
			return false;
	return true;
}

static bool same_function(const struct sfg_section *section, uint32_t i,
			  const struct sfjit_function *want)
{
	struct sfg_row_reader reader;

	if (sfg_read_fde(section, i, &reader, NULL))
		return false;
	return reader.fde.addr == want->addr && reader.fde.size == want->size &&
	       reader.fde.repeat == want->repeat && !reader.fde.flags &&
	       same_rows(&reader, want);
}

/*
 * The section must be valid and have exactly these functions; size 0 marks a
 * withdrawn one. Returns the difference, or NULL.
 */
static const char *differs(const struct sfjit_live *live,
			   const struct sfjit_function *want, uint32_t nr)
{
	struct sfjit_live_info stat = stat_of(live);
	struct sfg_section section;
	struct sfg_error error;
	uint32_t i, rows = 0;

	if (sfg_open_section(&section, stat.section, stat.length,
			     (uintptr_t)stat.section, &error) ||
	    sfg_check_section(&section, &error))
		return error.reason;
	if (section.header.num_fdes != nr || stat.functions != nr)
		return "number of functions";
	for (i = 0; i < nr; i++) {
		if (!same_function(&section, i, &want[i]))
			return "function";
		rows += want[i].nr_rows;
	}
	return section.header.num_fres == rows ? NULL : "number of rows";
}

static void check(const char *name, const struct sfjit_live *live,
		  const struct sfjit_function *want, uint32_t nr)
{
	const char *why = differs(live, want, nr);

	result(!why, name, "%s", why);
}

/* ---- What the kernel is told ----------------------------------------- */

static void test_create(void)
{
	struct sfjit_live *live = make(10, 40);
	struct sfjit_live_info stat = stat_of(live);
	int windows = nr_windows;

	IS("create registers", call.option, PR_SFRAME_REGISTER);
	IS("key is the text", call.key, TEXT);
	IS("section", call.address, (long)stat.section);
	IS("section is aligned", call.address % 8, 0);
	IS("length", call.length, stat.length);
	IS("flags", call.opts.flags, SFRAME_WINDOW_LIVE);
	IS("text start", call.opts.text_start, TEXT);
	IS("text length", call.opts.text_length, LENGTH);
	IS("no function yet", call.header.num_fdes, 0);
	IS("an entry does not share cache lines",
	   (28 + call.header.fdes_off) % sizeof(struct sframe_fde), 0);
	IS("space for ten functions",
	   (call.header.fres_off - call.header.fdes_off) /
	   sizeof(struct sframe_fde), 10);
	TRUE("and for 40 rows of any kind",
	     call.length - 28 - call.header.fres_off >= 10 * 5 + 40 * 33);
	check("empty section", live, NULL, 0);
	IS("retire", sfjit_live_retire(live), 0);
	IS("unregisters", call.option, PR_SFRAME_UNREGISTER);
	IS("by its key", call.key, TEXT);
	IS("one window less", windows - nr_windows, 1);
}

static void test_defaults(void)
{
	struct sfjit_live *live = make(0, 0);
	struct sfjit_live_info stat = stat_of(live);

	IS("one function for 64 bytes", stat.capacity, LENGTH / 64 + 1);
	TRUE("of four rows", stat.room >= stat.capacity * (5 + 4 * 29UL));
	IS("retire", sfjit_live_retire(live), 0);
	MUST(!sfjit_live_create((void *)TEXT, 1UL << 40, 0, 1, &live));
	IS("never more than the kernel takes", stat_of(live).capacity, 1 << 24);
	IS("retire the large one", sfjit_live_retire(live), 0);
}

static void refuse_create(const char *name, const void *text, size_t length,
			  size_t functions, size_t rows, int error)
{
	struct sfjit_live *live = (void *)1;
	int calls = nr_calls;

	IS(name, sfjit_live_create(text, length, functions, rows, &live),
	   error);
	TRUE(name, live == (void *)1 && nr_calls == calls);
}

static void test_create_refusals(void)
{
	void *text = (void *)TEXT;

	refuse_create("no text", NULL, 64, 1, 1, -EINVAL);
	refuse_create("no length", text, 0, 1, 1, -EINVAL);
	refuse_create("text wraps around", text, -1UL, 1, 1, -EINVAL);
	refuse_create("too many functions", text, 64, (1 << 24) + 1, 1,
		      -E2BIG);
	refuse_create("too many rows", text, 64, 1, 1UL << 32, -E2BIG);
	refuse_create("rows of 2^64 bytes", text, 64, 1, -1UL / 29 + 1,
		      -E2BIG);
	refuse_create("rows of 4 GiB", text, 64, 1, (1UL << 32) / 29 + 1,
		      -E2BIG);
	fail_call = "mmap";
	refuse_create("no memory", text, 64, 1, 1, -ENOMEM);
	fail_call = NULL;
	IS("nowhere to put it", sfjit_live_create(text, 64, 1, 1, NULL),
	   -EINVAL);
}

/* It works like any other. Retire must not remove another producer's window. */
static void test_not_registered(const char *name, int error, unsigned int flags)
{
	unsigned int all = known_flags;
	struct sfjit_function f = at(0, TEXT);
	struct sfjit_live *live;
	int windows = nr_windows, calls;

	next_error = error;
	known_flags = flags;
	live = make(1, 4);
	IS(name, stat_of(live).error,
	   flags == all ? -error : -EOPNOTSUPP);
	IS("publish all the same", sfjit_live_publish(live, &f), 0);
	check("with a whole section", live, &f, 1);
	known_flags = all;
	calls = nr_calls;
	IS("retire", sfjit_live_retire(live), 0);
	IS("unregisters nothing", nr_calls - calls, 0);
	IS("no window", nr_windows - windows, 0);
}

static void test_absent(void)
{
	struct sfjit_function f[2] = { at(0, TEXT), at(0, TEXT + 31) };
	struct sfjit_live *live;

	present = false;
	live = make(1, 4);
	IS("absent: no error", stat_of(live).error, 0);
	IS("absent: publish", sfjit_live_publish(live, &f[0]), 0);
	IS("absent: full", sfjit_live_publish(live, &f[1]), -ENOSPC);
	IS("absent: grow", sfjit_live_grow(live, NULL, 0, 0, 0), 0);
	IS("absent: publish another", sfjit_live_publish(live, &f[1]), 0);
	check("absent: section", live, f, 2);
	IS("absent: withdraw", sfjit_live_withdraw(live, (void *)TEXT), 0);
	IS("absent: retire", sfjit_live_retire(live), 0);
	present = true;
}

/* ---- Publishing ------------------------------------------------------ */

static void test_bytes(void)
{
	struct sfjit_live *live = make(2, 8);
	const unsigned char *section = stat_of(live).section;
	struct sfjit_function f[2] = { at(0, TEXT + 64), at(0, TEXT + 128) };
	unsigned char fixed[128];
	long length = sfjit_section_fill(fixed, sizeof(fixed), &f[1], 1) -
		      FIXED_BYTES;
	struct sframe_header header;
	struct sframe_fde fde;

	IS("publish", sfjit_live_publish(live, &f[0]), 0);
	IS("publish after it", sfjit_live_publish(live, &f[1]), 0);
	memcpy(&header, section, sizeof(header));
	IS("num_fdes", header.num_fdes, 2);
	IS("num_fres", header.num_fres, 8);
	IS("fre_len", header.fre_len, 2 * length);
	memcpy(&fde, section + 28 + header.fdes_off + 16, sizeof(fde));
	IS("start is relative to its field",
	   (long)section + 28 + header.fdes_off + 16 + fde.func_start,
	   TEXT + 128);
	IS("size", fde.func_size, 31);
	IS("rows after those of the first", fde.fre_off, length);
	TRUE("the rows of a section that does not grow",
	     !memcmp(section + 28 + header.fres_off + fde.fre_off,
		     fixed + FIXED_BYTES, length));
	sfjit_live_retire(live);
}

/* Check the section after every single function. */
static void test_each(void)
{
	struct sfjit_function f[200];
	struct sfjit_live *live = make(NR(f), 4 * NR(f));
	const char *why = NULL;
	uint64_t addr = TEXT;
	size_t i;
	int calls = nr_calls;

	for (i = 0; i < NR(f) && !why; i++) {
		f[i] = at(i % NR(kinds), addr);
		MUST(!sfjit_live_publish(live, &f[i]));
		why = differs(live, f, i + 1);
		/* With and without a gap. */
		addr += f[i].size + i % 3;
	}
	result(!why, "section after each of 200 functions", "%s differs at %zu",
	       why, (size_t)i);
	IS("no prctl", nr_calls - calls, 0);
	sfjit_live_retire(live);
}

static void test_dump(void)
{
	const char *build = getenv("O") ? getenv("O") : "build";
	char file[] = "/tmp/lib-live-XXXXXX", command[4200];
	struct sfjit_live *live = make(8, 32);
	struct sfjit_function f;
	int i, fd = mkstemp(file);
	struct sfjit_live_info stat;

	MUST(fd >= 0);
	for (i = 0; i < 5; i++) {
		f = at(i, TEXT + i * 0x200000UL);
		MUST(!sfjit_live_publish(live, &f));
	}
	MUST(!sfjit_live_withdraw(live, (void *)TEXT));
	stat = stat_of(live);
	MUST(write(fd, stat.section, stat.length) == (ssize_t)stat.length);
	close(fd);
	snprintf(command, sizeof(command), "%s/bin/sframegen --dump %s >%s.out",
		 build, file, file);
	IS("sframegen --dump reads it", system(command), 0);
	snprintf(command, sizeof(command), "test $(grep -c 'rows' %s.out) = 5",
		 file);
	IS("and finds five functions", system(command), 0);
	snprintf(command, sizeof(command), "%s.out", file);
	unlink(command);
	unlink(file);
	sfjit_live_retire(live);
}

/* ---- Refusals: nothing has changed ----------------------------------- */

/* Everything that the kernel reads: header, index entries and rows in use. */
struct image {
	struct sframe_header header;
	unsigned char index[64 * sizeof(struct sframe_fde)];
	unsigned char rows[4096];
};

static void take(struct image *image, const struct sfjit_live *live)
{
	struct sfjit_live_info stat = stat_of(live);
	const unsigned char *section = stat.section;

	memset(image, 0, sizeof(*image));
	memcpy(&image->header, section, sizeof(image->header));
	MUST(stat.functions <= 64 && image->header.fre_len <= 4096);
	memcpy(image->index, section + 28 + image->header.fdes_off,
	       stat.functions * sizeof(struct sframe_fde));
	memcpy(image->rows, section + 28 + image->header.fres_off,
	       image->header.fre_len);
}

static bool unchanged(const struct image *before, const struct sfjit_live *live)
{
	struct image now;

	take(&now, live);
	return !memcmp(before, &now, sizeof(now));
}

static void refuse(const char *name, struct sfjit_live *live,
		   struct sfjit_function f, int error)
{
	struct image before;

	take(&before, live);
	IS(name, sfjit_live_publish(live, &f), error);
	TRUE(name, unchanged(&before, live));
}

static void test_places(void)
{
	struct sfjit_live *live = make(10, 40);
	struct sfjit_function f = at(0, TEXT + 100);

	MUST(!sfjit_live_publish(live, &f));
	refuse("the same again", live, at(0, TEXT + 100), -EEXIST);
	refuse("in front of it", live, at(0, TEXT), -EEXIST);
	refuse("inside of it", live, at(0, TEXT + 130), -EEXIST);
	refuse("in front of the area", live, at(0, TEXT - 1), -EINVAL);
	refuse("past the area", live, at(0, TEXT + LENGTH), -EINVAL);
	refuse("over its end", live, at(0, TEXT + LENGTH - 30), -EINVAL);
	f = at(0, TEXT + 131);
	IS("touching it", sfjit_live_publish(live, &f), 0);
	f = at(0, TEXT + LENGTH - 31);
	IS("up to the end", sfjit_live_publish(live, &f), 0);
	refuse("nothing after that", live, at(2, TEXT + LENGTH - 7), -EEXIST);
	sfjit_live_retire(live);
}

static void refuse_row(struct sfjit_live *live, const char *name,
		       struct sfjit_row row)
{
	struct sfjit_row rows[2] = { plain[0], row };
	struct sfjit_function f = { TEXT + 64, 31, 2, rows, 0, 0 };

	refuse(name, live, f, -EINVAL);
}

static void test_bad_rows(struct sfjit_live *live)
{
	struct sfjit_row row = plain[1];

	row.start = 0;
	refuse_row(live, "row start does not increase", row);
	row.start = 31;
	refuse_row(live, "row start past the function", row);
	row = plain[1];
	row.cfa.base = SFJIT_BASE_NONE;
	refuse_row(live, "no CFA", row);
	row = plain[1];
	row.flags = 0x80;
	refuse_row(live, "unknown row flag", row);
	row = plain[1];
	row.fp.deref = 2;
	refuse_row(live, "unknown deref", row);
}

static void test_bad_functions(struct sfjit_live *live)
{
	static struct sfjit_row many[65536];
	struct sfjit_function f = at(0, TEXT + 64);
	size_t i;

	f.nr_rows = 0;
	refuse("no rows", live, f, -EINVAL);
	f = at(0, TEXT + 64);
	f.size = 0;
	refuse("no code", live, f, -EINVAL);
	f = at(0, TEXT + 64);
	f.flags = 1;
	refuse("function flag", live, f, -EINVAL);
	f = at(0, TEXT + 64);
	f.repeat = 16;
	refuse("row past the block", live, f, -EINVAL);
	for (i = 0; i < NR(many); i++) {
		many[i] = plain[0];
		many[i].start = i;
	}
	f = (struct sfjit_function){ TEXT + 64, 255, 65, many, 0, 255 };
	refuse("65 rows that repeat", live, f, -E2BIG);
	f = (struct sfjit_function){ TEXT + 64, 65536, 65536, many, 0, 0 };
	refuse("more rows than entries are left for", live, f, -ENOSPC);
}

static void test_bad(void)
{
	struct sfjit_live *live = make(4, 65540);
	struct sfjit_function f = at(0, TEXT);

	IS("publish nowhere", sfjit_live_publish(NULL, &f), -EINVAL);
	IS("publish nothing", sfjit_live_publish(live, NULL), -EINVAL);
	test_bad_rows(live);
	test_bad_functions(live);
	sfjit_live_retire(live);
}

static void test_full_index(void)
{
	struct sfjit_live *live = make(3, 100);
	struct sfjit_function f[3];
	int i;

	for (i = 0; i < 3; i++) {
		f[i] = at(i, TEXT + i * 0x200000UL);
		IS("as many as promised", sfjit_live_publish(live, &f[i]), 0);
	}
	refuse("one more", live, at(0, TEXT + 0x800000), -ENOSPC);
	check("full section", live, f, 3);
	sfjit_live_retire(live);
}

/* As many rows of 33 bytes fit as promised, and no more. */
static void test_full_rows(void)
{
	struct sfjit_live *live = make(1, 3);
	struct sfjit_function f = at(1, TEXT);

	IS("three widest rows", stat_of(live).room, 5 + 3 * 33);
	IS("fit", sfjit_live_publish(live, &f), 0);
	IS("exactly", stat_of(live).room, 0);
	check("widest section", live, &f, 1);
	sfjit_live_retire(live);
	live = make(3, 1);
	refuse("three of them where one fits", live, f, -ENOSPC);
	f = at(0, TEXT);
	IS("four short ones fit there", sfjit_live_publish(live, &f), 0);
	f.addr += f.size;
	IS("four more do", sfjit_live_publish(live, &f), 0);
	refuse("and no others", live, at(0, f.addr + f.size), -ENOSPC);
	sfjit_live_retire(live);
}

/* ---- Taking back ----------------------------------------------------- */

static int find(const struct sfjit_live *live, uint64_t addr)
{
	struct sfjit_live_info stat = stat_of(live);
	struct sfg_section section;
	struct sfjit_function fde;
	struct sfjit_row row;

	MUST(!sfg_open_section(&section, stat.section, stat.length,
			       (uintptr_t)stat.section, NULL));
	return sfg_find_row(&section, addr, &fde, &row, NULL);
}

static struct sfjit_live *make_three(struct sfjit_function f[3])
{
	struct sfjit_live *live = make(6, 40);
	int i;

	for (i = 0; i < 3; i++) {
		f[i] = at(i == 1 ? 3 : 0, TEXT + i * 0x2000);
		MUST(!sfjit_live_publish(live, &f[i]));
	}
	return live;
}

/* ---- Functions of many rows ------------------------------------------- */

#define LONG_ROWS	200

static struct sfjit_row long_rows[LONG_ROWS];

static struct sfjit_function long_function(uint64_t addr, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < LONG_ROWS; i++) {
		long_rows[i] = plain[i % 2];
		long_rows[i].start = 2 * i;
	}
	return (struct sfjit_function){ addr, 2 * nr, nr, long_rows, 0, 0 };
}

/* Counts addresses of the function that have its row. */
static uint32_t found_rows(const struct sfjit_live *live,
			   const struct sfjit_function *f)
{
	struct sfjit_live_info stat = stat_of(live);
	struct sfjit_function found;
	struct sfg_section section;
	struct sfjit_row row;
	uint32_t off, nr = 0;

	MUST(!sfg_open_section(&section, stat.section, stat.length,
			       (uintptr_t)stat.section, NULL));
	MUST(!sfg_check_section(&section, NULL));
	for (off = 0; off < f->size; off++)
		nr += !sfg_find_row(&section, f->addr + off, &found, &row,
				    NULL) &&
		      found.nr_rows <= 64 &&
		      sfg_rows_equal(&row, &f->rows[off / 2]);
	return nr;
}

static void test_long(void)
{
	struct sfjit_function f[3] = {
		long_function(TEXT, 64), long_function(TEXT + 128, 200),
		long_function(TEXT + 528, 64),
	};
	struct sfjit_live *live = make(6, 400);
	void *second = (void *)f[1].addr;
	size_t i;

	for (i = 0; i < 3; i++)
		IS("publish", sfjit_live_publish(live, &f[i]), 0);
	IS("200 rows are 4 entries", stat_of(live).functions, 6);
	for (i = 0; i < 3; i++)
		IS("each address has its row", found_rows(live, &f[i]),
		   f[i].size);
	IS("withdraw a part", sfjit_live_withdraw(live, second + 128), -ENOENT);
	IS("withdraw the last part", sfjit_live_withdraw(live, second + 384),
	   -ENOENT);
	IS("grow", sfjit_live_grow(live, NULL, 0, 0, 0), 0);
	IS("withdraw", sfjit_live_withdraw(live, second), 0);
	IS("4 entries are taken back", stat_of(live).withdrawn, 4);
	IS("no address has a row", found_rows(live, &f[1]), 0);
	IS("those in front have", found_rows(live, &f[0]), f[0].size);
	IS("the following have", found_rows(live, &f[2]), f[2].size);
	IS("withdraw twice", sfjit_live_withdraw(live, second), -ENOENT);
	IS("grow", sfjit_live_grow(live, NULL, 0, 0, 0), 0);
	IS("two are left", stat_of(live).functions, 2);
	IS("withdraw one", sfjit_live_withdraw(live, (void *)f[0].addr), 0);
	IS("not its neighbour", found_rows(live, &f[2]), f[2].size);
	sfjit_live_retire(live);
}

/* A fork between counting the rows and the function. */
static void test_fork(void)
{
	struct sfjit_function f[2] = {
		long_function(TEXT, 64), long_function(TEXT + 128, 64),
	};
	struct sfjit_live *live = make(3, 400);

	MUST(!sfjit_live_publish(live, &f[0]));
	((struct sframe_header *)stat_of(live).section)->fre_len += 200;
	MUST(!sfjit_live_publish(live, &f[1]));
	IS("withdraw what follows", sfjit_live_withdraw(live,
							  (void *)f[1].addr),
	   0);
	MUST(!sfjit_live_reset(live));
	MUST(!sfjit_live_publish(live, &f[0]));
	((struct sframe_header *)stat_of(live).section)->fre_len += 200;
	MUST(!sfjit_live_publish(live, &f[1]));
	IS("withdraw what is in front", sfjit_live_withdraw(live,
							    (void *)f[0].addr),
	   0);
	IS("and no other", found_rows(live, &f[1]), f[1].size);
	sfjit_live_retire(live);
}

/* Only the last entry of a long function was withdrawn. */
static void test_fork_half(void)
{
	struct sfjit_function f[2] = {
		long_function(TEXT, 130), long_function(TEXT + 260, 64),
	};
	struct sfjit_live *live = make(4, 400);
	struct sframe_header *header = (void *)stat_of(live).section;
	struct sframe_fde *index = (void *)((char *)(header + 1) +
					    header->fdes_off);

	MUST(!sfjit_live_publish(live, &f[0]));
	MUST(!sfjit_live_publish(live, &f[1]));
	index[2].func_size = 0;
	IS("grow", sfjit_live_grow(live, NULL, 0, 0, 0), 0);
	IS("withdraw the rest", sfjit_live_withdraw(live, (void *)f[0].addr),
	   0);
	IS("not what follows", found_rows(live, &f[1]), f[1].size);
	IS("withdraw that", sfjit_live_withdraw(live, (void *)f[1].addr), 0);
	sfjit_live_retire(live);
}

static void test_long_last(void)
{
	struct sfjit_function f = long_function(TEXT, 130), next = at(0, TEXT);
	struct sfjit_live *live = make(3, 10), *small;
	size_t room = stat_of(live).room;

	IS("no room for rows", sfjit_live_publish(live, &f), -ENOSPC);
	IS("nothing was used", stat_of(live).room, room);
	check("nothing is there", live, NULL, 0);
	sfjit_live_retire(live);
	small = make(2, 400);
	IS("too few entries", sfjit_live_publish(small, &f), -ENOSPC);
	check("none is there", small, NULL, 0);
	sfjit_live_retire(small);
	live = make(5, 400);
	MUST(!sfjit_live_publish(live, &f));
	MUST(!sfjit_live_withdraw(live, (void *)f.addr));
	next.addr = TEXT + 259;
	refuse("its text is not free", live, next, -EEXIST);
	next.addr = TEXT + 260;
	IS("what follows is", sfjit_live_publish(live, &next), 0);
	sfjit_live_retire(live);
}

static void test_withdraw(void)
{
	struct sfjit_function f[3];
	struct sfjit_live *live = make_three(f);
	void *second = (void *)f[1].addr;
	int calls = nr_calls;

	IS("withdraw nowhere", sfjit_live_withdraw(NULL, second), -EINVAL);
	IS("withdraw from inside", sfjit_live_withdraw(live, second + 1),
	   -ENOENT);
	IS("withdraw in front", sfjit_live_withdraw(live, (void *)TEXT - 1),
	   -ENOENT);
	IS("withdraw after", sfjit_live_withdraw(live, (void *)TEXT + 0x8000),
	   -ENOENT);
	check("nothing has changed", live, f, 3);
	IS("withdraw", sfjit_live_withdraw(live, second), 0);
	f[1].size = 0;
	check("it has no size, the others have", live, f, 3);
	IS("is counted", stat_of(live).withdrawn, 1);
	IS("withdraw twice", sfjit_live_withdraw(live, second), -ENOENT);
	IS("it is not found", find(live, f[1].addr), -ENOENT);
	IS("the one in front is", find(live, f[0].addr), 0);
	IS("the next one is", find(live, f[2].addr + 30), 0);
	IS("no prctl", nr_calls - calls, 0);
	sfjit_live_retire(live);
}

static void test_reset(void)
{
	struct sfjit_function f = at(0, TEXT + 0x100), low = at(4, TEXT);
	struct sfjit_live *live;
	struct sfjit_live_info before, stat;

	MUST(!sfjit_live_create((void *)TEXT, LENGTH, 2, 10, &live));
	MUST(!sfjit_live_stat(live, &before));
	MUST(!sfjit_live_publish(live, &f));
	f.addr += 0x100;
	MUST(!sfjit_live_publish(live, &f));
	MUST(!sfjit_live_withdraw(live, (void *)(TEXT + 0x200)));
	IS("reset nothing", sfjit_live_reset(NULL), -EINVAL);
	IS("reset", sfjit_live_reset(live), 0);
	MUST(!sfjit_live_stat(live, &stat));
	TRUE("as it was made", !memcmp(&stat, &before, sizeof(stat)));
	IS("from the beginning", sfjit_live_publish(live, &low), 0);
	IS("and again", sfjit_live_publish(live, &f), 0);
	sfjit_live_retire(live);
}

static void test_withdraw_last(void)
{
	struct sfjit_function f[4];
	struct sfjit_live *live = make_three(f);

	IS("withdraw the last", sfjit_live_withdraw(live, (void *)f[2].addr),
	   0);
	refuse("its text is not free", live, at(0, f[2].addr), -EEXIST);
	refuse("to the last byte", live, at(0, f[2].addr + 30), -EEXIST);
	f[3] = at(0, f[2].addr + 31);
	IS("what follows is", sfjit_live_publish(live, &f[3]), 0);
	f[2].size = 0;
	check("section", live, f, 4);
	sfjit_live_retire(live);
}

/* ---- Growing --------------------------------------------------------- */

static void test_grow(void)
{
	struct sfjit_function f[4];
	struct sfjit_live *live = make_three(f);
	struct sfjit_live_info before = stat_of(live), stat;
	int windows = nr_windows;

	IS("grow", sfjit_live_grow(live, NULL, 0, 0, 0), 0);
	stat = stat_of(live);
	IS("is a registration", call.option, PR_SFRAME_REGISTER);
	IS("of the same key", call.key, TEXT);
	IS("that replaces", call.opts.flags,
	   SFRAME_WINDOW_REPLACE | SFRAME_WINDOW_LIVE);
	IS("the same text", call.opts.text_start, TEXT);
	IS("of the same length", call.opts.text_length, LENGTH);
	IS("by a section with all functions", call.header.num_fdes, 3);
	IS("at its place", call.address, (long)stat.section);
	IS("of its length", call.length, stat.length);
	IS("no window more", nr_windows - windows, 0);
	IS("as many again", stat.capacity, 3 + before.capacity);
	TRUE("and rows", stat.room >= before.room);
	check("the same functions", live, f, 3);
	f[3] = at(1, TEXT + 0x8000);
	IS("and another", sfjit_live_publish(live, &f[3]), 0);
	check("after them", live, f, 4);
	sfjit_live_retire(live);
}

static void test_grow_compacts(void)
{
	struct sfjit_function f[3], left[2];
	struct sfjit_live *live = make_three(f);

	MUST(!sfjit_live_withdraw(live, (void *)f[0].addr));
	MUST(!sfjit_live_withdraw(live, (void *)f[2].addr));
	IS("grow by a function and a row",
	   sfjit_live_grow(live, NULL, 0, 1, 1), 0);
	left[0] = f[1];
	check("without those that were taken back", live, left, 1);
	IS("none is counted", stat_of(live).withdrawn, 0);
	IS("space for one more", stat_of(live).capacity, 2);
	/* Only the rows of two of three were freed. */
	IS("and its row", stat_of(live).room, 5 + 33 + 2 * row_bytes(&f[0]));
	left[1] = at(0, f[1].addr + f[1].size);
	IS("text after the last is free", sfjit_live_publish(live, &left[1]),
	   0);
	check("and in use again", live, left, 2);
	sfjit_live_retire(live);
}

static void test_grow_empty(void)
{
	struct sfjit_function f[3];
	struct sfjit_live *live = make_three(f);
	int i;

	for (i = 0; i < 3; i++)
		MUST(!sfjit_live_withdraw(live, (void *)f[i].addr));
	IS("grow with nothing left", sfjit_live_grow(live, NULL, 0, 0, 0), 0);
	check("is empty", live, NULL, 0);
	IS("all of the area is free", sfjit_live_publish(live, &f[0]), 0);
	check("from its start", live, f, 1);
	sfjit_live_retire(live);
}

static void test_grow_area(void)
{
	struct sfjit_function f[5];
	struct sfjit_live *live = make_three(f);
	void *start = (void *)TEXT - 4096;

	IS("grow the area", sfjit_live_grow(live, start, LENGTH + 8192, 4, 9),
	   0);
	IS("the key stays", call.key, TEXT);
	IS("the start moves", call.opts.text_start, TEXT - 4096);
	IS("the end moves", call.opts.text_length, LENGTH + 8192);
	IS("space for four more", stat_of(live).capacity, 7);
	refuse("the first is still the first", live, at(0, TEXT - 4096),
	       -EEXIST);
	f[3] = at(0, TEXT + LENGTH);
	IS("publish after the old end", sfjit_live_publish(live, &f[3]), 0);
	check("section", live, f, 4);
	sfjit_live_retire(live);
}

static void refuse_grow(const char *name, struct sfjit_live *live, void *text,
			size_t length, size_t functions, size_t rows, int error)
{
	struct sfjit_live_info before = stat_of(live), after;
	struct image image;

	take(&image, live);
	IS(name, sfjit_live_grow(live, text, length, functions, rows), error);
	after = stat_of(live);
	TRUE(name, !memcmp(&before, &after, sizeof(after)) &&
		   unchanged(&image, live));
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
	struct sfjit_function f[3];
	struct sfjit_live *live = make_three(f);
	void *text = (void *)TEXT;
	unsigned long before;

	IS("grow nothing", sfjit_live_grow(NULL, NULL, 0, 0, 0), -EINVAL);
	refuse_grow("start inside", live, text + 1, LENGTH, 1, 1, -EINVAL);
	refuse_grow("end inside", live, text, LENGTH - 1, 1, 1, -EINVAL);
	refuse_grow("text without length", live, text, 0, 1, 1, -EINVAL);
	refuse_grow("length without text", live, NULL, 1, 1, 1, -EINVAL);
	refuse_grow("wraps around", live, text, -1UL, 1, 1, -EINVAL);
	refuse_grow("too many functions", live, NULL, 0, 1 << 24, 1, -E2BIG);
	refuse_grow("too many rows", live, NULL, 0, 1, 1UL << 31, -E2BIG);
	fail_call = "mmap";
	refuse_grow("no memory", live, NULL, 0, 0, 0, -ENOMEM);
	fail_call = NULL;
	before = mapped();
	next_error = EEXIST;
	refuse_grow("the kernel refuses", live, NULL, 0, 0, 0, -EEXIST);
	IS("the new section is gone", mapped() - before, 0);
	IS("grow after all that", sfjit_live_grow(live, NULL, 0, 0, 0), 0);
	/* Both fit one page. */
	IS("the old section is gone", mapped() - before, 0);
	check("the functions are there", live, f, 3);
	sfjit_live_retire(live);
}

/* Its text, and the window with it, may have been unmapped. */
static void test_grow_registers(void)
{
	struct sfjit_live *live;
	int windows = nr_windows;

	next_error = ENOMEM;
	live = make(1, 1);
	IS("not registered", stat_of(live).error, -ENOMEM);
	IS("grow", sfjit_live_grow(live, NULL, 0, 0, 0), 0);
	IS("registers", call.opts.flags, SFRAME_WINDOW_LIVE);
	IS("one window", nr_windows - windows, 1);
	IS("no error", stat_of(live).error, 0);
	next_error = ENOENT;
	IS("grow when the window is gone",
	   sfjit_live_grow(live, NULL, 0, 0, 0), 0);
	IS("registers again", call.opts.flags, SFRAME_WINDOW_LIVE);
	IS("and knows it", stat_of(live).error, 0);
	sfjit_live_retire(live);
}

static void test_retire(void)
{
	struct sfjit_live_info stat;
	struct sfjit_live *live = make(1, 1);
	int windows = nr_windows;

	IS("stat of nothing", sfjit_live_stat(NULL, &stat), -EINVAL);
	IS("stat to nowhere", sfjit_live_stat(live, NULL), -EINVAL);
	IS("retire nothing", sfjit_live_retire(NULL), 0);
	fail_call = "munmap";
	IS("munmap fails", sfjit_live_retire(live), -ENOMEM);
	fail_call = NULL;
	IS("the window was unregistered before", windows - nr_windows, 1);
	/* The mapping is leaked; the error reports that. */
}

/* ---- No system call -------------------------------------------------- */

#define MANY	1000

static struct sfjit_live *many;

static void only_read_and_write(void)
{
	if (syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
		syscall(SYS_exit, 77);
}

static int publish_many(void)
{
	struct sfjit_function f;
	long i, errors = 0;

	only_read_and_write();
	for (i = 0; i < MANY; i++) {
		f = at(i % 5 == 1 ? 0 : i % 5, TEXT + i * 4096);
		errors += !!sfjit_live_publish(many, &f);
	}
	for (i = 0; i < MANY; i += 7)
		errors += !!sfjit_live_withdraw(many,
						(void *)TEXT + i * 4096);
	syscall(SYS_exit, errors ? 1 : 0);
	return 1;
}

static int grow_many(void)
{
	only_read_and_write();
	sfjit_live_grow(many, NULL, 0, 0, 0);
	syscall(SYS_exit, 0);
	return 1;
}

static void test_no_system_call(void)
{
	int status;

	many = make(MANY, 4 * MANY);
	status = in_child(publish_many);
	if (status == 77) {
		skip("publish and withdraw make no system call",
		     getenv("SFJIT_EMULATED") ? "qemu-user has no seccomp" :
						"kernel without seccomp");
	} else {
		IS("publish and withdraw make no system call", status, 0);
		IS("grow makes some, and is killed", in_child(grow_many),
		   256 + SIGKILL);
	}
	sfjit_live_retire(many);
}

/* ---- Threads and forks ----------------------------------------------- */

static struct sfjit_function published[MANY];
static atomic_int stop, looks;

#define BLOCK	50	/* functions between two rounds of readers */

/* Wait for readers, not for a time. */
static void wait_for_looks(void)
{
	int enough = looks + 101 * BLOCK / MANY + 1;

	while (looks < enough)
		usleep(100);
}

static void *publish_all(void *argument)
{
	size_t i;

	for (i = 0; i < MANY; i++) {
		MUST(!sfjit_live_publish(many, &published[i]));
		if (i % BLOCK == 0)
			wait_for_looks();
	}
	stop = 1;
	return NULL;
}

/* Like the kernel: read the count, then what was stored before it. */
static bool counted_are_whole(const struct sfjit_live *live)
{
	struct sfjit_live_info stat = stat_of(live);
	struct sfg_section section;
	const uint32_t *count = (const uint32_t *)
		((const char *)stat.section +
		 offsetof(struct sframe_header, num_fdes));
	uint32_t nr = __atomic_load_n(count, __ATOMIC_ACQUIRE);

	if (sfg_open_section(&section, stat.section, stat.length,
			     (uintptr_t)stat.section, NULL))
		return false;
	return !nr || same_function(&section, nr - 1, &published[nr - 1]);
}

static int go_on_in_child(void)
{
	uint32_t nr = stat_of(many).functions, i;

	alarm(HANGS_SECONDS);
	if (differs(many, published, nr) &&
	    strcmp(differs(many, published, nr), "number of rows"))
		return 1;
	for (i = nr; i < MANY; i++)
		if (sfjit_live_publish(many, &published[i]))
			return 2;
	if (sfjit_live_grow(many, NULL, 0, 0, 0) ||
	    stat_of(many).functions != MANY || !counted_are_whole(many))
		return 3;
	return sfjit_live_retire(many) ? 4 : 0;
}

static void prepare_many(void)
{
	size_t i;

	many = make(MANY, 4 * MANY);
	for (i = 0; i < MANY; i++)
		published[i] = at(i % 5 == 1 ? 0 : i % 5, TEXT + i * 4096);
	stop = 0;
	looks = 0;
}

static void test_threads(void)
{
	int torn = 0, forks = 0, failed = 0;
	pthread_t thread;

	prepare_many();
	MUST(!pthread_create(&thread, NULL, publish_all, NULL));
	while (!stop) {
		torn += !counted_are_whole(many);
		if (looks++ % 50 == 0) {
			failed += in_child(go_on_in_child) != 0;
			forks++;
		}
	}
	pthread_join(thread, NULL);
	IS("functions that were counted and not whole", torn, 0);
	TRUE("there was time to look", looks > 100);
	IS("children that could not go on", failed, 0);
	TRUE("children were made", forks > 1);
	check("all were published", many, published, MANY);
	sfjit_live_retire(many);
}

/* Nothing can be published; everything else works. */
static void test_none(void)
{
	struct sfjit_live *live = make(4, 16);
	struct sfjit_function f = at(0, TEXT), many = long_function(TEXT, 200);

	IS("no number: publish", sfjit_live_publish(live, &f), -ENOTSUP);
	IS("no number: long function", sfjit_live_publish(live, &many),
	   -ENOTSUP);
	IS("no number: none is there", stat_of(live).functions, 0);
	IS("no number: withdraw", sfjit_live_withdraw(live, (void *)TEXT),
	   -ENOENT);
	IS("no number: grow", sfjit_live_grow(live, NULL, 0, 0, 0), 0);
	IS("no number: publish then", sfjit_live_publish(live, &f), -ENOTSUP);
	IS("no number: reset", sfjit_live_reset(live), 0);
	IS("no number: retire", sfjit_live_retire(live), 0);
}

int main(void)
{
	present = true;
	make_plain();
	if (!HAS_SECTIONS) {
		test_create_refusals();
		test_none();
		return finish();
	}
	test_create();
	test_defaults();
	test_create_refusals();
	test_not_registered("the kernel refuses", ENOSPC, known_flags);
	test_not_registered("a mistake", EINVAL, known_flags);
	test_not_registered("no live windows", 0, SFRAME_WINDOW_REPLACE);
	test_absent();
	test_bytes();
	test_each();
	test_dump();
	test_places();
	test_bad();
	test_full_index();
	test_full_rows();
	test_long();
	test_fork();
	test_fork_half();
	test_long_last();
	test_withdraw();
	test_withdraw_last();
	test_reset();
	test_grow();
	test_grow_compacts();
	test_grow_empty();
	test_grow_area();
	test_grow_refusals();
	test_grow_registers();
	test_retire();
	test_no_system_call();
	test_threads();
	return finish();
}
