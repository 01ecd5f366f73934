// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Whoever can write the cache can give this process wrong stacks. It therefore
 * has to belong to the user, and its content is checked like any input.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "cache-tag.h"
#include "environment.h"
#include "sum.h"
#include "sys.h"
#include "text.h"

#define TABLE_MAX	(1UL << 30)

struct trailer {
	char magic[8];
	uint32_t tag;		/* of the converter */
	uint16_t abi;
	uint16_t addends;
	uint64_t cfi_start, cfi_length;
	uint64_t text_start, text_end;
	uint64_t section_length;
	uint64_t sum;		/* over the section and all of the above */
};

static const char magic[8] = "sfjittab";

/* Where the cache is: in base, or in its .cache. */
static char base[1024];
static bool below_home;

void cache_init(char **environment)
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

#define BY_OTHERS	(S_IWGRP | S_IWOTH)

/* Of this type, our own, and not writable for 'others'. */
static bool is_private(int fd, unsigned int type, unsigned int others)
{
	struct stat st;

	return SYS(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) == 0 &&
	       (st.st_mode & S_IFMT) == type &&
	       st.st_uid == (uid_t)SYS(SYS_geteuid) && !(st.st_mode & others);
}

static int open_dir(int dir, const char *name, int flags, unsigned int others)
{
	int fd = sys_open(dir, name, O_RDONLY | O_DIRECTORY | flags, 0);

	if (fd >= 0 && !is_private(fd, S_IFDIR, others)) {
		sys_close(fd);
		return -EPERM;
	}
	return fd;
}

static int descend(int dir, const char *name, unsigned int others, bool create)
{
	int fd = open_dir(dir, name, O_NOFOLLOW, others);

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
static int open_tables(bool create)
{
	int fd = base[0] ? open_dir(AT_FDCWD, base, 0, S_IWOTH) : -ENOENT;

	if (fd >= 0 && below_home)
		fd = descend(fd, ".cache", S_IWOTH, create);
	if (fd >= 0)
		fd = descend(fd, "sfjit", BY_OTHERS, create);
	if (fd >= 0)
		fd = descend(fd, "tables", BY_OTHERS, create);
	return fd;
}

static void put_name(struct text *t, const struct image *image,
		     bool addends)
{
	size_t i;

	for (i = 0; i < image->id_length; i++)
		text_hex(t, image->id[i], 2);
	if (addends)
		text_put(t, ".addend");
	text_put(t, ".sframe");
}

static void make_trailer(struct trailer *t, const struct image *image,
			 bool addends, const void *section,
			 size_t length)
{
	const struct sfg_image *last = &image->text[image->nr_text - 1];

	memset(t, 0, sizeof(*t));
	memcpy(t->magic, magic, sizeof(magic));
	t->tag = SFJIT_CACHE_TAG;
	t->abi = SFG_HOST_ABI;
	t->addends = addends;
	t->cfi_start = image->cfi.addr;
	t->cfi_length = image->cfi.len;
	t->text_start = image->text[0].addr;
	t->text_end = last->addr + last->len;
	t->section_length = length;
	t->sum = sum_bytes(SUM_START, section, length);
	t->sum = sum_bytes(t->sum, t, offsetof(struct trailer, sum));
}

static int read_section(struct table *table, int fd, uint64_t size,
			const struct image *image, bool addends)
{
	struct trailer is, want;
	size_t length = size - sizeof(is);
	struct sfg_section section;
	int ret;

	ret = table_alloc(table, length);
	if (ret)
		return ret;
	ret = sys_read_all(fd, table->data, length, 0);
	if (!ret)
		ret = sys_read_all(fd, &is, sizeof(is), length);
	if (ret)
		return ret;
	make_trailer(&want, image, addends, table->data, length);
	/*
	 * Written completely, for this very module, in this format, by this
	 * converter.
	 */
	if (memcmp(&is, &want, sizeof(is)))
		return -EINVAL;
	/*
	 * The areas are inside the file. The rows are not looked at: only the
	 * kernel reads them, and trusts nothing.
	 */
	return sfg_open_section(&section, table->data, length, 0, NULL);
}

static int load_file(struct table *table, int fd, const struct image *image,
		     bool addends)
{
	struct stat st;
	int ret;

	/* A plain file of ours, of a size that a table can have. */
	if (!is_private(fd, S_IFREG, BY_OTHERS))
		return -EPERM;
	ret = SYS(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH);
	if (ret)
		return ret;
	if ((uint64_t)st.st_size <= sizeof(struct trailer) ||
	    (uint64_t)st.st_size > TABLE_MAX)
		return -EINVAL;
	ret = read_section(table, fd, st.st_size, image, addends);
	if (ret)
		table_free(table);
	return ret;
}

int cache_load(struct table *table, const struct image *image,
	       bool addends)
{
	struct text name = { .length = 0 };
	int dir, fd, ret;

	dir = open_tables(false);
	if (dir < 0)
		return dir;
	put_name(&name, image, addends);
	/* O_NONBLOCK: somebody may have put a FIFO there. */
	fd = sys_open(dir, name.data, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	sys_close(dir);
	if (fd < 0)
		return fd;
	ret = load_file(table, fd, image, addends);
	sys_close(fd);
	return ret;
}

static int write_file(int fd, const void *section, size_t length,
		      const struct image *image, bool addends)
{
	struct trailer t;
	int ret;

	make_trailer(&t, image, addends, section, length);
	ret = sys_write_all(fd, section, length);
	return ret ? ret : sys_write_all(fd, &t, sizeof(t));
}

static void store_in(int dir, const void *section, size_t length,
		     const struct image *image, bool addends)
{
	struct text name = { .length = 0 }, temp = { .length = 0 };
	int fd, ret;

	put_name(&name, image, addends);
	text_put(&temp, name.data);
	text_put(&temp, ".");
	text_decimal(&temp, SYS(SYS_getpid), 0);
	text_put(&temp, ".");
	text_decimal(&temp, sys_clock_ns(), 0);
	fd = sys_open(dir, temp.data, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return;
	ret = write_file(fd, section, length, image, addends);
	sys_close(fd);
	if (!ret)
		ret = SYS(SYS_renameat2, dir, temp.data, dir, name.data, 0);
	if (ret)
		SYS(SYS_unlinkat, dir, temp.data, 0);
}

void cache_store(const void *section, size_t length,
		 const struct image *image, bool addends)
{
	int dir;

	dir = open_tables(true);
	if (dir < 0)
		return;
	store_in(dir, section, length, image, addends);
	sys_close(dir);
}
