/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Common steps of the library's tests.
 */
#ifndef LIB_TEST_H
#define LIB_TEST_H

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sfjit.h>

#include "../lib/tap.h"

/* Permissions of the mapping at an address as "rwxp"; "" if there is none. */
static inline void perms_of(const void *address, char perms[5])
{
	unsigned long start, end, at = (unsigned long)address;
	char line[512], found[5];
	FILE *maps = fopen("/proc/self/maps", "r");

	MUST(maps);
	perms[0] = '\0';
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, found) != 3)
			continue;
		if (at >= start && at < end)
			strcpy(perms, found);
	}
	fclose(maps);
}

static inline bool has_perms(const void *address, const char *want)
{
	char perms[5];

	perms_of(address, perms);
	return !strcmp(perms, want);
}

/* Number of mappings that are writable and executable. */
static inline int nr_wx_maps(void)
{
	char line[512], perms[5];
	FILE *maps = fopen("/proc/self/maps", "r");
	int nr = 0;

	MUST(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%*s %4s", perms) == 1 &&
		    perms[1] == 'w' && perms[2] == 'x')
			nr++;
	fclose(maps);
	return nr;
}

static inline const char *map_path(pid_t pid)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	return path;
}

/* The whole file; "" if there is none. */
static inline char *read_map(pid_t pid)
{
	static char text[1 << 20];
	FILE *file = fopen(map_path(pid), "r");
	size_t length = 0;

	if (file) {
		length = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
	}
	text[length] = '\0';
	return text;
}

static inline bool map_has(pid_t pid, const void *start, size_t size,
			   const char *name)
{
	char line[8192], *found, *text = read_map(pid);

	snprintf(line, sizeof(line), "%lx %zx %s\n", (unsigned long)start,
		 size, name);
	found = strstr(text, line);
	return found && (found == text || found[-1] == '\n');
}

static inline pid_t start_child(int (*function)(void), bool own_group)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (pid)
		return pid;
	not_the_test();
	if (own_group)
		setpgid(0, 0);
	status = function();
	fflush(stdout);
	_exit(status);
}

static inline int end_child(pid_t pid, int status)
{
	unlink(map_path(pid));
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   256 + WTERMSIG(status);
}

/* Runs a function in a child; returns its exit status, or 256 + signal. */
static inline int in_child(int (*function)(void))
{
	pid_t pid = start_child(function, false);
	int status;

	MUST(waitpid(pid, &status, 0) == pid);
	return end_child(pid, status);
}

/* The child's cases count as the test's. */
static inline void cases_in_child(int (*function)(void))
{
	int status = in_child(function);

	if (status)
		result(false, "child", "status %d", status);
}

/* Nothing takes as long, even on a busy or slow machine. */
#define HANGS_SECONDS	600

/*
 * Like in_child(), for a function that may hang with all signals blocked: it is
 * killed then, with its children.
 */
static inline int in_guarded_child(int (*function)(void))
{
	pid_t pid = start_child(function, true);
	int status, tenths = 10 * HANGS_SECONDS;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (!tenths--)
			kill(-pid, SIGKILL);
		usleep(100000);
	}
	return end_child(pid, status);
}

#endif /* LIB_TEST_H */
