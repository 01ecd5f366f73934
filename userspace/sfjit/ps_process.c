// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Reads what belongs to one process, which may change or end meanwhile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ps.h"
#include "ps_util.h"

#define TRIES	3	/* a process that goes through several execs */

static void read_command(struct ps_process *process, const char *dir)
{
	FILE *file = ps_open(dir, "comm");

	if (!file)
		return;
	if (fgets(process->command, sizeof(process->command), file))
		process->command[strcspn(process->command, "\n")] = '\0';
	fclose(file);
}

static void find_maps(struct ps_process *process)
{
	struct ps_window *window = process->windows;
	struct ps_window *end = window + process->nr_windows;

	for (; window < end; window++) {
		window->text_in = ps_find_map(&process->maps, window->start);
		window->section_in = ps_find_map(&process->maps,
						 window->section);
	}
}

/* End of file: the address space for which it was opened is gone. */
static bool is_gone(FILE *file)
{
	char byte;

	return pread(fileno(file), &byte, 1, 0) != 1;
}

static bool wants_maps(const struct ps_process *process, enum ps_detail detail)
{
	return detail == PS_WHOLE ||
	       (detail == PS_IF_WINDOWS && process->nr_windows);
}

/*
 * maps is opened after sframe was read, and might be that of another program;
 * not if the address space of sframe is still there.
 */
static int read_all(struct ps_process *process, const char *dir, FILE *file,
		    struct ps_request *request)
{
	bool maps;
	int ret;

	ret = ps_read_sframe(process, file);
	if (ret)
		return ret;
	maps = wants_maps(process, request->detail);
	if (maps)
		ret = ps_read_maps(&process->maps, dir);
	if (is_gone(file))
		return -ENODATA;
	if (ret)
		return ret;
	find_maps(process);
	read_command(process, dir);
	if (maps && process->nr_windows)
		ps_read_symbols(process, dir, request);
	return 0;
}

/* No file sframe: no such process, or no such file in any process. */
static int explain_missing(const char *dir)
{
	struct stat st;

	return stat(dir, &st) ? -ESRCH : -EOPNOTSUPP;
}

static int read_once(struct ps_process *process, const char *dir,
		     struct ps_request *request)
{
	FILE *file = ps_open_sframe(dir);
	int ret;

	if (!file)
		return errno == ENOENT ? explain_missing(dir) : -errno;
	ret = read_all(process, dir, file, request);
	fclose(file);
	return ret;
}

int ps_read(struct ps_process *process, struct ps_request *request, pid_t pid)
{
	int i, ret = -ENODATA;
	char *dir;

	memset(process, 0, sizeof(*process));
	if (asprintf(&dir, "%s/%d", request->proc, pid) < 0)
		return -ENOMEM;
	for (i = 0; i < TRIES && ret == -ENODATA; i++) {
		ps_free(process);
		process->pid = pid;
		ret = read_once(process, dir, request);
	}
	free(dir);
	return ret;
}

void ps_free(struct ps_process *process)
{
	size_t i;

	for (i = 0; i < process->nr_windows; i++)
		free(process->windows[i].symbol);
	free(process->windows);
	ps_free_maps(&process->maps);
	memset(process, 0, sizeof(*process));
}
