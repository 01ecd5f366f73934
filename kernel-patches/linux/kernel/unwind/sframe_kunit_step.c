// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of one step of a walk, with or without an SFrame window. */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/sframe.h>
#include <linux/sizes.h>

#include <asm/unwind_user_sframe.h>

#include "sframe_kunit.h"
#include "signal.h"

/**
 * struct sframe_test_refusal - a step that must be refused
 * @rows:	at the address
 * @called:	the frame is not the topmost one
 * @no_regs:	the frame was interrupted by a signal
 * @no_stack:	the stack is not mapped
 */
struct sframe_test_refusal {
	struct sframe_test_rows	rows;
	bool			called;
	bool			no_regs;
	bool			no_stack;
};

static const struct sframe_test_refusal sframe_refusals[] = {
	{ { "stack is not there", SFRAME_REASON_STACK_FAULT, .nr = 1,
	    BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD) }, .no_stack = true },
	{ { "saved fp is not there", SFRAME_REASON_STACK_FAULT, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(5), REG(UNWIND_USER_REGNUM_SP), CFA(8),
		  0, REG_DEREF(0), 0) } },
	{ { "cfa is not there", SFRAME_REASON_STACK_FAULT, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(2), REG_DEREF(0), CFA(-SAVE_AREA)) } },
	{ { "cfa stays", SFRAME_REASON_CFA_ORDER, .nr = 1,
	    BYTES(0, INFO_SP_RA(1), CFA(0), RA_WORD) }, .called = true },
	{ { "cfa goes down", SFRAME_REASON_CFA_ORDER, .nr = 1,
	    BYTES(0, INFO_SP_RA(1), CFA(-8), RA_WORD) } },
#if CFA_SCALE == 1
	{ { "cfa not aligned", SFRAME_REASON_CFA_ALIGN, .nr = 1,
	    BYTES(0, INFO_SP_RA(1), CFA(12), RA_WORD) } },
#endif
	{ { "register of a callee", SFRAME_REASON_ROW_REGISTER, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(2), REG(OTHER_REG), CFA(0)) },
	  .called = true },
	{ { "register behind a signal", SFRAME_REASON_ROW_REGISTER, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(2), REG(OTHER_REG), CFA(0)) },
	  .no_regs = true },
	{ { "no general register", SFRAME_REASON_ROW_REGISTER, FLEX, .nr = 1,
	    BYTES(0, INFO_FP(2, 1), BYTE(REG(UNWIND_USER_KUNIT_NO_REG), 2, 0),
		  BYTE(REG(UNWIND_USER_KUNIT_NO_REG), 2, 1), 0, 0) } },
	{ { "register of a return address", SFRAME_REASON_ROW_REGISTER, FLEX,
	    .nr = 1, BYTES(0, INFO_FLEX(4), REG(UNWIND_USER_REGNUM_SP), CFA(8),
			   REG(OTHER_REG), 0) }, .called = true },
	{ { "loaded cfa goes down", SFRAME_REASON_CFA_ORDER, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(2), REG_DEREF(UNWIND_USER_REGNUM_SP),
		  CFA(-SAVE_AREA)) } },
	{ { "refused by the decoder", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(2), 0, 0) } },
};

KUNIT_ARRAY_PARAM_DESC(sframe_refusal, sframe_refusals, rows.name);

static void sframe_test_refusal_state(struct kunit *test,
				      struct unwind_user_state *state,
				      const struct sframe_test_refusal *param)
{
	state->topmost = !param->called;
	if (param->no_regs)
		state->regs = NULL;
	if (param->no_stack)
		KUNIT_ASSERT_EQ(test, vm_munmap(state->sp, PAGE_SIZE), 0);
}

static void sframe_step_refused(struct kunit *test)
{
	const struct sframe_test_refusal *param = test->param_value;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &param->rows);
	sframe_test_refusal_state(test, &state, param);
	sframe_expect_refused(test, &state, param->rows.reason);
}

