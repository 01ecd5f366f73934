// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the SFrame decoder: headers, index, rows. */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/sframe.h>
#include <linux/sizes.h>

#include <asm/unwind_user_sframe.h>

#include "sframe_kunit.h"

/* ---- Headers ----------------------------------------------------------- */

/**
 * struct sframe_test_field - one changed field
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
	const u8 *value = (const u8 *)&field->value;

	/* Take its low bytes. */
	if (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		value += sizeof(field->value) - field->size;
	memcpy((u8 *)ctx + field->off, value, field->size);
}

#define SFRAME_TEST_AREA	(offsetof(struct sframe_test_image, rows) + \
				 ROW_SIZE)
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
	{ "other machine",
	  FIELD(image.header.abi_arch, UNWIND_USER_SFRAME_ABI ^ 1), -EINVAL },
	{ "fixed fp", FIELD(image.header.cfa_fixed_fp_offset, -16), -EINVAL },
	{ "fixed ra or none", FIELD(image.header.cfa_fixed_ra_offset,
				    UNWIND_USER_SFRAME_RA_OFF ? 0 : -8),
	  -EINVAL },
	{ "other ra", FIELD(image.header.cfa_fixed_ra_offset, -16), -EINVAL },
	{ "auxiliary header", FIELD(image.header.auxhdr_len, 1), -EINVAL },
	{ "index across the rows", FIELD(image.header.fdes_off, 1), -EINVAL },
	{ "index behind the rows", FIELD(image.header.fdes_off, 49), -EINVAL },
	{ "index outside", FIELD(image.header.fdes_off, U32_MAX), -EINVAL },
	{ "index too long", FIELD(image.header.num_fdes, 4), -EINVAL },
	{ "longest index", FIELD(image.header.num_fdes, U32_MAX), -EINVAL },
	{ "index size overflows", FIELD(image.header.num_fdes, BIT(28)),
	  -EINVAL },
	{ "rows across the end", FIELD(image.header.fre_len, ROW_SIZE + 6),
	  -EINVAL },
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

static void sframe_header_field(struct kunit *test)
{
	const struct sframe_test_field *field = test->param_value;

	sframe_test_edit(test->priv, field);
	KUNIT_EXPECT_EQ(test, sframe_test_header(test), field->expect);
}

static void sframe_header_contents(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_section *section = &ctx->window.section;

	ctx->at += 3;
	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
	KUNIT_EXPECT_EQ(test, section->start, ctx->at);
	KUNIT_EXPECT_EQ(test, section->length, ctx->len);
	KUNIT_EXPECT_EQ(test, section->fdes, ctx->at + 28);
	KUNIT_EXPECT_EQ(test, section->fres, ctx->at + 28 + 48);
	KUNIT_EXPECT_EQ(test, section->fres_end, ctx->at + ctx->len);
	KUNIT_EXPECT_EQ(test, section->num_fdes, SFRAME_TEST_FDES);
}

/* The number of FDEs is read only at registration. */
static void sframe_header_count(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	const u32 count = 0;

	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
	sframe_test_put(test, ctx->at + offsetof(struct sframe_header,
						 num_fdes),
			&count, sizeof(count));
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx), SFRAME_REASON_NONE);
}

/* The limit of FDEs alone: the section is long enough for more. */
static void sframe_header_most_functions(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;

	ctx->len = SZ_1G;
	ctx->image.header.fres_off = SZ_512M;
	ctx->image.header.num_fdes = SFRAME_MAX_FDES;
	KUNIT_EXPECT_EQ(test, sframe_test_header(test), 0);
	ctx->image.header.num_fdes = SFRAME_MAX_FDES + 1;
	KUNIT_EXPECT_EQ(test, sframe_test_header(test), -EINVAL);
}

