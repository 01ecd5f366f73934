// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the SFrame decoder: headers, index, rows, live sections. */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/sframe.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include <asm/unwind_user_sframe.h>

#include "sframe_kunit.h"

/* Read by both entries to the decoder, which have to agree. */
static enum sframe_reason
sframe_test_read(struct kunit *test, unsigned long ip,
		 struct unwind_user_frame *frame, unsigned int *budget)
{
	struct sframe_test *ctx = test->priv;
	enum sframe_reason reason, nofault;
	struct unwind_user_frame again;
	unsigned int left = *budget;

	reason = sframe_find_frame(&ctx->window, ip, frame, budget);
	pagefault_disable();
	nofault = sframe_find_frame_nofault(&ctx->window, ip, &again, &left);
	pagefault_enable();

	KUNIT_EXPECT_EQ(test, reason, nofault);
	KUNIT_EXPECT_EQ(test, *budget, left);
	if (!reason)
		KUNIT_EXPECT_MEMEQ(test, frame, &again, sizeof(again));
	return reason;
}

static enum sframe_reason sframe_test_reason(struct kunit *test,
					     unsigned long ip)
{
	unsigned int budget = SFRAME_TEST_BUDGET;
	struct unwind_user_frame frame;

	return sframe_test_read(test, ip, &frame, &budget);
}

#define SFRAME_EXPECT_AT(test, ip, reason)				\
	KUNIT_EXPECT_EQ(test, sframe_test_reason(test, ip), reason)

/* ---- Headers ----------------------------------------------------------- */

/**
 * struct sframe_test_field - one field changed
 * @name:	of the case
 * @off:	of the field in struct sframe_test
 * @size:	of the field
 * @value:	to store there
 * @expect:	errno or reason
 */
struct sframe_test_field {
	const char	*name;
	size_t		off;
	size_t		size;
	u64		value;
	int		expect;
};

#define FIELD(member, val)						\
	.off = offsetof(struct sframe_test, member),			\
	.size = sizeof_field(struct sframe_test, member),		\
	.value = (u64)(val)

static void sframe_test_edit(struct sframe_test *ctx,
			     const struct sframe_test_field *field)
{
	memcpy((u8 *)ctx + field->off, &field->value, field->size);
}

#define SFRAME_TEST_AREA	(offsetof(struct sframe_test_image, rows) + 3)
#define SFRAME_TEST_BEHIND	(SFRAME_TEST_AREA - sizeof(struct sframe_header))

