// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The functions of sfjit-stacks.h that pass events to processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "identity.h"
#include "tracker.h"

#define EXPORT	__attribute__((visibility("default")))

EXPORT int sfjit_stacks_begin(const struct sfjit_stacks_options *options,
			      struct sfjit_stacks **stacks)
{
	struct sfjit_stacks_options own = { 0 };
	struct sfjit_stacks *new;
	int ret;

	if (options)
		own = *options;
	if (!own.abi)
		own.abi = SFG_HOST_ABI;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	ret = walk_init(&new->walk, own.abi);
	if (ret) {
		free(new);
		return ret;
	}
	new->abi = own.abi;
	files_init(&new->files, &own);
	processes_init(&new->processes);
	*stacks = new;
	return 0;
}

EXPORT void sfjit_stacks_end(struct sfjit_stacks *stacks)
{
	if (!stacks)
		return;
	processes_clear(&stacks->processes);
	files_clear(&stacks->files);
	walk_clear(&stacks->walk);
	free(stacks);
}

EXPORT uint64_t sfjit_stacks_registers(const struct sfjit_stacks *stacks)
{
	return walk_registers(&stacks->walk);
}

/* When something happened, as far as that still matters. */
static uint64_t when(struct sfjit_stacks *stacks, uint64_t time)
{
	if (time < stacks->settled)
		time = stacks->settled;
	/* the end of time is for what never ends */
	if (time == FOREVER)
		time--;
	if (time > stacks->latest)
		stacks->latest = time;
	return time;
}

static void keep_bounded(struct sfjit_stacks *stacks)
{
	if (stacks->processes.histories.nr_passing >
	    SFJIT_STACKS_MAX_UNSETTLED)
		sfjit_stacks_settle(stacks, stacks->latest);
}

EXPORT void sfjit_stacks_settle(struct sfjit_stacks *stacks, uint64_t time)
{
	if (time <= stacks->settled)
		return;
	stacks->settled = time;
	processes_settle(&stacks->processes, time);
}

/* Painting. */

static int check_code_range(uint64_t start, uint64_t length)
{
	/* it ends before the last byte at most */
	return length && length <= UINT64_MAX - start ? 0 : -EINVAL;
}

static int paint(struct sfjit_stacks *stacks, pid_t pid,
		 process_paint_fn *layer, const struct paint *paint)
{
	struct process *process = process_get(&stacks->processes, pid,
					      paint->time);
	int ret;

	if (!process)
		return -ENOMEM;
	ret = layer(process, paint);
	keep_bounded(stacks);
	return ret;
}

static int erase(struct sfjit_stacks *stacks, pid_t pid,
		 process_paint_fn *layer, uint64_t time, uint64_t start,
		 uint64_t end)
{
	struct paint nothing = { .start = start, .end = end };

	nothing.time = when(stacks, time);
	return paint(stacks, pid, layer, &nothing);
}

static int map(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
	       const struct sfjit_stacks_mapping *mapping,
	       struct origin *origin)
{
	struct paint p = {
		.start = mapping->start,
		.end = mapping->start + mapping->length,
		.time = when(stacks, time),
		.origin = mapping->executable ||
			  origin->kind == ORIGIN_MEMORY ? origin : NULL,
		.base = mapping->start - mapping->offset,
	};

	return paint(stacks, pid, process_map, &p);
}

static void prepare(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
		    const struct sfjit_stacks_mapping *mapping,
		    struct origin *origin)
{
	struct user user = {
		process_find(&stacks->processes, pid, when(stacks, time)),
		mapping->start, mapping->length, mapping->offset,
	};

	if (user.process)
		files_prepare(origin, &user);
}

EXPORT int sfjit_stacks_open(pid_t pid,
			     const struct sfjit_stacks_mapping *mapping)
{
	return identity_open(pid, mapping);
}

EXPORT int sfjit_stacks_open_below(const char *directory,
				   const struct sfjit_stacks_mapping *mapping)
{
	return identity_open_below(directory, mapping);
}