static void sframe_header_address(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_section section;

	KUNIT_EXPECT_EQ(test, sframe_read_header(&section, 0, ctx->len),
			-EFAULT);
	/* If user space has its own address space, any number is valid there. */
	KUNIT_EXPECT_EQ(test, sframe_read_header(&section, (unsigned long)ctx,
						 ctx->len),
			IS_ENABLED(CONFIG_ALTERNATE_USER_ADDRESS_SPACE) ?
			-EFAULT : -EINVAL);
	KUNIT_EXPECT_EQ(test, sframe_read_header(&section, -8UL, ctx->len),
			-EINVAL);
	KUNIT_ASSERT_EQ(test, vm_munmap(ctx->data, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, sframe_read_header(&section, ctx->data, ctx->len),
			-EFAULT);
}

static void sframe_header_text_range(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_section *section = &ctx->window.section;
	unsigned long start, end;

	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
	KUNIT_EXPECT_EQ(test, sframe_read_text_range(section, &start, &end), 0);
	KUNIT_EXPECT_EQ(test, start, ctx->text + 0x100);
	KUNIT_EXPECT_EQ(test, end, ctx->text + 0x380);

	/* The last function ends past the last address. */
	ctx->start[2] = -1 - (long)ctx->text;
	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
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
 * @off:	offset to look up
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
	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
	SFRAME_EXPECT_AT(test, ctx->text + param->off, param->reason);
}

static const struct sframe_test_field sframe_attr_cases[] = {
	{ "good", FIELD(image.attr.rep_size, 0), SFRAME_REASON_NONE },
	{ "key of signed addresses",
	  FIELD(image.attr.info, SFRAME_FDE_PAUTH_KEY_B),
	  UNWIND_USER_SFRAME_SIGNS_RA ? SFRAME_REASON_NONE :
					SFRAME_REASON_FDE_TYPE },
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
	{ "rows end in a row", FIELD(image.header.fre_len, ROW_SIZE + 4),
	  SFRAME_REASON_FRE_OFFSET },
	{ "rows end in the attributes", FIELD(image.header.fre_len, 4),
	  SFRAME_REASON_FRE_OFFSET },
	{ "no rows at all", FIELD(image.header.fre_len, 0),
	  SFRAME_REASON_FRE_OFFSET },
	{ "last byte", FIELD(image.fdes[1].fre_off, ROW_SIZE + 4),
	  SFRAME_REASON_FRE_OFFSET },
	{ "first byte behind", FIELD(image.fdes[1].fre_off, ROW_SIZE + 5),
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
	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
	SFRAME_EXPECT_AT(test, sframe_test_ip(ctx), field->expect);
}

/* ---- Rows -------------------------------------------------------------- */

#define RULE(what, offset)						\
	{ .from = UNWIND_USER_FROM_##what, .off = (offset) }
#define LOAD(what, offset)						\
	{ .from = UNWIND_USER_FROM_##what | UNWIND_USER_DEREF,		\
	  .off = (offset) }
#define RULE_OTHER(offset)						\
	{ .from = UNWIND_USER_FROM_REG, .regnum = OTHER_REG, .off = (offset) }
#define RA			LOAD(CFA, RA_OFF)
#define SP_8			{ .cfa = RULE(SP, CFA_RULE(8)), .ra = RA }
#define SP_16			{ .cfa = RULE(SP, CFA_RULE(16)), .ra = RA }
/* Default of FLEX rows: the place where a call puts the return address. */
#if UNWIND_USER_SFRAME_RA_OFF
#define RA_LEFT			RA
#define SECOND_WORD(offset)	.ra = RA, .fp = LOAD(CFA, offset)
#else
#define RA_LEFT			RULE(LR, 0)
#define SECOND_WORD(offset)	.ra = LOAD(CFA, offset)
#endif
#define FLEX_SP_8		{ .cfa = RULE(SP, CFA_RULE(8)), .ra = RA_LEFT }

static const struct sframe_test_rows sframe_good_rows[] = {
	{ "from sp", 0, SP_8, .nr = 1, BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD) },
	{ "from fp", 0, { RULE(FP, CFA_RULE(16)), RA }, .nr = 1,
	  BYTES(0, INFO_FP_RA(1), CFA(16), RA_WORD) },
	{ "with fp", 0, { RULE(SP, CFA_RULE(16)), RA, LOAD(CFA, -16) }, .nr = 1,
	  BYTES(0, INFO_SP_RA(2), CFA(16), RA_WORD 0xf0) },
	{ "words of 2 bytes", 0,
	  { .cfa = RULE(SP, CFA_RULE(0x1230)), SECOND_WORD(-16) },
	  .nr = 1, BYTES(0, INFO_SP(2, 1), CFA_BYTE(0x1230, 2, 0),
			 CFA_BYTE(0x1230, 2, 1),
			 BYTE(-16, 2, 0), BYTE(-16, 2, 1)) },
	{ "words of 4 bytes", 0,
	  { .cfa = RULE(SP, CFA_RULE(0x12345678)), SECOND_WORD(-16) },
	  .nr = 1, BYTES(0, INFO_SP(2, 2),
			 CFA_BYTE(0x12345678, 4, 0),
			 CFA_BYTE(0x12345678, 4, 1),
			 CFA_BYTE(0x12345678, 4, 2),
			 CFA_BYTE(0x12345678, 4, 3),
			 BYTE(-16, 4, 0), BYTE(-16, 4, 1),
			 BYTE(-16, 4, 2), BYTE(-16, 4, 3)) },
	{ "starts of 2 bytes", 0, SP_16, .info = 1, .nr = 3,
	  BYTES(0, 0, INFO_SP_RA(1), CFA(8), RA_WORD
		BYTE(2, 2, 0), BYTE(2, 2, 1), INFO_SP_RA(1), CFA(16), RA_WORD
		BYTE(0x11, 2, 0), BYTE(0x11, 2, 1), INFO_SP_RA(1), CFA(24),
		RA_WORD) },
	{ "starts of 4 bytes", 0, SP_16, .info = 2, .nr = 3,
	  BYTES(0, 0, 0, 0, INFO_SP_RA(1), CFA(8), RA_WORD
		BYTE(2, 4, 0), BYTE(2, 4, 1), BYTE(2, 4, 2), BYTE(2, 4, 3),
		INFO_SP_RA(1), CFA(16), RA_WORD
		BYTE(BIT(24), 4, 0), BYTE(BIT(24), 4, 1), BYTE(BIT(24), 4, 2),
		BYTE(BIT(24), 4, 3), INFO_SP_RA(1), CFA(24), RA_WORD) },
	{ "starts here", 0, SP_16, .nr = 2,
	  BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD
		SFRAME_TEST_OFF, INFO_SP_RA(1), CFA(16), RA_WORD) },
	{ "next starts behind", 0, SP_8, .nr = 2,
	  BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD
		SFRAME_TEST_OFF + 1, INFO_SP_RA(1), CFA(16), RA_WORD) },
	{ "in a block", 0, SP_16, .info = SFRAME_FDE_PCMASK, .rep_size = 12,
	  .nr = 3, BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD
			 4, INFO_SP_RA(1), CFA(16), RA_WORD
			 5, INFO_SP_RA(1), CFA(24), RA_WORD) },
	{ "outermost", 0, { .kind = UNWIND_USER_FRAME_OUTERMOST }, .nr = 1, BYTES(0, 0) },
	{ "flex outermost", 0, { .kind = UNWIND_USER_FRAME_OUTERMOST }, FLEX, .nr = 1,
	  BYTES(0, 0) },
	{ "rows with the signal bit", 0,
	  { .cfa = RULE(SP, CFA_RULE(8)), .ra = RA,
	    .kind = UNWIND_USER_FRAME_RULES, .exact = true },
	  .info = SFRAME_FDE_SIGNAL, .nr = 1, BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD) },
	{ "outermost with the signal bit", 0,
	  { .kind = UNWIND_USER_FRAME_OUTERMOST },
	  .info = SFRAME_FDE_SIGNAL, .nr = 1, BYTES(0, 0) },
	{ "signal frame with the return address above the cfa", 0,
	  { .kind = UNWIND_USER_FRAME_SIGNAL }, FLEX,
	  .info = SFRAME_FDE_SIGNAL, .nr = 1,
	  BYTES(0, INFO_FLEX(4), REG(UNWIND_USER_REGNUM_FP), CFA(0),
		SFRAME_FLEX_DEREF_P, 8) },
	{ "signal frame with the return address from sp", 0,
	  { .kind = UNWIND_USER_FRAME_SIGNAL }, FLEX,
	  .info = SFRAME_FDE_SIGNAL, .nr = 1,
	  BYTES(0, INFO_FLEX(4), REG_DEREF(UNWIND_USER_REGNUM_SP), CFA(64),
		REG_DEREF(UNWIND_USER_REGNUM_SP), 72) },
	{ "signal frame without rows", 0, { .kind = UNWIND_USER_FRAME_SIGNAL },
	  .info = SFRAME_FDE_SIGNAL, .nr = 0, BYTES(0) },
	{ "flex from sp", 0, FLEX_SP_8, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), REG(UNWIND_USER_REGNUM_SP), CFA(8)) },
	{ "flex from fp", 0, { RULE(FP, CFA_RULE(16)), RA_LEFT }, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), REG(UNWIND_USER_REGNUM_FP), CFA(16)) },
	{ "flex from another register", 0,
	  { RULE_OTHER(CFA_RULE(-8)), RA_LEFT }, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), REG(OTHER_REG), CFA(-8)) },
	{ "flex from memory", 0, { LOAD(FP, CFA_RULE(-8)), RA_LEFT }, FLEX,
	  .nr = 1,
	  BYTES(0, INFO_FLEX(2), REG_DEREF(UNWIND_USER_REGNUM_FP), CFA(-8)) },
	{ "flex with ra", 0, { RULE(SP, CFA_RULE(8)), RULE_OTHER(0) }, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(4), REG(UNWIND_USER_REGNUM_SP), CFA(8),
		REG(OTHER_REG), 0) },
	{ "flex with ra and fp", 0,
	  { RULE(SP, CFA_RULE(32)), LOAD(CFA, -16), LOAD(CFA, -24) }, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(6), REG(UNWIND_USER_REGNUM_SP), CFA(32),
		SFRAME_FLEX_DEREF_P, 0xf0, SFRAME_FLEX_DEREF_P, 0xe8) },
	{ "flex with fp only", 0,
	  { RULE(SP, CFA_RULE(16)), RA_LEFT, LOAD(CFA, -16) }, FLEX,
	  .nr = 1, BYTES(0, INFO_FLEX(5), REG(UNWIND_USER_REGNUM_SP), CFA(16),
			 0, SFRAME_FLEX_DEREF_P, 0xf0) },
	{ "flex control words have no sign", 0,
	  { { UNWIND_USER_REGNUM_SP == 31 ? UNWIND_USER_FROM_SP :
					    UNWIND_USER_FROM_REG,
	      .regnum = 31, .off = CFA_RULE(0) }, RA_LEFT }, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), REG(31), 0) },
	{ "flex words of 4 bytes", 0,
	  { { UNWIND_USER_FROM_REG, .regnum = U16_MAX,
	      .off = CFA_RULE(-CFA_SCALE) }, RA_LEFT }, FLEX, .nr = 1,
	  BYTES(0, INFO_FP(2, 2), BYTE(REG(U16_MAX), 4, 0),
		BYTE(REG(U16_MAX), 4, 1), BYTE(REG(U16_MAX), 4, 2),
		BYTE(REG(U16_MAX), 4, 3), 0xff, 0xff, 0xff, 0xff) },
};

