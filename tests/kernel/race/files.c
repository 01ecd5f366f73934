// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: files [SECONDS [SEED]]
 *
 * Until there are samples enough, and for SECONDS at least.
 *
 * Packed tables of files against everything they have no lock with: threads run
 * code of files and are sampled while tables are added and removed, descriptors with
 * hundreds of tables come and go, files are written, and mappings appear, are split
 * and disappear.
 *
 * Where the table and the mapping stay, each sample has the true stack. Where one of
 * them changes, a sample may have the stack without a table, and no other.
 */

/* Samples elsewhere than in a function made here follow frame pointers. */
#pragma GCC optimize("no-omit-frame-pointer")

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <linux/sframe.h>

#include "check.h"
#include "sample.h"
#include "spin.h"

#define STACK_SIZE	(16 * SFT_PAGE)
#define SPIN_COUNT	600

/* The function is on the second page of three. */
#define OFFSET		SFT_PAGE
#define FILE_PAGES	3
#define FILE_SIZE	(FILE_PAGES * SFT_PAGE)
/* Where a file is mapped for a thread. */
#define PLACES		4
#define RANGE		(PLACES * FILE_SIZE)
/* Tables of a descriptor that comes and goes: the hash table grows and shrinks. */
#define NR_CROWD	256
/* How often a mapping is run: mmap() and munmap() take much longer. */
#define RUNS		500

/* What changes while a thread runs its code. */
enum kind { FIXED, MAPPED, TABLE, WRITTEN, SPLIT, NR_KINDS };

enum {
	CHECK_FP,
	CHECK_DEFER = CHECK_FP + NR_KINDS,
	CHECK_WITH = CHECK_DEFER + NR_KINDS,
	CHECK_CHILD = CHECK_WITH + NR_KINDS,
	CHECK_CALLS,
	CHECK_CROWD,
	CHECK_SHOWN,
	NR_CHECKS
};

static const struct check all_checks[NR_CHECKS] = {
	[CHECK_FP + FIXED] = CHECK("table and mapping stay, fp"),
	[CHECK_FP + MAPPED] = CHECK("mapped and unmapped, fp"),
	[CHECK_FP + TABLE] = CHECK("table added and removed, fp"),
	[CHECK_FP + WRITTEN] = CHECK("file written, fp"),
	[CHECK_FP + SPLIT] = CHECK("mapping split and merged, fp"),
	[CHECK_DEFER + FIXED] = CHECK("table and mapping stay, deferred"),
	[CHECK_DEFER + MAPPED] = CHECK("mapped and unmapped, deferred"),
	[CHECK_DEFER + TABLE] = CHECK("table added and removed, deferred"),
	[CHECK_DEFER + WRITTEN] = CHECK("file written, deferred"),
	[CHECK_DEFER + SPLIT] = CHECK("mapping split and merged, deferred"),
	[CHECK_WITH + FIXED] = CHECK("stacks with a table that stays"),
	[CHECK_WITH + MAPPED] = CHECK("stacks with a table in a new mapping"),
	[CHECK_WITH + TABLE] = CHECK("stacks with a table that comes and goes"),
	[CHECK_WITH + WRITTEN] = CHECK("stacks with a table of a written file"),
	[CHECK_WITH + SPLIT] = CHECK("stacks with a table in a split mapping"),
	[CHECK_CHILD] = CHECK("stacks of children"),
	[CHECK_CALLS] = CHECK("calls about a table"),
	[CHECK_CROWD] = CHECK("calls about the tables of a descriptor that is closed"),
	[CHECK_SHOWN] = CHECK("tables in fdinfo are those of the descriptor"),
};

/*
 * On each machine, however busy. Stacks of new mappings are the rarest: their threads
 * wait for those that split mappings and fork, or lose a CPU while they have the lock.
 */
static const unsigned long enough[NR_CHECKS] = {
	[CHECK_FP ... CHECK_FP + SPLIT] = 2000,
	[CHECK_DEFER ... CHECK_DEFER + SPLIT] = 100,
	[CHECK_WITH ... CHECK_WITH + SPLIT] = 500,
	[CHECK_CHILD] = 50,
	[CHECK_CALLS] = 500,
	[CHECK_CROWD] = 5 * NR_CROWD,
	[CHECK_SHOWN] = 50,
};