static const struct sframe_test_field sframe_header_cases[] = {
	{ "good", FIELD(image.header.num_fres, 1), 0 },
	{ "magic", FIELD(image.header.magic, 0xe2de), -EINVAL },
	{ "version 2", FIELD(image.header.version, 2), -EINVAL },
	{ "version 4", FIELD(image.header.version, 4), -EINVAL },
	{ "not sorted", FIELD(image.header.flags, 4), -EINVAL },
	{ "not relative to the field", FIELD(image.header.flags, 1), -EINVAL },
	{ "frame pointer flag", FIELD(image.header.flags, 7), -EINVAL },
	{ "unknown flag", FIELD(image.header.flags, 0x85), -EINVAL },
	{ "other machine", FIELD(image.header.abi_arch, 2), -EINVAL },
	{ "fixed fp", FIELD(image.header.cfa_fixed_fp_offset, -16), -EINVAL },
	{ "no fixed ra", FIELD(image.header.cfa_fixed_ra_offset, 0), -EINVAL },
	{ "other ra", FIELD(image.header.cfa_fixed_ra_offset, -16), -EINVAL },
	{ "auxiliary header", FIELD(image.header.auxhdr_len, 1), -EINVAL },
	{ "index across the rows", FIELD(image.header.fdes_off, 1), -EINVAL },
	{ "index behind the rows", FIELD(image.header.fdes_off, 49), -EINVAL },
	{ "index outside", FIELD(image.header.fdes_off, U32_MAX), -EINVAL },
	{ "index too long", FIELD(image.header.num_fdes, 4), -EINVAL },
	{ "longest index", FIELD(image.header.num_fdes, U32_MAX), -EINVAL },
	{ "index size overflows", FIELD(image.header.num_fdes, BIT(28)),
	  -EINVAL },
	{ "rows across the end", FIELD(image.header.fre_len, 9), -EINVAL },
	{ "rows outside", FIELD(image.header.fres_off, SFRAME_TEST_BEHIND + 1),
	  -EINVAL },
	{ "far rows", FIELD(image.header.fres_off, U32_MAX), -EINVAL },
	{ "longest rows", FIELD(image.header.fre_len, U32_MAX), -EINVAL },
	{ "no rows", FIELD(image.header.fre_len, 0), 0 },
	{ "no functions", FIELD(image.header.num_fdes, 0), 0 },
	{ "one byte less", FIELD(len, SFRAME_TEST_AREA - 1), -EINVAL },
	{ "one byte more", FIELD(len, SFRAME_TEST_AREA + 1), 0 },
	{ "half a header", FIELD(len, sizeof(struct sframe_header) - 1),
	  -EINVAL },
	{ "no length", FIELD(len, 0), -EINVAL },
	{ "more than 32 bits", FIELD(len, BIT_ULL(32)), -EINVAL },
	{ "32 bits", FIELD(len, U32_MAX), 0 },
	{ "up to the end of all", FIELD(len, ULONG_MAX), -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(sframe_header, sframe_header_cases, name);

static void sframe_test_param(struct kunit *test, bool live)
{
	const struct sframe_test_field *field = test->param_value;

	sframe_test_edit(test->priv, field);
	KUNIT_EXPECT_EQ(test, sframe_test_header(test, live), field->expect);
}

static void sframe_header_field(struct kunit *test)
{
	sframe_test_param(test, false);
}

static void sframe_header_contents(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_section *section = &ctx->window.section;

	ctx->at += 3;
	KUNIT_ASSERT_EQ(test, sframe_test_header(test, false), 0);
	KUNIT_EXPECT_EQ(test, section->start, ctx->at);
	KUNIT_EXPECT_EQ(test, section->length, ctx->len);
	KUNIT_EXPECT_EQ(test, section->fdes, ctx->at + 28);
	KUNIT_EXPECT_EQ(test, section->fres, ctx->at + 28 + 48);
	KUNIT_EXPECT_EQ(test, section->fres_end, ctx->at + ctx->len);
	KUNIT_EXPECT_EQ(test, section->num_fdes, SFRAME_TEST_FDES);
	KUNIT_EXPECT_EQ(test, section->ra_off, -8);
	KUNIT_EXPECT_FALSE(test, section->live);
}

/* The only test of the number of FDEs for itself: the section is as long. */
static void sframe_header_most_functions(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;

	ctx->len = SZ_1G;
	ctx->image.header.fres_off = SZ_512M;
	ctx->image.header.num_fdes = SFRAME_MAX_FDES;
	KUNIT_EXPECT_EQ(test, sframe_test_header(test, false), 0);
	ctx->image.header.num_fdes = SFRAME_MAX_FDES + 1;
	KUNIT_EXPECT_EQ(test, sframe_test_header(test, false), -EINVAL);
}

static void sframe_header_address(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_section section;

	KUNIT_EXPECT_EQ(test, sframe_read_header(&section, 0, ctx->len, false),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, sframe_read_header(&section, (unsigned long)ctx,
						 ctx->len, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, sframe_read_header(&section, -8UL, ctx->len,
						 false), -EINVAL);
	KUNIT_ASSERT_EQ(test, vm_munmap(ctx->data, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, sframe_read_header(&section, ctx->data, ctx->len,
						 false), -EFAULT);
}

static void sframe_header_text_range(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_section *section = &ctx->window.section;
	unsigned long start, end;

	KUNIT_ASSERT_EQ(test, sframe_test_header(test, false), 0);
	KUNIT_EXPECT_EQ(test, sframe_read_text_range(section, &start, &end), 0);
	KUNIT_EXPECT_EQ(test, start, ctx->text + 0x100);
	KUNIT_EXPECT_EQ(test, end, ctx->text + 0x380);

	/* The last function ends behind the last address. */
	ctx->start[2] = -1 - (long)ctx->text;
	KUNIT_ASSERT_EQ(test, sframe_test_header(test, false), 0);
	KUNIT_EXPECT_EQ(test, sframe_read_text_range(section, &start, &end),
			-EINVAL);

	section->fdes = 0;
	KUNIT_EXPECT_EQ(test, sframe_read_text_range(section, &start, &end),
			-EFAULT);
	section->num_fdes = 0;
	KUNIT_EXPECT_EQ(test, sframe_read_text_range(section, &start, &end),
			-EINVAL);
}

/* ---- Index ------------------------------------------------------------- */

/**
 * struct sframe_test_index - functions and an address
 * @name:	of the case
 * @start:	of each function, from the start of the window
 * @size:	of each function
 * @off:	where to look
 * @reason:	expected
 */
struct sframe_test_index {
	const char		*name;
	long			start[SFRAME_TEST_FDES];
	u32			size[SFRAME_TEST_FDES];
	long			off;
	enum sframe_reason	reason;
};

#define SIZES			{ 0x80, 0x80, 0x80 }
#define STARTS			{ 0x100, 0x200, 0x300 }

static const struct sframe_test_index sframe_index_cases[] = {
	{ "before the first", STARTS, SIZES, 0xff, SFRAME_REASON_NO_FDE },
	{ "first byte", STARTS, SIZES, 0x100, SFRAME_REASON_NONE },
	{ "last byte", STARTS, SIZES, 0x17f, SFRAME_REASON_NONE },
	{ "gap", STARTS, SIZES, 0x180, SFRAME_REASON_NO_FDE },
	{ "end of the gap", STARTS, SIZES, 0x1ff, SFRAME_REASON_NO_FDE },
	{ "second", STARTS, SIZES, 0x200, SFRAME_REASON_NONE },
	{ "third", STARTS, SIZES, 0x37f, SFRAME_REASON_NONE },
	{ "behind the last", STARTS, SIZES, 0x380, SFRAME_REASON_NO_FDE },
	{ "taken back", STARTS, { 0x80, 0, 0x80 }, 0x200,
	  SFRAME_REASON_NO_FDE },
	{ "beside one taken back", STARTS, { 0x80, 0, 0x80 }, 0x300,
	  SFRAME_REASON_NONE },
	{ "same start", { 0x100, 0x200, 0x200 }, SIZES, 0x200,
	  SFRAME_REASON_NONE },
	{ "goes back upwards", { 0x100, 0x200, 0x1f0 }, SIZES, 0x210,
	  SFRAME_REASON_FDE_ORDER },
	{ "goes back downwards", { 0x240, 0x230, 0x300 }, SIZES, 0x210,
	  SFRAME_REASON_FDE_ORDER },
	{ "starts before the window", { -0x80, -0x10, 0x300 }, SIZES, 0x10,
	  SFRAME_REASON_FDE_RANGE },
	{ "ends behind the window", STARTS, { 0x80, 0x80, 0xd01 }, 0x300,
	  SFRAME_REASON_FDE_RANGE },
	{ "ends with the window", STARTS, { 0x80, 0x80, 0xd00 }, 0xfff,
	  SFRAME_REASON_NONE },
	{ "as long as can be", STARTS, { 0x80, U32_MAX, 0x80 }, 0x210,
	  SFRAME_REASON_FDE_RANGE },
	{ "all at the end of the address space", { LONG_MAX, LONG_MAX,
	  LONG_MAX }, SIZES, 0x210, SFRAME_REASON_NO_FDE },
};

KUNIT_ARRAY_PARAM_DESC(sframe_index, sframe_index_cases, name);

static void sframe_index_search(struct kunit *test)
{
	const struct sframe_test_index *param = test->param_value;
	struct sframe_test *ctx = test->priv;
	unsigned int i;

	memcpy(ctx->start, param->start, sizeof(ctx->start));
	for (i = 0; i < SFRAME_TEST_FDES; i++)
		ctx->image.fdes[i].func_size = param->size[i];
	KUNIT_ASSERT_EQ(test, sframe_test_header(test, false), 0);
	SFRAME_EXPECT_AT(test, ctx->text + param->off, param->reason);
}

static const struct sframe_test_field sframe_attr_cases[] = {
	{ "good", FIELD(image.attr.rep_size, 0), SFRAME_REASON_NONE },
	{ "key bit", FIELD(image.attr.info, SFRAME_FDE_PAUTH_KEY_B),
	  SFRAME_REASON_NONE },
	{ "reserved bit", FIELD(image.attr.info, 0x40),
	  SFRAME_REASON_FDE_TYPE },
	{ "reserved bit of the second byte", FIELD(image.attr.info2, 0x20),
	  SFRAME_REASON_FDE_TYPE },
	{ "last reserved bit", FIELD(image.attr.info2, 0x80),
	  SFRAME_REASON_FDE_TYPE },
	{ "row type", FIELD(image.attr.info, 3), SFRAME_REASON_FDE_TYPE },
	{ "last row type", FIELD(image.attr.info, 15), SFRAME_REASON_FDE_TYPE },
	{ "function type", FIELD(image.attr.info2, 2), SFRAME_REASON_FDE_TYPE },
	{ "last function type", FIELD(image.attr.info2, 31),
	  SFRAME_REASON_FDE_TYPE },
	{ "blocks of nothing", FIELD(image.attr.info, SFRAME_FDE_PCMASK),
	  SFRAME_REASON_REP_SIZE },
	{ "no row", FIELD(image.attr.num_fres, 0), SFRAME_REASON_NO_ROW },
	{ "more rows than there are", FIELD(image.attr.num_fres, 2),
	  SFRAME_REASON_FRE_OFFSET },
	{ "rows end in a row", FIELD(image.header.fre_len, 7),
	  SFRAME_REASON_FRE_OFFSET },
	{ "rows end in the attributes", FIELD(image.header.fre_len, 4),
	  SFRAME_REASON_FRE_OFFSET },
	{ "no rows at all", FIELD(image.header.fre_len, 0),
	  SFRAME_REASON_FRE_OFFSET },
	{ "last byte", FIELD(image.fdes[1].fre_off, 7),
	  SFRAME_REASON_FRE_OFFSET },
	{ "first byte behind", FIELD(image.fdes[1].fre_off, 8),
	  SFRAME_REASON_FRE_OFFSET },
	{ "far behind", FIELD(image.fdes[1].fre_off, U32_MAX),
	  SFRAME_REASON_FRE_OFFSET },
};

KUNIT_ARRAY_PARAM_DESC(sframe_attr, sframe_attr_cases, name);

static void sframe_index_attributes(struct kunit *test)
{
	const struct sframe_test_field *field = test->param_value;
	struct sframe_test *ctx = test->priv;

	sframe_test_edit(ctx, field);
	KUNIT_ASSERT_EQ(test, sframe_test_header(test, false), 0);
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx), field->expect);
}

/* ---- Rows -------------------------------------------------------------- */

#define RULE(what, offset)						\
	{ .base = UNWIND_USER_BASE_##what, .off = (offset) }
#define LOAD(what, offset)						\
	{ .base = UNWIND_USER_BASE_##what, .off = (offset), .deref = true }
#define RULE_R10(offset)						\
	{ .base = UNWIND_USER_BASE_REG, .regnum = REG_R10, .off = (offset) }
#define RA			LOAD(CFA, -8)
#define SP_8			{ .cfa = RULE(SP, 8), .ra = RA }
#define SP_16			{ .cfa = RULE(SP, 16), .ra = RA }

static const struct sframe_test_rows sframe_good_rows[] = {
	{ "from sp", 0, SP_8, .nr = 1, BYTES(0, INFO_SP(1, 0), 8) },
	{ "from fp", 0, { RULE(FP, 16), RA }, .nr = 1,
	  BYTES(0, INFO_FP(1, 0), 16) },
	{ "with fp", 0, { RULE(SP, 16), RA, LOAD(CFA, -16) }, .nr = 1,
	  BYTES(0, INFO_SP(2, 0), 16, 0xf0) },
	{ "words of 2 bytes", 0, { RULE(SP, 0x1234), RA, LOAD(CFA, -16) },
	  .nr = 1, BYTES(0, INFO_SP(2, 1), 0x34, 0x12, 0xf0, 0xff) },
	{ "words of 4 bytes", 0, { RULE(SP, 0x12345678), RA, LOAD(CFA, -16) },
	  .nr = 1, BYTES(0, INFO_SP(2, 2), 0x78, 0x56, 0x34, 0x12,
			 0xf0, 0xff, 0xff, 0xff) },
	{ "starts of 2 bytes", 0, SP_16, .info = 1, .nr = 3,
	  BYTES(0, 0, INFO_SP(1, 0), 8, 2, 0, INFO_SP(1, 0), 16,
		0x11, 0, INFO_SP(1, 0), 24) },
	{ "starts of 4 bytes", 0, SP_16, .info = 2, .nr = 3,
	  BYTES(0, 0, 0, 0, INFO_SP(1, 0), 8, 2, 0, 0, 0, INFO_SP(1, 0), 16,
		0, 0, 0, 1, INFO_SP(1, 0), 24) },
	{ "starts here", 0, SP_16, .nr = 2,
	  BYTES(0, INFO_SP(1, 0), 8, SFRAME_TEST_OFF, INFO_SP(1, 0), 16) },
	{ "next starts behind", 0, SP_8, .nr = 2,
	  BYTES(0, INFO_SP(1, 0), 8, SFRAME_TEST_OFF + 1, INFO_SP(1, 0), 16) },
	{ "in a block", 0, SP_16, .info = SFRAME_FDE_PCMASK, .rep_size = 12,
	  .nr = 3, BYTES(0, INFO_SP(1, 0), 8, 4, INFO_SP(1, 0), 16,
			 5, INFO_SP(1, 0), 24) },
	{ "outermost", 0, { .outermost = true }, .nr = 1, BYTES(0, 0) },
	{ "flex outermost", 0, { .outermost = true }, FLEX, .nr = 1,
	  BYTES(0, 0) },
	{ "signal frame", 0, { .signal = true }, .info = SFRAME_FDE_SIGNAL,
	  .nr = 1, BYTES(0, INFO_SP(1, 0), 8) },
	{ "signal frame without rows", 0, { .signal = true },
	  .info = SFRAME_FDE_SIGNAL, .nr = 0, BYTES(0) },
	{ "flex from sp", 0, SP_8, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), REG(UNWIND_USER_REGNUM_SP), 8) },
	{ "flex from fp", 0, { RULE(FP, 16), RA }, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), REG(UNWIND_USER_REGNUM_FP), 16) },
	{ "flex from another register", 0, { RULE_R10(-8), RA }, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), REG(REG_R10), 0xf8) },
	{ "flex from memory", 0, { LOAD(FP, -8), RA }, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), REG_DEREF(UNWIND_USER_REGNUM_FP), 0xf8) },
	{ "flex with ra", 0, { RULE(SP, 8), RULE_R10(0) }, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(4), REG(UNWIND_USER_REGNUM_SP), 8,
		REG(REG_R10), 0) },
	{ "flex with ra and fp", 0,
	  { RULE(SP, 32), LOAD(CFA, -16), LOAD(CFA, -24) }, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(6), REG(UNWIND_USER_REGNUM_SP), 32,
		SFRAME_FLEX_DEREF_P, 0xf0, SFRAME_FLEX_DEREF_P, 0xe8) },
	{ "flex with fp only", 0, { RULE(SP, 16), RA, LOAD(CFA, -16) }, FLEX,
	  .nr = 1, BYTES(0, INFO_FLEX(5), REG(UNWIND_USER_REGNUM_SP), 16,
			 0, SFRAME_FLEX_DEREF_P, 0xf0) },
	{ "flex control words have no sign", 0,
	  { { UNWIND_USER_BASE_REG, .regnum = 31 }, RA }, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), REG(31), 0) },
	{ "flex words of 4 bytes", 0,
	  { { UNWIND_USER_BASE_REG, .regnum = U16_MAX, .off = -1 }, RA }, FLEX,
	  .nr = 1, BYTES(0, INFO_FP(2, 2), 0xf9, 0xff, 0x07, 0,
			 0xff, 0xff, 0xff, 0xff) },
};

