// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Writes the output. A file is there complete or as it was; whatever else the
 * name leads to (a pipe, a device, an open file) is written to.
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
 * A pipe that nobody reads ends the process by SIGPIPE, as is usual for a
 * filter; over the limit on a file's size there is EFBIG, as main() ignores
 * SIGXFSZ.
 */
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

/* Without O_CREAT and O_TRUNC: what is there is not a regular file. */
static int write_through(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write_all(fd, data, len);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

/*
 * close() is where NFS and quotas tell of a failed write. There is no fsync():
 * the promise is to other processes, not for a loss of power.
 */
static int fill(int fd, const struct stat *old, const void *data, size_t len)
{
	int ret = write_all(fd, data, len);

	if (!ret)
		ret = path_set_mode(fd, old);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

/*
 * rename() is atomic within one file system only, so the temporary file is in
 * the directory of the target. mkstemp() opens with O_EXCL: a link that
 * somebody put there is not followed. Other hard links keep the old content.
 */
static int replace(const char *path, const struct stat *old, const void *data,
		   size_t len)
{
	char temporary[PATH_MAX];
	int fd, ret;

	if (snprintf(temporary, sizeof(temporary), "%.*s.sframegen-XXXXXX",
		     (int)path_directory(path), path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = mkstemp(temporary);
	if (fd < 0)
		return -errno;
	ret = fill(fd, old, data, len);
	if (!ret && rename(temporary, path))
		ret = -errno;
	if (ret)
		unlink(temporary);
	return ret;
}

/*
 * A signal that ends the process waits until the temporary file is gone.
 * SIGKILL cannot wait: it leaves the temporary file, and the target as it was.
 */
static int replace_undisturbed(const char *path, const struct stat *old,
			       const void *data, size_t len)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	ret = replace(path, old, data, len);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static int write_target(const char *path, const void *data, size_t len)
{
	int fd = path_fd(path);
	struct stat st;

	if (fd >= 0)
		return write_all(fd, data, len);
	if (stat(path, &st))
		return errno == ENOENT ?
		       replace_undisturbed(path, NULL, data, len) : -errno;
	/* rename() asks for rights to the directory only */
	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
		return -errno;
	if (S_ISREG(st.st_mode))
		return replace_undisturbed(path, &st, data, len);
	return write_through(path, data, len);
}

int write_file(const char *path, const void *data, size_t len)
{
	char target[PATH_MAX];
	int ret = path_resolve(path, target);

	if (!ret)
		ret = write_target(target, data, len);
	return ret ? path_error(path, ret) : 0;
}

bool output_is_stdout(const char *path)
{
	char target[PATH_MAX];

	return !path_resolve(path, target) && path_fd(target) == STDOUT_FILENO;
}

/*
 * Device and inode number together name a file (POSIX). A pipe or a terminal
 * may be both.
 */
bool output_is_input(const char *output, const char *input)
{
	struct stat out, in;

	return !stat(output, &out) && !stat(input, &in) &&
	       S_ISREG(in.st_mode) && out.st_dev == in.st_dev &&
	       out.st_ino == in.st_ino;
}
