// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: s390x's leaves, jumps of linkers, returns from signals, and
 * empty functions are known by their instructions, and nothing else is.
 */
#include <stdio.h>
#include <stdlib.h>

#include <bare.h>
#include <code.h>
#include <sframegen.h>

#include "../lib/tap.h"
#include "leaves.h"

#define TEXT_MAX	160

struct pattern {
	const char	*name;
	const char	*text;		/* in hex digits */
	const char	*leaves;	/* "START-END[:ROW] ..." */
};

#define BR		"07fe "
#define NOPR		"0707 "

static const struct pattern patterns[] = {
	{ "a loop", "e31020000004 "		/* 0 lg %r1,0(%r2) */
		    "41202008 "			/* 6 la %r2,8(%r2) */
		    "a737fffb "			/* a brctg %r3,0 */
		    BR, "0-10" },
	{ "a loop without an end", NOPR "a7f4ffff " BR, "6-8" },
	{ "a frame", "ebeff0700024 "		/* 0 stmg %r14,%r15,112(%r15) */
		     "a7fbff60 "		/* 6 aghi %r15,-160 */
		     "a7290001 "		/* a lghi %r2,1 */
		     "ebeff1100004 "		/* e lmg %r14,%r15,272(%r15) */
		     BR, "14-16" },
	{ "a frame pointer", "b3c1000b b90400bf 0700 b3cd00b0 " BR, "e-10" },
	{ "a frame by lay", "e3f0ff60ff71 " BR, "6-8" },
	{ "a return address in a vector register",
	  "b3c1002e 1812 b3cd00e2 " BR, "a-c" },
	{ "registers of a callee", "eb67f0300024 18661877 eb67f0300004 " BR,
	  "0-12" },
	{ "all of them", "eb6df0300024 186617bb eb6df0300004 " BR, "10-12" },
	{ "a range around the end", "eb c3 f0 30 00 04 " BR
				    "98f0f000 " BR "98c3f000 " BR,
	  "6-8 c-e 12-14" },
	{ "a call", NOPR "c0e500000010 " NOPR BR, "8-c" },
	{ "a call of a pointer", "0de1 " BR, "2-4" },
	{ "an address", "0d10 " BR, "0-4" },
	{ "a way to a frame", "ec280006007c "	/* 0 cgij %r2,0,8,c */
			      NOPR BR NOPR NOPR	/* 6 8 a c */
			      "a7fbff60 " BR, "6-a 12-14" },
	{ "a return on a condition", "078e 1811 " BR, "0-6" },
	{ "one on none", "070e 1811 " BR, "0-6" },
	{ "a way out", "a7840100 " NOPR BR, "4-8" },
	{ "a jump that never does", "a7040100 c00400000100 " BR, "0-c" },
	{ "a jump through a pointer", NOPR "07f1 " NOPR BR, "4-8" },
	{ "one on a condition", NOPR "0782 " BR, "4-6" },
	{ "one that a register counts", "0612 " BR "0610 " BR, "2-8" },
	{ "an entry of a table", "47f01000 " BR, "4-6" },
	{ "areas", "0e24 " BR "0ef4 " BR "0f2e " BR, "0-4 6-8 a-c" },
	{ "products", "1d21 " BR "1dee " BR "b986002a " BR "b98600ea " BR,
	  "0-4 6-e 12-14" },
	{ "comparisons of the three", "19fe b92000fe 55e0f000 e3f0f0000021 "
				      "c2ff00000001 a7ef0001 " BR, "0-1c" },
	{ "stores of them", "50e0f070 e3f0f0780024 ebbff0580024 c4eb00000010 "
			    BR, "0-18" },
	{ "loads of them", "58e0f070 " BR "e3e0f0700004 " BR "c4e800000010 " BR,
	  "4-6 c-e 14-16" },
	{ "numbers in them", "a7b80001 " BR "c0e100000001 " BR "a5ee0001 " BR,
	  "4-6 c-e 12-14" },
	{ "other numbers", "a7a80001 c0d100000001 a5ce0001 " BR, "0-10" },
	{ "a distance to another register", "eca200500059 ece200500059 " BR,
	  "c-e" },
	{ "copies", "18ef " BR "b90400e1 " BR "b9e810e2 " BR "b9e8e012 " BR,
	  "2-4 8-a e-16" },
	{ "floating point 14 and 15", "28ef 60e0f000 68f0f000 b30a00ef "
				      "ede0f000001a " BR, "0-16" },
	{ "conversions", "b3a80020 " BR "b3a800e0 " BR, "0-6 a-c" },
	{ "vectors 14 and 15", "e7e0f0000006 e7f0f000000e e7efe0000074 " BR,
	  "0-14" },
	{ "an element of one", "e72100003021 " BR "e7e100003021 " BR,
	  "0-8 e-10" },
	{ "areas of memory", "d207f000e000 d707f000e000 dd00f000e000 " BR,
	  "0-14" },
	{ "an area by its length", "c62000000004 " BR	/* 0 exrl %r2,8 */
				   "d200f000e000 " BR, "0-10" },
	{ "a register's instruction", "c62000000004 " BR "18e1 " BR,
	  "6-8 a-c" },
	{ "what is elsewhere", "c62000001004 " BR "44201000 " BR, "6-8 c-e" },
	{ "a literal pool", "a7d50004 "		/* 0 bras %r13,8 */
			    "18e1 18e1 "	/* 4 data */
			    BR, "0-4 8-a" },
	{ "atomics", "ba120000 eb12000000f8 eb1e000000f8 " BR, "0-12" },
	{ "a transaction", "e56010000000 " BR, "6-8" },
	{ "no instruction", "0000 " BR, "2-4" },
	{ "what is not known", "b22000ff " BR "eb00000000ff " BR, "4-6 c-e" },
	{ "a system call", "0a05 " BR, "0-4" },
	{ "one by r1", "a7190116 0a00 " BR "a7180116 0a00 " BR, "0-10" },
	{ "one without a number", NOPR "0a00 " BR, "4-6" },
	{ "another register", "a7290116 0a00 " BR, "6-8" },
	{ "clone", "0a78 " BR, "2-4" },
	{ "clone3", "a71901b3 0a00 " BR, "6-8" },
	{ "return from a signal", BR "0aad " "0000 " NOPR "0a77 0000 " BR,
	  "0-2 2-4:255 6-a:255 c-e" },
	{ "one by r1", "a71900ad 0a00 " BR, "6-8" },
	{ "entries of a PLT", "e310f0380024 c01000001000 d207f0301008 "
			      "e31010100004 07f1 070007000700 "
			      "c01000001000 e31010000004 07f1 "
			      "0d10 e310100c0014 c0f4ffffffe5 0000c018 "
			      "c01000001000 e31010000004 07f1 "
			      "0d10 e310100c0014 c0f4ffffffd5 00010018 "
			      BR, "0-3c 40-5c 60-62" },
	{ "half of an entry", "c01000001000 e31010000004 07f1 0d10 ", "" },
	{ "half an instruction", BR "e310", "0-2" },
	{ "a byte", BR "07", "0-2" },
};

