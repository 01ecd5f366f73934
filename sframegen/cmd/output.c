// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Writes the output. A file is complete or unchanged. Other targets (a FIFO, a
 * device, an open file) are written to, by the rules of sfjit record: not a
 * disk, a socket or a terminal.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "object.h"
#include "path.h"

/*
 * Writing to a closed pipe ends the process by SIGPIPE, as usual for filters. A
 * file over its size limit gives EFBIG, because main() ignores SIGXFSZ.
 */
static const char *write_whole_output(int fd, const uint8_t *data, size_t len)
{
	ssize_t n;

	for (; len; data += n, len -= n) {
		n = write(fd, data, len);
		if (n < 0)
			return strerror(errno);
	}
	return NULL;
}

static const char *write_open(int fd, const void *data, size_t len)
{
	return isatty(fd) ? "is a terminal" : write_whole_output(fd, data, len);
}

/* Without O_CREAT and O_TRUNC: the target is not a regular file. */
static const char *write_through(const char *path, const void *data,
				 size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	const char *why;

	if (fd < 0)
		return strerror(errno);
	why = write_open(fd, data, len);
	if (close(fd) && !why)
		why = strerror(errno);
	return why;
}

/*
 * close() reports failed writes of NFS and quotas. No fsync(): we promise
 * atomicity to other processes, not after a power loss.
 */
static const char *fill(int fd, const struct stat *old, const void *data,
			size_t len)
{
	const char *why = write_whole_output(fd, data, len);

	if (!why && path_set_mode(fd, old))
		why = strerror(errno);
	if (close(fd) && !why)
		why = strerror(errno);
	return why;
}

/*
 * rename() is atomic only within a file system, so the temporary file is in the
 * target's directory. mkstemp() uses O_EXCL and follows no link. Other hard
 * links keep the old content.
 */
static const char *replace(const char *path, const struct stat *old,
			   const void *data, size_t len)
{
	char temporary[PATH_MAX];
	const char *why;
	int fd;

	if (snprintf(temporary, sizeof(temporary), "%.*s.sframegen-XXXXXX",
		     (int)path_directory(path), path) >= (int)sizeof(temporary))
		return strerror(ENAMETOOLONG);
	fd = mkstemp(temporary);
	if (fd < 0)
		return strerror(errno);
	why = fill(fd, old, data, len);
	if (!why && rename(temporary, path))
		why = strerror(errno);
	if (why)
		unlink(temporary);
	return why;
}

/*
 * Delay fatal signals until the temporary file is gone. SIGKILL leaves it, and
 * the target as it was.
 */
static const char *replace_undisturbed(const char *path,
				       const struct stat *old,
				       const void *data, size_t len)
{
	sigset_t all, before;
	const char *why;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	why = replace(path, old, data, len);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return why;
}

static const char *write_target(const char *path, const void *data, size_t len)
{
	int fd = path_fd(path);
	const char *why;
	struct stat st;

	if (fd >= 0)
		return write_open(fd, data, len);
	if (stat(path, &st))
		return errno == ENOENT ?
		       replace_undisturbed(path, NULL, data, len) :
		       strerror(errno);
	/* rename() needs rights to the directory only */
	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
		return strerror(errno);
	if (S_ISREG(st.st_mode))
		return replace_undisturbed(path, &st, data, len);
	why = path_why_not(st.st_mode);
	return why ? why : write_through(path, data, len);
}

int write_file(const char *path, const void *data, size_t len)
{
	char target[PATH_MAX];
	int ret = path_resolve(path, target);
	const char *why = ret ? strerror(-ret) :
			  write_target(target, data, len);

	if (!why)
		return 0;
	path_refused(path, why);
	return -EIO;
}

bool output_is_stdout(const char *path)
{
	char target[PATH_MAX];

	return !path_resolve(path, target) && path_fd(target) == STDOUT_FILENO;
}

/*
 * Device and inode number together identify a file (POSIX). A pipe or terminal
 * may be both.
 */
bool output_is_input(const char *output, const char *input)
{
	struct stat out, in;

	return !stat(output, &out) && !stat(input, &in) &&
	       S_ISREG(in.st_mode) && out.st_dev == in.st_dev &&
	       out.st_ino == in.st_ino;
}
