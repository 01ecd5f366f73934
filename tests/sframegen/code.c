// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: rows from instructions are those that CFI would have, and code
 * that is not certain gets none.
 */
#include "test.h"

#define CODE	0x1000

static struct sfg_input input(const void *code, size_t len,
			      struct sfg_image *text)
{
	*text = (struct sfg_image){ code, len, CODE };
	return (struct sfg_input) {
		.abi = SFRAME_ABI_AMD64_LE, .text = text, .nr_text = 1,
		.flags = SFG_INPUT_CODE | SFG_INPUT_ADDENDS,
	};
}

static char *derive(const struct sfg_input *in, struct sfg_summary *sum)
{
	struct sfg_error err = { 0 };
	struct sfg_fdes fdes;
	char *buf;
	size_t len;
	FILE *f = open_memstream(&buf, &len);

	if (sfg_derive(in, &fdes, sum, &err)) {
		fprintf(f, "%s", err.reason);
	} else {
		print_fdes(f, in->abi, &fdes, CODE);
		sfg_free_fdes(&fdes);
	}
	fclose(f);
	return buf;
}

static void text_is(const char *name, const char *got, const char *wanted)
{
	result(!strcmp(got, wanted), name, "got '%s', wanted '%s'", got,
	       wanted);
}

static void rows_are(const char *name, const char *code, size_t len,
		     const char *wanted)
{
	struct sfg_image text;
	struct sfg_input in = input(code, len, &text);
	struct sfg_summary sum;
	char *got = derive(&in, &sum);

	text_is(name, got, wanted);
	free(got);
}

static void stack_pointer(void)
{
	/* push %rbx; sub $16,%rsp; add $16,%rsp; pop %rbx; ret */
	rows_are("push, sub, add, pop",
		 P("\x53\x48\x83\xec\x10\x48\x83\xc4\x10\x5b\xc3"),
		 "0-b: 0 CFA=sp+8, 1 CFA=sp+16, 5 CFA=sp+32, 9 CFA=sp+16,"
		 " a CFA=sp+8");
	/* lea -128(%rsp),%rsp; sub $-128,%rsp; ret $8 */
	rows_are("lea, a negative sub, ret with a number",
		 P("\x48\x8d\x64\x24\x80\x48\x83\xec\x80\xc2\x08\x00"),
		 "0-c: 0 CFA=sp+8, 5 CFA=sp+136, 9 CFA=sp+8");
	/* mov %rax,-8(%rsp); mov -8(%rsp),%rax; ret */
	rows_are("the red zone", P("\x48\x89\x44\x24\xf8\x48\x8b\x44\x24\xf8"
				   "\xc3"), "0-b: 0 CFA=sp+8");
}

static void frame_pointer(void)
{
	/* push %rbp; mov %rsp,%rbp; sub $32,%rsp; leave; ret */
	rows_are("a frame pointer and leave",
		 P("\x55\x48\x89\xe5\x48\x83\xec\x20\xc9\xc3"),
		 "0-a: 0 CFA=sp+8, 1 CFA=sp+16 FP=[CFA-16],"
		 " 4 CFA=fp+16 FP=[CFA-16], 9 CFA=sp+8");
	/* the same with and $-32,%rsp */
	rows_are("a stack pointer that is aligned",
		 P("\x55\x48\x89\xe5\x48\x83\xe4\xe0\xc9\xc3"),
		 "0-a: 0 CFA=sp+8, 1 CFA=sp+16 FP=[CFA-16],"
		 " 4 CFA=fp+16 FP=[CFA-16], 9 CFA=sp+8");
	/* push %rbp; xor %ebp,%ebp; pop %rbp; ret */
	rows_are("a frame pointer used for something else",
		 P("\x55\x31\xed\x5d\xc3"),
		 "0-5: 0 CFA=sp+8, 1 CFA=sp+16 FP=[CFA-16], 4 CFA=sp+8");
	/* xor %ebp,%ebp; ret */
	rows_are("and never restored", P("\x31\xed\xc3"), "2-3: 0 CFA=sp+8");
}

