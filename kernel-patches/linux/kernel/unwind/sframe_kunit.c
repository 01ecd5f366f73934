// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of SFrame windows: the decoder on sections in real user memory,
 * one step of a walk, and the registry.
 */
#include <kunit/test.h>

#include <linux/anon_inodes.h>
#include <linux/completion.h>
#include <linux/file.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sframe.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <asm/unwind_user_sframe.h>

#include "sframe.h"
#include "sframe_step.h"
#include "user.h"

#define SFRAME_TEST_SIZE	(4 * PAGE_SIZE)
#define SFRAME_TEST_FDES	3
#define SFRAME_TEST_BUDGET	1000

/* Three functions with a gap behind each; the tests look into the second. */
#define SFRAME_TEST_FUNC	0x200
#define SFRAME_TEST_FUNC_SIZE	0x80
#define SFRAME_TEST_OFF		0x10

/* A section as it is in memory. All functions share the same rows. */
struct sframe_test_image {
	struct sframe_header	header;
	struct sframe_fde	fdes[SFRAME_TEST_FDES];
	struct sframe_fde_attr	attr;
	u8			rows[256];
} __packed;

/**
 * struct sframe_test - what a test starts from, and may edit
 * @text:	user address of executable memory
 * @data:	user address of memory for sections and stacks
 * @at:		where the section is to be
 * @len:	its length
 * @start:	of each function, from @text
 * @image:	the section; its func_start fields are made from @start
 * @window:	covers the first page of @text, with this section
 */
struct sframe_test {
	unsigned long			text;
	unsigned long			data;
	unsigned long			at;
	unsigned long			len;
	long				start[SFRAME_TEST_FDES];
	struct sframe_test_image	image;
	struct sframe_window		window;
};

/* Info byte of a row: @words of 1 << @size bytes. */
#define INFO_SP(words, size)	(1 | (words) << 1 | (size) << 5)
#define INFO_FP(words, size)	((words) << 1 | (size) << 5)
#define INFO_FLEX(words)	INFO_FP(words, 0)

/* Control words of FLEX rows */
#define REG(nr)			((nr) << 3 | SFRAME_FLEX_REG_P)
#define REG_DEREF(nr)		(REG(nr) | SFRAME_FLEX_DEREF_P)
#define REG_R10			10

#define BYTES(...)							\
	.bytes = { __VA_ARGS__ },					\
	.nr_bytes = sizeof((u8 []){ __VA_ARGS__ })

static void sframe_test_set_rows(struct sframe_test *ctx, unsigned int nr,
				 const u8 *bytes, unsigned int nr_bytes)
{
	memcpy(ctx->image.rows, bytes, nr_bytes);
	ctx->image.attr.num_fres = nr;
	ctx->image.header.num_fres = nr;
	ctx->image.header.fre_len = sizeof(ctx->image.attr) + nr_bytes;
	ctx->len = offsetof(struct sframe_test_image, rows) + nr_bytes;
}

/* The usual row: the frame of a function which has not pushed anything. */
static void sframe_test_set_image(struct sframe_test *ctx)
{
	static const u8 row[] = { 0, INFO_SP(1, 0), 8 };
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

static unsigned long sframe_test_map(struct kunit *test, unsigned long where,
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

static int sframe_test_init(struct kunit *test)
{
	struct sframe_test *ctx;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;
	ctx->text = sframe_test_map(test, SFRAME_TEST_TEXT, NULL,
				    PROT_READ | PROT_EXEC);
	ctx->data = sframe_test_map(test, SFRAME_TEST_DATA, NULL,
				    PROT_READ | PROT_WRITE);
	ctx->at = ctx->data;
	ctx->window.text_start = ctx->text;
	ctx->window.text_end = ctx->text + PAGE_SIZE;
	sframe_test_set_image(ctx);
	return 0;
}

/* The address at which the tests look if they do not say otherwise. */
static unsigned long sframe_test_ip(const struct sframe_test *ctx)
{
	return ctx->text + SFRAME_TEST_FUNC + SFRAME_TEST_OFF;
}

static void sframe_test_put(struct kunit *test, unsigned long addr,
			    const void *bytes, unsigned long nr)
{
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)addr, bytes, nr), 0);
}

