// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* A line of a window is "START-END KEY ...", in hex; the others are counters. */
#include <string.h>

#include "sys.h"
#include "taken.h"

int taken_open(struct taken_list *list)
{
	list->fd = sys_open(AT_FDCWD, "/proc/self/sframe", O_RDONLY, 0);
	if (list->fd == -ENOENT)
		list->fd = sys_open(AT_FDCWD, "/proc/sfjit", O_RDONLY, 0);
	list->at = list->have = 0;
	return list->fd < 0 ? list->fd : 0;
}

void taken_close(struct taken_list *list)
{
	sys_close(list->fd);
}

static int next_byte(struct taken_list *list)
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
static bool read_number(struct taken_list *list, char after, uintptr_t *number)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;
	int byte, nr = 0;

	for (*number = 0; (byte = next_byte(list)) > 0; nr++) {
		digit = strchr(digits, byte);
		if (!digit)
			return nr && byte == after;
		*number = *number << 4 | (digit - digits);
	}
	return false;
}

bool taken_next(struct taken_list *list, struct taken *taken)
{
	int byte;

	if (!read_number(list, '-', &taken->start) ||
	    !read_number(list, ' ', &taken->end) ||
	    !read_number(list, ' ', &taken->key))
		return false;
	do
		byte = next_byte(list);
	while (byte >= 0 && byte != '\n');
	return true;
}