static struct check *checks;

/**
 * struct code - a file with one function
 * @fd:		of the file
 * @spin:	what the function was made from
 * @table:	its table
 * @length:	of that
 */
struct code {
	int		fd;
	struct spin	spin;
	__u8		table[SPIN_TABLE];
	size_t		length;
};

/**
 * struct runner - a thread that runs the function of a file
 * @kind:	what changes meanwhile
 * @code:	the file
 * @range:	where it is mapped, and nothing else ever is
 * @at:		the mapping
 */
struct runner {
	enum kind	kind;
	struct code	*code;
	__u8		*range;
	__u8		*at;
};

/* Two of each kind. */
#define NR_RUNNERS	(2 * NR_KINDS)

static struct code codes[NR_KINDS], crowd[NR_CROWD];
static struct runner runners[NR_RUNNERS];
/* The tables of codes, by kind; one of a written file may be outdated. */
static int tables, ids[NR_KINDS];
static bool over;

static bool is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_RELAXED);
}

static bool call_that(unsigned int check, bool ok, const char *call)
{
	return check_that(&checks[check], ok, "%s: %d", call, errno);
}

/* ---- files and their tables ---------------------------------------------- */

static bool make_code(struct code *code, unsigned int nr)
{
	spin_make(&code->spin, 1 + nr % SPIN_WORDS, SPIN_COUNT, false);
	/* Addresses of the table count from the function. */
	code->length = spin_table(code->table, NULL, &code->spin);
	code->fd = memfd_create("code", MFD_CLOEXEC);
	return code->fd >= 0 && !ftruncate(code->fd, FILE_SIZE) &&
	       pwrite(code->fd, code->spin.code, SPIN_SIZE, OFFSET) == SPIN_SIZE;
}

/* An id, or -1 and errno. */
static int add(int fd, const struct code *code)
{
	struct sframe_file_opts opts = {
		.size = sizeof(opts),
		.fd = code->fd,
		.table = (uintptr_t)code->table,
		.length = code->length,
		.text_bias = OFFSET,
	};
	struct stat st;

	if (fstat(code->fd, &st))
		return -1;
	opts.ctime = st.st_ctim.tv_sec;
	opts.ctime_nsec = st.st_ctim.tv_nsec;
	return ioctl(fd, SFRAME_IOC_ADD, &opts);
}

/*
 * The last change of a file has to be some ticks ago. A child may still have the
 * descriptor with the last table of a file of the crowd.
 */
static int add_at_last(int fd, const struct code *code)
{
	int id;

	do
		id = add(fd, code);
	while (id < 0 && (errno == EAGAIN || errno == EEXIST) && !sched_yield());
	return id;
}

static void *toggle_run(void *arg)
{
	while (!is_over()) {
		call_that(CHECK_CALLS,
			  !ioctl(tables, SFRAME_IOC_REMOVE, ids[TABLE]), "remove");
		sched_yield();
		ids[TABLE] = add_at_last(tables, &codes[TABLE]);
		call_that(CHECK_CALLS, ids[TABLE] > 0, "add");
		usleep(1000);
	}
	return NULL;
}

/* The same byte, but the kernel cannot know that. */
static void *write_run(void *arg)
{
	struct code *code = &codes[WRITTEN];
	int id;

	while (!is_over()) {
		call_that(CHECK_CALLS, pwrite(code->fd, code->spin.code, 1,
					      OFFSET) == 1, "write");
		/* An outdated table does not block a new one. */
		id = add_at_last(tables, code);
		call_that(CHECK_CALLS, id > 0, "add after a write");
		call_that(CHECK_CALLS,
			  !ioctl(tables, SFRAME_IOC_REMOVE, ids[WRITTEN]),
			  "remove after a write");
		ids[WRITTEN] = id;
		usleep(1000);
	}
	return NULL;
}

