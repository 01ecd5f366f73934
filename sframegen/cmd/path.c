// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Where the name of an output leads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path.h"

/* As many as the kernel follows in one path. */
#define MAX_LINKS	40

/* With the slash; 0: the working directory. */
size_t path_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 - path : 0;
}

/*
 * The number in "/dev/fd/N", "/proc/self/fd/N" and links to these, else -1. The
 * target of such a link need not be the file, and another open() of it would
 * start at its beginning. /dev/stdout is a link to such a name.
 */
int path_fd(const char *path)
{
	char directory[PATH_MAX], real[PATH_MAX], fds[PATH_MAX];
	size_t len = path_directory(path);
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
	size_t keep = *link == '/' ? 0 : path_directory(path);

	if (keep + strlen(link) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(path + keep, link);
	return 0;
}

/*
 * The file at the end of the links, which need not exist yet. A link stays a
 * link: rename() to its name would replace it by a file. realpath() needs an
 * existing file. readlink() does not terminate its text.
 */
int path_resolve(const char *path, char target[PATH_MAX])
{
	char link[PATH_MAX];
	unsigned int i;
	ssize_t len;
	int ret;

	*target = 0;
	ret = follow(target, path);
	for (i = 0; !ret && path_fd(target) < 0; i++) {
		len = readlink(target, link, sizeof(link) - 1);
		if (len < 0)
			return 0;
		link[len] = 0;
		ret = i < MAX_LINKS ? follow(target, link) : -ELOOP;
	}
	return ret;
}

/* Writing to a disk would destroy all that it has. */
const char *path_why_not(mode_t mode)
{
	if (S_ISDIR(mode))
		return strerror(EISDIR);
	if (S_ISBLK(mode))
		return "is a block device";
	if (S_ISSOCK(mode))
		return "is a socket";
	return NULL;
}

/*
 * Those of the file that is replaced, else those of a new one. mkstemp() makes
 * files for their owner alone (0600). fchown() may clear the set-ID bits, so
 * the mode comes after it. The mask can only be read by setting it, which no
 * other thread is here to see.
 */
int path_set_mode(int fd, const struct stat *old)
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
