// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: grow [SECONDS [SEED]]
 *
 * Until there are samples enough, and for SECONDS at least.
 *
 * One, two and eight threads at once that append functions to one packed table,
 * without a system call: each writes a block for the bucket of its function and
 * exchanges the bucket's index entry, which publishes it, and runs the function at
 * once; others run what was appended; samples of all of them, by clock and by
 * breakpoint. A function is entered after its entry was published, so there is no
 * excuse: each sample in one has the true stack. Meanwhile functions are taken
 * back, and the window is replaced.
 */

/* Samples elsewhere than in a function made here follow frame pointers. */
#pragma GCC optimize("no-omit-frame-pointer")

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "check.h"
#include "sample.h"
#include "sframe_packed_format.h"
#include "spin.h"

#define BUCKET		256
#define TEXT_SIZE	(48 * SFT_PAGE)
/* If there were no gaps between functions. */
#define CAPACITY	(TEXT_SIZE / SPIN_SIZE)
#define NR_BUCKETS	(TEXT_SIZE / BUCKET)
/* Changes of a bucket: each of its functions has its rows, and a gap after them. */
#define MOST_CHANGES	((BUCKET / SPIN_SIZE + 1) * (SPIN_ROWS + 1))
#define BLOCK_SIZE	(2 * MOST_CHANGES + 2)
/* A function may be in two buckets, and is taken back in both. */
#define BLOCKS_SIZE	(CAPACITY * 4 * BLOCK_SIZE)
#define STACK_SIZE	(16 * SFT_PAGE)
#define SPIN_COUNT	300
#define MOST_WRITERS	8
#define NR_RUNNERS	2
#define NR_THREADS	(MOST_WRITERS + NR_RUNNERS)
/* One function of so many has a breakpoint. */
#define BREAK_EVERY	16
#define TAKE_BACK_EVERY	4
#define REPLACE_EVERY	300

/* The rules of all functions: how far the caller is, and if fp is saved. */
#define RULE_SP		1
#define RULE_FP		(RULE_SP + 1 + SPIN_WORDS)
#define NR_RULES	(RULE_FP + SPIN_WORDS)

enum { ONE, TWO, EIGHT, NR_CROWDS };

static const unsigned int crowd_size[NR_CROWDS] = { 1, 2, MOST_WRITERS };

enum {
	CHECK_FP,
	CHECK_DEFER = CHECK_FP + NR_CROWDS,
	CHECK_BREAK_FP = CHECK_DEFER + NR_CROWDS,
	CHECK_BREAK_DEFER,
	CHECK_ENTRIES,
	CHECK_CALLS,
	CHECK_REFUSED,
	NR_CHECKS
};

static struct check checks[NR_CHECKS] = {
	[CHECK_FP + ONE] = CHECK("clock samples, 1 writer, fp"),
	[CHECK_FP + TWO] = CHECK("clock samples, 2 writers, fp"),
	[CHECK_FP + EIGHT] = CHECK("clock samples, 8 writers, fp"),
	[CHECK_DEFER + ONE] = CHECK("clock samples, 1 writer, deferred"),
	[CHECK_DEFER + TWO] = CHECK("clock samples, 2 writers, deferred"),
	[CHECK_DEFER + EIGHT] = CHECK("clock samples, 8 writers, deferred"),
	[CHECK_BREAK_FP] =
		CHECK("samples at an instruction of the newest function, fp"),
	[CHECK_BREAK_DEFER] =
		CHECK("samples at an instruction of the newest function, deferred"),
	[CHECK_ENTRIES] = CHECK("no function of any writer is lost"),
	[CHECK_CALLS] = CHECK("calls about the window"),
	[CHECK_REFUSED] = CHECK("no step of any walk was refused"),
};

/* On each machine, however busy. */
static const unsigned long enough[NR_CHECKS] = {
	[CHECK_FP ... CHECK_DEFER + EIGHT] = 3000,
	[CHECK_BREAK_FP] = 200,
	[CHECK_BREAK_DEFER] = 200,
};

/**
 * struct function - one that is published
 * @text:	its code
 * @spin:	what it was made from
 * @stays:	it is not taken back, so that runners may run it
 */
