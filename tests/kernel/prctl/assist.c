// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: assist [CALLS [SEED]]
 *
 * Calls prctl(PR_UNWIND_ASSIST) with random arguments, derived from correct
 * ones, in a thread with or without an open question. Compares return values,
 * and the stack that perf then writes, with the document of the interface. For
 * a guest, as root.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assist_test.h"
#include "chance.h"
#include "model.h"

#define FRAMES_PAGES	2
#define ASK_EVERY	6
#define STATE_EVERY	64

enum { CHECK_RESULT, CHECK_READ, CHECK_STACK, CHECK_STATE, CHECK_KINDS,
       NR_CHECKS };

static struct check checks[NR_CHECKS] = {
	CHECK("each call returns what is documented"),
	CHECK("what is read is the kernel's walk, and no more of it"),
	CHECK("perf has the stack that was answered, or the kernel's"),
	CHECK("/proc has the signal, and something became of each question"),
	CHECK("success and each documented error occur"),
};

/* The kernel's callchain at sfa_touch(). */
static const __u64 walk[] = {
	(uintptr_t)sft_touch_load, (uintptr_t)sft_inner_ret,
	(uintptr_t)sft_outer_ret, (uintptr_t)sft_enter_ret,
};

#define NR_WALK	(sizeof(walk) / sizeof(walk[0]))

static unsigned long nr_results[64];
static struct sfa_log sample_log;
static struct sfa_session perf = { .log = &sample_log };
static long long restarts;

/* Random; an unreadable page follows it. */
static __u64 *frames;
static void *read_only, *no_access;

/**
 * struct state - what the thread has
 * @signal:	by which it is asked, or 0
 * @token:	of the last question
 * @open:	it is not answered
 */
static struct state {
	unsigned long	signal;
	__u64		token;
	bool		open;
} now;

/* ---- Arguments ------------------------------------------------------- */

static unsigned long edge_number(void)
{
	const unsigned long top = memory_task_size();
	const unsigned long edges[] = {
		0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 128, 509, 510, 511, 512,
		1UL << 31, (1UL << 32) - 1, 1UL << 32, 1UL << 60, 1UL << 61,
		1UL << 63, ~0UL, ~0UL - 127, top - 8, top - 1, top, top + 1,
	};
	const unsigned long value =
		edges[below(sizeof(edges) / sizeof(edges[0]))];

	return one_in(16) ? rng_next(&rng) : value;
}

/* For @nr words: with room, or with less. */
static unsigned long some_place(unsigned long nr)
{
	const unsigned long end = (unsigned long)frames + FRAMES_PAGES * PAGE;
	const unsigned long fits = nr <= UNWIND_ASSIST_MAX_FRAMES ? 8 * nr : 0;

	switch (below(8)) {
	case 0:
		return end - fits + below(16);
	case 1:
		return (unsigned long)read_only;
	case 2:
		return (unsigned long)no_access;
	case 3:
		return edge_number();
	default:
		return end - fits;
	}
}

static __u64 some_token(void)
{
	if (!one_in(8))
		return now.token;
	return one_in(2) ? now.token + below(5) - 2 : edge_number();
}

static void make_frames(void)
{
	const unsigned long nr = FRAMES_PAGES * PAGE / 8;
	unsigned long i;

	for (i = 0; i < nr; i++)
		frames[i] = below(1UL << 32);
	/* Nearer to the end, where most of them are read. */
	if (one_in(4))
		frames[nr - 1 - below(one_in(2) ? 4 : 64)] =
			memory_task_size() + below(3) - 1;
	if (one_in(16))
		frames[nr - 1] = edge_number();
}

static struct call make_call(void)
{
	struct call call = { PR_UNWIND_ASSIST, { below(16) } };

