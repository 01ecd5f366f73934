// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Whoever can write the cache can give this process wrong stacks. It therefore
 * has to belong to the user, and its content is checked like any input.
 */
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#include "cache.h"
#include "cache-tag.h"
#include "sys.h"

#define TABLE_MAX	(1UL << 30)

/* Of directories: not opened yet. */
#define CLOSED		(-EAGAIN)

/*
 * A process that is stopped while it makes a table keeps its lock. After this
 * time, plus this much per byte of the index, one of the others takes the next
 * lock and makes the table. Making one takes about a fiftieth of that.
 */
#define PATIENCE	5000000000UL	/* ns */
#define PATIENCE_BYTE	100000UL
#define LOCKS		4		/* of a table */

struct trailer {
	char magic[8];
	uint32_t tag;		/* of the converter */
	uint32_t abi;
	uint64_t cfi_start;
	uint64_t index_start, index_length;
	uint64_t text_start, text_end;

	uint64_t table_length;
	uint32_t rows, nr_windows;
	uint64_t sum;		/* over all of the file before this */
};

static const char magic[8] = "sfjitpkd";

/* While modules are looked at: the directories; and what this boot is called. */
static int tables[CACHES] = { CLOSED, CLOSED, CLOSED };
static char boot[36];
static bool knows_boot;

/* Where new tables go: the second one if the first one does not take them. */
static const enum cache usual[] = { CACHE_OWN, CACHE_TEMPORARY };
static const enum cache *targets = usual;
static size_t nr_targets = 2;

/* Of a table that is being made. */
static int lock = CLOSED;

/*
 * The process that has opened them. A child of a fork() in another thread may have
 * closed its copies, and have other files in their place.
 */
static pid_t owner;

void cache_name(struct text *t, const struct image *image)
{
	size_t i;

	for (i = 0; i < image->id_length; i++)
		text_hex(t, image->id[i], 2);
	text_put(t, CACHE_SUFFIX);
}

/* Describes the module that a table is for. */
static void describe_module(struct trailer *t, const struct image *image)
{
	const struct sfg_image *last = &image->text[image->nr_text - 1];

	memset(t, 0, sizeof(*t));
	memcpy(t->magic, magic, sizeof(magic));
	t->tag = SFJIT_CACHE_TAG;
	t->abi = SFG_HOST_ABI;
	t->cfi_start = image->cfi.addr;
	t->index_start = image->index;
	t->index_length = image->index_length;
	t->text_start = image->text[0].addr;
	t->text_end = last->addr + last->len;
}

static uint64_t windows_length(const struct trailer *t)
{
	return t->nr_windows * sizeof(struct window);
}

static uint64_t sum_trailer(uint64_t sum, const struct trailer *t)
{
	return sum_bytes(sum, t, offsetof(struct trailer, sum));
}

/*
 * Whoever writes to a file changes its time of modification, but for the one
 * who sets it: complete files have a part of the sum in it. A machine that
 * stops may lose what was written before that, so the sum is also that of the
 * boot in which the file was looked at. One of the system is on the disk before
 * it has its name: most who read it could not set its time again.
 */
static long seal_of(const struct trailer *t, enum cache cache)
{
	size_t length = cache == CACHE_SYSTEM ? 0 : sizeof(boot);

	return sum_bytes(t->sum, boot, length) % 1000000000;
}

static bool can_seal(enum cache cache)
{
	return cache == CACHE_SYSTEM || knows_boot;
}

static bool is_sealed(const struct stat *st, const struct trailer *t,
		      enum cache cache)
{
	return can_seal(cache) && st->st_mtim.tv_nsec == seal_of(t, cache);
}

static void seal_file(int fd, const struct trailer *t, enum cache cache)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };

	if (!can_seal(cache))
		return;
	SYS(SYS_clock_gettime, CLOCK_REALTIME, &times[1]);
	times[1].tv_nsec = seal_of(t, cache);
	SYS(SYS_utimensat, fd, NULL, times, 0);
}

/* Read it, do not map it: another process may truncate the file. */
static bool sum_part(int fd, uint64_t from, uint64_t length, uint64_t *sum)
{
	uint64_t at, part;
	char piece[4096];

	for (at = 0; at < length; at += part) {
		part = length - at;
		if (part > sizeof(piece))
			part = sizeof(piece);
		if (sys_read_all(fd, piece, part, from + at))
			return false;
		*sum = sum_bytes(*sum, piece, part);
	}
	return true;
}

/* Table and windows are summed one by one, as write_table_file() does. */
static bool has_its_sum(int fd, const struct trailer *t)
{
	uint64_t sum = SUM_START;

	return sum_part(fd, 0, t->table_length, &sum) &&
	       sum_part(fd, t->table_length, windows_length(t), &sum) &&
	       sum_trailer(sum, t) == t->sum;
}

