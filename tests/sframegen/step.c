// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Description: steps by rows and by CFI find the registers of the caller. */
#include "test.h"

#define CODE	0x1000
#define SIZE	0x40
#define BIAS	0x7f0000000000
#define STACK	0x7ffc0000
#define WORDS	64

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12 };

static const struct cie plain_cie = AMD64_PLAIN_CIE;

/* rbx is saved at CFA - 16 everywhere. */
static const struct cie saves_cie =
	AMD64_CIE("zR", "\x0c\x07\x10\x90\x01\x83\x02");

static const struct cie plain_debug_cie =
	AMD64_CIE("", "\x0c\x07\x08\x90\x01");

static const struct cie signal_cie =
	AMD64_CIE("zRS", "\x0c\x07\x08\x90\x01");

/* The word n of the stack is 0x100 + n. */
static bool read_stack(void *arg, uint64_t addr, uint64_t *word)
{
	if (addr < STACK || addr >= STACK + 8 * WORDS || addr % 8)
		return false;
	*word = 0x100 + (addr - STACK) / 8;
	return true;
}

/* At the 8th byte of the code; register n is n, but for the stack's. */
static struct sfg_frame make_frame(void)
{
	struct sfg_frame frame = {
		.pc = BIAS + CODE + 8, .known = 0xffff,
		.budget = SFG_FRAME_BUDGET, .read = read_stack,
	};
	unsigned int i;

	for (i = 0; i < 16; i++)
		frame.reg[i] = i;
	frame.reg[RSP] = STACK + 16;
	frame.reg[RBP] = STACK + 64;
	return frame;
}

static struct sfg_input input_of(unsigned int abi, const struct cie *cie,
				 const char *program, size_t len)
{
	static struct bytes b;

	b.len = 0;
	b.big_endian = abi == SFRAME_ABI_S390X_BE;
	put_fde(&b, put_cie(&b, cie), true, CODE, SIZE, program, len);
	put_int(&b, 0, 4);
	return (struct sfg_input) {
		.abi = abi, .cfi = { b.p, b.len, 0x9000 },
		.flags = SFG_INPUT_ADDENDS,
	};
}

static struct sfg_input make_input(const struct cie *cie, const char *program,
				   size_t len)
{
	return input_of(SFRAME_ABI_AMD64_LE, cie, program, len);
}

static int step_cfi(const struct sfg_input *in, struct sfg_frame *frame)
{
	struct sfg_cfi *cfi;
	int ret;

	MUST(!sfg_open_cfi(in, &cfi, NULL));
	ret = sfg_step_cfi(cfi, BIAS, frame);
	sfg_close_cfi(cfi);
	return ret;
}

static int step_section(const struct sfg_input *in, struct sfg_frame *frame)
{
	struct sfg_section section;
	struct sfg_output out;
	int ret;

	MUST(!sfg_convert(in, &out, NULL, NULL));
	MUST(!sfg_open_section(&section, out.data, out.len, 0, NULL));
	ret = sfg_step_section(&section, BIAS, frame);
	free(out.data);
	return ret;
}

static int step_row(const struct sfg_input *in, struct sfg_frame *frame)
{
	struct sfjit_row row;
	struct sfg_cfi *cfi;
	int ret;

	MUST(!sfg_open_cfi(in, &cfi, NULL));
	ret = sfg_find_cfi_row(cfi, frame->pc - frame->called - BIAS,
			       &frame->budget, &row);
	sfg_close_cfi(cfi);
	return ret ? ret : sfg_step_row(in->abi, &row, frame);
}

typedef int (*step_fn)(const struct sfg_input *in, struct sfg_frame *frame);

static const step_fn all_steps[] = { step_cfi, step_section, step_row };

/* "0", or the errno, and what became of some registers; - is not known. */
static const char *describe(int ret, const struct sfg_frame *frame)
{
	static const struct { const char *name; unsigned int reg; } shown[] = {
		{ "sp", RSP }, { "bp", RBP }, { "bx", RBX }, { "ax", RAX },
		{ "r12", R12 },
	};
	static char text[256];
	char *to = text;
	size_t i;

	to += sprintf(to, "%d", ret);
	if (ret)
		return text;
	to += sprintf(to, " pc=%llx%s", (unsigned long long)frame->pc,
		      frame->called ? "" : "!");
	for (i = 0; i < ARRAY_SIZE(shown); i++)
		if (frame->known >> shown[i].reg & 1)
			to += sprintf(to, " %s=%llx", shown[i].name,
				      (unsigned long long)
				      frame->reg[shown[i].reg]);
		else
			to += sprintf(to, " %s=-", shown[i].name);
	return text;
}

