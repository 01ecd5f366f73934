// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Description: functions share FDEs over padding, and never over code. */
#include "core.h"
#include "test.h"

#define CODE	0x1000

static const struct cie cie = AMD64_PLAIN_CIE;

static uint8_t code[0x10000];
static struct sfg_image text = { code, sizeof(code), CODE };

/* In place of 'data'. */
static const void *read_code(void *arg, uint64_t addr, size_t len)
{
	return addr - CODE + len <= sizeof(code) ? arg : NULL;
}

static size_t section_len;	/* of the last one */
static const void *(*reads)(void *arg, uint64_t addr, size_t len);

static char *convert(const struct bytes *b, unsigned int max_rows,
		     struct sfg_summary *sum)
{
	struct sfg_input in = {
		.read_text = reads, .read_arg = code + 4, .abi = SFRAME_ABI_AMD64_LE, .max_rows = max_rows,
		.cfi = { b->p, b->len, 0 }, .text = &text, .nr_text = 1,
	};
	struct sfg_output out;
	struct sfg_section s;
	struct sfg_row_reader r;
	struct sfjit_row row;
	struct sfg_error err = { 0 };
	char *buf, rowtext[ROW_TEXT_MAX];
	size_t len;
	uint32_t i;
	FILE *f = open_memstream(&buf, &len);

	if (sfg_convert(&in, &out, sum, &err) ||
	    sfg_open_section(&s, out.data, out.len, 0, &err) ||
	    sfg_check_section(&s, &err)) {
		fprintf(f, "0x%zx: %s", err.offset, err.reason);
		fclose(f);
		return buf;
	}
	for (i = 0; i < s.header.num_fdes; i++) {
		sfg_read_fde(&s, i, &r, NULL);
		fprintf(f, "%s%llx-%llx", i ? " | " : "",
			(unsigned long long)r.fde.addr - CODE,
			(unsigned long long)r.fde.addr - CODE + r.fde.size);
		while (!sfg_read_row(&r, &row, NULL)) {
			format_row(s.header.abi_arch, &row, rowtext);
			fprintf(f, " %x %s", row.start, rowtext + 4);
		}
	}
	section_len = out.len;
	fclose(f);
	free(out.data);
	return buf;
}

static void check(const char *name, const struct bytes *b,
		  unsigned int max_rows, const char *want)
{
	struct sfg_summary sum;
	char *got = convert(b, max_rows, &sum);

	result(!strcmp(got, want), name, "got '%s', want '%s'", got, want);
	free(got);
}

/* Two functions of 4 bytes each, 'gap' apart. */
static void test_gap(const char *name, const char *gap, size_t len,
		     bool joined)
{
	struct bytes b = { 0 };
	size_t at = put_cie(&b, &cie);
	char want[80];

	memset(code, 0xc3, sizeof(code));
	memcpy(code + 4, gap, len);
	put_fde(&b, at, true, CODE, 4, P("\x41\x0e\x10"));
	put_fde(&b, at, true, CODE + 4 + len, 4, P(""));
	snprintf(want, sizeof(want), joined ?
		 "0-%zx 0 sp+8 1 sp+16 %zx sp+8" :
		 "0-4 0 sp+8 1 sp+16 | %2$zx-%1$zx 0 sp+8", 8 + len, 4 + len);
	check(name, &b, 0, want);
}

static void test_gaps(void)
{
	static const char long_nops[64] = { [0 ... 63] = (char)0x90 };

	test_gap("no gap", P(""), true);
	test_gap("nop", P("\x90"), true);
	test_gap("xchg", P("\x66\x90"), true);
	test_gap("nopl (rax)", P("\x0f\x1f\x00"), true);
	test_gap("nopl 0(rax)", P("\x0f\x1f\x40\x00"), true);
	test_gap("nopl 0(rax,rax)", P("\x0f\x1f\x44\x00\x00"), true);
	test_gap("nopw 0(rax,rax)", P("\x66\x0f\x1f\x44\x00\x00"), true);
	test_gap("nopl 0L(rax)", P("\x0f\x1f\x80\0\0\0\0"), true);
	test_gap("nopl 0L(rax,rax)", P("\x0f\x1f\x84\0\0\0\0\0"), true);
	test_gap("data16 cs nopw", P("\x66\x66\x2e\x0f\x1f\x84\0\0\0\0\0"),
		 true);
	test_gap("int3", P("\xcc\xcc\xcc"), true);
	test_gap("zeros", P("\0\0\0\0"), true);
	test_gap("several nops", P("\x66\x90\x90\x0f\x1f\x00\xcc"), true);
	test_gap("code", P("\x90\xc3"), false);
	test_gap("call", P("\xe8\x00\x00\x00\x00"), false);
	test_gap("zeros, then code", P("\0\0\xc3"), false);
	test_gap("half a nop", P("\x0f\x1f\x44\x00"), false);
	test_gap("half a nop's prefix", P("\x66\x66"), false);
	test_gap("pause", P("\xf3\x90"), false);
	test_gap("63 bytes", long_nops, 63, true);
	test_gap("64 bytes", long_nops, 64, false);
}