KUNIT_ARRAY_PARAM_DESC(sframe_good, sframe_good_rows, name);

static const struct sframe_test_rows sframe_bad_rows[] = {
	{ "first row behind", SFRAME_REASON_NO_ROW, .nr = 1,
	  BYTES(SFRAME_TEST_OFF + 1, INFO_SP_RA(1), CFA(8), RA_WORD) },
	{ "block before its first row", SFRAME_REASON_NO_ROW, .nr = 1,
	  .info = SFRAME_FDE_PCMASK, .rep_size = 16,
	  BYTES(1, INFO_SP_RA(1), CFA(8), RA_WORD) },
	{ "same start", SFRAME_REASON_ROW_ORDER, .nr = 2,
	  BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD
		0, INFO_SP_RA(1), CFA(16), RA_WORD) },
	{ "lower start", SFRAME_REASON_ROW_ORDER, .nr = 3,
	  BYTES(0, INFO_SP_RA(1), CFA(8), RA_WORD
		4, INFO_SP_RA(1), CFA(16), RA_WORD
		3, INFO_SP_RA(1), CFA(24), RA_WORD) },
	{ "word size", SFRAME_REASON_ROW_WORDS, .nr = 1,
	  BYTES(0, INFO_SP(1, 3), 8, 0, 0, 0, 0, 0, 0, 0) },
	{ "eight words", SFRAME_REASON_ROW_WORDS, .nr = 1,
	  BYTES(0, INFO_SP(8, 0), 8, 0, 0, 0, 0, 0, 0, 0) },
	{ "fifteen words", SFRAME_REASON_ROW_WORDS, .nr = 1,
	  BYTES(0, INFO_SP(15, 0), 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0) },
	{ "one word more", SFRAME_REASON_ROW_WORDS, .nr = 1,
	  BYTES(0, INFO_SP(MAX_WORDS + 1, 0), 8, 0, 0, 0) },
	{ "words in a row that is passed", SFRAME_REASON_ROW_WORDS, .nr = 2,
	  BYTES(0, INFO_SP(8, 0), 8, 0, 0, 0, 0, 0, 0, 0,
		1, INFO_SP_RA(1), CFA(8), RA_WORD) },
	{ "rows end in a word", SFRAME_REASON_FRE_OFFSET, .nr = 1,
	  BYTES(0, INFO_SP_RA(2), CFA(8), RA_WORD) },
