// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * SFRAME_WINDOW_LIVE: functions that are appended to a registered section are
 * seen without a system call, each only after it was published, and whatever
 * the producer stores instead leads nowhere else.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "harness.h"

#include "slots.h"

#define KEY		1
#define CAPACITY	8
#define SECTION_SIZE	(64 * SFT_PAGE)
#define LEN		4096

/* Functions in one text; more than CAPACITY for tests that need others. */
#define NR_SLOTS	4096
#define TEXT_SIZE	(NR_SLOTS * SFT_SLOT)

FIXTURE(live)
{
	__u8		*text;
	__u8		*section;
	struct sft_live	live;
};

FIXTURE_VARIANT(live)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(live, fp) { .defer = false };
FIXTURE_VARIANT_ADD(live, defer) { .defer = true };

static __u8 *make_text(void)
{
	__u8 *text = sft_map(TEXT_SIZE, SFT_RW);
	struct sft_row rows[3];
	unsigned int i;

	for (i = 0; text && i < NR_SLOTS; i++)
		sft_put_frame_slot(text + i * SFT_SLOT, rows,
				   SFT_FRAME_SIZE(i));
	if (!text || mprotect(text, TEXT_SIZE, SFT_RX))
		return NULL;
	return text;
}

static int register_live(const struct sft_live *live, const __u8 *text,
			 __u32 flags)
{
	return sft_register_text(KEY, live->sec, live->size, text, TEXT_SIZE,
				 SFRAME_WINDOW_LIVE | flags);
}

static int make_all(__u8 **text, __u8 **section, struct sft_live *live)
{
	*text = make_text();
	*section = sft_map(SECTION_SIZE, SFT_RW);
	if (!*text || !*section)
		return -ENOMEM;
	sft_live_init(live, *section, LEN, CAPACITY);
	return 0;
}

static void unmap_all(__u8 *text, __u8 *section)
{
	munmap(text, TEXT_SIZE);
	munmap(section, SECTION_SIZE);
}

FIXTURE_SETUP(live)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	ASSERT_EQ(0, make_all(&self->text, &self->section, &self->live));
}

FIXTURE_TEARDOWN(live)
{
	unmap_all(self->text, self->section);
}

/* The rows of slot @nr, in memory that the next call uses again. */
static struct sft_fde slot_fde(const __u8 *text, unsigned int nr)
{
	static struct sft_row rows[3];
	__u8 code[SFT_SLOT];

	sft_put_frame_slot(code, rows, SFT_FRAME_SIZE(nr));
	return (struct sft_fde)SFT_FDE(text + nr * SFT_SLOT,
				       SFT_FRAME_SLOT_SIZE, rows);
}

static void add_slot(struct sft_live *live, const __u8 *text, unsigned int nr)
{
	const struct sft_fde fde = slot_fde(text, nr);

	sft_live_add(live, &fde);
}

static void add_slots(struct sft_live *live, const __u8 *text,
		      unsigned int nr)
{
	while (nr--)
		add_slot(live, text, live->used);
}

/* Does the stack through slot @nr show its callers, or end there? */
static bool slot_walk_is(const __u8 *text, unsigned int nr, bool defer,
			 bool complete)
{
	const __u8 *slot = text + nr * SFT_SLOT;
	const struct sft_call call = { slot, sft_leaf };
	const __u64 ip[] = {
		(uintptr_t)sft_leaf_body,
		(uintptr_t)slot + SFT_FRAME_SLOT_RET, SFT_CALLERS,
	};
	struct sft_chain chain;

	if (sft_chain_at(sft_leaf_body, defer, &call, &chain))
		return false;
	return sft_chain_check(&chain, ip, complete ? 3 : 2);
}

#define EXPECT_SEEN(nr)							\
	EXPECT_TRUE(slot_walk_is(self->text, nr, variant->defer, true))

/* Not seen, for this reason; the window stays. */
#define EXPECT_REFUSED(nr, reason) do {					\
	__u64 _before = sft_refused(reason);				\
									\
	EXPECT_TRUE(slot_walk_is(self->text, nr, variant->defer,	\
				 false));				\
	EXPECT_EQ(_before + 1, sft_refused(reason));			\
	EXPECT_EQ(1, sft_windows());					\
} while (0)