EXPORT int sfjit_stacks_mmap(struct sfjit_stacks *stacks, pid_t pid,
			     uint64_t time,
			     const struct sfjit_stacks_mapping *mapping)
{
	struct origin *origin;
	int ret = check_code_range(mapping->start, mapping->length);

	if (ret || mapping->build_id_length > sizeof(mapping->build_id))
		return -EINVAL;
	origin = files_find(&stacks->files, mapping);
	if (!origin)
		return -ENOMEM;
	ret = map(stacks, pid, time, mapping, origin);
	if (!ret && mapping->executable)
		prepare(stacks, pid, time, mapping, origin);
	origin_put(origin);
	return ret;
}

EXPORT int sfjit_stacks_munmap(struct sfjit_stacks *stacks, pid_t pid,
			       uint64_t time, uint64_t start, uint64_t length)
{
	int ret = check_code_range(start, length);

	return ret ? ret : erase(stacks, pid, process_map, time, start,
				 start + length);
}

EXPORT int sfjit_stacks_exec(struct sfjit_stacks *stacks, pid_t pid,
			     uint64_t time)
{
	return erase(stacks, pid, process_map, time, 0, UINT64_MAX);
}

EXPORT int sfjit_stacks_fork(struct sfjit_stacks *stacks, pid_t pid, pid_t tid,
			     pid_t parent, uint64_t time)
{
	struct process *process;
	int ret;

	time = when(stacks, time);
	if (pid != parent) {
		ret = process_fork(&stacks->processes, pid, parent, time);
		keep_bounded(stacks);
		return ret;
	}
	process = process_get(&stacks->processes, pid, time);
	if (!process)
		return -ENOMEM;
	process_thread(process, tid);
	return 0;
}

EXPORT int sfjit_stacks_exit(struct sfjit_stacks *stacks, pid_t pid, pid_t tid,
			     uint64_t time)
{
	struct process *process;

	time = when(stacks, time);
	process = process_find(&stacks->processes, pid, time);
	if (process)
		process_exit(process, time);
	return 0;
}

static int read_mapped_code(struct sfjit_stacks *stacks,
			    const struct sfjit_stacks_code *code,
			    struct origin **origin)
{
	struct table *table = NULL;
	int ret;

	if (code->kind == SFJIT_STACKS_EH_FRAME) {
		table = calloc(1, sizeof(*table));
		ret = table ? code_read_table(stacks->abi, code, table) :
			      -ENOMEM;
		if (ret) {
			free(table);
			return ret;
		}
		table->serial = ++stacks->files.serial;
	}
	*origin = origin_of_code(table,
				 code->kind == SFJIT_STACKS_FRAME_POINTER);
	return *origin ? 0 : -ENOMEM;
}

EXPORT int sfjit_stacks_jit_load(struct sfjit_stacks *stacks, pid_t pid,
				 uint64_t time,
				 const struct sfjit_stacks_code *code)
{
	struct paint p = {
		.start = code->start, .end = code->start + code->length,
		.time = when(stacks, time),
	};
	int ret = check_code_range(code->start, code->length);

	if (ret || code->kind < SFJIT_STACKS_EH_FRAME ||
	    code->kind > SFJIT_STACKS_UNKNOWN)
		return -EINVAL;
	ret = read_mapped_code(stacks, code, &p.origin);
	if (ret)
		return ret;
	ret = paint(stacks, pid, process_generate, &p);
	origin_put(p.origin);
	return ret;
}

EXPORT int sfjit_stacks_jit_unload(struct sfjit_stacks *stacks, pid_t pid,
				   uint64_t time, uint64_t start,
				   uint64_t length)
{
	int ret = check_code_range(start, length);

	return ret ? ret : erase(stacks, pid, process_generate, time, start,
				 start + length);
}

/* Questions. */

EXPORT int sfjit_stacks_find(struct sfjit_stacks *stacks, pid_t pid,
			     uint64_t time, uint64_t address,
			     struct sfjit_stacks_mapping *mapping)
{
	struct process *process;
	const struct piece *p;

