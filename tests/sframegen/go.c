// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: rows from Go's table are those of its functions, of each version,
 * and a damaged table gives none that are wrong.
 */
#include "test.h"

#define CODE	0x401000
#define TABLE	0x500000
#define DATA	0x600000
#define BIAS	0x7f0000000000

enum { GO_1_2, GO_1_16, GO_1_18, GO_1_20, GO_1_26, NR_VERSIONS };

static const char *const versions[] = {
	"Go 1.2", "Go 1.16", "Go 1.18", "Go 1.20", "Go 1.26",
};

/* Of functions from Go 1.18 on. */
#define SPWRITE	2
#define ASM	4

/* Bytes of the code; changes of the stack pointer, and lengths. */
struct function {
	const char *name;
	uint8_t flags;
	const char *code;
	size_t len;
	struct { int delta; unsigned int length; } deltas[8];
};

/* @lead: bytes of text before the first function, from Go 1.18 on */
struct table {
	struct bytes table, code;
	struct sfg_image text;
	struct sfg_go_input in;
	unsigned int lead;
};

static void put_zeros(struct bytes *b, size_t len)
{
	while (len--)
		put_int(b, 0, 1);
}

static void put_uleb(struct bytes *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_int(b, v | 0x80, 1);
	put_int(b, v, 1);
}

/* Values begin at -1; the sign is in the lowest bit. */
static void put_deltas(struct bytes *b, const struct function *f)
{
	int value = -1, change, i;

	for (i = 0; i < 8 && f->deltas[i].length; i++) {
		change = f->deltas[i].delta - value;
		value = f->deltas[i].delta;
		put_uleb(b, change < 0 ? -2u * change - 1 : 2u * change);
		put_uleb(b, f->deltas[i].length);
	}
	put_uleb(b, 0);
}

static void put_at(struct bytes *b, size_t at, uint64_t v, unsigned int len)
{
	size_t end = b->len;

	b->len = at;
	put_int(b, v, len);
	b->len = end;
}

/* 16 bytes of the code, then int3. */
static void put_code(struct bytes *code, const struct function *f)
{
	size_t start = code->len;

	put(code, f->code, f->len);
	while (code->len - start < f->len + 1 || code->len % 16)
		put_int(code, 0xcc, 1);
}

static void put_header(struct table *t, int version, size_t nr)
{
	static const uint32_t magic[] = {
		0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1, 0xfffffff1,
	};
	struct bytes *b = &t->table;

	put_int(b, magic[version], 4);
	put_int(b, 0x08010000, 4);
	put_int(b, nr, 8);
	if (version >= GO_1_16)
		put_int(b, 1, 8);	/* files */
	if (version >= GO_1_18)
		put_int(b, version == GO_1_26 ? 0 :
			   CODE - t->lead + t->in.bias, 8);
	if (version >= GO_1_16)
		put_zeros(b, 5 * 8);	/* offsets */
}

/* Of 'which' of the five offsets. */
static size_t set_part(struct table *t, int version, int which)
{
	size_t header = version == GO_1_16 ? 24 : 32;

	if (version == GO_1_2)
		return 0;
	put_at(&t->table, header + 8 * which, t->table.len, 8);
	return t->table.len;
}

static void put_record(struct bytes *b, int version, uint64_t entry,
		       uint32_t name, uint32_t deltas, uint8_t flags)
{
	put_int(b, entry, version >= GO_1_18 ? 4 : 8);
	put_int(b, name, 4);
	put_int(b, 0, 8);
	put_int(b, deltas, 4);
	put_zeros(b, version >= GO_1_20 ? 21 : 17);
	put_int(b, flags, 1);
	put_int(b, 0, 2);
}

