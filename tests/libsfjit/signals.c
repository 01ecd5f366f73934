// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: a signal handler that forks while its thread uses a pool: the
 * fork returns, the child can use the pool, and the signal mask is as it was.
 */
#include <signal.h>
#include <sys/time.h>

#include "test.h"

#define NR_FORKS	100
#define INTERVAL	2000	/* microseconds */

static struct sfjit_pool *pool;
static volatile int nr_forks, nr_failed;

static void *same(void *argument)
{
	return argument;
}

static int use_once(const char *name)
{
	void *entry;

	if (sfjit_tramp_get(pool, same, name, &entry))
		return 1;
	if (((void *(*)(void *))entry)(&pool) != &pool)
		return 2;
	return sfjit_tramp_put(pool, entry) ? 3 : 0;
}

/* One-shot, so that the interrupted code makes progress before the next. */
static void set_timer(void)
{
	struct itimerval timer = { .it_value = { 0, INTERVAL } };

	MUST(!setitimer(ITIMER_REAL, &timer, NULL));
}

static void fork_and_use(int signal)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		alarm(HANGS_SECONDS);
		_exit(use_once(NULL));
	}
	if (waitpid(pid, &status, 0) != pid || status)
		nr_failed++;
	nr_forks++;
}

static void test_mask(void)
{
	sigset_t before, after;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	IS("use", use_once("mask"), 0);
	sigprocmask(SIG_SETMASK, NULL, &after);
	IS("what was blocked is", sigismember(&after, SIGUSR1), 1);
	IS("what was not is not", sigismember(&after, SIGTERM), 0);
	sigemptyset(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static int fork_in_handler(void)
{
	struct sigaction action = { .sa_handler = fork_and_use };
	int rounds = 0, errors = 0, armed = 0;

	MUST(!sigaction(SIGALRM, &action, NULL));
	while (nr_forks < NR_FORKS) {
		if (armed == nr_forks) {
			armed++;
			set_timer();
		}
		errors += use_once(NULL) != 0;
		rounds++;
	}
	IS("errors of the parent", errors, 0);
	IS("children that failed", nr_failed, 0);
	TRUE("there was something to interrupt", rounds >= NR_FORKS);
	return finish();
}

int main(void)
{
	MUST(!sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool));
	test_mask();
	IS("fork in a signal handler", in_guarded_child(fork_in_handler),
	   0);
	sfjit_pool_retire(pool);
	unlink(map_path(getpid()));
	return finish();
}
