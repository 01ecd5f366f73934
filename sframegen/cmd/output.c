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

/* As many as the kernel follows in one path. */
#define MAX_LINKS	40

/* With the slash; 0: the working directory. */
static size_t directory_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 - path : 0;
}

/*
 * The number in "/dev/fd/N", "/proc/self/fd/N" and what leads there, else -1.
 * What such a name says when it is read as a link need not be the file, and
 * another open() of it would start at its beginning. /dev/stdout is a link to
 * such a name.
 */
static int fd_of(const char *path)
{
	char directory[PATH_MAX], real[PATH_MAX], fds[PATH_MAX];
	size_t len = directory_len(path);
	size_t digits = strspn(path + len, "0123456789");

	/* no number of a file has more than 9 digits */
	if (!len || !digits || digits > 9 || path[len + digits])
		return -1;
	memcpy(directory, path, len);
	directory[len] = 0;
	if (!realpath(directory, real) || !realpath("/proc/self/fd", fds) ||
	    strcmp(real, fds))
		return -1;
	return atoi(path + len);
}

/* Where the link at 'path' leads takes the place of its last component. */
static int follow(char *path, const char *link)
{
	size_t keep = *link == '/' ? 0 : directory_len(path);

	if (keep + strlen(link) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(path + keep, link);
	return 0;
}

/*
 * The file behind the last of the links, which need not be there yet. A link
 * stays a link: rename() to its name would put a file in its place. realpath()
 * needs the file to be there. readlink() ends its text with no 0.
 */
static int resolve(const char *path, char *target)
{
	char link[PATH_MAX];
	unsigned int i;
	ssize_t len;
	int ret;

	*target = 0;
	ret = follow(target, path);
	for (i = 0; !ret && fd_of(target) < 0; i++) {
		len = readlink(target, link, sizeof(link) - 1);
		if (len < 0)
			return 0;
		link[len] = 0;
		ret = i < MAX_LINKS ? follow(target, link) : -ELOOP;
	}
	return ret;
}

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
 * Those of the file that is replaced, else those of a new one. mkstemp() makes
 * files for their owner alone (0600). fchown() may clear the set-ID bits, so
 * the mode comes after it. The mask can only be read by setting it, which no
 * other thread is here to see.
 */
static int set_mode(int fd, const struct stat *old)
{
	mode_t mask, mode;

	if (old) {
		/* who may not give it away owns it from now on */
		mode = old->st_mode & (fchown(fd, old->st_uid, old->st_gid) ?
				       0777 : 07777);
	} else {
		mask = umask(0);
		umask(mask);
		mode = 0666 & ~mask;
	}
	return fchmod(fd, mode) ? -errno : 0;
}

/*
 * close() is where NFS and quotas tell of a failed write. There is no fsync():
 * the promise is to other processes, not for a loss of power.
 */
static int fill(int fd, const struct stat *old, const void *data, size_t len)
{
	int ret = write_all(fd, data, len);

	if (!ret)
		ret = set_mode(fd, old);
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
		     (int)directory_len(path), path) >= (int)sizeof(temporary))
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
	int fd = fd_of(path);
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
	int ret = resolve(path, target);

	if (!ret)
		ret = write_target(target, data, len);
	return ret ? path_error(path, ret) : 0;
}

bool output_is_stdout(const char *path)
{
	char target[PATH_MAX];

	return !resolve(path, target) && fd_of(target) == STDOUT_FILENO;
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
