// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * PR_SFRAME_REGISTER, PR_SFRAME_UNREGISTER and PR_SFRAME_QUERY: each error,
 * each rule for ranges, keys and structures.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "harness.h"

#include "slots.h"

#define KEY		0x1000
#define TEXT_PAGES	16
#define TEXT_SIZE	(TEXT_PAGES * SFT_PAGE)
/* The lowest end of user space on this architecture. */
#define USER_END	SFT_USER_END_SMALL
#define LIMIT_FILE	"/proc/sys/vm/max_sframe_windows"

FIXTURE(abi)
{
	__u8		*text;
	__u8		*section;
	size_t		len;
};

/* One function in the middle of the text, so that ranges can differ from it. */
FIXTURE_SETUP(abi)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->text = sft_map(TEXT_SIZE, SFT_RX);
	ASSERT_NE(NULL, self->text);
	/* The page after the section is not mapped. */
	self->section = sft_map(2 * SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	ASSERT_EQ(0, munmap(self->section + SFT_PAGE, SFT_PAGE));

	const struct sft_fde fde = {
		.start = self->text + 2 * SFT_PAGE,
		.size = SFT_SLOT,
		.rows = sft_slot_arg.rows,
		.nr_rows = 3,
	};
	self->len = sft_build(self->section, &fde, 1);
}

FIXTURE_TEARDOWN(abi)
{
	munmap(self->text, TEXT_SIZE);
	munmap(self->section, SFT_PAGE);
}

#define REGISTER(key, opts)						\
	sft_register(key, self->section, self->len, opts)
#define REGISTER_TEXT(key, off, size, flags)				\
	sft_register_text(key, self->section, self->len,		\
			  self->text + (off), size, flags)

/* Guards against: a window that outlives its key, or is not counted. */
TEST_F(abi, registers_and_unregisters)
{
	EXPECT_EQ(0, sft_windows());
	EXPECT_EQ(0, REGISTER(KEY, NULL));
	EXPECT_EQ(1, sft_windows());
	EXPECT_EQ(0, sft_unregister(KEY));
	EXPECT_EQ(0, sft_windows());
}

