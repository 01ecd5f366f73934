// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Sections that are wrong: the walk ends at the frame they describe, the
 * refusal is counted under its reason, the window stays, and nothing else
 * happens.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/userfaultfd.h>

#include "kselftest_harness.h"

#include "slots.h"

#define KEY		1
#define SECTION_SIZE	(16 * SFT_PAGE)
#define TEXT_SIZE	(4 * SFT_PAGE)

/* Three slots; the one in the middle is run. */
#define NR_SLOTS	3

FIXTURE(hostile)
{
	__u8		*text;
	__u8		*section;
	struct sft_call	call;
};

FIXTURE_VARIANT(hostile)
{
	bool		defer;
};

FIXTURE_VARIANT_ADD(hostile, fp) { .defer = false };
FIXTURE_VARIANT_ADD(hostile, defer) { .defer = true };

static __u8 *make_text(void)
{
	__u8 code[NR_SLOTS * SFT_SLOT];
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++)
		memcpy(code + i * SFT_SLOT, sft_slot_arg.code, SFT_SLOT);
	return sft_map_code(code, sizeof(code), TEXT_SIZE);
}

FIXTURE_SETUP(hostile)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->text = make_text();
	ASSERT_NE(NULL, self->text);
	self->section = sft_map(SECTION_SIZE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	self->call.entry = self->text + SFT_SLOT;
	self->call.target = sft_leaf;
}

FIXTURE_TEARDOWN(hostile)
{
	munmap(self->text, TEXT_SIZE);
	munmap(self->section, SECTION_SIZE);
}

/* What a case does to a good section; @sec was registered after that. */
typedef void (*spoil_fn)(__u8 *sec);

static size_t build_slots(__u8 *section, const __u8 *text)
{
	struct sft_fde fdes[NR_SLOTS];
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++)
		fdes[i] = (struct sft_fde)SFT_FDE(text + i * SFT_SLOT,
						   SFT_SLOT, sft_slot_arg.rows);
	return sft_build(section, fdes, NR_SLOTS);
}

/*
 * Sample at the call of the slot, on top of the stack and below a callee: both
 * walks end there, for @reason. Then nothing else may have changed.
 */
static void check_refused(struct __test_metadata *_metadata,
			  const struct sft_call *call, bool defer,
			  enum sframe_reason reason)
{
	const __u8 *ip = (const __u8 *)call->entry + 5;
	struct sframe_stats stats;
	struct sft_chain chain;
	unsigned int i;

	ASSERT_EQ(0, sft_chain_at(ip, defer, call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)ip);
	ASSERT_EQ(0, sft_stats(&stats));
	EXPECT_EQ(1, stats.windows);
	EXPECT_EQ(reason, stats.last_reason);
	EXPECT_EQ((uintptr_t)ip, stats.last_ip);

	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, defer, call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body, (uintptr_t)ip + 3);
	ASSERT_EQ(0, sft_stats(&stats));
	EXPECT_EQ(1, stats.windows);
	EXPECT_EQ((uintptr_t)ip + 2, stats.last_ip);
	for (i = 0; i < ARRAY_SIZE(stats.refused); i++)
		EXPECT_EQ(i == reason ? 2 : 0, stats.refused[i]);
}

static void check_good(struct __test_metadata *_metadata,
		       const struct sft_call *call, bool defer)
{
	const __u8 *ip = (const __u8 *)call->entry + 5;
	struct sft_chain chain;

	ASSERT_EQ(0, sft_chain_at(ip, defer, call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)ip, SFT_CALLERS);
}

/* The window of all slots, spoilt while it is registered, then repaired. */
static void spoil(struct __test_metadata *_metadata, __u8 *section,
		  const struct sft_call *call, bool defer, spoil_fn fn,
		  enum sframe_reason reason)
{
	const __u8 *text = (const __u8 *)call->entry - SFT_SLOT;
	size_t len = build_slots(section, text);

	ASSERT_EQ(0, sft_register(KEY, section, len, NULL));
	check_good(_metadata, call, defer);
	fn(section);
	check_refused(_metadata, call, defer, reason);
	build_slots(section, text);
	check_good(_metadata, call, defer);
	EXPECT_EQ(0, sft_unregister(KEY));
}

