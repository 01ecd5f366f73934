// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Whole files in and out; an output is there complete or not at all. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object.h"

/* Larger than any program; a size that lies ends here. */
#define MAX_FILE	(4ULL << 30)

#define HUGE_PAGE	(2UL << 20)

int path_error(const char *path, int code)
{
	fprintf(stderr, "sframegen: %s: %s\n", path, strerror(-code));
	return code;
}

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

static int read_regular(int fd, uint8_t **data, size_t *len)
{
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
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
	/* a FIFO must not hang the open */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;

	if (fd < 0)
		return path_error(path, -errno);
	ret = read_regular(fd, data, len);
	close(fd);
	return ret ? path_error(path, ret) : 0;
}

static int write_all(int fd, const uint8_t *data, size_t len)
{
	ssize_t n;

	for (; len; data += n, len -= n) {
		n = write(fd, data, len);
		if (n < 0)
			return -errno;
	}
	return 0;
}

/* What is no regular file (a terminal, /dev/null) is not replaced. */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static int write_special(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write_all(fd, data, len);
	close(fd);
	return ret;
}

static int fill_temporary(int fd, const void *data, size_t len)
{
	mode_t mask = umask(0);
	int ret;

	umask(mask);
	ret = write_all(fd, data, len);
	if (!ret && fchmod(fd, 0666 & ~mask))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int replace_file(const char *path, char *temporary, const void *data,
			size_t len)
{
	int fd = mkstemp(temporary), ret;

	if (fd < 0)
		return -errno;
	ret = fill_temporary(fd, data, len);
	if (!ret && rename(temporary, path))
		ret = -errno;
	if (ret)
		unlink(temporary);
	return ret;
}

int write_file(const char *path, const void *data, size_t len)
{
	char *temporary;
	int ret;

	if (is_special(path)) {
		ret = write_special(path, data, len);
		return ret ? path_error(path, ret) : 0;
	}
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return path_error(path, -ENOMEM);
	ret = replace_file(path, temporary, data, len);
	free(temporary);
	return ret ? path_error(path, ret) : 0;
}