#define EXPECT_NOT_SEEN(nr)	EXPECT_REFUSED(nr, "no_fde")

#define REGISTER(flags)	register_live(&self->live, self->text, flags)

/* ---- Registration ------------------------------------------------------ */

/* For what no walk is needed for. */
FIXTURE(abi)
{
	__u8		*text;
	__u8		*section;
	struct sft_live	live;
};

FIXTURE_SETUP(abi)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	ASSERT_EQ(0, make_all(&self->text, &self->section, &self->live));
}

FIXTURE_TEARDOWN(abi)
{
	unmap_all(self->text, self->section);
}

/* Guards against: a count that is loaded in two halves. */
TEST_F(abi, section_is_aligned)
{
	unsigned int i;

	for (i = 1; i < 8; i++) {
		sft_live_init(&self->live, self->section + i, LEN, CAPACITY);
		EXPECT_EQ(-EINVAL, REGISTER(0));
	}
	EXPECT_EQ(0, sft_windows());
	sft_live_init(&self->live, self->section + 8, LEN, CAPACITY);
	EXPECT_EQ(0, REGISTER(0));
}

/* Guards against: a range from the functions that happen to be there. */
TEST_F(abi, text_range_is_explicit)
{
	add_slots(&self->live, self->text, 2);
	EXPECT_EQ(-EINVAL, sft_register_text(KEY, self->section, LEN, NULL, 0,
					     SFRAME_WINDOW_LIVE));
	EXPECT_EQ(0, sft_windows());
	EXPECT_EQ(0, REGISTER(0));
}

/* Guards against: more functions than the index has space for. */
TEST_F(abi, functions_fit_into_the_index)
{
	sft_live_publish(&self->live, CAPACITY + 1);
	EXPECT_EQ(-EINVAL, REGISTER(0));
	sft_live_publish(&self->live, UINT32_MAX);
	EXPECT_EQ(-EINVAL, REGISTER(0));
	sft_live_publish(&self->live, CAPACITY);
	EXPECT_EQ(0, REGISTER(0));
}

/* Guards against: an index that reaches into rows, or out of the section. */
TEST_F(abi, index_lies_in_front_of_the_rows)
{
	struct sframe_header *header = sft_header(self->section);
	const __u32 behind = LEN - sizeof(*header);

	header->fdes_off = header->fres_off + 1;
	EXPECT_EQ(-EINVAL, REGISTER(0));
	header->fdes_off = UINT32_MAX;
	EXPECT_EQ(-EINVAL, REGISTER(0));
	header->fdes_off = 0;
	header->fres_off = behind + 1;
	EXPECT_EQ(-EINVAL, REGISTER(0));
	header->fres_off = UINT32_MAX;
	EXPECT_EQ(-EINVAL, REGISTER(0));
	EXPECT_EQ(0, sft_windows());

	/* No space for rows, and none for functions, is nothing wrong. */
	header->fres_off = behind;
	EXPECT_EQ(0, REGISTER(0));
	ASSERT_EQ(0, sft_unregister(KEY));
	header->fdes_off = behind;
	EXPECT_EQ(0, REGISTER(0));
}

/* Guards against: numbers that grow with the section decide about it. */
TEST_F(abi, number_and_length_of_rows_are_ignored)
{
	struct sframe_header *header = sft_header(self->section);

	header->num_fres = UINT32_MAX;
	header->fre_len = UINT32_MAX;
	EXPECT_EQ(-EINVAL, sft_register_text(KEY, self->section, LEN,
					     self->text, TEXT_SIZE, 0));
	EXPECT_EQ(0, REGISTER(0));
}

