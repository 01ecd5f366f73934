// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of walks that decode x86-64 instructions. */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/sframe.h>
#include <linux/uaccess.h>

#include <asm/unwind_user_text.h>

#include "sframe_kunit.h"

/* ---- Calls ------------------------------------------------------------- */

/**
 * struct sframe_test_code - instructions
 * @name:	of the case
 * @result:	expected
 * @nr:		number of @bytes
 * @bytes:	the instructions
 */
struct sframe_test_code {
	const char	*name;
	int		result;
	unsigned int	nr;
	u8		bytes[32];
};

#define CODE(...)							\
	.nr = sizeof((u8 []){ __VA_ARGS__ }), .bytes = { __VA_ARGS__ }

/* The bytes before a return address, eight at most. */
static const struct sframe_test_code sframe_calls[] = {
	{ "direct", 1, CODE(0xe8, 1, 2, 3, 4) },
	{ "%rax", 1, CODE(0xff, 0xd0) },
	{ "%r15", 1, CODE(0x41, 0xff, 0xd7) },
	{ "(%rdx)", 1, CODE(0xff, 0x12) },
	{ "(%rsp)", 1, CODE(0xff, 0x14, 0x24) },
	{ "8(%rdx)", 1, CODE(0xff, 0x52, 8) },
	{ "8(%rsp)", 1, CODE(0xff, 0x54, 0x24, 8) },
	{ "256(%rdx)", 1, CODE(0xff, 0x92, 0, 1, 0, 0) },
	{ "256(%rsp)", 1, CODE(0xff, 0x94, 0x24, 0, 1, 0, 0) },
	{ "(%rip)", 1, CODE(0xff, 0x15, 0, 1, 0, 0) },
	{ "absolute", 1, CODE(0xff, 0x14, 0x25, 0, 0, 1, 0) },
	{ "from a table", 1, CODE(0xff, 0x14, 0xc8) },
	{ "from a table without a base", 1,
	  CODE(0xff, 0x14, 0xc5, 0, 0, 1, 0) },
	{ "nothing", 0, CODE(0x90) },
	{ "direct, and one byte", 0, CODE(0xe8, 1, 2, 3, 4, 5) },
	{ "direct jump", 0, CODE(0xe9, 1, 2, 3, 4) },
	{ "indirect jump", 0, CODE(0xff, 0xe0) },
	{ "push", 0, CODE(0xff, 0x32) },
	{ "far call", 0, CODE(0xff, 0x1a) },
	{ "too short for its displacement", 0, CODE(0xff, 0x52) },
	{ "too long for its displacement", 0, CODE(0xff, 0x52, 8, 0) },
	{ "without its base", 0, CODE(0xff, 0x14) },
};

KUNIT_ARRAY_PARAM_DESC(sframe_call, sframe_calls, name);

static void sframe_text_call(struct kunit *test)
{
	const struct sframe_test_code *param = test->param_value;
	u64 before = 0;

	memcpy((u8 *)&before + sizeof(before) - param->nr, param->bytes,
	       param->nr);
	KUNIT_EXPECT_EQ(test, unwind_user_ends_in_call(before), param->result);
}

/* ---- Bytes pushed by code ---------------------------------------------- */

