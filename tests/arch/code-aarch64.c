// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: AArch64's leaves, jumps of linkers, returns from signals, and
 * empty functions are known by their instructions, and nothing else is.
 */
#include <stdio.h>
#include <stdlib.h>

#include <bare.h>
#include <code.h>

#include "../lib/tap.h"
#include "leaves.h"

struct pattern {
	const char	*name;
	const uint32_t	*text;
	uint32_t	size;
	const char	*leaves;	/* "START-END[:ROW] ..." */
};

#define TEXT(...) \
	.text = (const uint32_t []){ __VA_ARGS__ }, \
	.size = sizeof((uint32_t []){ __VA_ARGS__ })

#define RET	0xd65f03c0
#define NOP	0xd503201f

static const struct pattern patterns[] = {
	{ "a loop", TEXT(0xf8408401,		/* 0 ldr x1, [x0], #8 */
			 0xf1000442,		/* 4 subs x2, x2, #1 */
			 0x54ffffc1,		/* 8 b.ne 0 */
			 RET), "0-10" },
	{ "a loop without an end", TEXT(NOP, 0x17ffffff, RET), "8-c" },
	{ "a frame", TEXT(0xf81f0ffe,		/* 0 str x30, [sp, #-16]! */
			  0x52800020,		/* 4 mov w0, #1 */
			  0xf84107fe,		/* 8 ldr x30, [sp], #16 */
			  RET), "c-10" },
	{ "a frame record", TEXT(0xa9bf7bfd, 0x910003fd, NOP, 0xa8c17bfd, RET),
	  "10-14" },
	{ "a frame of no registers", TEXT(0xd10083ff, 0xf90003e0, 0x910083ff,
					  RET), "c-10" },
	{ "a call", TEXT(NOP, 0x94000010, NOP, RET), "8-10" },
	{ "a call of a pointer", TEXT(0xd63f0000, RET), "4-8" },
	{ "a way to a frame", TEXT(0xb4000060,	/* 0 cbz x0, c */
				   NOP, RET, 0xf81f0ffe, 0xf84107fe, RET),
	  "4-c 14-18" },
	{ "a way by a bit", TEXT(0x36000060, NOP, RET, 0xf81f0ffe, RET),
	  "4-c 10-14" },
	{ "a way out", TEXT(0xb4000200, NOP, RET), "4-c" },
	{ "a jump through a pointer", TEXT(NOP, 0xd61f0000, NOP, RET), "8-10" },
	{ "a switch of stacks", TEXT(0x9100001f,	/* mov sp, x0 */
				     NOP, RET), "4-c" },
	{ "comparisons of the stack pointer", TEXT(0xeb20603f, 0xf10003ff,
						   RET), "0-c" },
	{ "an addition to it", TEXT(0x8b2063ff, RET), "4-8" },
	{ "logic", TEXT(0xf2400c1f,		/* tst x0, #0xf */
			0x927cec1f,		/* and sp, x0, #~0xf */
			RET), "8-c" },
	{ "the frame pointer", TEXT(0xaa0003fd, RET), "4-8" },
	{ "the return address", TEXT(0xaa0003fe, NOP, RET), "4-c" },
	{ "loads of them", TEXT(0xf940001d, RET,	/* ldr x29, [x0] */
				0xa9407800, RET,	/* ldp x0, x30, [x0] */
				0xf840041e, RET,	/* ldr x30, [x0], #0 */
				0x5800001e, RET),	/* ldr x30, literal */
	  "4-8 c-10 14-18 1c-20" },
	{ "exclusive ones", TEXT(0xc87f7c1e, RET,	/* ldxp x30, x31 */
				 0xc81e7c01, RET,	/* stxr w30, x1, [x0] */
				 0xc81f7c01, RET),
	  "4-8 c-18" },
	{ "immediates that look like them", TEXT(0xf9407401,	/* #232 */
						 0xf95e7801, RET), "0-c" },
	{ "pairs and vectors in registers 29 and 30",
	  TEXT(0xad40781d, 0x4ea01c1e, 0x1e60401d, RET), "0-10" },
	{ "conversions to them", TEXT(0x9e66001e, RET,	/* fmov x30, d0 */
				      0x4e083c1d, RET),	/* umov x29, v0.d[0] */
	  "4-8 c-10" },
	{ "a post-indexed structure", TEXT(0x4cdf7000, 0x4cdf73e0, RET),
	  "8-c" },
	{ "signed", TEXT(0xd503233f, NOP, 0xd50323bf, RET, 0xd65f0bff),
	  "0-14" },
	{ "system registers", TEXT(0xd53bd040, 0xd51b4200, 0xd50b7420, RET,
				   0xd53bd05e, RET), "0-10 14-18" },
	{ "scalable vectors", TEXT(0x043f57ff, RET), "4-8" },
	{ "no instruction", TEXT(0, RET), "4-8" },
	{ "a system call", TEXT(0xd2800e28, 0xd4000001, RET), "0-c" },
	{ "one without a number", TEXT(NOP, 0xd4000001, RET), "8-c" },
	{ "clone", TEXT(0xd2801b88, 0xd4000001, RET), "8-c" },
	{ "clone3", TEXT(0x52803668, 0xd4000001, RET), "8-c" },
	{ "a breakpoint", TEXT(NOP, 0xd4200000, RET), "8-c" },
	{ "return from a signal", TEXT(RET, NOP, 0xd2801168, 0xd4000001),
	  "0-4 4-10:255" },
	{ "after something else", TEXT(RET, 0xaa0003e1, 0xd2801168,
					0xd4000001), "0-8 8-10:255" },
	{ "entries of a PLT", TEXT(0xa9bf7bf0, 0xf00001f0, 0xf947fe11,
				   0x913fe210, 0xd61f0220, NOP, NOP, NOP,
				   0x90000210, 0xf9400211, 0x91000210,
				   0xd61f0220), "0-4 4-14:1 14-30" },
	{ "a signed one", TEXT(0xd503245f, 0x90000210, 0xf9400211, 0x91000210,
			       0xd503219f, 0xd61f0220), "0-18" },
	{ "without its load", TEXT(0x90000210, 0x91000210, 0xd61f0220), "" },
	{ "stubs", TEXT(0x90000210, 0x91000210, 0xd61f0200,
			0x90000210, 0xf9400210, 0xd61f0200), "0-18" },
	{ "a stub's jump", TEXT(NOP, 0xd61f0200), "" },
	{ "half an instruction", (const uint32_t []){ RET, RET }, 6, "0-4" },
};