static void sframe_step_to_the_caller(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	KUNIT_ASSERT_EQ(test, sframe_test_step(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, SFRAME_TEST_RA);
	KUNIT_EXPECT_EQ(test, state.sp, sframe_test_stack(ctx) + 8);
	KUNIT_EXPECT_EQ(test, state.fp, sframe_test_stack(ctx) + 64);
	KUNIT_EXPECT_FALSE(test, state.topmost);
	KUNIT_EXPECT_FALSE(test, state.exact_ip);
	KUNIT_EXPECT_FALSE(test, state.done);

	/* No window covers the caller. */
	KUNIT_EXPECT_EQ(test, sframe_test_step(&state), -ENOENT);
}

/* A return address is looked up less one. */
static void sframe_step_behind_a_call(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	state.ip = ctx->text + SFRAME_TEST_FUNC + SFRAME_TEST_FUNC_SIZE;
	sframe_expect_refused(test, &state, SFRAME_REASON_NO_FDE);
	state.exact_ip = false;
	KUNIT_EXPECT_EQ(test, sframe_test_step(&state), 0);
}

static void sframe_step_topmost_cfa_may_stay(struct kunit *test)
{
	static const struct sframe_test_rows rows = {
		FLEX, .nr = 1,
		BYTES(0, INFO_FLEX(4), REG(UNWIND_USER_REGNUM_SP), CFA(0),
		      REG(OTHER_REG), 0),
	};
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &rows);
	KUNIT_EXPECT_EQ(test, sframe_test_step(&state), 0);
	KUNIT_EXPECT_EQ(test, state.sp, sframe_test_stack(ctx));
	KUNIT_EXPECT_EQ(test, state.ip, sframe_test_stack(ctx) + 8);
}

static void sframe_step_outermost(struct kunit *test)
{
	static const struct sframe_test_rows rows = { .nr = 1, BYTES(0, 0) };
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &rows);
	KUNIT_EXPECT_EQ(test, sframe_test_step(&state), 0);
	KUNIT_EXPECT_TRUE(test, state.done);
}

static void sframe_step_loaded_cfa(struct kunit *test)
{
	static const struct sframe_test_rows rows = {
		FLEX, .nr = 1,
		/* With a return address rule, unless its place is fixed. */
		BYTES(0, INFO_FLEX(2 + 2 * RA_WORDS),
		      REG_DEREF(UNWIND_USER_REGNUM_SP), CFA(8 - SAVE_AREA),
		      SFRAME_FLEX_DEREF_P, (u8)RA_OFF),
	};
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &rows);
	sframe_test_put_word(test, stack + 8, stack + 48 + SAVE_AREA);
	sframe_test_put_word(test, stack + 48 + RA_AT, SFRAME_TEST_RA);
	KUNIT_EXPECT_EQ(test, sframe_test_step(&state), 0);
	KUNIT_EXPECT_EQ(test, state.sp, stack + 48);
	KUNIT_EXPECT_EQ(test, state.ip, SFRAME_TEST_RA);
}

static void sframe_step_without_windows(struct kunit *test)
{
	struct unwind_user_state state = { .ws = sizeof(long) };

	KUNIT_EXPECT_NULL(test, current->mm->sframe);
	KUNIT_EXPECT_FALSE(test, sframe_walk_init(&state, 0, true));
	KUNIT_EXPECT_FALSE(test, sframe_walk_init(&state, 0, false));
	/* Another word size. */
	sframe_test_publish(test, SFRAME_TEST_KEY, false);
	KUNIT_EXPECT_TRUE(test, sframe_walk_init(&state, 0, false));
	state.ws = sizeof(u32);
	KUNIT_EXPECT_FALSE(test, sframe_walk_init(&state, 0, false));
}

/* ---- Bounds ------------------------------------------------------------ */

static void sframe_step_without_budget(struct kunit *test)
{
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	state.sframe.budget = 0;
	state.sframe.slack = 0;
	sframe_expect_refused(test, &state, SFRAME_REASON_BUDGET);
}

/* The budget also ends between two reads of a step. */
static void sframe_step_budget_ends_within(struct kunit *test)
{
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	state.sframe.budget = 0;
	state.sframe.slack = SFRAME_STACK_READS;
	sframe_expect_refused(test, &state, SFRAME_REASON_BUDGET);
}

/* Steps without a window need no budget and have no deadline. */
static void sframe_step_beside_is_free(struct kunit *test)
{
	struct unwind_user_state state;
	struct pt_regs regs;
	int nr;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	state.ip = SFRAME_TEST_RA;
	state.sframe.budget = 0;
	state.sframe.slack = 0;
	state.sframe.deadline = 1;
	for (nr = 0; nr < SFRAME_INTERVAL; nr++)
		KUNIT_ASSERT_EQ(test, sframe_test_step(&state), -ENOENT);
	KUNIT_EXPECT_EQ(test, state.sframe.budget, 0);
	KUNIT_EXPECT_EQ(test, state.sframe.slack, 0);
}

/* The time of steps without a window does not count. */
static void sframe_step_clock_stands_still(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;
	u64 left, now;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	left = NSEC_PER_SEC;
	state.sframe.deadline = local_clock() + left;
	state.ip = SFRAME_TEST_RA;
	KUNIT_ASSERT_EQ(test, sframe_test_step(&state), -ENOENT);
	KUNIT_EXPECT_NE(test, state.sframe.stopped, 0);
	/* Much later the walk reaches a window. */
	state.sframe.stopped -= 10 * left;
	state.sframe.deadline -= 10 * left;
	state.ip = sframe_test_ip(ctx);
	KUNIT_EXPECT_EQ(test, sframe_test_step(&state), 0);
	KUNIT_EXPECT_EQ(test, state.sframe.stopped, 0);
	now = local_clock();
	KUNIT_EXPECT_LE(test, state.sframe.deadline, now + left);
	KUNIT_EXPECT_GT(test, state.sframe.deadline, now);
}