static size_t bytes(uint8_t *to, const char *hex)
{
	size_t n = 0;
	int length;

	for (; sscanf(hex, " %2hhx%n", to + n, &length) == 1; hex += length)
		MUST(++n < TEXT_MAX);
	return n;
}

static void check_pattern(const struct pattern *p)
{
	uint8_t text[TEXT_MAX];

	leaves_are(p->name, text, bytes(text, p->text), p->leaves);
}

/* A PLT entry after a leaf. */
static void check_links(void)
{
	struct bare_range *ranges;
	uint8_t text[TEXT_MAX];
	size_t nr, n;

	n = bytes(text, BR "c01000001000 e31010000004 07f1 "
		  "0d10 e310100c0014 c0f4fffffff5 00000000 " BR);
	MUST(!bare_leaves(text, n, true, &ranges, &nr));
	TRUE("links alone", nr == 1 && ranges[0].start == 2 &&
	     ranges[0].end == 30);
	free(ranges);
}

static void check_signal(void)
{
	const uint8_t text[] = { 0x0a, 0xad, 0, 0 }, other[] = { 0x0a, 5 },
		      old[] = { 0x0a, 0x77 };

	TRUE("rt_sigreturn", bare_signal(text, 4) && bare_signal(text, 2));
	TRUE("sigreturn", bare_signal(old, 2));
	TRUE("others", !bare_signal(text, 1) && !bare_signal(text + 1, 3) &&
	     !bare_signal(other, 2));
}

/* As gcc makes _Unwind_Resume_or_Rethrow(), shorter. */
#define RETHROW_START		\
	"eb6ff0300024 "		/*  0 stmg %r6,%r15,48(%r15) */ \
	"e3f0ff00ff71 "		/*  6 lay %r15,-256(%r15) */ \
	"e31020100002 "		/*  c ltg %r1,16(%r2) */ \
	"a7740008 "		/* 12 jne 22 */ \
	"c0e500000010 "		/* 16 brasl %r14 */ \
	"ebeff1700004 "		/* 1c lmg %r14,%r15,368(%r15) */ \
	BR			/* 22 */ \
	"c0e500000010 "		/* 24 brasl %r14 */ \
	"c0e500000010 "		/* 2a brasl %r14: registers */ \
	"b9040023 "		/* 30 lgr %r2,%r3 */ \
	"c0e500000010 "		/* 34 brasl %r14: of a debugger */
#define RETHROW_STORE		\
	"e360f1700024 "		/* 3a stg %r6,368(%r15) */
#define RETHROW_JUMP		\
	"a7f4ffee "		/* 40 j 1c */

