// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: append [SECONDS [SEED]]
 *
 * Until there are samples enough, and for SECONDS at least.
 *
 * A thread that appends functions to a LIVE window, without a system call, and
 * runs each at once; others that run what was appended; samples of all of
 * them, by clock and by breakpoint. A function is entered after its entry was
 * published, so there is no excuse: each sample in one has the true stack.
 * Meanwhile entries are taken back, and the window is replaced.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "check.h"
#include "sample.h"
#include "spin.h"

#define CAPACITY	2048
/* Places are up to two thirds more than functions: gaps between them. */
#define TEXT_SIZE	(CAPACITY * (SPIN_SIZE + 32UL))
#define FRE_SIZE	(CAPACITY * 64UL)
#define SECTION_SIZE	(sizeof(struct sframe_header) +			\
			 CAPACITY * sizeof(struct sframe_fde) + FRE_SIZE)
#define STACK_SIZE	(16 * SFT_PAGE)
#define SPIN_COUNT	300
#define NR_RUNNERS	2
/* One function of so many has a breakpoint. */
#define BREAK_EVERY	16
#define TAKE_BACK_EVERY	4

enum {
	CHECK_FP,
	CHECK_DEFER,
	CHECK_BREAK_FP,
	CHECK_BREAK_DEFER,
	CHECK_CALLS,
	CHECK_REFUSED,
	NR_CHECKS
};

static struct check checks[NR_CHECKS] = {
	CHECK("clock samples of published functions, fp"),
	CHECK("clock samples of published functions, deferred"),
	CHECK("samples at an instruction of the newest function, fp"),
	CHECK("samples at an instruction of the newest function, deferred"),
	CHECK("calls about the window"),
	CHECK("no step of any walk was refused"),
};

/* On each machine, however busy. */
static const unsigned long enough[NR_CHECKS] = {
	[CHECK_FP] = 10000,
	[CHECK_DEFER] = 10000,
	[CHECK_BREAK_FP] = 200,
	[CHECK_BREAK_DEFER] = 200,
};

/**
 * struct function - one that is published
 * @text:	its code
 * @spin:	what it was made from
 */
struct function {
	__u8		*text;
	struct spin	spin;
};

/**
 * struct table - a section, as its producer sees it
 * @header:	its first byte
 * @nr:		entries
 * @fre_pos:	used bytes of the FRE area
 */
struct table {
	struct sframe_header	*header;
	__u32			nr;
	__u32			fre_pos;
};

static __u8 *text, *text_alias;
static int text_fd;
static size_t text_pos;
static struct table tables[2];

/* What runners may run: these stay published until the text goes. */
static struct function runnable[CAPACITY];
static unsigned int nr_runnable;
static pthread_rwlock_t text_there;

/* How often each runner has come round; 0: it is gone. */
static unsigned long passes[NR_RUNNERS];

static bool over;
static unsigned long published, taken_back, replaced, texts;

static bool is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_RELAXED);
}

static bool call_that(int ret, const char *call)
{
	return check_that(&checks[CHECK_CALLS], !ret, "%s: %d", call, ret);
}

/* ---- the section --------------------------------------------------------- */

static void table_clear(struct table *table)
{
	*table->header = (struct sframe_header){
		.magic = SFRAME_MAGIC,
		.version = SFRAME_VERSION_3,
		.flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
		.abi_arch = SFRAME_ABI_AMD64_LE,
		.cfa_fixed_ra_offset = -8,
		.fres_off = CAPACITY * sizeof(struct sframe_fde),
	};
	table->nr = 0;
	table->fre_pos = 0;
}

/* Attributes and rows; the address in @sec is not looked at. */
static void put_rows(struct table *table, const struct function *fn,
		     bool poison)
{
	__u8 sec[256], *area = (__u8 *)(table->header + 1);
	__u32 length;

	if (poison)
		spin_poison(sec, fn->text, &fn->spin);
	else
		spin_section(sec, fn->text, &fn->spin);
	length = sft_header(sec)->fre_len;
	memcpy(area + table->header->fres_off + table->fre_pos,
	       sft_attr(sec, 0), length);
	table->fre_pos += length;
}

/* What a reader may see is complete whenever it looks. */
static void append(struct table *table, const struct function *fn, bool poison)
{
	struct sframe_fde *fde = sft_index(table->header, table->nr);

	fde->func_start = (uintptr_t)fn->text - (uintptr_t)fde;
	fde->func_size = fn->spin.size;
	fde->fre_off = table->fre_pos;
	put_rows(table, fn, poison);
	table->nr++;
	/* The field is aligned, as the section is. */
	__atomic_store_n((__u32 *)((char *)table->header +
				   offsetof(struct sframe_header, num_fdes)),
			 table->nr, __ATOMIC_RELEASE);
}

static void take_back(struct table *table, unsigned int nr)
{
	struct sframe_fde *fde = sft_index(table->header, nr);

	__atomic_store_n((__u32 *)((char *)fde +
				   offsetof(struct sframe_fde, func_size)),
			 0, __ATOMIC_RELAXED);
	taken_back++;
}

