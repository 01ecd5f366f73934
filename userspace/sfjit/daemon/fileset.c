// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fileset.h"
#include "util.h"

void fileset_init(struct fileset *files, int tables, uint64_t most)
{
	*files = (struct fileset){ .tables = tables, .most = most };
	TAILQ_INIT(&files->used);
	TAILQ_INIT(&files->queue);
	TAILQ_INIT(&files->last);
}

/* ---- By device and inode ----------------------------------------------- */

static int compare(const void *x, const void *y)
{
	const struct file *a = x, *b = y;

	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	return (a->minor > b->minor) - (a->minor < b->minor);
}

static struct file *find(const struct fileset *files, const struct file *key)
{
	struct file **found = tfind(key, &files->by_inode, compare);

	return found ? *found : NULL;
}

static void move(struct file *file, struct file_list *to)
{
	if (file->in)
		TAILQ_REMOVE(file->in, file, queue);
	file->in = to;
	if (to)
		TAILQ_INSERT_TAIL(to, file, queue);
}

/* It will not be opened again. */
static void forget_source(struct file *file)
{
	move(file, NULL);
	free(file->path);
	file->path = NULL;
}

static void release(struct fileset *files, struct file *file)
{
	forget_source(file);
	if (file == files->at_work)
		files->at_work = NULL;
	tdelete(file, &files->by_inode, compare);
	TAILQ_REMOVE(&files->used, file, used);
	files->bytes -= file->bytes;
	files->nr--;
	free(file);
}

void fileset_forget(struct fileset *files, struct file *file)
{
	unsigned int i;

	/* ENOENT: a call of another daemon with the same descriptor. */
	for (i = 0; i < file->nr_ids; i++)
		file_tables_remove(files->tables, file->ids[i]);
	release(files, file);
}

/* The kernel keeps the tables for the next start. */
void fileset_clear(struct fileset *files)
{
	while (!TAILQ_EMPTY(&files->used))
		release(files, TAILQ_FIRST(&files->used));
	free(files->slow);
}

/* ---- Bounds ------------------------------------------------------------ */

static bool forget_oldest(struct fileset *files, bool with_tables)
{
	struct file *file;

	TAILQ_FOREACH(file, &files->used, used)
		if (with_tables ? file->state == FILE_HAS_TABLES :
				  file->state != FILE_AT_WORK) {
			fileset_forget(files, file);
			return true;
		}
	return false;
}

static void say_full(struct fileset *files)
{
	if (!files->evicts)
		fprintf(stderr, "sfjit daemon: tables reached %" PRIu64
			" MiB: those of files that were not mapped for longest "
			"are removed; --memory=MIB allows more\n",
			files->most >> 20);
	files->evicts = true;
}

bool fileset_make_room(struct fileset *files, uint64_t bytes)
{
	if (bytes > files->most)
		return false;
	while (files->bytes > files->most - bytes) {
		say_full(files);
		if (!forget_oldest(files, true))
			return false;
	}
	return true;
}

/* ---- Slow devices ------------------------------------------------------ */

static struct device *find_slow(const struct fileset *files,
				const struct file *file)
{
	struct device *device = files->slow, *end = device + files->nr_slow;

	for (; device < end; device++)
		if (device->major == file->major &&
		    device->minor == file->minor)
			return device;
	return NULL;
}

void fileset_set_slow(struct fileset *files, const struct file *file)
{
	if (find_slow(files, file))
		return;
	check_grow(&files->slow, &files->max_slow, files->nr_slow,
		   sizeof(*files->slow));
	files->slow[files->nr_slow++] = (struct device){ file->major,
							 file->minor };
}

static void clear_slow(struct fileset *files, const struct file *file)
{
	struct device *device = find_slow(files, file);
	struct file *waits;

	if (!device)
		return;
	*device = files->slow[--files->nr_slow];
	/* Those of other slow devices will leave it again. */
	while ((waits = TAILQ_FIRST(&files->last)))
		move(waits, &files->queue);
}

/* ---- New files --------------------------------------------------------- */

static struct file *add(struct fileset *files, const struct file *key)
{
	struct file *file = check_alloc(malloc(sizeof(*file)));

	if (files->nr == FILES_MOST)
		forget_oldest(files, false);
	*file = *key;
	check_alloc(tsearch(file, &files->by_inode, compare));
	TAILQ_INSERT_TAIL(&files->used, file, used);
	files->nr++;
	return file;
}

