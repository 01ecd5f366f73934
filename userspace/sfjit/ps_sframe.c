// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * /proc/PID/sframe: a line for each window, then "windows N BYTES", "REASON N" for
 * each reason, and "last REASON ADDRESS". Further words of a line are left for
 * later kernels.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check_alloc.h"
#include "ps.h"

static int add_window(struct ps_process *process,
		      const struct ps_window *window)
{
	size_t nr = process->nr_windows;

	if (nr == PS_MOST)
		return -E2BIG;
	if (!(nr & (nr - 1)))
		process->windows = check_alloc(reallocarray(process->windows,
				nr ? 2 * nr : 1, sizeof(*window)));
	process->windows[process->nr_windows++] = *window;
	return 0;
}

static int add_count(struct ps_process *process, const struct ps_count *count)
{
	if (!strcmp(count->reason, "windows"))
		return 0;
	if (process->nr_counts == PS_REASONS)
		return -EPROTO;
	process->counts[process->nr_counts++] = *count;
	return 0;
}

static int parse(struct ps_process *process, const char *line)
{
	struct ps_window window = { };
	struct ps_count count;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %31s", &window.start, &window.end, &window.key,
		   &window.section, &window.length, window.flags) == 6)
		return add_window(process, &window);
	if (sscanf(line, "last %31s %" SCNx64, process->last_reason,
		   &process->last_ip) == 2)
		return 0;
	if (sscanf(line, "%31[a-z_]%*1[ ]%" SCNu64, count.reason,
		   &count.count) == 2)
		return add_count(process, &count);
	return -EPROTO;
}

/* The last line tells a whole file from one whose process ended meanwhile. */
int ps_read_sframe(struct ps_process *process, FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	while (!ret && getline(&line, &size, file) > 0)
		ret = parse(process, line);
	free(line);
	if (!ret && ferror(file))
		ret = -errno;
	if (!ret && !*process->last_reason)
		ret = -ENODATA;
	return ret;
}

uint64_t ps_refused(const struct ps_process *process)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < process->nr_counts; i++)
		sum += process->counts[i].count;
	return sum;
}
