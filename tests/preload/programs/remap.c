// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * remap FILE HOW...: loads FILE, built from plugin.c, and maps its text over itself,
 * as programs do to get huge pages. HOW:
 *
 *	map	anonymous memory there, and the text is copied back
 *	move	a copy of the text is moved there
 *	part	the same as map, of one page
 *	other	the same as map, and a byte of _init() is another one
 *
 * Prints the number of windows in /proc/self/sframe, at first, while the text is
 * not there, and at the end, of each HOW, and then what the library says.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	4096UL

static char *text, *copy;
static size_t length;

static void must(int condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

/* Lines that start with a text range. */
static unsigned int windows(void)
{
	FILE *file = fopen("/proc/self/sframe", "r");
	unsigned long start, end;
	unsigned int nr = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		nr += sscanf(line, "%lx-%lx ", &start, &end) == 2;
	if (file)
		fclose(file);
	return nr;
}

static void find_text(const void *function)
{
	uintptr_t at = (uintptr_t)function, start, end;
	FILE *file = fopen("/proc/self/maps", "r");
	char line[8192];

	must(file != NULL, "maps");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 &&
		    at >= start && at < end) {
			text = (char *)start;
			length = end - start;
		}
	fclose(file);
	must(text != NULL, "text");
}

static char *map(void *at, size_t size, int flags)
{
	void *p = mmap(at, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	must(p != MAP_FAILED, "mmap");
	return p;
}

static void map_over(size_t size)
{
	map(text, size, MAP_FIXED);
	printf(" %u", windows());
	memcpy(text, copy, size);
	must(!mprotect(text, size, PROT_READ | PROT_EXEC), "mprotect");
}

static void move_over(void)
{
	char *other = map(NULL, length, 0);

	memcpy(other, copy, length);
	must(!mprotect(other, length, PROT_READ | PROT_EXEC), "mprotect");
	printf(" %u", windows());
	must(mremap(other, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
		    text) == text, "mremap");
}

static void remap(const char *how)
{
	printf("%s %u", how, windows());
	if (!strcmp(how, "other"))
		copy[0] ^= 1;	/* _init() has run */
	if (!strcmp(how, "move"))
		move_over();
	else
		map_over(strcmp(how, "part") ? length : PAGE);
	printf(" %u\n", windows());
}

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*number)(void) = NULL;

	if (plugin)
		number = (int (*)(void))dlsym(plugin, "plugin_number");
	must(number != NULL, "plugin_number");
	find_text((void *)number);
	copy = map(NULL, length, 0);
	memcpy(copy, text, length);
	for (argv += 2; *argv; argv++)
		remap(*argv);
	printf("%d\n", number());
	return 0;
}