static void make(struct table *t, int version, const struct function *f,
		 size_t nr)
{
	size_t names[16], deltas[16], index, half, base, i;
	struct bytes *b = &t->table;
	uint64_t entry;

	b->len = t->code.len = 0;
	put_header(t, version, nr);
	half = version >= GO_1_18 ? 4 : 8;
	index = b->len;
	if (version == GO_1_2)
		put_zeros(b, (2 * nr + 1) * 8);
	base = set_part(t, version, 0);
	put_int(b, 0, 1);
	for (i = 0; i < nr; i++) {
		names[i] = b->len - base;
		put(b, f[i].name, strlen(f[i].name) + 1);
	}
	base = set_part(t, version, 3);
	put_int(b, 0, 1);
	for (i = 0; i < nr; i++) {
		deltas[i] = f[i].deltas[0].length ? b->len - base : 0;
		put_deltas(b, &f[i]);
	}
	base = set_part(t, version, 4);
	if (version != GO_1_2) {
		index = b->len;
		put_zeros(b, (2 * nr + 1) * half);
	}
	for (i = 0; i <= nr; i++) {
		entry = t->code.len + (half == 4 ? t->lead :
						   CODE + t->in.bias);
		put_at(b, index + 2 * i * half, entry, half);
		if (i == nr)
			break;
		put_at(b, index + (2 * i + 1) * half, b->len - base, half);
		put_record(b, version, entry, names[i], deltas[i], f[i].flags);
		put_code(&t->code, &f[i]);
	}
	t->text = (struct sfg_image) { t->code.p, t->code.len, CODE };
	t->in.abi = SFRAME_ABI_AMD64_LE;
	t->in.table = (struct sfg_image) { b->p, b->len, TABLE };
	t->in.text = &t->text;
	t->in.nr_text = 1;
}

static char *print_error(int ret, const struct sfg_error *err)
{
	char *buf = malloc(256);

	snprintf(buf, 256, "%d %s", ret, err->reason);
	return buf;
}

static struct sfg_input input(const struct table *t, const struct sfg_go *go)
{
	return (struct sfg_input) {
		.abi = SFRAME_ABI_AMD64_LE, .go = go,
		.flags = SFG_INPUT_ADDENDS, .text = &t->text, .nr_text = 1,
	};
}

static char *derive(const struct sfg_input *in, struct sfg_summary *sum)
{
	struct sfg_error err = { 0 };
	struct sfg_fdes fdes;
	char *buf;
	size_t len;
	FILE *f;

	if (sfg_derive(in, &fdes, sum, &err))
		return print_error(1, &err);
	f = open_memstream(&buf, &len);
	print_fdes(f, in->abi, &fdes, CODE);
	sfg_free_fdes(&fdes);
	fclose(f);
	return buf;
}

static char *rows_of(const struct table *t, struct sfg_summary *sum)
{
	struct sfg_error err = { 0 };
	struct sfg_input in;
	struct sfg_go go;
	int ret = sfg_open_go(&go, &t->in, &err);

	if (ret)
		return print_error(ret, &err);
	in = input(t, &go);
	return derive(&in, sum);
}

static void text_is(const char *what, const char *name, char *got,
		    const char *wanted)
{
	char title[128];

	snprintf(title, sizeof(title), "%s%s%s", what, *what ? ": " : "", name);
	result(!strcmp(got, wanted), title, "got '%s', wanted '%s'", got,
	       wanted);
	free(got);
}