/* Each case has a process of its own, so that counters start at 0. */
#define SPOIL(name, reason)						\
	static void spoil_##name(__u8 *sec);				\
	TEST_F(hostile, name)						\
	{								\
		spoil(_metadata, self->section, &self->call,		\
		      variant->defer, spoil_##name, reason);		\
	}								\
	static void spoil_##name(__u8 *sec)

/* ---- The index -------------------------------------------------------- */

/* Not sorted: the middle one, which is probed first, lies behind the last. */
static void swap_fdes(__u8 *sec, unsigned int a, unsigned int b)
{
	struct sframe_fde *fa = sft_index(sec, a), *fb = sft_index(sec, b);
	struct sframe_fde tmp = *fa;
	__s64 distance = (uintptr_t)fb - (uintptr_t)fa;

	*fa = *fb;
	*fb = tmp;
	fa->func_start += distance;
	fb->func_start -= distance;
}

/* Earlier series took entries out of order as they came. */
SPOIL(index_not_sorted, SFRAME_REASON_FDE_ORDER)
{
	sft_index(sec, 2)->func_start -= 8 * SFT_SLOT;
}

SPOIL(index_first_and_last_swapped, SFRAME_REASON_FDE_ORDER)
{
	swap_fdes(sec, 0, 2);
}

SPOIL(function_before_the_window, SFRAME_REASON_FDE_RANGE)
{
	sft_index(sec, 0)->func_start -= 16;
	sft_index(sec, 1)->func_start -= 32;
	sft_index(sec, 1)->func_size = 64;
}

SPOIL(function_behind_the_window, SFRAME_REASON_FDE_RANGE)
{
	sft_index(sec, 1)->func_size = 33;
}

SPOIL(function_of_4_gib, SFRAME_REASON_FDE_RANGE)
{
	sft_index(sec, 1)->func_size = UINT32_MAX;
}

SPOIL(function_taken_back, SFRAME_REASON_NO_FDE)
{
	sft_index(sec, 1)->func_size = 0;
}

SPOIL(function_too_short, SFRAME_REASON_NO_FDE)
{
	sft_index(sec, 1)->func_size = 5;
}

SPOIL(all_functions_behind, SFRAME_REASON_NO_FDE)
{
	sft_index(sec, 0)->func_start += 64;
	sft_index(sec, 1)->func_start += 64;
	sft_index(sec, 2)->func_start += 64;
}

/* ---- Attributes of a function ----------------------------------------- */

SPOIL(start_size_3, SFRAME_REASON_FDE_TYPE)
{
	sft_attr(sec, 1)->info = 3;
}

SPOIL(start_size_15, SFRAME_REASON_FDE_TYPE)
{
	sft_attr(sec, 1)->info = 15;
}

SPOIL(reserved_info, SFRAME_REASON_FDE_TYPE)
{
	sft_attr(sec, 1)->info = SFRAME_FDE_RESERVED;
}

SPOIL(function_type_2, SFRAME_REASON_FDE_TYPE)
{
	sft_attr(sec, 1)->info2 = 2;
}

SPOIL(function_type_31, SFRAME_REASON_FDE_TYPE)
{
	sft_attr(sec, 1)->info2 = 31;
}

SPOIL(reserved_info2, SFRAME_REASON_FDE_TYPE)
{
	sft_attr(sec, 1)->info2 = 0x20;
}

/* Earlier series divided by it: a divide error in the kernel. */
SPOIL(block_size_0, SFRAME_REASON_REP_SIZE)
{
	sft_attr(sec, 1)->info = SFRAME_FDE_PCMASK;
}

SPOIL(signal_frame, SFRAME_REASON_SIGNAL)
{
	sft_attr(sec, 1)->info = SFRAME_FDE_SIGNAL;
}

/* ---- Where the rows are ----------------------------------------------- */

/* The area has 42 bytes. */
SPOIL(rows_behind_the_area, SFRAME_REASON_FRE_OFFSET)
{
	sft_index(sec, 1)->fre_off = 42;
}

SPOIL(rows_far_behind, SFRAME_REASON_FRE_OFFSET)
{
	sft_index(sec, 1)->fre_off = UINT32_MAX;
}

SPOIL(attributes_leave_the_area, SFRAME_REASON_FRE_OFFSET)
{
	sft_index(sec, 1)->fre_off = 42 - 4;
}

/* Earlier series checked the start of a row and not its end. */
SPOIL(start_leaves_the_area, SFRAME_REASON_FRE_OFFSET)
{
	sft_index(sec, 1)->fre_off = 42 - 5;
	memcpy(sft_attr(sec, 1), &(struct sframe_fde_attr){ .num_fres = 1 }, 5);
}

SPOIL(words_leave_the_area, SFRAME_REASON_FRE_OFFSET)
{
	sft_index(sec, 1)->fre_off = sft_index(sec, 2)->fre_off;
	sft_attr(sec, 2)->num_fres = 1;
	sft_row_bytes(sec, 2)[1] = 1 | 6 << 1 | SFT_WORD4;
}

SPOIL(too_many_rows_for_the_area, SFRAME_REASON_FRE_OFFSET)
{
	sft_index(sec, 1)->fre_off = sft_index(sec, 2)->fre_off;
	sft_row_bytes(sec, 2)[3] = 3;
	sft_row_bytes(sec, 2)[6] = 4;
	sft_attr(sec, 2)->num_fres = 4;
}

SPOIL(no_rows, SFRAME_REASON_NO_ROW)
{
	sft_attr(sec, 1)->num_fres = 0;
}

SPOIL(first_row_starts_later, SFRAME_REASON_NO_ROW)
{
	sft_row_bytes(sec, 1)[0] = 9;
	sft_row_bytes(sec, 1)[3] = 10;
}

/* ---- Rows -------------------------------------------------------------- */

#define ROW(n, byte)	sft_row_bytes(sec, 1)[3 * (n) + (byte)]
#define INFO(words)	(1 | (words) << 1)

SPOIL(rows_at_one_address, SFRAME_REASON_ROW_ORDER)
{
	ROW(1, 0) = 0;
}

SPOIL(rows_go_back, SFRAME_REASON_ROW_ORDER)
{
	ROW(0, 0) = 4;
	ROW(1, 0) = 3;
}

SPOIL(words_of_no_size, SFRAME_REASON_ROW_WORDS)
{
	ROW(1, 1) |= 3 << 5;
}

/* 15 words of 4 bytes overflow what libsframe has for them. */
SPOIL(fifteen_words, SFRAME_REASON_ROW_WORDS)
{
	ROW(1, 1) = INFO(15) | SFT_WORD4;
}

SPOIL(seven_words, SFRAME_REASON_ROW_WORDS)
{
	ROW(1, 1) = INFO(7);
}

SPOIL(three_words_without_flex, SFRAME_REASON_ROW_WORDS)
{
	sft_attr(sec, 1)->num_fres = 2;
	ROW(1, 1) = INFO(3);
}

SPOIL(mangled_return_address, SFRAME_REASON_ROW_RULE)
{
	ROW(1, 1) |= 0x80;
}

SPOIL(cfa_below_the_stack, SFRAME_REASON_CFA_ORDER)
{
	ROW(1, 2) = -8;
}

SPOIL(cfa_not_aligned, SFRAME_REASON_CFA_ALIGN)
{
	ROW(1, 2) = 17;
}

/* ---- Rows of the FLEX type -------------------------------------------- */

struct flex_case {
	const char		*what;
	struct sft_row		row;
	enum sframe_reason	reason;
};

#define REG_SP		SFT_REG(SFT_RSP)
#define REG_16		SFT_REG(16)

static const struct flex_case flex_cases[] = {
	{ "one word", SFT_FLEX(0, REG_SP), SFRAME_REASON_ROW_WORDS },
	{ "three words", SFT_FLEX(0, REG_SP, 16, 0), SFRAME_REASON_ROW_WORDS },
	{ "padding is not 0", SFT_FLEX(0, REG_SP, 16, 2, SFT_CFA_DEREF, -16),
	  SFRAME_REASON_ROW_WORDS },
	{ "cfa from the cfa", SFT_FLEX(0, 0, 16), SFRAME_REASON_ROW_RULE },
	{ "cfa from the cfa in memory", SFT_FLEX(0, SFT_CFA_DEREF, 16),
	  SFRAME_REASON_ROW_RULE },
	{ "reserved bit", SFT_FLEX(0, REG_SP | 4, 16), SFRAME_REASON_ROW_RULE },
	{ "reserved bit of ra", SFT_FLEX(0, REG_SP, 16, SFT_CFA_DEREF | 4, -8),
	  SFRAME_REASON_ROW_RULE },
	{ "ra is an address of the stack", SFT_FLEX(0, REG_SP, 16, 0, -8),
	  SFRAME_REASON_ROW_RULE },
	{ "register 16", SFT_FLEX(0, REG_16, 16), SFRAME_REASON_ROW_REGISTER },
	{ "register 31", SFT_FLEX(0, SFT_REG(31), 16),
	  SFRAME_REASON_ROW_REGISTER },
	{ "register 16 for fp", SFT_FLEX(0, REG_SP, 16, 0, REG_16, 16),
	  SFRAME_REASON_ROW_REGISTER },
	{ "register 0x2007 in 2 bytes",
	  { 0, SFT_WORD2, 2, { (__s16)(0x1fff << 3 | 1), 16 } },
	  SFRAME_REASON_ROW_REGISTER },
	/* The number gas has given to registers it did not know. */
	{ "register 0x1fffffff",
	  { 0, SFT_WORD4, 2, { (__s32)0xfffffff9, 16 } },
	  SFRAME_REASON_ROW_REGISTER },
	{ "register 0x10007", { 0, SFT_WORD4, 2, { 0x10007 << 3 | 1, 16 } },
	  SFRAME_REASON_ROW_REGISTER },
	{ "cfa wraps", { 0, SFT_WORD4, 2, { REG_SP, INT32_MIN } },
	  SFRAME_REASON_CFA_ORDER },
	{ "cfa from memory that is not there",
	  { 0, SFT_WORD4, 2, { SFT_REG_DEREF(SFT_RSP), INT32_MAX } },
	  SFRAME_REASON_STACK_FAULT },
	{ "stack that is not there",
	  { 0, SFT_WORD4, 2, { REG_SP, 0x7ffffff8 } },
	  SFRAME_REASON_STACK_FAULT },
	{ "fp that is not there",
	  { 0, SFT_WORD4, 5, { REG_SP, 16, 0, SFT_CFA_DEREF, 0x7ffffff8 } },
	  SFRAME_REASON_STACK_FAULT },
};

TEST_F(hostile, flex_rows)
{
	const __u8 *text = self->text + SFT_SLOT;
	const __u8 *ip = text + 5;
	struct sframe_stats before, after;
	struct sft_chain chain;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(flex_cases); i++) {
		const struct flex_case *c = &flex_cases[i];
		const struct sft_fde fde = {
			.start = text, .size = SFT_SLOT, .rows = &c->row,
			.nr_rows = 1, .info2 = SFRAME_FDE_TYPE_FLEX,
		};
		size_t len = sft_build(self->section, &fde, 1);

		TH_LOG("%s", c->what);
		ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
		ASSERT_EQ(0, sft_stats(&before));
		ASSERT_EQ(0, sft_chain_at(ip, variant->defer, &self->call,
					  &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip);
		ASSERT_EQ(0, sft_stats(&after));
		EXPECT_EQ(c->reason, after.last_reason);
		EXPECT_EQ((uintptr_t)ip, after.last_ip);
		for (j = 0; j < ARRAY_SIZE(after.refused); j++)
			EXPECT_EQ(before.refused[j] + (j == c->reason),
				  after.refused[j]);
		ASSERT_EQ(0, sft_unregister(KEY));
	}
}

/* A CFA that stands still would never end: below the topmost frame, no. */
TEST_F(hostile, cfa_stands_still)
{
	const struct sft_row row = SFT_SP(0, 0);
	const struct sft_fde fde = {
		.start = self->text + SFT_SLOT, .size = SFT_SLOT,
		.rows = &row, .nr_rows = 1,
	};
	size_t len = sft_build(self->section, &fde, 1);
	struct sframe_stats stats;
	struct sft_chain chain;

	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer, &self->call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
		     (uintptr_t)self->text + SFT_SLOT + 8);
	ASSERT_EQ(0, sft_stats(&stats));
	EXPECT_EQ(1, stats.refused[SFRAME_REASON_CFA_ORDER]);
}

