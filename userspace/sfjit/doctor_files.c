// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The module that programs load, the cache of its tables, and tables of files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../preload/cache_dir.h"
#include "doctor.h"
#include "file_tables.h"
#include "library.h"
#include "ps.h"
#include "util.h"

#define LITTLE_ROOM	(16UL << 20)

extern char **environ;

/* As ld.so does. Returns 0 or -errno; -EPERM: the file system is noexec. */
static int map_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;
	size_t length = sysconf(_SC_PAGESIZE);
	void *text;

	if (fd < 0)
		return -errno;
	text = mmap(NULL, length, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ret = text == MAP_FAILED ? -errno : 0;
	if (!ret)
		munmap(text, length);
	close(fd);
	return ret;
}

void doctor_check_module(struct doctor *doctor)
{
	struct doctor_advice advice = {
		DOCTOR_BROKEN, "sfjit run starts programs without windows",
		"install it, in a path without space, colon and dollar",
	};
	char path[PATH_MAX];
	int ret = library_find(LIBRARY_PRELOAD, path);

	if (!ret && !library_can_preload(path))
		ret = -EINVAL;
	if (!ret)
		ret = map_text(path);
	if (ret == -EPERM)
		advice.remedy = doctor_text("mount -o remount,exec "
			"\"$(findmnt -no TARGET -T %s)\"", path);
	if (ret)
		doctor_say(doctor, "module", &advice, "%s: %s", path,
			   ret == -EPERM ? "the filesystem is mounted noexec" :
			   strerror(-ret));
	else
		doctor_say(doctor, "module", NULL, "%s", path);
}

static void say_no_cache(struct doctor *doctor, const char *path, int error)
{
	static const struct doctor_advice advice = {
		DOCTOR_LIMITED, "tables are kept in /tmp, until it is emptied",
		"export XDG_CACHE_HOME=DIRECTORY, of your own",
	};

	if (!*path)
		doctor_say(doctor, "cache", &advice,
			   "neither XDG_CACHE_HOME nor HOME is set to a path");
	else
		doctor_say(doctor, "cache", &advice, "%s: %s", path,
			   error == EPERM ? "other users may write to it" :
			   strerror(error));
}

/* The first run makes all directories that are missing, but for HOME. */
static void check_missing(struct doctor *doctor, const char *path)
{
	char *parent = check_alloc(strdup(path)), *end;

	do {
		end = strrchr(parent, '/') ?: parent;
		end[end == parent] = '\0';
	} while (access(parent, F_OK) && errno == ENOENT && end != parent);
	if (!strcmp(path, cache_dir_base()) && cache_dir_is_home())
		say_no_cache(doctor, path, ENOENT);
	else if (access(parent, W_OK | X_OK))
		say_no_cache(doctor, parent, errno);
	else
		doctor_say(doctor, "cache", NULL,
			   "%s is made by the first sfjit run", path);
	free(parent);
}

static unsigned int count_tables(int fd)
{
	DIR *dir = check_alloc(fdopendir(fd));
	struct dirent *entry;
	unsigned int nr = 0;

	while ((entry = readdir(dir)))
		nr += strstr(entry->d_name, CACHE_SUFFIX) != NULL;
	closedir(dir);
	return nr;
}

static void check_tables(struct doctor *doctor, const char *path, int fd)
{
	static const struct doctor_advice full = {
		DOCTOR_LIMITED, "new tables may not fit and are then not kept",
		"sfjit cache --clean --mib=100",
	};
	struct statvfs fs = { .f_bavail = 0 };
	unsigned long room;

	fstatvfs(fd, &fs);
	room = fs.f_bavail * fs.f_frsize;
	if (faccessat(fd, ".", W_OK, 0))
		say_no_cache(doctor, path, errno);
	else
		doctor_say(doctor, "cache", room < LITTLE_ROOM ? &full : NULL,
			   "%s has %u tables, and room for %lu MiB", path,
			   count_tables(dup(fd)), room >> 20);
	close(fd);
}

/* Few machines have one: without it there is nothing to say. */
static void check_shared(struct doctor *doctor)
{
	static const struct doctor_advice unsafe = {
		DOCTOR_LIMITED, "no program uses its tables",
		"chown -R root:root /var/cache/sfjit; "
		"chmod -R go-w /var/cache/sfjit",
	};
	int fd = cache_dir_open(CACHE_SYSTEM, false);

	if (fd >= 0)
		doctor_say(doctor, "shared", NULL,
			   "%s has %u tables for all users", cache_dir_path(),
			   count_tables(fd));
	else if (fd == -EPERM)
		doctor_say(doctor, "shared", &unsafe,
			   "%s: users other than root may write to it",
			   cache_dir_path());
}

static void check_own(struct doctor *doctor)
{
	int fd = cache_dir_open(CACHE_OWN, false);

	if (fd >= 0)
		check_tables(doctor, cache_dir_path(), fd);
	else if (fd == -ENOENT)
		check_missing(doctor, cache_dir_path());
	else
		say_no_cache(doctor, cache_dir_path(), -fd);
}

void doctor_check_cache(struct doctor *doctor)
{
	cache_dir_init(environ);
	check_own(doctor);
	check_shared(doctor);
}

/* Users without the right get another error. */
static bool has_tables_of_files(void)
{
	int fd = file_tables_open();

	if (fd >= 0)
		close(fd);
	return fd != -EINVAL;
}

void doctor_check_daemon(struct doctor *doctor)
{
	size_t files;

	if (ps_count_files("/proc", &files))
		doctor_say(doctor, "daemon", NULL,
			   "sfjit daemon has given %zu files a table", files);
	else if (has_tables_of_files())
		doctor_say(doctor, "daemon", NULL,
			   "no sfjit daemon was found");
	else
		doctor_say(doctor, "daemon", NULL,
			   "none: this kernel has no tables of files");
}
