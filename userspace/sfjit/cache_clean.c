// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "util.h"

#define UNFINISHED	3600	/* seconds after which none writes it */
#define STAMP		"../cleaned"	/* beside the tables */
#define STAMP_HOLDS	86400	/* seconds */

struct file {
	char *name;
	uint64_t size;
	time_t used;
};

struct files {
	struct file *file;
	size_t nr, max;
	struct cache_cleaned *cleaned;
};

extern char **environ;

/* What follows the suffix of a table: the mark of one that is not complete yet. */
static const char *mark_of(const char *name, const char *suffix)
{
	const char *found = strstr(name, suffix);

	return found ? found + strlen(suffix) : NULL;
}

static const char *table_mark(const char *name)
{
	return mark_of(name, CACHE_SUFFIX) ?: mark_of(name, CACHE_OLD_SUFFIX);
}

static bool is_table(const char *name)
{
	const char *mark = table_mark(name);

	return mark && !*mark;
}

/* File systems may not keep the time of reading, or only once a day. */
static time_t last_use(const struct stat *st)
{
	return st->st_atime > st->st_mtime ? st->st_atime : st->st_mtime;
}

static int remove_file(struct files *files, int dir, const char *name,
		       uint64_t size)
{
	if (unlinkat(dir, name, 0))
		return errno == ENOENT ? 0 : -errno;
	files->cleaned->removed++;
	files->cleaned->removed_bytes += size;
	return 0;
}

static void list_file(struct files *files, const char *name,
		      const struct stat *st)
{
	check_grow(&files->file, &files->max, files->nr, sizeof(*files->file));
	files->file[files->nr++] = (struct file) {
		check_alloc(strdup(name)), st->st_size, last_use(st),
	};
	files->cleaned->left_bytes += st->st_size;
}

static bool is_outside(const struct cache_bounds *bounds, const char *name,
		       const struct stat *st)
{
	time_t now = time(NULL);

	if (!is_table(name))
		return st->st_mtime < now - UNFINISHED;
	if (bounds->keep && !names_have(bounds->keep, name))
		return true;
	return (uint64_t)(now - last_use(st)) / 86400 >= bounds->days &&
	       now > last_use(st);
}

static int look_at_file(struct files *files, int dir, const char *name,
			const struct cache_bounds *bounds)
{
	struct stat st;

	/* Nothing else is ours. */
	if (!table_mark(name) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode))
		return 0;
	if (is_outside(bounds, name, &st))
		return remove_file(files, dir, name, st.st_size);
	if (is_table(name))
		list_file(files, name, &st);
	return 0;
}

static int by_use(const void *a, const void *b)
{
	const struct file *first = a, *second = b;

	return (first->used > second->used) - (first->used < second->used);
}

/* Those that were not used for the longest time go first. */
static int shrink_to(struct files *files, int dir, uint64_t most)
{
	size_t i;
	int ret = 0;

	qsort(files->file, files->nr, sizeof(*files->file), by_use);
	for (i = 0; !ret && i < files->nr &&
	     files->cleaned->left_bytes > most; i++) {
		ret = remove_file(files, dir, files->file[i].name,
				  files->file[i].size);
		files->cleaned->left_bytes -= files->file[i].size;
	}
	return ret;
}

static int look_at_all(struct files *files, int dir, DIR *entries,
		       const struct cache_bounds *bounds)
{
	struct dirent *entry;
	int ret = 0;

	while (!ret && (entry = readdir(entries)))
		ret = look_at_file(files, dir, entry->d_name, bounds);
	return ret ? ret : shrink_to(files, dir, (uint64_t)bounds->mib << 20);
}

int cache_clean(int tables, const struct cache_bounds *bounds,
		struct cache_cleaned *cleaned)
{
	int fd = openat(tables, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct files files = { .cleaned = cleaned };
	int ret;

	*cleaned = (struct cache_cleaned) { .removed = 0 };
	if (!entries) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	ret = look_at_all(&files, tables, entries, bounds);
	while (files.nr)
		free(files.file[--files.nr].name);
	free(files.file);
	closedir(entries);
	return ret;
}

/* A stamp of the future is that of another clock. */
static bool was_cleaned(int tables)
{
	time_t now = time(NULL);
	struct stat st;

	return !fstatat(tables, STAMP, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_mtime <= now && now - st.st_mtime < STAMP_HOLDS;
}

/* First, so that programs that begin together do not all clean. */
static bool set_stamp(int tables)
{
	int fd = openat(tables, STAMP, O_WRONLY | O_CREAT | O_NOFOLLOW |
			O_NONBLOCK | O_CLOEXEC, 0600);
	bool set = fd >= 0 && !futimens(fd, NULL);

	if (fd >= 0)
		close(fd);
	return set;
}

static void tend(enum cache cache)
{
	static const struct cache_bounds bounds = {
		.days = CACHE_DAYS, .mib = CACHE_MIB,
	};
	int tables = cache_dir_open(cache, false);
	struct cache_cleaned cleaned;

	if (tables < 0)
		return;
	if (!was_cleaned(tables) && set_stamp(tables))
		cache_clean(tables, &bounds, &cleaned);
	close(tables);
}

void cache_tend(void)
{
	cache_dir_init(environ);
	tend(CACHE_OWN);
	tend(CACHE_TEMPORARY);
}