static void sframe_test_put_word(struct kunit *test, unsigned long addr,
				 unsigned long word)
{
	sframe_test_put(test, addr, &word, sizeof(word));
}

/* Write the first @nr bytes of the section. */
static void sframe_test_write(struct kunit *test, unsigned long nr)
{
	struct sframe_test *ctx = test->priv;
	unsigned long index;
	unsigned int i;

	index = ctx->at + offsetof(struct sframe_test_image, fdes);
	for (i = 0; i < SFRAME_TEST_FDES; i++)
		ctx->image.fdes[i].func_start = ctx->text + ctx->start[i] -
			(index + i * sizeof(struct sframe_fde));
	sframe_test_put(test, ctx->at, &ctx->image, nr);
}

static int sframe_test_header(struct kunit *test, bool live)
{
	struct sframe_test *ctx = test->priv;

	sframe_test_write(test, offsetof(struct sframe_test_image, rows) +
			  sizeof(ctx->image.rows));
	return sframe_read_header(&ctx->window.section, ctx->at, ctx->len,
				  live);
}

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

/**
 * struct sframe_test_rows - the rows of a function and what they mean
 * @name:	of the case
 * @reason:	expected
 * @frame:	expected if @reason is SFRAME_REASON_NONE
 * @info:	of the attributes
 * @info2:	of the attributes
 * @rep_size:	of the attributes
 * @nr:		number of rows
 * @nr_bytes:	of the rows
 * @bytes:	the rows
 */
struct sframe_test_rows {
	const char			*name;
	enum sframe_reason		reason;
	struct unwind_user_frame	frame;
	u8				info;
	u8				info2;
	u8				rep_size;
	u8				nr;
	u8				nr_bytes;
	u8				bytes[48];
};