static const struct sframe_test_code sframe_entries[] = {
	{ "push %rbp", 8, CODE(0x55) },
	{ "endbr64; push %rbp", 8, CODE(0xf3, 0x0f, 0x1e, 0xfa, 0x55) },
	{ "push %rbp twice", -1, CODE(0x55, 0x55) },
	{ "push %rbp; mov %rsp, %rbp", -1, CODE(0x55, 0x48, 0x89, 0xe5) },
	{ "push %r13", -1, CODE(0x41, 0x55) },
	{ "push %rbx", -1, CODE(0x53) },
	{ "push $1", -1, CODE(0x6a, 1) },
	{ "push (%rdx)", -1, CODE(0xff, 0x32) },
	{ "push %fs", -1, CODE(0x0f, 0xa0) },
	{ "pop %gs", -1, CODE(0x0f, 0xa9) },
	{ "pop %rbp", -1, CODE(0x5d) },
	{ "leave", -1, CODE(0xc9) },
	{ "sub $8, %rsp", -1, CODE(0x48, 0x83, 0xec, 8) },
	{ "add $8, %r12", 0, CODE(0x49, 0x83, 0xc4, 8) },
	{ "lea 8(%rsp), %rsp", -1, CODE(0x48, 0x8d, 0x64, 0x24, 8) },
	{ "lea -256(%rsp), %r12", 0,
	  CODE(0x4c, 0x8d, 0xa4, 0x24, 0, 0xff, 0xff, 0xff) },
	{ "mov %rax, %rsp", -1, CODE(0x48, 0x89, 0xc4) },
	{ "mov %rax, %r12", 0, CODE(0x49, 0x89, 0xc4) },
	{ "mov $1, %esp", -1, CODE(0xbc, 1, 0, 0, 0) },
	{ "mov $1, %r12d", 0, CODE(0x41, 0xbc, 1, 0, 0, 0) },
	{ "xchg %rax, %rsp", -1, CODE(0x48, 0x94) },
	{ "cmp 16(%r14), %rsp; jbe", 0,
	  CODE(0x49, 0x3b, 0x66, 0x10, 0x76, 0x40) },
	{ "cmp $8, %rsp", 0, CODE(0x48, 0x83, 0xfc, 8) },
	{ "test %rsp, %rsp", 0, CODE(0x48, 0x85, 0xe4) },
	{ "shl $4, %eax", 0, CODE(0xc1, 0xe0, 4) },
	{ "and $15, %ecx", 0, CODE(0x83, 0xe1, 15) },
	{ "mul %rdx", 0, CODE(0x48, 0xf7, 0xe2) },
	{ "not %rsp", -1, CODE(0x48, 0xf7, 0xd4) },
	{ "jmp *%rax", 0, CODE(0xff, 0xe0) },
	{ "inc %rsp", -1, CODE(0x48, 0xff, 0xc4) },
	{ "call", -1, CODE(0xe8, 0, 0, 0, 0) },
	{ "call *%rax", -1, CODE(0xff, 0xd0) },
	{ "ret; nop", 0, CODE(0xc3, 0x66, 0x90) },
	{ "movaps %xmm4, %xmm0", 0, CODE(0x0f, 0x28, 0xc4) },
	{ "vpaddd %ymm4, %ymm4, %ymm4", 0, CODE(0xc5, 0xdd, 0xfe, 0xe4) },
	{ "add by apx, %rsp", -1,
	  CODE(0x62, 0xf4, 0xdc, 0x18, 0x01, 0xc4) },
	{ "half an instruction", -1, CODE(0x48, 0x8b) },
	{ "nothing", 0 },
};

KUNIT_ARRAY_PARAM_DESC(sframe_entry, sframe_entries, name);

static void sframe_text_pushes(struct kunit *test)
{
	const struct sframe_test_code *param = test->param_value;

	KUNIT_EXPECT_EQ(test, unwind_user_code_pushes(param->bytes, param->nr),
			param->result);
}

/* ---- Steps from functions without a frame ------------------------------ */

/* Offsets of a function and the call of it, in text without a window. */
#define SFRAME_TEXT_CALL	0x40
#define SFRAME_TEXT_FUNC	0x100

/* Contents of a stack word. */
enum sframe_test_word {
	WORD_OTHER,		/* no code address */
	WORD_RA,		/* the return address of the call */
	WORD_FP,		/* the frame pointer */
};

/**
 * struct sframe_test_entered - an interrupted function
 * @name:	of the case
 * @call:	instruction before the return address; the target of a direct
 *		call is filled in
 * @code:	of the function
 * @off:	of the interrupted instruction
 * @ax:		register, relative to the start of the function
 * @stack:	words at the stack pointer
 * @sp:		offset of the caller's stack pointer, 0 without a caller
 */
struct sframe_test_entered {
	const char			*name;
	struct sframe_test_code		call;
	struct sframe_test_code		code;
	int				off;
	long				ax;
	enum sframe_test_word		stack[2];
	unsigned int			sp;
};

#define DIRECT		.call = { CODE(0xe8, 0, 0, 0, 0) }
#define INDIRECT	.call = { CODE(0xff, 0xd0) }
#define FRAME		.code = { CODE(0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3) }
#define LEAF		.code = { CODE(0x89, 0xf8, 0xc1, 0xe0, 4, 0xf3, 0xc3) }