KUNIT_ARRAY_PARAM_DESC(sframe_good, sframe_good_rows, name);

static const struct sframe_test_rows sframe_bad_rows[] = {
	{ "first row behind", SFRAME_REASON_NO_ROW, .nr = 1,
	  BYTES(SFRAME_TEST_OFF + 1, INFO_SP(1, 0), 8) },
	{ "block before its first row", SFRAME_REASON_NO_ROW, .nr = 1,
	  .info = SFRAME_FDE_PCMASK, .rep_size = 16,
	  BYTES(1, INFO_SP(1, 0), 8) },
	{ "same start", SFRAME_REASON_ROW_ORDER, .nr = 2,
	  BYTES(0, INFO_SP(1, 0), 8, 0, INFO_SP(1, 0), 16) },
	{ "lower start", SFRAME_REASON_ROW_ORDER, .nr = 3,
	  BYTES(0, INFO_SP(1, 0), 8, 4, INFO_SP(1, 0), 16,
		3, INFO_SP(1, 0), 24) },
	{ "word size", SFRAME_REASON_ROW_WORDS, .nr = 1,
	  BYTES(0, INFO_SP(1, 3), 8, 0, 0, 0, 0, 0, 0, 0) },
	{ "seven words", SFRAME_REASON_ROW_WORDS, .nr = 1,
	  BYTES(0, INFO_SP(7, 0), 8, 0, 0, 0, 0, 0, 0) },
	{ "fifteen words", SFRAME_REASON_ROW_WORDS, .nr = 1,
	  BYTES(0, INFO_SP(15, 0), 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0) },
	{ "three words", SFRAME_REASON_ROW_WORDS, .nr = 1,
	  BYTES(0, INFO_SP(3, 0), 8, 0, 0) },
	{ "words in a row that is passed", SFRAME_REASON_ROW_WORDS, .nr = 2,
	  BYTES(0, INFO_SP(7, 0), 8, 0, 0, 0, 0, 0, 0, 1, INFO_SP(1, 0), 8) },
	{ "rows end in a word", SFRAME_REASON_FRE_OFFSET, .nr = 1,
	  BYTES(0, INFO_SP(2, 0), 8) },
	{ "signed return address", SFRAME_REASON_ROW_RULE, .nr = 1,
	  BYTES(0, INFO_SP(1, 0) | 0x80, 8) },
	{ "flex with one word", SFRAME_REASON_ROW_WORDS, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(1), REG(UNWIND_USER_REGNUM_SP)) },
	{ "flex with three words", SFRAME_REASON_ROW_WORDS, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(3), REG(UNWIND_USER_REGNUM_SP), 8, 0) },
	{ "flex with other padding", SFRAME_REASON_ROW_WORDS, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(5), REG(UNWIND_USER_REGNUM_SP), 16,
		1, SFRAME_FLEX_DEREF_P, 0xf0) },
	{ "flex reserved bit of cfa", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), REG(UNWIND_USER_REGNUM_SP) | 4, 8) },
	{ "flex reserved bit of ra", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(4), REG(UNWIND_USER_REGNUM_SP), 8, 2 | 4, 0xf8) },
	{ "flex reserved bit of fp", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(6), REG(UNWIND_USER_REGNUM_SP), 8, 2, 0xf8,
		2 | 4, 0xf0) },
	{ "flex cfa from itself", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), 0, 8) },
	{ "flex cfa from memory at itself", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), SFRAME_FLEX_DEREF_P, 8) },
	{ "flex ra is a stack address", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(4), REG(UNWIND_USER_REGNUM_SP), 8, 0, 0xf8) },
	{ "flex register number", SFRAME_REASON_ROW_REGISTER, FLEX, .nr = 1,
	  BYTES(0, INFO_FP(2, 2), 0x01, 0, 0x08, 0, 0, 0, 0, 0) },
	{ "flex last register number", SFRAME_REASON_ROW_REGISTER, FLEX, .nr = 1,
	  BYTES(0, INFO_FP(2, 2), 0xf9, 0xff, 0xff, 0xff, 0, 0, 0, 0) },
};