/* Guards against: a search that takes as long as user space likes. */
TEST_F(abi, capacity_is_limited)
{
	const size_t most = 1UL << 24, entry = sizeof(struct sframe_fde);
	const size_t size = 28 + (most + 1) * entry;
	__u8 *sec = mmap(NULL, size, SFT_RW,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ASSERT_NE(MAP_FAILED, sec);
	sft_live_init(&self->live, sec, size, most + 1);
	EXPECT_EQ(-EINVAL, REGISTER(0));
	sft_live_init(&self->live, sec, size, most);
	EXPECT_EQ(0, REGISTER(0));
}

/* Guards against: all else that a fixed section is refused for. */
TEST_F(abi, header_is_checked)
{
	const struct sframe_header good = *sft_header(self->section);
	unsigned int i;

	for (i = 0; i < 8; i++) {
		*sft_header(self->section) = good;
		self->section[i] ^= 0x80;
		EXPECT_EQ(-EINVAL, REGISTER(0));
	}
	EXPECT_EQ(0, sft_windows());
}

/* Guards against: the kind of a window is not told. */
TEST_F(abi, proc_file_tells_the_kind)
{
	FILE *file = fopen("/proc/self/sframe", "r");
	unsigned long words[5];
	char kind[8];

	if (!file)
		SKIP(return, "kernel without /proc/PID/sframe");

	ASSERT_EQ(0, REGISTER(0));
	ASSERT_EQ(6, fscanf(file, "%lx-%lx %lx %lx %lx %7s\n", &words[0],
			    &words[1], &words[2], &words[3], &words[4], kind));
	EXPECT_STREQ("live", kind);
	fclose(file);
}

/* ---- Growth ------------------------------------------------------------ */

/* Guards against: functions that are found where the producer put them. */
TEST_F(live, functions_are_found_with_a_bias)
{
	__u8 *copy = make_text();
	struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.flags = SFRAME_WINDOW_LIVE,
		.text_start = (uintptr_t)copy,
		.text_length = TEXT_SIZE,
		.text_bias = copy - self->text,
	};

	ASSERT_NE(NULL, copy);
	ASSERT_EQ(0, sft_register(KEY, self->live.sec, self->live.size,
				  &opts));
	add_slots(&self->live, self->text, 2);
	EXPECT_TRUE(slot_walk_is(copy, 0, variant->defer, true));
	EXPECT_TRUE(slot_walk_is(copy, 1, variant->defer, true));
	EXPECT_TRUE(slot_walk_is(copy, 2, variant->defer, false));
	munmap(copy, TEXT_SIZE);
}

/* Guards against: the count of earlier series, read once and kept. */
TEST_F(live, appended_functions_are_seen)
{
	unsigned int i;

	ASSERT_EQ(0, REGISTER(0));
	for (i = 0; i < CAPACITY; i++) {
		EXPECT_NOT_SEEN(i);
		add_slot(&self->live, self->text, i);
		EXPECT_SEEN(i);
	}
	for (i = 0; i < CAPACITY; i++)
		EXPECT_SEEN(i);
	EXPECT_NOT_SEEN(CAPACITY);
}

/* Guards against: functions of a header that was filled at registration. */
TEST_F(live, functions_from_before_registration_are_seen)
{
	add_slots(&self->live, self->text, 3);
	ASSERT_EQ(0, REGISTER(0));
	EXPECT_SEEN(2);
	add_slots(&self->live, self->text, 1);
	EXPECT_SEEN(3);
}

/* Guards against: what is written and not yet complete is believed. */
TEST_F(live, unpublished_functions_are_not_seen)
{
	struct sft_fde fde;

	add_slots(&self->live, self->text, 2);
	ASSERT_EQ(0, REGISTER(0));
	fde = slot_fde(self->text, 2);
	sft_live_write(&self->live, &fde);
	EXPECT_NOT_SEEN(2);
	sft_live_publish(&self->live, 3);
	EXPECT_SEEN(2);
}

/* Guards against: an index of which only a part is searched. */
TEST_F(live, large_index)
{
	unsigned int i;

	sft_live_init(&self->live, self->section, SECTION_SIZE, NR_SLOTS);
	ASSERT_EQ(0, REGISTER(0));
	add_slots(&self->live, self->text, NR_SLOTS);
	for (i = 0; i < NR_SLOTS; i += 273)
		EXPECT_SEEN(i);
	EXPECT_SEEN(NR_SLOTS - 1);
}

/* A count is a number of user space's choice at any time. */
static const __u32 wrong_counts[] = {
	CAPACITY + 1, CAPACITY + 2, 1 << 24, 1U << 31, UINT32_MAX,
};