/* ---- Sections that go away -------------------------------------------- */

/*
 * Earlier series took the section for corrupt then, and removed it. It is
 * where no other mapping takes its place.
 */
TEST_F(hostile, section_is_unmapped)
{
	__u8 *low = mmap((void *)0x10000000, SFT_PAGE, SFT_RW,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			    -1, 0);
	size_t len;

	ASSERT_NE(MAP_FAILED, low);
	len = build_slots(low, self->text);
	ASSERT_EQ(0, sft_register(KEY, low, len, NULL));
	ASSERT_EQ(0, munmap(low, SFT_PAGE));
	check_refused(_metadata, &self->call, variant->defer,
		      SFRAME_REASON_SECTION_FAULT);
	EXPECT_EQ(0, sft_unregister(KEY));
}

TEST_F(hostile, section_loses_its_permissions)
{
	size_t len = build_slots(self->section, self->text);

	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	ASSERT_EQ(0, mprotect(self->section, SFT_PAGE, PROT_NONE));
	check_refused(_metadata, &self->call, variant->defer,
		      SFRAME_REASON_SECTION_FAULT);
	ASSERT_EQ(0, mprotect(self->section, SFT_PAGE, PROT_READ));
	check_good(_metadata, &self->call, variant->defer);
}

/* Rows in front of a page that is not there do not fail with it. */
TEST_F(hostile, only_the_rows_behind_are_not_readable)
{
	__u8 *sec = self->section + SFT_PAGE - (28 + 16 + 5 + 6);
	const struct sft_fde fde = SFT_FDE(self->text + SFT_SLOT, SFT_SLOT,
					   sft_slot_arg.rows);
	const __u8 *text = self->call.entry;
	struct sft_chain chain;

	ASSERT_EQ(0, sft_register(KEY, sec, sft_build(sec, &fde, 1), NULL));
	ASSERT_EQ(0, mprotect(self->section + SFT_PAGE, SFT_PAGE, PROT_NONE));
	/* The start of the third row says that the second one is right. */
	ASSERT_EQ(0, sft_chain_at(text + 4, variant->defer, &self->call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)text + 4, SFT_CALLERS);
	ASSERT_EQ(0, sft_chain_at(text + 9, variant->defer, &self->call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)text + 9);
}