static bool same_frame(const struct sfg_frame *a, const struct sfg_frame *b)
{
	return a->pc == b->pc && a->known == b->known &&
	       a->called == b->called &&
	       !memcmp(a->reg, b->reg, sizeof(a->reg));
}

static void expect(const char *name, const char *how, int ret,
		   const struct sfg_frame *frame, const char *want)
{
	const struct sfg_frame before = make_frame();
	const char *got = describe(ret, frame);
	char full[128];

	snprintf(full, sizeof(full), "%s, by %s", name, how);
	result(!strcmp(got, want), full, "%s, expected %s", got, want);
	snprintf(full, sizeof(full), "%s, by %s: the frame stays", name, how);
	if (ret)
		result(same_frame(frame, &before), full, "it has changed");
}

struct test {
	const char *name;
	const struct cie *cie;
	const char *program;
	size_t len;
	const char *by_cfi;
	const char *by_section;	/* and by a row, unless there is none */
	bool no_row;
};

static const struct test tests[] = {
	{ "just called", &plain_cie, P(""),
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=3 ax=- r12=c",
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "rows before and after do not count", &plain_cie,
	  P("\x44\x0e\x10\x44\x0e\x18\x41\x0e\x20"),
	  "0 pc=104 sp=7ffc0028 bp=7ffc0040 bx=3 ax=- r12=c",
	  "0 pc=104 sp=7ffc0028 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "frame pointer saved, CFA from it", &plain_cie,
	  P("\x0c\x06\x10\x86\x02"),
	  "0 pc=109 sp=7ffc0050 bp=108 bx=3 ax=- r12=c",
	  "0 pc=109 sp=7ffc0050 bp=108 bx=- ax=- r12=-", false },
	{ "saved registers of CIE and FDE", &saves_cie, P("\x8c\x03"),
	  "0 pc=103 sp=7ffc0020 bp=7ffc0040 bx=102 ax=- r12=101",
	  "0 pc=103 sp=7ffc0020 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "restored to what the CIE says", &saves_cie,
	  P("\x83\x05\x41\xc3"),
	  "0 pc=103 sp=7ffc0020 bp=7ffc0040 bx=102 ax=- r12=c",
	  "0 pc=103 sp=7ffc0020 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "remembered and restored", &plain_cie,
	  P("\x0a\x83\x05\x41\x0b"),
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=3 ax=- r12=c",
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "same value, undefined", &plain_cie, P("\x08\x00\x07\x03"),
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=- ax=0 r12=c",
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "in another register", &plain_cie, P("\x09\x03\x05"),
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=5 ax=- r12=c",
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "is CFA + offset", &plain_cie, P("\x14\x03\x01"),
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=7ffc0010 ax=- r12=c",
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "saved where there is nothing", &plain_cie, P("\x11\x03\x80\x7f"),
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=- ax=- r12=c",
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "*(rbp - 8), as GCC realigns stacks", &plain_cie,
	  P("\x0f\x03\x76\x78\x06"), "-61", "-14", false },
	{ "CFA is loaded from the stack", &plain_cie,
	  P("\x0f\x09\x77\x00\x06\x0c\x16\xff\xfb\x7f\x22"),
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=3 ax=- r12=c",
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "loaded from where was loaded, which no row has", &plain_cie,
	  P("\x0f\x10\x77\x00\x06\x0c\x16\xff\xfb\x7f\x22"
	    "\x06\x0c\x15\xff\xfb\x7f\x22"),
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=3 ax=- r12=c", "-2",
	  true },
	{ "rbx by an expression from the CFA", &plain_cie,
	  P("\x10\x03\x02\x23\x08"),
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=104 ax=- r12=c",
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "rbx is what an expression says", &plain_cie,
	  P("\x16\x03\x03\x7c\x11\x1c"),
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=7ffbfffb ax=- r12=c",
	  "0 pc=102 sp=7ffc0018 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "the pc in an expression", &plain_cie,
	  P("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x38\x2a\x33\x24\x22"),
	  "0 pc=103 sp=7ffc0020 bp=7ffc0040 bx=3 ax=- r12=c",
	  "0 pc=103 sp=7ffc0020 bp=7ffc0040 bx=- ax=- r12=-", false },
	{ "the CFA from r12", &plain_cie, P("\x0d\x0c"), "-61", "-14", false },
	{ "outermost", &plain_cie, P("\x07\x10"), "1", "1", false },
	{ "no rule for the return address", &plain_cie, P("\x08\x10"),
	  "-95", "-2",
	  true },
	{ "the rules end before", &plain_cie, P("\x41\x3f"), "-95", "-2",
	  true },
	/* The return address is where no call puts it. */
	{ "a signal handler's caller", &signal_cie,
	  P("\x10\x10\x02\x77\x08"),
	  "0 pc=103! sp=7ffc0018 bp=7ffc0040 bx=3 ax=- r12=c", "-2", false },
};