/* Guards against: the search runs into the rows, or out of the section. */
TEST_F(live, count_is_clamped_to_the_capacity)
{
	struct sframe_fde *first_rows;
	struct sft_fde behind;
	unsigned int i;

	ASSERT_EQ(0, REGISTER(0));
	/* The first bytes of the rows look like the next function. */
	self->live.rows += sizeof(*first_rows);
	add_slots(&self->live, self->text, CAPACITY);
	behind = slot_fde(self->text, CAPACITY);
	sft_live_write(&self->live, &behind);
	first_rows = sft_index(self->section, CAPACITY);
	EXPECT_EQ((__u8 *)first_rows, (__u8 *)sft_attr(self->section, 0) - 16);

	for (i = 0; i < ARRAY_SIZE(wrong_counts); i++) {
		TH_LOG("count %x", wrong_counts[i]);
		sft_live_publish(&self->live, wrong_counts[i]);
		EXPECT_SEEN(0);
		EXPECT_SEEN(CAPACITY - 1);
		EXPECT_NOT_SEEN(CAPACITY);
	}
}

/* Guards against: the count says how much is there, when it is not. */
TEST_F(live, count_of_functions_that_were_not_written)
{
	unsigned int i;

	ASSERT_EQ(0, REGISTER(0));
	add_slots(&self->live, self->text, 1);
	for (i = 0; i < ARRAY_SIZE(wrong_counts); i++) {
		sft_live_publish(&self->live, wrong_counts[i]);
		/* Zeros are functions at their own address: no order. */
		EXPECT_TRUE(slot_walk_is(self->text, 1, variant->defer,
					 false));
	}
	sft_live_publish(&self->live, 1);
	EXPECT_SEEN(0);
}

/* Guards against: what was there is remembered. */
TEST_F(live, count_shrinks)
{
	add_slots(&self->live, self->text, CAPACITY);
	ASSERT_EQ(0, REGISTER(0));
	EXPECT_SEEN(5);
	sft_live_publish(&self->live, 5);
	EXPECT_SEEN(4);
	EXPECT_NOT_SEEN(5);
	sft_live_publish(&self->live, 0);
	EXPECT_NOT_SEEN(0);
	sft_live_publish(&self->live, CAPACITY);
	EXPECT_SEEN(5);
}

/* Guards against: a function that is gone, or its neighbours with it. */
TEST_F(live, tombstones)
{
	static const unsigned int gone[] = { 3, 0, CAPACITY - 1 };
	unsigned int i, j;

	add_slots(&self->live, self->text, CAPACITY);
	ASSERT_EQ(0, REGISTER(0));
	for (i = 0; i < ARRAY_SIZE(gone); i++)
		sft_index(self->section, gone[i])->func_size = 0;
	for (i = 0; i < CAPACITY; i++) {
		for (j = 0; j < ARRAY_SIZE(gone) && gone[j] != i; j++)
			;
		if (j < ARRAY_SIZE(gone))
			EXPECT_NOT_SEEN(i);
		else
			EXPECT_SEEN(i);
	}
}

/* Guards against: a header that is read again. */
TEST_F(live, rest_of_the_header_changes)
{
	static const __u8 fill[] = { 0x00, 0xff, 0x5a };
	const size_t count = offsetof(struct sframe_header, num_fdes);
	const size_t behind = count + sizeof(__u32);
	unsigned int i;

	add_slots(&self->live, self->text, 2);
	ASSERT_EQ(0, REGISTER(0));
	for (i = 0; i < sizeof(fill); i++) {
		memset(self->section, fill[i], count);
		memset(self->section + behind, fill[i],
		       sizeof(struct sframe_header) - behind);
		EXPECT_SEEN(1);
		EXPECT_NOT_SEEN(2);
	}
}

/* Guards against: functions of other windows' text. */
TEST_F(live, function_leaves_the_text)
{
	const size_t len = 2 * SFT_SLOT;

	ASSERT_EQ(0, sft_register_text(KEY, self->section, LEN, self->text,
				       len, SFRAME_WINDOW_LIVE));
	add_slots(&self->live, self->text, 2);
	sft_index(self->section, 1)->func_size = SFT_SLOT + 1;
	EXPECT_SEEN(0);
	EXPECT_REFUSED(1, "fde_range");
}

