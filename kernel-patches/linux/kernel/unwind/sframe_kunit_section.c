// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the SFrame decoder: headers, index, rows. */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sframe.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <asm/unwind_user_sframe.h>

#include "sframe_kunit.h"

static void sframe_test_start(struct unwind_user_state *state)
{
	memset(state, 0, sizeof(*state));
	state->topmost = true;
	state->ws = sizeof(long);
	state->sframe.slack = SFRAME_INTERVAL;
	state->sframe.budget = sframe_walk_budget(0, true);
}

static enum sframe_reason
sframe_test_read_nofault(struct kunit *test, struct unwind_user_state *state,
			 unsigned long ip, struct sframe_func *func)
{
	struct sframe_test *ctx = test->priv;

	guard(pagefault)();
	guard(rcu)();
	return sframe_read(state, &ctx->window, ip, func, NULL);
}

/* Read as a walker that may sleep does. */
static enum sframe_reason sframe_test_read(struct kunit *test, unsigned long ip,
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

static enum sframe_reason sframe_test_reason(struct kunit *test,
					     unsigned long ip)
{
	struct unwind_user_state state;
	struct sframe_func func;

	return sframe_test_read(test, ip, &state, &func);
}

#define SFRAME_EXPECT_AT(test, ip, reason)				\
	KUNIT_EXPECT_EQ(test, sframe_test_reason(test, ip), reason)

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
/* Maximum number of words in a DEFAULT row. */
#define MAX_WORDS		(2 + RA_WORDS)

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

/* ---- Pages ------------------------------------------------------------- */

/* Fill in the section like sframe_read_header(), without reading memory. */
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

static struct kunit_suite sframe_section_suite = {
	.name = "sframe_section",
	.init = sframe_test_init,
	.test_cases = sframe_section_cases,
};

kunit_test_suite(sframe_section_suite);