static void test_steps(void)
{
	const struct test *t;

	for (t = tests; t < tests + ARRAY_SIZE(tests); t++) {
		struct sfg_input in = make_input(t->cie, t->program, t->len);
		struct sfg_frame frame = make_frame();

		expect(t->name, "CFI", step_cfi(&in, &frame), &frame,
		       t->by_cfi);
		frame = make_frame();
		expect(t->name, "section", step_section(&in, &frame), &frame,
		       t->by_section);
		frame = make_frame();
		expect(t->name, "row", step_row(&in, &frame), &frame,
		       t->no_row ? "-95" : t->by_section);
	}
}

/* A return address at the first byte after a function belongs to it. */
static void test_looked_up(void)
{
	struct sfg_input in = make_input(&plain_cie, P(""));
	struct sfg_frame frame = make_frame();

	frame.pc = BIAS + CODE + SIZE;
	IS("after the last byte, CFI", step_cfi(&in, &frame), -ENOENT);
	IS("after the last byte, section", step_section(&in, &frame),
	   -ENOENT);
	frame.called = true;
	IS("called by the last instruction, CFI", step_cfi(&in, &frame), 0);
	frame.pc = BIAS + CODE + SIZE;
	IS("called by the last instruction, section",
	   step_section(&in, &frame), 0);
	frame.pc = BIAS + CODE;
	IS("called before the first byte, CFI", step_cfi(&in, &frame),
	   -ENOENT);
	IS("called before the first byte, section", step_section(&in, &frame),
	   -ENOENT);
	frame.pc = 0;
	IS("address 0, CFI", step_cfi(&in, &frame), -ENOENT);
	frame.pc = BIAS;
	IS("the highest address, CFI", step_cfi(&in, &frame), -ENOENT);
}

/* rbp and rbx are at CFA - 16 and CFA - 24, as after pop %rbx, pop %rbp. */
static void test_popped(void)
{
	struct sfg_input in = make_input(&plain_cie, P("\x86\x02\x83\x03"));
	struct sfg_frame frame = make_frame();

	frame.reg[RSP] = STACK;
	expect("popped", "CFI", step_cfi(&in, &frame), &frame,
	       "0 pc=100 sp=7ffc0008 bp=7ffc0040 bx=3 ax=- r12=c");
	frame = make_frame();
	frame.reg[RSP] = STACK;
	expect("popped", "row", step_row(&in, &frame), &frame,
	       "0 pc=100 sp=7ffc0008 bp=7ffc0040 bx=- ax=- r12=-");
	frame = make_frame();
	frame.reg[RSP] = STACK;
	frame.known &= ~(1u << RBP);
	IS("popped, but not known", step_row(&in, &frame), -EFAULT);
	/* rbp at CFA + 1024, above the copy */
	in = make_input(&plain_cie, P("\x11\x06\x80\x7f"));
	frame = make_frame();
	expect("not in the copy", "CFI", step_cfi(&in, &frame), &frame,
	       "0 pc=102 sp=7ffc0018 bp=- bx=3 ax=- r12=c");
	frame = make_frame();
	IS("not in the copy, row", step_row(&in, &frame), -EFAULT);
}

