// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Names: lines of /tmp/perf-PID.map.
 *
 * The file is opened for each line. Daemons close all descriptors when they
 * start, and the number of one that was kept open would then be reused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define NAME_MAX_BYTES	4000

/* The process that wrote the last line, and where that line ended. */
static pid_t last_pid;
static off_t last_end;

/* ---- The file -------------------------------------------------------- */

/*
 * Everybody can write to /tmp: a link or a FIFO of that name may exist there.
 * perf refuses to read a file of another user.
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

static int open_map(pid_t pid, int flags, struct stat *st)
{
	char path[sizeof("/tmp/perf-.map") + 3 * sizeof(pid)];
	int fd, ret;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
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

/* Past RLIMIT_FSIZE a write raises SIGXFSZ, which would kill the process. */
static bool fits_limit(off_t end)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || (rlim_t)end <= limit.rlim_cur;
}

/* One write(2), so that lines of several producers do not mix. */
static int append(int fd, const char *bytes, size_t length)
{
	struct stat st;
	ssize_t written;
	int ret = sfjit_fault("write");

	if (ret)
		return ret;
	if (fstat(fd, &st))
		return -errno;
	if (!fits_limit(st.st_size + length))
		return -EFBIG;
	written = write(fd, bytes, length);
	if (written < 0)
		return -errno;
	return (size_t)written == length ? 0 : -EIO;
}

/* ---- First line of a process ----------------------------------------- */

/* Field 22 of /proc/self/stat; the second may contain blanks and brackets. */
static int read_start_ticks(unsigned long long *ticks)
{
	char text[1024], *end;
	FILE *file = fopen("/proc/self/stat", "re");
	size_t length;

	if (!file)
		return -errno;
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %*c" /* 3 */
			   " %*s %*s %*s %*s %*s %*s %*s %*s %*s" /* 12 */
			   " %*s %*s %*s %*s %*s %*s %*s %*s %*s" /* 21 */
			   " %llu", ticks) != 1)
		return -EINVAL;
	return 0;
}

static int read_start_time(time_t *start)
{
	struct timespec now, boot;
	unsigned long long ticks;
	int ret = read_start_ticks(&ticks);

	if (ret)
		return ret;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	*start = now.tv_sec - boot.tv_sec + ticks / sysconf(_SC_CLK_TCK);
	return 0;
}

/*
 * Process numbers are reused, and each boot begins with the same ones. Two
 * seconds allow for the rounding of both clocks and of the file's time.
 */
static int drop_stale_lines(int fd, const struct stat *st)
{
	time_t start;

	if (!st->st_size || read_start_time(&start))
		return 0;
	if (st->st_mtim.tv_sec + 2 >= start)
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
		ret = append(to, buffer, got);
		if (ret)
			return ret;
		done += got;
	}
	return 0;
}

/*
 * Code that a forked child inherited is named in the file of the process that
 * it came from, up to the end as that process left it.
 */
static int inherit_lines(int fd)
{
	struct stat st;
	int from, ret;

	if (!last_pid)
		return 0;
	from = open_map(last_pid, O_RDONLY, &st);
	if (from < 0)
		return 0;
	ret = copy_lines(from, fd, last_end);
	close(from);
	return ret;
}

static int begin_file(int fd, pid_t pid, const struct stat *st)
{
	int ret;

	if (last_pid == pid)
		return 0;
	ret = drop_stale_lines(fd, st);
	if (ret)
		return ret;
	ret = inherit_lines(fd);
	last_pid = pid;
	return ret;
}

/* ---- Lines ----------------------------------------------------------- */

static int write_line(const char *line, size_t length)
{
	pid_t pid = getpid();
	struct stat st;
	int fd = open_map(pid, O_WRONLY | O_APPEND | O_CREAT, &st);
	int ret;

	if (fd < 0)
		return fd;
	ret = begin_file(fd, pid, &st);
	if (!ret && length)
		ret = append(fd, line, length);
	last_end = lseek(fd, 0, SEEK_END);
	close(fd);
	return ret;
}

/* The first byte after which a name may end: not inside a UTF-8 character. */
static size_t cut_name(const char *name)
{
	size_t length = strnlen(name, NAME_MAX_BYTES + 1);

	if (length <= NAME_MAX_BYTES)
		return length;
	length = NAME_MAX_BYTES;
	while (length && ((unsigned char)name[length] & 0xc0) == 0x80)
		length--;
	return length;
}

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

static size_t clean_name(char *to, const char *name)
{
	size_t i, length = cut_name(name);

	for (i = 0; i < length; i++)
		to[i] = is_control(name[i]) ? '?' : name[i];
	return length;
}

int sfjit_write_name(const void *start, size_t length, const char *name)
{
	char line[2 * 16 + 3 + NAME_MAX_BYTES + 1];
	size_t used;

	used = sprintf(line, "%lx %zx ", (unsigned long)start, length);
	used += clean_name(line + used, name);
	line[used++] = '\n';
	return write_line(line, used);
}

int sfjit_perf_map_name(const void *start, size_t length, const char *name)
{
	int ret;

	if (!length || sfjit_wraps(start, length))
		return -EINVAL;
	if (!name || !*name)
		return -EINVAL;
	ret = sfjit_lock_for_new();
	if (ret)
		return ret;
	ret = sfjit_write_name(start, length, name);
	sfjit_unlock();
	return ret;
}

int sfjit_perf_map_sync(void)
{
	int ret = 0;

	sfjit_lock();
	if (last_pid && last_pid != getpid())
		ret = write_line(NULL, 0);
	sfjit_unlock();
	return ret;
}