static const struct sframe_test_entered sframe_entered[] = {
	{ "first instruction", DIRECT, FRAME, .stack = { WORD_RA }, .sp = 8 },
	{ "pushed", DIRECT, FRAME, 1, .stack = { WORD_FP, WORD_RA }, .sp = 16 },
	{ "pushed something", DIRECT, FRAME, 1, .stack = { WORD_OTHER, WORD_RA } },
	{ "before it is pushed", DIRECT, FRAME, 0,
	  .stack = { WORD_FP, WORD_RA } },
	{ "with a frame", DIRECT, FRAME, 4, .stack = { WORD_FP, WORD_RA } },
	{ "with a frame and an old address on top", DIRECT, FRAME, 4,
	  .stack = { WORD_RA, WORD_RA } },
	{ "return", DIRECT, FRAME, 5, .stack = { WORD_RA }, .sp = 8 },
	{ "return to no call", .call = { CODE(0x90) }, FRAME, 5,
	  .stack = { WORD_RA } },
	{ "return to no code", DIRECT, FRAME, 5, .stack = { WORD_OTHER } },
	{ "return with the frame pointer on top", DIRECT, FRAME, 5,
	  .stack = { WORD_FP, WORD_RA } },
	{ "leaf", DIRECT, LEAF, 2, .stack = { WORD_RA }, .sp = 8 },
	{ "rep ret", DIRECT, LEAF, 5, .stack = { WORD_RA }, .sp = 8 },
	{ "within an instruction", DIRECT, LEAF, 3, .stack = { WORD_RA } },
	{ "leaf that was called by a register", INDIRECT, LEAF, 2,
	  .stack = { WORD_RA }, .sp = 8 },
	{ "register has changed", INDIRECT, LEAF, 2, .ax = 0x1000,
	  .stack = { WORD_RA } },
	{ "before the function", DIRECT, LEAF, -1, .stack = { WORD_RA } },
	{ "at the limit", DIRECT, .off = 128, .stack = { WORD_RA }, .sp = 8 },
	{ "behind the limit", DIRECT, .off = 129, .stack = { WORD_RA } },
};

KUNIT_ARRAY_PARAM_DESC(sframe_entered, sframe_entered, name);

static unsigned long sframe_text_base(const struct sframe_test *ctx)
{
	return ctx->text + PAGE_SIZE;
}

static unsigned long sframe_text_ra(const struct sframe_test *ctx)
{
	return sframe_text_base(ctx) + SFRAME_TEXT_CALL;
}

static void sframe_text_put(struct kunit *test,
			    const struct sframe_test_entered *param)
{
	static const u8 nop[256] = { [0 ... 255] = 0x90 };
	struct sframe_test *ctx = test->priv;
	struct sframe_test_code call = param->call;
	s32 rel = SFRAME_TEXT_FUNC - SFRAME_TEXT_CALL;

	if (call.nr == 5)
		memcpy(call.bytes + 1, &rel, sizeof(rel));
	sframe_test_put(test, sframe_text_ra(ctx) - call.nr, call.bytes, call.nr);
	sframe_test_put(test, sframe_text_base(ctx) + SFRAME_TEXT_FUNC, nop,
			sizeof(nop));
	sframe_test_put(test, sframe_text_base(ctx) + SFRAME_TEXT_FUNC,
			param->code.bytes, param->code.nr);
}

static void sframe_text_begin(struct kunit *test, struct pt_regs *regs,
			      struct unwind_user_state *state,
			      const struct sframe_test_entered *param)
{
	struct sframe_test *ctx = test->priv;
	unsigned long func = sframe_text_base(ctx) + SFRAME_TEXT_FUNC;
	unsigned long stack = ctx->data + 2 * PAGE_SIZE, word;
	unsigned int i;

	sframe_text_put(test, param);
	sframe_test_publish(test, 1, false);
	unwind_user_kunit_regs(regs, func + param->off, stack, stack + 64,
			       0);
	regs->ax = func + param->ax;
	for (i = 0; i < ARRAY_SIZE(param->stack); i++) {
		word = param->stack[i] == WORD_RA ? sframe_text_ra(ctx) :
		       param->stack[i] == WORD_FP ? regs->bp : 0x1234;
		sframe_test_put(test, stack + 8 * i, &word, sizeof(word));
	}
	KUNIT_ASSERT_TRUE(test, unwind_user_init(state, regs));
	KUNIT_ASSERT_TRUE(test, sframe_walk_init(state, 0, true));
}

static void sframe_text_entered(struct kunit *test)
{
	const struct sframe_test_entered *param = test->param_value;
	struct unwind_user_state state;
	struct pt_regs regs;
	int ret;

	sframe_text_begin(test, &regs, &state, param);
	pagefault_disable();
	ret = unwind_user_step_entered(&state);
	pagefault_enable();
	KUNIT_EXPECT_EQ(test, ret, param->sp ? 0 : -ENOENT);
	KUNIT_EXPECT_EQ(test, state.ip, param->sp ?
			sframe_text_ra(test->priv) : regs.ip);
	KUNIT_EXPECT_EQ(test, state.sp, regs.sp + param->sp);
	KUNIT_EXPECT_EQ(test, state.fp, regs.bp);
	KUNIT_EXPECT_EQ(test, state.topmost, !param->sp);
}

