// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: a library's calls of a function are led elsewhere, and back; when
 * a thread that compiles locks or wakes others its caller's words are looked at.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../../lib/tap.h"
#include "early.h"
#include "import.h"

/* ---- Imports --------------------------------------------------------- */

static pid_t other_parent(void)
{
	return -7;
}

/* Which parts of this program are where, and what may be written. */
static void read_access(char *text, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[400];

	text[0] = '\0';
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "/hotspot/early"))
			strncat(text, line, size - strlen(text) - 1);
	fclose(maps);
}

static void check_imports(void)
{
	static char before[4000], behind[4000];
	pid_t parent = getppid();
	void *old;

	TRUE("a function that is not called", !import_replace(
		(void *)check_imports, "sfjit_no_such_function", NULL));
	TRUE("code of no library", !import_replace((void *)&parent, "getppid",
						   (void *)other_parent));
	IS("calls are as before", getppid(), parent);
	read_access(before, sizeof(before));
	old = import_replace((void *)check_imports, "getppid",
			     (void *)other_parent);
	TRUE("it is led elsewhere", old);
	IS("calls", getppid(), -7);
	TRUE("and back", import_replace((void *)check_imports, "getppid",
					old) == (void *)other_parent);
	IS("calls again", getppid(), parent);
	read_access(behind, sizeof(behind));
	TRUE("what was protected is", before[0] && !strcmp(before, behind));
}

/* ---- Words ----------------------------------------------------------- */

/* As the VM's: the address is in a variable that another function reads. */
struct event {
	uintptr_t	kind;
	uintptr_t	method;
};

#define METHOD	0x7f0123456789ul

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static unsigned int looked, found, before, queued;

static void look(uintptr_t word, bool installed)
{
	looked++;
	if (word == METHOD)
		(*(installed ? &found : &before))++;
	errno = EDOM;
}

static __attribute__((noinline)) void queue(const struct event *event)
{
	pthread_mutex_lock(&lock);
	queued += event->method == METHOD;
	errno = ENOENT;
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) void *compile_it(void *name)
{
	volatile struct event event = { 1, METHOD };

	MUST(!prctl(PR_SET_NAME, name));
	queue((const struct event *)&event);
	return (void *)(intptr_t)errno;
}

/* In a thread of its own. */
static int compile(const char *name)
{
	pthread_t thread;
	void *error;

	MUST(!pthread_create(&thread, NULL, compile_it, (void *)name));
	MUST(!pthread_join(thread, &error));
	return (intptr_t)error;
}

static void *wait_for_event(void *data)
{
	pthread_mutex_lock(&lock);
	while (!queued)
		pthread_cond_wait(&condition, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static unsigned int others;

static int by_another(pthread_cond_t *at)
{
	others++;
	return pthread_cond_signal(at);
}

static void check_words(void)
{
	pthread_t waiter;

	MUST(import_replace((void *)check_words, "pthread_cond_broadcast",
			    (void *)by_another));
	MUST(!pthread_create(&waiter, NULL, wait_for_event, NULL));
	TRUE("a program that wakes its threads",
	     early_start((void *)check_words, look));
	compile("VM Thread");
	IS("a thread that does not compile", looked, 0);
	MUST(!pthread_join(waiter, NULL));
	IS("others are woken", queued, 1);
	IS("errno is kept", compile("C2 CompilerThread0"), ENOENT);
	TRUE("one that compiles has the word", looked && found);
	TRUE("when it locks, too", before);
	looked = found = before = 0;
	compile("JVMCI CompilerThread0");
	TRUE("each kind of them", looked && found && before);
	IS("who had been there before is called", others, 3);
	TRUE("once more", early_start((void *)check_words, look));
	compile("C1 CompilerThread0");
	IS("calls go on", others, 4);
}

int main(void)
{
	check_imports();
	check_words();
	return finish();
}