#define RULE(what, offset)						\
	{ .base = UNWIND_USER_BASE_##what, .off = (offset) }
#define LOAD(what, offset)						\
	{ .base = UNWIND_USER_BASE_##what, .off = (offset), .deref = true }
#define RULE_R10(offset)						\
	{ .base = UNWIND_USER_BASE_REG, .regnum = REG_R10, .off = (offset) }
#define RA			LOAD(CFA, -8)
#define SP_8			{ .cfa = RULE(SP, 8), .ra = RA }
#define SP_16			{ .cfa = RULE(SP, 16), .ra = RA }
#define FLEX			.info2 = SFRAME_FDE_TYPE_FLEX

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

static void sframe_test_use_rows(struct kunit *test,
				 const struct sframe_test_rows *rows)
{
	struct sframe_test *ctx = test->priv;

	ctx->image.attr.info = rows->info;
	ctx->image.attr.info2 = rows->info2;
	ctx->image.attr.rep_size = rows->rep_size;
	sframe_test_set_rows(ctx, rows->nr, rows->bytes, rows->nr_bytes);
	KUNIT_ASSERT_EQ(test, sframe_test_header(test, false), 0);
}

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

/* ---- One step ---------------------------------------------------------- */

static int sframe_test_publish(struct kunit *test, unsigned long key,
			       unsigned long start, unsigned long end,
			       bool replace)
{
	struct sframe_window *window = sframe_window_alloc();
	struct sframe_test *ctx = test->priv;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, window);
	window->key = key;
	window->text_start = ctx->text + start;
	window->text_end = ctx->text + end;
	window->section = ctx->window.section;
	ret = sframe_register(window, replace);
	if (ret)
		sframe_window_free(window);
	return ret;
}

static int sframe_test_insert(struct kunit *test, unsigned long key,
			      unsigned long start, unsigned long end)
{
	return sframe_test_publish(test, key, start, end, false);
}

static int sframe_test_replace(struct kunit *test, unsigned long key,
			       unsigned long start, unsigned long end)
{
	return sframe_test_publish(test, key, start, end, true);
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

static void sframe_expect_refused(struct kunit *test,
				  struct unwind_user_state *state,
				  enum sframe_reason reason)
{
	unsigned long ip = state->ip, sp = state->sp, fp = state->fp;
	struct sframe_stats stats;

	KUNIT_EXPECT_EQ(test, sframe_test_step(test, state), -EINVAL);
	KUNIT_EXPECT_EQ(test, state->ip, ip);
	KUNIT_EXPECT_EQ(test, state->sp, sp);
	KUNIT_EXPECT_EQ(test, state->fp, fp);

	sframe_read_stats(current->mm, &stats);
	KUNIT_EXPECT_EQ(test, stats.last_reason, reason);
	KUNIT_EXPECT_EQ(test, stats.last_ip, state->exact_ip ? ip : ip - 1);
	/* Once by each of the walkers. */
	KUNIT_EXPECT_EQ(test, stats.refused[reason], 2);
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
	struct sframe_stats stats;
	struct pt_regs regs;
	unsigned int i;

	sframe_test_walk(test, &regs, &state, &sframe_signal_rows);
	for (i = 0; i < ARRAY_SIZE(cs); i++) {
		sframe_test_put_signal(test, stack, 0x2222, cs[i]);
		KUNIT_EXPECT_EQ(test, sframe_test_step(test, &state), -EINVAL);
	}
	sframe_read_stats(current->mm, &stats);
	KUNIT_EXPECT_EQ(test, stats.refused[SFRAME_REASON_SIGNAL],
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
	struct sframe_stats stats;

	KUNIT_EXPECT_EQ(test, sframe_test_step_replaced(test, 1), -EINVAL);
	sframe_read_stats(current->mm, &stats);
	/* What the second window says counts. */
	KUNIT_EXPECT_EQ(test, stats.last_reason, SFRAME_REASON_NO_FDE);
	KUNIT_EXPECT_EQ(test, stats.refused[SFRAME_REASON_NO_FDE], 1);
	KUNIT_EXPECT_EQ(test, stats.windows, 1);
}

static void sframe_changed_twice(struct kunit *test)
{
	struct sframe_stats stats;

	KUNIT_EXPECT_EQ(test, sframe_test_step_replaced(test, 2), -EINVAL);
	sframe_read_stats(current->mm, &stats);
	KUNIT_EXPECT_EQ(test, stats.last_reason, SFRAME_REASON_CHANGED);
	KUNIT_EXPECT_EQ(test, stats.refused[SFRAME_REASON_CHANGED], 1);
	KUNIT_EXPECT_EQ(test, stats.refused[SFRAME_REASON_NO_FDE], 0);
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

/* ---- Registry ---------------------------------------------------------- */

static struct sframe_registry *sframe_test_registry(struct kunit *test)
{
	struct sframe_registry *reg = sframe_registry_of(current->mm);

	KUNIT_ASSERT_NOT_NULL(test, reg);
	return reg;
}

/* The key of the window at @off in @mm, 0 if there is none. */
static unsigned long sframe_test_key_in(struct kunit *test,
					struct mm_struct *mm, unsigned long off)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_window *window;

	guard(rcu)();
	window = sframe_lookup(sframe_registry_of(mm), ctx->text + off);
	return window ? window->key : 0;
}

static unsigned long sframe_test_key_at(struct kunit *test, unsigned long off)
{
	return sframe_test_key_in(test, current->mm, off);
}

static struct sframe_window *sframe_test_window(struct kunit *test,
						unsigned long off)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_window *window;

	guard(rcu)();
	window = sframe_lookup(sframe_registry_of(current->mm),
			       ctx->text + off);
	KUNIT_EXPECT_NOT_NULL(test, window);
	return window;
}

static unsigned int sframe_test_windows(void)
{
	struct sframe_stats stats;

	sframe_read_stats(current->mm, &stats);
	return stats.windows;
}

static void sframe_registry_lookup(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 2, 0x200, 0x201), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0xff), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x100), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x1ff), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x200), 2);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x201), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, -1UL), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 2);
}

