// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * perf record reads build-ids at the end, from what the paths lead to then.
 * Read them when the files are mapped: a path may lead to another file later,
 * and a container may be gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "build_id_cache.h"
#include "build_ids.h"
#include "elf_note.h"
#include "printable.h"

#define KERNEL		"[kernel.kallsyms]"
/* perf waits for us meanwhile: larger files are copied at the end. */
#define COPY_NOW_MOST	(64U << 20)

struct file {
	struct perfdata_build_id id;
	struct file *next;		/* of the same path */
	TAILQ_ENTRY(file) all;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
	struct sfjit_stacks_mapping mapping;	/* one that has it */
	pid_t pid;
	bool first;			/* of its path that was mapped */
	bool foreign;			/* our path did not lead to it */
	bool wanted, copied;
	char path[];
};

TAILQ_HEAD(all_files, file);

struct build_ids {
	struct perfdata_files hooks;
	const char *cache;
	bool all;
	int64_t since_boot;		/* CLOCK_REALTIME - CLOCK_MONOTONIC */
	void *by_path;			/* tsearch(): the first file of each */
	struct all_files files;
	struct file *at;		/* of the list that is written */
	size_t nr;
	uint64_t beyond, replaced, failed;
	char *one_replaced, *one_failed;
	int error;			/* of @one_failed */
};

static int64_t to_ns(const struct timespec *time)
{
	return time->tv_sec * 1000000000LL + time->tv_nsec;
}

/* ---- Files that are known ----------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->id.path,
		      ((const struct file *)b)->id.path);
}

static struct file *find_path(const struct build_ids *ids, const char *path)
{
	struct file key = { .id.path = path };
	struct file **found = tfind(&key, &ids->by_path, compare_paths);

	return found ? *found : NULL;
}

static bool is_as(const struct file *file, const struct stat *st)
{
	return file->inode == st->st_ino && file->device == st->st_dev &&
	       file->size == st->st_size &&
	       file->changed.tv_sec == st->st_mtim.tv_sec &&
	       file->changed.tv_nsec == st->st_mtim.tv_nsec;
}

static struct file *find_file(struct file *first, const struct stat *st)
{
	while (first && !is_as(first, st))
		first = first->next;
	return first;
}

/* Our path leads to it. */
static bool is_reachable(const struct file *file)
{
	struct stat st;

	return !stat(file->path, &st) && is_as(file, &st);
}

static struct file *new_file(int fd, const struct stat *st, pid_t pid,
			     const struct sfjit_stacks_mapping *mapping)
{
	size_t length = strlen(mapping->path) + 1;
	struct file *file = calloc(1, sizeof(*file) + length);

	if (!file)
		return NULL;
	memcpy(file->path, mapping->path, length);
	file->id.path = file->path;
	elf_note_of_file(fd, &file->id);
	file->device = st->st_dev;
	file->inode = st->st_ino;
	file->size = st->st_size;
	file->changed = st->st_mtim;
	file->mapping = *mapping;
	file->mapping.path = file->path;
	file->pid = pid;
	file->foreign = fd >= 0 && !is_reachable(file);
	return file;
}

/* Takes over the file. */
static bool insert(struct build_ids *ids, struct file *first,
		   struct file *file)
{
	if (first) {
		file->next = first->next;
		first->next = file;
	} else if (!tsearch(file, &ids->by_path, compare_paths)) {
		free(file);
		return false;
	}
	file->first = !first;
	ids->nr++;
	TAILQ_INSERT_TAIL(&ids->files, file, all);
	return true;
}

/* NULL: too many, or no memory. */
static struct file *add_file(struct build_ids *ids, int fd,
			     const struct stat *st, pid_t pid,
			     const struct sfjit_stacks_mapping *mapping)
{
	struct file *first = find_path(ids, mapping->path);
	struct file *file = ids->nr < BUILD_IDS_MOST ?
			    new_file(fd, st, pid, mapping) : NULL;

	if (file && insert(ids, first, file))
		return file;
	ids->beyond++;
	return NULL;
}

static struct file *get_file(struct build_ids *ids, int fd, pid_t pid,
			     const struct sfjit_stacks_mapping *mapping)
{
	struct file *file;
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	file = find_file(find_path(ids, mapping->path), &st);
	return file ? file : add_file(ids, fd, &st, pid, mapping);
}

/* ---- Copies ------------------------------------------------------------- */

static void note_one(uint64_t *count, char **one, const char *path)
{
	if (!(*count)++)
		*one = strdup(path);
}

