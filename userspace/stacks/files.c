// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The file of a mapping, and whether it is still the same. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "elf_file.h"
#include "files.h"
#include "identity.h"

/* Of an origin, in other processes each: a dead one has no root any more. */
#define TRIES_MOST	64

static int open_default(void *arg, pid_t pid,
			const struct sfjit_stacks_mapping *mapping)
{
	return identity_open(pid, mapping);
}

void files_init(struct files *files, const struct sfjit_stacks_options *options)
{
	memset(files, 0, sizeof(*files));
	files->abi = options->abi;
	files->open = options->open ? options->open : open_default;
	files->arg = options->arg;
	files->keep = options->keep;
	files->live = options->live;
	TAILQ_INIT(&files->unused);
}

/* Tables, by what they are made from. */

static int compare_tables(const void *x, const void *y)
{
	const struct table *a = x, *b = y;

	return memcmp(&a->content, &b->content, sizeof(a->content));
}

static void drop_table(struct files *files, struct table *table)
{
	tdelete(table, &files->tables, compare_tables);
	files->nr_tables--;
	files->table_bytes -= table->bytes;
	table_clear(table);
	free(table);
}

static void drop_unused_tables(struct files *files, size_t keep)
{
	struct table *table;

	while (files->unused_bytes > keep) {
		table = TAILQ_FIRST(&files->unused);
		TAILQ_REMOVE(&files->unused, table, unused);
		files->unused_bytes -= table->bytes;
		drop_table(files, table);
	}
}

static struct table *get_table(struct files *files, struct table *table)
{
	if (!table->refs++) {
		TAILQ_REMOVE(&files->unused, table, unused);
		files->unused_bytes -= table->bytes;
	}
	return table;
}

static void insert_table(struct files *files, struct table *table)
{
	if (--table->refs)
		return;
	TAILQ_INSERT_TAIL(&files->unused, table, unused);
	files->unused_bytes += table->bytes;
	drop_unused_tables(files, files->keep);
}

static struct table *add_table(struct files *files, struct elf *elf,
			       const struct content *content, int *error)
{
	struct table *table = calloc(1, sizeof(*table));

	*error = -ENOMEM;
	if (!table)
		return NULL;
	*error = elf_read_table(elf, files->abi, table);
	if (*error) {
		free(table);
		return NULL;
	}
	table->content = *content;
	table->refs = 1;
	table->serial = ++files->serial;
	if (!tsearch(table, &files->tables, compare_tables)) {
		*error = -ENOMEM;
		table_clear(table);
		free(table);
		return NULL;
	}
	files->nr_tables++;
	files->table_bytes += table->bytes;
	table->all_bytes = &files->table_bytes;
	return table;
}

static struct table *find_kept_table(struct files *files, struct elf *elf,
				     const struct content *content, int *error)
{
	struct table key = { .content = *content };
	struct table **found = tfind(&key, &files->tables, compare_tables);

	return found ? get_table(files, *found) :
		       add_table(files, elf, content, error);
}

/* Origins, by what mappings say. */

static int compare_ids(const struct sfjit_stacks_mapping *a,
		       const struct sfjit_stacks_mapping *b)
{
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->device_major != b->device_major)
		return a->device_major < b->device_major ? -1 : 1;
	if (a->device_minor != b->device_minor)
		return a->device_minor < b->device_minor ? -1 : 1;
	if (a->build_id_length != b->build_id_length)
		return a->build_id_length - b->build_id_length;
	return memcmp(a->build_id, b->build_id, a->build_id_length);
}

static int compare_origins(const void *x, const void *y)
{
	const struct origin *a = x, *b = y;
	int order = strcmp(a->id.path, b->id.path);

	return order ? order : compare_ids(&a->id, &b->id);
}

/*
 * The kernel's names for memory that is no file, or a file that no other
 * process can open.
 */