#if !UNWIND_USER_SFRAME_SIGNS_RA
	{ "signed return address", SFRAME_REASON_ROW_RULE, .nr = 1,
	  BYTES(0, INFO_SP(1, 0) | 0x80, 8) },
#endif
#if !UNWIND_USER_SFRAME_RA_OFF
	{ "word 0 in front of nothing", SFRAME_REASON_ROW_WORDS, .nr = 1,
	  BYTES(0, INFO_SP(2, 0), 8, 0) },
#endif
#ifdef UNWIND_USER_SFRAME_CFA_SCALE
	{ "scaled offset is too large", SFRAME_REASON_ROW_RULE, .nr = 1,
	  BYTES(0, INFO_SP(1, 2), 0x7f, 0xff, 0xff, 0x7f) },
	{ "scaled offset of flex is too small", SFRAME_REASON_ROW_RULE, FLEX,
	  .nr = 1,
	  BYTES(0, INFO_FP(2, 2), BYTE(REG(UNWIND_USER_REGNUM_SP), 4, 0),
		BYTE(REG(UNWIND_USER_REGNUM_SP), 4, 1),
		BYTE(REG(UNWIND_USER_REGNUM_SP), 4, 2),
		BYTE(REG(UNWIND_USER_REGNUM_SP), 4, 3),
		0x80, 0, 0, 0x80) },