/* It needs no frame; makes one, by mov and by push; and has a large one. */
static const struct function compiled[] = {
	{ "main.leaf", 0, P("\x31\xc0\xc3"), { { 0, 3 } } },
	/* sub $24,%rsp; mov %rbp,16(%rsp); lea 16(%rsp),%rbp; nop;
	 * mov 16(%rsp),%rbp; add $24,%rsp; ret */
	{ "main.mov", 0, P("\x48\x83\xec\x18\x48\x89\x6c\x24\x10\x48\x8d\x6c"
			   "\x24\x10\x90\x48\x8b\x6c\x24\x10\x48\x83\xc4\x18"
			   "\xc3"), { { 0, 4 }, { 24, 20 }, { 0, 1 } } },
	/* sub $256,%rsp; mov %rbp,248(%rsp); lea 248(%rsp),%rbp; ud2 */
	{ "main.large", 0, P("\x48\x81\xec\x00\x01\x00\x00\x48\x89\xac\x24\xf8"
			     "\x00\x00\x00\x48\x8d\xac\x24\xf8\x00\x00\x00"
			     "\x0f\x0b"), { { 0, 7 }, { 256, 18 } } },
	/* push %rbp; mov %rsp,%rbp; sub $16,%rsp; nop; add $16,%rsp;
	 * pop %rbp; ret */
	{ "main.push", 0, P("\x55\x48\x89\xe5\x48\x83\xec\x10\x90\x48\x83\xc4"
			    "\x10\x5d\xc3"),
	  { { 0, 1 }, { 8, 7 }, { 24, 5 }, { 8, 1 }, { 0, 1 } } },
};

#define COMPILED_ROWS							\
	"0-3: 0 CFA=sp+8"						\
	" | 10-29: 0 CFA=sp+8, 4 CFA=sp+32, 9 CFA=sp+32 FP=[CFA-16],"	\
	" 18 CFA=sp+8"							\
	" | 30-49: 0 CFA=sp+8, 7 CFA=sp+264, f CFA=sp+264 FP=[CFA-16]"
#define PUSH_ROWS							\
	" | 50-5f: 0 CFA=sp+8, 1 CFA=sp+16 FP=[CFA-16],"		\
	" 8 CFA=sp+32 FP=[CFA-16], d CFA=sp+16 FP=[CFA-16], e CFA=sp+8"

/* The runtime's record of a module in writable data, as of Go 1.26. */
static void put_module(struct bytes *b, const struct table *t, uint64_t text)
{
	const uint8_t *p = t->table.p;
	uint64_t header = TABLE + t->in.bias, parts[5] = { 0 };
	unsigned int i;

	for (i = 0; i < 5 * 8; i++)
		parts[i / 8] = parts[i / 8] >> 8 | (uint64_t)p[32 + i] << 56;
	put_int(b, 0x1234, 8);
	put_int(b, header, 8);
	put_int(b, 0, 8);	/* no module: another word follows */
	for (i = 0; i < 23; i++)
		put_int(b, i == 0 ? header : i == 1 ? header + parts[0] :
			i == 10 ? header + parts[3] :
			i == 13 ? header + parts[4] :
			i == 20 || i == 22 ? text :
			i == 21 ? text + t->code.len : i, 8);
}

static struct bytes data;
static struct sfg_image module;

static void add_module(struct table *t, uint64_t text)
{
	data.len = 0;
	put_module(&data, t, text + t->in.bias);
	module = (struct sfg_image) { data.p, data.len, DATA };
	t->in.data = &module;
	t->in.nr_data = 1;
}

static struct table t;

static void start(int version, const struct function *f, size_t nr)
{
	t.in = (struct sfg_go_input) { .bias = 0 };
	make(&t, version, f, nr);
	if (version == GO_1_26)
		add_module(&t, CODE);
}

#define START(version, functions) \
	start(version, functions, ARRAY_SIZE(functions))

/* Frames are made by push from Go 1.21 on. */
static size_t nr_compiled(int version)
{
	return ARRAY_SIZE(compiled) - (version < GO_1_18);
}

static const char *compiled_rows(int version)
{
	return version < GO_1_18 ? COMPILED_ROWS : COMPILED_ROWS PUSH_ROWS;
}