KUNIT_ARRAY_PARAM_DESC(sframe_bad, sframe_bad_rows, name);

static void sframe_expect_rule(struct kunit *test,
			       const struct unwind_user_rule *got,
			       const struct unwind_user_rule *want)
{
	KUNIT_EXPECT_EQ(test, got->base, want->base);
	KUNIT_EXPECT_EQ(test, got->deref, want->deref);
	KUNIT_EXPECT_EQ(test, got->off, want->off);
	if (want->base == UNWIND_USER_BASE_REG)
		KUNIT_EXPECT_EQ(test, got->regnum, want->regnum);
}

static void sframe_rows_good(struct kunit *test)
{
	const struct sframe_test_rows *rows = test->param_value;
	unsigned int budget = SFRAME_TEST_BUDGET;
	struct unwind_user_frame frame;

	sframe_test_use_rows(test, rows);
	KUNIT_ASSERT_EQ(test, SFRAME_REASON_NONE,
			sframe_test_read(test, sframe_test_ip(test->priv),
					 &frame, &budget));
	KUNIT_EXPECT_EQ(test, frame.outermost, rows->frame.outermost);
	KUNIT_EXPECT_EQ(test, frame.signal, rows->frame.signal);
	sframe_expect_rule(test, &frame.cfa, &rows->frame.cfa);
	sframe_expect_rule(test, &frame.ra, &rows->frame.ra);
	sframe_expect_rule(test, &frame.fp, &rows->frame.fp);
}

