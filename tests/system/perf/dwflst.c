// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: dwflst inject -i FILE -o FILE
 *
 * sfjit inject with another tracker: elfutils' Dwflst. It shares only the
 * header with ours, so that one can judge the other.
 *
 * A Dwfl has what is mapped now. Keep the history of mappings here, and report
 * it if a sample is older.
 */
#include <elfutils/libdwfl.h>
#include <elfutils/libdwfl_stacktrace.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <search.h>
#include <sfjit-stacks.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "util.h"

struct map {
	uint64_t start, end, offset;
	char *path;		/* NULL: unknown mapping */
};

struct maps {
	struct map *maps;
	size_t nr, room;
};

/* From a time on: @map, or what the process @parent has, or nothing. */
struct change {
	uint64_t time;
	struct map map;
	struct process *parent;
};

struct process {
	pid_t pid;
	struct change *changes;		/* by time */
	size_t nr, room;
	size_t reported;		/* changes that the Dwfl knows */
	Dwfl *dwfl;
	struct process *before;		/* of the same number */
};

struct sfjit_stacks {
	Dwflst_Process_Tracker *tracker;
	void *processes;
	struct sfjit_stacks_counts stats;
};

static void *grow(void *list, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return list;
	*room = *room ? 2 * *room : 16;
	return check_alloc(realloc(list, *room * size));
}

/* ---- What lay where --------------------------------------------------- */

static void add_map(struct maps *maps, const struct map *map)
{
	maps->maps = grow(maps->maps, maps->nr, &maps->room, sizeof(*map));
	maps->maps[maps->nr++] = *map;
}

/* What remains of @old on both sides of [start, end). */
static void add_rest(struct maps *maps, const struct map *old, uint64_t start,
		     uint64_t end)
{
	struct map part = *old;

	if (old->start < start) {
		part.end = old->end < start ? old->end : start;
		add_map(maps, &part);
	}
	if (old->end > end) {
		part.end = old->end;
		part.start = old->start > end ? old->start : end;
		part.offset += part.start - old->start;
		add_map(maps, &part);
	}
}

static void put_map(struct maps *maps, const struct map *map)
{
	struct maps result = { };
	size_t i;

	for (i = 0; i < maps->nr; i++)
		add_rest(&result, &maps->maps[i], map->start, map->end);
	if (map->path)
		add_map(&result, map);
	free(maps->maps);
	*maps = result;
}

/* How many changes there were up to this time. */
static size_t changes_until(const struct process *process, uint64_t time)
{
	size_t nr = process->nr;

	while (nr && process->changes[nr - 1].time > time)
		nr--;
	return nr;
}

static void get_maps(const struct process *process, uint64_t time,
		     struct maps *maps)
{
	const size_t nr = changes_until(process, time);
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct change *c = &process->changes[i];

		if (c->map.end) {
			put_map(maps, &c->map);
			continue;
		}
		maps->nr = 0;
		if (c->parent)
			get_maps(c->parent, c->time, maps);
	}
}

static void add_change(struct process *process, const struct change *change)
{
	size_t at = changes_until(process, change->time);

	process->changes = grow(process->changes, process->nr, &process->room,
				sizeof(*change));
	memmove(&process->changes[at + 1], &process->changes[at],
		(process->nr++ - at) * sizeof(*change));
	process->changes[at] = *change;
}

