// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: where the rows of an unwinder, or the only row of a function, are
 * false.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bare.h>

#include "../../lib/tap.h"

/* As gcc makes _Unwind_Resume(), shorter. */
static const uint8_t resume[] = {
	0x55, 0x48, 0x89, 0xe5,			/*  0 push; mov %rsp,%rbp */
	0xe8, 0, 0, 0, 0,			/*  4 call */
	0xe8, 0, 0, 0, 0,			/*  9 call: registers */
	0x48, 0x89, 0xc2,			/*  e mov %rax,%rdx */
	0xff, 0xd0,				/* 11 call: of a debugger */
	0x48, 0x8d, 0x4c, 0x15, 0x08,		/* 13 lea, %rcx */
	0x48, 0x8b, 0x6d, 0x00,			/* 18 mov, %rbp */
	0x48, 0x89, 0xcc,			/* 1c mov %rcx,%rsp */
	0x59, 0xff, 0xe1,			/* 1f pop %rcx; jmp *%rcx */
};

static bool resumes(const struct sfjit_row *row, const uint8_t *text,
		    uint32_t size, uint32_t *from)
{
	const struct sfjit_row rows[] = {
		{ 0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE,
		  SFJIT_NO_RULE },
		*row,
	};
	const struct sfjit_function f = {
		.size = size, .nr_rows = 2, .rows = rows,
	};
	struct bare_range ranges[BARE_FALSE_MAX] = { 0 };
	size_t nr = bare_false(&f, text, ranges);

	*from = ranges[0].start;
	return nr == 1 && ranges[0].end == row->start;
}

static void check_resumes(void)
{
	struct sfjit_row row = {
		.start = 0x1c, .cfa = { 8, 2, SFJIT_BASE_REG, 0, 0 },
	};
	uint8_t text[sizeof(resume)];
	uint32_t from = 0;

	TRUE("an unwinder", resumes(&row, resume, sizeof(resume), &from) &&
	     from == 9);
	row.cfa.offset = 16;
	TRUE("another offset", !resumes(&row, resume, sizeof(resume),
					     &from));
	row.cfa.offset = 8;
	row.cfa.reg = 7;
	TRUE("another register", !resumes(&row, resume, sizeof(resume),
					       &from));
	row.cfa.reg = 2;
	row.start = 0x18;
	TRUE("another instruction", !resumes(&row, resume, sizeof(resume),
						  &from));
	row.start = 0x1c;
	memcpy(text, resume, sizeof(text));
	memset(text + 4, 0x90, 10);
	TRUE("one call", !resumes(&row, text, sizeof(text), &from));
	text[0x18] = 0xb8;
	memcpy(text + 4, resume + 4, 10);
	TRUE("inside of an instruction", !resumes(&row, text, sizeof(text),
						       &from));
	TRUE("past the end", !resumes(&row, resume, 0x1e, &from));
}

static void framed_is(const char *name, const struct sfjit_row *row,
		      uint32_t nr_rows, const uint8_t *text, uint32_t size,
		      const char *wanted)
{
	const struct sfjit_row rows[] = { *row, bare_rows[0] };
	const struct sfjit_function f = {
		.size = size, .nr_rows = nr_rows, .rows = rows,
	};
	struct bare_range ranges[BARE_FALSE_MAX];
	size_t nr = bare_false(&f, text, ranges), i, n = 0;
	char found[128] = "";

	for (i = 0; i < nr && n < sizeof(found); i++)
		n += snprintf(found + n, sizeof(found) - n, "%s%x-%x",
			      i ? " " : "", ranges[i].start, ranges[i].end);
	result(!strcmp(found, wanted), name, "found '%s', wanted '%s'", found,
	       wanted);
}