/* Some of them are removed, the others go with the descriptor. */
static void crowd_once(void)
{
	int fd = prctl(PR_SFRAME_FILES, 0, 0, 0, 0), id;
	unsigned int i;

	call_that(CHECK_CROWD, fd >= 0, "open");
	for (i = 0; i < NR_CROWD; i++) {
		id = add_at_last(fd, &crowd[i]);
		call_that(CHECK_CROWD, id > 0, "add");
		if (i % 3 == 0)
			call_that(CHECK_CROWD,
				  !ioctl(fd, SFRAME_IOC_REMOVE, id), "remove");
	}
	close(fd);
}

static void *crowd_run(void *arg)
{
	while (!is_over())
		crowd_once();
	return NULL;
}

/* ---- mappings ------------------------------------------------------------ */

static bool map_at(struct runner *me, __u8 *at)
{
	me->at = at;
	return mmap(at, FILE_SIZE, SFT_RX, MAP_PRIVATE | MAP_FIXED,
		    me->code->fd, 0) == at;
}

static bool init_runner(struct runner *me, unsigned int nr)
{
	me->kind = nr % NR_KINDS;
	me->code = &codes[me->kind];
	me->range = sft_map(RANGE, PROT_NONE);
	return me->range && map_at(me, me->range + FILE_SIZE);
}

/* Elsewhere in the range of this thread. */
static void map_again(struct runner *me, uint64_t *rng)
{
	call_that(CHECK_CALLS, !munmap(me->at, FILE_SIZE), "munmap");
	call_that(CHECK_CALLS,
		  map_at(me, me->range + rng_below(rng, PLACES) * FILE_SIZE),
		  "mmap");
}

/* The pages before and after the function. */
static void split(__u8 *at)
{
	mprotect(at, SFT_PAGE, PROT_READ);
	mprotect(at + 2 * SFT_PAGE, SFT_PAGE, PROT_READ);
	mprotect(at, SFT_PAGE, SFT_RX);
	mprotect(at + 2 * SFT_PAGE, SFT_PAGE, SFT_RX);
}

static void *split_run(void *arg)
{
	unsigned int i;

	while (!is_over()) {
		for (i = SPLIT; i < NR_RUNNERS; i += NR_KINDS)
			split(runners[i].at);
		usleep(100);
	}
	return NULL;
}

/* ---- running and sampling ------------------------------------------------ */

static bool always_has_table(enum kind kind)
{
	return kind == FIXED || kind == MAPPED;
}

/* The frame pointer may still be that of the caller, or lead nowhere. */
static bool is_without(const struct sft_chain *chain)
{
	const __u64 lost[] = { chain->ip[0], SFT_LOST };

	return chain->nr == 1 || sft_chain_is(chain, lost, 2);
}

static void check_sample(const struct sft_chain *chain, bool defer, void *arg)
{
	const struct runner *runner = arg;
	const __u64 with[] = { chain->ip[0], SFT_CALLERS };
	unsigned int check = (defer ? CHECK_DEFER : CHECK_FP) + runner->kind;
	bool has;

	if (!chain->nr || chain->ip[0] - (uintptr_t)runner->range >= RANGE)
		return;
	has = sft_chain_is(chain, with, 2);
	if (has)
		check_good(&checks[CHECK_WITH + runner->kind]);
	check_that(&checks[check], has || (!always_has_table(runner->kind) &&
					   is_without(chain)),
		   "%u frames from %llx: %llx", chain->nr, chain->ip[0],
		   chain->nr > 1 ? chain->ip[1] : 0);
}

static void run_mapping(const struct runner *me, __u8 *stack)
{
	const struct sft_call call = { .entry = me->at + OFFSET };
	unsigned int i;

	for (i = 0; i < RUNS; i++)
		sft_enter(stack + STACK_SIZE, sft_outer, &call);
}

static void *run(void *arg)
{
	struct runner *me = arg;
	uint64_t rng = rng_start(20 + (me - runners));
	__u8 *stack = sample_memory(STACK_SIZE);
	int ret = sample_self(check_sample, me);

	check_that(&checks[CHECK_CALLS], stack && !ret, "sampling: %d", ret);
	while (stack && !is_over()) {
		run_mapping(me, stack);
		if (me->kind == MAPPED)
			map_again(me, &rng);
	}
	return NULL;
}