/*
 * A page that was never touched: the walk that may fault brings it in, the
 * other one does not; both end, neither complains.
 */
TEST_F(hostile, section_is_not_resident)
{
	size_t len = build_slots(self->section, self->text);
	struct sframe_stats stats;
	struct sft_chain chain;
	const __u8 *ip = (const __u8 *)self->call.entry + 5;

	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	ASSERT_EQ(0, madvise(self->section, SFT_PAGE, MADV_DONTNEED));
	ASSERT_EQ(0, sft_chain_at(ip, variant->defer, &self->call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)ip);
	ASSERT_EQ(0, sft_stats(&stats));
	/* Zeros are an index whose entries are all at their own address. */
	EXPECT_EQ(variant->defer ? SFRAME_REASON_NO_FDE :
		  SFRAME_REASON_SECTION_FAULT, stats.last_reason);
}

/* The header was checked once; what it says later is not read. */
TEST_F(hostile, header_changes_after_registration)
{
	size_t len = build_slots(self->section, self->text);

	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	memset(self->section, 0xff, sizeof(struct sframe_header));
	check_good(_metadata, &self->call, variant->defer);
	memset(self->section, 0, sizeof(struct sframe_header));
	check_good(_metadata, &self->call, variant->defer);
}

/* Length counts: rows in the same memory but behind it are not read. */
TEST_F(hostile, area_ends_before_the_section)
{
	size_t len = build_slots(self->section, self->text);
	struct sframe_header *header = sft_header(self->section);

	/* Cuts the second row of the second slot: 14 + 5 + 3 + 2 bytes. */
	header->fre_len = 24;
	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	check_refused(_metadata, &self->call, variant->defer,
		      SFRAME_REASON_FRE_OFFSET);
}

