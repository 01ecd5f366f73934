// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"
#include "target.h"

#define OLD_IS_OTHER	"what is there cannot be renamed to FILE.old, which " \
			"is not a regular file"

/* Messages must not get the number of a closed standard stream. */
static void hold_standard_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* ---- What is there ----------------------------------------------------- */

/* rename() needs no permission for the file that it replaces. */
static const char *check_old_file(const struct target *target,
				  const struct stat *st)
{
	struct stat old;

	if (!*target->old)
		return faccessat(AT_FDCWD, target->path, W_OK, AT_EACCESS) ?
		       strerror(errno) : NULL;
	if (st->st_size && !lstat(target->old, &old) &&
	    !S_ISREG(old.st_mode))
		return OLD_IS_OTHER;
	return NULL;
}

/* ---- Opening ----------------------------------------------------------- */

static const char *open_beside(struct target *target)
{
	char *name = target->temporary;

	if (snprintf(name, PATH_MAX, "%.*s.sfjit-XXXXXX",
		     (int)path_directory(target->path), target->path) >=
	    PATH_MAX) {
		*name = '\0';
		return strerror(ENAMETOOLONG);
	}
	target->fd = mkostemp(name, O_CLOEXEC);
	if (target->fd >= 0)
		return NULL;
	*name = '\0';
	return strerror(errno);
}

static const char *open_directly(struct target *target)
{
	target->fd = target->number < 0 ?
		open(target->path, O_WRONLY | O_CLOEXEC | O_NOCTTY) :
		fcntl(target->number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (target->fd < 0)
		return strerror(errno);
	if (!isatty(target->fd))
		return NULL;
	close(target->fd);
	return "is a terminal";
}

static const char *open_written(struct target *target)
{
	const char *why;
	struct stat st;

	if (target->number >= 0)
		return open_directly(target);
	if (stat(target->path, &st))
		return errno == ENOENT ? open_beside(target) :
		       strerror(errno);
	why = S_ISREG(st.st_mode) ? check_old_file(target, &st) :
				    path_why_not(st.st_mode);
	if (why)
		return why;
	return S_ISREG(st.st_mode) ? open_beside(target) :
				     open_directly(target);
}

const char *target_open(struct target *target, const char *name, bool keep_old)
{
	int ret;

	hold_standard_streams();
	*target = (struct target){ .name = name, .fd = -1 };
	if (!strcmp(name, "-")) {
		target->name = "standard output";
		target->number = STDOUT_FILENO;
		return open_directly(target);
	}
	ret = path_resolve(name, target->path);
	target->number = path_fd(target->path);
	if (!ret && keep_old && snprintf(target->old, sizeof(target->old),
			"%s.old", target->path) >= PATH_MAX)
		ret = -ENAMETOOLONG;
	return ret ? strerror(-ret) : open_written(target);
}

bool target_is_standard(const struct target *target)
{
	return target->number == STDOUT_FILENO;
}

/* ---- The end ----------------------------------------------------------- */

/* Meanwhile it may have become something else. */
static const char *keep_old(struct target *target, const struct stat *st)
{
	const char *why = check_old_file(target, st);

	if (why || !*target->old || !st->st_size)
		return why;
	if (rename(target->path, target->old))
		return strerror(errno);
	target->kept = true;
	return NULL;
}

static const char *take_mode(const struct target *target)
{
	struct stat st;

	if (*target->old || !*target->temporary ||
	    lstat(target->path, &st) || !path_set_mode(target->fd, &st))
		return NULL;
	return strerror(errno);
}

static const char *put_in_place(struct target *target)
{
	const char *why = NULL;
	struct stat st;

	if (!lstat(target->path, &st))
		why = S_ISREG(st.st_mode) ? keep_old(target, &st) :
		      "is not a regular file any more";
	if (!why && rename(target->temporary, target->path))
		why = strerror(errno);
	return why;
}

const char *target_finish(struct target *target)
{
	const char *why = take_mode(target);

	/* NFS and quotas tell of a failed write here. */
	if (close(target->fd) && !why)
		why = strerror(errno);
	target->fd = -1;
	if (!why && *target->temporary)
		why = put_in_place(target);
	if (!why)
		*target->temporary = '\0';
	return why;
}

void target_drop(struct target *target)
{
	if (*target->temporary)
		unlink(target->temporary);
	close(target->fd);
}