/* Guards against: keys with a special meaning: 0, errors, ends of the tree. */
TEST_F(abi, every_key_is_usable)
{
	static const unsigned long keys[] = {
		0, 1, LONG_MAX, (unsigned long)LONG_MAX + 1, ULONG_MAX - 1,
		ULONG_MAX,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		EXPECT_EQ(0, REGISTER_TEXT(keys[i], i * 64, 64, 0));
	EXPECT_EQ(ARRAY_SIZE(keys), sft_windows());
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		EXPECT_EQ(-EBUSY, REGISTER_TEXT(keys[i], 4096, 64, 0));
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		EXPECT_EQ(0, sft_unregister(keys[i]));
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		EXPECT_EQ(-ENOENT, sft_unregister(keys[i]));
	EXPECT_EQ(0, sft_windows());
}

/* Guards against: a second window with the same key. */
TEST_F(abi, key_in_use_is_busy)
{
	ASSERT_EQ(0, REGISTER(KEY, NULL));
	EXPECT_EQ(-EBUSY, REGISTER(KEY, NULL));
	EXPECT_EQ(-EBUSY, REGISTER_TEXT(KEY, 8 * SFT_PAGE, 64, 0));
	EXPECT_EQ(1, sft_windows());
}

/* Guards against: two windows with one key if it lies in the first's text. */
TEST_F(abi, key_may_be_an_address_of_the_text)
{
	const unsigned long key = (uintptr_t)self->text + 64;

	/* The first byte, the last one, and one past the end. */
	ASSERT_EQ(0, REGISTER_TEXT(key, 64, 64, 0));
	EXPECT_EQ(0, REGISTER_TEXT(key + 127, 128, 64, 0));
	EXPECT_EQ(0, REGISTER_TEXT(key + 192, 192, 64, 0));
	EXPECT_EQ(-EBUSY, REGISTER_TEXT(key, 1024, 64, 0));
	EXPECT_EQ(-EBUSY, REGISTER_TEXT(key + 127, 1024, 64, 0));
	EXPECT_EQ(-EBUSY, REGISTER_TEXT(key + 192, 1024, 64, 0));
	EXPECT_EQ(-ENOENT, sft_unregister(key + 1));
	EXPECT_EQ(3, sft_windows());
	EXPECT_EQ(0, sft_unregister(key + 127));
	EXPECT_EQ(0, sft_unregister(key + 192));
	EXPECT_EQ(0, sft_unregister(key));
	EXPECT_EQ(0, sft_windows());
}

/* Guards against: confusing a window with one whose key lies in its text. */
TEST_F(abi, key_may_be_an_address_of_other_text)
{
	const unsigned long key = (uintptr_t)self->text + 64;

	ASSERT_EQ(0, REGISTER_TEXT(key, 128, 64, 0));
	ASSERT_EQ(0, REGISTER_TEXT(KEY, 64, 64, 0));
	EXPECT_EQ(-EBUSY, REGISTER_TEXT(key, 1024, 64, 0));
	EXPECT_EQ(0, sft_unregister(key));
	EXPECT_EQ(-EEXIST, REGISTER_TEXT(key, 64, 64, 0));
	EXPECT_EQ(0, REGISTER_TEXT(key, 128, 64, 0));
	EXPECT_EQ(0, sft_unregister(KEY));
	EXPECT_EQ(-EBUSY, REGISTER_TEXT(key, 64, 64, 0));
	EXPECT_EQ(0, sft_unregister(key));
	EXPECT_EQ(0, REGISTER_TEXT(key, 64, 64, 0));
	EXPECT_EQ(1, sft_windows());
}

/* Guards against: a stale key after the text has grown over it. */
TEST_F(abi, replace_by_text_that_has_the_key)
{
	const unsigned long key = (uintptr_t)self->text + 64;

	ASSERT_EQ(0, REGISTER_TEXT(key, 128, 64, 0));
	EXPECT_EQ(0, REGISTER_TEXT(key, 64, 128, SFRAME_WINDOW_REPLACE));
	EXPECT_EQ(0, REGISTER_TEXT(key, 0, 256, SFRAME_WINDOW_REPLACE));
	EXPECT_EQ(1, sft_windows());
	EXPECT_EQ(0, sft_unregister(key));
	EXPECT_EQ(-ENOENT, sft_unregister(key));
	EXPECT_EQ(0, sft_windows());
	EXPECT_EQ(0, REGISTER_TEXT(key, 128, 64, 0));
}

/* Guards against: removal by section address, as in earlier series. */
TEST_F(abi, unknown_key)
{
	EXPECT_EQ(-ENOENT, sft_unregister(KEY));
	ASSERT_EQ(0, REGISTER(KEY, NULL));
	EXPECT_EQ(-ENOENT, sft_unregister(KEY + 1));
	EXPECT_EQ(-ENOENT, sft_unregister((uintptr_t)self->section));
	EXPECT_EQ(1, sft_windows());
}

/* Guards against: a range that misses an FDE, or is the whole mapping. */
TEST_F(abi, range_is_derived_from_the_functions)
{
	const struct sft_row row = SFT_ROW_CALLED(0);
	const struct sft_fde fdes[] = {
		{ .start = self->text + 128, .size = 32,
		  .rows = &row, .nr_rows = 1 },
		{ .start = self->text + 256, .size = 16,
		  .rows = &row, .nr_rows = 1 },
		{ .start = self->text + 512, .size = 48,
		  .rows = &row, .nr_rows = 1 },
	};

	self->len = sft_build(self->section, fdes, 3);
	ASSERT_EQ(0, REGISTER(KEY, NULL));
	EXPECT_EQ(-EEXIST, REGISTER_TEXT(1, 127, 2, 0));
	EXPECT_EQ(-EEXIST, REGISTER_TEXT(2, 559, 1, 0));
	EXPECT_EQ(0, REGISTER_TEXT(3, 127, 1, 0));
	EXPECT_EQ(0, REGISTER_TEXT(4, 560, 1, 0));
}

/* Guards against: opts without a range that differ from NULL opts. */
TEST_F(abi, empty_range_in_opts_is_derived)
{
	const size_t start = 2 * SFT_PAGE;

	ASSERT_EQ(0, sft_register_text(KEY, self->section, self->len, NULL, 0,
				       0));
	EXPECT_EQ(-EEXIST, REGISTER_TEXT(1, start, 1, 0));
	EXPECT_EQ(-EEXIST, REGISTER_TEXT(2, start + SFT_SLOT - 1, 1, 0));
	EXPECT_EQ(0, REGISTER_TEXT(3, start - 1, 1, 0));
	EXPECT_EQ(0, REGISTER_TEXT(4, start + SFT_SLOT, 1, 0));
}

/* Guards against: the inclusive end of earlier series: EEXIST if adjacent. */
TEST_F(abi, windows_touch_but_do_not_overlap)
{
	/* Against a window at [0x1000, 0x1100) of the text. */
	static const struct {
		size_t	start, len;
		int	ret;
	} cases[] = {
		{ 0x0f00, 0x0100, 0 },
		{ 0x1100, 0x0001, 0 },
		{ 0x0eff, 0x0001, 0 },
		{ 0x1101, 0x0fff, 0 },
		{ 0x1000, 0x0100, -EEXIST },
		{ 0x0fff, 0x0002, -EEXIST },
		{ 0x10ff, 0x0001, -EEXIST },
		{ 0x10ff, 0x0100, -EEXIST },
		{ 0x1000, 0x0001, -EEXIST },
		{ 0x1040, 0x0010, -EEXIST },
		{ 0x0000, 0x8000, -EEXIST },
	};
	unsigned int i;

	ASSERT_EQ(0, REGISTER_TEXT(KEY, 0x1000, 0x100, 0));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		TH_LOG("range %zx, %zx", cases[i].start, cases[i].len);
		EXPECT_EQ(cases[i].ret, REGISTER_TEXT(i, cases[i].start,
						      cases[i].len, 0));
	}
	EXPECT_EQ(5, sft_windows());
}

/* Guards against: ranges that are rounded to pages. */
TEST_F(abi, many_windows_share_a_page)
{
	unsigned int i;

	for (i = 0; i < 256; i++)
		ASSERT_EQ(0, REGISTER_TEXT(i, i * 16, 16, 0));
	EXPECT_EQ(256, sft_windows());
	for (i = 0; i < 256; i += 2)
		ASSERT_EQ(0, sft_unregister(i));
	EXPECT_EQ(128, sft_windows());
	for (i = 0; i < 256; i++)
		EXPECT_EQ(i % 2 ? -EBUSY : 0, REGISTER_TEXT(i, i * 16, 16, 0));
}