/* ---- Sections behind userfaultfd -------------------------------------- */

/* Faults on the section wait until the test lets them go on. */
static int catch_faults(__u8 *section)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = {
		.range = { (uintptr_t)section, SFT_PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(__NR_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &area) ||
	    madvise(section, SFT_PAGE, MADV_DONTNEED))
		return -1;
	return fd;
}

static bool wait_for_fault(int fd)
{
	struct uffd_msg msg;

	return read(fd, &msg, sizeof(msg)) == sizeof(msg) &&
	       msg.event == UFFD_EVENT_PAGEFAULT;
}

static int end_fault(int fd, __u8 *section, __u8 *copy)
{
	struct uffdio_copy args = {
		.dst = (uintptr_t)section,
		.src = (uintptr_t)copy,
		.len = SFT_PAGE,
	};

	return ioctl(fd, UFFDIO_COPY, &args);
}

/* A walk in another thread, and what it waits for. */
struct walk {
	const struct sft_call	*call;
	struct sft_chain	chain;
	int			ret;
	pthread_t		thread;
	int			uffd;
	__u8			*section;
};

static void *walk_slowly(void *arg)
{
	struct walk *walk = arg;
	const __u8 *ip = (const __u8 *)walk->call->entry + 5;

	walk->ret = sft_chain_at(ip, true, walk->call, &walk->chain);
	return NULL;
}