/* ---- Processes -------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct process *p = a, *q = b;

	return (p->pid > q->pid) - (p->pid < q->pid);
}

static struct process *get_process(struct sfjit_stacks *stacks, pid_t pid)
{
	const struct process key = { .pid = pid };
	struct process *process, **found;

	found = check_alloc(tsearch(&key, &stacks->processes, compare));
	if (*found != &key)
		return *found;
	process = check_alloc(calloc(1, sizeof(*process)));
	process->pid = pid;
	*found = process;
	return process;
}

int sfjit_stacks_mmap(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
		      const struct sfjit_stacks_mapping *mapping)
{
	struct change change = { .time = time };

	if (!mapping->length ||
	    mapping->start + mapping->length < mapping->start)
		return -EINVAL;
	change.map.start = mapping->start;
	change.map.end = mapping->start + mapping->length;
	change.map.offset = mapping->offset;
	if (mapping->executable && (!sfjit_stacks_is_memory(mapping->path) ||
				    !strcmp(mapping->path, "[vdso]")))
		change.map.path = check_alloc(strdup(mapping->path));
	add_change(get_process(stacks, pid), &change);
	return 0;
}

int sfjit_stacks_munmap(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
			uint64_t start, uint64_t length)
{
	const struct sfjit_stacks_mapping nothing = {
		.start = start, .length = length, .path = "//anon",
	};

	return sfjit_stacks_mmap(stacks, pid, time, &nothing);
}

int sfjit_stacks_fork(struct sfjit_stacks *stacks, pid_t pid, pid_t tid,
		      pid_t parent, uint64_t time)
{
	struct change change = { .time = time };

	if (pid == parent)
		return 0;
	if (parent)
		change.parent = get_process(stacks, parent);
	add_change(get_process(stacks, pid), &change);
	return 0;
}

int sfjit_stacks_exec(struct sfjit_stacks *stacks, pid_t pid, uint64_t time)
{
	const struct change change = { .time = time };

	add_change(get_process(stacks, pid), &change);
	return 0;
}

int sfjit_stacks_exit(struct sfjit_stacks *stacks, pid_t pid, pid_t tid,
		      uint64_t time)
{
	return 0;
}

/* No jitdump is read here. */
int sfjit_stacks_jit_load(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
			  const struct sfjit_stacks_code *code)
{
	return 0;
}

int sfjit_stacks_jit_unload(struct sfjit_stacks *stacks, pid_t pid,
			    uint64_t time, uint64_t start, uint64_t length)
{
	return 0;
}

void sfjit_stacks_settle(struct sfjit_stacks *stacks, uint64_t time)
{
}

/* ---- What elfutils is told -------------------------------------------- */

static int find_elf(Dwfl_Module *mod, void **userdata, const char *name,
		    Dwarf_Addr base, char **path, Elf **elf)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);

	if (strcmp(name, "[vdso]"))
		return dwflst_tracker_linux_proc_find_elf(mod, userdata, name,
							  base, path, elf);
	/* Of the same kernel; two pages are enough for its headers and tables. */
	*elf = elf_memory((char *)vdso, 2 * sysconf(_SC_PAGESIZE));
	return -1;
}

/* Call frame information is in the file itself. */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name,
			  Dwarf_Addr base, const char *path, const char *link,
			  GElf_Word crc, char **debug_path)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf, .find_debuginfo = find_debuginfo,
};

static void give_up(void)
{
	fprintf(stderr, "dwflst: %s\n", dwfl_errmsg(-1));
	exit(1);
}

/* A module is all of a file that has one base. */
static void report_module(Dwfl *dwfl, const struct maps *maps, size_t first)
{
	const struct map *map = &maps->maps[first];
	uint64_t base = map->start - map->offset, end = map->end;
	size_t i;

	for (i = 0; i < maps->nr; i++) {
		const struct map *other = &maps->maps[i];

		if (other->start - other->offset != base ||
		    strcmp(other->path, map->path))
			continue;
		if (i < first)
			return;
		if (other->end > end)
			end = other->end;
	}
	dwfl_report_module(dwfl, map->path, base, end);
}

static void report(struct sfjit_stacks *stacks, struct process *process,
		   uint64_t time)
{
	const size_t nr = changes_until(process, time);
	struct maps maps = { };
	size_t i;

	if (process->dwfl && process->reported == nr)
		return;
	if (!process->dwfl)
		process->dwfl = check_alloc(
			dwflst_tracker_dwfl_begin(stacks->tracker));
	get_maps(process, time, &maps);
	dwfl_report_begin(process->dwfl);
	for (i = 0; i < maps.nr; i++)
		report_module(process->dwfl, &maps, i);
	if (dwfl_report_end(process->dwfl, NULL, NULL))
		give_up();
	process->reported = nr;
	free(maps.maps);
}