#endif
	{ "flex with one word", SFRAME_REASON_ROW_WORDS, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(1), REG(UNWIND_USER_REGNUM_SP)) },
	{ "flex with three words", SFRAME_REASON_ROW_WORDS, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(3), REG(UNWIND_USER_REGNUM_SP), CFA(8), 0) },
	{ "flex with other padding", SFRAME_REASON_ROW_WORDS, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(5), REG(UNWIND_USER_REGNUM_SP), CFA(16),
		1, SFRAME_FLEX_DEREF_P, 0xf0) },
	{ "flex with seven words", SFRAME_REASON_ROW_WORDS, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(7), REG(UNWIND_USER_REGNUM_SP), CFA(8),
		2, 0xf8, 2, 0xf0, 0) },
	{ "flex reserved bit of cfa", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(3), REG_DEREF(UNWIND_USER_REGNUM_SP) | 4, CFA(8),
		8) },
	{ "flex reserved bit of ra", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(4), REG(UNWIND_USER_REGNUM_SP), CFA(8), 2 | 4,
		0xf8) },
	{ "flex reserved bit of fp", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(6), REG(UNWIND_USER_REGNUM_SP), CFA(8), 2, 0xf8,
		2 | 4, 0xf0) },
	{ "flex cfa from itself", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), 0, 8) },
	{ "flex cfa from memory at itself", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(2), SFRAME_FLEX_DEREF_P, 8) },
	{ "flex ra is a stack address", SFRAME_REASON_ROW_RULE, FLEX, .nr = 1,
	  BYTES(0, INFO_FLEX(4), REG(UNWIND_USER_REGNUM_SP), CFA(8), 0, 0xf8) },
	{ "flex register number", SFRAME_REASON_ROW_REGISTER, FLEX, .nr = 1,
	  BYTES(0, INFO_FP(2, 2), BYTE(REG(0x10000), 4, 0),
		BYTE(REG(0x10000), 4, 1), BYTE(REG(0x10000), 4, 2),
		BYTE(REG(0x10000), 4, 3), 0, 0, 0, 0) },
	{ "flex last register number", SFRAME_REASON_ROW_REGISTER, FLEX, .nr = 1,
	  BYTES(0, INFO_FP(2, 2), BYTE(REG(0x1fffffff), 4, 0),
		BYTE(REG(0x1fffffff), 4, 1), BYTE(REG(0x1fffffff), 4, 2),
		BYTE(REG(0x1fffffff), 4, 3), 0, 0, 0, 0) },
};