FIXTURE(slow)
{
	__u8		*text;
	__u8		*section;
	struct sft_call	call;
	struct walk	walk;
};

/* A walk of another thread is in the middle of the section. */
FIXTURE_SETUP(slow)
{
	size_t len;

	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->text = make_text();
	ASSERT_NE(NULL, self->text);
	self->section = sft_map(SECTION_SIZE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	self->call.entry = self->text + SFT_SLOT;
	self->call.target = sft_leaf;
	len = build_slots(self->section, self->text);
	memcpy(self->section + SFT_PAGE, self->section, SFT_PAGE);
	ASSERT_EQ(0, sft_register(KEY, self->section, len, NULL));
	self->walk.uffd = catch_faults(self->section);
	if (self->walk.uffd < 0)
		SKIP(return, "no userfaultfd for faults of the kernel");

	self->walk.call = &self->call;
	self->walk.section = self->section;
	ASSERT_EQ(0, pthread_create(&self->walk.thread, NULL, walk_slowly,
				    &self->walk));
	ASSERT_TRUE(wait_for_fault(self->walk.uffd));
}

FIXTURE_TEARDOWN(slow)
{
	munmap(self->text, TEXT_SIZE);
	munmap(self->section, SECTION_SIZE);
}

static void end_walk(struct __test_metadata *_metadata, struct walk *walk)
{
	ASSERT_EQ(0, end_fault(walk->uffd, walk->section,
			       walk->section + SFT_PAGE));
	ASSERT_EQ(0, pthread_join(walk->thread, NULL));
	ASSERT_EQ(0, walk->ret);
	EXPECT_EQ((uintptr_t)walk->call->entry + 5, walk->chain.ip[0]);
}

/* Nothing is locked meanwhile, and the walk goes on when it can. */
TEST_F(slow, others_do_not_wait)
{
	__u8 *text = make_text(), *section = self->section + 2 * SFT_PAGE;
	size_t len = build_slots(section, text);

	EXPECT_EQ(0, sft_register(KEY + 1, section, len, NULL));
	EXPECT_EQ(2, sft_windows());
	EXPECT_EQ(0, munmap(text, TEXT_SIZE));
	EXPECT_EQ(1, sft_windows());
	end_walk(_metadata, &self->walk);
	EXPECT_CHAIN(&self->walk.chain, self->walk.chain.ip[0], SFT_CALLERS);
}

/* The window it reads can go: it is used no more. */
TEST_F(slow, its_window_is_unregistered)
{
	EXPECT_EQ(0, sft_unregister(KEY));
	EXPECT_EQ(0, sft_windows());
	end_walk(_metadata, &self->walk);
	EXPECT_CHAIN(&self->walk.chain, self->walk.chain.ip[0], SFT_LOST);
}

/* It is replaced: the walk begins anew with what is there now. */
TEST_F(slow, its_window_is_replaced)
{
	__u8 *section = self->section + 2 * SFT_PAGE;
	size_t len = build_slots(section, self->text);

	EXPECT_EQ(0, sft_register_text(KEY, section, len, self->text,
				       NR_SLOTS * SFT_SLOT,
				       SFRAME_WINDOW_REPLACE));
	/* These bytes were right when they were registered. */
	sft_row_bytes(self->section + SFT_PAGE, 1)[5] = 24;
	end_walk(_metadata, &self->walk);
	EXPECT_CHAIN(&self->walk.chain, self->walk.chain.ip[0], SFT_CALLERS);
}

static void walk_forever(const struct sft_call *call)
{
	struct sft_chain chain;

	sft_chain_at((const __u8 *)call->entry + 5, true, call, &chain);
	_exit(1);
}

/* A fatal signal ends a walk that nobody lets go on. */
TEST_F(slow, a_fatal_signal_ends_the_walk)
{
	int status;
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child) {
		int uffd = catch_faults(self->section);

		if (uffd < 0 || fcntl(uffd, F_SETFD, 0))
			_exit(2);
		walk_forever(&self->call);
	}
	usleep(300000);
	EXPECT_EQ(0, waitpid(child, &status, WNOHANG));
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	end_walk(_metadata, &self->walk);
}

/* ---- Work ------------------------------------------------------------- */

/*
 * A function that calls itself: sub $8,%rsp; dec %ecx; jz +57; 52 nops; call;
 * jmp +1; nop; add $8,%rsp; ret. The rows of its 52 nops say the same.
 */