/* The latest process to have it mapped is the likeliest to still be there. */
static void set_source(struct file *file, pid_t pid,
		       const struct sfjit_stacks_mapping *mapping)
{
	free(file->path);
	file->pid = pid;
	file->mapping = *mapping;
	file->path = check_alloc(strdup(mapping->path));
	file->mapping.path = file->path;
}

static void enqueue(struct fileset *files, const struct file *key, pid_t pid,
		    const struct sfjit_stacks_mapping *mapping)
{
	struct file *file = add(files, key);

	set_source(file, pid, mapping);
	move(file, &files->queue);
}

/* An inode number is used again, with another generation, for a new file. */
static bool is_other(const struct file *file, uint64_t generation)
{
	return generation && file->generation &&
	       file->generation != generation &&
	       file->state != FILE_AT_WORK;
}

static void use(struct fileset *files, struct file *file, uint64_t generation)
{
	if (generation)
		file->generation = generation;
	TAILQ_REMOVE(&files->used, file, used);
	TAILQ_INSERT_TAIL(&files->used, file, used);
}

void fileset_note(struct fileset *files, pid_t pid, uint64_t generation,
		  const struct sfjit_stacks_mapping *mapping)
{
	const struct file key = {
		.state = FILE_QUEUED, .major = mapping->device_major,
		.minor = mapping->device_minor, .inode = mapping->inode,
		.generation = generation,
	};
	struct file *file;

	if (!mapping->inode || mapping->path[0] != '/' ||
	    sfjit_stacks_is_memory(mapping->path))
		return;
	file = find(files, &key);
	if (file && is_other(file, generation)) {
		fileset_forget(files, file);
		file = NULL;
	}
	if (!file) {
		enqueue(files, &key, pid, mapping);
		return;
	}
	use(files, file, generation);
	if (file->state == FILE_QUEUED)
		set_source(file, pid, mapping);
}

/* The first file of the queue, after those of slow devices have left it. */
static struct file *first(struct fileset *files)
{
	struct file *file;

	while ((file = TAILQ_FIRST(&files->queue)) && find_slow(files, file))
		move(file, &files->last);
	return file;
}

struct file *fileset_next(struct fileset *files)
{
	struct file *file = first(files) ?: TAILQ_FIRST(&files->last);

	if (file) {
		move(file, NULL);
		file->state = FILE_AT_WORK;
		files->at_work = file;
	}
	return file;
}

bool fileset_give_way(struct fileset *files)
{
	struct file *file = files->at_work;

	if (!file || !find_slow(files, file) || !first(files))
		return false;
	files->at_work = NULL;
	file->state = FILE_QUEUED;
	move(file, &files->last);
	return true;
}

/* ---- Files with tables, and without ------------------------------------ */

void fileset_set_none(struct fileset *files, struct file *file)
{
	files->at_work = NULL;
	file->state = FILE_HAS_NONE;
	forget_source(file);
}

void fileset_set_tables(struct fileset *files, struct file *file,
			const unsigned int *ids, unsigned int nr, uint64_t bytes)
{
	fileset_set_none(files, file);
	clear_slow(files, file);
	file->state = FILE_HAS_TABLES;
	memcpy(file->ids, ids, nr * sizeof(*ids));
	file->nr_ids = nr;
	file->bytes = bytes;
	files->bytes += bytes;
}

void fileset_adopt(struct fileset *files, const struct file_table *table)
{
	const struct file key = {
		.state = FILE_HAS_TABLES, .major = table->major,
		.minor = table->minor, .inode = table->inode,
	};
	struct file *file = find(files, &key);

	if (!file)
		file = add(files, &key);
	if (file->nr_ids == TABLES_MOST) {
		file_tables_remove(files->tables, table->id);
		return;
	}
	file->ids[file->nr_ids++] = table->id;
	file->bytes += table->bytes;
	files->bytes += table->bytes;
}

static bool has_table(const struct file *file, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < file->nr_ids; i++)
		if (file->ids[i] == id)
			return true;
	return false;
}

/* The ids of a file at work are not known yet. */
void fileset_drop(struct fileset *files, unsigned int id)
{
	struct file *file;

	TAILQ_FOREACH(file, &files->used, used)
		if (has_table(file, id)) {
			fileset_forget(files, file);
			return;
		}
	if (!files->at_work)
		file_tables_remove(files->tables, id);
}
