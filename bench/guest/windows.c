// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: windows [-q] time N...	N: windows there are already
 *        windows [-q] memory N		run it in an idle guest
 *
 * Instructions of the system calls about windows, and memory of the kernel.
 * Prints lines "WHAT:N median VALUE" and "WHAT:N mean VALUE", or, for memory,
 * "charged:N VALUE" and "all:N VALUE" in bytes of a window.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "window.h"

#define MAX_ROUNDS	1000
#define CGROUP		"/sys/fs/cgroup"
#define OWN_CGROUP	CGROUP "/sfjit-bench"

static size_t rounds = MAX_ROUNDS;
static size_t forks = 101;

enum what {
	REGISTER, UNREGISTER, REGISTER_RANGE, REPLACE, MMAP, MUNMAP, NR_WHAT
};

static const char *const what_names[] = {
	[REGISTER] = "register",
	[UNREGISTER] = "unregister",
	[REGISTER_RANGE] = "register-range",
	[REPLACE] = "replace",
	[MMAP] = "mmap",
	[MUNMAP] = "munmap",
};

static uint64_t costs[NR_WHAT][MAX_ROUNDS];

static void print_costs(const char *name, size_t present, uint64_t *values,
			size_t nr)
{
	printf("%s:%zu mean %.1f\n", name, present, mean(values, nr));
	printf("%s:%zu median %lu\n", name, present, median(values, nr));
}

static void time_window(const struct windows *windows, size_t i, size_t round)
{
	uint64_t t[6];

	t[0] = now();
	window_register(windows, i);
	t[1] = now();
	window_register_range(windows, i, SFRAME_WINDOW_REPLACE);
	t[2] = now();
	window_unregister(windows, i);
	t[3] = now();
	window_register_range(windows, i, 0);
	t[4] = now();
	window_unregister(windows, i);

	costs[REGISTER][round] = t[1] - t[0];
	costs[REPLACE][round] = t[2] - t[1];
	costs[UNREGISTER][round] = t[3] - t[2];
	costs[REGISTER_RANGE][round] = t[4] - t[3];
}

/* The peer: a page, not touched, as each JIT maps many. */
static void time_page(size_t round)
{
	uint64_t t[3];
	void *page;

	t[0] = now();
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	t[1] = now();
	if (munmap(page, 4096))
		die("mmap or munmap of a page: %m");
	t[2] = now();

	costs[MMAP][round] = t[1] - t[0];
	costs[MUNMAP][round] = t[2] - t[1];
}

/* Until the parent goes on; then with the life and the end of the child. */
static void time_forks(size_t present)
{
	uint64_t parent[forks], whole[forks], begin;
	size_t i;
	pid_t pid;

	for (i = 0; i < forks; i++) {
		begin = now();
		pid = fork();
		if (!pid)
			_exit(0);
		parent[i] = now() - begin;
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("fork: %m");
		whole[i] = now() - begin;
	}
	print_costs("fork", present, parent, forks);
	print_costs("fork-exit-wait", present, whole, forks);
}

static void register_all(const struct windows *windows, size_t step)
{
	size_t i;

	for (i = 0; i < windows->nr; i += step)
		window_register(windows, i);
}

/* Every other place is taken; the window that comes and goes is in between. */
static void measure_time(size_t present)
{
	struct windows windows;
	size_t i, round;

	windows_map(&windows, 2 * present + 2, 0);
	windows.nr = 2 * present;
	register_all(&windows, 2);

	for (round = 0; round < rounds; round++) {
		i = 2 * random_below(present + 1) + 1;
		time_window(&windows, i, round);
		time_page(round);
	}
	for (i = 0; i < NR_WHAT; i++)
		print_costs(what_names[i], present, costs[i], rounds);
	time_forks(present);

	windows.nr += 2;
	windows_unmap(&windows);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("%s: %m", path);
	close(fd);
}

/* The number behind a word at the start of a line. */
static long read_number(const char *path, const char *word)
{
	size_t len = strlen(word);
	char line[256];
	long value = -1;
	FILE *file;

	file = fopen(path, "r");
	if (!file)
		die("%s: %m", path);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, word, len))
			value = atol(line + len);
	fclose(file);
	if (value < 0)
		die("%s has no '%s'", path, word);
	return value;
}

static long charged_bytes(void)
{
	return read_number(OWN_CGROUP "/memory.stat", "slab_unreclaimable ");
}

static long all_bytes(void)
{
	return read_number("/proc/meminfo", "SUnreclaim:") * 1024;
}

static void enter_cgroup(void)
{
	write_file(CGROUP "/cgroup.subtree_control", "+memory");
	if (mkdir(OWN_CGROUP, 0755))
		die("mkdir %s: %m", OWN_CGROUP);
	write_file(OWN_CGROUP "/cgroup.procs", "0");
}

static void measure_memory(size_t nr)
{
	struct windows windows;
	long charged, all;

	enter_cgroup();
	windows_map(&windows, nr, 0);
	charged = charged_bytes();
	all = all_bytes();
	register_all(&windows, 1);
	printf("charged:%zu %.1f\n", nr,
	       (double)(charged_bytes() - charged) / nr);
	printf("all:%zu %.1f\n", nr, (double)(all_bytes() - all) / nr);
}

static size_t number(const char *word)
{
	char *end;
	size_t nr = strtoul(word, &end, 10);

	if (!*word || *end)
		die("windows: '%s' is no number", word);
	return nr;
}

int main(int argc, char **argv)
{
	int i = 1;

	if (i < argc && !strcmp(argv[i], "-q")) {
		rounds = 20;
		forks = 5;
		i++;
	}
	if (argc - i >= 2 && !strcmp(argv[i], "time")) {
		check_icount();
		while (++i < argc)
			measure_time(number(argv[i]));
	} else if (argc - i == 2 && !strcmp(argv[i], "memory")) {
		measure_memory(number(argv[i + 1]));
	} else {
		die("usage: windows [-q] time N... | memory N");
	}
	return 0;
}
