// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of return addresses, frame pointers, lower stacks, rows with the
 * signal bit, and windows that change during a walk.
 */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sframe.h>

#include <asm/unwind_user_sframe.h>

#include "sframe_kunit.h"

/* ---- Return addresses -------------------------------------------------- */

/**
 * struct sframe_test_ra - a return address
 * @name:	of the case
 * @ra:		the address
 * @good:	valid as a return address
 * @from_end:	@ra is relative to the end of the address space
 * @from_low:	@ra is relative to the lowest address that may be mapped
 */
struct sframe_test_ra {
	const char	*name;
	unsigned long	ra;
	bool		good;
	bool		from_end;
	bool		from_low;
};

static const struct sframe_test_ra sframe_return_addresses[] = {
	{ "nothing", 0 },
	{ "below all code", -1UL, .from_low = true },
	{ "lowest", 0, true, .from_low = true },
	{ "highest", -1UL, true, .from_end = true },
	{ "end of the address space", 0, .from_end = true },
	/* Valid if user space has its own address space. */
	{ "not canonical", BIT(62),
	  IS_ENABLED(CONFIG_ALTERNATE_USER_ADDRESS_SPACE) },
	{ "address of the kernel", (unsigned long)sframe_step,
	  IS_ENABLED(CONFIG_ALTERNATE_USER_ADDRESS_SPACE) },
	{ "first mark of perf", PERF_CONTEXT_MAX },
	{ "mark of perf", PERF_CONTEXT_USER },
	{ "last number", ULONG_MAX },
};

KUNIT_ARRAY_PARAM_DESC(sframe_ra, sframe_return_addresses, name);

/* TASK_SIZE_MAX and mmap_min_addr are known only at run time. */
static unsigned long sframe_test_ra(const struct sframe_test_ra *param)
{
	return param->ra + (param->from_end ? TASK_SIZE_MAX : 0) +
	       (param->from_low ? mmap_min_addr : 0);
}