/* Guards against: start plus length not checked, as in earlier series. */
TEST_F(abi, text_ranges_that_are_none)
{
	const __u64 text = (uintptr_t)self->text;
	const struct {
		__u64	start, len;
	} ranges[] = {
		{ text, 0 },
		{ 0, 1 },
		{ 0, ULONG_MAX },
		{ text, ULONG_MAX },
		{ text, -text },
		{ text, 1 - text },
		{ ULONG_MAX, 1 },
		{ ULONG_MAX, ULONG_MAX },
		{ 1UL << 63, SFT_PAGE },
		{ USER_END, 1 },
		{ USER_END - 1, 2 },
		{ USER_END, SFT_PAGE },
		{ text | 1UL << 57, SFT_PAGE },
		{ text, TEXT_SIZE + SFT_PAGE * 4096 },
		{ text - (1UL << 40), 1UL << 41 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		TH_LOG("%llx %llx", ranges[i].start, ranges[i].len);
		EXPECT_EQ(-EINVAL,
			  sft_register_text(KEY, self->section, self->len,
					    (void *)ranges[i].start,
					    ranges[i].len, 0));
	}
	EXPECT_EQ(0, sft_windows());
}

/* Guards against: accepting text with a hole that is not mapped. */
TEST_F(abi, text_must_be_mapped)
{
	const size_t hole = 4 * SFT_PAGE;

	ASSERT_EQ(0, munmap(self->text + hole, SFT_PAGE));
	EXPECT_EQ(-EINVAL, REGISTER_TEXT(KEY, hole, 1, 0));
	EXPECT_EQ(-EINVAL, REGISTER_TEXT(KEY, hole - 1, 2, 0));
	EXPECT_EQ(-EINVAL, REGISTER_TEXT(KEY, hole + SFT_PAGE - 1, 2, 0));
	EXPECT_EQ(-EINVAL, REGISTER_TEXT(KEY, 0, TEXT_SIZE, 0));
	EXPECT_EQ(0, sft_windows());
	EXPECT_EQ(0, REGISTER_TEXT(1, hole - 1, 1, 0));
	EXPECT_EQ(0, REGISTER_TEXT(2, hole + SFT_PAGE, 1, 0));
}

/* Guards against: a check for PROT_EXEC, which W^X JITs set later. */
TEST_F(abi, text_may_be_written)
{
	ASSERT_EQ(0, mprotect(self->text + SFT_PAGE, SFT_PAGE, SFT_RW));
	ASSERT_EQ(0, mprotect(self->text + 3 * SFT_PAGE, SFT_PAGE, PROT_NONE));
	EXPECT_EQ(0, REGISTER_TEXT(1, SFT_PAGE, 1, 0));
	EXPECT_EQ(0, REGISTER_TEXT(2, 2 * SFT_PAGE - 1, 2, 0));
	EXPECT_EQ(0, REGISTER_TEXT(3, 3 * SFT_PAGE, SFT_PAGE, 0));
	EXPECT_EQ(3, sft_windows());
}

/* Guards against: requiring one mapping, which W^X JITs split. */
TEST_F(abi, text_may_span_mappings)
{
	const int rwx = PROT_READ | PROT_WRITE | PROT_EXEC;

	ASSERT_EQ(0, mprotect(self->text + SFT_PAGE, SFT_PAGE, PROT_EXEC));
	ASSERT_EQ(0, mprotect(self->text + 3 * SFT_PAGE, SFT_PAGE, rwx));
	EXPECT_EQ(0, REGISTER_TEXT(KEY, 0, TEXT_SIZE, 0));
}

static __u8 *map_top(int prot)
{
	void *top = mmap((void *)(sft_user_end() - SFT_PAGE), SFT_PAGE, prot,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	return top == MAP_FAILED ? NULL : top;
}

/* Guards against: sums that wrap at the last page. */
TEST_F(abi, top_of_the_address_space)
{
	__u8 *top = map_top(SFT_RX);

	ASSERT_NE(NULL, top);
	EXPECT_EQ(0, sft_register_text(1, self->section, self->len,
				       top + SFT_PAGE - 1, 1, 0));
	EXPECT_EQ(-EINVAL, sft_register_text(2, self->section, self->len,
					     top + SFT_PAGE - 2, 3, 0));
	EXPECT_EQ(0, sft_register_text(3, self->section, self->len,
				       top, SFT_PAGE - 1, 0));
	EXPECT_EQ(2, sft_windows());
}

/* Guards against: a start of 0 taken for a missing range. */
TEST_F(abi, bottom_of_the_address_space)
{
	void *page = mmap(NULL, SFT_PAGE, SFT_RX, MAP_PRIVATE | MAP_ANONYMOUS |
			  MAP_FIXED, -1, 0);

	if (page == MAP_FAILED)
		SKIP(return, "vm.mmap_min_addr does not allow it");

	/* Only start and length 0 together derive the range. */
	EXPECT_EQ(0, sft_register_text(1, self->section, self->len, NULL, 1,
				       0));
	EXPECT_EQ(0, sft_register_text(2, self->section, self->len, (void *)1,
				       SFT_PAGE - 1, 0));
	EXPECT_EQ(-EEXIST, sft_register_text(3, self->section, self->len, NULL,
					     SFT_PAGE, 0));
	EXPECT_EQ(0, sft_unregister(1));
	EXPECT_EQ(0, munmap(page, SFT_PAGE));
	EXPECT_EQ(0, sft_windows());
}

/* Guards against: sums that wrap for a section at the end of user space. */
TEST_F(abi, section_at_the_top_of_the_address_space)
{
	const struct sft_fde fde = {
		.start = self->text, .size = SFT_SLOT,
		.rows = sft_slot_arg.rows, .nr_rows = 3,
	};
	__u8 *top = map_top(SFT_RW), *sec;

	ASSERT_NE(NULL, top);
	sec = top + SFT_PAGE - self->len;
	ASSERT_EQ(self->len, sft_build(sec, &fde, 1));
	EXPECT_EQ(-EINVAL, sft_register(1, sec, self->len + 1, NULL));
	EXPECT_EQ(-EINVAL, sft_register(1, sec, -(uintptr_t)sec, NULL));
	EXPECT_EQ(0, sft_register(1, sec, self->len, NULL));
	EXPECT_EQ(0, sft_unregister(1));
	/* Rows may end at the last byte, but not past it. */
	sft_header(sec)->fre_len++;
	EXPECT_EQ(-EINVAL, sft_register(1, sec, self->len, NULL));
}

/* Guards against: lengths that wrap, or are less than a header. */
TEST_F(abi, section_range)
{
	const size_t header = sizeof(struct sframe_header);
	const void *end = (void *)SFT_USER_END_LARGE;

	EXPECT_EQ(-EINVAL, sft_register(KEY, self->section, 0, NULL));
	EXPECT_EQ(-EINVAL, sft_register(KEY, self->section, header - 1, NULL));
	EXPECT_EQ(-EINVAL, sft_register(KEY, self->section, ULONG_MAX, NULL));
	EXPECT_EQ(-EINVAL, sft_register(KEY, self->section, 1UL << 32, NULL));
	EXPECT_EQ(-EINVAL, sft_register(KEY, (void *)-64L, 58, NULL));
	EXPECT_EQ(-EINVAL, sft_register(KEY, end, 58, NULL));
	EXPECT_EQ(0, sft_windows());
}

/* Guards against: registering a section whose header is not readable. */
TEST_F(abi, section_must_be_readable)
{
	__u8 *edge = self->section + SFT_PAGE;

	EXPECT_EQ(-EFAULT, sft_register(KEY, NULL, self->len, NULL));
	EXPECT_EQ(-EFAULT, sft_register(KEY, edge, self->len, NULL));
	EXPECT_EQ(-EFAULT, sft_register(KEY, edge - 27, self->len, NULL));
	ASSERT_EQ(0, mprotect(self->section, SFT_PAGE, PROT_NONE));
	EXPECT_EQ(-EFAULT, REGISTER(KEY, NULL));
	EXPECT_EQ(0, sft_windows());
}

/* Guards against: a range derived from an FDE that is not readable. */
TEST_F(abi, index_must_be_readable_to_derive_the_range)
{
	__u8 *sec = self->section + SFT_PAGE - sizeof(struct sframe_header);

	memcpy(sec, self->section, sizeof(struct sframe_header));
	EXPECT_EQ(-EFAULT, sft_register(KEY, sec, self->len, NULL));
	EXPECT_EQ(0, sft_register_text(KEY, sec, self->len, self->text, 16, 0));
}

/* Guards against: padding that is checked, or loads that need alignment. */
TEST_F(abi, section_may_be_anywhere)
{
	__u8 *sec = self->section + 1777;
	const struct sft_fde fde = {
		.start = self->text, .size = SFT_SLOT,
		.rows = sft_slot_arg.rows, .nr_rows = 3,
	};
	size_t len = sft_build(sec, &fde, 1);

	EXPECT_EQ(0, sft_register(1, sec, len, NULL));
	/* The kernel ignores padding. */
	memset(sec + len, 0xff, 100);
	EXPECT_EQ(0, sft_register_text(2, sec, len + 100, self->text + 64, 16,
				       0));
}

/* Guards against: windows identified by their section. */
TEST_F(abi, section_may_be_shared)
{
	EXPECT_EQ(0, REGISTER_TEXT(1, 0, 16, 0));
	EXPECT_EQ(0, REGISTER_TEXT(2, 16, 16, 0));
	EXPECT_EQ(0, sft_unregister(1));
	EXPECT_EQ(1, sft_windows());
}

#define FIELD(what, field, size, value)					\
	{ what, offsetof(struct sframe_header, field), size, value }

/* Guards against: counts that overflow, offsets past the end, other formats. */
TEST_F(abi, header_field_by_field)
{
	/* 28 bytes header, 16 of index, then the rows. */
	static const struct {
		const char	*what;
		size_t		offset, size;
		__u32	value;
	} cases[] = {
		FIELD("magic of the other byte order", magic, 2, 0xe2de),
		FIELD("magic", magic, 2, 0),
		FIELD("version 0", version, 1, 0),
		FIELD("version 1", version, 1, 1),
		FIELD("version 2", version, 1, 2),
		FIELD("version 4", version, 1, 4),
		FIELD("no flags", flags, 1, 0),
		FIELD("not sorted", flags, 1, SFRAME_F_FDE_FUNC_START_PCREL),
		FIELD("not relative", flags, 1, SFRAME_F_FDE_SORTED),
		FIELD("old frame pointer flag", flags, 1, 7),
		FIELD("unknown flag", flags, 1, 0x85),
		FIELD("no machine", abi_arch, 1, 0),
		FIELD("other machine", abi_arch, 1, SFT_OTHER_ABI),
		FIELD("a third machine", abi_arch, 1, SFT_THIRD_ABI),
		FIELD("unknown machine", abi_arch, 1, 5),
		FIELD("fixed fp", cfa_fixed_fp_offset, 1, -16),
		FIELD("not fixed as it is", cfa_fixed_ra_offset, 1,
		      SFT_RA_OFF ? 0 : -8),
		FIELD("other fixed ra", cfa_fixed_ra_offset, 1, -16),
		FIELD("auxiliary header", auxhdr_len, 1, 4),
		FIELD("index too long", num_fdes, 4, 2),
		FIELD("index wraps", num_fdes, 4, 0x10000000),
		FIELD("too many functions", num_fdes, 4, (1 << 24) + 1),
		FIELD("most functions", num_fdes, 4, UINT32_MAX),
		FIELD("index behind the end", fdes_off, 4, 16),
		FIELD("index far behind", fdes_off, 4, UINT32_MAX - 15),
		FIELD("rows behind the end", fres_off, 4, 17),
		FIELD("rows far behind", fres_off, 4, UINT32_MAX),
		FIELD("rows too long", fre_len, 4, SFT_SLOT_ARG_LEN + 1),
		FIELD("rows wrap", fre_len, 4, UINT32_MAX - 15),
	};
	struct sframe_header good;
	unsigned int i;

	memcpy(&good, self->section, sizeof(good));
	ASSERT_EQ(28 + 16 + SFT_SLOT_ARG_LEN, self->len);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memcpy(self->section, &good, sizeof(good));
		sft_put(self->section + cases[i].offset, cases[i].value,
			cases[i].size);
		TH_LOG("%s", cases[i].what);
		EXPECT_EQ(-EINVAL, REGISTER(KEY, NULL));
		EXPECT_EQ(-EINVAL, REGISTER_TEXT(KEY, 0, 64, 0));
	}
	EXPECT_EQ(0, sft_windows());
	memcpy(self->section, &good, sizeof(good));
	EXPECT_EQ(0, REGISTER(KEY, NULL));
}

/* Guards against: empty sections, which earlier series refused. */
TEST_F(abi, no_functions_need_an_explicit_range)
{
	self->len = sft_build(self->section, NULL, 0);
	EXPECT_EQ(28, self->len);
	EXPECT_EQ(-EINVAL, REGISTER(KEY, NULL));
	EXPECT_EQ(0, REGISTER_TEXT(KEY, 0, 64, 0));
}

/* Guards against: a range from user data that is not checked. */
TEST_F(abi, derived_range_is_checked_as_any_other)
{
	struct sframe_fde *fde = sft_index(self->section, 0);
	const __s64 field = (uintptr_t)fde;

	fde->func_size = 0;
	EXPECT_EQ(-EINVAL, REGISTER(KEY, NULL));
	fde->func_size = UINT32_MAX;
	EXPECT_EQ(-EINVAL, REGISTER(KEY, NULL));
	fde->func_start = -1 - field;
	EXPECT_EQ(-EINVAL, REGISTER(KEY, NULL));
	fde->func_start = (__s64)(USER_END - 1) - field;
	EXPECT_EQ(-EINVAL, REGISTER(KEY, NULL));
	EXPECT_EQ(0, sft_windows());
}

static struct sframe_window_opts opts_for(const void *text)
{
	return (struct sframe_window_opts) {
		.size = sizeof(struct sframe_window_opts),
		.text_start = (uintptr_t)text,
		.text_length = 64,
	};
}

/* Guards against: unknown flags and formats that are taken silently. */
TEST_F(abi, opts_values)
{
	struct sframe_window_opts opts;

	opts = opts_for(self->text);
	opts.flags = SFRAME_WINDOW_REPLACE << 1;
	EXPECT_EQ(-EINVAL, REGISTER(KEY, &opts));
	opts.flags = 1U << 31;
	EXPECT_EQ(-EINVAL, REGISTER(KEY, &opts));

	opts = opts_for(self->text);
	opts.format = SFRAME_FORMAT_PACKED + 1;
	EXPECT_EQ(-EINVAL, REGISTER(KEY, &opts));
	/* More than the bits of a word. */
	opts.format = 64;
	EXPECT_EQ(-EINVAL, REGISTER(KEY, &opts));
	opts.format = UINT32_MAX;
	EXPECT_EQ(-EINVAL, REGISTER(KEY, &opts));

	opts = opts_for(self->text);
	opts.reserved = 1;
	EXPECT_EQ(-EINVAL, REGISTER(KEY, &opts));

	opts = opts_for(self->text);
	EXPECT_EQ(0, REGISTER(KEY, &opts));
}

/* Guards against: a structure that cannot be extended. */
TEST_F(abi, opts_sizes)
{
	union {
		struct sframe_window_opts	opts;
		__u8				bytes[2 * SFT_PAGE];
	} u = { .opts = opts_for(self->text) };
	static const struct {
		__u32	size;
		int		ret;
	} cases[] = {
		{ 0, -EINVAL },
		{ 4, -EINVAL },
		{ SFRAME_WINDOW_OPTS_SIZE_VER0 - 1, -EINVAL },
		{ SFRAME_WINDOW_OPTS_SIZE_VER0, 0 },
		{ SFRAME_WINDOW_OPTS_SIZE_VER0 + 1, 0 },
		{ SFRAME_WINDOW_OPTS_SIZE_VER0 + 8, 0 },
		{ SFT_PAGE, 0 },
		{ SFT_PAGE + 1, -E2BIG },
		{ UINT32_MAX, -E2BIG },
	};
	unsigned int i;

	ASSERT_EQ(SFRAME_WINDOW_OPTS_SIZE_VER0, sizeof(u.opts));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		TH_LOG("size %u", cases[i].size);
		u.opts.size = cases[i].size;
		EXPECT_EQ(cases[i].ret, REGISTER(KEY, &u.opts));
		EXPECT_EQ(!cases[i].ret, sft_windows());
		sft_unregister(KEY);
	}
}