static void each_version(void)
{
	struct sfg_summary sum;
	int version;

	for (version = 0; version < NR_VERSIONS; version++) {
		start(version, compiled, nr_compiled(version));
		text_is(versions[version], "compiled functions",
			rows_of(&t, &sum), compiled_rows(version));
		IS("functions", sum.go_functions, nr_compiled(version));
		IS("bytes with rows", sum.go_bytes,
		   version < GO_1_18 ? 3 + 25 + 25 : 3 + 25 + 25 + 15);
		IS("bytes of code, less padding", sum.bare_bytes,
		   sum.go_bytes);
	}
}

static void relocated(void)
{
	struct sfg_summary sum;
	int version;

	for (version = 0; version < NR_VERSIONS; version++) {
		t.in = (struct sfg_go_input) { .bias = BIAS };
		make(&t, version, compiled, nr_compiled(version));
		if (version == GO_1_26)
			add_module(&t, CODE);
		text_is(versions[version], "in memory that was relocated",
			rows_of(&t, &sum), compiled_rows(version));
	}
}

static void no_text(void)
{
	struct sfg_summary sum;
	const char *unknown = "-2 Go's table does not tell where its text"
			      " is";

	START(GO_1_26, compiled);
	t.in.nr_data = 0;
	text_is("", "the address of the text is not there", rows_of(&t, &sum),
		unknown);
	t.in.nr_data = 1;
	data.p[8 * (3 + 13)] ^= 1;
	text_is("", "what is there is of another table", rows_of(&t, &sum),
		unknown);
	add_module(&t, CODE + 16);
	text_is("", "it is a wrong one", rows_of(&t, &sum),
		"-22 functions in Go's table are outside of the text");
}

static void text_before(void)
{
	struct sfg_summary sum;

	t.lead = 16;
	START(GO_1_20, compiled);
	t.lead = 0;
	t.text = (struct sfg_image) {
		(uint8_t *)t.code.p - 16, t.code.len + 16, CODE - 16,
	};
	text_is("", "text that begins before its first function",
		rows_of(&t, &sum), COMPILED_ROWS PUSH_ROWS);
}

/* The code of what the runtime does with stacks, each as Go has it. */
static const struct function runtime[] = {
	{ "runtime.goexit", ASM, P("\x90\xe8\x00\x01\x00\x00\x90"),
	  { { 0, 7 } } },
	{ "runtime.asyncPreempt", ASM, P("\x50\x58\xc3"),
	  { { 0, 1 }, { 8, 1 }, { 0, 1 } } },
	{ "runtime.sigreturn", ASM,
	  P("\xb8\x0f\x00\x00\x00\x0f\x05\xcc"), { { 0, 8 } } },
	/* push %rbp; mov %rsp,%rbp; mov 8(%rbp),%rbx; mov 56(%rsi),%rsp;
	 * push %rax; call *%r12; pop %rax; jmp out */
	{ "runtime.mcall", ASM | SPWRITE,
	  P("\x55\x48\x89\xe5\x48\x8b\x5d\x08\x48\x8b\x66\x38\x50\x41\xff\xd4"
	    "\x58\xe9\x00\x10\x00\x00"),
	  { { 0, 1 }, { 8, 12 }, { 16, 4 }, { 8, 5 } } },
	/* push %rbp; mov %rsp,%rbp; je 1f; mov 56(%rdx),%rsp; call *%rdi;
	 * mov 56(%rax),%rsp; mov 104(%rax),%rbp; pop %rbp; ret;
	 * 1: pop %rbp; jmp *%rdi */
	{ "runtime.systemstack", ASM | SPWRITE,
	  P("\x55\x48\x89\xe5\x74\x10\x48\x8b\x62\x38\xff\xd7\x48\x8b\x60\x38"
	    "\x48\x8b\x68\x68\x5d\xc3\x5d\xff\xe7"),
	  { { 0, 1 }, { 8, 20 }, { 0, 1 }, { 8, 1 }, { 0, 2 } } },
	/* mov $56,%eax; syscall; ret */
	{ "runtime.clone", ASM, P("\xb8\x38\x00\x00\x00\x0f\x05\xc3"),
	  { { 0, 8 } } },
	/* the number is the caller's: syscall; ret */
	{ "syscall.rawSyscall", ASM, P("\x0f\x05\xc3"), { { 0, 3 } } },
};