	switch (call.arg[0]) {
	case 0:
		call.arg[0] = PR_UNWIND_ASSIST_ON;
		call.arg[1] = SFA_FIRST_SIGNAL + below(33);
		call.arg[2] = below(2);
		break;
	case 1:
		call.arg[0] = PR_UNWIND_ASSIST_OFF;
		break;
	case 2:
		call.arg[0] = edge_number();
		break;
	default:
		call.arg[0] = one_in(2) ? PR_UNWIND_ASSIST_READ :
			      PR_UNWIND_ASSIST_ANSWER;
		call.arg[3] = one_in(8) ? edge_number() : below(one_in(4) ?
			      UNWIND_ASSIST_MAX_FRAMES + 4 : 24);
		call.arg[1] = some_token();
		call.arg[2] = some_place(call.arg[3]);
	}
	if (one_in(12))
		call.arg[1 + below(3)] = edge_number();
	return call;
}

/* ---- What is documented ---------------------------------------------- */

static int invalid_if(bool invalid)
{
	return invalid ? -EINVAL : 0;
}

static int model_on(const unsigned long *arg)
{
	return invalid_if(arg[1] < SFA_FIRST_SIGNAL ||
			  arg[1] > SFA_LAST_SIGNAL ||
			  arg[2] & ~UNWIND_ASSIST_ANY_STACK || arg[3]);
}

static int model_read(const unsigned long *arg)
{
	const unsigned long nr = arg[3] < NR_WALK ? arg[3] : NR_WALK;

	return memory_writable(arg[2], 8 * nr) || !nr ? 0 : -EFAULT;
}

static int model_answer(const unsigned long *arg)
{
	const unsigned long nr = arg[3];
	const __u64 *said = (const __u64 *)arg[2];
	unsigned long i;

	if (!nr)
		return 0;
	if (nr > UNWIND_ASSIST_MAX_FRAMES)
		return -E2BIG;
	if (!memory_readable(arg[2], 8 * nr))
		return -EFAULT;
	for (i = 0; i < nr; i++) {
		__u64 frame;

		memcpy(&frame, said + i, sizeof(frame));
		if (frame >= memory_task_size())
			return -ERANGE;
	}
	return 0;
}

static int model_error(const unsigned long *arg)
{
	switch (arg[0]) {
	case PR_UNWIND_ASSIST_ON:
		return model_on(arg);
	case PR_UNWIND_ASSIST_OFF:
		return invalid_if(arg[1] || arg[2] || arg[3]);
	case PR_UNWIND_ASSIST_READ:
	case PR_UNWIND_ASSIST_ANSWER:
		if (!now.signal)
			return -EINVAL;
		if (!now.open || arg[1] != now.token)
			return -ESRCH;
		return arg[0] == PR_UNWIND_ASSIST_READ ? model_read(arg) :
		       model_answer(arg);
	}
	return -EINVAL;
}

/* ---- Results ---------------------------------------------------------- */

static void check_read(const struct call *call)
{
	const unsigned long nr = call->arg[3] < NR_WALK ? call->arg[3] :
				 NR_WALK;

	check_that(&checks[CHECK_READ],
		   !nr || !memcmp((void *)call->arg[2], walk, 8 * nr),
		   "%lu frames at %lx", call->arg[3], call->arg[2]);
}

/* The question is closed: nr 0 is the kernel's walk. */
static void check_stack(const __u64 *said, unsigned long nr)
{
	const struct sfa_record *record;

	sfa_disable(&perf.event);
	record = sfa_next_pair(&perf);
	check_that(&checks[CHECK_STACK], record &&
		   (nr ? sfa_is_answer(record, said, nr) :
		    sfa_is_walk(record)), "an answer of %lu frames", nr);
	now.open = false;
	perf.log->nr = perf.log->nr_words = perf.log->next = 0;
}

static void call_done(const struct call *call, const __u64 *said)
{
	switch (call->arg[0]) {
	case PR_UNWIND_ASSIST_ON:
		now.signal = call->arg[1];
		break;
	case PR_UNWIND_ASSIST_OFF:
		now.signal = 0;
		if (now.open)
			check_stack(NULL, 0);
		break;
	case PR_UNWIND_ASSIST_READ:
		check_read(call);
		break;
	case PR_UNWIND_ASSIST_ANSWER:
		check_stack(said, call->arg[3]);
		break;
	}
}