/* ---- Samples ---------------------------------------------------------- */

struct walk {
	sfjit_stacks_frame_fn frame;
	void *arg;
	int nr;
};

static int on_frame(Dwfl_Frame *state, void *arg)
{
	struct sfjit_stacks_frame frame = { };
	struct walk *walk = arg;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(state, &pc, &exact))
		return DWARF_CB_ABORT;
	frame.ip = pc;
	if (walk->nr++ && exact)
		frame.flags = SFJIT_STACKS_AFTER_SIGNAL;
	return walk->frame(walk->arg, &frame) ? DWARF_CB_ABORT : DWARF_CB_OK;
}

int sfjit_stacks_frames(struct sfjit_stacks *stacks,
			const struct sfjit_stacks_sample *sample,
			sfjit_stacks_frame_fn frame, void *arg,
			enum sfjit_stacks_reason *end)
{
	struct process *process = get_process(stacks, sample->pid);
	struct walk walk = { .frame = frame, .arg = arg };
	const unsigned int nr = __builtin_popcountll(sample->mask);
	int ret;

	if (!nr)
		return -EINVAL;
	report(stacks, process, sample->time);
	ret = dwflst_perf_sample_getframes(process->dwfl, NULL, sample->pid,
		sample->pid, sample->stack, sample->stack_length,
		(const Dwarf_Word *)sample->registers, nr, sample->mask,
		PERF_SAMPLE_REGS_ABI_64, on_frame, &walk);
	*end = ret ? SFJIT_STACKS_NO_RULE : SFJIT_STACKS_OUTERMOST;
	stacks->stats.samples++;
	stacks->stats.frames += walk.nr;
	stacks->stats.ends[*end]++;
	return walk.nr;
}

/* ---- The rest --------------------------------------------------------- */

int sfjit_stacks_begin(const struct sfjit_stacks_options *options,
		       struct sfjit_stacks **stacks)
{
	*stacks = check_alloc(calloc(1, sizeof(**stacks)));
	(*stacks)->tracker = check_alloc(dwflst_tracker_begin(&callbacks));
	return 0;
}

static void free_process(void *arg)
{
	struct process *process = arg;
	size_t i;

	for (i = 0; i < process->nr; i++)
		free(process->changes[i].map.path);
	free(process->changes);
	free(process);
}

void sfjit_stacks_end(struct sfjit_stacks *stacks)
{
	if (!stacks)
		return;
	dwflst_tracker_end(stacks->tracker);
	tdestroy(stacks->processes, free_process);
	free(stacks);
}

/* This tracker does not call the open() of its options. */
int sfjit_stacks_open(pid_t pid, const struct sfjit_stacks_mapping *mapping)
{
	return -ENOENT;
}

int sfjit_stacks_open_below(const char *directory,
			    const struct sfjit_stacks_mapping *mapping)
{
	return -ENOENT;
}

int sfjit_stacks_find(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
		      uint64_t address, struct sfjit_stacks_mapping *mapping)
{
	return -ENOENT;
}

enum sfjit_stacks_reason sfjit_stacks_look(struct sfjit_stacks *stacks,
					   pid_t pid, uint64_t time,
					   uint64_t address)
{
	return SFJIT_STACKS_NO_MAPPING;
}

bool sfjit_stacks_is_memory(const char *path)
{
	return path[0] != '/' || path[1] == '/';
}

const char *sfjit_stacks_end_text(enum sfjit_stacks_reason end)
{
	return end == SFJIT_STACKS_OUTERMOST ? "complete" : "elfutils' error";
}

void sfjit_stacks_stats(const struct sfjit_stacks *stacks,
			struct sfjit_stacks_counts *stats)
{
	*stats = stacks->stats;
}
