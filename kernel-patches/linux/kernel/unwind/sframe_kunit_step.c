// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of one step of a walk through an SFrame window. */
#include <kunit/test.h>

#include <linux/anon_inodes.h>
#include <linux/completion.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sframe.h>
#include <linux/uaccess.h>

#include "sframe_kunit.h"
#include "sframe_step.h"

static void sframe_test_put_word(struct kunit *test, unsigned long addr,
				 unsigned long word)
{
	sframe_test_put(test, addr, &word, sizeof(word));
}

/* Where the stack pointer of the first frame is, and behind it no memory. */
static unsigned long sframe_test_stack(const struct sframe_test *ctx)
{
	return ctx->data + 2 * PAGE_SIZE;
}

#define SFRAME_TEST_KEY		1
#define SFRAME_TEST_RA		0x12345

/* Register these rows and begin a walk in the function that has them. */
static void sframe_test_walk(struct kunit *test, struct pt_regs *regs,
			     struct unwind_user_state *state,
			     const struct sframe_test_rows *rows)
{
	struct sframe_test *ctx = test->priv;

	sframe_test_use_rows(test, rows);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, SFRAME_TEST_KEY, 0,
						 PAGE_SIZE), 0);
	sframe_test_put_word(test, sframe_test_stack(ctx), SFRAME_TEST_RA);

	memset(regs, 0, sizeof(*regs));
	regs->cs = __USER_CS;
	regs->ip = sframe_test_ip(ctx);
	regs->sp = sframe_test_stack(ctx);
	regs->bp = regs->sp + 64;
	regs->r10 = regs->sp + 8;
	KUNIT_ASSERT_TRUE(test, unwind_user_init(state, regs,
						 SFRAME_TEST_BUDGET));
}

/* A step of both walkers, which have to agree. */
static int sframe_test_step(struct kunit *test, struct unwind_user_state *state)
{
	struct unwind_user_state again;
	int ret, nofault;

	memcpy(&again, state, sizeof(again));
	ret = sframe_step(state);
	pagefault_disable();
	nofault = __sframe_step(&again, true);
	pagefault_enable();

	KUNIT_EXPECT_EQ(test, ret, nofault);
	KUNIT_EXPECT_MEMEQ(test, state, &again, sizeof(again));
	return ret;
}

static const struct sframe_counters *sframe_test_counters(void)
{
	return &sframe_registry_of(current->mm)->counters;
}

static void sframe_expect_refused(struct kunit *test,
				  struct unwind_user_state *state,
				  enum sframe_reason reason)
{
	unsigned long ip = state->ip, sp = state->sp, fp = state->fp;
	const struct sframe_counters *counters = sframe_test_counters();

	KUNIT_EXPECT_EQ(test, sframe_test_step(test, state), -EINVAL);
	KUNIT_EXPECT_EQ(test, state->ip, ip);
	KUNIT_EXPECT_EQ(test, state->sp, sp);
	KUNIT_EXPECT_EQ(test, state->fp, fp);

	KUNIT_EXPECT_EQ(test, counters->last_reason, reason);
	KUNIT_EXPECT_EQ(test, counters->last_ip, state->exact_ip ? ip : ip - 1);
	/* Once by each of the walkers. */
	KUNIT_EXPECT_EQ(test, counters->refused[reason], 2);
}

/**
 * struct sframe_test_refusal - a step that has to be refused
 * @rows:	at the address
 * @called:	the frame is not the topmost one
 * @no_regs:	behind a signal frame
 * @no_stack:	the stack pointer leads to no memory
 */
struct sframe_test_refusal {
	struct sframe_test_rows	rows;
	bool			called;
	bool			no_regs;
	bool			no_stack;
};