/* Guards against: an index that is not sorted is searched as if it were. */
TEST_F(live, functions_are_appended_in_the_wrong_order)
{
	unsigned int i;

	ASSERT_EQ(0, REGISTER(0));
	for (i = 0; i < 3; i++)
		add_slot(&self->live, self->text, 3 - i);
	/* The middle one is asked first, then the first one. */
	EXPECT_REFUSED(1, "fde_order");
}

/* Guards against: rows behind the section's end. */
TEST_F(live, rows_end_with_the_section)
{
	const struct sft_fde fde = slot_fde(self->text, 0);

	/* One byte is missing of the row that is looked for. */
	self->live.size = self->live.rows + 5 + 3 +
			  SFT_FRAME_ROW_LEN - 1 - self->section;
	ASSERT_EQ(0, REGISTER(0));
	sft_live_add(&self->live, &fde);
	EXPECT_REFUSED(0, "fre_offset");
	ASSERT_EQ(0, sft_unregister(KEY));

	/* That row is complete; the head of the next says that it is the one. */
	self->live.size += 3;
	ASSERT_EQ(0, REGISTER(0));
	EXPECT_SEEN(0);
}

/* ---- Replacing --------------------------------------------------------- */

/* Zeros and garbage in place of a section nobody should read any more. */
static void poison(__u8 *section)
{
	memset(section, 0xa5, LEN);
}

/* Guards against: the count of the old section, or of the header, is used. */
TEST_F(live, live_is_replaced_by_fixed)
{
	__u8 *next = self->section + LEN;
	struct sft_fde fde;
	size_t len;

	add_slots(&self->live, self->text, 3);
	ASSERT_EQ(0, REGISTER(0));
	fde = slot_fde(self->text, 1);
	len = sft_build(next, &fde, 1);
	ASSERT_EQ(0, sft_register_text(KEY, next, len, self->text, TEXT_SIZE,
				       SFRAME_WINDOW_REPLACE));
	poison(self->section);
	EXPECT_SEEN(1);
	EXPECT_NOT_SEEN(0);
	/* Nothing grows here. */
	ASSERT_EQ(0, sft_renew(KEY, next, len, self->text, TEXT_SIZE));
	sft_header(next)->num_fdes = 0;
	EXPECT_SEEN(1);
}

/* Guards against: a count that is only read since registration. */
TEST_F(live, fixed_is_replaced_by_live)
{
	__u8 *next = self->section + LEN;
	struct sft_fde fde = slot_fde(self->text, 1);

	ASSERT_EQ(0, sft_register_text(KEY, next, sft_build(next, &fde, 1),
				       self->text, TEXT_SIZE, 0));
	ASSERT_EQ(0, REGISTER(SFRAME_WINDOW_REPLACE));
	poison(next);
	EXPECT_NOT_SEEN(1);
	add_slots(&self->live, self->text, 2);
	EXPECT_SEEN(1);
}

/* Guards against: a producer that cannot get more space. */
TEST_F(live, live_is_replaced_by_live)
{
	struct sft_live next;
	unsigned int i;

	add_slots(&self->live, self->text, CAPACITY);
	ASSERT_EQ(0, REGISTER(0));
	sft_live_init(&next, self->section + LEN, LEN, 2 * CAPACITY);
	add_slots(&next, self->text, CAPACITY);
	ASSERT_EQ(0, register_live(&next, self->text, SFRAME_WINDOW_REPLACE));
	poison(self->section);
	for (i = CAPACITY; i < 2 * CAPACITY; i++) {
		EXPECT_NOT_SEEN(i);
		add_slot(&next, self->text, i);
		EXPECT_SEEN(i);
	}
	EXPECT_SEEN(0);
}

/* Guards against: half a replacement. */
TEST_F(live, failed_replace_keeps_the_window)
{
	struct sft_live next;

	ASSERT_EQ(0, REGISTER(0));
	sft_live_init(&next, self->section + LEN + 4, LEN, CAPACITY);
	EXPECT_EQ(-EINVAL,
		  register_live(&next, self->text, SFRAME_WINDOW_REPLACE));
	add_slots(&self->live, self->text, 1);
	EXPECT_SEEN(0);
}

/* ---- fork -------------------------------------------------------------- */

