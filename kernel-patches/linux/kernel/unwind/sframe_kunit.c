// SPDX-License-Identifier: GPL-2.0
/*
 * Setup of the KUnit suites of SFrame windows: three functions with the same
 * rows in real user memory, and windows on them.
 */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/pagemap.h>
#include <linux/sframe.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include <asm/unwind_user_sframe.h>

#include "sframe_kunit.h"

void sframe_test_set_rows(struct sframe_test *ctx, unsigned int nr,
			  const u8 *bytes, unsigned int nr_bytes)
{
	memcpy(ctx->image.rows, bytes, nr_bytes);
	ctx->image.attr.num_fres = nr;
	ctx->image.header.num_fres = nr;
	ctx->image.header.fre_len = sizeof(ctx->image.attr) + nr_bytes;
	ctx->len = offsetof(struct sframe_test_image, rows) + nr_bytes;
}

/* The default row: a function which has not pushed anything. */
static void sframe_test_set_image(struct sframe_test *ctx)
{
	static const u8 row[] = { 0, INFO_SP_RA(1), CFA(8), RA_WORD };
	unsigned int i;

	ctx->image.header = (struct sframe_header) {
		.magic = SFRAME_MAGIC,
		.version = SFRAME_VERSION_3,
		.flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
		.abi_arch = UNWIND_USER_SFRAME_ABI,
		.cfa_fixed_ra_offset = UNWIND_USER_SFRAME_RA_OFF,
		.num_fdes = SFRAME_TEST_FDES,
		.fres_off = sizeof(ctx->image.fdes),
	};
	for (i = 0; i < SFRAME_TEST_FDES; i++) {
		ctx->start[i] = 0x100 * (i + 1);
		ctx->image.fdes[i].func_size = SFRAME_TEST_FUNC_SIZE;
	}
	sframe_test_set_rows(ctx, 1, row, sizeof(row));
}

/* Not at the end of the address space: a section may be as long as 4 GiB. */
#define SFRAME_TEST_TEXT	SZ_1G
#define SFRAME_TEST_DATA	SZ_2G

unsigned long sframe_test_map(struct kunit *test, unsigned long where,
			      struct file *file, unsigned long prot)
{
	unsigned long flags = file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	unsigned long addr;

	addr = kunit_vm_mmap(test, file, where, SFRAME_TEST_SIZE, prot, flags,
			     0);
	KUNIT_ASSERT_NE(test, addr, 0);
	KUNIT_ASSERT_LT(test, addr, TASK_SIZE);
	return addr;
}

int sframe_test_init(struct kunit *test)
{
	struct sframe_test *ctx;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;
	ctx->text = sframe_test_map(test, SFRAME_TEST_TEXT, NULL,
				    PROT_READ | PROT_WRITE | PROT_EXEC);
	ctx->data = sframe_test_map(test, SFRAME_TEST_DATA, NULL,
				    PROT_READ | PROT_WRITE);
	ctx->at = ctx->data;
	ctx->window.text_start = ctx->text;
	ctx->window.text_end = ctx->text + PAGE_SIZE;
	sframe_test_set_image(ctx);
	return 0;
}

/* The default address of the tests. */
unsigned long sframe_test_ip(const struct sframe_test *ctx)
{
	return ctx->text + SFRAME_TEST_FUNC + SFRAME_TEST_OFF;
}

void sframe_test_put(struct kunit *test, unsigned long addr, const void *bytes,
		     unsigned long nr)
{
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)addr, bytes, nr), 0);
}

/* Write the first @nr bytes of the section. */
void sframe_test_write(struct kunit *test, unsigned long nr)
{
	struct sframe_test *ctx = test->priv;
	unsigned long index;
	unsigned int i;

	index = ctx->at + offsetof(struct sframe_test_image, fdes);
	for (i = 0; i < SFRAME_TEST_FDES; i++)
		ctx->image.fdes[i].func_start = ctx->text + ctx->start[i] -
			(index + i * sizeof(struct sframe_fde)) - ctx->bias;
	sframe_test_put(test, ctx->at, &ctx->image, nr);
}

int sframe_test_header(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;

	sframe_test_write(test, offsetof(struct sframe_test_image, rows) +
			  sizeof(ctx->image.rows));
	ctx->window.section.bias = ctx->bias;
	return sframe_read_header(&ctx->window.section, ctx->at, ctx->len);
}

void sframe_test_use_rows(struct kunit *test,
			  const struct sframe_test_rows *rows)
{
	struct sframe_test *ctx = test->priv;

	ctx->image.attr.info = rows->info;
	ctx->image.attr.info2 = rows->info2;
	ctx->image.attr.rep_size = rows->rep_size;
	sframe_test_set_rows(ctx, rows->nr, rows->bytes, rows->nr_bytes);
	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
}

/* A walker that may sleep faults in the page and repeats its step. */
bool sframe_test_fault_in(const struct unwind_user_state *state)
{
	return !fault_in_readable((const char __user *)state->fault,
				  state->fault_size);
}

static struct sframe_window *sframe_test_make(struct kunit *test,
					      unsigned long key,
					      unsigned long start,
					      unsigned long end)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_window draft, *window;

	memcpy(&draft, &ctx->window, sizeof(draft));
	draft.key = key;
	draft.text_start = start;
	draft.text_end = end;
	window = sframe_window_alloc(&draft);
	KUNIT_ASSERT_NOT_NULL(test, window);
	return window;
}

static int sframe_test_register(struct sframe_window *window, bool replace)
{
	int ret = sframe_register(window, replace);

	if (ret)
		sframe_window_free(window);
	return ret;
}

