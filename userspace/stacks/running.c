// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Processes that run when a profiler begins. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "maps.h"
#include "tracker.h"

#define EXPORT	__attribute__((visibility("default")))

static int add_mappings(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
			struct maps *maps)
{
	struct sfjit_stacks_mapping m;
	struct process *process;
	int ret = 0;

	while (!ret && maps_next(maps, &m))
		if (m.executable)
			ret = sfjit_stacks_mmap(stacks, pid, time, &m);
	process = process_find(&stacks->processes, pid, time);
	if (process)
		process->lasting = true;
	return ret;
}

static int add_process(struct sfjit_stacks *stacks, pid_t pid, uint64_t time)
{
	struct maps maps;
	int ret = maps_open(&maps, pid);

	if (!ret)
		ret = add_mappings(stacks, pid, time, &maps);
	maps_close(&maps);
	return ret == -ENOENT ? -ESRCH : ret;
}

/* Others end while they are read, or may not be read by this user. */
static bool is_fatal(int error)
{
	return error == -ENOMEM || error == -ENOSPC;
}

static int add_all(struct sfjit_stacks *stacks, uint64_t time)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int ret = 0;

	if (!proc)
		return -errno;
	while (!is_fatal(ret) && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			ret = add_process(stacks, atoi(entry->d_name), time);
	closedir(proc);
	return is_fatal(ret) ? ret : 0;
}

EXPORT int sfjit_stacks_running(struct sfjit_stacks *stacks, pid_t pid,
				uint64_t time)
{
	return pid ? add_process(stacks, pid, time) : add_all(stacks, time);
}
