/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Allocations and copies from or to user memory that fail on request, by
 * /proc/thread-self/fail-nth.
 */
#ifndef SFRAME_FAILING_H
#define SFRAME_FAILING_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "sframe_test.h"

#define SFT_MOST_CHANCES	5000

/*
 * Caches may have an object more or less the next time: then the chances are
 * not the same as before, and one may be left out. Not each time.
 */
#define SFT_FAIL_ROUNDS		5

static inline int sft_write_debugfs(const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", name);
	return sft_write_text(path, text);
}

/* Failures also of allocations that may sleep, and none of them in the log. */
static inline bool sft_may_fail(void)
{
	return !sft_write_debugfs("failslab/ignore-gfp-wait", "N") &&
	       !sft_write_debugfs("failslab/verbose", "0") &&
	       !sft_write_debugfs("fail_page_alloc/ignore-gfp-wait", "N") &&
	       !sft_write_debugfs("fail_page_alloc/min-order", "0") &&
	       !sft_write_debugfs("fail_page_alloc/verbose", "0") &&
	       !sft_write_debugfs("fail_usercopy/verbose", "0");
}

/*
 * Call @run and let its @nth chance to fail be taken. A copy of this file's own
 * may be the one: then @run had less chances, as when some are left.
 *
 * Return: whether @run had @nth chances, with its result in @ret.
 */
static inline bool sft_had_chance(int (*run)(void *arg), void *arg,
				  unsigned int nth, int *ret)
{
	int fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	char text[16];
	bool had;

	snprintf(text, sizeof(text), "%u", nth);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		abort();
	*ret = run(arg);
	memset(text, 0, sizeof(text));
	had = pread(fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
	while (write(fd, "0", 1) < 0)
		;
	close(fd);
	return had;
}

#endif /* SFRAME_FAILING_H */