static void sframe_rows_bad(struct kunit *test)
{
	const struct sframe_test_rows *rows = test->param_value;

	sframe_test_use_rows(test, rows);
	SFRAME_EXPECT_AT(test, sframe_test_ip(test->priv), rows->reason);
}

/* Rows of two bytes: a start and no words. */
static void sframe_test_many_rows(struct kunit *test, unsigned int nr)
{
	struct sframe_test *ctx = test->priv;
	u8 bytes[2 * (SFRAME_STEP_ROWS + 1)] = { };
	unsigned int i;

	for (i = 0; i < nr; i++)
		bytes[2 * i] = i;
	sframe_test_set_rows(ctx, nr, bytes, 2 * nr);
	KUNIT_ASSERT_EQ(test, sframe_test_header(test, false), 0);
}

static void sframe_rows_count(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long last = ctx->text + SFRAME_TEST_FUNC +
			     SFRAME_STEP_ROWS - 1;

	sframe_test_many_rows(test, SFRAME_STEP_ROWS);
	SFRAME_EXPECT_AT(test, last, SFRAME_REASON_NONE);

	/* Whether the next row starts here as well is not known. */
	sframe_test_many_rows(test, SFRAME_STEP_ROWS + 1);
	SFRAME_EXPECT_AT(test, last - 1, SFRAME_REASON_NONE);
	SFRAME_EXPECT_AT(test, last, SFRAME_REASON_ROW_COUNT);
}