static void find_false(const char *name, const char *hex, const char *wanted)
{
	const struct sfjit_row rows[] = {
		{ 0, 0, SFJIT_REG(15, 160), SFJIT_NO_RULE, SFJIT_NO_RULE },
		{ 6, 0, SFJIT_REG(15, 160), SFJIT_SAVED(-48),
		  SFJIT_SAVED(-72) },
		{ 12, 0, SFJIT_REG(15, 416), SFJIT_SAVED(-48),
		  SFJIT_SAVED(-72) },
	};
	uint8_t text[TEXT_MAX];
	const struct sfjit_function f = {
		.size = bytes(text, hex), .nr_rows = 3, .rows = rows,
	};

	false_are(name, &f, text, wanted);
}

static void check_false(void)
{
	find_false("the end of an unwinder",
		   RETHROW_START RETHROW_STORE RETHROW_JUMP, "1c-22 2a-44 ");
	find_false("straight on", RETHROW_START RETHROW_STORE
		   "68f0f0f8 eb6ff1300004 " BR, "2a-4a ");
	find_false("cut off", RETHROW_START RETHROW_STORE, "");
	find_false("r14 itself",
		   RETHROW_START "e3e0f1700024 " RETHROW_JUMP, "");
	find_false("another place",
		   RETHROW_START "e360f1780024 " RETHROW_JUMP, "");
	find_false("another base",
		   RETHROW_START "e36011700024 " RETHROW_JUMP, "");
	find_false("a way out", RETHROW_START RETHROW_STORE "a7f40100 ", "");
	find_false("a choice", RETHROW_START RETHROW_STORE "a784ffee ", "");
	find_false("a loop", RETHROW_START RETHROW_STORE "a7f40000 ", "");
	find_false("one call", "eb6ff0300024 e3f0ff00ff71 c0e500000010 "
		   RETHROW_STORE "eb6ff1300004 ", "");
}

static size_t jumps(const char *hex)
{
	uint8_t text[TEXT_MAX];

	return code_jumps(text, bytes(text, hex));
}

static void check_jumps(void)
{
	IS("jumps of JITs' linkers", jumps("c41800001000 07f1 "
					   "c41800000004 07f1 0123456789abcdef "
					   "c41800001000 07f1 " BR), 32);
	IS("half of one", jumps("c41800001000 07"), 0);
	IS("another register", jumps("c42800001000 07f2"), 0);
	IS("a call", jumps("c41800001000 0de1"), 0);
	IS("no code", jumps(""), 0);
}

static size_t empty(const char *hex)
{
	uint8_t text[TEXT_MAX];

	return code_empty(text, bytes(text, hex));
}

static void check_empty(void)
{
	uint8_t text[TEXT_MAX];
	size_t n = bytes(text, BR NOPR NOPR NOPR "eb6ff0300024");

	IS("an empty function", code_empty(text, n), 2);
	IS("its padding", sfg_padding(SFG_HOST_ABI, text + 2, n - 2), 6);
	IS("with a frame pointer",
	   empty("b3c1000b b90400bf 0700 b3cd00b0 " BR NOPR), 16);
	IS("without a nop", empty("b3c1000b b90400bf b3cd00b0 " BR), 14);
	IS("with a save area",
	   empty("ebbff0580024 b90400bf ebbfb0580004 " BR), 18);
	IS("without an end", empty("b3c1000b b90400bf 0700 b3cd00b0 "), 0);
	IS("one with a result", empty("a7290001 " BR), 0);
	IS("one that returns on a condition", empty("078e"), 0);
	IS("no code", empty(""), 0);
}

static int32_t jump_to(const uint8_t *code)
{
	int32_t halfwords;

	MUST(code[0] == 0xc0 && code[1] == 0xf4);
	memcpy(&halfwords, code + 2, sizeof(halfwords));
	return halfwords;
}

static void check_divert(void)
{
	const uintptr_t at = 0x1000000000;
	uint8_t code[CODE_DIVERT_SIZE];

	TRUE("a jump forwards", code_divert(code, at, at + 0xfffffffe) &&
	     jump_to(code) == 0x7fffffff);
	TRUE("a jump backwards", code_divert(code, at, at - 0x100000000) &&
	     jump_to(code) == INT32_MIN);
	TRUE("too far", !code_divert(code, at, at + 0x100000000) &&
	     !code_divert(code, at, at - 0x100000002));
}

static void check_random(void)
{
	uint8_t text[300];
	bool good = true;
	size_t i, j;

	srandom(1);
	for (i = 0; i < 20000; i++) {
		for (j = 0; j < sizeof(text); j++)
			text[j] = random();
		for (j = 0; j + 1 < sizeof(text); j += 2)
			if (random() % 4 == 0)
				memcpy(text + j, "\x07\xfe", 2);
		good &= leaves_are_sorted(text, random() % sizeof(text));
	}
	TRUE("random bytes: sorted, apart and inside", good);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		check_pattern(patterns + i);
	check_links();
	check_signal();
	check_false();
	check_jumps();
	check_empty();
	check_divert();
	IS("protection of text", code_protection(NULL), 0);
	check_random();
	return finish();
}