/* Nops between functions, for which there is CFI that gives no row. */
static void test_holes(void)
{
	static const char cfa_of_17[] = "\x0c\x11\x08";
	struct cie other = cie;
	struct sfg_summary sum;
	struct bytes b = { 0 };
	size_t at = put_cie(&b, &cie);

	other.ra = 3;
	memset(code, 0x90, sizeof(code));
	put_fde(&b, at, true, CODE, 8, P("\x44\x0c\x11\x08"));
	put_fde(&b, at, true, CODE + 8, 8, P(""));
	put_fde(&b, at, true, CODE + 0x20, 4, P(""));
	check("a row that is refused is no padding", &b, 0,
	      "0-4 0 sp+8 | 8-24 0 sp+8");
	put_fde(&b, at, true, CODE + 0x12, 4, cfa_of_17, 3);
	check("nor is a function", &b, 0, "0-4 0 sp+8 | 8-10 0 sp+8 | "
	      "20-24 0 sp+8");
	put_fde(&b, put_cie(&b, &other), true, CODE + 0x30, 4, P(""));
	put_fde(&b, at, true, CODE + 0x40, 4, P(""));
	check("nor is one whose CIE is refused", &b, 0, "0-4 0 sp+8 | "
	      "8-10 0 sp+8 | 20-24 0 sp+8 | 40-44 0 sp+8");
	free(convert(&b, 0, &sum));
	IS("its bytes are counted once", sum.padding_bytes, 0);
}

static void test_unreadable(void)
{
	text.data = NULL;
	reads = read_code;
	test_gap("gap that is read", P("\x90"), true);
	test_gap("code that is read", P("\xc3"), false);
	reads = NULL;
	test_gap("unreadable gap", P("\x90"), false);
	test_gap("unreadable, no gap", P(""), true);
	text.data = code;
}

static void test_signal(void)
{
	struct bytes b = { 0 };
	struct cie signal = cie;
	struct sfg_summary sum;
	size_t at, signal_at;

	signal.augmentation = "zRS";
	at = put_cie(&b, &cie);
	signal_at = put_cie(&b, &signal);
	put_fde(&b, at, true, CODE, 4, P(""));
	put_fde(&b, signal_at, true, CODE + 4, 4, P("\x0e\x10"));
	put_fde(&b, at, true, CODE + 8, 4, P(""));
	check("functions with the signal mark stand alone", &b, 0,
	      "0-4 0 sp+8 | 4-8 0 sp+16 | 8-c 0 sp+8");
	free(convert(&b, 0, &sum));
	result(sum.signal_fdes == 1 && sum.fdes == 3 && sum.blocks == 2,
	       "equal blocks are stored once", "%llu blocks",
	       (unsigned long long)sum.blocks);
}

static void test_cap(void)
{
	struct bytes b = { 0 };
	size_t at = put_cie(&b, &cie);

	put_fde(&b, at, true, CODE, 0x40,
		P("\x41\x0e\x10\x41\x0e\x18\x41\x0e\x20\x41\x0e\x28"));
	check("at most 2 rows", &b, 2,
	      "0-2 0 sp+8 1 sp+16 | 2-4 0 sp+24 1 sp+32 | 4-40 0 sp+40");
	check("at most 16 rows", &b, 0,
	      "0-40 0 sp+8 1 sp+16 2 sp+24 3 sp+32 4 sp+40");
}

/* 40 rows around a long stretch: cut there, so that starts have one byte. */
static void test_wide(void)
{
	struct bytes b = { 0 };
	struct sfg_summary sum;
	struct sfg_input in = {
		.abi = SFRAME_ABI_AMD64_LE, .max_rows = 1000,
		.text = &text, .nr_text = 1,
	};
	struct sfg_output out;
	struct bytes p = { 0 };
	size_t at = put_cie(&b, &cie);
	unsigned int i;

	for (i = 0; i < 40; i++) {
		put_int(&p, i == 20 ? 0x100003 : 0x41, i == 20 ? 3 : 1);
		put_int(&p, 0x0e | (16 + i % 2 * 8) << 8, 2);
	}
	p.p[0] = 0x41;
	put_fde(&b, at, true, CODE, 0x8000, p.p, p.len);
	in.cfi = (struct sfg_image) { b.p, b.len, 0 };
	if (sfg_convert(&in, &out, &sum, NULL)) {
		result(false, "cut where starts need two bytes", "failed");
		return;
	}
	/* 41 rows of 3 bytes in two FDEs */
	result(sum.fdes == 2 && out.len == 28 + 2 * 21 + 41 * 3,
	       "cut where starts need two bytes", "%llu FDEs, %zu bytes",
	       (unsigned long long)sum.fdes, out.len);
	free(out.data);
}