/* A step that is repeated after a fault counts once. */
static void sframe_step_repeated(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;
	int budget, slack;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	budget = state.sframe.budget;
	slack = state.sframe.slack;
	/* No stack is mapped there. */
	state.sp = ctx->data + SZ_1G;
	KUNIT_EXPECT_EQ(test, sframe_test_step_nofault(&state), -EFAULT);
	KUNIT_EXPECT_EQ(test, state.sframe.budget, budget);
	KUNIT_EXPECT_EQ(test, state.sframe.slack, slack);
}

static void sframe_walk_budgets(struct kunit *test)
{
	struct unwind_user_state state = { .ws = sizeof(long) };

	sframe_test_publish(test, SFRAME_TEST_KEY, false);
	KUNIT_ASSERT_TRUE(test, sframe_walk_init(&state, 127, true));
	KUNIT_EXPECT_EQ(test, state.sframe.budget, 127 * SFRAME_FRAME_BUDGET);
	KUNIT_ASSERT_TRUE(test, sframe_walk_init(&state, 1, true));
	KUNIT_EXPECT_EQ(test, state.sframe.budget, 127 * SFRAME_FRAME_BUDGET);
	KUNIT_ASSERT_TRUE(test, sframe_walk_init(&state, 640 * 1024, true));
	KUNIT_EXPECT_EQ(test, state.sframe.budget,
			640 * 1024 * SFRAME_FRAME_BUDGET);
	KUNIT_ASSERT_TRUE(test, sframe_walk_init(&state, 510, false));
	KUNIT_EXPECT_EQ(test, state.sframe.budget,
			510 * SFRAME_FRAME_BUDGET + U16_MAX);
}

static void sframe_step_deadline(struct kunit *test)
{
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	/* The deadline is checked only after SFRAME_INTERVAL reads. */
	state.sframe.deadline = 1;
	state.sframe.slack = 0;
	sframe_expect_refused(test, &state, SFRAME_REASON_DEADLINE);
	KUNIT_EXPECT_EQ(test, sframe_test_step(&state), 0);

	/* The check also comes between two reads of a step. */
	sframe_test_begin(test, &regs, &state);
	state.ip++;
	state.sframe.deadline = 1;
	state.sframe.slack = SFRAME_STACK_READS;
	sframe_expect_refused(test, &state, SFRAME_REASON_DEADLINE);

	/* Only samples have a deadline. */
	KUNIT_ASSERT_TRUE(test, sframe_walk_init(&state, 0, true));
	KUNIT_EXPECT_NE(test, state.sframe.deadline, 0);
	KUNIT_ASSERT_TRUE(test, sframe_walk_init(&state, 0, false));
	KUNIT_EXPECT_EQ(test, state.sframe.deadline, 0);
}

/* ---- Signal frames ----------------------------------------------------- */

static const struct sframe_test_rows sframe_signal_rows = {
	.info = SFRAME_FDE_SIGNAL, .nr = 0, BYTES(0),
};

/*
 * The address of the registers in a signal frame at @sp. If it depends on the
 * instruction that the handler returns to, write that instruction.
 */
static unsigned long sframe_test_signal_regs(struct kunit *test,
					     unsigned long sp)
{
#ifdef UNWIND_USER_KUNIT_SIGRETURN
	const u16 insn = UNWIND_USER_KUNIT_SIGRETURN;

	sframe_test_put(test, sframe_test_ip(test->priv), &insn, sizeof(insn));
	return sp + unwind_user_signal_off(insn);
#else
	return sp;
#endif
}

/* Write a signal frame at @sp that leads to @ip, on a lower stack. */
static void sframe_test_put_signal(struct kunit *test, unsigned long sp,
				   unsigned long ip, unsigned long mode)
{
	unsigned long at = sframe_test_signal_regs(test, sp);

	sframe_test_put_word(test, at + UNWIND_USER_SIGNAL_FP, 0x1111);
	sframe_test_put_word(test, at + UNWIND_USER_SIGNAL_SP, sp - PAGE_SIZE);
	sframe_test_put_word(test, at + UNWIND_USER_SIGNAL_IP, ip);
	sframe_test_put_word(test, at + UNWIND_USER_SIGNAL_MODE, mode);
}

