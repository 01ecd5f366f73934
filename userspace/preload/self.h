/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The memory of this process, at addresses that the program has given.
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

#endif /* SFJIT_PRELOAD_SELF_H */