#define RUNTIME_ROWS							\
	"0-10: 0 RA undefined"						\
	" | 10-13 signal: 0 CFA=sp+8, 1 CFA=sp+16, 2 CFA=sp+8"		\
	" | 1f-30 signal"						\
	" | 30-46: 0 CFA=sp+8, 1 CFA=sp+16 FP=[CFA-16],"		\
	" 4 CFA=fp+16 FP=[CFA-16], c RA undefined"				\
	" | 50-64: 0 CFA=sp+8, 1 CFA=sp+16 FP=[CFA-16],"		\
	" 4 CFA=fp+16 FP=[CFA-16]"					\
	" | 66-69: 0 CFA=fp+16 FP=[CFA-16], 1 CFA=sp+8"			\
	" | 70-77: 0 CFA=sp+8"						\
	" | 80-83: 0 CFA=sp+8"

static void special(void)
{
	struct sfg_summary sum;
	int version;

	for (version = 0; version < NR_VERSIONS; version++) {
		START(version, runtime);
		text_is(versions[version], "the runtime's own functions",
			rows_of(&t, &sum), RUNTIME_ROWS);
	}
}

static void rows_are(const char *name, const struct function *f,
		     const char *wanted)
{
	struct sfg_summary sum;

	start(GO_1_20, f, 1);
	text_is("", name, rows_of(&t, &sum), wanted);
}

static void assembly(void)
{
	/* mov %rsp,%rax; mov 8(%rdi),%rsp; nop; mov %rax,%rsp; ret */
	rows_are("a stack pointer in a register", &(struct function) {
		"a", ASM | SPWRITE, P("\x48\x89\xe0\x48\x8b\x67\x08\x90"
				      "\x48\x89\xc4\xc3"), { { 0, 12 } } },
		"0-c: 0 CFA=sp+8, 7 CFA=rax+8, b CFA=sp+8");
	/* the same, and a call loses the register */
	rows_are("and lost by a call", &(struct function) {
		"a", ASM | SPWRITE, P("\x48\x89\xe3\x48\x8b\x67\x08\xff\xd0"
				      "\x90\x48\x89\xdc\xc3"), { { 0, 14 } } },
		"0-9: 0 CFA=sp+8, 7 CFA=rbx+8");
	/* xor %ebp,%ebp; nop; ret */
	rows_are("a frame pointer used for something else",
		 &(struct function) { "a", ASM, P("\x31\xed\x90\xc3"),
				      { { 0, 4 } } }, "0-2: 0 CFA=sp+8");
	/* sub $16,%rsp, which the table does not know; nop; add $16,%rsp; ret */
	rows_are("a table that leaves out a change", &(struct function) {
		"a", ASM | SPWRITE, P("\x48\x83\xec\x10\x90\x48\x83\xc4\x10"
				      "\xc3"), { { 0, 10 } } },
		"0-a: 0 CFA=sp+8, 4 CFA=sp+24, 9 CFA=sp+8");
	/* push %rax, jne back to it: the depth is not known */
	rows_are("a loop that pushes", &(struct function) {
		"a", ASM | SPWRITE, P("\x90\x50\x75\xfd\xc3"), { { 0, 5 } } },
		"0-1: 0 CFA=sp+8");
	/* je 1f; push %rax; call out; nop; 1: ret */
	rows_are("code after a call that does not return", &(struct function) {
		"a", ASM, P("\x74\x07\x50\xe8\x00\x10\x00\x00\x90\xc3"),
		{ { 0, 3 }, { 8, 6 }, { 0, 1 } } },
		"0-a: 0 CFA=sp+8, 3 CFA=sp+16, 9 CFA=sp+8");
	rows_are("compiled code whose frame is not Go's", &(struct function) {
		"a", 0, P("\x53\x90\x5b\xc3"), { { 0, 1 }, { 8, 2 }, { 0, 1 } }
		}, "0-4: 0 CFA=sp+8, 1 CFA=sp+16, 3 CFA=sp+8");
	rows_are("a function without deltas", &(struct function) {
		"a", 0, P("\xc3"), { { 0, 0 } } }, "");
	rows_are("a depth that is not a multiple of 8", &(struct function) {
		"a", 0, P("\x66\x50\xc3"), { { 0, 2 }, { 2, 1 } } },
		"0-2: 0 CFA=sp+8");
	/* mov %rbp,0x7ffffff7(%rsp) saves where no stack is */
	rows_are("a depth that no row can say", &(struct function) {
		"a", 0, P("\x90\x48\x89\xac\x24\xf7\xff\xff\x7f"),
		{ { 0, 1 }, { INT32_MAX, 8 } } }, "0-1: 0 CFA=sp+8");
}

