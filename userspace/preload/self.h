/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * This process as the kernel has it: the memory at addresses that the program
 * has given, its mappings, and its windows.
 */
#ifndef SFJIT_PRELOAD_SELF_H
#define SFJIT_PRELOAD_SELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies up to 'length' bytes; returns how many there were before the first
 * unreadable page.
 */
size_t self_read(uintptr_t from, void *to, size_t length);

struct self_mapping {
	uintptr_t start, end;
	bool executable;
	bool fixed;		/* no mapping lets anybody write it */
	uint64_t inode;		/* 0: no file */
	uint32_t dev_major, dev_minor;
};

/* A descriptor for self_mapping(), to be closed by sys_close(); or -errno. */
int self_open_mappings(void);

/*
 * The first mapping that ends after 'address'. -ENOENT: there is none; other
 * errors: the kernel (before 6.11) or a limit of the process does not let us
 * ask.
 */
int self_mapping(int fd, uintptr_t address, struct self_mapping *mapping);

/*
 * The windows of this process, whoever registered them: /proc/self/sframe, or
 * /proc/sfjit of the module for Debian's kernels.
 */
struct self_window {
	uintptr_t start, end, key;
};

struct self_windows {
	int fd;
	size_t at, have;
	char bytes[1024];
};

/* 0, or -errno. */
int self_open_windows(struct self_windows *list);
/*
 * The next one by address. A window that is registered meanwhile may be
 * missing; one may come twice.
 */
bool self_next_window(struct self_windows *list, struct self_window *taken);
void self_close_windows(struct self_windows *list);

#endif /* SFJIT_PRELOAD_SELF_H */