static void fill(struct table *table, bool poison)
{
	unsigned int i;

	table_clear(table);
	for (i = 0; i < nr_runnable; i++)
		append(table, &runnable[i], poison);
}

static int table_register(const struct table *table, __u32 flags)
{
	return sft_register_text((uintptr_t)text, table->header, SECTION_SIZE,
				 text, TEXT_SIZE, flags);
}

/*
 * A step that meets two new sections is given up: let each runner come round
 * before there may be another one.
 */
static void wait_for_runners(void)
{
	unsigned long pass;
	unsigned int i;

	for (i = 0; i < NR_RUNNERS; i++) {
		pass = __atomic_load_n(&passes[i], __ATOMIC_ACQUIRE);
		while (pass &&
		       __atomic_load_n(&passes[i], __ATOMIC_ACQUIRE) == pass)
			sched_yield();
	}
}

/* Without what was taken back; the old bytes are not there any more. */
static void replace(unsigned int *now, __u32 flags)
{
	struct table *old = &tables[*now], *new = &tables[!*now];

	fill(new, false);
	new->header->fre_len = new->fre_pos;
	if (!call_that(table_register(new, flags | SFRAME_WINDOW_REPLACE),
		       "replace"))
		return;
	fill(old, true);
	*now = !*now;
	replaced++;
	wait_for_runners();
}

/* ---- the text ------------------------------------------------------------ */

/* Map anew each time, so that no CPU has old code. */
static bool text_map(void)
{
	text = mmap(NULL, TEXT_SIZE, SFT_RX, MAP_SHARED, text_fd, 0);
	text_pos = 0;
	texts++;
	return text != MAP_FAILED;
}

static void text_unmap(void)
{
	pthread_rwlock_wrlock(&text_there);
	nr_runnable = 0;
	call_that(sft_unregister((uintptr_t)text), "unregister");
	munmap(text, TEXT_SIZE);
	pthread_rwlock_unlock(&text_there);
}

static bool text_init(void)
{
	unsigned int i;

	text_fd = memfd_create("text", MFD_CLOEXEC);
	if (text_fd < 0 || ftruncate(text_fd, TEXT_SIZE))
		return false;
	text_alias = mmap(NULL, TEXT_SIZE, SFT_RW, MAP_SHARED, text_fd, 0);
	for (i = 0; i < 2; i++)
		tables[i].header = sample_memory(SECTION_SIZE);
	return text_alias != MAP_FAILED && tables[0].header && tables[1].header;
}

static void make_function(struct function *fn, uint64_t *rng)
{
	spin_make(&fn->spin, 1 + rng_below(rng, SPIN_WORDS), SPIN_COUNT, false);
	text_pos += 16 * rng_below(rng, 3);
	memcpy(text_alias + text_pos, fn->spin.code, SPIN_SIZE);
	fn->text = text + text_pos;
	text_pos += SPIN_SIZE;
}

/* ---- running and sampling ------------------------------------------------ */

static void run(__u8 *stack, const struct function *fn)
{
	const struct sft_call call = { .entry = fn->text };

	sft_enter(stack + STACK_SIZE, sft_outer, &call);
}

static void *new_stack(void)
{
	void *stack = sample_memory(STACK_SIZE);

	if (!stack) {
		result(false, "stack", "no memory");
		give_up();
	}
	return stack;
}

/* The stack of each function is as long; the text may be gone by now. */
static void check_sample(const struct sft_chain *chain, bool defer, void *arg)
{
	const __u64 right[] = { chain->ip[0], SFT_CALLERS };
	__u8 *start = __atomic_load_n(&text, __ATOMIC_RELAXED);

	if (!chain->nr || chain->ip[0] - (uintptr_t)start >= TEXT_SIZE)
		return;
	check_that(&checks[defer ? CHECK_DEFER : CHECK_FP],
		   sft_chain_is(chain, right, 2),
		   "%u frames from %llx", chain->nr, chain->ip[0]);
}

static void sample_me(void)
{
	call_that(sample_self(check_sample, NULL), "sampling");
}

/* Run it with a breakpoint where a row starts: these are instructions. */
static void run_to_break(__u8 *stack, const struct function *fn, uint64_t *rng)
{
	const struct sft_row *row =
		&fn->spin.rows[rng_below(rng, fn->spin.nr_rows)];
	const __u64 right[] = { (uintptr_t)fn->text + row->start, SFT_CALLERS };
	bool defer = rng_below(rng, 2);
	static struct sft_chain chain;
	struct sft_event event;
	int ret, tries = 3;

	if (!call_that(sft_break_open(&event, fn->text + row->start, defer),
		       "breakpoint"))
		return;
	/* QEMU's TCG misses an instruction breakpoint in about 10,000. */
	do {
		ioctl(event.fd, PERF_EVENT_IOC_ENABLE, 0);
		run(stack, fn);
		ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0);
		ret = sft_event_chain(&event, &chain);
	} while (ret == -ENODATA && --tries);
	check_that(&checks[defer ? CHECK_BREAK_DEFER : CHECK_BREAK_FP],
		   !ret && sft_chain_is(&chain, right, 2),
		   "%d, %u frames from %llx", ret, chain.nr, chain.ip[0]);
	sft_event_close(&event);
}

