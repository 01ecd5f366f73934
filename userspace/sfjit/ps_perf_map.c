// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Opens /tmp/perf-PID.map of a process. Every user can create a file of any
 * type there. In namespaces of its own the process can mount a file system that
 * it serves itself (FUSE, or an overlay of it). Each access may then block for
 * ever in a state that no signal ends, also fstatfs() and exit with an open
 * file. A child does all that, and is abandoned if it does not answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check_alloc.h"
#include "ps.h"
#include "ps_util.h"

/* What the child looks for, and the parent's end of it. */
struct feed {
	const char *dir;
	char name[32];
	long bytes;
	int fd;
	pid_t child;
	struct timespec end;
};

/* The number that the process has in its own namespace. */
static pid_t own_pid(const char *dir, pid_t pid)
{
	FILE *file = ps_open(dir, "status");
	/* 33 numbers: namespaces are nested up to 32 deep. */
	char line[512], *last;

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

/* ---- The child ------------------------------------------------------- */

static int open_path(int dir, const char *path, int flags, int resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = resolve,
	};

	return syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

/* O_PATH: to open a device has effects, such as rewinding a tape. */
static int find_map(const struct feed *feed)
{
	int fd = open(feed->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	fd = openat(fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* Symbolic links are resolved as the process would resolve them. */
	fd = open_path(fd, "/tmp", O_DIRECTORY, RESOLVE_IN_ROOT);
	/* A file of root's may be mounted there: /proc/kmsg, for one. */
	return open_path(fd, feed->name, O_NOFOLLOW, RESOLVE_NO_XDEV);
}

/* As perf: a map of the user, of root, or of the process's user. */
static bool is_trusted(int fd, const char *dir)
{
	struct stat map, process;

	/* A second name would be that of another's file, or of many maps. */
	if (fstat(fd, &map) || !S_ISREG(map.st_mode) || map.st_nlink != 1)
		return false;
	if (stat(dir, &process))
		return false;
	return !map.st_uid || map.st_uid == geteuid() ||
	       map.st_uid == process.st_uid;
}

static int open_map(const struct feed *feed)
{
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	int fd = find_map(feed);

	if (fd < 0 || !is_trusted(fd, feed->dir))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* Without O_NONBLOCK, a lease that the owner holds would block it. */
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static bool write_all(int fd, const char *bytes, size_t length)
{
	ssize_t done;

	for (; length; bytes += done, length -= done) {
		done = write(fd, bytes, length);
		if (done <= 0)
			return false;
	}
	return true;
}

static void copy_bytes(int from, int to, long bytes)
{
	char chunk[16384];
	ssize_t got, text;

	for (; bytes > 0; bytes -= got) {
		got = read(from, chunk, sizeof(chunk));
		if (got <= 0)
			return;
		/* Holes are zeros, and a file may have terabytes of them. */
		text = strnlen(chunk, got);
		if (!write_all(to, chunk, text) || text < got)
			return;
	}
}

static _Noreturn void be_child(const struct feed *feed, int out)
{
	int fd;

	/* A child that blocks must not hold our output open. */
	dup2(out, STDIN_FILENO);
	syscall(SYS_close_range, STDIN_FILENO + 1, ~0U, 0);
	fd = open_map(feed);
	if (fd >= 0)
		copy_bytes(fd, STDIN_FILENO, feed->bytes);
	_exit(0);
}

/* ---- The parent ------------------------------------------------------ */

static int ms_left(const struct feed *feed)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (feed->end.tv_sec - now.tv_sec) * 1000 +
	       (feed->end.tv_nsec - now.tv_nsec) / 1000000;
}

static ssize_t feed_read(void *cookie, char *buffer, size_t size)
{
	struct feed *feed = cookie;
	struct pollfd pollfd = { .fd = feed->fd, .events = POLLIN };
	int ms = ms_left(feed);

	if (ms > 0 && poll(&pollfd, 1, ms) == 1)
		return read(feed->fd, buffer, size);
	errno = ETIMEDOUT;
	return -1;
}

/* init will reap a child that cannot be killed now. */
static int feed_close(void *cookie)
{
	struct feed *feed = cookie;

	close(feed->fd);
	kill(feed->child, SIGKILL);
	waitpid(feed->child, NULL, WNOHANG);
	free(feed);
	return 0;
}

static int start_child(struct feed *feed)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	feed->child = fork();
	if (!feed->child)
		be_child(feed, ends[1]);
	close(ends[1]);
	feed->fd = ends[0];
	if (feed->child < 0)
		close(ends[0]);
	return feed->child < 0 ? -1 : 0;
}

FILE *ps_open_perf_map(const char *dir, pid_t pid, long bytes, int ms)
{
	static const cookie_io_functions_t functions = {
		.read = feed_read,
		.close = feed_close,
	};
	struct feed *feed = check_alloc(calloc(1, sizeof(*feed)));

	feed->dir = dir;
	feed->bytes = bytes;
	snprintf(feed->name, sizeof(feed->name), "perf-%d.map",
		 own_pid(dir, pid));
	clock_gettime(CLOCK_MONOTONIC, &feed->end);
	feed->end.tv_sec += ms / 1000;
	feed->end.tv_nsec += ms % 1000 * 1000000L;
	if (start_child(feed)) {
		free(feed);
		return NULL;
	}
	return check_alloc(fopencookie(feed, "r", functions));
}
