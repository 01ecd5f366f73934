// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* /tmp/perf-PID.map of the process: names of code that is in no file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ps.h"
#include "ps_util.h"

#define MOST_BYTES	(256L << 20)

static int compare(const void *key, const void *member)
{
	const struct ps_window *window = member;
	uint64_t address = *(const uint64_t *)key;

	return address < window->start ? -1 : address >= window->end;
}

static void add_symbol(struct ps_process *process, struct ps_window *window,
		       const char *name)
{
	if (!window->symbol)
		window->symbol = ps_keep_name(name, &process->symbol_bytes);
	window->symbols += !!window->symbol;
}

/* "start size name", both hex. */
static void take_symbol(struct ps_process *process, const char *line)
{
	struct ps_window *window;
	uint64_t start;
	int name = 0;

	if (sscanf(line, "%" SCNx64 " %*x %n", &start, &name) != 1 || !name ||
	    !line[name])
		return;
	window = bsearch(&start, process->windows, process->nr_windows,
			 sizeof(*window), compare);
	if (window)
		add_symbol(process, window, line + name);
}

/* Cut lines that are too long. */
static void take_lines(struct ps_process *process, FILE *file)
{
	bool begins = true, ends;
	char line[4096];

	while (fgets(line, sizeof(line), file)) {
		ends = strchr(line, '\n');
		line[strcspn(line, "\n")] = '\0';
		if (begins)
			take_symbol(process, line);
		begins = ends;
	}
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

void ps_read_symbols(struct ps_process *process, const char *dir,
		     struct ps_request *request)
{
	int ms = request->map_ms < request->all_ms ? request->map_ms :
						     request->all_ms;
	int64_t start = now_ms();
	FILE *file;

	/* Many processes may each have a map that takes as long as it may. */
	if (ms <= 0) {
		request->late = true;
		return;
	}
	file = ps_open_perf_map(dir, process->pid, MOST_BYTES, ms);
	if (!file)
		return;
	take_lines(process, file);
	request->late |= ferror(file) != 0;
	fclose(file);
	request->all_ms -= now_ms() - start;
}
