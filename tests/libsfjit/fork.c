// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: the library registers its fork handlers once, when it is loaded,
 * and creates nothing if that failed; a fork while another thread creates a
 * window waits until the handle exists. Uses a pthread_atfork() that counts,
 * and fails if LIB_FORK_FAILS is set.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include <sfjit/area.h>

#include "prctl.h"

#define LENGTH	4096

static int nr_atforks;

int __real_pthread_atfork(void (*)(void), void (*)(void), void (*)(void));
int __wrap_pthread_atfork(void (*)(void), void (*)(void), void (*)(void));

int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void),
			  void (*child)(void))
{
	nr_atforks++;
	if (getenv("LIB_FORK_FAILS"))
		return ENOMEM;
	return __real_pthread_atfork(prepare, parent, child);
}

static unsigned char text[LENGTH];
static struct sfjit_area *area;
static struct sfjit_pool *pool;

/* ---- In the middle of creating --------------------------------------- */

static sem_t registered, forking;
static atomic_bool forked;

/* State of the first thread in /proc. */
static char state(void)
{
	char path[64], text[256] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	MUST(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strrchr(text, ')')[2];
}

/* Waits until the fork is blocked, or is done. */
static void let_fork(void)
{
	sem_post(&registered);
	sem_wait(&forking);
	while (!forked && state() != 'S')
		sched_yield();
}

/* Runs before the library's handler; the other one runs after it. */
static void before_fork(void)
{
	sem_post(&forking);
}

static void after_fork(void)
{
	forked = true;
}

static void *create_area(void *argument)
{
	MUST(!sfjit_area_create(text, LENGTH, 0, 0, &area));
	return NULL;
}

static int retire_area(void)
{
	if (!area)
		return 1;
	return sfjit_area_retire(area) || nr_windows ? 2 : 0;
}

static void *create_pool(void *argument)
{
	MUST(!sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool));
	return NULL;
}

static int retire_pool(void)
{
	if (!pool)
		return 1;
	return sfjit_pool_retire(pool) || nr_windows ? 2 : 0;
}

static void test_middle(const char *name, void *(*create)(void *),
			int (*retire)(void))
{
	pthread_t thread;

	MUST(!sem_init(&registered, 0, 0) && !sem_init(&forking, 0, 0));
	forked = false;
	after_change = let_fork;
	MUST(!pthread_create(&thread, NULL, create, NULL));
	MUST(!sem_wait(&registered));
	IS(name, in_child(retire), 0);
	pthread_join(thread, NULL);
	IS("in the parent", retire(), 0);
}

static int fork_in_the_middle(void)
{
	MUST(!__real_pthread_atfork(before_fork, after_fork, NULL));
	test_middle("the child has the area", create_area, retire_area);
	test_middle("the child has the pool", create_pool, retire_pool);
	return finish();
}

/* ---- Without handlers ------------------------------------------------ */

static int make_nothing(void)
{
	int calls = nr_calls;

	IS("no area", sfjit_area_create(text, LENGTH, 0, 0, &area),
	   -ENOMEM);
	IS("no pool", sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool), -ENOMEM);
	TRUE("and no handle", !area && !pool);
	IS("the kernel was not called", nr_calls - calls, 0);
	IS("no name", sfjit_perf_map_name(text, LENGTH, "name"), -ENOMEM);
	TRUE("and no file", access(map_path(getpid()), F_OK));
	IS("sync", sfjit_perf_map_sync(), 0);
	return finish();
}

static int said[2];

static int load_without_handlers(void)
{
	dup2(said[1], STDOUT_FILENO);
	close(said[0]);
	close(said[1]);
	setenv("LIB_FORK_FAILS", "1", 1);
	execl("/proc/self/exe", "lib-fork", NULL);
	return 1;
}

/* A separate program, whose cases are a subtest. */
static void test_without_handlers(void)
{
	char line[1024];
	FILE *cases;
	int status;
	pid_t pid;

	MUST(!pipe(said));
	puts("# Subtest: without handlers");
	pid = start_child(load_without_handlers, false);
	close(said[1]);
	cases = fdopen(said[0], "r");
	MUST(cases);
	while (fgets(line, sizeof(line), cases))
		printf("    %s", line);
	fclose(cases);
	MUST(waitpid(pid, &status, 0) == pid);
	IS("without handlers", end_child(pid, status), 0);
}

int main(void)
{
	present = true;
	if (getenv("LIB_FORK_FAILS"))
		return make_nothing();
	IS("registered when loaded", nr_atforks, 1);
	IS("forks in the middle", in_guarded_child(fork_in_the_middle), 0);
	MUST(!sfjit_perf_map_name(text, LENGTH, "name"));
	unlink(map_path(getpid()));
	IS("and never again", nr_atforks, 1);
	test_without_handlers();
	return finish();
}
