// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * /tmp/perf-PID.map of the process: names of code that is in no file. Whoever
 * may write to /tmp can have put anything there.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ps.h"

#define MOST_BYTES	(256L << 20)

/* The number that the process has in its own namespace. */
static pid_t own_pid(const char *dir, pid_t pid)
{
	FILE *file = ps_open(dir, "status");
	char line[256], *last;

	if (!file)
		return pid;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "NStgid:", 7))
			continue;
		last = strrchr(line, '\t');
		pid = last ? atoi(last) : pid;
	}
	fclose(file);
	return pid;
}

/* As perf: a map of the user, of root, or of whom the process belongs to. */
static bool is_trusted(int fd, const char *dir)
{
	struct stat map, process;

	if (fstat(fd, &map) || !S_ISREG(map.st_mode) || stat(dir, &process))
		return false;
	return !map.st_uid || map.st_uid == geteuid() ||
	       map.st_uid == process.st_uid;
}

static FILE *open_map(const char *dir, pid_t pid)
{
	FILE *file;
	char *path;
	int fd;

	if (asprintf(&path, "%s/root/tmp/perf-%d.map", dir,
		     own_pid(dir, pid)) < 0)
		return NULL;
	/* A pipe would not be answered, a link leads elsewhere. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return NULL;
	file = is_trusted(fd, dir) ? fdopen(fd, "r") : NULL;
	if (!file)
		close(fd);
	return file;
}

static int compare(const void *key, const void *member)
{
	const struct ps_window *window = member;
	uint64_t address = *(const uint64_t *)key;

	return address < window->start ? -1 : address >= window->end;
}

/* "start size name", both hex. */
static void take(struct ps_process *process, const char *line)
{
	struct ps_window *window;
	uint64_t start;
	int name = 0;

	if (sscanf(line, "%" SCNx64 " %*x %n", &start, &name) != 1 || !name ||
	    !line[name])
		return;
	window = bsearch(&start, process->windows, process->nr_windows,
			 sizeof(*window), compare);
	if (!window)
		return;
	if (!window->symbols++)
		window->symbol = ps_must(strdup(line + name));
}

void ps_read_symbols(struct ps_process *process, const char *dir)
{
	FILE *file = open_map(dir, process->pid);
	bool begins = true, ends;
	long bytes = 0;
	char line[4096];

	if (!file)
		return;
	while (bytes < MOST_BYTES && fgets(line, sizeof(line), file)) {
		bytes += strlen(line);
		ends = strchr(line, '\n');
		line[strcspn(line, "\n")] = '\0';
		/* What is longer than a line may be is cut off. */
		if (begins)
			take(process, line);
		begins = ends;
	}
	fclose(file);
}
