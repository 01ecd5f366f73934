// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Memory of windows and sections.
 */
#include <errno.h>
#include <sys/mman.h>

#include "internal.h"

/*
 * After mlockall(MCL_FUTURE) mmap() locks memory, and beyond RLIMIT_MEMLOCK it
 * fails with EAGAIN. A retry would not help.
 */
static int map_error(void)
{
	return errno == EAGAIN ? -ENOMEM : -errno;
}

int sfjit_map(size_t length, int flags, unsigned char **memory)
{
	int ret = sfjit_fault("mmap");
	void *start;

	if (ret)
		return ret;
	start = mmap(NULL, length, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	if (start == MAP_FAILED)
		return map_error();
	*memory = start;
	return 0;
}

int sfjit_unmap(void *memory, size_t length)
{
	int ret = sfjit_fault("munmap");

	if (ret)
		return ret;
	return munmap(memory, length) ? -errno : 0;
}