struct function {
	__u8		*text;
	struct spin	spin;
	bool		stays;
};

/**
 * struct table - a packed table; only what is new is ever written
 * @header:	what the kernel reads at registration
 * @rules:	of all functions
 * @index:	an entry for each bucket
 * @blocks:	and the padding
 */
struct table {
	struct sframe_packed_header	header;
	struct sframe_packed_rule	rules[NR_RULES];
	__u32				index[NR_BUCKETS];
	__u8				blocks[BLOCKS_SIZE];
	__u8				pad[SFRAME_PACKED_PAD];
};

/* Its length is that of its parts. */
_Static_assert(offsetof(struct table, pad) ==
	       sizeof(struct sframe_packed_header) +
	       NR_RULES * sizeof(struct sframe_packed_rule) +
	       NR_BUCKETS * sizeof(__u32) + BLOCKS_SIZE, "the parts have gaps");

/* What a thread has for itself. */
struct thread {
	unsigned int		nr;
	uint64_t		rng;
	__u8			*stack;
	pthread_t		thread;
};

static struct thread threads[NR_THREADS];
/* What reads an event's records is not for several threads at once. */
static pthread_mutex_t breaking = PTHREAD_MUTEX_INITIALIZER;

static __u8 *text, *text_alias;
static int text_fd;
static unsigned long text_pos;		/* of the next function */
static struct table *tables[2], *table;
static unsigned long blocks_pos;	/* of the next block */

static struct function functions[CAPACITY];
static unsigned int nr_functions;
/* For those who run functions, and for those who write to the table. */
static pthread_rwlock_t text_there, table_there;

/* All meet where a text begins and where no more fits. */
static pthread_barrier_t begin, end;
static unsigned int crowd;

/* How often each thread has come round; 0: it is waiting for the others. */
static unsigned long passes[NR_THREADS];

static bool over, last;
static unsigned long published, collisions, taken_back, replaced, texts;

static void count(unsigned long *what)
{
	__atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

static bool is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_RELAXED);
}

static bool call_that(int ret, const char *call)
{
	return check_that(&checks[CHECK_CALLS], !ret, "%s: %d", call, ret);
}

/* ---- the table ----------------------------------------------------------- */

static unsigned int rule_of(const struct sft_row *row)
{
	const int words = row->words[0] / 8;

	return row->nr_words == 1 ? RULE_SP + words - 1 : RULE_FP + words - 3;
}

/* @poison: each rule finds what looks like a return address, see spin.h. */
static void fill_rules(struct table *to, bool poison)
{
	unsigned int words;

	for (words = 0; words <= SPIN_WORDS; words++)
		to->rules[RULE_SP + words] = (struct sframe_packed_rule){
			.kind = SFRAME_PACKED_PLAIN,
			.cfa_off = poison ? 16 : 8 + 8 * words, .ra_off = -8,
		};
	for (words = 1; words <= SPIN_WORDS; words++)
		to->rules[RULE_FP + words - 1] = (struct sframe_packed_rule){
			.kind = SFRAME_PACKED_PLAIN | SFRAME_PACKED_FP_SAVED,
			.cfa_off = poison ? 16 : 16 + 8 * words, .ra_off = -8,
			.fp_off = -16 - 8 * words,
		};
}

static void table_clear(struct table *to)
{
	to->header = (struct sframe_packed_header){
		.magic = SFRAME_PACKED_MAGIC,
		.version = SFRAME_PACKED_VERSION,
		.abi_arch = SFT_ABI,
		.nr_rules = NR_RULES,
		.text_start = (uintptr_t)text,
		.text_length = TEXT_SIZE,
		.blocks_len = BLOCKS_SIZE,
	};
	fill_rules(to, false);
	memset(to->index, 0, sizeof(to->index));
	blocks_pos = 0;
}

static int table_register(const struct table *of, __u32 flags)
{
	const struct sframe_window_opts opts = {
		.size = sizeof(opts), .flags = flags,
		.text_start = (uintptr_t)text, .text_length = TEXT_SIZE,
		.format = SFRAME_FORMAT_PACKED,
	};

	return sft_register((uintptr_t)text, of,
			    offsetof(struct table, pad) + SFRAME_PACKED_PAD,
			    &opts);
}