static const struct sframe_test_refusal sframe_refusals[] = {
	{ { "stack is not there", SFRAME_REASON_STACK_FAULT, .nr = 1,
	    BYTES(0, INFO_SP(1, 0), 8) }, .no_stack = true },
	{ { "saved fp is not there", SFRAME_REASON_STACK_FAULT, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(5), REG(UNWIND_USER_REGNUM_SP), 8,
		  0, REG_DEREF(0), 0) } },
	{ { "cfa is not there", SFRAME_REASON_STACK_FAULT, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(2), REG_DEREF(0), 0) } },
	{ { "cfa stays", SFRAME_REASON_CFA_ORDER, .nr = 1,
	    BYTES(0, INFO_SP(1, 0), 0) }, .called = true },
	{ { "cfa goes down", SFRAME_REASON_CFA_ORDER, .nr = 1,
	    BYTES(0, INFO_SP(1, 0), 0xf8) } },
	{ { "cfa not aligned", SFRAME_REASON_CFA_ALIGN, .nr = 1,
	    BYTES(0, INFO_SP(1, 0), 12) } },
	{ { "register of a callee", SFRAME_REASON_ROW_REGISTER, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(2), REG(REG_R10), 0) }, .called = true },
	{ { "register behind a signal", SFRAME_REASON_ROW_REGISTER, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(2), REG(REG_R10), 0) }, .no_regs = true },
	{ { "no general register", SFRAME_REASON_ROW_REGISTER, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(2), REG(16), 0) } },
	{ { "refused by the decoder", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	    BYTES(0, INFO_FLEX(2), 0, 0) } },
};

KUNIT_ARRAY_PARAM_DESC(sframe_refusal, sframe_refusals, rows.name);

static void sframe_step_refused(struct kunit *test)
{
	const struct sframe_test_refusal *param = test->param_value;
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &param->rows);
	state.topmost = !param->called;
	if (param->no_regs)
		state.regs = NULL;
	if (param->no_stack)
		KUNIT_ASSERT_EQ(test, vm_munmap(sframe_test_stack(ctx),
						PAGE_SIZE), 0);
	sframe_expect_refused(test, &state, param->rows.reason);
}

static const struct sframe_test_rows sframe_call_rows = {
	.nr = 1, BYTES(0, INFO_SP(1, 0), 8),
};

static void sframe_step_to_the_caller(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	KUNIT_ASSERT_EQ(test, sframe_test_step(test, &state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, SFRAME_TEST_RA);
	KUNIT_EXPECT_EQ(test, state.sp, sframe_test_stack(ctx) + 8);
	KUNIT_EXPECT_EQ(test, state.fp, sframe_test_stack(ctx) + 64);
	KUNIT_EXPECT_FALSE(test, state.topmost);
	KUNIT_EXPECT_FALSE(test, state.exact_ip);
	KUNIT_EXPECT_FALSE(test, state.done);

	/* Nothing is known of the caller. */
	KUNIT_EXPECT_EQ(test, sframe_test_step(test, &state), -ENOENT);
}

/* An address behind a call is looked up in front of it. */
static void sframe_step_behind_a_call(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	state.ip = ctx->text + SFRAME_TEST_FUNC + SFRAME_TEST_FUNC_SIZE;
	sframe_expect_refused(test, &state, SFRAME_REASON_NO_FDE);
	state.exact_ip = false;
	KUNIT_EXPECT_EQ(test, sframe_test_step(test, &state), 0);
}

static void sframe_step_topmost_cfa_may_stay(struct kunit *test)
{
	static const struct sframe_test_rows rows = {
		FLEX, .nr = 1,
		BYTES(0, INFO_FLEX(4), REG(UNWIND_USER_REGNUM_SP), 0,
		      REG(REG_R10), 0),
	};
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &rows);
	KUNIT_EXPECT_EQ(test, sframe_test_step(test, &state), 0);
	KUNIT_EXPECT_EQ(test, state.sp, sframe_test_stack(ctx));
	KUNIT_EXPECT_EQ(test, state.ip, regs.r10);
}

static void sframe_step_outermost(struct kunit *test)
{
	static const struct sframe_test_rows rows = { .nr = 1, BYTES(0, 0) };
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &rows);
	KUNIT_EXPECT_EQ(test, sframe_test_step(test, &state), 0);
	KUNIT_EXPECT_TRUE(test, state.done);
}

static void sframe_step_without_budget(struct kunit *test)
{
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_call_rows);
	state.budget = 0;
	sframe_expect_refused(test, &state, SFRAME_REASON_BUDGET);
}

static void sframe_step_without_windows(struct kunit *test)
{
	struct unwind_user_state state = { .ip = sframe_test_ip(test->priv) };

	KUNIT_EXPECT_NULL(test, current->mm->sframe);
	KUNIT_EXPECT_EQ(test, sframe_test_step(test, &state), -ENOENT);
}

/* ---- Signal frames ----------------------------------------------------- */

static const struct sframe_test_rows sframe_signal_rows = {
	.info = SFRAME_FDE_SIGNAL, .nr = 0, BYTES(0),
};

