// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Areas of libsfjit in a guest: a published function is walked exactly from then
 * on, a withdrawn one ends the walk, and no sample suffers while its neighbours
 * come and go or the area is given new tables.
 */
#include <sfjit/area.h>

#include "check_slot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>

#define NR_SLOTS	(SFT_PAGE / SFT_SLOT)

FIXTURE(area)
{
	__u8			*text;		/* a page of slots */
	struct sfjit_area	*area;
};

FIXTURE_VARIANT(area)
{
	bool			defer;
};

FIXTURE_VARIANT_ADD(area, fp) { false };
FIXTURE_VARIANT_ADD(area, defer) { true };

static __u8 *map_slots(void)
{
	__u8 page[SFT_PAGE];
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++)
		memcpy(page + i * SFT_SLOT, sft_slot_rbp.code, SFT_SLOT);
	return sft_map_code(page, SFT_PAGE, SFT_PAGE);
}

FIXTURE_SETUP(area)
{
	struct sfjit_area_info stat;

	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	self->text = map_slots();
	ASSERT_NE(NULL, self->text);
	ASSERT_EQ(0, sfjit_area_create(self->text, SFT_PAGE, 0, 0,
				       &self->area));
	ASSERT_EQ(0, sfjit_area_stat(self->area, &stat));
	ASSERT_EQ(0, stat.error);
}

FIXTURE_TEARDOWN(area)
{
	sfjit_area_retire(self->area);
}

static int publish(struct sfjit_area *area, const __u8 *text, unsigned int nr)
{
	const struct sfjit_function function = {
		.addr = (uintptr_t)text + nr * SFT_SLOT, .size = SFT_SLOT,
		.nr_rows = ARRAY_SIZE(push_rows), .rows = push_rows,
	};

	return sfjit_area_publish(area, &function);
}

/* The walk must end in the slot: its address is the last one. */
static void check_end(struct __test_metadata *_metadata, const __u8 *entry,
		      bool defer)
{
	const struct sft_call call = { entry, sft_leaf };
	struct sft_chain chain;

	ASSERT_EQ(0, sft_chain_at(entry, defer, &call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)entry);
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, defer, &call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
		     (uintptr_t)entry + sft_slot_rbp.ret);
}

static void check_good(struct __test_metadata *_metadata, const __u8 *entry,
		       bool defer)
{
	check_slot(_metadata, entry, &sft_slot_rbp, defer);
}

TEST_F(area, published_functions_are_walked)
{
	const bool defer = variant->defer;
	unsigned int i;

	ASSERT_EQ(1, sft_windows());
	for (i = 0; i < 4; i++) {
		check_end(_metadata, self->text + i * SFT_SLOT, defer);
		ASSERT_EQ(0, publish(self->area, self->text, i));
		check_good(_metadata, self->text + i * SFT_SLOT, defer);
	}
	for (i = 0; i < 4; i++)
		check_good(_metadata, self->text + i * SFT_SLOT, defer);
	check_end(_metadata, self->text + 4 * SFT_SLOT, defer);
	EXPECT_EQ(1, sft_windows());
}

/* The line of the only window in /proc/self/sframe. */
TEST_F(area, proc_has_its_table)
{
	unsigned long start = 0, end = 0, key = 0, table = 0, length = 0;
	struct sfjit_area_info stat;
	char flags[16] = "", line[256];
	FILE *file = fopen("/proc/self/sframe", "r");

	ASSERT_NE(NULL, file);
	ASSERT_NE(NULL, fgets(line, sizeof(line), file));
	fclose(file);
	ASSERT_EQ(6, sscanf(line, "%lx-%lx %lx %lx %lx %15s", &start, &end,
			    &key, &table, &length, flags));
	ASSERT_EQ(0, sfjit_area_stat(self->area, &stat));
	EXPECT_EQ((uintptr_t)self->text, start);
	EXPECT_EQ((uintptr_t)self->text + SFT_PAGE, end);
	EXPECT_EQ((uintptr_t)self->text, key);
	EXPECT_EQ((uintptr_t)stat.table, table);
	EXPECT_EQ(stat.length, length);
	EXPECT_STREQ("packed", flags);
}

TEST_F(area, a_function_taken_back_ends_the_walk)
{
	const bool defer = variant->defer;
	__u8 *text = self->text;

	ASSERT_EQ(0, publish(self->area, text, 0));
	ASSERT_EQ(0, publish(self->area, text, 1));
	ASSERT_EQ(0, publish(self->area, text, 2));
	ASSERT_EQ(0, sfjit_area_withdraw(self->area, text + SFT_SLOT));
	check_good(_metadata, text, defer);
	check_end(_metadata, text + SFT_SLOT, defer);
	check_good(_metadata, text + 2 * SFT_SLOT, defer);
}

TEST_F(area, text_taken_back_is_good_again_at_once)
{
	const bool defer = variant->defer;
	__u8 *text = self->text;
	unsigned int i;

	for (i = 4; i--; )
		ASSERT_EQ(0, publish(self->area, text, i));
	ASSERT_EQ(-EEXIST, publish(self->area, text, 3));
	ASSERT_EQ(0, sfjit_area_withdraw(self->area, text + 3 * SFT_SLOT));
	check_end(_metadata, text + 3 * SFT_SLOT, defer);
	ASSERT_EQ(0, publish(self->area, text, 3));
	for (i = 0; i < 4; i++)
		check_good(_metadata, text + i * SFT_SLOT, defer);
	ASSERT_EQ(0, sfjit_area_grow(self->area, NULL, 0, 0, 0));
	ASSERT_EQ(1, sft_windows());
	for (i = 0; i < 4; i++)
		check_good(_metadata, text + i * SFT_SLOT, defer);
	ASSERT_EQ(0, sfjit_area_reset(self->area, text, 2 * SFT_SLOT));
	check_end(_metadata, text, defer);
	check_good(_metadata, text + 2 * SFT_SLOT, defer);
}