static void note_failure(struct build_ids *ids, const char *path, int error)
{
	if (!ids->failed)
		ids->error = error;
	note_one(&ids->failed, &ids->one_failed, path);
}

static void want(struct build_ids *ids, struct file *file, int fd)
{
	if (!ids->cache || file->wanted || !file->id.length)
		return;
	file->wanted = true;
	file->copied = !build_id_cache_link(ids->cache, &file->id, fd) ||
		       (file->size <= COPY_NOW_MOST && !is_reachable(file) &&
			!build_id_cache_copy(ids->cache, &file->id, fd));
}

static int copy_late(struct build_ids *ids, const struct file *file)
{
	int fd = sfjit_stacks_open(file->pid, &file->mapping), ret = -ESTALE;
	struct perfdata_build_id now;

	if (fd < 0)
		return fd;
	elf_note_of_file(fd, &now);
	if (now.length == file->id.length &&
	    !memcmp(now.bytes, file->id.bytes, now.length))
		ret = build_id_cache_copy(ids->cache, &file->id, fd);
	close(fd);
	return ret;
}

/* ---- While it is recorded ----------------------------------------------- */

/*
 * It was written to since. Files have the time of the last tick, never later;
 * but anyone may set the first of these times, and our links set the other.
 */
static bool is_newer(const struct build_ids *ids, const struct stat *st,
		     uint64_t time)
{
	int64_t mapped = time + ids->since_boot;

	return time && to_ns(&st->st_mtim) > mapped &&
	       to_ns(&st->st_ctim) > mapped;
}

/*
 * Another file is there: perf report would take its names. An entry without a
 * build-id keeps the header's place for that path.
 */
static void note_missing(struct build_ids *ids, pid_t pid,
			 const struct sfjit_stacks_mapping *mapping)
{
	struct stat st;

	if (stat(mapping->path, &st) || !S_ISREG(st.st_mode))
		return;
	note_one(&ids->replaced, &ids->one_replaced, mapping->path);
	if (!find_path(ids, mapping->path))
		add_file(ids, -1, &(struct stat){ }, pid, mapping);
}

/* Another file system may have the same inode. */
static bool has_ids(const struct file *file,
		    const struct sfjit_stacks_mapping *mapping)
{
	return file->mapping.inode == mapping->inode &&
	       file->mapping.device_major == mapping->device_major &&
	       file->mapping.device_minor == mapping->device_minor;
}

/*
 * One in a container, that another process led to. Paths of ours may get an
 * inode again.
 */
static struct file *find_foreign(const struct build_ids *ids,
				 const struct sfjit_stacks_mapping *mapping)
{
	struct file *file = find_path(ids, mapping->path);

	while (file && !(file->foreign && mapping->inode &&
			 has_ids(file, mapping)))
		file = file->next;
	return file;
}

/* The usual one: its path leads there, and did before. */
static struct file *find_mapped(const struct build_ids *ids,
				const struct sfjit_stacks_mapping *mapping,
				uint64_t time)
{
	struct file *file;
	struct stat st;

	if (stat(mapping->path, &st) || is_newer(ids, &st, time))
		return NULL;
	file = find_file(find_path(ids, mapping->path), &st);
	return file && has_ids(file, mapping) ? file : NULL;
}

static struct file *note(struct build_ids *ids, pid_t pid, uint64_t time,
			 const struct sfjit_stacks_mapping *mapping)
{
	struct file *file = find_mapped(ids, mapping, time);
	struct stat st;
	int fd;

	if (file && !ids->all)
		return file;
	fd = sfjit_stacks_open(pid, mapping);
	if (fd < 0 || fstat(fd, &st) || is_newer(ids, &st, time)) {
		file = fd < 0 ? find_foreign(ids, mapping) : NULL;
		if (!file)
			note_missing(ids, pid, mapping);
		if (fd >= 0)
			close(fd);
		return file;
	}
	file = get_file(ids, fd, pid, mapping);
	if (file && ids->all)
		want(ids, file, fd);
	close(fd);
	return file;
}

static bool is_file(const char *path)
{
	return *path == '/' && !sfjit_stacks_is_memory(path);
}

/* perf takes the header's build-id of a path for the first file there. */
static bool mapped(void *arg, pid_t pid, uint64_t time,
		   const struct sfjit_stacks_mapping *mapping,
		   struct perfdata_build_id *own)
{
	struct file *file = is_file(mapping->path) ?
			    note(arg, pid, time, mapping) : NULL;

