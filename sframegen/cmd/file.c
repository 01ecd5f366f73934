// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Reads whole files. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "object.h"

/* Larger than any program; a size that lies ends here. */
#define MAX_FILE	(4ULL << 30)

#define HUGE_PAGE	(2UL << 20)

static int read_fd(int fd, uint8_t *data, size_t len, size_t *used)
{
	ssize_t n;

	for (*used = 0; *used < len; *used += n) {
		n = read(fd, data + *used, len - *used);
		if (n < 0)
			return -errno;
		if (!n)
			break;
	}
	return 0;
}

/* Faults on small pages would take longer than reading a large file. */
static void *alloc_file(size_t len)
{
	void *p;

	if (len < HUGE_PAGE)
		return malloc(len);
	if (posix_memalign(&p, HUGE_PAGE, len))
		return NULL;
	madvise(p, len, MADV_HUGEPAGE);
	return p;
}

/* What a file is that cannot be read at any place; NULL: a regular one. */
static const char *unreadable_kind(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || S_ISREG(st.st_mode))
		return NULL;
	return S_ISDIR(st.st_mode) ? "is a directory" :
	       S_ISFIFO(st.st_mode) ? "is a FIFO" : "is not a regular file";
}

/* -1: it was said why not. */
static int open_regular(const char *path)
{
	/* a FIFO must not hang the open */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *kind;

	if (fd < 0) {
		path_error(path, -errno);
		return fd;
	}
	kind = unreadable_kind(fd);
	if (!kind)
		return fd;
	path_refused(path, kind);
	close(fd);
	return -1;
}

static int read_regular(int fd, uint8_t **data, size_t *len)
{
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return -errno;
	if ((uint64_t)st.st_size > MAX_FILE)
		return -EFBIG;
	*data = alloc_file(st.st_size + 1);
	if (!*data)
		return -ENOMEM;
	ret = read_fd(fd, *data, st.st_size, len);
	if (ret) {
		free(*data);
		*data = NULL;
	}
	return ret;
}

int read_whole_file(const char *path, uint8_t **data, size_t *len)
{
	int fd = open_regular(path), ret;

	if (fd < 0)
		return -EINVAL;
	ret = read_regular(fd, data, len);
	close(fd);
	return ret ? path_error(path, ret) : 0;
}