/* Register the window of the test. */
struct sframe_window *sframe_test_publish(struct kunit *test,
					  unsigned long key, bool replace)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_window *window;

	window = sframe_test_make(test, key, ctx->window.text_start,
				  ctx->window.text_end);
	KUNIT_ASSERT_EQ(test, sframe_test_register(window, replace), 0);
	return window;
}

int sframe_test_insert(struct kunit *test, unsigned long key,
		       unsigned long start, unsigned long end)
{
	struct sframe_test *ctx = test->priv;

	return sframe_test_register(sframe_test_make(test, key,
						     ctx->text + start,
						     ctx->text + end), false);
}

int sframe_test_replace(struct kunit *test, unsigned long key,
			unsigned long start, unsigned long end)
{
	struct sframe_test *ctx = test->priv;

	return sframe_test_register(sframe_test_make(test, key,
						     ctx->text + start,
						     ctx->text + end), true);
}

/* ---- Reads ------------------------------------------------------------- */

void sframe_test_start(struct unwind_user_state *state)
{
	memset(state, 0, sizeof(*state));
	state->topmost = true;
	state->ws = sizeof(long);
	state->sframe.slack = SFRAME_INTERVAL;
	state->sframe.budget = sframe_walk_budget(0, true);
}

enum sframe_reason sframe_test_read_nofault(struct kunit *test,
					    struct unwind_user_state *state,
					    unsigned long ip,
					    struct sframe_func *func)
{
	struct sframe_test *ctx = test->priv;

	guard(pagefault)();
	guard(rcu)();
	return sframe_read(state, &ctx->window, ip, func, NULL);
}

/* Read as a walker that may sleep does. */
enum sframe_reason sframe_test_read(struct kunit *test, unsigned long ip,
				    struct unwind_user_state *state,
				    struct sframe_func *func)
{
	enum sframe_reason reason;

	sframe_test_start(state);
	do {
		reason = sframe_test_read_nofault(test, state, ip, func);
	} while (reason == SFRAME_REASON_SECTION_FAULT &&
		 sframe_test_fault_in(state));
	return reason;
}

enum sframe_reason sframe_test_reason(struct kunit *test, unsigned long ip)
{
	struct unwind_user_state state;
	struct sframe_func func;

	return sframe_test_read(test, ip, &state, &func);
}

/* ---- Steps ------------------------------------------------------------- */

const struct sframe_test_rows sframe_call_rows = {
	.nr = 1, BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD),
};

void sframe_test_put_word(struct kunit *test, unsigned long addr,
			  unsigned long word)
{
	sframe_test_put(test, addr, &word, sizeof(word));
}

/* Stack pointer of the topmost frame. */
unsigned long sframe_test_stack(const struct sframe_test *ctx)
{
	return ctx->data + 2 * PAGE_SIZE;
}

/* Begin a walk at the default address. */
void sframe_test_begin(struct kunit *test, struct pt_regs *regs,
		       struct unwind_user_state *state)
{
	struct sframe_test *ctx = test->priv;
	const unsigned long stack = sframe_test_stack(ctx);

	sframe_test_put_word(test, stack, SFRAME_TEST_RA);
	sframe_test_put_word(test, stack + 8 + RA_AT, SFRAME_TEST_RA);
	unwind_user_kunit_regs(regs, sframe_test_ip(ctx), stack, stack + 64,
			       stack + 8);
	KUNIT_ASSERT_TRUE(test, unwind_user_init(state, regs));
	KUNIT_ASSERT_TRUE(test, sframe_walk_init(state, 0, true));
	/* The machine may be slow; see sframe_step_deadline(). */
	state->sframe.deadline = 0;
}

/* Register these rows and begin a walk at the default address. */
void sframe_test_walk(struct kunit *test, struct pt_regs *regs,
		      struct unwind_user_state *state,
		      const struct sframe_test_rows *rows)
{
	sframe_test_use_rows(test, rows);
	sframe_test_publish(test, SFRAME_TEST_KEY, false);
	sframe_test_begin(test, regs, state);
}

int sframe_test_step_nofault(struct unwind_user_state *state)
{
	guard(pagefault)();
	guard(rcu)();
	return sframe_step(state);
}

/* A step of a walker that may sleep. */
int sframe_test_step(struct unwind_user_state *state)
{
	int ret;

	do {
		ret = sframe_test_step_nofault(state);
	} while (ret == -EFAULT && sframe_test_fault_in(state));
	return ret;
}

void sframe_expect_refused(struct kunit *test, struct unwind_user_state *state,
			   enum sframe_reason reason)
{
	const bool fault = reason == SFRAME_REASON_SECTION_FAULT ||
			   reason == SFRAME_REASON_STACK_FAULT;
	unsigned long ip = state->ip, sp = state->sp, fp = state->fp;
	const struct sframe_counters *counters;
	u64 before;

	counters = &sframe_registry_of(current->mm)->counters;
	before = counters->refused[reason];
	KUNIT_EXPECT_EQ(test, sframe_test_step(state),
			fault ? -EFAULT : -EINVAL);
	KUNIT_EXPECT_EQ(test, state->reason, reason);
	KUNIT_EXPECT_EQ(test, state->ip, ip);
	KUNIT_EXPECT_EQ(test, state->sp, sp);
	KUNIT_EXPECT_EQ(test, state->fp, fp);
	KUNIT_EXPECT_FALSE(test, state->done);

	/* The step does not count; the walker counts its last try. */
	KUNIT_EXPECT_EQ(test, counters->refused[reason], before);
	sframe_refused(state);
	KUNIT_EXPECT_EQ(test, counters->refused[reason], before + 1);
	KUNIT_EXPECT_EQ(test, counters->last_reason, reason);
	KUNIT_EXPECT_EQ(test, counters->last_ip, state->exact_ip ? ip : ip - 1);
}
