/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Which windows of an area the stacks and registers of all threads refer to.
 */
#ifndef SFJIT_SCAN_H
#define SFJIT_SCAN_H

#include "internal.h"

/*
 * @text: first byte of the area
 * @size: bytes of a window
 * @nr: number of windows
 * @reached: one for each window, set if any word is an address of it
 * @signal: for the other threads
 * @timeout_ms: how long to wait for them, and to read
 * @stacks, @nr_stacks: what else is read, and may be a thread's stack
 * @bottom: the caller's frames are above it
 * @unanswered, @unknown: filled with the number of threads that did not stop,
 * or that stopped on a stack whose end is not known. With any of them, @reached
 * means nothing
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
 * One scan at a time: 0, or -EBUSY. A child of fork() calls the last, since it
 * has no scan, whatever its parent was doing.
 */
int sfjit_scan_begin(void);
void sfjit_scan_end(void);
void sfjit_scan_in_child(void);

/*
 * Between the two: 0, -EINVAL for a signal that cannot have a handler, -EBUSY
 * for one that has another's, -ENOMEM, or the error of opening /proc.
 */
int sfjit_scan(struct sfjit_scan *scan);

#endif /* SFJIT_SCAN_H */