static void sframe_signal_step(struct kunit *test)
{
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_signal_rows);
	sframe_test_put_signal(test, stack, 0x22222, UNWIND_USER_KUNIT_MODE);
	state.topmost = false;
	KUNIT_ASSERT_EQ(test, sframe_test_step(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, 0x22222);
	KUNIT_EXPECT_EQ(test, state.sp, stack - PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, state.fp, 0x1111);
	KUNIT_EXPECT_EQ(test, state.signals, 1);
	KUNIT_EXPECT_TRUE(test, state.topmost);
	KUNIT_EXPECT_TRUE(test, state.exact_ip);
	KUNIT_EXPECT_NULL(test, state.regs);
}

/* After a signal frame, other registers are unknown. */
static void sframe_signal_forgets_registers(struct kunit *test)
{
	static const struct sframe_test_rows rows = {
		FLEX, .nr = 1,
		/* With a return address rule, unless its place is fixed. */
		BYTES(0, INFO_FLEX(2 + 2 * RA_WORDS), REG(OTHER_REG), CFA(0),
		      SFRAME_FLEX_DEREF_P, (u8)RA_OFF),
	};
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_signal_rows);
	sframe_test_put_signal(test, stack, state.ip, UNWIND_USER_KUNIT_MODE);
	KUNIT_ASSERT_EQ(test, sframe_test_step(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, instruction_pointer(&regs));

	sframe_test_use_rows(test, &rows);
	sframe_test_publish(test, SFRAME_TEST_KEY, true);
	sframe_expect_refused(test, &state, SFRAME_REASON_ROW_REGISTER);
	/* The same rows work in the topmost frame. */
	sframe_test_begin(test, &regs, &state);
	KUNIT_EXPECT_EQ(test, sframe_test_step(&state), 0);
}

static void sframe_signal_of_other_code(struct kunit *test)
{
	const unsigned long *modes = unwind_user_kunit_other_modes;
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state;
	struct pt_regs regs;
	unsigned int i;

	sframe_test_walk(test, &regs, &state, &sframe_signal_rows);
	for (i = 0; i < ARRAY_SIZE(unwind_user_kunit_other_modes); i++) {
		sframe_test_put_signal(test, stack, 0x22222, modes[i]);
		sframe_expect_refused(test, &state, SFRAME_REASON_SIGNAL);
	}
}

static void sframe_signal_not_there(struct kunit *test)
{
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_signal_rows);
	sframe_test_signal_regs(test, stack);
	KUNIT_ASSERT_EQ(test, vm_munmap(stack, PAGE_SIZE), 0);
	sframe_expect_refused(test, &state, SFRAME_REASON_STACK_FAULT);
}

/* A limit is needed, since a signal frame could lead to itself. */
static void sframe_signal_too_many(struct kunit *test)
{
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state;
	struct pt_regs regs;
	unsigned int i;

	sframe_test_walk(test, &regs, &state, &sframe_signal_rows);
	sframe_test_put_signal(test, stack, state.ip, UNWIND_USER_KUNIT_MODE);
	for (i = 0; i < UNWIND_USER_MAX_SIGNALS; i++) {
		state.sp = stack;
		KUNIT_EXPECT_EQ(test, sframe_test_step(&state), 0);
	}
	state.sp = stack;
	sframe_expect_refused(test, &state, SFRAME_REASON_SIGNAL);
}

static struct kunit_case sframe_step_cases[] = {
	KUNIT_CASE_PARAM(sframe_step_refused, sframe_refusal_gen_params),
	KUNIT_CASE(sframe_step_to_the_caller),
	KUNIT_CASE(sframe_step_behind_a_call),
	KUNIT_CASE(sframe_step_topmost_cfa_may_stay),
	KUNIT_CASE(sframe_step_outermost),
	KUNIT_CASE(sframe_step_loaded_cfa),
	KUNIT_CASE(sframe_step_without_windows),
	KUNIT_CASE(sframe_step_without_budget),
	KUNIT_CASE(sframe_step_budget_ends_within),
	KUNIT_CASE(sframe_step_beside_is_free),
	KUNIT_CASE(sframe_step_clock_stands_still),
	KUNIT_CASE(sframe_step_repeated),
	KUNIT_CASE(sframe_walk_budgets),
	KUNIT_CASE(sframe_step_deadline),
	KUNIT_CASE(sframe_signal_step),
	KUNIT_CASE(sframe_signal_forgets_registers),
	KUNIT_CASE(sframe_signal_of_other_code),
	KUNIT_CASE(sframe_signal_not_there),
	KUNIT_CASE(sframe_signal_too_many),
	{}
};

static struct kunit_suite sframe_step_suite = {
	.name = "sframe_step",
	.init = sframe_test_init,
	.test_cases = sframe_step_cases,
};

kunit_test_suite(sframe_step_suite);