/* Two probes of the index and one row. */
static void sframe_rows_budget(struct kunit *test)
{
	struct unwind_user_frame frame;
	unsigned int budget;
	unsigned long ip = sframe_test_ip(test->priv);

	KUNIT_ASSERT_EQ(test, sframe_test_header(test, false), 0);
	for (budget = 0; budget < 4; budget++) {
		unsigned int left = budget;

		KUNIT_EXPECT_EQ(test, SFRAME_REASON_BUDGET,
				sframe_test_read(test, ip, &frame, &left));
		KUNIT_EXPECT_EQ(test, left, 0);
	}
	budget = 5;
	KUNIT_EXPECT_EQ(test, SFRAME_REASON_NONE,
			sframe_test_read(test, ip, &frame, &budget));
	KUNIT_EXPECT_EQ(test, budget, 1);
}

/* ---- Pages ------------------------------------------------------------- */

/* As sframe_read_header() does it, without a look at the memory. */
static void sframe_test_describe(struct sframe_test *ctx)
{
	struct sframe_section *section = &ctx->window.section;
	unsigned long behind = ctx->at + sizeof(struct sframe_header);

	section->start = ctx->at;
	section->length = ctx->len;
	section->fdes = behind;
	section->fres = behind + ctx->image.header.fres_off;
	section->fres_end = section->fres + ctx->image.header.fre_len;
	section->num_fdes = SFRAME_TEST_FDES;
	section->ra_off = UNWIND_USER_SFRAME_RA_OFF;
}