static void check_pattern(const struct pattern *p)
{
	leaves_are(p->name, p->text, p->size, p->leaves);
}

/* A PLT entry, or code like it, after a leaf. */
static void check_links(void)
{
	static const uint32_t text[] = {
		RET, NOP, 0xa9bf7bf0, 0xf00001f0, 0xf947fe11, 0x913fe210,
		0xd61f0220, NOP, 0x90000210, 0xf9400211, 0x91000210, 0xd61f0220,
	};
	struct bare_range *ranges;
	size_t nr;

	MUST(!bare_leaves((const uint8_t *)text, sizeof(text), true, &ranges,
			  &nr));
	TRUE("links alone", nr == 3 && ranges[0].start == 8 &&
	     ranges[0].end == 12 && ranges[1].start == 12 &&
	     ranges[1].end == 28 && ranges[2].start == 32 &&
	     ranges[2].end == 48);
	free(ranges);
}

/* sframegen's, of glibc 2.36. */
static void check_correct(void)
{
	const struct sfjit_rule none = SFJIT_NO_RULE;
	struct sfjit_row rows[] = {
		{ 0, 0, SFJIT_REG(31, 0), none, none },
		{ 4, 0, SFJIT_REG(31, 208), SFJIT_SAVED(8), none },
		{ 8, 0, SFJIT_REG(31, -16), SFJIT_SAVED(8), none },
	};

	bare_correct(rows, 1);
	TRUE("rows without a false one", !rows[0].cfa.offset);
	bare_correct(rows, 3);
	TRUE("rows of what binds functions", rows[0].cfa.offset == 16 &&
	     !rows[0].ra.base && rows[1].cfa.offset == 224 &&
	     rows[1].ra.offset == -8 && !rows[2].cfa.offset &&
	     !rows[2].ra.base);
}

/* As gcc makes _Unwind_Resume_or_Rethrow(), shorter. */
static const uint32_t rethrow[] = {
	0xa9be7bfd,		/*  0 stp x29, x30, [sp, #-32]! */
	0x94000010,		/*  4 bl */
	0xaa0003e4,		/*  8 mov x4, x0: no end follows */
	0xb4000060,		/*  c cbz x0, 18 */
	0xd2800004,		/* 10 mov x4, #0 */
	0x14000005,		/* 14 b 28 */
	0x94000010,		/* 18 bl: registers */
	0xaa0003e4,		/* 1c mov x4, x0 */
	0x94000010,		/* 20 bl: of a debugger */
	0x14000002,		/* 24 b 2c */
	NOP,			/* 28 */
	0xa8c27bfd,		/* 2c ldp x29, x30, [sp], #32 */
	0x8b2463ff,		/* 30 add sp, sp, x4 */
	RET,
};

static void find_false(const char *name, const uint32_t *text, size_t nr,
		       const char *wanted)
{
	const struct sfjit_function f = { .size = 4 * nr };

	false_are(name, &f, text, wanted);
}