#define DEEP_NOPS	52
#define DEEP_CALL	(8 + DEEP_NOPS)
#define DEEP_RET	(DEEP_CALL + 5)
#define DEEP_BOTTOM	(DEEP_RET + 2)
#define DEEP_SIZE	(DEEP_BOTTOM + 6)
#define DEEP_ROWS	60
#define DEEP_FDES	4096
#define DEPTH		400

static void make_deep(__u8 *code)
{
	static const __u8 head[] = {
		0x48, 0x83, 0xec, 0x08, 0xff, 0xc9, 0x74, DEEP_BOTTOM - 8,
	};
	static const __u8 tail[] = {
		0xe8, 0, 0, 0, 0, 0xeb, 0x01, 0x90, 0x48, 0x83, 0xc4, 0x08,
		0xc3,
	};
	__s32 back = -DEEP_RET;

	memcpy(code, head, sizeof(head));
	memset(code + sizeof(head), 0x90, DEEP_NOPS);
	memcpy(code + DEEP_CALL, tail, sizeof(tail));
	memcpy(code + DEEP_CALL + 1, &back, sizeof(back));
}

/* mov $DEPTH,%ecx; jmp +... : sets up the depth, then falls into the rest. */
static const __u8 deep_head[] = { 0xb9, DEPTH & 0xff, DEPTH >> 8, 0, 0 };

static size_t build_deep(__u8 *section, const __u8 *text)
{
	static struct sft_fde fdes[DEEP_FDES];
	static struct sft_row rows[DEEP_ROWS + 1];
	static const struct sft_row head[] = { SFT_SP(0, 8) };
	unsigned int i;

	rows[0] = (struct sft_row)SFT_SP(0, 8);
	for (i = 1; i < DEEP_ROWS; i++)
		rows[i] = (struct sft_row){
			3 + i, SFT_WORD4 | 1, 1, { 16 }
		};
	rows[i] = (struct sft_row)SFT_SP(DEEP_SIZE - 1, 8);
	/* Empty functions in front make the search long. */
	for (i = 0; i < DEEP_FDES - 1; i++)
		fdes[i] = (struct sft_fde)SFT_FDE(text, 0, head);
	fdes[i] = (struct sft_fde)SFT_FDE(text, DEEP_SIZE, rows);
	return sft_build(section, fdes, DEEP_FDES);
}

/*
 * 12 probes and 8 chunks of 64 bytes for a frame: 127 frames take 2540 of the
 * 4096 reads a walk may make. The deferred walk has up to 510 frames and would
 * need more: it ends.
 */
TEST_F(hostile, reads_of_a_walk_are_limited)
{
	__u8 code[sizeof(deep_head) + DEEP_SIZE];
	__u8 *text, *section = sft_map(64 * SFT_PAGE, SFT_RW);
	struct sframe_stats stats;
	struct sft_chain chain;
	struct sft_call call;
	unsigned int i;
	size_t len;

	memcpy(code, deep_head, sizeof(deep_head));
	make_deep(code + sizeof(deep_head));
	text = sft_map_code(code, sizeof(code), SFT_PAGE);
	ASSERT_NE(NULL, text);
	ASSERT_NE(NULL, section);
	call.entry = text;
	text += sizeof(deep_head);
	len = build_deep(section, text);
	ASSERT_EQ(0, sft_register(KEY, section, len, NULL));

	ASSERT_EQ(0, sft_chain_at(text + DEEP_BOTTOM, variant->defer, &call,
				  &chain));
	ASSERT_EQ(0, sft_stats(&stats));
	EXPECT_EQ(1, stats.windows);
	EXPECT_EQ((uintptr_t)text + DEEP_BOTTOM, chain.ip[0]);
	for (i = 1; i < chain.nr; i++)
		EXPECT_EQ((uintptr_t)text + DEEP_RET, chain.ip[i]);
	if (variant->defer) {
		EXPECT_EQ(1, stats.refused[SFRAME_REASON_BUDGET]);
		EXPECT_LT(127, chain.nr);
		EXPECT_GT(DEPTH, chain.nr);
	} else {
		EXPECT_EQ(0, stats.refused[SFRAME_REASON_BUDGET]);
		EXPECT_EQ(127, chain.nr);
	}
}

/* ---- Races ------------------------------------------------------------ */

struct race {
	__u8		*section;
	size_t		len;
	const __u8	*text;
	bool		stop;
};