static int check_table_file(int fd, enum cache cache, const struct stat *st,
			    const struct image *image, struct trailer *t)
{
	struct trailer want;
	uint64_t length;
	int ret;

	/* Of a size that a table can have. */
	if ((uint64_t)st->st_size <= sizeof(*t) ||
	    (uint64_t)st->st_size > TABLE_MAX)
		return -EINVAL;
	length = st->st_size - sizeof(*t);
	ret = sys_read_all(fd, t, sizeof(*t), length);
	if (ret)
		return ret;
	describe_module(&want, image);
	/* For this very module, in this format, by this converter. */
	if (memcmp(t, &want, offsetof(struct trailer, table_length)))
		return -EINVAL;
	/* Not cut off, and not longer than it was. */
	if (t->table_length > length ||
	    windows_length(t) != length - t->table_length)
		return -EINVAL;
	if (is_sealed(st, t, cache))
		return 0;
	/* Written completely, and not changed since. */
	if (!has_its_sum(fd, t))
		return -EINVAL;
	seal_file(fd, t, cache);
	return 0;
}

/* Rows are not looked at: only the kernel reads them, and trusts nothing. */
static int use_file(struct table *table, int fd, const struct trailer *t)
{
	int ret;

	ret = table_map(table, fd, t->table_length);
	if (ret) {
		table_free(table);
		ret = table_read(table, fd, t->table_length);
	}
	if (!ret)
		ret = table_room(table, t->nr_windows);
	if (!ret)
		ret = sys_read_all(fd, table_windows(table), windows_length(t),
				   t->table_length);
	if (ret)
		table_free(table);
	table->in_cache = !ret;
	table->rows = t->rows;
	return ret;
}

static int load_file(struct table *table, int fd, enum cache cache,
		     const struct image *image)
{
	struct trailer t;
	struct stat st;
	int ret;

	/* A plain file of the one whose cache it is. */
	if (!cache_is_safe(fd, cache, S_IFREG, CACHE_BY_OTHERS, &st))
		return -EPERM;
	ret = check_table_file(fd, cache, &st, image, &t);
	return ret ? ret : use_file(table, fd, &t);
}

/* Without this file no table is sealed, and each is read for its sum. */
static void read_boot(void)
{
	int fd = sys_open(AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY,
			  0);

	knows_boot = fd >= 0 && !sys_read_all(fd, boot, sizeof(boot), 0);
	if (fd >= 0)
		sys_close(fd);
}

/* Once: what is not there, or cannot be used, is not looked for again. */
static int open_table_dir(enum cache cache, bool create)
{
	if (tables[cache] == CLOSED || (create && tables[cache] < 0))
		tables[cache] = cache_dir_open(cache, create);
	return tables[cache];
}

static void forget_parent(void)
{
	pid_t self = SYS(SYS_getpid);
	size_t i;

	for (i = 0; owner != self && i < CACHES; i++)
		tables[i] = CLOSED;
	if (owner != self)
		lock = CLOSED;
	owner = self;
}

void cache_open(void)
{
	forget_parent();
	open_table_dir(CACHE_OWN, false);
	open_table_dir(CACHE_SYSTEM, false);
	read_boot();
}

int cache_open_only(enum cache cache)
{
	static enum cache only;
	size_t i;

	only = cache;
	targets = &only;
	nr_targets = 1;
	for (i = 0; i < CACHES; i++)
		tables[i] = -ENOENT;
	read_boot();
	return open_table_dir(cache, true) < 0 ? tables[cache] : 0;
}

void cache_close(void)
{
	size_t i;

	for (i = 0; i < CACHES; i++) {
		if (tables[i] >= 0)
			sys_close(tables[i]);
		tables[i] = CLOSED;
	}
}

static int load_from(enum cache cache, struct table *table,
		     const struct image *image)
{
	struct text name = { .length = 0 };
	int fd, ret;

	if (open_table_dir(cache, false) < 0)
		return tables[cache];
	cache_name(&name, image);
	/* O_NONBLOCK: it may be a FIFO. */
	fd = sys_open(tables[cache], name.data,
		      O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0)
		return fd;
	ret = load_file(table, fd, cache, image);
	sys_close(fd);
	return ret;
}

int cache_load(struct table *table, const struct image *image)
{
	int ret = load_from(CACHE_SYSTEM, table, image);

	if (ret)
		ret = load_from(CACHE_OWN, table, image);
	return ret ? load_from(CACHE_TEMPORARY, table, image) : 0;
}