/* A signal frame at @sp that leads to @ip, and down the stack. */
static void sframe_test_put_signal(struct kunit *test, unsigned long sp,
				   unsigned long ip, u16 cs)
{
	const struct unwind_user_sigregs regs = {
		.fp = 0x1111, .sp = sp - PAGE_SIZE, .ip = ip, .cs = cs,
	};

	sframe_test_put(test, sp + UNWIND_USER_SIGREGS_OFF, &regs,
			sizeof(regs));
}

static void sframe_signal_step(struct kunit *test)
{
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_signal_rows);
	sframe_test_put_signal(test, stack, 0x2222, __USER_CS);
	state.topmost = false;
	KUNIT_ASSERT_EQ(test, sframe_test_step(test, &state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, 0x2222);
	KUNIT_EXPECT_EQ(test, state.sp, stack - PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, state.fp, 0x1111);
	KUNIT_EXPECT_EQ(test, state.signals, 1);
	KUNIT_EXPECT_TRUE(test, state.topmost);
	KUNIT_EXPECT_TRUE(test, state.exact_ip);
	KUNIT_EXPECT_NULL(test, state.regs);
}

static void sframe_signal_of_other_code(struct kunit *test)
{
	static const u16 cs[] = { 0, __USER32_CS, __KERNEL_CS, __USER_DS };
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state;
	struct pt_regs regs;
	unsigned int i;

	sframe_test_walk(test, &regs, &state, &sframe_signal_rows);
	for (i = 0; i < ARRAY_SIZE(cs); i++) {
		sframe_test_put_signal(test, stack, 0x2222, cs[i]);
		KUNIT_EXPECT_EQ(test, sframe_test_step(test, &state), -EINVAL);
	}
	KUNIT_EXPECT_EQ(test,
			sframe_test_counters()->refused[SFRAME_REASON_SIGNAL],
			2 * ARRAY_SIZE(cs));
}

static void sframe_signal_not_there(struct kunit *test)
{
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state;
	struct pt_regs regs;

	sframe_test_walk(test, &regs, &state, &sframe_signal_rows);
	KUNIT_ASSERT_EQ(test, vm_munmap(stack, PAGE_SIZE), 0);
	sframe_expect_refused(test, &state, SFRAME_REASON_STACK_FAULT);
}

/* Each could lead to the next, or to itself. */
static void sframe_signal_too_many(struct kunit *test)
{
	unsigned long stack = sframe_test_stack(test->priv);
	struct unwind_user_state state;
	struct pt_regs regs;
	unsigned int i;

	sframe_test_walk(test, &regs, &state, &sframe_signal_rows);
	sframe_test_put_signal(test, stack, state.ip, __USER_CS);
	for (i = 0; i < UNWIND_USER_MAX_SIGNALS; i++) {
		state.sp = stack;
		KUNIT_EXPECT_EQ(test, sframe_test_step(test, &state), 0);
	}
	state.sp = stack;
	sframe_expect_refused(test, &state, SFRAME_REASON_SIGNAL);
}

/* ---- Windows replaced while their sections are read -------------------- */

/**
 * struct sframe_test_hook - a mapping whose pages take a replacement to come
 * @test:	the running test
 * @mm:		of the test
 * @page:	what is mapped
 * @nr:		replacements to be made
 * @go:		the section of the present window is being read
 * @done:	its window was replaced by one with the next page as section
 * @ret:	error of the replacements
 */
struct sframe_test_hook {
	struct kunit		*test;
	struct mm_struct	*mm;
	struct page		*page;
	unsigned int		nr;
	struct completion	go;
	struct completion	done;
	int			ret;
};

static vm_fault_t sframe_test_fault(struct vm_fault *vmf)
{
	struct sframe_test_hook *hook = vmf->vma->vm_private_data;

	if (hook->nr) {
		complete(&hook->go);
		wait_for_completion(&hook->done);
	}
	get_page(hook->page);
	vmf->page = hook->page;
	return 0;
}

static const struct vm_operations_struct sframe_test_vm_ops = {
	.fault = sframe_test_fault,
};

static int sframe_test_mmap(struct vm_area_desc *desc)
{
	desc->vm_ops = &sframe_test_vm_ops;
	desc->private_data = desc->file->private_data;
	return 0;
}

static const struct file_operations sframe_test_fops = {
	.mmap_prepare = sframe_test_mmap,
};