/* Keys are names, not addresses: the first and the last number are good. */
static void sframe_registry_keys(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 0, 0x100, 0x200), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, ULONG_MAX, 0x300, 0x400),
			0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x300), ULONG_MAX);

	/* Same name, other text. */
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 0, 0x500, 0x600),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, ULONG_MAX, 0x500, 0x600),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, sframe_unregister(1), -ENOENT);
	KUNIT_EXPECT_EQ(test, sframe_unregister(ULONG_MAX), 0);
	KUNIT_EXPECT_EQ(test, sframe_unregister(ULONG_MAX), -ENOENT);
	KUNIT_EXPECT_EQ(test, sframe_unregister(0), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 0);
	KUNIT_EXPECT_FALSE(test, sframe_mm_has_windows(current->mm));
}

static void sframe_registry_without(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, sframe_registry_of(current->mm));
	KUNIT_EXPECT_FALSE(test, sframe_mm_has_windows(current->mm));
	KUNIT_EXPECT_EQ(test, sframe_unregister(1), -ENOENT);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_replace(test, 1, 0x100, 0x200),
			-ENOENT);
}

/**
 * struct sframe_test_range - text of a window beside others
 * @name:	of the case
 * @start:	its start
 * @end:	its end
 * @expect:	what registration returns
 */
struct sframe_test_range {
	const char	*name;
	unsigned long	start;
	unsigned long	end;
	int		expect;
};

/* There is a window at 0x100 to 0x200. */
static const struct sframe_test_range sframe_inserts[] = {
	{ "same", 0x100, 0x200, -EEXIST },
	{ "across the start", 0xff, 0x101, -EEXIST },
	{ "across the end", 0x1ff, 0x201, -EEXIST },
	{ "first byte", 0x100, 0x101, -EEXIST },
	{ "last byte", 0x1ff, 0x200, -EEXIST },
	{ "inside", 0x180, 0x181, -EEXIST },
	{ "around", 0, 0x1000, -EEXIST },
	{ "just before", 0, 0x100, 0 },
	{ "just behind", 0x200, 0x1000, 0 },
	{ "one byte", 0xff, 0x100, 0 },
};

KUNIT_ARRAY_PARAM_DESC(sframe_insert, sframe_inserts, name);

static void sframe_registry_insert(struct kunit *test)
{
	const struct sframe_test_range *range = test->param_value;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, range->start,
						 range->end), range->expect);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), range->expect ? 1 : 2);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x100), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x1ff), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, range->start) == 2,
			!range->expect);
	KUNIT_EXPECT_EQ(test, sframe_test_registry(test)->seq, 0);
}

/* The window at 0x100 to 0x200 is replaced, at 0x300 to 0x400 is another. */
static const struct sframe_test_range sframe_replaces[] = {
	{ "same", 0x100, 0x200, 0 },
	{ "larger", 0xff, 0x201, 0 },
	{ "up to the other", 0, 0x300, 0 },
	{ "starts later", 0x101, 0x200, -EINVAL },
	{ "ends earlier", 0x100, 0x1ff, -EINVAL },
	{ "elsewhere", 0x400, 0x500, -EINVAL },
	{ "in place of the other", 0x300, 0x400, -EINVAL },
	{ "into the other", 0x100, 0x301, -EEXIST },
	{ "around the other", 0, 0x1000, -EEXIST },
};

KUNIT_ARRAY_PARAM_DESC(sframe_replace, sframe_replaces, name);

