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

bool cache_is_safe(int fd, enum cache cache, unsigned int type,
		   unsigned int others, struct stat *st)
{
	uid_t owner = cache == CACHE_SYSTEM ? 0 : SYS(SYS_geteuid);

	return SYS(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH) == 0 &&
	       (st->st_mode & S_IFMT) == type && st->st_uid == owner &&
	       !(st->st_mode & others);
}

static int open_dir(int dir, const char *name, int flags, enum cache cache,
		    unsigned int others)
{
	int fd = sys_open(dir, name, O_RDONLY | O_DIRECTORY | flags, 0);
	struct stat st;

	if (fd >= 0 && !cache_is_safe(fd, cache, S_IFDIR, others, &st)) {
		sys_close(fd);
		return -EPERM;
	}
	return fd;
}

/* Whatever the umask is, all read that of the system. */
static int make_dir(int dir, const char *name, enum cache cache)
{
	int ret = SYS(SYS_mkdirat, dir, name, 0700), fd;

	if (ret && ret != -EEXIST)
		return ret;
	fd = open_dir(dir, name, O_NOFOLLOW, cache, CACHE_BY_OTHERS);
	if (!ret && fd >= 0 && cache == CACHE_SYSTEM)
		SYS(SYS_fchmod, fd, 0755);
	return fd;
}

static int descend(int dir, const char *name, enum cache cache,
		   unsigned int others, bool create)
{
	int fd = open_dir(dir, name, O_NOFOLLOW, cache, others);

	strcat(strcat(path, "/"), name);
	if (fd == -ENOENT && create)
		fd = make_dir(dir, name, cache);
	sys_close(dir);
	return fd;
}

/*
 * The first directory may be a symbolic link and is never created. It and
 * .cache may be writable for their group, which is the default of some systems:
 * others can move our directories there, but cannot create one that we own.
 */
int cache_dir_open(enum cache cache, bool create)
{
	const char *start = cache == CACHE_SYSTEM ? "/var/cache" : base;
	int fd = *start ? open_dir(AT_FDCWD, start, 0, cache, S_IWOTH) :
		 -ENOENT;

	strcpy(path, start);
	if (fd >= 0 && cache == CACHE_OWN && below_home)
		fd = descend(fd, ".cache", cache, S_IWOTH, create);
	if (fd >= 0)
		fd = descend(fd, "sfjit", cache, CACHE_BY_OTHERS, create);
	if (fd >= 0)
		fd = descend(fd, "tables", cache, CACHE_BY_OTHERS, create);
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