/* Not in the fault itself, which has a lock of the mapping. */
static int sframe_test_replacer(void *arg)
{
	struct sframe_test_hook *hook = arg;
	struct sframe_test *ctx = hook->test->priv;

	kthread_use_mm(hook->mm);
	while (hook->nr) {
		wait_for_completion(&hook->go);
		if (kthread_should_stop())
			break;
		ctx->window.section.fdes += PAGE_SIZE;
		hook->ret = hook->ret ?:
			    sframe_test_replace(hook->test, SFRAME_TEST_KEY, 0,
						PAGE_SIZE);
		hook->nr--;
		complete(&hook->done);
	}
	kthread_unuse_mm(hook->mm);
	return 0;
}

static void sframe_test_hook_map(struct kunit *test,
				 struct sframe_test_hook *hook)
{
	struct sframe_test *ctx = test->priv;
	struct file *file;

	file = anon_inode_getfile("[sframe_kunit]", &sframe_test_fops, hook,
				  O_RDWR);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	ctx->window.section.fdes = sframe_test_map(test, 0, file, PROT_READ);
	ctx->window.section.num_fdes = 1;
	fput(file);
}

/* Step while the window is replaced @nr times. */
static int sframe_test_step_replaced(struct kunit *test, unsigned int nr)
{
	struct unwind_user_state state = {
		.ip = sframe_test_ip(test->priv), .exact_ip = true,
		.budget = SFRAME_TEST_BUDGET,
	};
	struct sframe_test_hook hook = {
		.test = test, .mm = current->mm, .nr = nr,
	};
	struct task_struct *task;
	int ret;

	init_completion(&hook.go);
	init_completion(&hook.done);
	hook.page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	KUNIT_ASSERT_NOT_NULL(test, hook.page);
	sframe_test_hook_map(test, &hook);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, SFRAME_TEST_KEY, 0,
						 PAGE_SIZE), 0);
	task = kthread_create(sframe_test_replacer, &hook, "sframe_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);
	wake_up_process(task);

	ret = sframe_step(&state);
	KUNIT_EXPECT_EQ(test, hook.ret, 0);
	KUNIT_EXPECT_EQ(test, hook.nr, 0);
	complete(&hook.go);
	kthread_stop_put(task);
	put_page(hook.page);
	return ret;
}

static void sframe_changed_once(struct kunit *test)
{
	const struct sframe_counters *counters;

	KUNIT_EXPECT_EQ(test, sframe_test_step_replaced(test, 1), -EINVAL);
	counters = sframe_test_counters();
	/* What the second window says counts. */
	KUNIT_EXPECT_EQ(test, counters->last_reason, SFRAME_REASON_NO_FDE);
	KUNIT_EXPECT_EQ(test, counters->refused[SFRAME_REASON_NO_FDE], 1);
	KUNIT_EXPECT_EQ(test, sframe_registry_of(current->mm)->nr, 1);
}

static void sframe_changed_twice(struct kunit *test)
{
	const struct sframe_counters *counters;

	KUNIT_EXPECT_EQ(test, sframe_test_step_replaced(test, 2), -EINVAL);
	counters = sframe_test_counters();
	KUNIT_EXPECT_EQ(test, counters->last_reason, SFRAME_REASON_CHANGED);
	KUNIT_EXPECT_EQ(test, counters->refused[SFRAME_REASON_CHANGED], 1);
	KUNIT_EXPECT_EQ(test, counters->refused[SFRAME_REASON_NO_FDE], 0);
}

static struct kunit_case sframe_step_cases[] = {
	KUNIT_CASE_PARAM(sframe_step_refused, sframe_refusal_gen_params),
	KUNIT_CASE(sframe_step_to_the_caller),
	KUNIT_CASE(sframe_step_behind_a_call),
	KUNIT_CASE(sframe_step_topmost_cfa_may_stay),
	KUNIT_CASE(sframe_step_outermost),
	KUNIT_CASE(sframe_step_without_budget),
	KUNIT_CASE(sframe_step_without_windows),
	KUNIT_CASE(sframe_signal_step),
	KUNIT_CASE(sframe_signal_of_other_code),
	KUNIT_CASE(sframe_signal_not_there),
	KUNIT_CASE(sframe_signal_too_many),
	KUNIT_CASE(sframe_changed_once),
	KUNIT_CASE(sframe_changed_twice),
	{}
};

static struct kunit_suite sframe_step_suite = {
	.name = "sframe_step",
	.init = sframe_test_init,
	.test_cases = sframe_step_cases,
};

kunit_test_suite(sframe_step_suite);