/* The rule of each byte of a bucket. */
static void read_bucket(const struct table *from, __u32 entry, __u8 *rules)
{
	const __u8 *block = from->blocks + SFRAME_PACKED_OFFSET(entry);
	unsigned int i, change = 0;

	if (!(entry & SFRAME_PACKED_BLOCK)) {
		memset(rules, entry, BUCKET);
		return;
	}
	for (i = 0; i < BUCKET; i++) {
		while (change < block[0] && block[1 + change] <= i)
			change++;
		rules[i] = block[1 + block[0] + change];
	}
}

/* Returns how long the block is, or 0 if the entry needs none: it is the rule. */
static unsigned int write_block(__u8 *block, const __u8 *rules)
{
	__u8 ids[MOST_CHANGES + 1] = { rules[0] };
	unsigned int i, nr = 0;

	for (i = 1; i < BUCKET; i++)
		if (rules[i] != rules[i - 1]) {
			block[1 + nr++] = i;
			ids[nr] = rules[i];
		}
	block[0] = nr;
	memcpy(block + 1 + nr, ids, nr + 1);
	return nr ? 2 * nr + 2 : 0;
}

/* No walk sees the block before the entry; that of another writer is kept. */
static void publish(struct table *to, unsigned int bucket, unsigned int from,
		    unsigned int size, const __u8 *new)
{
	__u32 *at = &to->index[bucket];
	__u32 entry = __atomic_load_n(at, __ATOMIC_ACQUIRE), next;
	unsigned long place = __atomic_fetch_add(&blocks_pos, BLOCK_SIZE,
						 __ATOMIC_RELAXED);
	__u8 rules[BUCKET];

	if (place > BLOCKS_SIZE - BLOCK_SIZE) {
		result(false, "blocks", "no room for one more");
		give_up();
	}
	for (;;) {
		read_bucket(to, entry, rules);
		memcpy(rules + from, new, size);
		next = write_block(to->blocks + place, rules) ?
		       SFRAME_PACKED_BLOCK | place : rules[0];
		if (__atomic_compare_exchange_n(at, &entry, next, false,
						__ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return;
		count(&collisions);
	}
}

/* The rules of each byte of a function. */
static void rules_of(const struct function *fn, __u8 *rules)
{
	const struct spin *spin = &fn->spin;
	unsigned int i, row = 0;

	for (i = 0; i < spin->size; i++) {
		while (row + 1 < spin->nr_rows && spin->rows[row + 1].start <= i)
			row++;
		rules[i] = rule_of(&spin->rows[row]);
	}
}

static void put(struct table *to, const struct function *fn, const __u8 *rules)
{
	unsigned long at = fn->text - text, done = 0, size;

	for (; done < fn->spin.size; done += size, at += size) {
		size = BUCKET - at % BUCKET;
		if (size > fn->spin.size - done)
			size = fn->spin.size - done;
		publish(to, at / BUCKET, at % BUCKET, size, rules + done);
	}
}

static void append(struct table *to, const struct function *fn)
{
	__u8 rules[SPIN_SIZE];

	rules_of(fn, rules);
	put(to, fn, rules);
}

static void take_back(struct table *to, const struct function *fn)
{
	const __u8 rules[SPIN_SIZE] = { SFRAME_PACKED_UNKNOWN };

	put(to, fn, rules);
	count(&taken_back);
}

/* How many bytes of a function have other rules than these? */
static unsigned int count_other(const struct table *of,
				const struct function *fn, const __u8 *rules)
{
	unsigned long at = fn->text - text;
	unsigned int i, other = 0;
	__u8 bucket[BUCKET];

	for (i = 0; i < fn->spin.size; i++, at++) {
		if (!i || at % BUCKET == 0)
			read_bucket(of, of->index[at / BUCKET], bucket);
		other += bucket[at % BUCKET] != rules[i];
	}
	return other;
}

/* Has the table the rules of those that stay, and none of the others? */
static void check_entries(const struct table *of)
{
	const struct function *fn;
	unsigned int i, other;

	for (i = 0; i < nr_functions; i++) {
		__u8 rules[SPIN_SIZE] = { SFRAME_PACKED_UNKNOWN };

		fn = &functions[i];
		if (fn->stays)
			rules_of(fn, rules);
		other = count_other(of, fn, rules);
		check_that(&checks[CHECK_ENTRIES], !other,
			   "%u bytes of function %u, which %s", other, i,
			   fn->stays ? "stays" : "was taken back");
	}
}

/*
 * A step that meets two new tables is given up: let each thread come round
 * before there may be another one.
 */
static void wait_for_others(const struct thread *me)
{
	unsigned long pass;
	unsigned int i;

	for (i = 0; i < NR_THREADS; i++) {
		pass = __atomic_load_n(&passes[i], __ATOMIC_ACQUIRE);
		while (i != me->nr && pass &&
		       __atomic_load_n(&passes[i], __ATOMIC_ACQUIRE) == pass)
			sched_yield();
	}
}

/* By one without old blocks; what the old one says is not true any more. */
static void replace(const struct thread *me)
{
	struct table *old = table, *new = tables[table == tables[0]];
	unsigned int i;

	pthread_rwlock_wrlock(&table_there);
	table_clear(new);
	for (i = 0; i < nr_functions; i++)
		if (functions[i].stays)
			append(new, &functions[i]);
	if (call_that(table_register(new, SFRAME_WINDOW_REPLACE), "replace")) {
		fill_rules(old, true);
		table = new;
		count(&replaced);
	}
	pthread_rwlock_unlock(&table_there);
	wait_for_others(me);
}

/* ---- the text ------------------------------------------------------------ */

/* Map anew each time, so that no CPU has old code. */
static bool text_map(void)
{
	text = mmap(NULL, TEXT_SIZE, SFT_RX, MAP_SHARED, text_fd, 0);
	if (text == MAP_FAILED)
		return false;
	text_pos = 0;
	texts++;
	table = tables[0];
	table_clear(table);
	return call_that(table_register(table, 0), "register");
}

static void text_unmap(void)
{
	pthread_rwlock_wrlock(&text_there);
	nr_functions = 0;
	memset(functions, 0, sizeof(functions));
	call_that(sft_unregister((uintptr_t)text), "unregister");
	munmap(text, TEXT_SIZE);
	pthread_rwlock_unlock(&text_there);
}

static bool text_init(void)
{
	text_fd = memfd_create("text", MFD_CLOEXEC);
	if (text_fd < 0 || ftruncate(text_fd, TEXT_SIZE))
		return false;
	text_alias = mmap(NULL, TEXT_SIZE, SFT_RW, MAP_SHARED, text_fd, 0);
	tables[0] = sample_memory(sizeof(*table));
	tables[1] = sample_memory(sizeof(*table));
	return text_alias != MAP_FAILED && tables[0] && tables[1];
}

/* In a place that no other writer has; false if there is none. */
static bool make_function(struct function *fn, uint64_t *rng)
{
	const unsigned long gap = 16 * rng_below(rng, 3);
	unsigned long at = __atomic_fetch_add(&text_pos, gap + SPIN_SIZE,
					      __ATOMIC_RELAXED) + gap;

	if (at + SPIN_SIZE > TEXT_SIZE)
		return false;
	spin_make(&fn->spin, 1 + rng_below(rng, SPIN_WORDS), SPIN_COUNT, false);
	memcpy(text_alias + at, fn->spin.code, SPIN_SIZE);
	fn->text = text + at;
	return true;
}

/* ---- running and sampling ------------------------------------------------ */

static void run(const struct thread *me, const struct function *fn)
{
	const struct sft_call call = { .entry = fn->text };

	sft_enter(me->stack + STACK_SIZE, sft_outer, &call);
}

/* The stack of each function is as long; the text may be gone by now. */
static void check_sample(const struct sft_chain *chain, bool defer, void *arg)
{
	const __u64 right[] = { chain->ip[0], SFT_CALLERS };
	__u8 *start = __atomic_load_n(&text, __ATOMIC_RELAXED);
	unsigned int now = __atomic_load_n(&crowd, __ATOMIC_RELAXED);

	if (!chain->nr || chain->ip[0] - (uintptr_t)start >= TEXT_SIZE)
		return;
	check_that(&checks[(defer ? CHECK_DEFER : CHECK_FP) + now],
		   sft_chain_is(chain, right, 2),
		   "%u frames from %llx", chain->nr, chain->ip[0]);
}

/* Run it with a breakpoint where a row starts: these are instructions. */
static void run_to_break(struct thread *me, const struct function *fn)
{
	const struct sft_row *row =
		&fn->spin.rows[rng_below(&me->rng, fn->spin.nr_rows)];
	const __u64 right[] = { (uintptr_t)fn->text + row->start, SFT_CALLERS };
	bool defer = rng_below(&me->rng, 2);
	struct sft_chain chain = { 0 };
	struct sft_event event;
	int ret, tries = 3;

	if (!call_that(sft_break_open(&event, fn->text + row->start, defer),
		       "breakpoint"))
		return;
	/* QEMU's TCG misses an instruction breakpoint in about 10,000. */
	do {
		ioctl(event.fd, PERF_EVENT_IOC_ENABLE, 0);
		run(me, fn);
		ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0);
		ret = sft_event_chain(&event, &chain);
	} while (ret == -ENODATA && --tries);
	check_that(&checks[defer ? CHECK_BREAK_DEFER : CHECK_BREAK_FP],
		   !ret && sft_chain_is(&chain, right, 2),
		   "%d, %u frames from %llx", ret, chain.nr, chain.ip[0]);
	sft_event_close(&event);
}

static void thread_init(struct thread *me)
{
	me->rng = rng_start(10 + me->nr);
	me->stack = sample_memory(STACK_SIZE);
	if (!me->stack) {
		result(false, "stack", "no memory");
		give_up();
	}
	call_that(sample_self(check_sample, NULL), "sampling");
}

static void come_round(const struct thread *me)
{
	__atomic_store_n(&passes[me->nr], passes[me->nr] + 1, __ATOMIC_RELEASE);
}

static void wait_here(const struct thread *me)
{
	__atomic_store_n(&passes[me->nr], 0, __ATOMIC_RELEASE);
}

static void *runner(void *arg)
{
	const struct function *fn;
	struct thread *me = arg;
	unsigned int nr;
	bool stays;

	thread_init(me);
	while (!is_over()) {
		pthread_rwlock_rdlock(&text_there);
		nr = __atomic_load_n(&nr_functions, __ATOMIC_ACQUIRE);
		fn = &functions[nr ? rng_below(&me->rng, nr) : 0];
		stays = __atomic_load_n(&fn->stays, __ATOMIC_ACQUIRE);
		if (stays)
			run(me, fn);
		pthread_rwlock_unlock(&text_there);
		if (!stays)
			sched_yield();
		come_round(me);
	}
	wait_here(me);
	return NULL;
}

/* ---- writers ------------------------------------------------------------- */

static bool write_one(struct thread *me)
{
	struct function made = { 0 }, *fn;
	unsigned int nr;

	if (!make_function(&made, &me->rng))
		return false;
	pthread_rwlock_rdlock(&table_there);
	nr = __atomic_fetch_add(&nr_functions, 1, __ATOMIC_ACQ_REL);
	fn = &functions[nr];
	*fn = made;
	append(table, fn);
	count(&published);
	if (rng_below(&me->rng, BREAK_EVERY)) {
		run(me, fn);
	} else {
		pthread_mutex_lock(&breaking);
		run_to_break(me, fn);
		pthread_mutex_unlock(&breaking);
	}
	if (rng_below(&me->rng, TAKE_BACK_EVERY))
		__atomic_store_n(&fn->stays, true, __ATOMIC_RELEASE);
	else
		take_back(table, fn);
	pthread_rwlock_unlock(&table_there);
	return true;
}

static void *writer(void *arg)
{
	struct thread *me = arg;

	thread_init(me);
	for (;;) {
		pthread_barrier_wait(&begin);
		if (last)
			return NULL;
		come_round(me);
		while (me->nr < crowd_size[crowd] && !is_over() &&
		       write_one(me)) {
			come_round(me);
			if (!me->nr && !rng_below(&me->rng, REPLACE_EVERY))
				replace(me);
		}
		wait_here(me);
		pthread_barrier_wait(&end);
	}
}

/* Of what is there now. */
static void wait_for_samples(void)
{
	unsigned long wanted[NR_CHECKS] = { 0 }, before[NR_CHECKS];

	wanted[CHECK_FP + crowd] = wanted[CHECK_DEFER + crowd] = 20;
	checks_count(checks, before, NR_CHECKS);
	while (!checks_enough(checks, wanted, before, NR_CHECKS) && !is_over())
		usleep(1000);
}

/* The last table of each text is a new one. */
static void *director(void *arg)
{
	struct thread nobody = { .nr = NR_THREADS };

	while (!is_over() && text_map()) {
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
		check_entries(table);
		replace(&nobody);
		wait_for_samples();
		text_unmap();
		__atomic_store_n(&crowd, (crowd + 1) % NR_CROWDS,
				 __ATOMIC_RELAXED);
	}
	last = true;
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_barrier_wait(&begin);
	return NULL;
}

/*
 * The library leaves something in the frame pointer that may lead to no frame, or to
 * one whose function has returned: its words of the stack may be anything, but its
 * rules are still found.
 */
static bool is_by_fp(const char *reason)
{
	return !strcmp(reason, "frame_pointer") || !strcmp(reason, "no_caller");
}

static void check_refused(void)
{
	struct sft_stats stats;
	unsigned int i;

	call_that(sft_stats(&stats), "/proc/self/sframe");
	for (i = 0; i < stats.nr; i++)
		check_that(&checks[CHECK_REFUSED], !stats.reasons[i].refused ||
			   is_by_fp(stats.reasons[i].name),
			   "%llu for %s, last at %llx", stats.reasons[i].refused,
			   stats.reasons[i].name, stats.last_ip);
}

static bool has_counted(const unsigned long *what)
{
	return __atomic_load_n(what, __ATOMIC_RELAXED);
}

static void race(double seconds)
{
	const unsigned long none[NR_CHECKS] = { 0 };
	double until = seconds_now() + seconds;
	pthread_t first;
	unsigned int i;

	for (i = 0; i < NR_THREADS; i++) {
		threads[i].nr = i;
		passes[i] = i >= MOST_WRITERS;
		pthread_create(&threads[i].thread, NULL,
			       i < MOST_WRITERS ? writer : runner, &threads[i]);
	}
	pthread_create(&first, NULL, director, NULL);
	while (!is_over() &&
	       (seconds_now() < until ||
		!checks_enough(checks, enough, none, NR_CHECKS) ||
		!has_counted(&replaced) || !has_counted(&taken_back)))
		usleep(10000);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(first, NULL);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i].thread, NULL);
	call_that(sample_stop(), "samples");
	check_refused();
}

static const char *missing(void)
{
	if (sft_missing())
		return sft_missing();
	if (!(sft_query(PR_SFRAME_QUERY_FORMATS) & 1 << SFRAME_FORMAT_PACKED))
		return "kernel without packed tables";
	return NULL;
}

int main(int argc, char **argv)
{
	if (missing())
		return skip_all("grow", missing());
	rng_seed(argc > 2 ? argv[2] : NULL);
	sample_prepare();
	gate_init(&text_there);
	gate_init(&table_there);
	pthread_barrier_init(&begin, NULL, MOST_WRITERS + 1);
	pthread_barrier_init(&end, NULL, MOST_WRITERS + 1);
	if (!text_init() || sample_start()) {
		result(false, "grow starts", "no memory");
		return finish();
	}
	race(argc > 1 ? atof(argv[1]) : 0);
	printf("# %lu published, %lu collisions, %lu taken back, %lu replaced, %lu texts\n",
	       published, collisions, taken_back, replaced, texts);
	checks_print(checks, NR_CHECKS);
	return finish();
}