	time = when(stacks, time);
	process = process_find(&stacks->processes, pid, time);
	if (!process)
		return -ESRCH;
	p = process_piece(process, address, time);
	if (!p)
		return -ENOENT;
	*mapping = p->origin->id;
	mapping->start = p->start;
	mapping->length = p->end - p->start;
	mapping->offset = p->start - p->base;
	if (p->origin->kind == ORIGIN_CODE)
		mapping->path = "";
	return 0;
}

EXPORT enum sfjit_stacks_reason sfjit_stacks_look(struct sfjit_stacks *stacks,
						  pid_t pid, uint64_t time,
						  uint64_t address)
{
	time = when(stacks, time);
	return walk_look(&stacks->walk,
			 process_find(&stacks->processes, pid, time), time,
			 address);
}

EXPORT bool sfjit_stacks_is_memory(const char *path)
{
	return files_is_memory(path);
}

EXPORT void sfjit_stacks_stats(const struct sfjit_stacks *stacks,
			       struct sfjit_stacks_counts *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->processes = stacks->processes.nr;
	stats->mappings = stacks->processes.histories.nr;
	stats->files = stacks->files.nr_origins;
	stats->tables = stacks->files.nr_tables;
	stats->table_bytes = stacks->files.table_bytes;
	stats->samples = stacks->samples;
	stats->frames = stacks->frames;
	memcpy(stats->ends, stacks->ends, sizeof(stats->ends));
	stats->settled = stacks->settled;
}

/* Samples. */

static int give(const struct walk *walk, sfjit_stacks_frame_fn frame, void *arg,
		enum sfjit_stacks_reason *end)
{
	size_t i;

	for (i = 0; i < walk->nr; i++)
		if (frame(arg, &walk->frames[i])) {
			*end = SFJIT_STACKS_STOPPED;
			return i + 1;
		}
	return walk->nr;
}

EXPORT int sfjit_stacks_frames(struct sfjit_stacks *stacks,
			       const struct sfjit_stacks_sample *sample,
			       sfjit_stacks_frame_fn frame, void *arg,
			       enum sfjit_stacks_reason *end)
{
	uint64_t time = when(stacks, sample->time);
	enum sfjit_stacks_reason why;
	int ret;

	ret = walk_sample(&stacks->walk,
			  process_find(&stacks->processes, sample->pid, time),
			  time, sample);
	if (ret)
		return ret;
	why = stacks->walk.end;
	ret = give(&stacks->walk, frame, arg, &why);
	stacks->samples++;
	stacks->frames += ret;
	stacks->ends[why]++;
	if (end)
		*end = why;
	return ret;
}

EXPORT const char *sfjit_stacks_end_text(enum sfjit_stacks_reason end)
{
	static const char *const text[SFJIT_STACKS_NR_ENDS] = {
		[SFJIT_STACKS_OUTERMOST] = "complete",
		[SFJIT_STACKS_TRUNCATED] = "the copy of the stack ends",
		[SFJIT_STACKS_NO_MAPPING] = "nothing is known of the address",
		[SFJIT_STACKS_NO_FILE] = "the file is not there, or another",
		[SFJIT_STACKS_NO_TABLE] = "no call frame information",
		[SFJIT_STACKS_NO_RULE] = "no rule for the address",
		[SFJIT_STACKS_NO_REGISTER] = "a register is not known",
		[SFJIT_STACKS_NOT_SUPPORTED] = "a rule is not supported",
		[SFJIT_STACKS_DAMAGED] = "damaged rule or stack",
		[SFJIT_STACKS_LIMIT] = "too long",
		[SFJIT_STACKS_STOPPED] = "stopped",
		[SFJIT_STACKS_OTHER_STACK] = "goes on on another stack",
	};

	return (unsigned int)end < SFJIT_STACKS_NR_ENDS ? text[end] : "?";
}