/* ---- What is no table --------------------------------------------------- */

static void error_is(const char *name, const char *wanted)
{
	struct sfg_summary sum;

	text_is("", name, rows_of(&t, &sum), wanted);
}

static void refused(void)
{
	START(GO_1_20, compiled);
	t.in.abi = SFRAME_ABI_AARCH64_LE;
	error_is("another machine", "-95 rows from Go's table are for AMD64");
	START(GO_1_20, compiled);
	t.table.p[6] = 4;
	error_is("another quantum", "-95 rows from Go's table are for AMD64");
	START(GO_1_20, compiled);
	t.table.p[0] = 0xf2;
	error_is("another version",
		 "-95 a table of a Go version that is not known");
	START(GO_1_20, compiled);
	t.table.p[7] = 4;
	error_is("of 32 bits", "-22 not a table of Go's functions");
	START(GO_1_20, compiled);
	t.table.p[4] = 1;
	error_is("no zeros", "-22 not a table of Go's functions");
	START(GO_1_20, compiled);
	t.in.table.len = 7;
	error_is("a short one", "-22 not a table of Go's functions");
	START(GO_1_20, compiled);
	put_at(&t.table, 8, 0, 8);
	error_is("no functions", "-22 Go's table is truncated");
	START(GO_1_20, compiled);
	put_at(&t.table, 8, 1ULL << 60, 8);
	error_is("too many functions", "-22 Go's table is truncated");
	START(GO_1_20, compiled);
	t.text.len -= 16;
	error_is("less text",
		 "-22 functions in Go's table are outside of the text");
	START(GO_1_20, compiled);
	t.in.nr_text = 0;
	error_is("no text",
		 "-22 functions in Go's table are outside of the text");
	START(GO_1_16, compiled);
	put_at(&t.table, 160, CODE, 8);
	error_is("not sorted", "-22 functions in Go's table are not sorted,"
		 " or have no records");
}

/* Before each, a header that promises too much. */
static void found(void)
{
	static uint8_t segment[8192];
	struct sfg_go_input in;
	struct sfg_error err;
	struct sfg_go go;
	size_t i;

	START(GO_1_20, compiled);
	memset(segment, 0, sizeof(segment));
	for (i = 0; i < 7; i++)
		memcpy(segment + 256 * i, t.table.p, 72);
	memcpy(segment + 2048, t.table.p, t.table.len);
	in = t.in;
	in.table = (struct sfg_image) { segment, sizeof(segment), TABLE };
	IS("searched", sfg_find_go(&go, &in, &err), 0);
	IS("where it is", go.table.addr, TABLE + 2048);
	memcpy(segment + 256 * 7 + 128, t.table.p, 72);
	IS("too many that look like one", sfg_find_go(&go, &in, &err),
	   -EINVAL);
	memset(segment, 0, sizeof(segment));
	IS("none", sfg_find_go(&go, &in, &err), -ENOENT);
	in.table.len = 3;
	IS("nothing", sfg_find_go(&go, &in, &err), -ENOENT);
	memcpy(segment + 4, t.table.p, t.table.len);
	in.table = (struct sfg_image) { segment, sizeof(segment), TABLE - 4 };
	IS("aligned in memory", sfg_find_go(&go, &in, &err), 0);
}

