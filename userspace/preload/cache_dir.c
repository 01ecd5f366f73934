// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <string.h>

#include "cache_dir.h"
#include "environment.h"
#include "sys.h"

/* In base, or in its .cache. */
static char base[1024];
static bool below_home;

static char path[sizeof(base) + sizeof("/.cache/sfjit/tables")];

void cache_dir_init(char **environment)
{
	const char *dir = get_variable(environment, "XDG_CACHE_HOME");

	/* The specification wants relative paths ignored. */
	if (dir[0] != '/') {
		dir = get_variable(environment, "HOME");
		below_home = true;
	}
	if (dir[0] == '/' && strlen(dir) < sizeof(base))
		strcpy(base, dir);
}

bool cache_is_private(int fd, unsigned int type, unsigned int others,
		      struct stat *st)
{
	return SYS(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH) == 0 &&
	       (st->st_mode & S_IFMT) == type &&
	       st->st_uid == (uid_t)SYS(SYS_geteuid) &&
	       !(st->st_mode & others);
}

static int open_dir(int dir, const char *name, int flags, unsigned int others)
{
	int fd = sys_open(dir, name, O_RDONLY | O_DIRECTORY | flags, 0);
	struct stat st;

	if (fd >= 0 && !cache_is_private(fd, S_IFDIR, others, &st)) {
		sys_close(fd);
		return -EPERM;
	}
	return fd;
}

static int descend(int dir, const char *name, unsigned int others, bool create)
{
	int fd = open_dir(dir, name, O_NOFOLLOW, others);

	strcat(strcat(path, "/"), name);
	if (fd == -ENOENT && create) {
		SYS(SYS_mkdirat, dir, name, 0700);
		fd = open_dir(dir, name, O_NOFOLLOW, others);
	}
	sys_close(dir);
	return fd;
}

/*
 * The home directory may be a symbolic link and is never created. It and .cache
 * may be writable for the user's group, which is the default of some systems:
 * others can move our directories there, but cannot create one that we own.
 */
int cache_dir_open(bool create)
{
	int fd = base[0] ? open_dir(AT_FDCWD, base, 0, S_IWOTH) : -ENOENT;

	strcpy(path, base);
	if (fd >= 0 && below_home)
		fd = descend(fd, ".cache", S_IWOTH, create);
	if (fd >= 0)
		fd = descend(fd, "sfjit", CACHE_BY_OTHERS, create);
	if (fd >= 0)
		fd = descend(fd, "tables", CACHE_BY_OTHERS, create);
	return fd;
}

const char *cache_dir_base(void)
{
	return base;
}

const char *cache_dir_path(void)
{
	return path;
}