/* Guards against: fields of a later kernel that are dropped silently. */
TEST_F(abi, opts_with_an_unknown_tail)
{
	struct {
		struct sframe_window_opts	opts;
		__u8				tail[8];
	} later = { .opts = opts_for(self->text) };

	later.opts.size = sizeof(later);
	later.tail[7] = 1;
	EXPECT_EQ(-E2BIG, REGISTER(KEY, &later.opts));
	later.tail[7] = 0;
	EXPECT_EQ(0, REGISTER(KEY, &later.opts));
}

/* Guards against: opts that are not readable, but accepted. */
TEST_F(abi, opts_must_be_readable)
{
	struct sframe_window_opts opts = opts_for(self->text);
	__u8 *edge = self->section + SFT_PAGE;

	EXPECT_EQ(-EFAULT, REGISTER(KEY, (void *)1));
	EXPECT_EQ(-EFAULT, REGISTER(KEY, (void *)edge));
	EXPECT_EQ(-EFAULT, REGISTER(KEY, (void *)-64L));
	memcpy(edge - 39, &opts, 39);
	EXPECT_EQ(-EFAULT, REGISTER(KEY, (void *)(edge - 39)));
	EXPECT_EQ(0, sft_windows());
	memcpy(edge - 40, &opts, 40);
	EXPECT_EQ(0, REGISTER(KEY, (void *)(edge - 40)));
}