KUNIT_ARRAY_PARAM_DESC(sframe_bad, sframe_bad_rows, name);

static void sframe_expect_rule(struct kunit *test,
			       const struct unwind_user_rule *got,
			       const struct unwind_user_rule *want)
{
	KUNIT_EXPECT_EQ(test, got->from, want->from);
	KUNIT_EXPECT_EQ(test, got->off, want->off);
	if ((want->from & ~UNWIND_USER_DEREF) == UNWIND_USER_FROM_REG)
		KUNIT_EXPECT_EQ(test, got->regnum, want->regnum);
}

static void sframe_rows_good(struct kunit *test)
{
	const struct sframe_test_rows *rows = test->param_value;
	const struct unwind_user_frame *want = &rows->frame, *got;
	struct unwind_user_state state;
	struct sframe_func func;

	sframe_test_use_rows(test, rows);
	KUNIT_ASSERT_EQ(test, SFRAME_REASON_NONE,
			sframe_test_read(test, sframe_test_ip(test->priv),
					 &state, &func));
	got = &state.sframe.frame;
	KUNIT_EXPECT_EQ(test, got->exact, want->exact);
	if (want->kind != UNWIND_USER_FRAME_PLAIN) {
		KUNIT_EXPECT_EQ(test, got->kind, want->kind);
		return;
	}
	KUNIT_EXPECT_EQ(test, got->kind, func.flex ? UNWIND_USER_FRAME_RULES :
			UNWIND_USER_FRAME_PLAIN);
	sframe_expect_rule(test, &got->cfa, &want->cfa);
	sframe_expect_rule(test, &got->ra, &want->ra);
	sframe_expect_rule(test, &got->fp, &want->fp);
	KUNIT_EXPECT_EQ(test, got->cfa_addend, 0);
	KUNIT_EXPECT_EQ(test, got->sp_off, -SAVE_AREA);
	KUNIT_EXPECT_FALSE(test, got->ra_copied);
}