/* ---- children and readers ------------------------------------------------ */

/* QEMU's TCG misses an instruction breakpoint in about 10,000. */
static int child(void)
{
	const struct runner *runner = &runners[FIXED];
	const struct spin *spin = &runner->code->spin;
	const struct sft_call call = { .entry = runner->at + OFFSET };
	const void *ip = runner->at + OFFSET + spin->rows[spin->nr_rows - 1].start;
	struct sft_chain chain;
	int ret, tries = 3;

	do
		ret = sft_chain_at(ip, false, &call, &chain);
	while (ret == -ENODATA && --tries);
	return ret || !sft_chain_is(&chain,
				    SFT_LIST((uintptr_t)ip, SFT_CALLERS), 2);
}

/* The parent's mappings are copied and, then, those of the child go. */
static void *fork_run(void *arg)
{
	int status;
	pid_t pid;

	while (!is_over()) {
		pid = fork();
		if (!pid)
			_exit(child());
		status = -1;
		if (pid > 0)
			waitpid(pid, &status, 0);
		check_that(&checks[CHECK_CHILD], !status, "status %x", status);
	}
	return NULL;
}

/* One of NR_KINDS may just be replaced, and an outdated one not yet removed. */
static void *show_run(void *arg)
{
	char path[40];
	long nr;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", tables);
	while (!is_over()) {
		nr = read_number(path, "tables ");
		check_that(&checks[CHECK_SHOWN],
			   nr >= NR_KINDS - 1 && nr <= NR_KINDS + 1, "%ld", nr);
	}
	return NULL;
}

/* ---- the race ------------------------------------------------------------ */

static bool init(void)
{
	unsigned int i;

	for (i = 0; i < NR_CROWD; i++)
		if (!make_code(&crowd[i], i))
			return false;
	for (i = 0; i < NR_KINDS; i++) {
		if (!make_code(&codes[i], i))
			return false;
		ids[i] = add_at_last(tables, &codes[i]);
		if (ids[i] <= 0)
			return false;
	}
	for (i = 0; i < NR_RUNNERS; i++)
		if (!init_runner(&runners[i], i))
			return false;
	return true;
}

static void race(double seconds)
{
	static void *(*const others[])(void *) = {
		toggle_run, write_run, crowd_run, split_run, fork_run, show_run,
	};
	const unsigned int nr_others = sizeof(others) / sizeof(others[0]);
	const unsigned long none[NR_CHECKS] = { 0 };
	pthread_t threads[NR_RUNNERS + nr_others];
	double until = seconds_now() + seconds;
	unsigned int i;

	for (i = 0; i < NR_RUNNERS; i++)
		pthread_create(&threads[i], NULL, run, &runners[i]);
	for (i = 0; i < nr_others; i++)
		pthread_create(&threads[NR_RUNNERS + i], NULL, others[i], NULL);
	while (seconds_now() < until ||
	       !checks_enough(checks, enough, none, NR_CHECKS))
		usleep(10000);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (i = 0; i < NR_RUNNERS + nr_others; i++)
		pthread_join(threads[i], NULL);
	check_that(&checks[CHECK_CALLS], !sample_stop(), "samples");
	/* The last tables go while mappings use them. */
	close(tables);
}

static const char *missing(void)
{
	if (sft_missing())
		return sft_missing();
	tables = prctl(PR_SFRAME_FILES, 0, 0, 0, 0);
	return tables < 0 ? "kernel without tables of files" : NULL;
}

int main(int argc, char **argv)
{
	const char *why = missing();

	if (why)
		return skip_all("files", why);
	rng_seed(argc > 2 ? argv[2] : NULL);
	checks = checks_share(all_checks, NR_CHECKS);
	sample_prepare();
	if (!checks || !init() || sample_start()) {
		result(false, "files starts", "errno %d", errno);
		return finish();
	}
	race(argc > 1 ? atof(argv[1]) : 0);
	checks_print(checks, NR_CHECKS);
	return finish();
}