/* Guards against: a bias that is added to one end of the text only. */
TEST_F(abi, range_is_derived_with_the_bias)
{
	struct sframe_window_opts opts = { .size = sizeof(opts) };
	const size_t start = 3 * SFT_PAGE;

	opts.text_bias = SFT_PAGE;
	ASSERT_EQ(0, REGISTER(KEY, &opts));
	EXPECT_EQ(-EEXIST, REGISTER_TEXT(1, start, 1, 0));
	EXPECT_EQ(-EEXIST, REGISTER_TEXT(1, start + SFT_SLOT - 1, 1, 0));
	EXPECT_EQ(0, REGISTER_TEXT(1, start - 1, 1, 0));
	EXPECT_EQ(0, REGISTER_TEXT(2, start + SFT_SLOT, 1, 0));
	EXPECT_EQ(0, sft_unregister(1));

	/* A negative bias works, but not to text that is not mapped. */
	opts.text_bias = -2 * SFT_PAGE;
	EXPECT_EQ(0, REGISTER(3, &opts));
	EXPECT_EQ(-EEXIST, REGISTER_TEXT(1, 0, 1, 0));
	opts.text_bias = -3 * SFT_PAGE;
	EXPECT_EQ(-EINVAL, REGISTER(4, &opts));
	opts.text_bias = 1UL << 63;
	EXPECT_EQ(-EINVAL, REGISTER(4, &opts));
	/* The end of the function wraps. */
	opts.text_bias = -1 - (__s64)(uintptr_t)self->text - 2 * SFT_PAGE;
	EXPECT_EQ(-EINVAL, REGISTER(4, &opts));
}