/* It is not looked at again: it has to be on the disk. */
static int make_public(int fd)
{
	int ret = SYS(SYS_fchmod, fd, 0644);

	return ret ? ret : SYS(SYS_fsync, fd);
}

/* Bytes of a file before its trailer. */
struct content {
	const void *data;
	size_t length;
	const struct window *windows;
	size_t windows_length;
};

static int write_table_file(int fd, enum cache target,
			    const struct content *content, struct trailer *t)
{
	uint64_t sum = sum_bytes(SUM_START, content->data, content->length);
	int ret;

	sum = sum_bytes(sum, content->windows, content->windows_length);
	t->sum = sum_trailer(sum, t);
	ret = sys_write_all(fd, content->data, content->length);
	if (!ret)
		ret = sys_write_all(fd, content->windows,
				    content->windows_length);
	if (!ret)
		ret = sys_write_all(fd, t, sizeof(*t));
	if (!ret && target == CACHE_SYSTEM)
		ret = make_public(fd);
	if (!ret)
		seal_file(fd, t, target);
	return ret;
}

static int put_table_file(enum cache target, const char *name,
			  const struct content *content, struct trailer *t)
{
	struct text temp = { .length = 0 };
	int dir = open_table_dir(target, true), fd, ret;

	text_put(&temp, name);
	text_put(&temp, ".");
	text_decimal(&temp, SYS(SYS_getpid), 0);
	text_put(&temp, ".");
	text_decimal(&temp, sys_clock_ns(), 0);
	if (dir < 0)
		return dir;
	fd = sys_open(dir, temp.data, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return fd;
	ret = write_table_file(fd, target, content, t);
	sys_close(fd);
	if (!ret)
		ret = SYS(SYS_renameat2, dir, temp.data, dir, name, 0);
	if (ret)
		SYS(SYS_unlinkat, dir, temp.data, 0);
	return ret;
}

void cache_store(const struct table *table, const void *data, size_t length,
		 const struct image *image)
{
	const struct content content = {
		data, length, table_windows(table),
		table->nr_windows * sizeof(struct window),
	};
	struct text name = { .length = 0 };
	struct trailer t;
	size_t i;

	cache_name(&name, image);
	describe_module(&t, image);
	t.rows = table->rows;
	t.table_length = length;
	t.nr_windows = table->nr_windows;
	for (i = 0; i < nr_targets; i++)
		if (!put_table_file(targets[i], name.data, &content, &t))
			return;
}

/*
 * Beside the tables, of their user alone. fcntl()'s locks go with their
 * process, and no child has them. On NFS they can wait for a server.
 */
static int open_lock(enum cache target)
{
	int dir = open_table_dir(target, true), fd;
	struct statfs fs;
	struct stat st;

	if (dir < 0)
		return dir;
	fd = sys_open(dir, "../lock", O_RDWR | O_CREAT | O_NOFOLLOW |
		      O_NONBLOCK, 0600);
	if (fd >= 0 && (!cache_is_safe(fd, target, S_IFREG, CACHE_BY_OTHERS,
				       &st) ||
			SYS(SYS_fstatfs, fd, &fs) ||
			fs.f_type == NFS_SUPER_MAGIC)) {
		sys_close(fd);
		fd = -EPERM;
	}
	return fd;
}

static bool take_table_lock(off_t byte, uint64_t patience)
{
	struct flock wanted = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET,
		.l_start = byte, .l_len = 1,
	};
	uint64_t end = sys_clock_ns() + patience;
	struct timespec pause = { .tv_nsec = 1000000 };
	long ret;

	while ((ret = SYS(SYS_fcntl, lock, F_SETLK, &wanted)) == -EAGAIN ||
	       ret == -EACCES) {
		if (sys_clock_ns() > end)
			return false;
		SYS(SYS_nanosleep, &pause, NULL);
		if (pause.tv_nsec < 16000000)
			pause.tv_nsec *= 2;
	}
	return !ret;
}

/* The kernel gives the locks of a process that is killed to those that wait. */
bool cache_lock_table(const struct image *image)
{
	uint64_t sum, patience = PATIENCE + PATIENCE_BYTE * image->index_length;
	struct text name = { .length = 0 };
	size_t i;

	for (i = 0; i < nr_targets && lock < 0; i++)
		lock = open_lock(targets[i]);
	if (lock < 0)
		return false;
	cache_name(&name, image);
	sum = sum_bytes(SUM_START, name.data, name.length);
	for (i = 0; i < LOCKS; i++)
		if (take_table_lock((sum >> 2) + i, patience))
			return true;
	return false;
}

void cache_unlock_table(void)
{
	if (lock >= 0)
		sys_close(lock);
	lock = CLOSED;
}
