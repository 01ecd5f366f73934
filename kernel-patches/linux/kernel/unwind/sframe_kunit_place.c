// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of where a section may be: across pages, with a large index, built
 * for text at another address.
 */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sframe.h>
#include <linux/sizes.h>

#include <asm/unwind_user_sframe.h>

#include "sframe_kunit.h"

/* ---- Pages ------------------------------------------------------------- */

/* Fill in the section like sframe_read_header(), without reading memory. */
static void sframe_test_describe(struct sframe_test *ctx)
{
	struct sframe_section *section = &ctx->window.section;
	unsigned long index = ctx->at + sizeof(struct sframe_header);

	section->start = ctx->at;
	section->length = ctx->len;
	section->fdes = index;
	section->fres = index + ctx->image.header.fres_off;
	section->fres_end = section->fres + ctx->image.header.fre_len;
	section->num_fdes = SFRAME_TEST_FDES;
}

/* Split the section between two pages at each of its bytes. */
static void sframe_pages_both_there(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long border = ctx->data + PAGE_SIZE, nr;

	for (nr = 0; nr <= ctx->len; nr++) {
		ctx->at = border - nr;
		KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
		SFRAME_EXPECT_AT(test, sframe_test_ip(ctx), SFRAME_REASON_NONE);
	}
}

static void sframe_pages_second_missing(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long border = ctx->data + PAGE_SIZE, nr;

	KUNIT_ASSERT_EQ(test, vm_munmap(border, PAGE_SIZE), 0);
	for (nr = 0; nr < ctx->len; nr++) {
		ctx->at = border - nr;
		sframe_test_write(test, nr);
		sframe_test_describe(ctx);
		SFRAME_EXPECT_AT(test, sframe_test_ip(ctx),
				 SFRAME_REASON_SECTION_FAULT);
	}
	ctx->at = border - nr;
	sframe_test_write(test, nr);
	sframe_test_describe(ctx);
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx), SFRAME_REASON_NONE);

	/* Memory past these rows need not be mapped. */
	ctx->window.section.fres_end += PAGE_SIZE;
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx), SFRAME_REASON_NONE);
}

/* A walker that may fault reads a page that was never touched. */
static void sframe_pages_never_touched(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long ip = sframe_test_ip(ctx);
	struct unwind_user_state state;
	enum sframe_reason reason;
	struct sframe_func func;

	sframe_test_describe(ctx);
	sframe_test_start(&state);
	reason = sframe_test_read_nofault(test, &state, ip, &func);
	KUNIT_EXPECT_EQ(test, reason, SFRAME_REASON_SECTION_FAULT);
	/* The second of three FDEs. */
	KUNIT_EXPECT_EQ(test, state.fault, ctx->window.section.fdes +
			sizeof(struct sframe_fde));
	KUNIT_EXPECT_EQ(test, state.fault_size, sizeof(s64));

	/* The page is zero: empty functions, each at its own FDE. */
	SFRAME_EXPECT_AT(test, ip, SFRAME_REASON_NO_FDE);
}

/* An index at TASK_SIZE_MAX. */
static void sframe_pages_behind_the_last(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
	ctx->window.section.fdes = TASK_SIZE_MAX;
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx),
			 SFRAME_REASON_SECTION_FAULT);
}

/* A mistake does not affect addresses before it. */
static const struct sframe_test_rows sframe_late_mistakes[] = {
	{ "order", SFRAME_REASON_ROW_ORDER, .nr = 3,
	  BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD
		0x20, INFO_SP_RA(1), CFA(16), RA_WORD
		0x20, INFO_SP_RA(1), CFA(24), RA_WORD) },
	{ "words", SFRAME_REASON_ROW_WORDS, .nr = 2,
	  BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD
		0x20, INFO_SP(MAX_WORDS + 1, 0), 8, 0, 0, 0) },
#if !UNWIND_USER_SFRAME_SIGNS_RA
	{ "signed return address", SFRAME_REASON_ROW_RULE, .nr = 2,
	  BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD
		0x20, INFO_SP(1, 0) | 0x80, 16) },
#endif
	{ "row is cut off", SFRAME_REASON_FRE_OFFSET, .nr = 2,
	  BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD 0x20, INFO_SP_RA(1)) },
};

KUNIT_ARRAY_PARAM_DESC(sframe_late, sframe_late_mistakes, name);