static void sframe_rows_bad(struct kunit *test)
{
	const struct sframe_test_rows *rows = test->param_value;

	sframe_test_use_rows(test, rows);
	SFRAME_EXPECT_AT(test, sframe_test_ip(test->priv), rows->reason);
}

#define SFRAME_TEST_MANY_ROWS	80

/* Functions may have any number of rows. */
static void sframe_rows_many(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long func = ctx->text + SFRAME_TEST_FUNC;
	struct unwind_user_state state;
	u8 bytes[SFRAME_TEST_MANY_ROWS / 2 * (2 + ROW_SIZE)], *pos = bytes;
	struct sframe_func found;
	unsigned int i;

	for (i = 0; i < SFRAME_TEST_MANY_ROWS; i += 2) {
		const u8 pair[] = {
			i, 0,		/* no words: outermost */
			i + 1, INFO_SP_RA(1), CFA(8), RA_WORD
		};

		memcpy(pos, pair, sizeof(pair));
		pos += sizeof(pair);
	}
	sframe_test_set_rows(ctx, SFRAME_TEST_MANY_ROWS, bytes, sizeof(bytes));
	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
	for (i = 0; i < SFRAME_TEST_FUNC_SIZE; i++) {
		KUNIT_ASSERT_EQ(test, SFRAME_REASON_NONE,
				sframe_test_read(test, func + i, &state,
						 &found));
		KUNIT_ASSERT_EQ(test, i < SFRAME_TEST_MANY_ROWS && !(i % 2),
				state.sframe.frame.kind ==
				UNWIND_USER_FRAME_OUTERMOST);
	}
}

/* Each probe of the index and each row counts against the budget. */
static void sframe_rows_budget(struct kunit *test)
{
	const int most = (sframe_walk_budget(0, true) + SFRAME_INTERVAL) / 3;
	struct unwind_user_state state;
	enum sframe_reason reason;
	struct sframe_func func;
	int nr;

	KUNIT_ASSERT_EQ(test, sframe_test_header(test), 0);
	sframe_test_start(&state);
	/* Two probes and one row. */
	for (nr = 0; nr <= most; nr++) {
		reason = sframe_test_read_nofault(test, &state,
						  sframe_test_ip(test->priv),
						  &func);
		if (reason)
			break;
	}
	KUNIT_EXPECT_EQ(test, reason, SFRAME_REASON_BUDGET);
	KUNIT_EXPECT_GE(test, nr, most - SFRAME_INTERVAL);
}

static struct kunit_case sframe_section_cases[] = {
	KUNIT_CASE_PARAM(sframe_header_field, sframe_header_gen_params),
	KUNIT_CASE(sframe_header_contents),
	KUNIT_CASE(sframe_header_count),
	KUNIT_CASE(sframe_header_most_functions),
	KUNIT_CASE(sframe_header_address),
	KUNIT_CASE(sframe_header_text_range),
	KUNIT_CASE_PARAM(sframe_index_search, sframe_index_gen_params),
	KUNIT_CASE_PARAM(sframe_index_attributes, sframe_attr_gen_params),
	KUNIT_CASE_PARAM(sframe_rows_good, sframe_good_gen_params),
	KUNIT_CASE_PARAM(sframe_rows_bad, sframe_bad_gen_params),
	KUNIT_CASE(sframe_rows_many),
	KUNIT_CASE(sframe_rows_budget),
	{}
};

static struct kunit_suite sframe_section_suite = {
	.name = "sframe_section",
	.init = sframe_test_init,
	.test_cases = sframe_section_cases,
};

kunit_test_suite(sframe_section_suite);