static void sframe_registry_replace(struct kunit *test)
{
	const struct sframe_test_range *range = test->param_value;
	struct sframe_window *old, *new;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x400), 0);
	old = sframe_test_window(test, 0x100);
	KUNIT_EXPECT_EQ(test, sframe_test_replace(test, 1, range->start,
						  range->end), range->expect);
	new = sframe_test_window(test, 0x100);
	KUNIT_EXPECT_EQ(test, new == old, range->expect != 0);
	KUNIT_EXPECT_EQ(test, sframe_test_registry(test)->seq, !range->expect);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 2);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x1ff), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x300), 2);
}

static void sframe_registry_replace_unknown(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_replace(test, 2, 0x100, 0x200),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x100), 1);
}

static void sframe_registry_limit(struct kunit *test)
{
	struct sframe_registry *reg;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	reg = sframe_test_registry(test);
	/* As if there were so many. */
	reg->nr = sframe_window_limit();
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x400),
			-ENOSPC);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x300), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_replace(test, 1, 0x100, 0x200), 0);

	reg->nr = sframe_window_limit() - 1;
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x400), 0);
	KUNIT_EXPECT_EQ(test, reg->nr, sframe_window_limit());
	reg->nr = 2;
}

/* Windows enough for several levels of the tree, taken away from within. */
static void sframe_registry_many(struct kunit *test)
{
	unsigned int i, nr = 1000;

	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(test, sframe_test_insert(test, i + 1, 4 * i,
							 4 * i + 3), 0);
	for (i = 0; i < nr; i += 3)
		KUNIT_EXPECT_EQ(test, sframe_unregister(i + 1), 0);
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 4 * i + 2),
				i % 3 ? i + 1 : 0);
		KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 4 * i + 3), 0);
	}
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), nr - DIV_ROUND_UP(nr, 3));
}

static void sframe_registry_text(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long data = ctx->data - ctx->text;

	/* The text ends with its mapping. */
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 1, SFRAME_TEST_SIZE - 1,
						 SFRAME_TEST_SIZE), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0,
						 SFRAME_TEST_SIZE + 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, -1UL, 1), -EINVAL);
	/* Memory that cannot be executed. */
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, data, data + 1),
			-EINVAL);

	/* A hole, at each side of it, and over it. */
	KUNIT_ASSERT_EQ(test, vm_munmap(ctx->text + PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0, PAGE_SIZE + 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 2 * PAGE_SIZE - 1,
						 2 * PAGE_SIZE + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0, 3 * PAGE_SIZE),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 3, 2 * PAGE_SIZE,
						 3 * PAGE_SIZE), 0);
}

/* A window goes whole with any byte of it. */
static void sframe_registry_munmap(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long page = PAGE_SIZE;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0, page - 1), 0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 2, page - 1, page + 1),
			0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 3, page + 8, page + 9),
			0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 4, 2 * page - 1,
						 2 * page + 1), 0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 5, 2 * page + 1,
						 3 * page), 0);
	KUNIT_ASSERT_EQ(test, vm_munmap(ctx->text + page, page), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 2);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, page - 1), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, page + 8), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 2 * page), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 3 * page - 1), 5);
	KUNIT_EXPECT_EQ(test, sframe_test_registry(test)->seq, 3);
	KUNIT_EXPECT_EQ(test, sframe_unregister(2), -ENOENT);
}

/* Each removal is counted; what was read before it of another window holds. */
static void sframe_registry_removed(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	struct sframe_window *window;
	struct sframe_registry *reg;
	unsigned long ip = ctx->text + 0x100;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x400), 0);
	reg = sframe_test_registry(test);
	window = sframe_test_window(test, 0x100);
	KUNIT_EXPECT_EQ(test, reg->seq, 0);
	KUNIT_EXPECT_TRUE(test, sframe_still_there(reg, window, ip, 0));

	KUNIT_EXPECT_EQ(test, sframe_unregister(2), 0);
	KUNIT_EXPECT_EQ(test, reg->seq, 1);
	KUNIT_EXPECT_TRUE(test, sframe_still_there(reg, window, ip, 0));

	KUNIT_EXPECT_EQ(test, sframe_test_replace(test, 1, 0x100, 0x200), 0);
	KUNIT_EXPECT_EQ(test, reg->seq, 2);
	KUNIT_EXPECT_FALSE(test, sframe_still_there(reg, window, ip, 1));

	window = sframe_test_window(test, 0x100);
	KUNIT_EXPECT_EQ(test, sframe_unregister(1), 0);
	KUNIT_EXPECT_EQ(test, reg->seq, 3);
	KUNIT_EXPECT_FALSE(test, sframe_still_there(reg, window, ip, 2));
}