static void test_budget(void)
{
	static char nops[5000];
	struct sfg_input in = make_input(&plain_cie, nops, sizeof(nops));
	struct sfg_frame frame = make_frame();
	int ret, steps = 0;

	/* one run for what rows say, and one for each other register */
	frame.budget = (3 * 15 + 1) * sizeof(nops);
	do {
		frame.pc = BIAS + CODE + 8;
		frame.called = false;
		frame.reg[RSP] = STACK;
		ret = step_cfi(&in, &frame);
		steps += !ret;
	} while (!ret && steps < 10);
	IS("a long program spends the budget", ret, -E2BIG);
	IS("steps before", steps, 3);
	frame = make_frame();
	frame.budget = sizeof(nops);
	IS("of a row, too", step_row(&in, &frame), -E2BIG);
	IS("which costs no less", (frame.budget = 2 * sizeof(nops),
				   step_row(&in, &frame)), 0);
	TRUE("and is taken off", frame.budget < sizeof(nops));
}

/* Other producers may give a signal trampoline rows. */
static void test_signal_rows(void)
{
	static const struct sfjit_row row = { .cfa = SFJIT_REG(7, 8) };
	static const struct sfjit_row elsewhere = {
		.cfa = SFJIT_REG(7, 8),
		.ra = { .base = SFJIT_BASE_CFA, .deref = true, .offset = 8 },
	};
	struct sfjit_function fde = {
		.addr = CODE, .size = SIZE, .nr_rows = 1, .rows = &row,
	};
	uint8_t buf[SFG_SECTION_MAX(1, 1)];
	struct sfg_frame frame = make_frame();
	struct sfg_section section;
	size_t used;

	MUST(!sfg_write_section(SFRAME_ABI_AMD64_LE, &fde, 1, 0, buf,
				sizeof(buf), &used, NULL));
	MUST(!sfg_open_section(&section, buf, used, 0, NULL));
	IS("rows of a function", sfg_step_section(&section, BIAS, &frame), 0);
	fde.flags = SFJIT_FUNCTION_SIGNAL;
	MUST(!sfg_write_section(SFRAME_ABI_AMD64_LE, &fde, 1, 0, buf,
				sizeof(buf), &used, NULL));
	MUST(!sfg_open_section(&section, buf, used, 0, NULL));
	frame = make_frame();
	IS("the same with the signal mark",
	   sfg_step_section(&section, BIAS, &frame), 0);
	IS("the caller's address is exact", frame.called, false);
	fde.rows = &elsewhere;
	MUST(!sfg_write_section(SFRAME_ABI_AMD64_LE, &fde, 1, 0, buf,
				sizeof(buf), &used, NULL));
	MUST(!sfg_open_section(&section, buf, used, 0, NULL));
	frame = make_frame();
	IS("no call puts a return address there",
	   sfg_step_section(&section, BIAS, &frame), -ENOENT);
}

/* Unknown registers are no zeros. */
static void test_unknown(void)
{
	struct sfg_input in = make_input(&plain_cie, P("\x0d\x03"));
	struct sfg_frame frame = make_frame();

	frame.known &= ~(1u << RBX);
	frame.reg[RBX] = STACK;
	IS("CFA from a register that is not known, CFI",
	   step_cfi(&in, &frame), -ENODATA);
	IS("CFA from a register that is not known, section",
	   step_section(&in, &frame), -ENODATA);
	frame.known |= 1u << RBX;
	IS("the same, known, CFI", step_cfi(&in, &frame), 0);
	frame = make_frame();
	frame.reg[RBX] = STACK;
	IS("the same, known, section", step_section(&in, &frame), 0);
}

/* ---- AArch64 ----------------------------------------------------------- */

enum { X29 = 29, LR, SP };

#define AARCH64	SFRAME_ABI_AARCH64_LE
#define SIGNED	0x2a7f000000000000

/* CFA = sp, code counts by 4, and words by -8. */
static const struct cie aarch64_cie = {
	.augmentation = "zR", .version = 1, .code_align = 4, .data_align = 0x78,
	.ra = LR, .program = "\x0c\x1f\x00", .program_len = 3,
};

/* CFA = sp + 16, where the frame pointer and the return address are. */
#define RECORD	"\x0e\x10\x9d\x02\x9e\x01"

/* Words of the stack are signed. */
static bool read_signed(void *arg, uint64_t addr, uint64_t *word)
{
	bool ret = read_stack(arg, addr, word);

	*word |= SIGNED;
	return ret;
}