/* Guards against: a range that shrinks, moves, or takes a neighbour's. */
TEST_F(abi, replace)
{
	/* Neighbours of [0x1000, 0x1100): [0xf00, 0xf80), [0x1200, 0x1280) */
	static const struct {
		const char	*what;
		size_t		start, len;
		int		ret;
	} cases[] = {
		{ "starts later", 0x1001, 0xff, -EINVAL },
		{ "ends earlier", 0x1000, 0xff, -EINVAL },
		{ "elsewhere", 0x2000, 0x100, -EINVAL },
		{ "touches", 0x1100, 0x100, -EINVAL },
		{ "shifted", 0x1080, 0x100, -EINVAL },
		{ "into the neighbour before", 0xf7f, 0x200, -EEXIST },
		{ "into the neighbour behind", 0x1000, 0x201, -EEXIST },
		{ "over all", 0, 0x8000, -EEXIST },
		{ "equal", 0x1000, 0x100, 0 },
		{ "equal again", 0x1000, 0x100, 0 },
		{ "longer", 0x1000, 0x180, 0 },
		{ "back to shorter", 0x1000, 0x100, -EINVAL },
		{ "both ends up to the neighbours", 0xf80, 0x280, 0 },
	};
	unsigned int i;

	ASSERT_EQ(0, REGISTER_TEXT(KEY, 0x1000, 0x100, 0));
	ASSERT_EQ(0, REGISTER_TEXT(1, 0xf00, 0x80, 0));
	ASSERT_EQ(0, REGISTER_TEXT(2, 0x1200, 0x80, 0));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		TH_LOG("%s", cases[i].what);
		EXPECT_EQ(cases[i].ret,
			  REGISTER_TEXT(KEY, cases[i].start, cases[i].len,
					SFRAME_WINDOW_REPLACE));
		EXPECT_EQ(3, sft_windows());
	}

	/* The range is now the last one that was accepted. */
	EXPECT_EQ(-EEXIST, REGISTER_TEXT(3, 0xf80, 1, 0));
	EXPECT_EQ(-EEXIST, REGISTER_TEXT(4, 0x11ff, 1, 0));
	EXPECT_EQ(0, sft_unregister(KEY));
	EXPECT_EQ(0, REGISTER_TEXT(KEY, 0xf80, 0x280, 0));
}

/* Guards against: REPLACE that registers a new window. */
TEST_F(abi, replace_of_an_unknown_key)
{
	EXPECT_EQ(-ENOENT, REGISTER_TEXT(KEY, 0, 64, SFRAME_WINDOW_REPLACE));
	ASSERT_EQ(0, REGISTER_TEXT(1, 0, 64, 0));
	EXPECT_EQ(-ENOENT, REGISTER_TEXT(KEY, 0, 64, SFRAME_WINDOW_REPLACE));
	EXPECT_EQ(1, sft_windows());
}

