/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What sfjit ps knows of a process, and the steps that find it out and print
 * it. Names come from the process and are hostile: they are printed through
 * printable_next() only.
 */
#ifndef SFJIT_RUN_PS_H
#define SFJIT_RUN_PS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "printable.h"

#define PS_WORD		32	/* bytes of a flag or a reason with its 0 */
#define PS_REASONS	64	/* that a kernel may have */
#define PS_MOST		(1U << 20)	/* windows or mappings of a process */
#define PS_MOST_NAMES	(64UL << 20)	/* bytes of a process's names */

/* A line of /proc/PID/maps. */
struct ps_map {
	uint64_t start, end;
	uint64_t offset;	/* of start in the file; 0 if it is none */
	uint64_t inode;
	unsigned int major, minor;
	char permissions[5];	/* "r-xp" */
	char *name;
};

struct ps_maps {
	struct ps_map *maps;
	size_t nr, max;
	size_t name_bytes;
};

struct ps_window {
	uint64_t start, end, key, section, length;
	char flags[PS_WORD];
	const struct ps_map *text_in, *section_in;	/* NULL: unmapped */
	char *symbol;		/* first name in the perf map; NULL: none */
	unsigned int symbols;	/* how many there are */
};

struct ps_count {
	char reason[PS_WORD];
	uint64_t count;
};

/* Why walks ended, and where the last one did. */
struct ps_ends {
	struct ps_count counts[PS_REASONS];
	unsigned int nr_counts;
	char last_reason[PS_WORD];	/* "none": nothing was refused */
	uint64_t last_ip;
};

struct ps_process {
	pid_t pid;
	char command[64];
	struct ps_window *windows;	/* by address */
	size_t nr_windows, max_windows;
	struct ps_ends ends;
	struct ps_maps maps;
	size_t symbol_bytes;
};

/* How much of a process is read. */
enum ps_detail {
	PS_COUNTS,	/* no mappings and no names */
	PS_IF_WINDOWS,	/* those too if it has windows */
	PS_WHOLE,
};

struct ps_request {
	const char *proc;
	enum ps_detail detail;
	int map_ms;		/* that a perf map may take */
	int all_ms;		/* that all perf maps may still take */
	bool late;		/* one took longer */
};

/*
 * Reads the directory of one process. Returns 0, -ESRCH (no such process),
 * -ENODATA (it has no address space), -EOPNOTSUPP (the kernel has no file
 * sframe), -EPROTO (that file has another format), -E2BIG (it is larger than
 * the limits above), or the error of a system call. ps_free() in each case.
 */
int ps_read(struct ps_process *process, struct ps_request *request, pid_t pid);
void ps_free(struct ps_process *process);

/* The parts of that. 'dir' is the directory of the process. */
int ps_read_sframe(struct ps_process *process, FILE *file);
int ps_read_maps(struct ps_maps *maps, const char *dir);
void ps_free_maps(struct ps_maps *maps);
const struct ps_map *ps_find_map(const struct ps_maps *maps, uint64_t address);

/* A copy of a name; NULL if there are PS_MOST_NAMES bytes of them. */
char *ps_keep_name(const char *name, size_t *bytes);

/* A file of the directory of a process, to be read; NULL with errno. */
FILE *ps_open(const char *dir, const char *name);

/* The windows of a process; also with the module for Debian's kernels. */
FILE *ps_open_sframe(const char *dir);

/* A line of such a file. False: it is none of a reason. */
bool ps_parse_end(struct ps_ends *ends, const char *line);
uint64_t ps_refused(const struct ps_ends *ends);

/* Each reason; 'of' says whose stacks. As JSON, the member "refused". */
void ps_print_counts(const struct ps_ends *ends, const char *of, FILE *out);
void ps_put_counts(const struct ps_ends *ends, FILE *out);

void ps_print(const struct ps_process *process, FILE *out);
void ps_add_summary(const struct ps_process *process, struct columns *table);
void ps_print_json(const struct ps_process *process, FILE *out);

struct ps_options {
	const char *proc;	/* /proc */
	bool json;
	FILE *out, *err;
	int map_ms;		/* that a perf map may take */
};

/* sfjit ps: these processes, or a line for each that has windows. */
int ps(const struct ps_options *options, char **pids, int nr);

/* sfjit ps --files: the tables that belong to files. */
void ps_files(const struct ps_options *options);

/* How many files have one. False: no daemon runs, of those you may look into. */
bool ps_count_files(const char *proc, size_t *files);

#endif /* SFJIT_RUN_PS_H */
