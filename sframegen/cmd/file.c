// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Reads regular files at any offset. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "object.h"

#define HUGE_PAGE	(2UL << 20)

/*
 * Names the kind of a file without random access; NULL: a regular file. Other
 * files may have more bytes than st_size.
 */
static const char *unreadable_kind(const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		return NULL;
	return S_ISDIR(st->st_mode) ? "is a directory" :
	       S_ISFIFO(st->st_mode) ? "is a FIFO" : "is not a regular file";
}

int file_open_regular(const char *path, uint64_t *len)
{
	/* a FIFO must not hang the open */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret = 0;
	const char *kind = NULL;
	struct stat st;

	if (fd < 0)
		return path_error(path, -errno);
	if (fstat(fd, &st))
		ret = path_error(path, -errno);
	else
		kind = unreadable_kind(&st);
	if (kind) {
		path_refused(path, kind);
		ret = -EINVAL;
	}
	if (!ret) {
		*len = st.st_size;
		return fd;
	}
	close(fd);
	return ret;
}

/*
 * Linux moves at most 2 GiB less a page in a call. This program handles no
 * signals, so EINTR cannot happen. 0 bytes: another process truncated the file.
 */
int file_read(int fd, uint64_t offset, void *data, size_t len)
{
	uint8_t *to = data;
	ssize_t n;

	for (; len; to += n, offset += n, len -= n) {
		n = pread(fd, to, len, offset);
		if (n < 0)
			return -errno;
		if (!n)
			return -ENODATA;
	}
	return 0;
}

void *file_alloc(size_t len)
{
	void *p;

	if (len < HUGE_PAGE)
		return malloc(len ? len : 1);
	/* faults on small pages would take longer than reading */
	if (posix_memalign(&p, HUGE_PAGE, len))
		return NULL;
	madvise(p, len, MADV_HUGEPAGE);
	return p;
}

/* One byte more, here and in object_load(): malloc(0) may return NULL. */
static int read_whole(int fd, uint8_t **data, uint64_t len)
{
	uint8_t *p;
	int ret;

	if (len > MAX_READ)
		return -EFBIG;
	p = file_alloc(len);
	if (!p)
		return -ENOMEM;
	ret = file_read(fd, 0, p, len);
	if (ret)
		free(p);
	else
		*data = p;
	return ret;
}

int file_read_whole(const char *path, uint8_t **data, size_t *len)
{
	uint64_t size;
	int fd = file_open_regular(path, &size), ret;

	if (fd < 0)
		return fd;
	*len = size;
	ret = read_whole(fd, data, size);
	close(fd);
	return ret ? path_error(path, ret) : 0;
}

int file_begins_with(const char *path, const void *magic, size_t len)
{
	uint8_t begin[16];
	uint64_t size;
	int fd = file_open_regular(path, &size), ret = 0;

	if (fd < 0)
		return fd;
	if (size >= len && len <= sizeof(begin))
		ret = !file_read(fd, 0, begin, len) &&
		      !memcmp(begin, magic, len);
	close(fd);
	return ret;
}