/* A section that ends in each of its bytes at the end of a page. */
static void sframe_pages_both_there(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long border = ctx->data + PAGE_SIZE, nr;

	for (nr = 0; nr <= ctx->len; nr++) {
		ctx->at = border - nr;
		KUNIT_ASSERT_EQ(test, sframe_test_header(test, false), 0);
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

	/* What others have behind these rows need not be there. */
	ctx->window.section.fres_end += PAGE_SIZE;
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx), SFRAME_REASON_NONE);
}

/* A page that nobody has touched is there for a walker that may fault. */
static void sframe_pages_never_touched(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned int budget = SFRAME_TEST_BUDGET;
	unsigned long ip = sframe_test_ip(ctx);
	struct unwind_user_frame frame;
	enum sframe_reason reason;

	sframe_test_describe(ctx);
	pagefault_disable();
	reason = sframe_find_frame_nofault(&ctx->window, ip, &frame, &budget);
	pagefault_enable();
	KUNIT_EXPECT_EQ(test, reason, SFRAME_REASON_SECTION_FAULT);

	/* Empty functions, each at its own FDE. */
	SFRAME_EXPECT_AT(test, ip, SFRAME_REASON_NO_FDE);
}

static void sframe_pages_kernel_address(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, sframe_test_header(test, false), 0);
	ctx->window.section.fdes = (unsigned long)ctx->image.fdes;
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx),
			 SFRAME_REASON_SECTION_FAULT);
}

/* ---- Live sections ----------------------------------------------------- */

static const struct sframe_test_field sframe_live_cases[] = {
	{ "full", FIELD(image.header.num_fdes, 3), 0 },
	{ "empty", FIELD(image.header.num_fdes, 0), 0 },
	{ "more than fit", FIELD(image.header.num_fdes, 4), -EINVAL },
	{ "length of rows is not used", FIELD(image.header.fre_len, U32_MAX),
	  0 },
	{ "number of rows is not used", FIELD(image.header.num_fres, U32_MAX),
	  0 },
	{ "rows in front", FIELD(image.header.fdes_off, 49), -EINVAL },
	{ "space for two", FIELD(image.header.fdes_off, 1), -EINVAL },
	{ "rows outside", FIELD(image.header.fres_off, SFRAME_TEST_BEHIND + 1),
	  -EINVAL },
	{ "no space for rows", FIELD(image.header.fres_off,
				     SFRAME_TEST_BEHIND), 0 },
	{ "version", FIELD(image.header.version, 2), -EINVAL },
	{ "half a header", FIELD(len, sizeof(struct sframe_header) - 1),
	  -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(sframe_live, sframe_live_cases, name);

static void sframe_live_header(struct kunit *test)
{
	sframe_test_param(test, true);
}

static void sframe_live_alignment(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;

	for (ctx->at = ctx->data + 1; ctx->at < ctx->data + 8; ctx->at++)
		KUNIT_EXPECT_EQ(test, sframe_test_header(test, true), -EINVAL);
	KUNIT_EXPECT_EQ(test, sframe_test_header(test, true), 0);
}

static void sframe_live_contents(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_section *section = &ctx->window.section;

	ctx->image.header.num_fdes = 1;
	ctx->image.header.fre_len = 0;
	ctx->len += 100;
	KUNIT_ASSERT_EQ(test, sframe_test_header(test, true), 0);
	KUNIT_EXPECT_EQ(test, section->num_fdes, SFRAME_TEST_FDES);
	KUNIT_EXPECT_EQ(test, section->fres, ctx->at + 28 + 48);
	KUNIT_EXPECT_EQ(test, section->fres_end, ctx->at + ctx->len);
	KUNIT_EXPECT_TRUE(test, section->live);
}

static void sframe_test_put_count(struct kunit *test, u32 count)
{
	struct sframe_test *ctx = test->priv;

	sframe_test_put(test, ctx->at + offsetof(struct sframe_header,
						 num_fdes),
			&count, sizeof(count));
}

/* A function is there when it has been counted, and not before. */
static void sframe_live_count(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned int i, nr;

	ctx->image.header.num_fdes = 0;
	KUNIT_ASSERT_EQ(test, sframe_test_header(test, true), 0);
	for (nr = 0; nr <= SFRAME_TEST_FDES; nr++) {
		sframe_test_put_count(test, nr);
		for (i = 0; i < SFRAME_TEST_FDES; i++)
			SFRAME_EXPECT_AT(test, ctx->text + ctx->start[i],
					 i < nr ? SFRAME_REASON_NONE :
						  SFRAME_REASON_NO_FDE);
	}
}

/* Rows are not taken for FDEs, however many the producer says there are. */
static void sframe_live_count_beyond(struct kunit *test)
{
	static const u32 counts[] = { 4, 5, INT_MAX, U32_MAX };
	struct sframe_test *ctx = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, sframe_test_header(test, true), 0);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		sframe_test_put_count(test, counts[i]);
		SFRAME_EXPECT_AT(test, ctx->text + 0x37f, SFRAME_REASON_NONE);
		SFRAME_EXPECT_AT(test, ctx->text + 0x380, SFRAME_REASON_NO_FDE);
	}
}