/*
 * Guards against: a table that cannot grow while a JIT that flips permissions
 * writes to the text.
 */
TEST_F(abi, replace_while_the_text_is_written)
{
	const __u32 replace = SFRAME_WINDOW_REPLACE;

	ASSERT_EQ(0, REGISTER_TEXT(KEY, 0x1000, 0x1000, 0));
	ASSERT_EQ(0, mprotect(self->text, 0x3000, SFT_RW));
	EXPECT_EQ(0, REGISTER_TEXT(KEY, 0x1000, 0x1000, replace));
	EXPECT_EQ(0, REGISTER_TEXT(KEY, 0xff0, 0x1020, replace));
	EXPECT_EQ(1, sft_windows());
}

/* Guards against: a window that grows over text that is not mapped. */
TEST_F(abi, replace_by_text_that_is_not_mapped)
{
	const __u32 replace = SFRAME_WINDOW_REPLACE;

	ASSERT_EQ(0, munmap(self->text, 0x1000));
	ASSERT_EQ(0, munmap(self->text + 0x2000, 0x1000));
	ASSERT_EQ(0, REGISTER_TEXT(KEY, 0x1000, 0x1000, 0));
	EXPECT_EQ(-EINVAL, REGISTER_TEXT(KEY, 0xfff, 0x1001, replace));
	EXPECT_EQ(-EINVAL, REGISTER_TEXT(KEY, 0x1000, 0x1001, replace));
	EXPECT_EQ(0, REGISTER_TEXT(KEY, 0x1000, 0x1000, replace));
	EXPECT_EQ(1, sft_windows());
}

/* Guards against: a failed REPLACE that changes or removes the window. */
TEST_F(abi, failed_replace_keeps_the_window)
{
	ASSERT_EQ(0, REGISTER_TEXT(KEY, 0, 64, 0));
	self->section[0] ^= 1;
	EXPECT_EQ(-EINVAL, REGISTER_TEXT(KEY, 0, 64, SFRAME_WINDOW_REPLACE));
	EXPECT_EQ(1, sft_windows());
	EXPECT_EQ(0, sft_unregister(KEY));
}