bool files_is_memory(const char *path)
{
	static const char *const memory[] = {
		"//", "/anon_hugepage", "/dev/zero", "/memfd:", "/SYSV",
	};
	size_t i;

	for (i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		if (!strncmp(path, memory[i], strlen(memory[i])))
			return true;
	return path[0] != '/' && strcmp(path, "[vdso]");
}

static void forget(struct origin *origin)
{
	struct files *files = origin->owner;

	tdelete(origin, &files->origins, compare_origins);
	files->nr_origins--;
	if (origin->table)
		insert_table(files, origin->table);
	free(origin);
}

static struct origin *new_origin(struct files *files,
				 const struct sfjit_stacks_mapping *mapping)
{
	size_t length = strlen(mapping->path) + 1;
	struct origin *origin = calloc(1, sizeof(*origin) + length);

	if (!origin)
		return NULL;
	memcpy(origin->path, mapping->path, length);
	origin->id = *mapping;
	origin->id.path = origin->path;
	origin->release = forget;
	origin->owner = files;
	origin->kind = files_is_memory(mapping->path) ? ORIGIN_MEMORY :
							  ORIGIN_FILE;
	origin->looked = origin->kind == ORIGIN_MEMORY;
	origin->why = SFJIT_STACKS_NO_TABLE;
	return origin;
}

static struct origin *add_origin(struct files *files,
				 const struct sfjit_stacks_mapping *mapping)
{
	struct origin *origin = new_origin(files, mapping);

	if (!origin || !tsearch(origin, &files->origins, compare_origins)) {
		free(origin);
		return NULL;
	}
	files->nr_origins++;
	return origin;
}

struct origin *files_find(struct files *files,
			  const struct sfjit_stacks_mapping *mapping)
{
	struct origin key = { .id = *mapping };
	struct origin **found = tfind(&key, &files->origins, compare_origins);

	return origin_get(found ? *found : add_origin(files, mapping));
}

/* Reading. */

static enum sfjit_stacks_reason why_unread(int error)
{
	switch (error) {
	case -ENODATA:
		return SFJIT_STACKS_NO_TABLE;
	case -EINVAL:
		return SFJIT_STACKS_DAMAGED;
	}
	return SFJIT_STACKS_NO_FILE;
}

/* The vDSO of another machine is no file that could be opened. */
static bool is_same_mapping(const struct sfjit_stacks_mapping *id,
			    const struct content *content)
{
	return !id->build_id_length ||
	       (id->build_id_length == content->length &&
		!memcmp(id->build_id, content->build_id, content->length));
}

/* With a build-id it does not matter where the file is. */
static void forget_place(struct content *content)
{
	if (content->length)
		content->device = content->inode = content->size =
			content->mtime = 0;
}

static void look_into(struct origin *origin, struct elf *elf,
		      struct content *content)
{
	int error = 0;

	elf_read_build_id(elf, content);
	if (elf->fd < 0 && !is_same_mapping(&origin->id, content))
		return;
	forget_place(content);
	origin->table = find_kept_table(origin->owner, elf, content, &error);
	origin->why = why_unread(error);
}

static void look(struct origin *origin, int fd, const void *image,
		 uint64_t length, struct content *content)
{
	const struct files *files = origin->owner;
	struct elf elf;
	int ret = elf_open(&elf, files->abi, fd, image, length);

	if (ret == -EINVAL)
		origin->why = SFJIT_STACKS_NO_TABLE;
	if (ret)
		return;
	look_into(origin, &elf, content);
	elf_close(&elf);
}

static bool identify(int fd, struct content *content)
{
	struct stat st;

	memset(content, 0, sizeof(*content));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	content->device = st.st_dev;
	content->inode = st.st_ino;
	content->size = st.st_size;
	content->mtime = st.st_mtim.tv_sec * 1000000000ULL +
			 st.st_mtim.tv_nsec;
	return true;
}

static void look_at_origin_file(struct origin *origin, int fd)
{
	struct content content;

	if (identify(fd, &content))
		look(origin, fd, NULL, content.size, &content);
}

/* The linker puts the section headers last. */
static uint64_t vdso_length(const Elf64_Ehdr *header)
{
	return header->e_shoff + header->e_shnum * header->e_shentsize;
}

static void look_at_vdso(struct origin *origin)
{
	const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct content content;

	memset(&content, 0, sizeof(content));
	if (header)
		look(origin, -1, header, vdso_length(header), &content);
}

/* The mounts of a process that is gone are mostly those of its parent. */
static int open_for(struct origin *origin, const struct user *user)
{
	struct files *files = origin->owner;
	struct sfjit_stacks_mapping m = origin->id;
	const struct process *process = user->process;
	size_t i;
	int fd;

	m.start = user->start;
	m.length = user->length;
	m.offset = user->offset;
	fd = files->open(files->arg, process->pid, &m);
	for (i = 0; fd < 0 && i < PROCESS_ANCESTORS && process->ancestors[i];
	     i++)
		fd = files->open(files->arg, process->ancestors[i], &m);
	return fd;
}

/* This process may be able to open a file that another could not. */
static bool may_look(const struct origin *origin, pid_t pid)
{
	return !origin->looked ||
	       (origin->missing && origin->tried != pid &&
		origin->tries < TRIES_MOST);
}

struct table *files_table(struct origin *origin, const struct user *user)
{
	int fd;

	if (!may_look(origin, user->process->pid))
		return origin->table;
	origin->looked = true;
	origin->tried = user->process->pid;
	origin->tries++;
	origin->why = SFJIT_STACKS_NO_FILE;
	if (!strcmp(origin->path, "[vdso]")) {
		look_at_vdso(origin);
		return origin->table;
	}
	fd = open_for(origin, user);
	origin->missing = fd < 0;
	if (fd >= 0) {
		look_at_origin_file(origin, fd);
		close(fd);
	}
	return origin->table;
}

/* The file may be another one by now. */
static int read_same(int fd, const struct content *of, uint64_t offset,
		     void *to, size_t length)
{
	struct content content;

	if (!identify(fd, &content))
		return -ESTALE;
	elf_read_build_id_of(fd, &content);
	forget_place(&content);
	if (memcmp(&content, of, sizeof(content)))
		return -ESTALE;
	return pread(fd, to, length, offset) == (ssize_t)length ? 0 : -ENODATA;
}

int files_read(struct origin *origin, const struct user *user, uint64_t offset,
	       void *to, size_t length)
{
	int fd = open_for(origin, user), ret;

	if (fd < 0)
		return fd;
	ret = read_same(fd, &origin->table->content, offset, to, length);
	close(fd);
	return ret;
}

void files_prepare(struct origin *origin, const struct user *user)
{
	const struct files *files = origin->owner;
	struct stat st;

	if (!files->live || origin->kind != ORIGIN_FILE || origin->table ||
	    origin->path[0] != '/')
		return;
	if (stat(origin->path, &st) ||
	    (origin->id.inode && (st.st_ino != origin->id.inode ||
	     major(st.st_dev) != origin->id.device_major ||
	     minor(st.st_dev) != origin->id.device_minor)))
		files_table(origin, user);
}

void files_clear(struct files *files)
{
	drop_unused_tables(files, 0);
}
