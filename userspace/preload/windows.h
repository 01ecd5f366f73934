/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Windows with packed tables. The library has calls for those that programs
 * register; these take prctl() from the program's own, see sys.h.
 */
#ifndef SFJIT_PRELOAD_WINDOWS_H
#define SFJIT_PRELOAD_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

enum windows_kernel {
	WINDOWS_ABSENT,
	WINDOWS_OLD,		/* but not with packed tables */
	WINDOWS_KNOWN,
};

/* Asks the kernel. */
enum windows_kernel windows_kernel(void);

/*
 * A table at a multiple of 16, and the code that it is for, which was loaded
 * 'bias' above its addresses in the table. The table may be for more
 * code, or for less.
 */
struct windows_entry {
	uintptr_t key;
	const void *table;
	size_t length;
	uintptr_t start, end;
	uintptr_t bias;
};

/*
 * As sfjit_register(), sfjit_replace() and sfjit_unregister(): they succeed and do
 * nothing on a kernel that is not WINDOWS_KNOWN.
 */
int windows_register(const struct windows_entry *entry);
int windows_replace(const struct windows_entry *entry);
int windows_unregister(uintptr_t key);

#endif /* SFJIT_PRELOAD_WINDOWS_H */