static void *runner(void *arg)
{
	unsigned long *pass = &passes[(uintptr_t)arg];
	uint64_t rng = rng_start(10 + (uintptr_t)arg);
	__u8 *stack = new_stack();
	unsigned int nr;

	sample_me();
	while (!is_over()) {
		pthread_rwlock_rdlock(&text_there);
		nr = __atomic_load_n(&nr_runnable, __ATOMIC_ACQUIRE);
		if (nr)
			run(stack, &runnable[rng_below(&rng, nr)]);
		pthread_rwlock_unlock(&text_there);
		if (!nr)
			sched_yield();
		__atomic_store_n(pass, *pass + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(pass, 0, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- the producer -------------------------------------------------------- */

static void produce_one(struct table *table, __u8 *stack, uint64_t *rng)
{
	struct function *fn = &runnable[nr_runnable];

	make_function(fn, rng);
	append(table, fn, false);
	published++;
	if (rng_below(rng, BREAK_EVERY))
		run(stack, fn);
	else
		run_to_break(stack, fn, rng);
	if (rng_below(rng, TAKE_BACK_EVERY))
		__atomic_store_n(&nr_runnable, nr_runnable + 1,
				 __ATOMIC_RELEASE);
	else
		take_back(table, table->nr - 1);
}

static bool has_space(const struct table *table)
{
	return table->nr < CAPACITY &&
	       text_pos + SPIN_SIZE + 32 <= TEXT_SIZE;
}

/* Of what is there now. */
static void wait_for_samples(void)
{
	const unsigned long wanted[] = { 20, 20 };
	unsigned long before[2];

	checks_count(checks, before, 2);
	while (!checks_enough(checks, wanted, before, 2) && !is_over())
		usleep(1000);
}

/* Live until full, replaced by itself on the way, and then by a fixed one. */
static void produce(__u8 *stack, uint64_t *rng)
{
	unsigned int now = 0;

	table_clear(&tables[now]);
	if (!call_that(table_register(&tables[now], SFRAME_WINDOW_LIVE),
		       "register"))
		return;
	while (has_space(&tables[now]) && !is_over()) {
		produce_one(&tables[now], stack, rng);
		if (!rng_below(rng, 500))
			replace(&now, SFRAME_WINDOW_LIVE);
	}
	replace(&now, 0);
	wait_for_samples();
}

static void *producer(void *arg)
{
	uint64_t rng = rng_start(1);
	__u8 *stack = new_stack();

	sample_me();
	while (!is_over()) {
		if (!text_map())
			break;
		produce(stack, &rng);
		text_unmap();
	}
	return NULL;
}

/* What the library leaves in the frame pointer may lead to no frame. */
static bool is_by_fp(const char *reason)
{
	return !strcmp(reason, "frame_pointer");
}

static void check_refused(void)
{
	struct sft_stats stats;
	unsigned int i;

	call_that(sft_stats(&stats), "/proc/self/sframe");
	for (i = 0; i < stats.nr; i++)
		check_that(&checks[CHECK_REFUSED], !stats.reasons[i].refused ||
			   is_by_fp(stats.reasons[i].name), "%llu for %s",
			   stats.reasons[i].refused, stats.reasons[i].name);
}

static void race(double seconds)
{
	const unsigned long none[NR_CHECKS] = { 0 };
	double end = seconds_now() + seconds;
	pthread_t threads[NR_RUNNERS + 1];
	uintptr_t i;

	pthread_create(&threads[NR_RUNNERS], NULL, producer, NULL);
	for (i = 0; i < NR_RUNNERS; i++) {
		passes[i] = 1;
		pthread_create(&threads[i], NULL, runner, (void *)i);
	}
	while (seconds_now() < end ||
	       !checks_enough(checks, enough, none, NR_CHECKS) ||
	       !__atomic_load_n(&replaced, __ATOMIC_RELAXED) ||
	       !__atomic_load_n(&taken_back, __ATOMIC_RELAXED))
		usleep(10000);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (i = 0; i <= NR_RUNNERS; i++)
		pthread_join(threads[i], NULL);
	call_that(sample_stop(), "samples");
	check_refused();
}

static const char *missing(void)
{
	if (sft_missing())
		return sft_missing();
	if (!(sft_query(PR_SFRAME_QUERY_FLAGS) & SFRAME_WINDOW_LIVE))
		return "kernel without LIVE windows";
	return NULL;
}

int main(int argc, char **argv)
{
	if (missing())
		return skip_all("live", missing());
	rng_seed(argc > 2 ? argv[2] : NULL);
	sample_prepare();
	gate_init(&text_there);
	if (!text_init() || sample_start()) {
		result(false, "live starts", "no memory");
		return finish();
	}
	race(argc > 1 ? atof(argv[1]) : 0);
	printf("# %lu published, %lu taken back, %lu replaced, %lu texts\n",
	       published, taken_back, replaced, texts);
	checks_print(checks, NR_CHECKS);
	return finish();
}
