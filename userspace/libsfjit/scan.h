/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Find the windows of an area that stacks and registers of any thread refer to.
 */
#ifndef SFJIT_SCAN_H
#define SFJIT_SCAN_H

#include "internal.h"

/*
 * @text: first byte of the area
 * @size: bytes of a window
 * @nr: number of windows
 * @reached: one per window, set if any word is an address of it
 * @signal: sent to the other threads
 * @timeout_ms: limit for stopping them and reading
 * @stacks, @nr_stacks: other ranges to read, which may be stacks of threads
 * @bottom: the caller's frames are above it
 * @unanswered: set to the number of threads that did not stop
 * @unknown: set to the number of threads on a stack whose end is unknown. If
 * either is set, @reached is meaningless
 */
struct sfjit_scan {
	uintptr_t		text;
	size_t			size;
	unsigned int		nr;
	unsigned char		*reached;
	int			signal;
	unsigned int		timeout_ms;
	const struct sfjit_range *stacks;
	size_t			nr_stacks;
	uintptr_t		bottom;
	unsigned int		unanswered;
	unsigned int		unknown;
};

/*
 * One scan at a time: returns 0 or -EBUSY. A child of fork() calls the last, as
 * a scan of the parent does not go on in it.
 */
int sfjit_scan_begin(void);
void sfjit_scan_end(void);
void sfjit_scan_in_child(void);

/*
 * Call it between the two. Returns 0, -EINVAL for a signal that cannot be
 * caught, -EBUSY if it has another handler, -ENOMEM, or the error of opening
 * /proc.
 */
int sfjit_scan(struct sfjit_scan *scan);

#endif /* SFJIT_SCAN_H */