static void sframe_step_return_address(struct kunit *test)
{
	const struct sframe_test_ra *param = test->param_value;
	const unsigned long ra = sframe_test_ra(param);
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	sframe_test_put_word(test, state.sp + 8 + RA_AT, ra);
	if (!param->good) {
		sframe_expect_refused(test, &state, unwind_user_strip_ra(ra) ?
				      SFRAME_REASON_RETURN_ADDRESS :
				      SFRAME_REASON_NO_CALLER);
		return;
	}
	KUNIT_EXPECT_EQ(test, sframe_test_step(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, unwind_user_strip_ra(ra));
}

#ifdef CONFIG_HAVE_UNWIND_USER_FP

/* Step by frame pointer. Return: the reason for a refusal. */
static enum sframe_reason sframe_test_step_fp(struct unwind_user_state *state)
{
	guard(pagefault)();
	return unwind_user_step_fp(state, sizeof(long)) ? state->reason :
							  SFRAME_REASON_NONE;
}

static void sframe_fp_return_address(struct kunit *test)
{
	const struct sframe_test_ra *param = test->param_value;
	const unsigned long ra = sframe_test_ra(param);
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state = {
		.ip = SFRAME_TEST_RA, .sp = stack, .fp = stack + 16, .ws = 8,
	};

	sframe_test_put_word(test, stack + 16, 0x1111);
	sframe_test_put_word(test, stack + 24, ra);
	KUNIT_EXPECT_EQ(test, sframe_test_step_fp(&state),
			param->good ? SFRAME_REASON_NONE :
			unwind_user_strip_ra(ra) ?
			SFRAME_REASON_RETURN_ADDRESS : SFRAME_REASON_NO_CALLER);
	KUNIT_EXPECT_EQ(test, state.ip,
			param->good ? unwind_user_strip_ra(ra) : SFRAME_TEST_RA);
	KUNIT_EXPECT_EQ(test, state.sp, param->good ? stack + 32 : stack);
	KUNIT_EXPECT_EQ(test, state.fp, param->good ? 0x1111 : stack + 16);
}

static void sframe_fp_refused(struct kunit *test)
{
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state = { .sp = stack, .ws = 8 };

	sframe_test_put_word(test, stack - 8, SFRAME_TEST_RA);
	sframe_test_put_word(test, stack, SFRAME_TEST_RA);
	sframe_test_put_word(test, stack + 8, SFRAME_TEST_RA);
	sframe_test_put_word(test, stack + 16, SFRAME_TEST_RA);

	/* Frame pointer below the stack pointer, CFA above. */
	state.fp = stack - 8;
	KUNIT_EXPECT_EQ(test, sframe_test_step_fp(&state),
			SFRAME_REASON_CFA_ORDER);
	state.fp = stack + 4;
	KUNIT_EXPECT_EQ(test, sframe_test_step_fp(&state),
			SFRAME_REASON_CFA_ALIGN);
	/* The CFA wraps. */
	state.fp = -8UL;
	KUNIT_EXPECT_EQ(test, sframe_test_step_fp(&state),
			SFRAME_REASON_CFA_ORDER);
	state.fp = (unsigned long)&state;
	KUNIT_EXPECT_EQ(test, sframe_test_step_fp(&state),
			SFRAME_REASON_STACK_FAULT);
	KUNIT_EXPECT_EQ(test, state.sp, stack);
	state.fp = stack;
	KUNIT_EXPECT_EQ(test, sframe_test_step_fp(&state),
			SFRAME_REASON_NONE);
}

/* The fallback counts refused steps, except at the end of a chain. */
static void sframe_fp_counted(struct kunit *test)
{
	const struct sframe_counters *counters;
	struct unwind_user_state state;
	struct pt_regs regs;
	u64 before;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	counters = &sframe_registry_of(current->mm)->counters;
	before = counters->refused[SFRAME_REASON_FRAME_POINTER];
	state.ip = SFRAME_TEST_RA;
	state.reason = SFRAME_REASON_CFA_ORDER;
	sframe_fallback_refused(&state);
	KUNIT_EXPECT_EQ(test, counters->refused[SFRAME_REASON_FRAME_POINTER],
			before + 1);
	KUNIT_EXPECT_EQ(test, counters->last_ip, SFRAME_TEST_RA);
	state.reason = SFRAME_REASON_NO_CALLER;
	sframe_fallback_refused(&state);
	state.fp = 0;
	state.reason = SFRAME_REASON_CFA_ORDER;
	sframe_fallback_refused(&state);
	KUNIT_EXPECT_EQ(test, counters->refused[SFRAME_REASON_FRAME_POINTER],
			before + 1);
}

#endif /* CONFIG_HAVE_UNWIND_USER_FP */

#ifdef CONFIG_HAVE_UNWIND_USER_TEXT

/* ---- Other stacks ------------------------------------------------------ */

/**
 * struct sframe_test_switch - a step to a lower stack
 * @name:	of the case
 * @code:	bytes around the return address, from eight bytes before it
 * @fp:		saved frame pointer, relative to its slot; 1 means 0
 * @off:	offset of the frame in the other stack
 * @switches:	such steps before this one
 * @gone:	the other stack is not mapped
 * @fp_reason:	expected of a step by frame pointer
 * @reason:	expected of a step by a row
 */
struct sframe_test_switch {
	const char		*name;
	u8			code[16];
	unsigned long		fp;
	long			off;
	unsigned int		switches;
	bool			gone;
	enum sframe_reason	fp_reason;
	enum sframe_reason	reason;
};

#define CALLED		.code = UNWIND_USER_KUNIT_CALL
#define NOT_ALLOWED					\
	.fp_reason = SFRAME_REASON_CFA_ORDER,		\
	.reason = SFRAME_REASON_CFA_ORDER

static const struct sframe_test_switch sframe_switches[] = {
	{ "called", CALLED, .fp = 64 },
	{ "the last one of a chain", CALLED, .fp = 1 },
	{ "the eighth", CALLED, .fp = 64, .switches = 7 },
	{ "the ninth", CALLED, .fp = 64, .switches = 8, NOT_ALLOWED },
	{ "not called", .fp = 64, NOT_ALLOWED },
	{ "not called, the last one of a chain", .fp = 1, NOT_ALLOWED },
	{ "first function of a goroutine", .code = UNWIND_USER_KUNIT_START,
	  .fp = 1, .reason = SFRAME_REASON_CFA_ORDER },
	{ "the same with a caller", .code = UNWIND_USER_KUNIT_START, .fp = 64,
	  NOT_ALLOWED },
	{ "a frame pointer that stays", CALLED, .fp = 0,
	  .fp_reason = SFRAME_REASON_CFA_ORDER },
	{ "a frame pointer that goes down", CALLED, .fp = -8UL,
	  .fp_reason = SFRAME_REASON_CFA_ORDER },
	{ "not aligned", CALLED, .fp = 64, .off = 4, NOT_ALLOWED },
	{ "on the same stack", CALLED, .fp = 64, .off = PAGE_SIZE,
	  NOT_ALLOWED },
	{ "not there", CALLED, .fp = 64, .gone = true,
	  .fp_reason = SFRAME_REASON_STACK_FAULT,
	  .reason = SFRAME_REASON_STACK_FAULT },
};

KUNIT_ARRAY_PARAM_DESC(sframe_switch, sframe_switches, name);

/* Put the other stack into the page below the first stack. */
static unsigned long sframe_test_lower(struct kunit *test,
				       const struct sframe_test_switch *param)
{
	struct sframe_test *ctx = test->priv;
	unsigned long ra = ctx->text + PAGE_SIZE + 64;
	unsigned long fp = ctx->data + PAGE_SIZE + param->off;

	sframe_test_put(test, ra - 8, param->code, sizeof(param->code));
	sframe_test_put_word(test, fp, param->fp == 1 ? 0 : fp + param->fp);
	sframe_test_put_word(test, fp + 8, ra);
	if (param->gone)
		KUNIT_ASSERT_EQ(test, vm_munmap(ctx->data + PAGE_SIZE,
						PAGE_SIZE), 0);
	return fp;
}

static void sframe_test_expect_lower(struct kunit *test,
				     const struct unwind_user_state *state,
				     const struct sframe_test_switch *param,
				     unsigned long fp)
{
	struct sframe_test *ctx = test->priv;

	KUNIT_EXPECT_EQ(test, state->ip, ctx->text + PAGE_SIZE + 64);
	KUNIT_EXPECT_EQ(test, state->sp, fp + 16);
	KUNIT_EXPECT_EQ(test, state->switches, param->switches + 1);
	KUNIT_EXPECT_FALSE(test, state->topmost);
}

static void sframe_switch_by_fp(struct kunit *test)
{
	const struct sframe_test_switch *param = test->param_value;
	unsigned long fp = sframe_test_lower(test, param);
	unsigned long stack = sframe_test_stack(test->priv) + 32;
	struct unwind_user_state state = {
		.ip = SFRAME_TEST_RA, .sp = stack, .fp = fp, .ws = 8,
		.switches = param->switches,
	};

	KUNIT_EXPECT_EQ(test, sframe_test_step_fp(&state), param->fp_reason);
	if (!param->fp_reason) {
		sframe_test_expect_lower(test, &state, param, fp);
		KUNIT_EXPECT_EQ(test, state.fp,
				param->fp == 1 ? 0 : fp + param->fp);
		return;
	}
	KUNIT_EXPECT_EQ(test, state.ip, SFRAME_TEST_RA);
	KUNIT_EXPECT_EQ(test, state.sp, stack);
	KUNIT_EXPECT_EQ(test, state.switches, param->switches);
}

/*
 * Step twice from @state by frame pointer. Before the second step, unmap the
 * page at @gone: what the first one has read there must not count.
 */
static void sframe_switch_expect_gone(struct kunit *test,
				      struct unwind_user_state *state,
				      unsigned long gone)
{
	const struct unwind_user_state start = *state;

	KUNIT_EXPECT_EQ(test, sframe_test_step_fp(state), SFRAME_REASON_NONE);
	KUNIT_ASSERT_EQ(test, vm_munmap(gone, PAGE_SIZE), 0);
	*state = start;
	KUNIT_EXPECT_EQ(test, sframe_test_step_fp(state),
			SFRAME_REASON_CFA_ORDER);
}

static void sframe_switch_call_not_there(struct kunit *test)
{
	static const struct sframe_test_switch called = { CALLED, .fp = 64 };
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state = {
		.ip = SFRAME_TEST_RA, .sp = sframe_test_stack(ctx) + 32,
		.fp = sframe_test_lower(test, &called), .ws = 8,
	};

	sframe_switch_expect_gone(test, &state, ctx->text + PAGE_SIZE);
}

/* The return address is the start of a page. */
static void sframe_switch_start_not_there(struct kunit *test)
{
	static const u8 code[] = UNWIND_USER_KUNIT_START;
	static const struct sframe_test_switch start = { .fp = 1 };
	struct sframe_test *ctx = test->priv;
	unsigned long ra = ctx->text + 2 * PAGE_SIZE;
	struct unwind_user_state state = {
		.ip = SFRAME_TEST_RA, .sp = sframe_test_stack(ctx) + 32,
		.fp = sframe_test_lower(test, &start), .ws = 8,
	};

	sframe_test_put(test, ra - 8, code, sizeof(code));
	sframe_test_put_word(test, state.fp + 8, ra);
	sframe_switch_expect_gone(test, &state, ra);
}

/* The row loads the CFA from the stack pointer. */
static void sframe_switch_by_row(struct kunit *test)
{
	static const struct sframe_test_rows rows = {
		FLEX, .nr = 1,
		BYTES(0, INFO_FLEX(2 + 2 * RA_WORDS),
		      REG_DEREF(UNWIND_USER_REGNUM_SP), CFA(-SAVE_AREA),
		      SFRAME_FLEX_DEREF_P, (u8)RA_OFF),
	};
	const struct sframe_test_switch *param = test->param_value;
	unsigned long fp = sframe_test_lower(test, param);
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &rows);
	state.sp += 32;
	sframe_test_put_word(test, state.sp, fp + 16);
	state.switches = param->switches;
	state.topmost = false;
	if (param->fp == 1)
		state.fp = 0;
	if (param->reason) {
		sframe_expect_refused(test, &state, param->reason);
		return;
	}
	KUNIT_ASSERT_EQ(test, sframe_test_step(&state), 0);
	sframe_test_expect_lower(test, &state, param, fp);
}