static void one_call(unsigned long nr)
{
	static __u64 said[UNWIND_ASSIST_MAX_FRAMES];
	const struct call call = make_call();
	const unsigned long *arg = call.arg;
	long ret, expected;

	make_frames();
	expected = model_error(arg);
	if (!expected && arg[0] == PR_UNWIND_ASSIST_READ)
		expected = NR_WALK;
	if (!expected && arg[0] == PR_UNWIND_ASSIST_ANSWER && arg[3])
		memcpy(said, (void *)arg[2], 8 * arg[3]);
	ret = syscall(SYS_prctl, call.option, arg[0], arg[1], arg[2], arg[3]);
	if (ret < 0)
		ret = -errno;
	check_that(&checks[CHECK_RESULT], ret == expected,
		   "call %lu: prctl(%lx, %lx, %lx, %lx) = %ld, not %ld", nr,
		   arg[0], arg[1], arg[2], arg[3], ret, expected);
	nr_results[ret < 0 ? -ret & 63 : 0]++;
	if (ret >= 0)
		call_done(&call, said);
}

/* ---- Between calls --------------------------------------------------- */

/*
 * One that the handler leaves open. The event is on until the stack is there:
 * perf writes none for one that is off.
 */
static bool is_asked(void)
{
	const unsigned int handled = sfa_me.handled;

	sfa_enable(&perf.event);
	sfa_touch();
	now.open = sfa_me.handled == handled + 1;
	now.token = sfa_me.token;
	if (!now.open)
		check_stack(NULL, 0);
	return now.open;
}

/* On arm64, which counts who loses the CPU on the way back as one of those. */
static bool has_restarted(void)
{
	const struct sfa_counts counts = sfa_counts();
	const long long before = restarts;

	restarts = sfa_count(&counts, "restart");
	return restarts > before;
}

static void ask(void)
{
	bool asked;

	check_that(&checks[CHECK_RESULT], !sfa_on(SFA_SIGNAL, 0), "ON");
	now.signal = SFA_SIGNAL;
	do
		asked = is_asked();
	while (!asked && has_restarted());
	check_that(&checks[CHECK_STATE], asked, "not asked");
}

static void check_state(unsigned long nr)
{
	const struct sfa_counts counts = sfa_counts();

	check_that(&checks[CHECK_STATE],
		   sfa_count(&counts, "signal") == (long long)now.signal &&
		   (now.open || sfa_balanced()),
		   "after call %lu: signal %lld instead of %lu", nr,
		   sfa_count(&counts, "signal"), now.signal);
}

static void check_kinds(void)
{
	static const unsigned int kinds[] = {
		0, EINVAL, ESRCH, EFAULT, E2BIG, ERANGE,
	};
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		printf("# %s: %lu\n", strerror(kinds[i]),
		       nr_results[kinds[i]]);
		check_that(&checks[CHECK_KINDS], nr_results[kinds[i]],
			   "not %s", strerror(kinds[i]));
	}
}

static bool begin(void)
{
	__u8 *pages = sft_map((FRAMES_PAGES + 2) * PAGE,
			      PROT_READ | PROT_WRITE);

	if (!memory_task_size() || !pages || sfa_begin() ||
	    sfa_event_open(&perf.event))
		return false;
	frames = (__u64 *)pages;
	no_access = pages + FRAMES_PAGES * PAGE;
	read_only = pages + (FRAMES_PAGES + 1) * PAGE;
	mprotect(no_access, PAGE, PROT_NONE);
	mprotect(read_only, PAGE, PROT_READ);
	memory_read();
	now.signal = SFA_SIGNAL;
	sfa_me.answer = NULL;
	return true;
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 0) : 100000;
	unsigned long nr;

	if (sfa_missing())
		return skip_all("assist", sfa_missing());
	rng_seed(argc > 2 ? argv[2] : NULL);
	rng = rng_start(0);
	if (!begin()) {
		result(false, "assist", "no page, event or handler");
		return finish();
	}
	for (nr = 0; nr < calls; nr++) {
		if (!now.open && one_in(ASK_EVERY))
			ask();
		one_call(nr);
		if (one_in(STATE_EVERY))
			check_state(nr);
	}
	check_kinds();
	checks_print(checks, NR_CHECKS);
	return finish();
}