static struct sfg_frame make_aarch64(void)
{
	struct sfg_frame frame = make_frame();

	frame.known = 1u << X29 | 1u << LR | 1u << SP;
	frame.reg[X29] = STACK + 64;
	frame.reg[LR] = SIGNED | 0x4567;
	frame.reg[SP] = STACK + 16;
	return frame;
}

static struct sfg_input aarch64_input(const char *program, size_t len)
{
	return input_of(AARCH64, &aarch64_cie, program, len);
}

#define ALL_STEPS(name, in, read_by, pc_wanted) do {			\
	unsigned int nr;						\
									\
	for (nr = 0; nr < ARRAY_SIZE(all_steps); nr++) {		\
		struct sfg_frame frame = make_aarch64();		\
									\
		frame.read = read_by;					\
		IS(name, all_steps[nr](&(in), &frame), 0);		\
		IS(name ": the address", frame.pc, pc_wanted);		\
	}								\
} while (0)

/* paciasp signs the link register, and so its saved copy. */
static void test_signed(void)
{
	struct sfg_input in = aarch64_input(P("\x2d"));

	ALL_STEPS("signed, in the link register", in, read_stack, 0x4567);
	in = aarch64_input(P("\x2d" RECORD));
	ALL_STEPS("signed, on the stack", in, read_signed, 0x103);
	in = aarch64_input(P(RECORD));
	ALL_STEPS("not said to be signed", in, read_signed, 0x103);
}

/* Other machines do not sign addresses: all bits count. */
static void test_not_signed(void)
{
	struct sfg_input in = make_input(&plain_cie, P(""));
	struct sfg_frame frame = make_frame();

	frame.read = read_signed;
	IS("AMD64", step_row(&in, &frame), 0);
	IS("AMD64: the address", frame.pc, SIGNED | 0x102);
}

static void test_records(void)
{
	struct sfg_frame frame = make_aarch64();

	frame.read = read_signed;
	IS("by a record", sfg_step_fp(AARCH64, &frame), 0);
	IS("by a record: the address", frame.pc, 0x109);
	IS("by a record: what is known", frame.known, 1u << X29);
	IS("by a record: frame pointer", frame.reg[X29], SIGNED | 0x108);

	frame = make_aarch64();
	IS("the next record is below", sfg_step_fp(AARCH64, &frame), 0);
	IS("the next record is below: the address", frame.pc, 0x109);
	IS("the next record is below: what is known", frame.known, 0);

	frame = make_frame();
	IS("AMD64 by a record", sfg_step_fp(SFRAME_ABI_AMD64_LE, &frame), 0);
	IS("AMD64 by a record: the address", frame.pc, 0x109);
	IS("AMD64 by a record: stack pointer", frame.reg[RSP], STACK + 80);
	IS("AMD64 by a record: frame pointer", frame.reg[RBP], 0x108);
	IS("AMD64 by a record: what is known", frame.known,
	   1u << RBP | 1u << RSP);
}

static int step_record(uint64_t fp, uint32_t known)
{
	struct sfg_frame frame = make_aarch64();

	frame.reg[X29] = fp;
	frame.known = known;
	return sfg_step_fp(AARCH64, &frame);
}

static void test_no_records(void)
{
	const uint32_t both = 1u << X29 | 1u << SP;
	struct sfg_frame frame = make_frame();

	IS("at the stack pointer", step_record(STACK + 16, both), 0);
	IS("below the stack pointer", step_record(STACK + 8, both), -EINVAL);
	IS("the same, not known", step_record(STACK + 8, 1u << X29), 0);
	IS("not aligned", step_record(STACK + 68, both), -EINVAL);
	IS("half of it is there", step_record(STACK + 8 * WORDS - 8, both),
	   -EFAULT);
	IS("no frame pointer", step_record(STACK + 64, 1u << SP), -ENODATA);
	IS("no records on s390x", sfg_step_fp(SFRAME_ABI_S390X_BE, &frame),
	   -ENOTSUP);
	IS("no ABI by records", sfg_step_fp(99, &frame), -ENOTSUP);
}

