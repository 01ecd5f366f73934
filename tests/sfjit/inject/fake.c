// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A fake tracker. It logs its calls to $TRACKER_LOG, a line each. Frames come
 * from the sample: the first register, and the words of the stack up to a 0.
 * EXACT in a word: not a return address.
 *
 * The last four bits of an address give the reason why the stack ends there, if
 * any. The four bits before the last twelve are 0 for unmapped, odd for a file;
 * of others, the second bit marks a jitdump's code.
 */
#include <errno.h>
#include <inttypes.h>
#include <sfjit-stacks.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT	(1ULL << 62)

struct sfjit_stacks {
	FILE *log;
	struct sfjit_stacks_counts stats;
};

__attribute__((format(printf, 2, 3)))
static int note(struct sfjit_stacks *stacks, const char *line, ...)
{
	va_list args;

	if (!stacks->log)
		return 0;
	va_start(args, line);
	vfprintf(stacks->log, line, args);
	va_end(args);
	return 0;
}

int sfjit_stacks_begin(const struct sfjit_stacks_options *options,
		       struct sfjit_stacks **stacks)
{
	const char *log = getenv("TRACKER_LOG");

	*stacks = calloc(1, sizeof(**stacks));
	if (log)
		(*stacks)->log = fopen(log, "w");
	return 0;
}

void sfjit_stacks_end(struct sfjit_stacks *stacks)
{
	if (stacks && stacks->log)
		fclose(stacks->log);
	free(stacks);
}

static const char *hex(const uint8_t *bytes, size_t length)
{
	static char text[2 * SFJIT_STACKS_BUILD_ID_MAX + 1];
	size_t i;

	strcpy(text, "");
	for (i = 0; i < length; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	return text;
}

int sfjit_stacks_mmap(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
		      const struct sfjit_stacks_mapping *mapping)
{
	if (!mapping->length)
		return -EINVAL;
	return note(stacks, "mmap %d %" PRIu64 " %" PRIx64 " %" PRIx64
		    " %" PRIx64 " %s %d %s %" PRIu64 "\n", pid, time,
		    mapping->start, mapping->length, mapping->offset,
		    mapping->path, mapping->executable,
		    hex(mapping->build_id, mapping->build_id_length),
		    mapping->inode);
}

int sfjit_stacks_open(pid_t pid, const struct sfjit_stacks_mapping *mapping)
{
	return -ENOENT;
}

int sfjit_stacks_open_below(const char *directory,
			    const struct sfjit_stacks_mapping *mapping)
{
	return -ENOENT;
}

int sfjit_stacks_munmap(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
			uint64_t start, uint64_t length)
{
	return note(stacks, "munmap %d %" PRIu64 " %" PRIx64 " %" PRIx64 "\n",
		    pid, time, start, length);
}

int sfjit_stacks_fork(struct sfjit_stacks *stacks, pid_t pid, pid_t tid,
		      pid_t parent, uint64_t time)
{
	return note(stacks, "fork %d %d %d %" PRIu64 "\n", pid, tid, parent,
		    time);
}

int sfjit_stacks_exec(struct sfjit_stacks *stacks, pid_t pid, uint64_t time)
{
	return note(stacks, "exec %d %" PRIu64 "\n", pid, time);
}

int sfjit_stacks_exit(struct sfjit_stacks *stacks, pid_t pid, pid_t tid,
		      uint64_t time)
{
	return note(stacks, "exit %d %d %" PRIu64 "\n", pid, tid, time);
}

int sfjit_stacks_jit_load(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
			  const struct sfjit_stacks_code *code)
{
	return note(stacks, "load %d %" PRIu64 " %" PRIx64 " %" PRIx64
		    " %.*s %" PRIx64 "\n", pid, time, code->start,
		    code->length, (int)code->table_length,
		    (const char *)code->table, code->table_address);
}

int sfjit_stacks_jit_unload(struct sfjit_stacks *stacks, pid_t pid,
			    uint64_t time, uint64_t start, uint64_t length)
{
	return note(stacks, "unload %d %" PRIu64 " %" PRIx64 " %" PRIx64 "\n",
		    pid, time, start, length);
}

void sfjit_stacks_settle(struct sfjit_stacks *stacks, uint64_t time)
{
	note(stacks, "settle %" PRIu64 "\n", time);
}

static bool next_word(const struct sfjit_stacks_sample *sample, size_t *at,
		      uint64_t *word)
{
	if (*at + 8 > sample->stack_length)
		return false;
	memcpy(word, (const uint8_t *)sample->stack + *at, 8);
	*at += 8;
	return *word;
}

int sfjit_stacks_frames(struct sfjit_stacks *stacks,
			const struct sfjit_stacks_sample *sample,
			sfjit_stacks_frame_fn frame, void *arg,
			enum sfjit_stacks_reason *end)
{
	struct sfjit_stacks_frame next = { };
	size_t at = 0;
	uint64_t last;
	int nr = 0;

	note(stacks, "frames %d %" PRIu64 "\n", sample->pid, sample->time);
	if (!sample->mask)
		return -EINVAL;
	next.ip = sample->registers[0];
	do {
		next.flags = next.ip & EXACT ? SFJIT_STACKS_AFTER_SIGNAL : 0;
		next.ip &= ~EXACT;
		last = next.ip - !!nr++;
	} while (!frame(arg, &next) && next_word(sample, &at, &next.ip));
	stacks->stats.samples++;
	stacks->stats.frames += nr;
	stacks->stats.ends[SFJIT_STACKS_OUTERMOST]++;
	*end = last & 15;
	return nr;
}

int sfjit_stacks_find(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
		      uint64_t address, struct sfjit_stacks_mapping *mapping)
{
	static char path[40];

	if (!(address >> 12 & 15))
		return -ENOENT;
	sprintf(path, "/lib/%" PRIx64, address >> 12);
	mapping->path = address >> 12 & 1 ? path : address >> 12 & 2 ? "" :
						 "//anon";
	return 0;
}

enum sfjit_stacks_reason sfjit_stacks_look(struct sfjit_stacks *stacks,
					   pid_t pid, uint64_t time,
					   uint64_t address)
{
	note(stacks, "look %d %" PRIu64 " %" PRIx64 "\n", pid, time, address);
	return address & 15;
}

bool sfjit_stacks_is_memory(const char *path)
{
	return path[0] != '/' || path[1] == '/';
}

const char *sfjit_stacks_end_text(enum sfjit_stacks_reason end)
{
	static const char *const text[] = {
		"end 0", "end 1", "end 2", "end 3", "end 4", "end 5", "end 6",
		"end 7", "end 8", "end 9",
	};

	return end < SFJIT_STACKS_STOPPED ? text[end] : "?";
}

void sfjit_stacks_stats(const struct sfjit_stacks *stacks,
			struct sfjit_stacks_counts *stats)
{
	*stats = stacks->stats;
}