/* ---- Under load ------------------------------------------------------ */

struct load {
	struct sfjit_area	*area;
	__u8			*text;
	atomic_bool		stop;
	atomic_uint		rounds;
	atomic_int		error;
};

/*
 * Slots 0, 2, 4 and 5 come and go beside the two that are sampled, and each
 * round ends with a new table.
 */
static int load_round(struct load *load)
{
	static const unsigned int slots[] = { 2, 0, 5, 4 };
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(slots) && !ret; i++)
		ret = publish(load->area, load->text, slots[i]);
	for (i = 0; i < ARRAY_SIZE(slots) && !ret; i++)
		ret = sfjit_area_withdraw(load->area, load->text +
					  slots[i] * SFT_SLOT);
	return ret ?: sfjit_area_grow(load->area, NULL, 0, 0, 0);
}

/* A step that meets two new tables gives up; here a sample meets one. */
static void wait_for_sample(const struct load *load, unsigned int since)
{
	while (check_samples == since && !load->stop)
		sched_yield();
}

static void *make_load(void *argument)
{
	struct load *load = argument;
	unsigned int samples;

	while (!load->stop && !load->error) {
		load->error = load_round(load);
		load->rounds++;
		samples = check_samples;
		wait_for_sample(load, samples);
		/* at a random time */
		usleep(rand() % 1000);
	}
	return NULL;
}

TEST_F(area, every_sample_is_whole_while_others_change)
{
	struct load load = { self->area, self->text };
	unsigned int samples = 0;
	pthread_t thread;

	ASSERT_EQ(0, publish(self->area, self->text, 1));
	ASSERT_EQ(0, publish(self->area, self->text, 3));
	ASSERT_EQ(0, pthread_create(&thread, NULL, make_load, &load));
	while ((samples < 100 || load.rounds < 100) && !load.error) {
		check_good(_metadata, self->text + SFT_SLOT, variant->defer);
		check_good(_metadata, self->text + 3 * SFT_SLOT,
			   variant->defer);
		samples += 2;
	}
	load.stop = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, load.error);
	TH_LOG("%u tables, %u slots sampled at each instruction",
	       load.rounds, samples);
	check_end(_metadata, self->text + 5 * SFT_SLOT, variant->defer);
	EXPECT_EQ(1, sft_windows());
}

/* ---- Processes ------------------------------------------------------- */

static void go_on(struct __test_metadata *_metadata, struct sfjit_area *area,
		  const __u8 *text, bool defer)
{
	check_good(_metadata, text, defer);
	ASSERT_EQ(0, publish(area, text, 1));
	check_good(_metadata, text + SFT_SLOT, defer);
	ASSERT_EQ(0, sfjit_area_retire(area));
	ASSERT_EQ(0, sft_windows());
}

TEST_F(area, a_child_goes_on_by_itself)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, publish(self->area, self->text, 0));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		go_on(_metadata, self->area, self->text, variant->defer);
		_exit(_metadata->exit_code);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	check_good(_metadata, self->text, variant->defer);
	check_end(_metadata, self->text + SFT_SLOT, variant->defer);
}

TEST_F(area, after_retire_the_caller_is_lost)
{
	const struct sft_call call = { self->text, sft_leaf };
	struct sft_chain chain;

	ASSERT_EQ(0, publish(self->area, self->text, 0));
	ASSERT_EQ(0, sfjit_area_retire(self->area));
	self->area = NULL;
	EXPECT_EQ(0, sft_windows());
	ASSERT_EQ(0, sft_chain_at(self->text, variant->defer, &call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)self->text, SFT_LOST);
}

/* The code is not mapped when the window is created; growing registers it. */
TEST_F(area, a_refused_window_is_registered_by_growing)
{
	struct sfjit_area_info stat;
	struct sfjit_area *area;
	/* Nothing is mapped there that asks for no address. */
	__u8 *text = (__u8 *)(1UL << 40);
	__u8 *slots = map_slots();

	ASSERT_EQ(0, sfjit_area_create(text, SFT_PAGE, 0, 0, &area));
	ASSERT_EQ(0, sfjit_area_stat(area, &stat));
	EXPECT_EQ(-EINVAL, stat.error);
	ASSERT_EQ(0, publish(area, text, 0));
	ASSERT_EQ(text, mremap(slots, SFT_PAGE, SFT_PAGE, MREMAP_MAYMOVE |
			       MREMAP_FIXED, text));
	ASSERT_EQ(0, sfjit_area_grow(area, NULL, 0, 0, 0));
	ASSERT_EQ(0, sfjit_area_stat(area, &stat));
	EXPECT_EQ(0, stat.error);
	EXPECT_EQ(2, sft_windows());
	check_good(_metadata, text, variant->defer);
	ASSERT_EQ(0, sfjit_area_retire(area));
}

TEST_HARNESS_MAIN
