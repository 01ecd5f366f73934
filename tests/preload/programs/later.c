// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * later FILE [locked]: prints "ready" and waits for a line of input. Then it
 * loads FILE, built from plugin.c with GAP or GAPS, prints "loaded", and lets
 * it call leaf() for ever. With "locked" its memory is locked; then a child
 * does the rest after one more line of input, and its process id is printed.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE	__attribute__((noipa))

static volatile int number;

NOINLINE static int leaf(void)
{
	int i;

	for (i = 0; i < 100000; i++)
		number++;
	return number;
}

NOINLINE static void work(int (*plugin)(int (*)(void)))
{
	for (;;)
		number = plugin(leaf);
}

static void become_a_child(void)
{
	pid_t child;

	getchar();
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return;
	}
	printf("%d\n", child);
	fflush(stdout);
	wait(NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	int (*plugin)(int (*)(void));
	void *file;

	if (argc == 3 && mlockall(MCL_FUTURE))
		return 1;
	puts("ready");
	fflush(stdout);
	getchar();
	file = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	plugin = file ? (int (*)(int (*)(void)))dlsym(file, "plugin_behind") :
		NULL;
	if (!plugin)
		return 1;
	puts("loaded");
	fflush(stdout);
	if (argc == 3)
		become_a_child();
	work(plugin);
}