static void kept_elsewhere(void)
{
	/*
	 * mov %rsp,%rax; sub $64,%rsp; and $-32,%rsp; mov %rax,16(%rsp);
	 * mov 16(%rsp),%rsp; ret
	 */
	rows_are("a stack pointer in a register, and in memory",
		 P("\x48\x89\xe0\x48\x83\xec\x40\x48\x83\xe4\xe0"
		   "\x48\x89\x44\x24\x10\x48\x8b\x64\x24\x10\xc3"),
		 "0-16: 0 CFA=sp+8, 7 CFA=sp+72, b CFA=rax+8,"
		 " 10 CFA=[sp+16]+8, 15 CFA=sp+8");
}

static void ways_meet(void)
{
	/* push %rbx; je 1f; nop; 1: pop %rbx; ret */
	rows_are("ways that agree", P("\x53\x74\x01\x90\x5b\xc3"),
		 "0-6: 0 CFA=sp+8, 1 CFA=sp+16, 5 CFA=sp+8");
	/* je 1f; push %rax; 1: ret */
	rows_are("ways that do not", P("\x74\x01\x50\xc3"), "");
	/* 1: sub $8,%rsp; jne 1b; ret */
	rows_are("a loop that pushes", P("\x48\x83\xec\x08\x75\xfa\xc3"), "");
	/* 1: dec %eax; jne 1b; ret */
	rows_are("a loop", P("\xff\xc8\x75\xfc\xc3"), "0-5: 0 CFA=sp+8");
}

static void return_address(void)
{
	/* mov %rax,(%rsp); ret */
	rows_are("a return address that is replaced",
		 P("\x48\x89\x04\x24\xc3"), "");
	/* push %rax; ret */
	rows_are("a jump by ret", P("\x50\xc3"), "");
	/* pop %rax; jmp *%rax */
	rows_are("a return address that is popped", P("\x58\xff\xe0"), "");
	/* call 1f; 1: pop %rax; ret */
	rows_are("a call that gets the pc", P("\xe8\x00\x00\x00\x00\x58\xc3"),
		 "0-7: 0 CFA=sp+8, 5 CFA=sp+16, 6 CFA=sp+8");
}

static void calls(void)
{
	/* push %rbx; call outside; pop %rbx; ret */
	rows_are("a call whose way back agrees",
		 P("\x53\xe8\x00\x00\x01\x00\x5b\xc3"),
		 "0-8: 0 CFA=sp+8, 1 CFA=sp+16, 7 CFA=sp+8");
	/* push %rbx; call outside; ret: of another function */
	rows_are("a call before code that is not its own",
		 P("\x53\xe8\x00\x00\x01\x00\xc3"), "6-7: 0 CFA=sp+8");
	/* push %rbx; call outside; endbr64; ret */
	rows_are("a call before a landing pad",
		 P("\x53\xe8\x00\x00\x01\x00\xf3\x0f\x1e\xfa\xc3"),
		 "6-b: 0 CFA=sp+8");
	/* call 1f; ret; 1: push %rbx; pop %rbx; ret */
	rows_are("a function that is called",
		 P("\xe8\x01\x00\x00\x00\xc3\x53\x5b\xc3"),
		 "0-9: 0 CFA=sp+8, 7 CFA=sp+16, 8 CFA=sp+8");
	/* push %rbx; pop %rbx; jmp *0x1000(%rip) */
	rows_are("a jump to another function",
		 P("\x53\x5b\xff\x25\x00\x10\x00\x00"),
		 "0-8: 0 CFA=sp+8, 1 CFA=sp+16, 2 CFA=sp+8");
}

