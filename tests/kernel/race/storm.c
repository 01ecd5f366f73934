// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Processes and threads that come and go beside the changes.
 */
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "race.h"

extern char **environ;

/* ---- children ------------------------------------------------------------ */

/*
 * A child has what its parent had at one moment, and none of its threads: so
 * no lock here, and nothing changes.
 */
static bool child_that(bool ok, const char *what)
{
	return check_that(&checks[CHECK_CHILD], ok, "%s", what);
}

static void child_lists(struct listing *listing)
{
	const char *wrong = listing_read(listing, "/proc/self/sframe", 4096);

	if (!child_that(!wrong, wrong))
		return;
	wrong = listing_kept(listing);
	child_that(!wrong, wrong);
	child_that(listing->nr == listing->told, "windows told");
	child_that(listing->nr == (unsigned int)sft_windows(),
		   "windows by prctl");
	child_that(sft_unregister(area.left.key) == -ENOENT,
		   "window without text goes, too");
}

static void child_unmaps(struct listing *listing)
{
	const char *wrong;
	unsigned int i;

	munmap((void *)area.slots, NR_KEPT * SLOT_STRIDE);
	wrong = listing_read(listing, "/proc/self/sframe", 4096);
	if (!child_that(!wrong, wrong))
		return;
	for (i = 0; i < listing->nr; i++)
		child_that(listing->lines[i].end <= area.slots ||
			   listing->lines[i].start >=
			   area.slots + NR_KEPT * SLOT_STRIDE,
			   "window outlives its text");
	for (i = 0; i < NR_KEPT; i++)
		child_that(sft_unregister(area.kept[i].key) == -ENOENT,
			   "key outlives its text");
}

static void child_changes(void)
{
	unsigned int i;

	for (i = 0; i < NR_KEPT; i++) {
		child_that(!sft_unregister(area.kept[i].key),
			   "window of a child");
		child_that(!window_register(&area.kept[i], 0),
			   "window of a child again");
	}
}

/* Until it is killed. */
static void child_never_ends(void)
{
	for (;;)
		child_changes();
}

static void child_reads_parent(struct listing *listing)
{
	const char *wrong;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/sframe", getppid());
	wrong = listing_read(listing, path, 100);
	if (!wrong)
		wrong = listing_kept(listing);
	check_that(&checks[CHECK_PROC_OTHER], !wrong, "%s", wrong);
}

static void child_forks(struct listing *listing)
{
	pid_t pid = fork();

	if (!pid) {
		child_lists(listing);
		_exit(0);
	}
	child_changes();
	child_that(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork in a child");
}

static void child_execs(void)
{
	execl("/proc/self/exe", "race", AFTER_EXEC, NULL);
	_exit(9);
}

enum { LISTS, UNMAPS, CHANGES, FORKS, READS, SPINS, EXECS, KILLED, NR_FATES };

static void child(unsigned int fate)
{
	static struct listing listing;

	switch (fate) {
	case LISTS:
		child_lists(&listing);
		break;
	case UNMAPS:
		child_unmaps(&listing);
		break;
	case CHANGES:
		child_changes();
		break;
	case FORKS:
		child_forks(&listing);
		break;
	case READS:
		child_reads_parent(&listing);
		break;
	case SPINS:
		spin_once();
		break;
	case EXECS:
		child_execs();
		break;
	default:
		child_never_ends();
	}
	_exit(0);
}

static void wait_for(pid_t pid, unsigned int fate)
{
	struct check *check = &checks[fate == EXECS ? CHECK_EXEC :
				      fate == KILLED ? CHECK_KILL :
						       CHECK_CHILD];
	int status = -1, expected = fate == KILLED ? SIGKILL : 0;

	check_that(check, waitpid(pid, &status, 0) == pid &&
		   status == expected, "status %x of child %u", status, fate);
}

void *fork_run(void *arg)
{
	uint64_t rng = rng_start(800);
	unsigned int fate;
	pid_t pid;

	swap_sample_other();
	while (!race_over()) {
		fate = rng_below(&rng, NR_FATES);
		pid = fork();
		if (!pid)
			child(fate);
		if (!child_that(pid > 0, "fork failed"))
			continue;
		if (fate == KILLED) {
			usleep(rng_below(&rng, 3000));
			kill(pid, SIGKILL);
		}
		wait_for(pid, fate);
	}
	return NULL;
}

/* ---- another program in the same memory, for a moment -------------------- */

int after_exec(void)
{
	return sft_windows() ? 1 : 0;
}

void *exec_run(void *arg)
{
	char *const argv[] = { "race", AFTER_EXEC, NULL };
	pid_t pid;
	int ret;

	while (!race_over()) {
		ret = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv,
				  environ);
		if (check_that(&checks[CHECK_EXEC], !ret, "spawn: %d", ret))
			wait_for(pid, EXECS);
	}
	return NULL;
}

/* ---- threads ------------------------------------------------------------- */

static void thread_that(int ret, int expected, const char *call)
{
	check_that(&checks[CHECK_THREAD], ret == expected,
		   "%s: %d instead of %d", call, ret, expected);
}

/*
 * Text of its own, whose window goes with the text or before it. Where the
 * text was, the next thread's may be.
 */
static void *short_life(void *arg)
{
	struct window window = { .packed = arg };
	void *text = sft_map(SFT_PAGE, SFT_RX);

	window.start = (uintptr_t)text;
	window.end = window.start + SFT_PAGE;
	window.key = window.start;
	any_table(&window);
	thread_that(window_register(&window, 0), 0, "register");
	spin_once();
	if (arg)
		thread_that(sft_unregister(window.key), 0, "unregister");
	munmap(text, SFT_PAGE);
	return NULL;
}

void *thread_run(void *arg)
{
	pthread_t threads[4];
	unsigned int i, nr;

	while (!race_over()) {
		change_begin();
		for (nr = 0; nr < 4; nr++)
			if (pthread_create(&threads[nr], NULL, short_life,
					   (void *)(uintptr_t)(nr % 2)))
				break;
		thread_that(nr, 4, "pthread_create");
		for (i = 0; i < nr; i++)
			pthread_join(threads[i], NULL);
		change_end();
	}
	return NULL;
}