static void sframe_rows_late_mistake(struct kunit *test)
{
	const struct sframe_test_rows *rows = test->param_value;
	struct sframe_test *ctx = test->priv;

	sframe_test_use_rows(test, rows);
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx), SFRAME_REASON_NONE);
	SFRAME_EXPECT_AT(test, ctx->text + SFRAME_TEST_FUNC + 0x20,
			 rows->reason);
}

/* ---- Large indexes ----------------------------------------------------- */

/* A large index in a mapping of its own; all functions share one row. */
#define SFRAME_LARGE_FDES	5000
#define SFRAME_LARGE_SPACE	PAGE_ALIGN(SFRAME_LARGE_FDES *		\
					   sizeof(struct sframe_fde))
#define SFRAME_LARGE_STRIDE	3
#define SFRAME_LARGE_SIZE	2

static unsigned long sframe_large_func(struct sframe_test *ctx, u32 nr)
{
	return ctx->text + SFRAME_LARGE_STRIDE * (nr + 1);
}

static void sframe_large_put(struct kunit *test, u32 nr, unsigned long start)
{
	struct sframe_test *ctx = test->priv;
	unsigned long addr = ctx->window.section.fdes +
			     nr * sizeof(struct sframe_fde);
	const struct sframe_fde fde = {
		.func_start = start - addr - ctx->window.section.bias,
		.func_size = SFRAME_LARGE_SIZE,
	};

	sframe_test_put(test, addr, &fde, sizeof(fde));
}

/* Build an index of @nr functions with the same rows. */
static void sframe_large_make(struct kunit *test, u32 nr)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_section *section = &ctx->window.section;
	u32 i;

	if (!section->fdes) {
		section->fdes = kunit_vm_mmap(test, NULL, 0, SFRAME_LARGE_SPACE,
					      PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, 0);
		KUNIT_ASSERT_NE(test, section->fdes, 0);
	}
	section->fres = ctx->data;
	section->fres_end = ctx->data + ctx->image.header.fre_len;
	section->num_fdes = nr;
	sframe_test_put(test, section->fres, &ctx->image.attr,
			ctx->image.header.fre_len);
	for (i = 0; i < nr; i++)
		sframe_large_put(test, i, sframe_large_func(ctx, i));
	ctx->window.text_end = ctx->text + SFRAME_TEST_SIZE;
}

static void sframe_large_expect_all(struct kunit *test, u32 nr)
{
	struct sframe_test *ctx = test->priv;
	struct unwind_user_state state;
	struct sframe_func func;
	unsigned long start;
	u32 i;

	SFRAME_EXPECT_AT(test, sframe_large_func(ctx, 0) - 1,
			 SFRAME_REASON_NO_FDE);
	for (i = 0; i < nr; i++) {
		start = sframe_large_func(ctx, i);
		KUNIT_ASSERT_EQ(test, SFRAME_REASON_NONE,
				sframe_test_read(test, start, &state, &func));
		KUNIT_ASSERT_EQ(test, func.start, start);
		KUNIT_ASSERT_EQ(test, SFRAME_REASON_NONE,
				sframe_test_reason(test, start + 1));
		KUNIT_ASSERT_EQ(test, SFRAME_REASON_NO_FDE,
				sframe_test_reason(test, start + 2));
	}
}

static void sframe_large_find_all(struct kunit *test)
{
	static const u32 numbers[] = { 1, 2, 63, 64, 65, 4096,
				       SFRAME_LARGE_FDES };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		sframe_large_make(test, numbers[i]);
		sframe_large_expect_all(test, numbers[i]);
	}
}

#define SFRAME_LARGE_SOME	80

/* An index that is not sorted. */
static void sframe_large_order(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;

	sframe_large_make(test, SFRAME_LARGE_SOME);
	sframe_large_put(test, 64, sframe_large_func(ctx, 48) - 1);
	SFRAME_EXPECT_AT(test, sframe_large_func(ctx, 64),
			 SFRAME_REASON_FDE_ORDER);
	/* Equal starts are sorted. */
	sframe_large_put(test, 64, sframe_large_func(ctx, 63));
	SFRAME_EXPECT_AT(test, sframe_large_func(ctx, 72), SFRAME_REASON_NONE);
}

/* ---- Bias -------------------------------------------------------------- */