/* The stack pointer is not known: the record says where the frame is. */
static int step_behind_record(const char *program, size_t len,
			      uint64_t *pc, uint64_t *sp)
{
	struct sfg_input in = aarch64_input(program, len);
	struct sfg_frame frame = make_aarch64();
	int ret;

	frame.known = 1u << X29;
	ret = step_row(&in, &frame);
	*pc = frame.pc;
	*sp = frame.reg[SP];
	return ret;
}

static void test_behind_records(void)
{
	uint64_t pc, sp;

	IS("behind a record", step_behind_record(P(RECORD), &pc, &sp), 0);
	IS("after a record: the address", pc, 0x109);
	IS("after a record: stack pointer", sp, STACK + 80);
	/* CFA = sp + 48, and the record at its beginning. */
	IS("a record further down", step_behind_record(
		P("\x0e\x30\x9d\x06\x9e\x05"), &pc, &sp), 0);
	IS("a record further down: the address", pc, 0x109);
	IS("a record further down: stack pointer", sp, STACK + 112);
	IS("no record", step_behind_record(P("\x0e\x10\x9e\x01"), &pc, &sp),
	   -ENODATA);
	IS("not side by side", step_behind_record(
		P("\x0e\x20\x9d\x04\x9e\x02"), &pc, &sp), -ENODATA);
}

/* ---- s390x ------------------------------------------------------------- */

enum { SR11 = 11, SR14 = 14, SR15, F0, F2, F15 = 31 };

#define S390X	SFRAME_ABI_S390X_BE

/* CFA = r15 + 160; words by -8. */
static const struct cie s390x_cie = {
	.augmentation = "zR", .version = 1, .code_align = 1, .data_align = 0x78,
	.ra = SR14, .program = "\x0c\x0f\xa0\x01", .program_len = 4,
};

/* CFA = r15 + 320; r11, r14 and r15 are where the callee saves them. */
#define SAVED	"\x0e\xc0\x02\x8b\x09\x8e\x06\x8f\x05"
/* A leaf has r11 and r14 in f2 and f0. */
#define IN_FPRS	"\x09\x0b\x11\x09\x0e\x10"

/* What is saved of r15, too: CFA - 160. */
static bool read_s390x(void *arg, uint64_t addr, uint64_t *word)
{
	bool ret = read_stack(arg, addr, word);

	if (addr == STACK + 296)
		*word = STACK + 176;
	return ret;
}

static struct sfg_frame make_s390x(void)
{
	struct sfg_frame frame = make_frame();

	frame.known = 1u << SR11 | 1u << SR14 | 1u << SR15 | 1u << F0 |
		      1u << F2;
	frame.reg[SR14] = 0x4567;
	frame.reg[SR15] = STACK + 16;
	frame.reg[F0] = 0x4321;
	frame.reg[F2] = 0x1234;
	frame.read = read_s390x;
	return frame;
}

static void s390x_step(const char *name, step_fn step,
		       const struct sfg_input *in, uint64_t pc, uint64_t fp,
		       uint64_t sp)
{
	struct sfg_frame frame = make_s390x();
	char what[64];

	IS(name, step(in, &frame), 0);
	snprintf(what, sizeof(what), "%s: the address", name);
	IS(what, frame.pc, pc);
	snprintf(what, sizeof(what), "%s: frame pointer", name);
	IS(what, frame.reg[SR11], fp);
	snprintf(what, sizeof(what), "%s: stack pointer", name);
	IS(what, frame.reg[SR15], sp);
}

static void test_s390x(void)
{
	struct sfg_input in;
	unsigned int nr;
	step_fn step;

	for (nr = 0; nr < ARRAY_SIZE(all_steps); nr++) {
		step = all_steps[nr];
		in = input_of(S390X, &s390x_cie, P(""));
		s390x_step("in r14", step, &in, 0x4567, SR11, STACK + 16);
		in = input_of(S390X, &s390x_cie, P(IN_FPRS));
		s390x_step("in f0", step, &in, 0x4321, 0x1234, STACK + 16);
		in = input_of(S390X, &s390x_cie, P(SAVED));
		s390x_step("saved", step, &in, 0x124, 0x121, STACK + 176);
	}
}

