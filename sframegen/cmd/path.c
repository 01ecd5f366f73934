// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Resolves the name of an output. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path.h"

/* The kernel's limit for a path. */
#define MAX_LINKS	40

/* With the slash; 0: the working directory. */
size_t path_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 - path : 0;
}

/*
 * Returns N of "/dev/fd/N", "/proc/self/fd/N" and links to these, else -1. The
 * target of such a link need not be the file, and another open() would start at
 * its beginning. /dev/stdout is a link to such a name.
 */
int path_fd(const char *path)
{
	char directory[PATH_MAX], real[PATH_MAX], fds[PATH_MAX];
	size_t len = path_directory(path);
	size_t digits = strspn(path + len, "0123456789");

	/* file descriptors have at most 9 digits */
	if (!len || !digits || digits > 9 || path[len + digits])
		return -1;
	memcpy(directory, path, len);
	directory[len] = 0;
	if (!realpath(directory, real) || !realpath("/proc/self/fd", fds) ||
	    strcmp(real, fds))
		return -1;
	return atoi(path + len);
}

/* Replaces the last component of 'path' by the link's target. */
static int follow_link(char *path, const char *link)
{
	size_t keep = *link == '/' ? 0 : path_directory(path);

	if (keep + strlen(link) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(path + keep, link);
	return 0;
}

/*
 * Follows links to a file that need not exist yet. rename() to a link's name
 * would replace the link. realpath() needs an existing file. readlink() does
 * not terminate its text.
 */
int path_resolve(const char *path, char target[PATH_MAX])
{
	char link[PATH_MAX];
	unsigned int i;
	ssize_t len;
	int ret;

	*target = 0;
	ret = follow_link(target, path);
	for (i = 0; !ret && path_fd(target) < 0; i++) {
		len = readlink(target, link, sizeof(link) - 1);
		if (len < 0)
			return 0;
		link[len] = 0;
		ret = i < MAX_LINKS ? follow_link(target, link) : -ELOOP;
	}
	return ret;
}

/* Writing to a disk would destroy its contents. */
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
 * Uses the mode of the replaced file, or that of a new one. mkstemp() makes
 * files with mode 0600. fchown() may clear set-ID bits, so set the mode after
 * it. The umask can only be read by setting it; there is no other thread.
 */
int path_set_mode(int fd, const struct stat *old)
{
	mode_t mask, mode;

	if (old) {
		/* if chown fails, we own the file */
		mode = old->st_mode & (fchown(fd, old->st_uid, old->st_gid) ?
				       0777 : 07777);
	} else {
		mask = umask(0);
		umask(mask);
		mode = 0666 & ~mask;
	}
	return fchmod(fd, mode) ? -errno : 0;
}