/* As LuaJIT's interpreter, shorter: a frame of 32 bytes to the CFA. */
static const uint8_t framed[] = {
	0x55, 0x53, 0x48, 0x83, 0xec, 0x08,	/*  0 push, push, sub $8 */
	0xff, 0xd0, 0xff, 0xe1,			/*  6 call *%rax; jmp *%rcx */
	0x53, 0x48, 0x83, 0xec, 0x08,		/*  a push, sub: one was pushed */
	0xff, 0xe1,				/*  f jmp *%rcx */
	0x31, 0xc0, 0x48, 0x83, 0xec, 0x10,	/* 11 xor; sub $16: more */
	0xff, 0xe1,				/* 17 jmp *%rcx */
	0x50, 0xff, 0xd0, 0x58, 0xff, 0xe1,	/* 19 push, call, pop; jmp */
	0x55, 0x50, 0x89, 0xc8,			/* 1f push, push: all registers */
	0x48, 0x89, 0xcc, 0xff, 0xe1,		/* 23 mov %rcx,%rsp; jmp *%rcx */
	0x31, 0xc0, 0x48, 0x83, 0xc4, 0x08,	/* 28 xor; add $8 */
	0x5b, 0x5d, 0xc3,			/* 2e pop, pop, ret */
	0xe8, 2, 0, 0, 0, 0xff, 0xe1,		/* 31 call 38; jmp *%rcx */
	0x85, 0xc0, 0x74, 0x01, 0xc3,		/* 38 test; je 3d; ret */
	0x90, 0xeb, 0xfc,			/* 3d nop; jmp 3c */
	0xff, 0xe1,				/* 40 jmp *%rcx */
};

/* What gcc moves out of a function's way, and ends with a call. */
static const uint8_t cold[] = {
	0xe8, 0, 0, 0, 0, 0x48, 0x89, 0xc7, 0xe8, 0, 0, 0, 0,
};

/* By rbp: push; mov %rsp,%rbp; call *%rax; leave; ret */
static const uint8_t by_rbp[] = {
	0x55, 0x48, 0x89, 0xe5, 0xff, 0xd0, 0xc9, 0xc3,
};

static void check_framed(void)
{
	struct sfjit_row row = { .cfa = { 32, 7, SFJIT_BASE_REG, 0, 0 } };

	framed_is("entered, left, or not there", &row, 1, framed,
		  sizeof(framed), "0-6 a-f 17-19 1a-1d 1f-26 2e-31 38-40");
	framed_is("with more rows", &row, 2, framed, sizeof(framed), "");
	framed_is("a cold part", &row, 1, cold, sizeof(cold), "");
	row.cfa.offset = 8;
	framed_is("a function's entry", &row, 1, framed, sizeof(framed), "");
	row.cfa = (struct sfjit_rule){ 16, 6, SFJIT_BASE_REG, 0, 0 };
	framed_is("by the frame pointer", &row, 1, by_rbp, sizeof(by_rbp),
		  "0-4 7-8");
}

/* More than there is room for, and any instructions. */
static void check_framed_bounds(void)
{
	const struct sfjit_row row = { .cfa = { 32, 7, SFJIT_BASE_REG, 0, 0 } };
	struct sfjit_function f = { .nr_rows = 1, .rows = &row };
	struct bare_range ranges[BARE_FALSE_MAX];
	uint8_t text[4 * (BARE_FALSE_MAX + 2)];
	bool good = true;
	unsigned int i, j;
	size_t nr;

	for (i = 0; i < sizeof(text); i += 4)
		memcpy(text + i, (uint8_t []){ 0xc3, 0x90, 0xff, 0xe1 }, 4);
	framed_is("too many", &row, 1, text, sizeof(text), "0-208");
	srandom(1);
	for (i = 0; i < 20000; i++) {
		for (j = 0; j < sizeof(text); j++)
			text[j] = random() % 3 ? random() : 0xc3;
		f.size = random() % sizeof(text);
		nr = bare_false(&f, text, ranges);
		for (j = 0; j < nr; j++)
			good &= ranges[j].start < ranges[j].end &&
				ranges[j].end <= f.size &&
				(!j || ranges[j - 1].end < ranges[j].start);
	}
	TRUE("random bytes: sorted, apart and inside", good);
}

int main(void)
{
	check_resumes();
	check_framed();
	check_framed_bounds();
	return finish();
}