/* ---- With other call frame information ---------------------------------- */

static void other_cfi(void)
{
	static struct bytes cfi;
	struct sfg_summary sum;
	struct sfg_input in;
	struct sfg_go go;
	size_t cie;

	START(GO_1_20, compiled);
	MUST(!sfg_open_go(&go, &t.in, NULL));
	in = input(&t, &go);
	cfi.len = 0;
	cie = put_cie(&cfi, &(struct cie)AMD64_PLAIN_CIE);
	put_fde(&cfi, cie, true, CODE + 0x10, 0x19, P("\x0e\x20"));
	in.cfi = (struct sfg_image) { cfi.p, cfi.len, 0x1000 };
	text_is("", "what .eh_frame knows is its", derive(&in, &sum),
		"0-3: 0 CFA=sp+8 | 10-29: 0 CFA=sp+32"
		" | 30-49: 0 CFA=sp+8, 7 CFA=sp+264, f CFA=sp+264 FP=[CFA-16]"
		PUSH_ROWS);
	cfi.len = 0;
	put_int(&cfi, 14, 4);
	put_int(&cfi, UINT32_MAX, 4);
	put(&cfi, P("\x01\0\x01\x78\x10\x0c\x07\x08\x90\x01"));
	put_int(&cfi, 24, 4);
	put_int(&cfi, 0, 4);
	put_int(&cfi, CODE + 0x10, 8);
	put_int(&cfi, 0x19, 8);
	put(&cfi, P("\x0e\x20\0\0"));
	in.flags |= SFG_INPUT_DEBUG_FRAME;
	in.cfi = (struct sfg_image) { cfi.p, cfi.len, 0 };
	text_is("", "what .debug_frame knows is not used", derive(&in, &sum),
		COMPILED_ROWS PUSH_ROWS);
	in.go = NULL;
	text_is("", "but without the table", derive(&in, &sum),
		"10-29: 0 CFA=sp+32");
}

/* ---- One address -------------------------------------------------------- */

static const struct sfjit_row *row_at(const struct sfg_fdes *fdes,
				      uint64_t addr,
				      const struct sfjit_function **f)
{
	const struct sfjit_row *row = NULL;
	size_t i;
	uint32_t k;

	for (i = 0; i < fdes->nr; i++)
		if (addr - fdes->fdes[i].addr < fdes->fdes[i].size)
			for (*f = &fdes->fdes[i], k = 0; k < (*f)->nr_rows &&
			     (*f)->rows[k].start <= addr - (*f)->addr; k++)
				row = &(*f)->rows[k];
	return row;
}

static void compare_rows(const char *name, const struct function *f, size_t nr)
{
	const struct sfjit_function *in_fde = NULL;
	unsigned int wrong = 0, rows = 0;
	const struct sfjit_row *row;
	struct sfjit_row found;
	struct sfg_input in;
	struct sfg_fdes fdes;
	struct sfg_go go;
	bool exact;
	uint64_t a;

	start(GO_1_20, f, nr);
	MUST(!sfg_open_go(&go, &t.in, NULL));
	in = input(&t, &go);
	MUST(!sfg_derive(&in, &fdes, NULL, NULL));
	for (a = CODE; a < CODE + t.code.len; a++) {
		row = row_at(&fdes, a, &in_fde);
		if (sfg_find_go_row(&go, &t.text, a, &found, &exact)) {
			wrong += row != NULL;
			continue;
		}
		rows++;
		wrong += !row || !sfg_rows_equal(row, &found) ||
			 exact != (in_fde->flags == SFJIT_FUNCTION_SIGNAL);
	}
	sfg_free_fdes(&fdes);
	result(!wrong && rows > 50, name, "%u of %u are others", wrong, rows);
}

