// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: rows are made from the instructions of compiled methods, stubs
 * and the interpreter; what is not certain has none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include <x86_insn.h>

#include "../../lib/tap.h"

static const char *const reg_names[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
	"r10", "r11", "r12", "r13", "r14", "r15",
};

static int print_rule(char *to, const struct sfjit_rule *rule)
{
	const char *base = rule->base == SFJIT_BASE_CFA ? "cfa" :
			   reg_names[rule->reg & 15];

	if (rule->base == SFJIT_BASE_NONE)
		return sprintf(to, "-");
	return sprintf(to, rule->deref ? "*%s%+d" : "%s%+d", base,
		       rule->offset);
}

/* "START:CFA,RA,FP", with "START:end" for no rules. */
static void print_rows(char *to, const struct flow_rows *rows)
{
	const struct sfjit_row *row;
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		row = rows->rows + i;
		to += sprintf(to, "%s%x:", i ? " " : "", row->start);
		if (row->cfa.base == SFJIT_BASE_NONE) {
			to += sprintf(to, "end");
			continue;
		}
		to += print_rule(to, &row->cfa);
		*to++ = ',';
		to += print_rule(to, &row->ra);
		*to++ = ',';
		to += print_rule(to, &row->fp);
	}
	*to = '\0';
}

struct pattern {
	const char		*name;
	struct flow_code	code;
	struct flow_entry	entries[3];
	const char		*rows;
};

#define TEXT(...) \
	.text = (const uint8_t []){ __VA_ARGS__ }, \
	.size = sizeof((uint8_t []){ __VA_ARGS__ })

