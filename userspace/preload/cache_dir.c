// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <limits.h>
#include <string.h>

#include "cache_dir.h"
#include "sys.h"

/* In base, or in its .cache. */
static char base[1024];
static bool below_home;

static char path[sizeof(base) + sizeof("/.cache/sfjit/tables")];

void cache_dir_init(char **environment)
{
	const char *dir = sys_variable(environment, "XDG_CACHE_HOME");

	/* The specification wants relative paths ignored. */
	if (dir[0] != '/') {
		dir = sys_variable(environment, "HOME");
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

/* "..", too: the path is the user's. */
static int enter_dir(int dir, const char *name)
{
	int fd = sys_open(dir, name, O_PATH | O_DIRECTORY, 0);
	struct stat st;

	/* Root does not make directories that other users do not get rid of. */
	if (fd == -ENOENT && !SYS(SYS_newfstatat, dir, "", &st, AT_EMPTY_PATH) &&
	    (!st.st_uid || st.st_uid == SYS(SYS_geteuid)) &&
	    !SYS(SYS_mkdirat, dir, name, 0700))
		fd = sys_open(dir, name, O_PATH | O_DIRECTORY, 0);
	sys_close(dir);
	return fd;
}

/* As the specification of XDG_CACHE_HOME wants it. */
static void make_base(void)
{
	int fd = sys_open(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
	const char *at = base, *end;
	char name[NAME_MAX + 1];

	while (fd >= 0 && *at) {
		at += strspn(at, "/");
		end = at + strcspn(at, "/");
		if (end - at > NAME_MAX)
			break;
		memcpy(name, at, end - at);
		name[end - at] = '\0';
		if (*name)
			fd = enter_dir(fd, name);
		at = end;
	}
	if (fd >= 0)
		sys_close(fd);
}

/*
 * The first directory may be a symbolic link. It and .cache may be writable for
 * their group, which is the default of some systems: others can move our
 * directories there, but cannot create one that we own.
 */
static int open_own(bool create)
{
	int fd = *base ? open_dir(AT_FDCWD, base, 0, CACHE_OWN, S_IWOTH) :
		 -ENOENT;

	if (fd == -ENOENT && create && !below_home) {
		make_base();
		fd = open_dir(AT_FDCWD, base, 0, CACHE_OWN, S_IWOTH);
	}
	strcpy(path, base);
	if (fd >= 0 && below_home)
		fd = descend(fd, ".cache", CACHE_OWN, S_IWOTH, create);
	return fd < 0 ? fd : descend(fd, "sfjit", CACHE_OWN, CACHE_BY_OTHERS,
				     create);
}

static int open_system(bool create)
{
	int fd = open_dir(AT_FDCWD, "/var/cache", 0, CACHE_SYSTEM, S_IWOTH);

	strcpy(path, "/var/cache");
	return fd < 0 ? fd : descend(fd, "sfjit", CACHE_SYSTEM,
				     CACHE_BY_OTHERS, create);
}

/* All users write there, but move only their own files (sticky). */
static bool is_sticky(int fd)
{
	struct stat st;

	return !SYS(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) &&
	       (!st.st_uid || st.st_uid == SYS(SYS_geteuid)) &&
	       (st.st_mode & S_ISVTX || !(st.st_mode & CACHE_BY_OTHERS));
}

static int open_temporary_dir(bool create)
{
	int fd = sys_open(AT_FDCWD, "/tmp", O_RDONLY | O_DIRECTORY, 0);
	struct text name = { .length = 0 };

	strcpy(path, "/tmp");
	if (fd >= 0 && !is_sticky(fd)) {
		sys_close(fd);
		fd = -EPERM;
	}
	text_put(&name, "sfjit-");
	text_decimal(&name, SYS(SYS_geteuid), 0);
	return fd < 0 ? fd : descend(fd, name.data, CACHE_TEMPORARY,
				     CACHE_BY_OTHERS, create);
}

int cache_dir_open(enum cache cache, bool create)
{
	int fd = cache == CACHE_OWN ? open_own(create) :
		 cache == CACHE_SYSTEM ? open_system(create) :
		 open_temporary_dir(create);

	return fd < 0 ? fd : descend(fd, "tables", cache, CACHE_BY_OTHERS,
				     create);
}

bool cache_dir_is_home(void)
{
	return below_home;
}

const char *cache_dir_base(void)
{
	return base;
}

const char *cache_dir_path(void)
{
	return path;
}