/* A step by frame pointer looks for such a caller if the task has windows. */
static void sframe_text_by_fp(struct kunit *test)
{
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_text_begin(test, &regs, &state, &sframe_entered[0]);
	pagefault_disable();
	KUNIT_EXPECT_EQ(test, unwind_user_step_fp(&state, sizeof(long)), 0);
	pagefault_enable();
	KUNIT_EXPECT_EQ(test, state.ip, sframe_text_ra(test->priv));

	KUNIT_ASSERT_TRUE(test, unwind_user_init(&state, &regs));
	pagefault_disable();
	KUNIT_EXPECT_NE(test, unwind_user_step_fp(&state, sizeof(long)), 0);
	pagefault_enable();
}

/* It also works after a signal frame, without other registers. */
static void sframe_text_signal(struct kunit *test)
{
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_text_begin(test, &regs, &state, &sframe_entered[0]);
	state.regs = NULL;
	pagefault_disable();
	KUNIT_EXPECT_EQ(test, unwind_user_step_entered(&state), 0);
	pagefault_enable();
	KUNIT_EXPECT_EQ(test, state.ip, sframe_text_ra(test->priv));
}

static void sframe_text_expect(struct kunit *test,
			       struct unwind_user_state state, int ret)
{
	pagefault_disable();
	KUNIT_EXPECT_EQ(test, unwind_user_step_entered(&state), ret);
	pagefault_enable();
}

static void sframe_text_not_there(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_text_begin(test, &regs, &state, &sframe_entered[0]);
	sframe_text_expect(test, state, 0);
	KUNIT_ASSERT_EQ(test, vm_munmap(sframe_text_base(ctx), PAGE_SIZE), 0);
	sframe_text_expect(test, state, -ENOENT);
	state.sp = ctx->data + SFRAME_TEST_SIZE;
	sframe_text_expect(test, state, -ENOENT);
}

/* The call is on another page. It is read, then the function is not. */
static void sframe_text_function_not_there(struct kunit *test)
{
	static const struct sframe_test_entered leaf = {
		INDIRECT, LEAF, .stack = { WORD_RA },
	};
	struct sframe_test *ctx = test->priv;
	unsigned long func = sframe_text_base(ctx) + PAGE_SIZE;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_text_begin(test, &regs, &state, &leaf);
	sframe_test_put(test, func, leaf.code.bytes, leaf.code.nr);
	regs.ax = func;
	state.ip = func + 2;
	sframe_text_expect(test, state, 0);
	state.regs = NULL;
	sframe_text_expect(test, state, -ENOENT);
	state.regs = &regs;
	KUNIT_ASSERT_EQ(test, vm_munmap(func, PAGE_SIZE), 0);
	sframe_text_expect(test, state, -ENOENT);
}

/* The word above a pushed frame pointer, which looks like a return address. */
static void sframe_text_stack_not_there(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long ra = sframe_text_ra(ctx);
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_text_begin(test, &regs, &state, &sframe_entered[1]);
	state.fp = ra;
	state.sp = ctx->data + SFRAME_TEST_SIZE - sizeof(ra);
	sframe_test_put(test, state.sp, &ra, sizeof(ra));
	sframe_text_expect(test, state, -ENOENT);
}

static struct kunit_case sframe_text_cases[] = {
	KUNIT_CASE_PARAM(sframe_text_call, sframe_call_gen_params),
	KUNIT_CASE_PARAM(sframe_text_pushes, sframe_entry_gen_params),
	KUNIT_CASE_PARAM(sframe_text_entered, sframe_entered_gen_params),
	KUNIT_CASE(sframe_text_by_fp),
	KUNIT_CASE(sframe_text_signal),
	KUNIT_CASE(sframe_text_not_there),
	KUNIT_CASE(sframe_text_function_not_there),
	KUNIT_CASE(sframe_text_stack_not_there),
	{}
};

static struct kunit_suite sframe_text_suite = {
	.name = "sframe_text",
	.init = sframe_test_init,
	.test_cases = sframe_text_cases,
};

kunit_test_suite(sframe_text_suite);