#endif /* CONFIG_HAVE_UNWIND_USER_TEXT */

/* ---- Rows with the signal bit ------------------------------------------- */

/* With the signal bit, rows work as without it; only the caller is exact. */
static void sframe_signal_bit(struct kunit *test)
{
	static const struct sframe_test_rows rows = {
		.info = SFRAME_FDE_SIGNAL, .nr = 1,
		BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD),
	};
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &rows);
	state.topmost = false;
	sframe_test_put_word(test, state.sp + 8 + RA_AT,
			     ctx->text + SFRAME_TEST_FUNC);
	KUNIT_ASSERT_EQ(test, sframe_test_step(&state), 0);
	KUNIT_EXPECT_EQ(test, state.sp, sframe_test_stack(ctx) + 8);
	KUNIT_EXPECT_EQ(test, state.signals, 0);
	KUNIT_EXPECT_FALSE(test, state.topmost);
	/* No function covers the address less one. */
	KUNIT_EXPECT_TRUE(test, state.exact_ip);
	sframe_test_put_word(test, state.sp + 8 + RA_AT, SFRAME_TEST_RA);
	KUNIT_EXPECT_EQ(test, sframe_test_step(&state), 0);
}

/* ---- Changes during a walk --------------------------------------------- */

static const struct sframe_test_rows sframe_call_rows_16 = {
	.nr = 1, BYTES(0, INFO_SP_RA(1), CFA(16), RA_WORD),
};