/* A walker that may sleep keeps what it found; the other one has RCU. */
static void sframe_registry_pin(struct kunit *test)
{
	struct sframe_test *ctx = test->priv;
	unsigned long ip = ctx->text + 0x100;
	struct sframe_window *window;
	struct sframe_registry *reg;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	reg = sframe_test_registry(test);
	scoped_guard(rcu) {
		window = sframe_pin(reg, ip, true);
		KUNIT_ASSERT_NOT_NULL(test, window);
		KUNIT_EXPECT_EQ(test, refcount_read(&window->refs), 1);
	}
	window = sframe_pin(reg, ip, false);
	KUNIT_ASSERT_NOT_NULL(test, window);
	KUNIT_EXPECT_EQ(test, refcount_read(&window->refs), 2);
	KUNIT_EXPECT_EQ(test, sframe_unregister(1), 0);
	KUNIT_EXPECT_NULL(test, sframe_pin(reg, ip, false));
	KUNIT_EXPECT_EQ(test, refcount_read(&window->refs), 1);
	KUNIT_EXPECT_EQ(test, window->key, 1);
	sframe_unpin(window, false);
}

/* ---- Fork -------------------------------------------------------------- */

/* A copy of this mm's windows, with all of its mappings or with none. */
static struct mm_struct *sframe_test_fork(struct kunit *test, bool all_mapped)
{
	struct mm_struct *mm = mm_alloc();
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, mm);
	mmap_write_lock(current->mm);
	mmap_write_lock_nested(mm, SINGLE_DEPTH_NESTING);
	if (all_mapped)
		mm->map_count = current->mm->map_count;
	ret = sframe_mm_dup(mm, current->mm);
	mm->map_count = 0;
	mmap_write_unlock(mm);
	mmap_write_unlock(current->mm);
	KUNIT_EXPECT_EQ(test, ret, 0);
	return mm;
}

static void sframe_fork_shares_windows(struct kunit *test)
{
	struct sframe_window *window;
	struct sframe_stats stats;
	struct mm_struct *mm;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x400), 0);
	sframe_test_registry(test)->counters.refused[SFRAME_REASON_NO_FDE] = 7;
	window = sframe_test_window(test, 0x100);
	mm = sframe_test_fork(test, true);
	sframe_read_stats(mm, &stats);
	KUNIT_EXPECT_EQ(test, stats.windows, 2);
	KUNIT_EXPECT_EQ(test, stats.refused[SFRAME_REASON_NO_FDE], 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&window->refs), 2);

	/* Neither sees what the other does. */
	KUNIT_EXPECT_EQ(test, sframe_unregister(1), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&window->refs), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_in(test, mm, 0x1ff), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_in(test, mm, 0x300), 2);
	KUNIT_EXPECT_EQ(test, sframe_registry_of(mm)->seq, 0);
	mmput(mm);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x300), 2);
	window = sframe_test_window(test, 0x300);
	KUNIT_EXPECT_EQ(test, refcount_read(&window->refs), 1);
}

static void sframe_fork_leaves_out(struct kunit *test)
{
	struct sframe_window *window;
	struct mm_struct *mm;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	window = sframe_test_window(test, 0x100);
	mm = sframe_test_fork(test, false);
	KUNIT_EXPECT_FALSE(test, sframe_mm_has_windows(mm));
	KUNIT_EXPECT_EQ(test, sframe_test_key_in(test, mm, 0x100), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&window->refs), 1);
	mmput(mm);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x100), 1);
}