/* The bytes of the section are garbage whenever it is not registered. */
static void *register_and_unregister(void *arg)
{
	struct race *race = arg;
	__u8 *copy = race->section + SFT_PAGE;
	unsigned int rounds = 0;

	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED)) {
		memcpy(race->section, copy, race->len);
		if (sft_register(KEY, race->section, race->len, NULL))
			return (void *)1;
		if (rounds++ % 3 == 0)
			sched_yield();
		if (sft_unregister(KEY))
			return (void *)2;
		/* A row that would be taken, and is wrong. */
		sft_row_bytes(race->section, 1)[5] = 24;
	}
	return NULL;
}

/*
 * Walks against changes of the tree on another CPU, and in the middle of them
 * on this one. A walk finds the window or does not: each stack is the true
 * one, the one without windows, or cut off at the slot. A row of the garbage
 * would give another one.
 */
TEST_F_TIMEOUT(hostile, walks_while_the_window_comes_and_goes, 60)
{
	const __u64 ip = (uintptr_t)self->call.entry + 5;
	const __u64 with[] = { ip, SFT_CALLERS };
	const __u64 without[] = { ip, SFT_LOST };
	struct race race = { .section = self->section, .text = self->text };
	unsigned int i, seen[3] = { 0 }, wrong = 0;
	struct sft_chain chain;
	pthread_t thread;
	void *ret;

	race.len = build_slots(self->section, self->text);
	memcpy(self->section + SFT_PAGE, self->section, race.len);
	ASSERT_EQ(0, pthread_create(&thread, NULL, register_and_unregister,
				    &race));
	for (i = 0; i < 1500; i++) {
		ASSERT_EQ(0, sft_chain_at((void *)ip, variant->defer,
					  &self->call, &chain));
		if (sft_chain_is(&chain, with, 2))
			seen[0]++;
		else if (sft_chain_is(&chain, without, 2))
			seen[1]++;
		else if (sft_chain_is(&chain, &ip, 1))
			seen[2]++;
		else
			wrong++;
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	EXPECT_EQ(0, wrong);
	TH_LOG("with window %u, without %u, cut off %u", seen[0], seen[1],
	       seen[2]);
	EXPECT_LT(0, seen[0]);
	EXPECT_LT(0, seen[1]);
}

/*
 * REPLACE leaves no moment without window: the stack is always the true one.
 * A step during which it happens twice is given up, so there are pauses.
 */
static void *replace_again_and_again(void *arg)
{
	struct race *race = arg;
	__u8 *sections[] = { race->section, race->section + SFT_PAGE };
	unsigned int i;

	for (i = 0; !__atomic_load_n(&race->stop, __ATOMIC_RELAXED); i++) {
		__u8 *next = sections[i % 2], *old = sections[(i + 1) % 2];

		build_slots(next, race->text);
		if (sft_register_text(KEY, next, race->len, race->text,
				      NR_SLOTS * SFT_SLOT,
				      SFRAME_WINDOW_REPLACE))
			return (void *)1;
		sft_row_bytes(old, 1)[5] = 24;
		if (i % 3 == 0)
			usleep(50);
	}
	return NULL;
}

TEST_F_TIMEOUT(hostile, walks_while_the_window_is_replaced, 60)
{
	const __u64 ip = (uintptr_t)self->call.entry + 5;
	const __u64 with[] = { ip, SFT_CALLERS };
	struct race race = { .section = self->section, .text = self->text };
	struct sft_chain chain;
	struct sframe_stats stats;
	unsigned int i, cut = 0, wrong = 0;
	pthread_t thread;
	void *ret;

	race.len = build_slots(self->section + SFT_PAGE, self->text);
	ASSERT_EQ(0, sft_register(KEY, self->section + SFT_PAGE, race.len,
				  NULL));
	ASSERT_EQ(0, pthread_create(&thread, NULL, replace_again_and_again,
				    &race));
	for (i = 0; i < 1500; i++) {
		ASSERT_EQ(0, sft_chain_at((void *)ip, variant->defer,
					  &self->call, &chain));
		/* Replaced twice within one step: cut off, and counted. */
		if (sft_chain_is(&chain, &ip, 1))
			cut++;
		else if (!sft_chain_is(&chain, with, 2))
			wrong++;
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	ASSERT_EQ(0, sft_stats(&stats));
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(cut, stats.refused[SFRAME_REASON_CHANGED]);
	EXPECT_GT(750, cut);
}

TEST_HARNESS_MAIN
