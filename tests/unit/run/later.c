// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * later FILE: prints "ready" and waits for a line of input. Then it loads FILE,
 * built from plugin.c with GAP, prints "loaded", and has it call leaf() for ever.
 */
#include <dlfcn.h>
#include <stdio.h>

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

int main(int argc, char **argv)
{
	int (*plugin)(int (*)(void));
	void *file;

	puts("ready");
	fflush(stdout);
	getchar();
	file = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	plugin = file ? (int (*)(int (*)(void)))dlsym(file, "plugin_behind") :
		NULL;
	if (!plugin)
		return 1;
	puts("loaded");
	fflush(stdout);
	work(plugin);
}