static void not_certain(void)
{
	/* jmp *%rax, at an address where no function begins */
	rows_are("a jump to anywhere", P("\xff\xe0"), "");
	/* cmp $5,%eax; ja 1f; jmp *%rax; nop; 1: ret */
	rows_are("a jump that cannot happen, before one to anywhere",
		 P("\x83\xf8\x05\x77\x03\xff\xe0\x90\xc3"), "8-9: 0 CFA=sp+8");
	/* mov $56,%eax; syscall; ret: clone() */
	rows_are("a thread begins after a system call",
		 P("\xb8\x38\x00\x00\x00\x0f\x05\xc3"), "");
	/* mov $39,%eax; syscall; ret: getpid() */
	rows_are("and not after another one",
		 P("\xb8\x27\x00\x00\x00\x0f\x05\xc3"), "0-8: 0 CFA=sp+8");
	/* ret; nopw; int3; ret */
	rows_are("what fills gaps",
		 P("\xc3\x0f\x1f\x40\x00\xcc\xc3"),
		 "0-1: 0 CFA=sp+8 | 6-7: 0 CFA=sp+8");
	/* pop %rax; jmp *%rax; zeros; push %rax; pop %rax; ret */
	rows_are("zeros in a gap", P("\x58\xff\xe0\x00\x00\x00\x50\x58\xc3"),
		 "6-9: 0 CFA=sp+8, 1 CFA=sp+16, 2 CFA=sp+8");
	/* in (%dx),%al; ret */
	rows_are("no instruction of a program", P("\xec\xc3"),
		 "1-2: 0 CFA=sp+8");
}

/* push %rbx; call 1f; pop %rbx; ret; 1: jmp *4088(%rip), at 0x2008 */
static const char imports[] = "\x53\xe8\x02\x00\x00\x00\x5b\xc3"
			      "\xff\x25\xfa\x0f\x00\x00";

static void imported(void)
{
	uint64_t word = CODE + sizeof(imports) - 1 + 0xffa;
	struct sfg_image text;
	struct sfg_input in = input(imports, sizeof(imports) - 1, &text);
	struct sfg_summary sum;
	char *got = derive(&in, &sum);

	text_is("what an import returns to", got, "0-e: 0 CFA=sp+8, 1 CFA=sp+16,"
	   " 7 CFA=sp+8");
	free(got);
	in.no_return = &word;
	in.nr_no_return = 1;
	got = derive(&in, &sum);
	text_is("not if it never returns", got,
		"6-e: 0 CFA=sp+16, 1 CFA=sp+8");
	free(got);
}

/* endbr64; jmp *0xff6(%rip), the word at 0x3000 */
static const unsigned char link_entry[16] = {
	0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xf6, 0x0f, 0x00, 0x00,
};

static const void *read_link(void *arg, uint64_t addr, size_t len)
{
	(*(unsigned int *)arg)++;
	return addr == 0x2000 && len <= sizeof(link_entry) ? link_entry : NULL;
}

/* push %rbx; call 0x2000; pop %rbx; ret: the entry is in another section */
static void imported_elsewhere(void)
{
	static const char code[] = "\x53\xe8\xfa\x0f\x00\x00\x5b\xc3";
	uint64_t word = 0x3000;
	unsigned int reads = 0;
	struct sfg_image text[2] = { [1] = { NULL, sizeof(link_entry), 0x2000 } };
	struct sfg_input in = input(code, sizeof(code) - 1, text);
	struct sfg_summary sum;
	char *got;

	in.nr_text = 2;
	in.read_text = read_link;
	in.read_arg = &reads;
	in.no_return = &word;
	in.nr_no_return = 1;
	got = derive(&in, &sum);
	text_is("an import that never returns, in another section", got,
		"6-8: 0 CFA=sp+16, 1 CFA=sp+8 | 1000-100a: 0 CFA=sp+8");
	result(reads != 0, "the entry is read", "%u times", reads);
	free(got);
	word++;
	got = derive(&in, &sum);
	text_is("and one that returns", got,
		"0-8: 0 CFA=sp+8, 1 CFA=sp+16, 7 CFA=sp+8 |"
		" 1000-100a: 0 CFA=sp+8");
	free(got);
}