/* A window that is not live keeps the count it was registered with. */
static void sframe_live_not(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, sframe_test_header(test, false), 0);
	sframe_test_put_count(test, 0);
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx), SFRAME_REASON_NONE);
}

static void sframe_live_taken_back(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	const u32 size = 0;

	KUNIT_ASSERT_EQ(test, sframe_test_header(test, true), 0);
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx), SFRAME_REASON_NONE);
	sframe_test_put(test, ctx->at + offsetof(struct sframe_test_image,
						 fdes[1].func_size),
			&size, sizeof(size));
	SFRAME_EXPECT_AT(test, ctx->text + 0x17f, SFRAME_REASON_NONE);
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx), SFRAME_REASON_NO_FDE);
	SFRAME_EXPECT_AT(test, ctx->text + 0x300, SFRAME_REASON_NONE);
}

/* All that is missing is the page with the count. */
static void sframe_live_count_missing(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, sframe_test_header(test, true), 0);
	ctx->window.section.start += PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, vm_munmap(ctx->data + PAGE_SIZE, PAGE_SIZE), 0);
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx),
			 SFRAME_REASON_SECTION_FAULT);
}

static struct kunit_case sframe_section_cases[] = {
	KUNIT_CASE_PARAM(sframe_header_field, sframe_header_gen_params),
	KUNIT_CASE(sframe_header_contents),
	KUNIT_CASE(sframe_header_most_functions),
	KUNIT_CASE(sframe_header_address),
	KUNIT_CASE(sframe_header_text_range),
	KUNIT_CASE_PARAM(sframe_index_search, sframe_index_gen_params),
	KUNIT_CASE_PARAM(sframe_index_attributes, sframe_attr_gen_params),
	KUNIT_CASE_PARAM(sframe_rows_good, sframe_good_gen_params),
	KUNIT_CASE_PARAM(sframe_rows_bad, sframe_bad_gen_params),
	KUNIT_CASE(sframe_rows_count),
	KUNIT_CASE(sframe_rows_budget),
	KUNIT_CASE(sframe_pages_both_there),
	KUNIT_CASE(sframe_pages_second_missing),
	KUNIT_CASE(sframe_pages_never_touched),
	KUNIT_CASE(sframe_pages_kernel_address),
	KUNIT_CASE_PARAM(sframe_live_header, sframe_live_gen_params),
	KUNIT_CASE(sframe_live_alignment),
	KUNIT_CASE(sframe_live_contents),
	KUNIT_CASE(sframe_live_count),
	KUNIT_CASE(sframe_live_count_beyond),
	KUNIT_CASE(sframe_live_not),
	KUNIT_CASE(sframe_live_taken_back),
	KUNIT_CASE(sframe_live_count_missing),
	{}
};

static struct kunit_suite sframe_section_suite = {
	.name = "sframe_section",
	.init = sframe_test_init,
	.test_cases = sframe_section_cases,
};

kunit_test_suite(sframe_section_suite);