/* Guards against: ignored arguments, which can never get a meaning. */
TEST_F(abi, unused_arguments_are_zero)
{
	ASSERT_EQ(0, REGISTER(KEY, NULL));
	EXPECT_EQ(-1, prctl(PR_SFRAME_UNREGISTER, KEY, 1UL, 0UL, 0UL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, prctl(PR_SFRAME_UNREGISTER, KEY, 0UL, 1UL, 0UL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, prctl(PR_SFRAME_UNREGISTER, KEY, 0UL, 0UL, 1UL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(1, sft_windows());
}

/* Guards against: programs that must probe for features by EINVAL. */
TEST_F(abi, query)
{
	EXPECT_EQ(SFRAME_WINDOW_REPLACE, sft_query(PR_SFRAME_QUERY_FLAGS));
	EXPECT_EQ(1 << SFRAME_FORMAT_V3 | 1 << SFRAME_FORMAT_PACKED,
		  sft_query(PR_SFRAME_QUERY_FORMATS));
	EXPECT_LT(0, sft_query(PR_SFRAME_QUERY_LIMIT));
	EXPECT_EQ(-EINVAL, sft_query(PR_SFRAME_QUERY_LIMIT + 1));
	EXPECT_EQ(-EINVAL, sft_query(ULONG_MAX));
	EXPECT_EQ(-1, prctl(PR_SFRAME_QUERY, PR_SFRAME_QUERY_FLAGS, 1UL, 0UL,
			    0UL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, prctl(PR_SFRAME_QUERY, PR_SFRAME_QUERY_FLAGS, 0UL, 1UL,
			    0UL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, prctl(PR_SFRAME_QUERY, PR_SFRAME_QUERY_FLAGS, 0UL, 0UL,
			    1UL));
	EXPECT_EQ(EINVAL, errno);
}

static bool write_limit(long limit)
{
	FILE *file = fopen(LIMIT_FILE, "w");
	bool ok;

	if (!file)
		return false;
	ok = fprintf(file, "%ld\n", limit) > 0;
	return !fclose(file) && ok;
}

/* Guards against: an ignored limit, and a lower one that removes windows. */
TEST_F(abi, limit)
{
	long limit = sft_read_number(LIMIT_FILE);

	ASSERT_EQ(limit, sft_query(PR_SFRAME_QUERY_LIMIT));
	if (!write_limit(2))
		SKIP(return, "cannot write %s", LIMIT_FILE);

	EXPECT_EQ(2, sft_query(PR_SFRAME_QUERY_LIMIT));
	EXPECT_EQ(0, REGISTER_TEXT(1, 0, 64, 0));
	EXPECT_EQ(0, REGISTER_TEXT(2, 64, 64, 0));
	EXPECT_EQ(-ENOSPC, REGISTER_TEXT(3, 128, 64, 0));
	EXPECT_EQ(2, sft_windows());

	/* At the limit, windows can still be replaced and unregistered. */
	EXPECT_EQ(0, REGISTER_TEXT(2, 64, 128, SFRAME_WINDOW_REPLACE));
	EXPECT_EQ(0, sft_unregister(1));
	EXPECT_EQ(0, REGISTER_TEXT(3, 0, 64, 0));

	/* A lower limit removes no windows. */
	EXPECT_TRUE(write_limit(0));
	EXPECT_EQ(2, sft_windows());
	EXPECT_EQ(-ENOSPC, REGISTER_TEXT(4, 256, 64, 0));
	EXPECT_FALSE(write_limit(-1));

	EXPECT_TRUE(write_limit(limit));
	EXPECT_EQ(0, REGISTER_TEXT(4, 256, 64, 0));
}

/* Guards against: EEXIST for a key that is in use. */
TEST_F(abi, busy_key_wins_over_overlap)
{
	ASSERT_EQ(0, REGISTER_TEXT(KEY, 0, 64, 0));
	EXPECT_EQ(-EBUSY, REGISTER_TEXT(KEY, 0, 64, 0));
	EXPECT_EQ(-EEXIST, REGISTER_TEXT(KEY + 1, 0, 64, 0));
}

/* Only on x86-64 can a 64-bit program make 32-bit system calls. */
#ifdef __x86_64__
static long compat_prctl(__u32 option, __u32 arg2, __u32 arg3)
{
	long ret = 172;		/* prctl of i386 */

	asm volatile("int $0x80"
		     : "+a"(ret)
		     : "b"(option), "c"(arg2), "d"(arg3), "S"(0), "D"(0)
		     : "memory", "r8", "r9", "r10", "r11");
	return (__s32)ret;
}

/* Does the kernel have int $0x80? Try i386's getpid(). */
static bool compat_works(void)
{
	long ret = 20;
	pid_t child = fork();
	int status;

	if (!child) {
		asm volatile("int $0x80" : "+a"(ret) : :
			     "memory", "r8", "r9", "r10", "r11");
		_exit(ret != getpid());
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

/* Guards against: windows registered by 32-bit system calls. */
TEST_F(abi, compat_system_calls_are_refused)
{
	if (!compat_works())
		SKIP(return, "kernel without CONFIG_IA32_EMULATION");

	ASSERT_EQ(0, REGISTER(KEY, NULL));
	EXPECT_EQ(-EOPNOTSUPP, compat_prctl(PR_SFRAME_REGISTER, 1, 2));
	EXPECT_EQ(-EOPNOTSUPP, compat_prctl(PR_SFRAME_UNREGISTER, KEY, 0));
	EXPECT_EQ(-EOPNOTSUPP, compat_prctl(PR_SFRAME_QUERY,
					    PR_SFRAME_QUERY_FLAGS, 0));
	EXPECT_EQ(1, sft_windows());
}
#endif

/*
 * Guards against: windows registered by programs for earlier series.
 * Those prctl numbers now belong to others (79 to time slice extensions) and
 * must not register anything.
 */
TEST_F(abi, numbers_of_earlier_series_do_not_register)
{
	static const int options[] = { 71, 74, 79 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		prctl(options[i], self->section, self->section + self->len,
		      self->text, self->text + TEXT_SIZE);
	EXPECT_EQ(0, sft_windows());
}

/* A window's line in /proc/PID/sframe. */
struct line {
	unsigned long	start, end, key, section, len, bias;
	char		kind[8];
};

static bool read_line(FILE *file, struct line *line)
{
	return fscanf(file, "%lx-%lx %lx %lx %lx %7s %lx\n", &line->start,
		      &line->end, &line->key, &line->section, &line->len,
		      line->kind, &line->bias) == 7;
}

/* Guards against: a window that is missing in the file, or out of order. */
TEST_F(abi, proc_file)
{
	struct sframe_window_opts opts = opts_for(self->text + 64);
	FILE *file = fopen("/proc/self/sframe", "r");
	unsigned int windows;
	struct line line;

	if (!file)
		SKIP(return, "kernel without /proc/PID/sframe");

	opts.text_bias = -16;
	ASSERT_EQ(0, REGISTER(ULONG_MAX, &opts));
	ASSERT_EQ(0, REGISTER_TEXT(7, 0, 64, 0));
	ASSERT_TRUE(read_line(file, &line));
	EXPECT_EQ((uintptr_t)self->text, line.start);
	EXPECT_EQ((uintptr_t)self->text + 64, line.end);
	EXPECT_EQ(7, line.key);
	EXPECT_EQ((uintptr_t)self->section, line.section);
	EXPECT_EQ(self->len, line.len);
	EXPECT_STREQ("sframe", line.kind);
	EXPECT_EQ(0, line.bias);
	ASSERT_TRUE(read_line(file, &line));
	EXPECT_EQ((uintptr_t)self->text + 64, line.start);
	EXPECT_EQ((uintptr_t)self->text + 128, line.end);
	EXPECT_EQ(ULONG_MAX, line.key);
	EXPECT_EQ(-16UL, line.bias);
	ASSERT_EQ(1, fscanf(file, "windows %u\n", &windows));
	EXPECT_EQ(2, windows);
	fclose(file);
}

/* Guards against: a window shown twice, or never, where a read() ends. */
TEST_F(abi, proc_file_is_complete)
{
	unsigned int i, lines = 0;
	unsigned long next;
	struct line line;
	FILE *file;

	for (i = 0; i < 20000; i++)
		ASSERT_EQ(0, REGISTER_TEXT(i, 3 * i, 3, 0));
	file = fopen("/proc/self/sframe", "r");
	if (!file)
		SKIP(return, "kernel without /proc/PID/sframe");

	next = (uintptr_t)self->text;
	while (read_line(file, &line)) {
		ASSERT_EQ(next, line.start);
		ASSERT_EQ(line.start + 3, line.end);
		ASSERT_EQ(lines, line.key);
		next = line.end;
		lines++;
	}
	EXPECT_EQ(20000, lines);
	fclose(file);
}

TEST_HARNESS_MAIN