/*
 * A call that does not return, which the analysis cannot know, before another
 * function: facts of the first must not add to the rows of the second.
 */
static void next_function(void)
{
	static const uint64_t entry = CODE;
	/*
	 * push %rbp; mov %rsp,%rbp; and $-16,%rsp; call outside
	 * push %r12; push %rbp; call outside; pop %rbp; pop %r12; ret
	 */
	static const char framed[] =
		"\x55\x48\x89\xe5\x48\x83\xe4\xf0\xe8\x00\x00\x01\x00"
		"\x41\x54\x55\xe8\x00\x00\x01\x00\x5d\x41\x5c\xc3";
	struct sfg_image text;
	struct sfg_input in = input(framed, sizeof(framed) - 1, &text);
	struct sfg_summary sum;
	char *got;

	in.entries = &entry;
	in.nr_entries = 1;
	got = derive(&in, &sum);
	text_is("a frame that only the first function knows", got,
		"0-d: 0 CFA=sp+8, 1 CFA=sp+16 FP=[CFA-16],"
		" 4 CFA=fp+16 FP=[CFA-16] |"
		" 15-19: 0 CFA=sp+24 FP=[CFA-24], 1 CFA=sp+16, 3 CFA=sp+8");
	free(got);
	/* push %rbp; push %rbx; call outside; add $8,%rsp; pop %rbx; ret */
	rows_are("a frame pointer that the first function saved",
		 P("\x55\x53\xe8\x00\x00\x01\x00"
		   "\x48\x83\xc4\x08\x5b\xc3"),
		 "0-d: 0 CFA=sp+8, 1 CFA=sp+16 FP=[CFA-16],"
		 " 2 CFA=sp+24 FP=[CFA-16], 7 CFA=sp+24, b CFA=sp+16,"
		 " c CFA=sp+8");
}

/* jmp *%rax */
static void named(void)
{
	uint64_t entry = CODE;
	struct sfg_image text;
	struct sfg_input in = input("\xff\xe0", 2, &text);
	struct sfg_summary sum;
	char *got;

	in.entries = &entry;
	in.nr_entries = 1;
	got = derive(&in, &sum);
	text_is("where a function is known to begin", got, "0-2: 0 CFA=sp+8");
	result(sum.derived_bytes == 2, "its bytes are counted", "%llu",
	       (unsigned long long)sum.derived_bytes);
	free(got);
}

/* CFI for the second of three functions, which has its own rows. */
static void between(void)
{
	static const struct cie cie = AMD64_PLAIN_CIE;
	static const char code[] = "\x50\x58\xc3" "\x50\x58\xc3" "\x50\x58\xc3";
	struct sfg_image text;
	struct sfg_input in = input(code, 9, &text);
	static struct bytes b;
	struct sfg_summary sum;
	char *got;

	put_fde(&b, put_cie(&b, &cie), true, CODE + 3, 3, "", 0);
	in.cfi = (struct sfg_image){ b.p, b.len, 0 };
	got = derive(&in, &sum);
	text_is("code with CFI has the rows of that", got,
	   "0-3: 0 CFA=sp+8, 1 CFA=sp+16, 2 CFA=sp+8 | 3-6: 0 CFA=sp+8 |"
	   " 6-9: 0 CFA=sp+8, 1 CFA=sp+16, 2 CFA=sp+8");
	free(got);
	in.flags = 0;
	got = derive(&in, &sum);
	text_is("without the flag nothing else has", got, "3-6: 0 CFA=sp+8");
	free(got);
}