static void one_address(void)
{
	struct sfg_image function;
	struct sfjit_row row;
	struct sfg_go go;
	bool exact;

	compare_rows("one row is that of all: compiled", compiled,
		     ARRAY_SIZE(compiled));
	compare_rows("one row is that of all: runtime", runtime,
		     ARRAY_SIZE(runtime));
	START(GO_1_20, compiled);
	MUST(!sfg_open_go(&go, &t.in, NULL));
	IS("a function", sfg_go_function_at(&go, CODE + 0x12, &function), 0);
	IS("its start", function.addr, CODE + 0x10);
	IS("its length", function.len, 0x20);
	IS("before the text", sfg_go_function_at(&go, CODE - 1, &function),
	   -ENOENT);
	IS("after the text", sfg_find_go_row(&go, &t.text, CODE + t.code.len,
					     &row, &exact), -ENOENT);
	IS("in a gap", sfg_find_go_row(&go, &t.text, CODE + 5, &row, &exact),
	   -ENODATA);
	t.text.len = 0x18;
	IS("code that was not read", sfg_find_go_row(&go, &t.text, CODE + 0x20,
						     &row, &exact), -ENODATA);
}

/* ---- Damage ------------------------------------------------------------- */

/* Rows are in order, in the text, and what the format has. */
static bool is_good(const struct sfg_fdes *fdes)
{
	uint64_t end = CODE;
	size_t i;

	for (i = 0; i < fdes->nr; i++) {
		if (fdes->fdes[i].addr < end || !fdes->fdes[i].size)
			return false;
		end = fdes->fdes[i].addr + fdes->fdes[i].size;
		if (fdes->fdes[i].nr_rows &&
		    sfg_check_function(SFRAME_ABI_AMD64_LE, &fdes->fdes[i],
				       NULL))
			return false;
	}
	return end <= CODE + t.code.len;
}

static bool survives(uint8_t *bytes, size_t len, size_t code_len)
{
	struct sfg_go_input in = t.in;
	struct sfg_input from;
	struct sfg_fdes fdes;
	struct sfg_go go;
	bool good;

	in.table = (struct sfg_image) { bytes, len, TABLE };
	if (sfg_open_go(&go, &in, NULL))
		return true;
	from = input(&t, &go);
	MUST(!sfg_derive(&from, &fdes, NULL, NULL));
	good = is_good(&fdes);
	sfg_free_fdes(&fdes);
	return good;
}

static void damage(int version, const struct function *f, size_t nr)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	unsigned int bad = 0;
	uint8_t *bytes, was;
	size_t len, i, k;

	start(version, f, nr);
	for (len = 0; len <= t.table.len; len++) {
		bytes = malloc(len + 1);
		memcpy(bytes, t.table.p, len);
		bad += !survives(bytes, len, t.code.len);
		free(bytes);
	}
	bytes = malloc(t.table.len);
	memcpy(bytes, t.table.p, t.table.len);
	for (i = 0; i < t.table.len; i++)
		for (k = 0; k < sizeof(values); k++) {
			was = bytes[i];
			bytes[i] = values[k];
			bad += !survives(bytes, t.table.len, t.code.len);
			bytes[i] = was;
		}
	free(bytes);
	result(!bad, versions[version], "damage: %u are not refused", bad);
}

int main(void)
{
	int version;

	each_version();
	relocated();
	no_text();
	text_before();
	special();
	assembly();
	refused();
	found();
	other_cfi();
	one_address();
	for (version = 0; version < NR_VERSIONS; version++) {
		damage(version, compiled, ARRAY_SIZE(compiled));
		damage(version, runtime, ARRAY_SIZE(runtime));
	}
	return finish();
}