static void test_abis(void)
{
	IS("perf's number of rcx", sfg_perf_register(SFRAME_ABI_AMD64_LE, RCX),
	   2);
	IS("perf's number of r8", sfg_perf_register(SFRAME_ABI_AMD64_LE, R8),
	   16);
	IS("perf's number of the pc", sfg_perf_pc(SFRAME_ABI_AMD64_LE), 8);
	IS("no register 16", sfg_perf_register(SFRAME_ABI_AMD64_LE, 16),
	   -ENOTSUP);
	IS("perf's number of r15", sfg_perf_register(S390X, SR15), 15);
	IS("perf's number of f0", sfg_perf_register(S390X, F0), 16);
	IS("perf's number of f2", sfg_perf_register(S390X, F2), 18);
	IS("perf's number of f15", sfg_perf_register(S390X, F15), 31);
	IS("perf's number of s390x's pc", sfg_perf_pc(S390X), 33);
	IS("stack pointer", sfg_stack_pointer(AARCH64), 31);
	IS("perf's number of x29", sfg_perf_register(AARCH64, X29), 29);
	IS("perf's number of sp", sfg_perf_register(AARCH64, SP), 31);
	IS("perf's number of AArch64's pc", sfg_perf_pc(AARCH64), 32);
	IS("no ABI", sfg_stack_pointer(99), -ENOTSUP);
}

/* Functions inside of another: each address is stepped from, by all three. */
static void test_overlap(void)
{
	static const struct { uint64_t at, pc; } want[] = {
		{ 0x00, 0x102 }, { 0x07, 0x102 }, { 0x08, 0x103 },
		{ 0x13, 0x103 }, { 0x14, 0x104 }, { 0x15, 0x105 },
		{ 0x17, 0x104 }, { 0x1b, 0x104 }, { 0x1c, 0x103 },
		{ 0x3f, 0x103 },
	};
	struct sfg_input in = make_input(&plain_cie, P("\x48\x0e\x10"));
	struct bytes *b = (struct bytes *)in.cfi.data;
	struct sfg_frame frame;
	size_t i, k;

	b->len -= 4;
	put_fde(b, 0, true, CODE + 0x14, 8, P("\x0e\x18"));
	put_fde(b, 0, true, CODE + 0x15, 2, P("\x0e\x20"));
	in.cfi.len = b->len;
	for (i = 0; i < ARRAY_SIZE(want); i++)
		for (k = 0; k < ARRAY_SIZE(all_steps); k++) {
			frame = make_frame();
			frame.called = false;
			frame.pc = BIAS + CODE + want[i].at;
			IS("step from a function around another",
			   all_steps[k](&in, &frame), 0);
			result(frame.pc == want[i].pc, "by the inner function",
			       "0x%llx: 0x%llx",
			       (unsigned long long)want[i].at,
			       (unsigned long long)frame.pc);
		}
}

static size_t derived_functions(const struct sfg_input *in)
{
	struct sfg_fdes fdes;
	size_t nr;

	IS("sfg_derive()", sfg_derive(in, &fdes, NULL, NULL), 0);
	nr = fdes.nr;
	sfg_free_fdes(&fdes);
	return nr;
}

/* A discarded function of .debug_frame is not that of code without CFI. */
static void test_discarded(void)
{
	struct bytes b = { 0 };
	struct sfg_input in = {
		.abi = SFRAME_ABI_AMD64_LE, .flags = SFG_INPUT_DEBUG_FRAME,
	};
	struct sfg_frame frame = make_frame();
	size_t at = put_cie(&b, &plain_debug_cie);

	memset(b.p + at + 4, 0xff, 4);
	at = b.len;
	put_fde(&b, 0, false, 0, CODE + SIZE, P(""));
	memset(b.p + at + 4, 0, 4);
	in.cfi = (struct sfg_image) { b.p, b.len, 0 };
	IS("discarded function", step_cfi(&in, &frame), -ENOENT);
	IS("rows of a discarded function", derived_functions(&in), 0);
	b.p[at + 8] = 1;
	IS("the same function elsewhere", step_cfi(&in, &frame), 0);
	IS("rows of the same function elsewhere", derived_functions(&in), 1);
}

int main(void)
{
	test_steps();
	test_overlap();
	test_discarded();
	test_looked_up();
	test_popped();
	test_budget();
	test_signal_rows();
	test_unknown();
	test_signed();
	test_not_signed();
	test_records();
	test_no_records();
	test_behind_records();
	test_s390x();
	test_abis();
	return finish();
}