/* An address space that has no window any more costs its children nothing. */
static void sframe_fork_without_windows(struct kunit *test)
{
	struct mm_struct *mm;

	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	KUNIT_ASSERT_EQ(test, sframe_unregister(1), 0);
	mm = sframe_test_fork(test, true);
	KUNIT_EXPECT_NULL(test, sframe_registry_of(mm));
	mmput(mm);
}

/* ---- Killed while waiting for the mmap lock ---------------------------- */

struct sframe_test_locker {
	struct mm_struct	*mm;
	struct completion	locked;
	struct completion	unlock;
};

static int sframe_test_lock(void *arg)
{
	struct sframe_test_locker *locker = arg;

	mmap_write_lock(locker->mm);
	complete(&locker->locked);
	wait_for_completion(&locker->unlock);
	mmap_write_unlock(locker->mm);
	return 0;
}

static int sframe_test_insert_killed(struct kunit *test)
{
	int ret;

	allow_signal(SIGKILL);
	send_sig(SIGKILL, current, 1);
	ret = sframe_test_insert(test, 2, 0x300, 0x400);
	flush_signals(current);
	disallow_signal(SIGKILL);
	return ret;
}

static void sframe_registry_killed(struct kunit *test)
{
	struct sframe_test_locker locker = { .mm = current->mm };
	struct task_struct *task;

	init_completion(&locker.locked);
	init_completion(&locker.unlock);
	KUNIT_ASSERT_EQ(test, sframe_test_insert(test, 1, 0x100, 0x200), 0);
	task = kthread_create(sframe_test_lock, &locker, "sframe_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&locker.locked);

	KUNIT_EXPECT_EQ(test, sframe_test_insert_killed(test), -EINTR);
	complete(&locker.unlock);
	kthread_stop_put(task);
	KUNIT_EXPECT_EQ(test, sframe_test_windows(), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x100), 1);
	KUNIT_EXPECT_EQ(test, sframe_test_key_at(test, 0x300), 0);
	KUNIT_EXPECT_EQ(test, sframe_test_insert(test, 2, 0x300, 0x400), 0);
}

static struct kunit_case sframe_registry_cases[] = {
	KUNIT_CASE(sframe_registry_lookup),
	KUNIT_CASE(sframe_registry_keys),
	KUNIT_CASE(sframe_registry_without),
	KUNIT_CASE_PARAM(sframe_registry_insert, sframe_insert_gen_params),
	KUNIT_CASE_PARAM(sframe_registry_replace, sframe_replace_gen_params),
	KUNIT_CASE(sframe_registry_replace_unknown),
	KUNIT_CASE(sframe_registry_limit),
	KUNIT_CASE(sframe_registry_many),
	KUNIT_CASE(sframe_registry_text),
	KUNIT_CASE(sframe_registry_munmap),
	KUNIT_CASE(sframe_registry_removed),
	KUNIT_CASE(sframe_registry_pin),
	KUNIT_CASE(sframe_registry_killed),
	KUNIT_CASE(sframe_fork_shares_windows),
	KUNIT_CASE(sframe_fork_leaves_out),
	KUNIT_CASE(sframe_fork_without_windows),
	{}
};

static struct kunit_suite sframe_suites[] = {
	{
		.name = "sframe_section",
		.init = sframe_test_init,
		.test_cases = sframe_section_cases,
	},
	{
		.name = "sframe_step",
		.init = sframe_test_init,
		.test_cases = sframe_step_cases,
	},
	{
		.name = "sframe_registry",
		.init = sframe_test_init,
		.test_cases = sframe_registry_cases,
	},
};

kunit_test_suites(&sframe_suites[0], &sframe_suites[1], &sframe_suites[2]);