static void test_split_signal(void)
{
	struct cie signal = cie;
	struct sfg_summary sum;
	struct bytes b = { 0 };

	signal.augmentation = "zRS";
	put_fde(&b, put_cie(&b, &signal), true, CODE, 4,
		P("\x41\x0e\x10\x41\x0e\x18"));
	check("a function with the signal mark is cut", &b, 2,
	      "0-2 0 sp+8 1 sp+16 | 2-4 0 sp+24");
	free(convert(&b, 2, &sum));
	result(sum.signal_fdes == 2, "both FDEs have the mark", "%llu",
	       (unsigned long long)sum.signal_fdes);
}

static uint32_t next_random(void)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005 + 1442695040888963407;
	return seed >> 33;
}

/*
 * Rows that are near each other in places, and far apart in others. All differ:
 * the layout does not know which FDEs will share theirs.
 */
static void put_random_rows(struct bytes *p, size_t nr)
{
	unsigned int i, most = 1, offset;

	for (i = 0; i < nr; i++) {
		if (next_random() % 32 == 0)
			most = 1 << next_random() % 12;
		put_int(p, 3, 1);
		put_int(p, 1 + next_random() % most, 2);
		offset = 128 + 8 * i;
		put_int(p, 0x0e | (0x80 | (offset & 0x7f)) << 8 |
			offset >> 7 << 16, 3);
	}
}

static size_t size_of(const struct bytes *b, unsigned int max_rows)
{
	struct sfg_summary sum;

	free(convert(b, max_rows, &sum));
	return section_len;
}

/* A section is not longer because an FDE may have more rows. */
static void test_more_rows(void)
{
	static const unsigned int max_rows[] = { 22, 23, 43, 44, 64, 100, 500 };
	struct bytes b = { 0 }, p = { 0 };
	size_t round, i, most, least, wrong = 0;

	for (round = 0; round < 30; round++) {
		b.len = p.len = 0;
		put_random_rows(&p, 1000);
		put_fde(&b, put_cie(&b, &cie), true, CODE, 0xf000, p.p, p.len);
		most = size_of(&b, 65535);
		for (i = 0; i < ARRAY_SIZE(max_rows); i++) {
			least = size_of(&b, max_rows[i]);
			wrong += most > least;
		}
	}
	result(!wrong, "more rows in an FDE, no more bytes", "%zu times",
	       wrong);
}

/* FDEs that do not hold the function, up to where addresses end. */
static void test_count_split(void)
{
	static const struct sfjit_row rows[] = {
		{ .start = 0 }, { .start = 1 }, { .start = 2 },
	};
	const struct sfjit_function last = {
		.addr = -16ULL, .size = 16, .rows = rows, .nr_rows = 3,
	}, first = {
		.addr = CODE, .size = 16, .rows = rows, .nr_rows = 3,
	};
	struct sfg_summary sum = { 0 };

	sfg_count_split(&last, 1, &first, 1, 2, &sum);
	result(!sum.split_functions, "function that is in no FDE", "%llu",
	       (unsigned long long)sum.split_functions);
	sfg_count_split(&last, 1, &last, 1, 2, &sum);
	result(sum.split_functions == 1 && sum.split_fdes == 1,
	       "function up to the last address", "%llu in %llu",
	       (unsigned long long)sum.split_functions,
	       (unsigned long long)sum.split_fdes);
}

static void test_empty(void)
{
	struct bytes b = { 0 };

	put_cie(&b, &cie);
	check("no function", &b, 0, "");
}

static void test_unsorted_text(void)
{
	static const struct sfg_image two[] = {
		{ code, 0x100, CODE }, { code, 0x100, CODE + 0x80 },
	};
	struct bytes b = { 0 };
	struct sfg_input in = {
		.abi = SFRAME_ABI_AMD64_LE, .text = two, .nr_text = 2,
	};
	struct sfg_output out = { 0 };
	struct sfg_error err = { 0 };
	int ret;

	put_cie(&b, &cie);
	in.cfi = (struct sfg_image) { b.p, b.len, 0 };
	ret = sfg_convert(&in, &out, NULL, &err);
	result(ret == -EINVAL && !out.data, "text ranges that overlap", "%d",
	       ret);
}

int main(void)
{
	test_gaps();
	test_holes();
	test_unreadable();
	test_signal();
	test_split_signal();
	test_cap();
	test_wide();
	test_more_rows();
	test_count_split();
	test_empty();
	test_unsorted_text();
	return finish();
}