static const struct pattern patterns[] = {
	{ "a method with push %rbp", {
		TEXT(0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,
		     0x55,				/* 7 push %rbp */
		     0x48, 0x83, 0xec, 0x10,		/* 8 sub $16, %rsp */
		     0x41, 0x81, 0x7f, 0x20, 1, 0, 0, 0, /* c cmpl, 32(%r15) */
		     0x75, 0x13,			/* 14 jne 29 */
		     0xe8, 0, 1, 0, 0,			/* 16 call */
		     0x48, 0x83, 0xc4, 0x10,		/* 1b add $16, %rsp */
		     0x5d,				/* 1f pop %rbp */
		     0x49, 0x3b, 0x67, 0x28,		/* 20 cmp, %rsp */
		     0x77, 0x08,			/* 24 ja 2e */
		     0xc3,				/* 26 ret */
		     0x90, 0x90,
		     0xe8, 0, 1, 0, 0,			/* 29 call */
		     0xe9, 0, 1, 0, 0,			/* 2e jmp, after ja */
		     0xf4),
		.frame = 32, .rest = FLOW_NOTHING,
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 8:rsp+16,-,*cfa-16 c:rsp+32,-,*cfa-16 "
	  "1f:rsp+16,-,*cfa-16 20:rsp+8,-,- 27:end 29:rsp+32,-,*cfa-16 "
	  "2e:end" },
	{ "a method with mov %rbp", {
		TEXT(0x48, 0x81, 0xec, 0x28, 0, 0, 0,	/* sub $40, %rsp */
		     0x48, 0x89, 0x6c, 0x24, 0x20,	/* 7 mov %rbp, 32() */
		     0x48, 0x8b, 0xe8,			/* c mov %rax, %rbp */
		     0xff, 0xd0,			/* f call *%rax */
		     0x48, 0x83, 0xc4, 0x20,		/* 11 add $32, %rsp */
		     0x5d, 0xc3),			/* 15 pop, ret */
		.frame = 48,
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 7:rsp+48,-,- c:rsp+48,-,*cfa-16 15:rsp+16,-,*cfa-16 "
	  "16:rsp+8,-,-" },
	{ "code that a table leads to", {
		TEXT(0x55, 0x48, 0x83, 0xec, 0x10,	/* push, sub */
		     0xff, 0x24, 0xc5, 0, 0, 0, 0,	/* 5 jmp *(,%rax,8) */
		     0x90,				/* c by table */
		     0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3),
		.frame = 32, .rest = FLOW_FRAME, .rest_from = 5,
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 1:rsp+16,-,*cfa-16 5:rsp+32,-,*cfa-16 "
	  "11:rsp+16,-,*cfa-16 12:rsp+8,-,-" },
	{ "a method that may not be entered any more", {
		TEXT(0xe9, 0, 1, 0, 0, 0x24, 0x55,	/* jmp, a rest */
		     0x48, 0x83, 0xec, 0x10, 0x90),
		.frame = 32, .rest = FLOW_FRAME, .rest_from = 11,
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 5:end b:rsp+32,-,*cfa-16" },
	{ "the deoptimisation handler", {
		TEXT(0x90,
		     0xe8, 0, 0, 0, 0,			/* 1 call 6 */
		     0x48, 0x83, 0x2c, 0x24, 0x05,	/* 6 subq $5, (%rsp) */
		     0xe9, 0, 1, 0, 0),
		.frame = 48,
	  }, { { 0, FLOW_FRAME } },
	  "0:rsp+48,-,*cfa-16 6:rsp+56,-,*cfa-16" },
	{ "a stub for calls of the interpreter", {
		TEXT(0xc3,
		     0x48, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0,
		     0xe9, 0, 1, 0, 0),
		.frame = 48, .rest = FLOW_FRAME, .rest_from = 1,
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,-" },
	{ "a deoptimisation handler that is returned to", {
		TEXT(0x48, 0x83, 0xe4, 0xf0,		/* and $-16, %rsp */
		     0xe8, 0, 1, 0, 0,			/* 4 call */
		     0xf4,				/* 9 hlt */
		     0xe8, 0, 0, 0, 0,			/* a call f */
		     0xe9, 0, 1, 0, 0),
		.frame = 48, .returned_to = 10,
	  }, { { 0, FLOW_FRAME }, { 10, FLOW_FRAME } },
	  "0:rsp+48,-,*cfa-16 4:end 9:rsp+48,-,*cfa-16 f:rsp+56,-,*cfa-16" },
	{ "a stack pointer at the CFA", {
		TEXT(0x4c, 0x8d, 0x6c, 0x24, 0x08,	/* lea 8(%rsp), %r13 */
		     0x58,				/* 5 pop %rax */
		     0x48, 0x83, 0xec, 0x10,		/* 6 sub $16, %rsp */
		     0x50,				/* a push %rax */
		     0xff, 0xe1),			/* b jmp *%rcx */
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 6:r13+0,rax+0,- a:rsp+16,rax+0,- b:rsp+24,*cfa-24,-" },
	{ "stubs that are aligned", {
		TEXT(0xc3,
		     0x66, 0x90,			/* nop */
		     0x0f, 0x1f, 0x44, 0, 0,		/* 3 nop */
		     0x48, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, /* 8 */
		     0xe9, 0, 1, 0, 0,
		     0x90,				/* 17 */
		     0x48, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, /* 18 */
		     0xe9, 0, 1, 0, 0,
		     0x90,				/* 27 no stub follows */
		     0x41, 0x90,			/* 28 xchg */
		     0xe9, 0, 1, 0, 0),
		.frame = 48, .rest = FLOW_FRAME, .rest_from = 1,
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 1:end 8:rsp+8,-,- 17:end 18:rsp+8,-,- "
	  "27:rsp+48,-,*cfa-16" },
	{ "code that leads to a stub", {
		TEXT(0xc3, 0x50,			/* ret, push %rax */
		     0x48, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0,
		     0xe9, 0, 1, 0, 0),
		.frame = 48, .rest = FLOW_FRAME, .rest_from = 1,
		.stubs_from = 2,
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 1:rsp+48,-,*cfa-16 2:end" },
	{ "ways that differ", {
		TEXT(0x85, 0xc0,			/* test */
		     0x74, 0x01,			/* 2 je 5 */
		     0x50,				/* 4 push %rax */
		     0x90,				/* 5 either */
		     0xc3),
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 5:end" },
	{ "an entry of the interpreter", {
		TEXT(0x58,				/* pop %rax */
		     0x6a, 0x00,			/* 1 push $0 */
		     0xff, 0xc9,			/* 3 dec %ecx */
		     0x7f, 0xfa,			/* 5 jg 1 */
		     0x50,				/* 7 push %rax */
		     0x55,				/* 8 push %rbp */
		     0x48, 0x89, 0xe5,			/* 9 mov %rsp, %rbp */
		     0x41, 0x55,			/* c push %r13 */
		     0x4c, 0x8b, 0x6b, 0x08,		/* e mov, %r13 */
		     0x49, 0x8b, 0x5d, 0x00,		/* 12 mov, %rbx */
		     0xff, 0xe3),			/* 16 jmp *%rbx */
	  }, { { 0, FLOW_SENDER } },
	  "0:r13+0,*rsp+0,- 1:r13+0,rax+0,- 8:r13+0,*rsp+0,- "
	  "9:r13+0,*rsp+8,*rsp+0 c:r13+0,*rbp+8,*rbp+0 "
	  "e:*rbp-8,*rbp+8,*rbp+0" },
	{ "a return of the interpreter", {
		TEXT(0x90,
		     0x48, 0x8b, 0x5d, 0xf8,		/* 1 mov -8(), %rbx */
		     0xc9,				/* 5 leave */
		     0x41, 0x5d,			/* 6 pop %r13 */
		     0x48, 0x8b, 0xe3,			/* 8 mov %rbx, %rsp */
		     0x41, 0xff, 0xe5),			/* b jmp *%r13 */
		.lead = 1,
	  }, { { 0, FLOW_SENDER_FRAME } },
	  "0:*rbp-8,*rbp+8,*rbp+0 7:rbx+0,*rsp+0,- 9:rbx+0,r13+0,-" },
	{ "an adapter", {
		TEXT(0x48, 0x8b, 0x04, 0x24,		/* mov (%rsp), %rax */
		     0x4c, 0x8b, 0xdc,			/* 4 mov %rsp, %r11 */
		     0x48, 0x83, 0xec, 0x18,		/* 7 sub $24, %rsp */
		     0x48, 0x83, 0xe4, 0xf0,		/* b and $-16, %rsp */
		     0x50,				/* f push %rax */
		     0x49, 0x8b, 0xc3,			/* 10 mov %r11, %rax */
		     0x41, 0xff, 0xe3,			/* 13 jmp *%r11 */
		     0x58,				/* 16 pop %rax */
		     0x4c, 0x8b, 0xec,			/* 17 mov %rsp, %r13 */
		     0x48, 0x83, 0xec, 0x10,		/* 1a sub $16, %rsp */
		     0x50,				/* 1e push %rax */
		     0xff, 0xe1),			/* 1f jmp *%rcx */
		.rest = FLOW_CALLED,
	  }, { { 0, FLOW_ADAPTER } },
	  "0:rsp+8,-,- b:rsp+32,-,- f:r11+8,-,- 10:rsp+8,-,- 17:rsp+0,rax+0,- "
	  "1a:r13+0,rax+0,- 1e:rsp+16,rax+0,- 1f:rsp+24,*cfa-24,-" },
	{ "the exception blob", {
		TEXT(0x52,				/* push %rdx */
		     0x48, 0x83, 0xec, 0x08,		/* 1 sub $8, %rsp */
		     0x48, 0x89, 0x2c, 0x24,		/* 5 mov %rbp, () */
		     0x48, 0x83, 0xe4, 0xf0,		/* 9 and $-16, %rsp */
		     0xff, 0xd0, 0x90),			/* d call *%rax */
	  }, { { 0, FLOW_JUMPED_RDX } },
	  "0:rsp+0,rdx+0,- 1:rsp+8,-,- 5:rsp+16,-,- 9:rsp+16,-,*cfa-16" },
	{ "the safepoint blob", {
		TEXT(0x53,				/* push %rbx */
		     0x55, 0x48, 0x89, 0xe5,		/* 1 push, mov */
		     0x48, 0x8b, 0x18,			/* 5 mov, %rbx */
		     0x48, 0x89, 0x5d, 0x08,		/* 8 mov %rbx, 8() */
		     0xff, 0xd0),			/* c call *%rax */
	  }, { { 0, FLOW_JUMPED } },
	  "0:end c:rbp+16,-,*cfa-16" },
	{ "a frame by %rbp", {
		TEXT(0x48, 0x8b, 0x45, 0x10, 0xc9, 0xc3),
	  }, { { 0, FLOW_FP_FRAME } },
	  "0:rbp+16,-,*cfa-16 5:rsp+8,-,-" },
	{ "a stack pointer that is aligned", {
		TEXT(0x55, 0x48, 0x89, 0xe5,		/* push, mov */
		     0x48, 0x83, 0xe4, 0xe0,		/* 4 and $-32, %rsp */
		     0xff, 0xd0,			/* 8 call */
		     0xc9, 0xc3),			/* a leave, ret */
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 1:rsp+16,-,*cfa-16 4:rbp+16,-,*cfa-16 b:rsp+8,-,-" },
	{ "a part that is called in the frame of a method", {
		TEXT(0xe8, 0x03, 0, 0, 0,		/* call 8 */
		     0xeb, 0x09, 0x90,			/* 5 jmp 10 */
		     0x48, 0x8d, 0x44, 0x24, 0x08,	/* 8 lea 8(), %rax */
		     0xff, 0xd0, 0xc3,			/* d call, ret */
		     0x90),
		.inner_calls = true,
	  }, { { 0, FLOW_SENDER_FRAME } },
	  "0:*rbp-8,*rbp+8,*rbp+0 7:end 8:*rbp-8,*rbp+8,*rbp+0" },
	{ "a part that is called", {
		TEXT(0x55,				/* push %rbp */
		     0xe8, 0x01, 0, 0, 0,		/* 1 call 7 */
		     0xf4,
		     0x90, 0xc3),			/* 7 nop, ret */
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 1:rsp+16,-,*cfa-16 7:rsp+8,-,-" },
	{ "a frame pointer that is lost", {
		TEXT(0x48, 0x8b, 0xe8,			/* mov %rax, %rbp */
		     0x90, 0xc3),
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 3:end" },
	{ "an instruction that is cut off", {
		TEXT(0x90, 0x48, 0x81),
	  }, { { 0, FLOW_CALLED } },
	  "0:rsp+8,-,- 2:end" },
	{ "entries outside", {
		TEXT(0x90, 0xc3),
	  }, { { 2, FLOW_CALLED }, { 4000000000u, FLOW_CALLED } },
	  "0:end" },
};

static void check(const struct pattern *p)
{
	struct flow_code code = p->code;
	struct flow_rows rows;
	char text[4000];

	code.entries = p->entries;
	for (code.nr_entries = 0;
	     code.nr_entries < 3 && p->entries[code.nr_entries].kind;
	     code.nr_entries++)
		;
	MUST(!flow_rows(&code, &rows));
	print_rows(text, &rows);
	result(!strcmp(text, p->rows), p->name, "\n%s\nexpected\n%s", text,
	       p->rows);
	free(rows.rows);
}

/* ---- Lengths --------------------------------------------------------- */

static const struct {
	const char	*bytes;
	unsigned int	length;
} lengths[] = {
	{ "\x90", 1 },
	{ "\x48\xb8\1\2\3\4\5\6\7\x8", 10 },		/* mov $imm64 */
	{ "\xb8\1\2\3\4", 5 },
	{ "\x66\xb8\1\2", 4 },
	{ "\x48\xc7\xc0\1\2\3\4", 7 },
	{ "\xa1\1\2\3\4\5\6\7\x8", 9 },			/* moffs */
	{ "\xf6\xc0\1", 3 }, { "\xf6\xd0", 2 },		/* test, not */
	{ "\xf7\xc0\1\2\3\4", 6 }, { "\xf7\xd0", 2 },
	{ "\x8b\x04\x25\1\2\3\4", 7 },			/* (disp32) */
	{ "\x8b\x05\1\2\3\4", 6 },			/* (%rip) */
	{ "\x8b\x44\x24\1", 4 }, { "\x8b\x84\x24\1\2\3\4", 7 },
	{ "\x42\x8b\x44\xa5\1", 5 },
	{ "\x0f\x1f\x84\0\0\0\0\0", 8 },		/* nop */
	{ "\x66\x66\x0f\x1f\x84\0\0\0\0\0", 10 },
	{ "\x0f\x84\1\2\3\4", 6 }, { "\x74\1", 2 },	/* je */
	{ "\xf0\x4c\x0f\xb1\x0b", 5 },			/* lock cmpxchg */
	{ "\xf3\x0f\x6f\x06", 4 }, { "\x66\x0f\x70\xc0\1", 5 },
	{ "\x66\x0f\x38\0\xc1", 5 }, { "\x66\x0f\x3a\x0f\xc1\1", 6 },
	{ "\xc5\xf8\x77", 3 },				/* vzeroupper */
	{ "\xc5\xfa\x10\x45\x08", 5 }, { "\xc5\xf9\x70\xc0\1", 5 },
	{ "\xc4\xe2\x79\x18\x45\x08", 6 },
	{ "\xc4\xe3\x7d\x39\xc0\1", 6 },
	{ "\x62\xf1\x7e\x48\x6f\x46\1", 7 },		/* vmovdqu32 */
	{ "\x62\xf3\x7d\x48\x3b\xc0\1", 7 },
	{ "\xc8\1\2\3", 4 }, { "\xc2\1\2", 3 }, { "\xe8\1\2\3\4", 5 },
	{ "\x48\x0f\xc9", 3 }, { "\x0f\xa2", 2 }, { "\x0f\x0d\x08", 3 },
	{ "\x06", 0 }, { "\x48", 0 }, { "\x0f", 0 }, { "\xc4\xe2", 0 },
	{ "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90",
	  0 },
};

static void check_lengths(void)
{
	struct insn insn;
	size_t i, room, good = 0, total = sizeof(lengths) / sizeof(lengths[0]);
	unsigned int got;
	char copy[16];

	for (i = 0; i < total; i++) {
		/* What has no length is cut off where its bytes end. */
		room = lengths[i].length ? lengths[i].length :
		       strlen(lengths[i].bytes) < 15 ?
		       strlen(lengths[i].bytes) : 15;
		memcpy(copy, lengths[i].bytes, room);
		got = sfg_insn_decode((uint8_t *)copy, room, &insn) ? insn.length :
								  0;
		good += got == lengths[i].length;
		if (got != lengths[i].length)
			result(false, "length", "of number %zu is %u, expected "
			       "%u", i, got, lengths[i].length);
	}
	IS("lengths of instructions", good, total);
}

/* ---- Any bytes ------------------------------------------------------- */

static bool are_rows(const struct flow_rows *rows, const struct flow_code *code)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		if (rows->rows[i].start >= code->size + code->lead ||
		    rows->rows[i].start < (i ? rows->rows[i - 1].start + 1 : 0))
			return false;
	return rows->nr && !rows->rows[0].start;
}

static uint32_t random_number(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

/* What code has much of, so that ways are long. */
static uint8_t random_byte(void)
{
	static const uint8_t common[] = {
		0x48, 0x48, 0x89, 0x8b, 0x83, 0xec, 0xc4, 0xe5, 0x5d, 0x55,
		0x50, 0x58, 0x74, 0xeb, 0x24, 0x90, 0xc9, 0x08, 0xf8, 0x10,
	};
	uint32_t n = random_number();

	return n & 0x100 ? common[(n >> 9) % sizeof(common)] : n;
}

static void check_any(void)
{
	unsigned int round, good = 0, i, rounds = 30000;

	for (round = 0; round < rounds; round++) {
		struct flow_entry entries[2] = {
			{ random_number() % 90, 1 + random_number() % 8 },
			{ random_number() % 90, 1 + random_number() % 8 },
		};
		struct flow_code code = {
			.size = 1 + random_number() % 80, .frame = 64,
			.entries = entries, .nr_entries = 2,
			.rest = random_number() % 9,
			.rest_from = random_number() % 90,
			.stubs_from = random_number() % 90,
			.lead = random_number() & 1,
		};
		struct flow_rows rows;
		uint8_t *text = malloc(code.size);

		for (i = 0; i < code.size; i++)
			text[i] = random_byte();
		code.text = text;
		MUST(!flow_rows(&code, &rows));
		good += are_rows(&rows, &code);
		free(rows.rows);
		free(text);
	}
	IS("rows of any bytes are in order", good, rounds);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		check(patterns + i);
	check_lengths();
	check_any();
	return finish();
}
