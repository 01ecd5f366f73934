// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "cache.h"
#include "check_alloc.h"

#define LOCK	"../lock"
#define LIST	"../programs"
#define FRESH	LIST ".new"

int cache_lock(int tables)
{
	int fd = openat(tables, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			0600);

	return fd < 0 || flock(fd, LOCK_EX) ? -errno : 0;
}

int cache_read_programs(int tables, struct names *programs)
{
	int fd = openat(tables, LIST, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
			O_NONBLOCK);
	char *line = NULL;
	size_t size = 0;
	struct stat st;
	ssize_t n;
	FILE *file;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!cache_is_safe(fd, CACHE_SYSTEM, S_IFREG, CACHE_BY_OTHERS, &st)) {
		close(fd);
		return -EPERM;
	}
	file = check_alloc(fdopen(fd, "r"));
	while ((n = getline(&line, &size, file)) > 1) {
		line[n - 1] = '\0';
		names_add(programs, line);
	}
	free(line);
	fclose(file);
	return 0;
}

static int write_names(int fd, const struct names *programs)
{
	FILE *file = check_alloc(fdopen(fd, "w"));
	int ret = 0;
	size_t i;

	for (i = 0; i < programs->nr; i++)
		fprintf(file, "%s\n", programs->name[i]);
	if (fchmod(fd, 0644) || fflush(file) || ferror(file) || fsync(fd))
		ret = -errno;
	fclose(file);
	return ret;
}

int cache_write_programs(int tables, const struct names *programs)
{
	int fd, ret;

	if (unlinkat(tables, FRESH, 0) && errno != ENOENT)
		return -errno;
	fd = openat(tables, FRESH, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	ret = write_names(fd, programs);
	if (!ret && renameat(tables, FRESH, tables, LIST))
		ret = -errno;
	return ret;
}