static void check_false(void)
{
	uint32_t text[14];

	find_false("the end of an unwinder", rethrow, 14, "18-28 2c-34 ");
	find_false("cut off", rethrow, 12, "");
	memcpy(text, rethrow, sizeof(text));
	text[13] = 0xd61f00c0;
	find_false("one that jumps", text, 14, "18-28 2c-38 ");
	text[12] = 0x8b2563ff;
	find_false("another register", text, 14, "");
	text[12] = rethrow[12];
	text[10] = text[11] = 0x94000010;
	text[9] = NOP;
	find_false("more calls", text, 14, "");
	text[9] = 0x17ffffff;
	find_false("a loop", text, 14, "");
	text[9] = 0x14ffffff;
	find_false("a way out", text, 14, "");
}

static size_t jumps(const uint32_t *code, size_t nr)
{
	return code_jumps((const uint8_t *)code, 4 * nr);
}

static void check_jumps(void)
{
	static const uint32_t code[] = {
		0x90000210, 0xf9400210, 0xd61f0200,
		0xd2e00010, 0xf2d55570, 0xf2b55570, 0xf2955570, 0xd61f0200,
		0x90000210, 0xf9400210, 0xd61f0220,
	};

	IS("jumps of JITs' linkers", jumps(code, 11), 32);
	IS("half of one", jumps(code, 7), 12);
	IS("another register", jumps(code + 8, 3), 0);
	IS("no code", jumps(code, 0), 0);
}

static size_t empty(const uint32_t *code, size_t nr)
{
	return code_empty((const uint8_t *)code, 4 * nr);
}

static void check_empty(void)
{
	static const uint32_t code[] = {
		0xd503245f, 0xa9bf7bfd, 0x910003fd, NOP, 0xa8c17bfd, RET,
		0xd503233f, 0xd50323bf, RET, 0x52800020, RET,
	};

	IS("an empty function", empty(code + 5, 6), 4);
	IS("where its return is", code_divert_at((const void *)(code + 5), 24),
	   0);
	IS("with a landing pad and a frame", empty(code, 11), 24);
	IS("where its return is", code_divert_at((const void *)code, 44), 20);
	IS("with a signature", empty(code + 6, 5), 12);
	IS("without an end", empty(code, 5), 0);
	IS("one with a result", empty(code + 9, 2), 0);
	IS("no code", empty(code, 0), 0);
}

static void check_divert(void)
{
	const uintptr_t at = 0x10000000;
	uint8_t code[CODE_DIVERT_SIZE];

	TRUE("a jump forwards", code_divert(code, at, at + 0x7fffffc) &&
	     code_word(code) == 0x15ffffff);
	TRUE("a jump backwards", code_divert(code, at, at - 0x8000000) &&
	     code_word(code) == 0x16000000);
	TRUE("too far", !code_divert(code, at, at + 0x8000000) &&
	     !code_divert(code, at, at - 0x8000004));
}

/* The headers of a module, and its property. */
static void check_protection(void)
{
	static struct {
		ElfW(Ehdr) eh;
		ElfW(Phdr) ph[2];
		ElfW(Nhdr) note;
		char name[4];
		uint32_t type, size, value, fill;
	} m = {
		.eh = { .e_phoff = sizeof(m.eh), .e_phnum = 2 },
		.ph[1] = {
			.p_type = PT_GNU_PROPERTY, .p_filesz = 32,
			.p_offset = offsetof(typeof(m), note),
		},
		.note = { 4, 16, NT_GNU_PROPERTY_TYPE_0 },
		.name = "GNU",
		.type = GNU_PROPERTY_AARCH64_FEATURE_1_AND, .size = 4,
		.value = GNU_PROPERTY_AARCH64_FEATURE_1_BTI,
	};

	if (getauxval(AT_HWCAP2) & HWCAP2_BTI)
		IS("text that is guarded", code_protection(&m), PROT_BTI);
	else
		skip("text that is guarded", "the processor has no such");
	m.value = GNU_PROPERTY_AARCH64_FEATURE_1_PAC;
	IS("text with signatures only", code_protection(&m), 0);
	m.value = GNU_PROPERTY_AARCH64_FEATURE_1_BTI;
	m.ph[1].p_offset = 4096;
	IS("a property farther away", code_protection(&m), 0);
	m.ph[1].p_offset = offsetof(typeof(m), note);
	m.eh.e_phnum = 1;
	IS("text without a property", code_protection(&m), 0);
	m.eh.e_phnum = 2;
	m.eh.e_phoff = 4096;
	IS("headers farther away", code_protection(&m), 0);
}

static void check_random(void)
{
	uint32_t text[300 / 4], i, j;
	bool good = true;

	srandom(1);
	for (i = 0; i < 20000; i++) {
		for (j = 0; j < 75; j++)
			text[j] = random() % 3 ? random() << 1 : RET;
		good &= leaves_are_sorted(text, random() % sizeof(text));
	}
	TRUE("random words: sorted, apart and inside", good);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		check_pattern(patterns + i);
	check_links();
	check_correct();
	check_false();
	check_jumps();
	check_empty();
	check_divert();
	check_protection();
	check_random();
	return finish();
}