static const unsigned long sframe_biases[] = {
	1, -1UL, PAGE_SIZE, -PAGE_SIZE, SZ_1G, -(long)SZ_1G, BIT(47), -BIT(47),
	LONG_MAX, LONG_MIN,
};

static void sframe_bias_to_desc(const unsigned long *bias, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%lx", *bias);
}

KUNIT_ARRAY_PARAM(sframe_bias, sframe_biases, sframe_bias_to_desc);

/* With its own bias, a section describes the same addresses. */
static void sframe_bias_index(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long start, end, func = ctx->text + SFRAME_TEST_FUNC;
	struct sframe_section *section = &ctx->window.section;
	struct unwind_user_state state;
	struct sframe_func found;

	ctx->bias = *(const unsigned long *)test->param_value;
	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
	KUNIT_EXPECT_EQ(test, sframe_read_text_range(section, &start, &end), 0);
	KUNIT_EXPECT_EQ(test, start, ctx->text + 0x100);
	KUNIT_EXPECT_EQ(test, end, ctx->text + 0x380);

	KUNIT_EXPECT_EQ(test, SFRAME_REASON_NONE,
			sframe_test_read(test, func, &state, &found));
	KUNIT_EXPECT_EQ(test, found.start, func);
	SFRAME_EXPECT_AT(test, func - 1, SFRAME_REASON_NO_FDE);
	SFRAME_EXPECT_AT(test, func + SFRAME_TEST_FUNC_SIZE,
			 SFRAME_REASON_NO_FDE);
}

static void sframe_bias_large(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;

	ctx->window.section.bias = *(const unsigned long *)test->param_value;
	sframe_large_make(test, SFRAME_LARGE_SOME);
	sframe_large_expect_all(test, SFRAME_LARGE_SOME);
}

/* With a wrong bias, a section describes other addresses. */
static void sframe_bias_wrong(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long ip = sframe_test_ip(ctx);
	struct sframe_section *section = &ctx->window.section;
	unsigned long start, end;

	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
	section->bias = SFRAME_TEST_OFF + 1;
	SFRAME_EXPECT_AT(test, ip, SFRAME_REASON_NO_FDE);
	section->bias = -0x100UL;
	SFRAME_EXPECT_AT(test, ip, SFRAME_REASON_NONE);
	/* Functions begin before the window or end after it. */
	section->bias = -0x201UL;
	SFRAME_EXPECT_AT(test, ctx->text, SFRAME_REASON_FDE_RANGE);
	section->bias = 0xcff;
	SFRAME_EXPECT_AT(test, ctx->text + PAGE_SIZE - 1,
			 SFRAME_REASON_FDE_RANGE);
	/* They wrap at the end of the address space: the last one is lowest. */
	section->bias = -ctx->text - 0x280;
	SFRAME_EXPECT_AT(test, ip, SFRAME_REASON_NO_FDE);
	KUNIT_EXPECT_EQ(test, sframe_read_text_range(section, &start, &end), 0);
	KUNIT_EXPECT_EQ(test, start, -0x180UL);
	KUNIT_EXPECT_EQ(test, end, 0x100);
	/* The last one itself wraps. */
	section->bias = -ctx->text - 0x301;
	KUNIT_EXPECT_EQ(test, sframe_read_text_range(section, &start, &end),
			-EINVAL);
}

static struct kunit_case sframe_place_cases[] = {
	KUNIT_CASE(sframe_pages_both_there),
	KUNIT_CASE(sframe_pages_second_missing),
	KUNIT_CASE(sframe_pages_never_touched),
	KUNIT_CASE(sframe_pages_behind_the_last),
	KUNIT_CASE_PARAM(sframe_rows_late_mistake, sframe_late_gen_params),
	KUNIT_CASE(sframe_large_find_all),
	KUNIT_CASE(sframe_large_order),
	KUNIT_CASE_PARAM(sframe_bias_index, sframe_bias_gen_params),
	KUNIT_CASE_PARAM(sframe_bias_large, sframe_bias_gen_params),
	KUNIT_CASE(sframe_bias_wrong),
	{}
};

static struct kunit_suite sframe_place_suite = {
	.name = "sframe_place",
	.init = sframe_test_init,
	.test_cases = sframe_place_cases,
};

kunit_test_suite(sframe_place_suite);