/* Run in a child that has appended slot @nr; 0 if it sees what it should. */
static int child_appends(struct sft_live *live, const __u8 *text,
			 unsigned int nr, bool defer)
{
	int status;
	pid_t child = fork();

	if (!child) {
		add_slot(live, text, nr);
		_exit(!slot_walk_is(text, nr, defer, true));
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

/* Guards against: the child's window reads the parent's section. */
TEST_F(live, child_appends_to_its_own_copy)
{
	add_slots(&self->live, self->text, 1);
	ASSERT_EQ(0, REGISTER(0));
	EXPECT_EQ(0, child_appends(&self->live, self->text, 1,
				   variant->defer));
	EXPECT_NOT_SEEN(1);
	EXPECT_SEEN(0);
}

/* Guards against: counts that are kept per process. */
TEST_F(live, child_appends_to_a_shared_section)
{
	__u8 *shared = mmap(NULL, LEN, SFT_RW, MAP_SHARED | MAP_ANONYMOUS, -1,
			    0);

	ASSERT_NE(MAP_FAILED, shared);
	sft_live_init(&self->live, shared, LEN, CAPACITY);
	ASSERT_EQ(0, REGISTER(0));
	EXPECT_NOT_SEEN(0);
	EXPECT_EQ(0, child_appends(&self->live, self->text, 0,
				   variant->defer));
	EXPECT_SEEN(0);
}

/* ---- Producer and sampler at once -------------------------------------- */

struct producer {
	struct sft_live	live;
	const __u8	*text;
	__u32		published;
	/* Samples taken by the other thread. */
	__u32		samples;
};

/* Functions that are published between two samples, at the most. */
#define BURST	16

static void wait_for_sample(struct producer *producer)
{
	__u32 before = __atomic_load_n(&producer->samples, __ATOMIC_RELAXED);

	while (__atomic_load_n(&producer->samples, __ATOMIC_RELAXED) == before)
		sched_yield();
}

static void *append_all(void *arg)
{
	struct producer *producer = arg;
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++) {
		add_slot(&producer->live, producer->text, i);
		__atomic_store_n(&producer->published, i + 1,
				 __ATOMIC_RELEASE);
		if (i % BURST == BURST - 1 && i + 1 < NR_SLOTS)
			wait_for_sample(producer);
	}
	return NULL;
}

/* Run the newest function; is its stack the true one? */
static bool newest_is_seen(struct producer *producer, struct sft_event *event)
{
	__u32 nr = __atomic_load_n(&producer->published, __ATOMIC_ACQUIRE);
	const __u8 *slot = producer->text + (nr - 1) * SFT_SLOT;
	const struct sft_call call = { slot, sft_leaf };
	const __u64 ip[] = {
		(uintptr_t)sft_leaf_body,
		(uintptr_t)slot + SFT_FRAME_SLOT_RET, SFT_CALLERS,
	};
	struct sft_chain chain;

	return !sft_event_run(event, sft_run_call, &call, &chain) &&
	       sft_chain_check(&chain, ip, 3);
}

/* Guards against: a function runs that was published, and is not found. */
TEST_F(live, published_functions_are_seen_while_others_come)
{
	struct producer producer = { .text = self->text };
	unsigned int wrong = 0;
	struct sft_event event;
	pthread_t thread;

	sft_live_init(&producer.live, self->section, SECTION_SIZE, NR_SLOTS);
	add_slot(&producer.live, self->text, 0);
	producer.published = 1;
	producer.live.used = 0;
	ASSERT_EQ(0, register_live(&producer.live, self->text, 0));
	ASSERT_EQ(0, sft_break_open(&event, sft_leaf_body, variant->defer));
	ioctl(event.fd, PERF_EVENT_IOC_ENABLE, 0);
	ASSERT_EQ(0, pthread_create(&thread, NULL, append_all, &producer));
	while (__atomic_load_n(&producer.published, __ATOMIC_RELAXED) <
	       NR_SLOTS) {
		wrong += !newest_is_seen(&producer, &event);
		__atomic_fetch_add(&producer.samples, 1, __ATOMIC_RELAXED);
	}
	EXPECT_TRUE(newest_is_seen(&producer, &event));
	ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	sft_event_close(&event);
	TH_LOG("%u samples", producer.samples);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, sft_refused("no_fde"));
}

TEST_HARNESS_MAIN
