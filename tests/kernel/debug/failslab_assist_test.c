// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Every allocation and every copy from or to user memory in PR_UNWIND_ASSIST
 * fails in turn: who could not opt in may try again, a child has opted in as its
 * parent or is not there, and a question stays open until an answer is taken.
 * Leaks are looked for when the guest ends.
 */
#include <sys/wait.h>

#include "assist_harness.h"

#include "failing.h"

static long long signal_now(void)
{
	const struct sfa_counts counts = sfa_counts();

	return sfa_count(&counts, "signal");
}

FIXTURE(fail_assist)
{
	unsigned int	enomem;
};

FIXTURE_SETUP(fail_assist)
{
	if (sfa_missing())
		SKIP(return, "%s", sfa_missing());
	if (!sft_may_fail())
		SKIP(return, "kernel without fault injection");
}

FIXTURE_TEARDOWN(fail_assist)
{
}

enum child_status {
	CHILD_DONE,		/* there was no such chance */
	CHILD_ENOMEM,
	CHILD_ON,		/* there was another way */
	CHILD_WRONG,
	NR_CHILD_STATUS,
};

static int opt_in(void *arg)
{
	return sfa_on(SFA_SIGNAL, 0);
}

/* A thread that never has; this process once had, to see whether it can. */
static enum child_status opt_in_at(unsigned int nth)
{
	bool had;
	int ret;

	had = sft_had_chance(opt_in, NULL, nth, &ret);
	if (!ret)
		return signal_now() != SFA_SIGNAL ? CHILD_WRONG :
		       had ? CHILD_ON : CHILD_DONE;
	if (!had || ret != -ENOMEM || signal_now() ||
	    opt_in(NULL) || signal_now() != SFA_SIGNAL)
		return CHILD_WRONG;
	return CHILD_ENOMEM;
}

TEST_F(fail_assist, on)
{
	unsigned int nth, seen[NR_CHILD_STATUS] = { };
	int status;
	pid_t pid;

	for (nth = 1; seen[CHILD_DONE] < SFT_FAIL_ROUNDS; nth++) {
		ASSERT_GT(SFT_MOST_CHANCES, nth);
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(opt_in_at(nth));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFEXITED(status));
		ASSERT_GT(CHILD_WRONG, WEXITSTATUS(status));
		seen[WEXITSTATUS(status)]++;
		if (WEXITSTATUS(status) == CHILD_DONE)
			nth = 0;
	}
	/* What a thread has, and its second cache: one may be left out. */
	EXPECT_LE(2 * SFT_FAIL_ROUNDS - 2, seen[CHILD_ENOMEM]);
}

static int do_fork(void *arg)
{
	pid_t *pid = arg;

	*pid = fork();
	if (*pid < 0)
		return -errno;
	if (!*pid)
		_exit(signal_now() != SFA_SIGNAL);
	return 0;
}

/* A child opted in as its parent did, or there is none. */
TEST_F_TIMEOUT(fail_assist, fork, 600)
{
	unsigned int nth, round;
	int ret, status;
	pid_t pid;
	bool had;

	ASSERT_EQ(0, sfa_on(SFA_SIGNAL, 0));
	for (round = 0; round < SFT_FAIL_ROUNDS; round++) {
		for (had = true, nth = 1; had; nth++) {
			ASSERT_GT(SFT_MOST_CHANCES, nth);
			had = sft_had_chance(do_fork, &pid, nth, &ret);
			if (ret) {
				ASSERT_TRUE(had);
				ASSERT_EQ(-ENOMEM, ret);
				self->enomem++;
				continue;
			}
			ASSERT_EQ(pid, waitpid(pid, &status, 0));
			ASSERT_EQ(0, status);
		}
	}
	EXPECT_EQ(SFA_SIGNAL, signal_now());
	EXPECT_LE(10, self->enomem);
}

/* ---- Answers --------------------------------------------------------- */

FIXTURE(fail_answer)
{
	struct sfa_session	perf;
};

FIXTURE_SETUP(fail_answer)
{
	if (sfa_missing())
		SKIP(return, "%s", sfa_missing());
	if (!sft_may_fail())
		SKIP(return, "kernel without fault injection");
	begin_session(_metadata, &self->perf);
}

FIXTURE_TEARDOWN(fail_answer)
{
	end_session(_metadata, &self->perf);
}

static unsigned int nr_enomem, nr_efault;

/*
 * Take each chance of @run, from the @nth on, until it does its work all the
 * same; then @nth is the next one, or the first one after the last.
 */