/* Publish a window with these rows. */
static void sframe_test_publish_rows(struct kunit *test,
				     const struct sframe_test_rows *rows,
				     bool replace)
{
	sframe_test_use_rows(test, rows);
	sframe_test_publish(test, SFRAME_TEST_KEY, replace);
}

/* Step again from the first frame. Return: how far sp moved, or an error. */
static long sframe_test_step_again(struct kunit *test,
				   struct unwind_user_state *state)
{
	unsigned long stack = sframe_test_stack(test->priv);
	int ret;

	state->ip = sframe_test_ip(test->priv);
	state->sp = stack;
	state->topmost = true;
	state->exact_ip = true;
	ret = sframe_test_step(state);
	return ret ?: state->sp - stack;
}

static void sframe_walk_sees_changes(struct kunit *test)
{
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_publish_rows(test, &sframe_call_rows, false);
	sframe_test_begin(test, &regs, &state);
	sframe_test_put_word(test, stack + 16 + RA_AT, SFRAME_TEST_RA);
	KUNIT_EXPECT_EQ(test, sframe_test_step_again(test, &state), 8);
	KUNIT_EXPECT_EQ(test, sframe_test_step_again(test, &state), 8);

	sframe_test_publish_rows(test, &sframe_call_rows_16, true);
	KUNIT_EXPECT_EQ(test, sframe_test_step_again(test, &state), 16);

	KUNIT_ASSERT_EQ(test, sframe_unregister(SFRAME_TEST_KEY), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_step_again(test, &state), -ENOENT);
	KUNIT_EXPECT_EQ(test, sframe_test_step_again(test, &state), -ENOENT);

	/* The walk must not keep the result "no window". */
	sframe_test_publish_rows(test, &sframe_call_rows, false);
	KUNIT_EXPECT_EQ(test, sframe_test_step_again(test, &state), 8);
}