/* Bytes that are likely in functions, so that they are followed. */
static uint8_t likely(unsigned int *seed)
{
	static const uint8_t bytes[] = {
		0x48, 0x83, 0xec, 0xc4, 0x08, 0x50, 0x58, 0x55, 0x5d, 0xc9,
		0xc3, 0x74, 0xeb, 0xe8, 0xe9, 0xff, 0x25, 0x00, 0x89, 0x8b,
		0xe5, 0x24, 0x44, 0x10, 0x0f, 0x05, 0xe4, 0xf0,
	};

	*seed = *seed * 1103515245 + 12345;
	return *seed >> 28 ? bytes[(*seed >> 16) % sizeof(bytes)] :
			     *seed >> 16;
}

static bool is_good(const struct sfg_fdes *fdes, size_t len)
{
	uint64_t end = CODE;
	size_t i;

	for (i = 0; i < fdes->nr; i++) {
		if (fdes->fdes[i].addr < end ||
		    sfg_check_function(SFRAME_ABI_AMD64_LE, &fdes->fdes[i],
				       NULL))
			return false;
		end = fdes->fdes[i].addr + fdes->fdes[i].size;
	}
	return end <= CODE + len;
}

/* ---- The row of one address -------------------------------------------- */

static void row_is(const char *name, const char *code, size_t len, size_t at,
		   int64_t sp, bool called, const char *wanted)
{
	const struct sfg_image text = { code, len, CODE };
	char got[ROW_TEXT_MAX] = "none";
	struct sfjit_row row;
	int ret = sfg_find_code_row(SFRAME_ABI_AMD64_LE, &text, CODE + at, sp,
				    called, &row);

	MUST(!ret || ret == -ENOENT);
	if (!ret)
		format_row(SFRAME_ABI_AMD64_LE, &row, got);
	text_is(name, got, wanted);
}

#define BY_FP	"CFA=fp+16 FP=[CFA-16]"

static void leaves_by_fp(void)
{
	/* mov -8(%rbp),%rax; leave; ret */
	row_is("leave", P("\x48\x8b\x45\xf8\xc9\xc3"), 0, -16, true, BY_FP);
	/* mov %rbp,%rsp; pop %rbp; pop %rcx; add %r10,%rsp; push %rcx; ret */
	row_is("arguments that the function pops",
	       P("\x48\x89\xec\x5d\x59\x4c\x01\xd4\x51\xc3"), 0, -16, true,
	       BY_FP);
	/* popq 8(%r13); add $8,%rsp; pop %rbp; ret */
	row_is("the frame pointer is popped",
	       P("\x41\x8f\x45\x08\x48\x83\xc4\x08\x5d\xc3"), 0, -16, true,
	       BY_FP);
	row_is("it is popped from elsewhere",
	       P("\x41\x8f\x45\x08\x48\x83\xc4\x08\x5d\xc3"), 0, -24, true,
	       "none");
	/* je 1f; leave; ret; 1: mov (%r13),%rsp; mov 8(%r13),%rbp; jmp *%rcx */
	row_is("one way goes to another frame, as longjmp()",
	       P("\x74\x02\xc9\xc3\x49\x8b\x65\x00\x49\x8b\x6d\x08"
		 "\xff\xe1"), 0, -16, true, BY_FP);
	/* call; mov (%rsp),%rsp; leave; ret */
	row_is("a stack that was aligned for a call",
	       P("\xe8\x00\x10\x00\x00\x48\x8b\x24\x24\xc9\xc3"), 0, -16,
	       true, BY_FP);
}