static int insist(int (*run)(void *arg), void *arg, unsigned int *nth)
{
	while (*nth < SFT_MOST_CHANCES) {
		int ret;
		const bool had = sft_had_chance(run, arg, *nth, &ret);

		*nth = had ? *nth + 1 : 1;
		if (ret >= 0 || !had || (ret != -ENOMEM && ret != -EFAULT))
			return ret;
		nr_enomem += ret == -ENOMEM;
		nr_efault += ret == -EFAULT;
	}
	return -ETIME;
}

static int read_walk(void *arg)
{
	const struct sfa_thread *me = arg;
	__u64 frames[SFA_MAX_FRAMES];

	return sfa_read(me->token, frames, SFA_MAX_FRAMES);
}

static int say_marks(void *arg)
{
	const struct sfa_thread *me = arg;

	return sfa_answer(me->token, sfa_marks, SFA_NR_MARKS);
}

static unsigned int nth_read, nth_answer;

static void read_and_answer(struct sfa_thread *me)
{
	me->ret = insist(read_walk, me, &nth_read);
	if (me->ret > 0)
		me->ret = insist(say_marks, me, &nth_answer);
}

/* An answer that is taken ends its question: the next chance is the next's. */
TEST_F(fail_answer, each)
{
	const struct sfa_counts before = sfa_counts();
	unsigned int nr = 0, rounds = 0;
	char counted[64];

	nth_read = 1;
	nth_answer = 1;
	sfa_me.answer = read_and_answer;
	while (rounds < SFT_FAIL_ROUNDS) {
		ASSERT_TRUE(sfa_is_marks(sfa_sample(&self->perf)));
		ASSERT_EQ(0, sfa_me.ret);
		nr++;
		rounds += nth_answer == 1;
	}
	snprintf(counted, sizeof(counted), "asked=%u answered=%u", nr, nr);
	EXPECT_TRUE(sfa_counted(&before, counted));
	/* The copy of the frames. */
	EXPECT_LE(SFT_FAIL_ROUNDS, nr_enomem);
	/* The frames that are read, and those of the answer. */
	EXPECT_LE(2 * SFT_FAIL_ROUNDS, nr_efault);
}

/* ---- The cache of a stack --------------------------------------------- */

static int touch(void *arg)
{
	sfa_touch();
	return 0;
}

/* A thread that was not sampled before has no cache yet. */
static enum child_status sampled_at(struct sfa_session *perf, unsigned int nth)
{
	struct sfa_counts counts;
	bool had;
	int ret;

	if (sfa_prepare() || sfa_event_open(&perf->event))
		return CHILD_WRONG;
	/* Bring in the code: its pages would be samples, too. */
	sft_had_chance(touch, NULL, SFT_MOST_CHANCES, &ret);
	sfa_enable(&perf->event);
	had = sft_had_chance(touch, NULL, nth, &ret);
	sfa_disable(&perf->event);
	counts = sfa_counts();
	if (sfa_count(&counts, "asked") != sfa_me.handled)
		return CHILD_WRONG;
	/* Its answer failed: the question is open. */
	if (sfa_me.handled && sfa_me.ret)
		return CHILD_ON;
	if (sfa_session_read(perf) || !sfa_log_right(perf->log))
		return CHILD_WRONG;
	if (!had)
		return sfa_me.handled ? CHILD_DONE : CHILD_WRONG;
	return sfa_me.handled || sfa_count(&counts, "restart") ||
	       sfa_count(&counts, "queue") ? CHILD_ON : CHILD_ENOMEM;
}

/* Without a stack of the kernel there is nothing to ask about. */
TEST_F(fail_answer, cache)
{
	unsigned int nth, seen[NR_CHILD_STATUS] = { };
	struct sfa_session perf = { .log = self->perf.log };
	int status;
	pid_t pid;

	/* Pages of the program would fail, too, and be tried again. */
	ASSERT_EQ(0, sft_write_debugfs("fail_page_alloc/min-order", "10"));
	for (nth = 1; seen[CHILD_DONE] < SFT_FAIL_ROUNDS; nth++) {
		ASSERT_GT(SFT_MOST_CHANCES, nth);
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			memset(perf.log, 0, sizeof(*perf.log));
			sfa_me.handled = 0;
			_exit(sampled_at(&perf, nth));
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		/* The frame of the signal was not written. */
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
			continue;
		ASSERT_TRUE(WIFEXITED(status));
		ASSERT_GT(CHILD_WRONG, WEXITSTATUS(status));
		seen[WEXITSTATUS(status)]++;
		if (WEXITSTATUS(status) == CHILD_DONE)
			nth = 0;
	}
	ASSERT_EQ(0, sft_write_debugfs("fail_page_alloc/min-order", "0"));
	EXPECT_LE(1, seen[CHILD_ENOMEM]);
}

TEST_HARNESS_MAIN
