// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Files of a process that profilers read, in /tmp, where other users write too.
 *
 * A file is opened for each write: daemons close all descriptors when they
 * start, and the number of a descriptor kept open would then be reused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "internal.h"

/* ---- The file -------------------------------------------------------- */

/*
 * Any user may have created a symlink or a FIFO of that name in /tmp. perf
 * refuses to read a file of another user.
 */
static int check_file(int fd, struct stat *st)
{
	if (fstat(fd, st))
		return -errno;
	if (!S_ISREG(st->st_mode) || st->st_nlink != 1 ||
	    st->st_uid != geteuid())
		return -EPERM;
	return 0;
}

int sfjit_open_file(const char *path, int flags, struct stat *st)
{
	int fd, ret;

	ret = sfjit_fault("open");
	if (ret)
		return ret;
	fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return -errno;
	ret = check_file(fd, st);
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

size_t sfjit_put_number(char *to, unsigned long value, unsigned int base)
{
	char digits[3 * sizeof(value)];
	size_t used = 0, i;

	do {
		digits[used++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	for (i = 0; i < used; i++)
		to[i] = digits[used - 1 - i];
	return used;
}

int sfjit_open_lines(const char *prefix, const char *suffix, pid_t pid,
		     int flags, struct stat *st)
{
	char path[64], *end;

	end = stpcpy(stpcpy(stpcpy(path, "/tmp/"), prefix), "-");
	end += sfjit_put_number(end, pid, 10);
	stpcpy(stpcpy(end, "."), suffix);
	return sfjit_open_file(path, flags, st);
}

static int open_file(const struct sfjit_file *file, pid_t pid, int flags,
		     struct stat *st)
{
	return sfjit_open_lines(file->prefix, file->suffix, pid, flags, st);
}

/* A write beyond RLIMIT_FSIZE raises SIGXFSZ, which would kill the process. */
static bool fits_limit(off_t end)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || (rlim_t)end <= limit.rlim_cur;
}

int sfjit_append(int fd, const struct iovec *parts, int nr)
{
	size_t length = 0;
	struct stat st;
	ssize_t written;
	int i, ret = sfjit_fault("write");

	if (ret)
		return ret;
	if (fstat(fd, &st))
		return -errno;
	for (i = 0; i < nr; i++)
		length += parts[i].iov_len;
	if (!fits_limit(st.st_size + length))
		return -EFBIG;
	written = nr == 1 ? write(fd, parts->iov_base, length) :
			    writev(fd, parts, nr);
	if (written < 0)
		return -errno;
	if ((size_t)written == length)
		return 0;
	/*
	 * The disk is full: remove the partial line, so that the next one
	 * starts clean.
	 */
	if (ftruncate(fd, st.st_size))
		return -errno;
	return -EIO;
}

static int append_bytes(int fd, const char *bytes, size_t length)
{
	struct iovec part = { (void *)bytes, length };

	return sfjit_append(fd, &part, 1);
}

/* ---- First line of a process ----------------------------------------- */

/* Field 22 of /proc/self/stat; field 2 may contain blanks and parentheses. */
static bool read_start_ticks(unsigned long long *ticks)
{
	char text[1024], *field;
	ssize_t length;
	int fd, nr;

	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	field = strrchr(text, ')');
	for (nr = 2; field && nr < 22; nr++)
		field = strchr(field + 1, ' ');
	if (!field)
		return false;
	*ticks = strtoull(field, NULL, 10);
	return true;
}

static bool read_start_time(time_t *start)
{
	struct timespec now, boot;
	unsigned long long ticks;

	if (!read_start_ticks(&ticks))
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	*start = now.tv_sec - boot.tv_sec + ticks / sysconf(_SC_CLK_TCK);
	return true;
}

/*
 * Process ids are reused, and each boot begins with the same ones. Allow two
 * seconds for rounding by both clocks and the file system. Read the file's time
 * last: others may begin to write meanwhile.
 */
int sfjit_drop_stale_lines(int fd)
{
	struct stat st;
	time_t start;

	if (fstat(fd, &st))
		return -errno;
	if (!st.st_size || !read_start_time(&start))
		return 0;
	if (fstat(fd, &st))
		return -errno;
	if (st.st_mtim.tv_sec + 2 >= start)
		return 0;
	return ftruncate(fd, 0) ? -errno : 0;
}

static int copy_lines(int from, int to, off_t end)
{
	char buffer[16384];
	const off_t size = sizeof(buffer);
	off_t done = 0;
	ssize_t got;
	int ret;

	while (done < end) {
		got = pread(from, buffer, end - done < size ? end - done : size,
			    done);
		if (got <= 0)
			return got ? -errno : 0;
		ret = append_bytes(to, buffer, got);
		if (ret)
			return ret;
		done += got;
	}
	return 0;
}

/*
 * Code inherited by a forked child has its name in the file of its parent, up
 * to the end of the file at the fork.
 */
static int inherit_lines(const struct sfjit_file *file, int fd)
{
	struct stat st;
	int from, ret;

	if (!file->pid)
		return 0;
	from = open_file(file, file->pid, O_RDONLY, &st);
	if (from < 0)
		return 0;
	ret = copy_lines(from, fd, file->end);
	close(from);
	return ret;
}

static int begin_file(struct sfjit_file *file, int fd, pid_t pid)
{
	int ret;

	if (file->pid == pid)
		return 0;
	ret = sfjit_drop_stale_lines(fd);
	if (ret)
		return ret;
	ret = inherit_lines(file, fd);
	file->pid = pid;
	return ret;
}

/* ---- Lines ----------------------------------------------------------- */

int sfjit_write_line(struct sfjit_file *file, const char *line, size_t length)
{
	pid_t pid = getpid();
	struct stat st;
	int fd = open_file(file, pid, O_WRONLY | O_APPEND | O_CREAT, &st);
	int ret;

	if (fd < 0)
		return fd;
	ret = begin_file(file, fd, pid);
	if (!ret && length)
		ret = append_bytes(fd, line, length);
	file->end = lseek(fd, 0, SEEK_END);
	close(fd);
	return ret;
}

int sfjit_sync_file(struct sfjit_file *file)
{
	if (!file->pid || file->pid == getpid())
		return 0;
	return sfjit_write_line(file, NULL, 0);
}

/* ---- Names ----------------------------------------------------------- */

/* The first byte where a name may be cut: not inside a UTF-8 character. */
static size_t cut_name(const char *name)
{
	size_t length = strnlen(name, SFJIT_NAME_BYTES + 1);

	if (length <= SFJIT_NAME_BYTES)
		return length;
	length = SFJIT_NAME_BYTES;
	while (length && ((unsigned char)name[length] & 0xc0) == 0x80)
		length--;
	return length;
}

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

size_t sfjit_clean_name(char *to, const char *name)
{
	size_t i, length = cut_name(name);

	for (i = 0; i < length; i++)
		to[i] = is_control(name[i]) ? '?' : name[i];
	return length;
}
