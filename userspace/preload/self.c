// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * process_vm_readv() stops before unmapped memory, where a load would kill the
 * process; and a copy stays as we checked it.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "self.h"
#include "sys.h"

/* From <linux/fs.h>, Linux 6.11: one mapping of /proc/PID/maps, by address. */
struct procmap_query {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start, vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};

#define QUERY			_IOWR('f', 17, struct procmap_query)
#define QUERY_WRITABLE		0x02
#define QUERY_EXECUTABLE	0x04
#define QUERY_SHARED		0x08
#define QUERY_OR_NEXT		0x10

size_t self_read(uintptr_t from, void *to, size_t length)
{
	struct iovec local = { .iov_base = to, .iov_len = length };
	struct iovec remote = { .iov_base = (void *)from, .iov_len = length };
	long n = SYS(SYS_process_vm_readv, SYS(SYS_getpid), &local, 1,
		     &remote, 1, 0);

	return n < 0 ? 0 : n;
}

int self_open_mappings(void)
{
	return sys_open(AT_FDCWD, "/proc/self/maps", O_RDONLY, 0);
}

int self_mapping(int fd, uintptr_t address, struct self_mapping *mapping)
{
	struct procmap_query query = {
		.size = sizeof(query),
		.query_flags = QUERY_OR_NEXT,
		.query_addr = address,
	};
	int ret = SYS(SYS_ioctl, fd, QUERY, &query);

	if (ret)
		return ret;
	mapping->start = query.vma_start;
	mapping->end = query.vma_end;
	mapping->executable = query.vma_flags & QUERY_EXECUTABLE;
	mapping->fixed = !query.inode &&
		!(query.vma_flags & (QUERY_WRITABLE | QUERY_SHARED));
	mapping->inode = query.inode;
	mapping->dev_major = query.dev_major;
	mapping->dev_minor = query.dev_minor;
	return 0;
}

/* A line of a window is "START-END KEY ...", in hex; the others are counters. */

int self_open_windows(struct self_windows *list)
{
	list->fd = sys_open(AT_FDCWD, "/proc/self/sframe", O_RDONLY, 0);
	if (list->fd == -ENOENT)
		list->fd = sys_open(AT_FDCWD, "/proc/sfjit", O_RDONLY, 0);
	list->at = list->have = 0;
	return list->fd < 0 ? list->fd : 0;
}

void self_close_windows(struct self_windows *list)
{
	sys_close(list->fd);
}

static int next_list_byte(struct self_windows *list)
{
	long n;

	if (list->at == list->have) {
		n = SYS(SYS_read, list->fd, list->bytes, sizeof(list->bytes));
		if (n <= 0)
			return -1;
		list->at = 0;
		list->have = n;
	}
	return (unsigned char)list->bytes[list->at++];
}

/* A number, up to the byte after it; there is one. */
static bool read_hex_number(struct self_windows *list, char after,
			    uintptr_t *number)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;
	int byte, nr = 0;

	for (*number = 0; (byte = next_list_byte(list)) > 0; nr++) {
		digit = strchr(digits, byte);
		if (!digit)
			return nr && byte == after;
		*number = *number << 4 | (digit - digits);
	}
	return false;
}

bool self_next_window(struct self_windows *list, struct self_window *taken)
{
	int byte;

	if (!read_hex_number(list, '-', &taken->start) ||
	    !read_hex_number(list, ' ', &taken->end) ||
	    !read_hex_number(list, ' ', &taken->key))
		return false;
	do
		byte = next_list_byte(list);
	while (byte >= 0 && byte != '\n');
	return true;
}
