// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Memory of tables: whole pages. */
#include <string.h>

#include "sys.h"
#include "table.h"

/* From <linux/mman.h>, Linux 6.13. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL	102
#endif

static size_t pages(size_t length)
{
	size_t page = getpagesize();

	return (length + page - 1) & ~(page - 1);
}

static void free_windows(struct table *table)
{
	if (table->many)
		sys_unmap(table->many, table->many_mapped);
	table->many = NULL;
	table->nr_windows = 0;
}

int table_room(struct table *table, uint32_t nr_windows)
{
	free_windows(table);
	if (nr_windows > TABLE_FEW) {
		table->many_mapped = pages(nr_windows *
					   sizeof(struct window));
		table->many = sys_map(table->many_mapped);
		if (!table->many)
			return -ENOMEM;
	}
	table->nr_windows = nr_windows;
	return 0;
}

static int allocate(struct table *table, size_t length)
{
	table->mapped = pages(length);
	table->length = length;
	table->data = sys_map(table->mapped);
	return table->data ? 0 : -ENOMEM;
}

static int seal(struct table *table)
{
	return SYS(SYS_mprotect, table->data, table->mapped, PROT_READ);
}

int table_copy(struct table *table, const void *section, size_t length)
{
	int ret = allocate(table, length);

	if (ret)
		return ret;
	memcpy(table->data, section, length);
	return seal(table);
}

int table_read(struct table *table, int fd, size_t length)
{
	int ret = allocate(table, length);

	if (!ret)
		ret = sys_read_all(fd, table->data, length, 0);
	return ret ? ret : seal(table);
}

/* Its pages stay those of the file but for the first. */
static int write_one(struct table *table, size_t length)
{
	volatile unsigned char *first = (void *)table->data;
	long ret = SYS(SYS_mprotect, table->data, length,
		       PROT_READ | PROT_WRITE);

	if (ret)
		return ret;
	*first = *first;
	return SYS(SYS_mprotect, table->data, length, PROT_READ);
}

/*
 * fork() does not copy the page tables of a file mapping: page faults of the
 * child would fill them again, but a sample takes none. It does copy them if
 * the mapping has guard pages, so we put one after the table, or a private
 * page. Locked memory, as after mlockall(MCL_FUTURE), takes no guard page.
 */
int table_map(struct table *table, int fd, size_t length)
{
	size_t guard = pages(1);
	long ret;

	table->mapped = pages(length) + guard;
	table->length = length;
	ret = SYS_MMAP(NULL, table->mapped, PROT_READ,
		       MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (ret < 0 && ret > -4096)
		return ret;
	table->data = (void *)ret;
	ret = SYS(SYS_madvise, ret + table->mapped - guard, guard,
		  MADV_GUARD_INSTALL);
	return ret == -EINVAL ? write_one(table, table->mapped - guard) : ret;
}

void table_free(struct table *table)
{
	if (table->data)
		sys_unmap(table->data, table->mapped);
	table->data = NULL;
	free_windows(table);
}