static void does_not_leave(void)
{
	row_is("ret", P("\xc3"), 0, -16, true, "none");
	/* je 1f; leave; ret; 1: ret */
	row_is("one way returns without the frame pointer",
	       P("\x74\x02\xc9\xc3\xc3"), 0, -16, true, "none");
	/* mov %rax,%rbp; leave; ret */
	row_is("the frame pointer is written",
	       P("\x48\x89\xc5\xc9\xc3"), 0, -16, true, "none");
	/* mov %rax,8(%rbp); leave; ret */
	row_is("the return address is written",
	       P("\x48\x89\x45\x08\xc9\xc3"), 0, -16, true, "none");
	row_is("a call of what does not return",
	       P("\xe8\x00\x10\x00\x00\xcc\xc9\xc3"), 0, -16, true, "none");
	row_is("the next function, after a call", P("\x55\x48\x89\xe5\xc9\xc3"),
	       0, -16, true, "none");
	row_is("code that is cut off", P("\x48\x8b\x45\xf8"), 0, -16, true,
	       "none");
	row_is("a jump to elsewhere", P("\xe9\x00\x10\x00\x00\xc9\xc3"), 0,
	       -16, true, "none");
	row_is("a loop", P("\xeb\xfe"), 0, -16, true, "none");
	row_is("an address outside", P("\xc9\xc3"), 2, -16, true, "none");
}

#define TRAPS	"\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc" \
		"\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc"

/* push %rbp; mov %rsp,%rbp; push %rax; leave; ret */
#define FRAME	TRAPS TRAPS "\x55\x48\x89\xe5\x50\xc9\xc3"
/* je 1f; push %rax; 1: nop; jmp *%rcx */
#define UNEVEN	TRAPS TRAPS "\x74\x01\x50\x90\xff\xe1"
/* call; nop; jmp *%rcx */
#define CALLS	TRAPS TRAPS "\xe8\x00\x10\x00\x00\x90\xff\xe1"

static void from_entry(void)
{
	row_is("entry", P(FRAME), 32, 64, false, "CFA=sp+8");
	row_is("after push %rbp", P(FRAME), 33, 56, false, "CFA=sp+16");
	row_is("with a frame", P(FRAME), 36, 0, false, BY_FP);
	row_is("before leave", P(FRAME), 37, -8, false, BY_FP);
	row_is("before ret", P(FRAME), 38, 64, false, "CFA=sp+8");
	row_is("entry, of a caller", P(FRAME), 32, 64, true, "none");
	row_is("no padding before it", P(FRAME), 31, 64, false, "none");
	row_is("a jump that is taken", P(UNEVEN), 34, 64, false, "CFA=sp+8");
	row_is("ways with two stack pointers", P(UNEVEN), 35, 64, false,
	       "none");
	row_is("before a call", P(CALLS), 32, 64, false, "CFA=sp+8");
	row_is("after a call", P(CALLS), 37, 64, false, "none");
}

static void other_machine(void)
{
	const struct sfg_image text = { "\xc9\xc3", 2, CODE };
	struct sfjit_row row;

	TRUE("instructions of another machine",
	     sfg_find_code_row(SFRAME_ABI_AARCH64_LE, &text, CODE,
			       -16, true, &row) == -ENOTSUP);
}

static void hostile(void)
{
	unsigned int seed = 1, round, bad = 0, some = 0;
	size_t len, i;
	struct sfg_summary sum;

	for (round = 0; round < 3000; round++) {
		len = 1 + round % 300;
		struct sfg_image text;
		uint8_t *code = malloc(len);
		struct sfg_input in = input(code, len, &text);
		struct sfg_fdes fdes;

		for (i = 0; i < len; i++)
			code[i] = likely(&seed);
		MUST(!sfg_derive(&in, &fdes, &sum, NULL));
		bad += !is_good(&fdes, len);
		some += fdes.nr > 0;
		sfg_free_fdes(&fdes);
		free(code);
	}
	result(!bad && some > 1000, "any bytes", "%u bad, %u with rows", bad,
	       some);
}

int main(void)
{
	stack_pointer();
	frame_pointer();
	kept_elsewhere();
	ways_meet();
	return_address();
	calls();
	not_certain();
	imported();
	imported_elsewhere();
	next_function();
	named();
	between();
	leaves_by_fp();
	does_not_leave();
	from_entry();
	other_machine();
	hostile();
	return finish();
}