	/* The record has it already if the kernel has read it. */
	if (!file || file->first || mapping->build_id_length)
		return false;
	*own = file->id;
	return own->length;
}

static void opened(void *arg, pid_t pid,
		   const struct sfjit_stacks_mapping *mapping, int fd)
{
	struct build_ids *ids = arg;
	struct file *file = is_file(mapping->path) ?
			    get_file(ids, fd, pid, mapping) : NULL;

	if (file)
		want(ids, file, fd);
}

/* The kernel's own is the first. */
static bool next(void *arg, size_t i, struct perfdata_build_id *id)
{
	struct build_ids *ids = arg;
	struct file *file = i ? ids->at : TAILQ_FIRST(&ids->files);

	if (!i) {
		ids->at = file;
		*id = (struct perfdata_build_id){
			.path = KERNEL, .kernel = true,
		};
		elf_note_of_kernel(id);
		return true;
	}
	while (file && (!file->first || !file->id.length))
		file = TAILQ_NEXT(file, all);
	if (!file)
		return false;
	ids->at = TAILQ_NEXT(file, all);
	*id = file->id;
	return true;
}

/* ---- The end ------------------------------------------------------------ */

/* Addresses are zero for users that may not know them. */
static bool has_addresses(int fd)
{
	char first[16];

	return pread(fd, first, sizeof(first), 0) == sizeof(first) &&
	       strspn(first, "0") < sizeof(first);
}

static void copy_kernel(struct build_ids *ids)
{
	struct perfdata_build_id id = { .path = KERNEL, .kernel = true };
	int fd, ret;

	elf_note_of_kernel(&id);
	if (!id.length)
		return;
	fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ret = has_addresses(fd) ? build_id_cache_copy(ids->cache, &id, fd) : 0;
	if (ret)
		note_failure(ids, KERNEL, ret);
	close(fd);
}

static void say(const char *path, uint64_t more, const char *what,
		const char *why, const char *next)
{
	fputs("sfjit: ", stderr);
	printable_print(path ? path : "?", stderr);
	if (more > 1)
		fprintf(stderr, " and %llu more",
			(unsigned long long)more - 1);
	fprintf(stderr, ": %s%s%s\n", what, why, next);
}

static void report(const struct build_ids *ids)
{
	if (ids->replaced)
		say(ids->one_replaced, ids->replaced, "gone before its "
		    "build-id was read: perf report may show names of the file "
		    "that is there now", "", "");
	if (ids->beyond)
		fprintf(stderr, "sfjit: %llu mappings have no build-id: there "
			"was no room for more than %zu files\n",
			(unsigned long long)ids->beyond, ids->nr);
	if (ids->failed)
		say(ids->one_failed, ids->failed, "not added to perf's "
		    "build-id cache: ", strerror(-ids->error),
		    "; perf archive will lack it (-N: add nothing)");
}

void build_ids_copy(struct build_ids *ids, bool kernel)
{
	struct file *file;
	int ret;

	if (!ids)
		return;
	TAILQ_FOREACH(file, &ids->files, all) {
		ret = file->wanted && !file->copied ? copy_late(ids, file) : 0;
		if (ret)
			note_failure(ids, file->path, ret);
	}
	if (kernel && ids->cache)
		copy_kernel(ids);
	report(ids);
}

struct build_ids *build_ids_begin(enum build_ids_want want, const char *cache)
{
	struct build_ids *ids = want == BUILD_IDS_NONE ? NULL :
				calloc(1, sizeof(*ids));
	struct timespec real, monotonic;

	if (!ids)
		return NULL;
	ids->hooks = (struct perfdata_files){ mapped, opened, next, ids };
	ids->cache = want == BUILD_IDS_ONLY ? NULL : cache;
	ids->all = want == BUILD_IDS_ALL;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	ids->since_boot = to_ns(&real) - to_ns(&monotonic);
	TAILQ_INIT(&ids->files);
	return ids;
}

const struct perfdata_files *build_ids_files(const struct build_ids *ids)
{
	return ids ? &ids->hooks : NULL;
}

static void keep(void *node)
{
}

void build_ids_end(struct build_ids *ids)
{
	struct file *file;

	if (!ids)
		return;
	tdestroy(ids->by_path, keep);
	while ((file = TAILQ_FIRST(&ids->files))) {
		TAILQ_REMOVE(&ids->files, file, all);
		free(file);
	}
	free(ids->one_replaced);
	free(ids->one_failed);
	free(ids);
}
