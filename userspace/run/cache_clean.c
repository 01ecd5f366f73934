// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "must.h"

#define SUFFIX		".sframe"
#define UNFINISHED	3600	/* seconds after which nobody writes it */

struct file {
	char *name;
	uint64_t size;
	time_t used;
};

struct files {
	struct file *file;
	size_t nr;
	uint64_t size;
	size_t removed;
	uint64_t removed_size;
};

/* ID.sframe; with more behind it, one that is written and not complete yet. */
static bool is_table(const char *name)
{
	const char *suffix = strstr(name, SUFFIX);

	return suffix && !suffix[strlen(SUFFIX)];
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
	files->removed++;
	files->removed_size += size;
	return 0;
}

static void add(struct files *files, const char *name, const struct stat *st)
{
	files->file = must(reallocarray(files->file, files->nr + 1,
					sizeof(*files->file)));
	files->file[files->nr++] = (struct file) {
		must(strdup(name)), st->st_size, last_use(st),
	};
	files->size += st->st_size;
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

static int look_at(struct files *files, int dir, const char *name,
		   const struct cache_bounds *bounds)
{
	struct stat st;

	/* Nothing else is ours. */
	if (!strstr(name, SUFFIX) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode))
		return 0;
	if (is_outside(bounds, name, &st))
		return remove_file(files, dir, name, st.st_size);
	if (is_table(name))
		add(files, name, &st);
	return 0;
}

static int by_use(const void *a, const void *b)
{
	const struct file *first = a, *second = b;

	return (first->used > second->used) - (first->used < second->used);
}

/* Those that were not used for the longest time go first. */
static int shrink(struct files *files, int dir, uint64_t most)
{
	size_t i;
	int ret = 0;

	qsort(files->file, files->nr, sizeof(*files->file), by_use);
	for (i = 0; !ret && i < files->nr && files->size > most; i++) {
		ret = remove_file(files, dir, files->file[i].name,
				  files->file[i].size);
		files->size -= files->file[i].size;
	}
	return ret;
}

static int look_at_all(struct files *files, int dir, DIR *entries,
		       const struct cache_bounds *bounds)
{
	struct dirent *entry;
	int ret = 0;

	while (!ret && (entry = readdir(entries)))
		ret = look_at(files, dir, entry->d_name, bounds);
	return ret ? ret : shrink(files, dir, (uint64_t)bounds->mib << 20);
}

int cache_clean(int tables, const struct cache_bounds *bounds)
{
	DIR *entries = must(fdopendir(dup(tables)));
	struct files files = { .nr = 0 };
	int ret = look_at_all(&files, tables, entries, bounds);

	if (!ret)
		printf("removed %zu tables, %llu bytes; %llu bytes are left\n",
		       files.removed, (unsigned long long)files.removed_size,
		       (unsigned long long)files.size);
	while (files.nr)
		free(files.file[--files.nr].name);
	free(files.file);
	closedir(entries);
	return ret;
}