/* Unmapping the text removes its window. */
static void sframe_walk_sees_munmap(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	KUNIT_EXPECT_EQ(test, sframe_test_step_again(test, &state), 8);
	KUNIT_ASSERT_EQ(test, vm_munmap(ctx->text, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_step_again(test, &state), -ENOENT);
}

/* A step that is repeated after a fault sees the changes since. */
static void sframe_walk_repeats_changed(struct kunit *test)
{
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	/* This page was never touched. */
	state.sp += PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, sframe_test_step_nofault(&state), -EFAULT);
	KUNIT_EXPECT_EQ(test, state.reason, SFRAME_REASON_STACK_FAULT);
	KUNIT_EXPECT_EQ(test, state.fault, state.sp + 8 + RA_AT);
	KUNIT_EXPECT_EQ(test, state.fault_size, sizeof(long));
	KUNIT_ASSERT_TRUE(test, sframe_test_fault_in(&state));
	KUNIT_ASSERT_EQ(test, sframe_unregister(SFRAME_TEST_KEY), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_step(&state), -ENOENT);
}

static struct kunit_case sframe_walk_cases[] = {
	KUNIT_CASE_PARAM(sframe_step_return_address, sframe_ra_gen_params),
#ifdef CONFIG_HAVE_UNWIND_USER_FP
	KUNIT_CASE_PARAM(sframe_fp_return_address, sframe_ra_gen_params),
	KUNIT_CASE(sframe_fp_refused),
	KUNIT_CASE(sframe_fp_counted),
#endif
#ifdef CONFIG_HAVE_UNWIND_USER_TEXT
	KUNIT_CASE_PARAM(sframe_switch_by_fp, sframe_switch_gen_params),
	KUNIT_CASE_PARAM(sframe_switch_by_row, sframe_switch_gen_params),
	KUNIT_CASE(sframe_switch_call_not_there),
	KUNIT_CASE(sframe_switch_start_not_there),
#endif
	KUNIT_CASE(sframe_signal_bit),
	KUNIT_CASE(sframe_walk_sees_changes),
	KUNIT_CASE(sframe_walk_sees_munmap),
	KUNIT_CASE(sframe_walk_repeats_changed),
	{}
};

static struct kunit_suite sframe_walk_suite = {
	.name = "sframe_walk",
	.init = sframe_test_init,
	.test_cases = sframe_walk_cases,
};

kunit_test_suite(sframe_walk_suite);
