/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The windows of this process, whoever registered them: /proc/self/sframe, or
 * /proc/sfjit of the module for Debian's kernels.
 */
#ifndef SFJIT_PRELOAD_TAKEN_H
#define SFJIT_PRELOAD_TAKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct taken {
	uintptr_t start, end, key;
};

struct taken_list {
	int fd;
	size_t at, have;
	char bytes[1024];
};

/* 0, or -errno. */
int taken_open(struct taken_list *list);
/* The next one by address. A window that is registered meanwhile may be
 * missing; one may come twice.
 */
bool taken_next(struct taken_list *list, struct taken *taken);
void taken_close(struct taken_list *list);

#endif /* SFJIT_PRELOAD_TAKEN_H */
