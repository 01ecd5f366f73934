/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Recordings of perf: copied, with call chains in place of registers and copies
 * of stacks; and explained.
 */
#ifndef SFJIT_PERFDATA_PERFDATA_H
#define SFJIT_PERFDATA_PERFDATA_H

#include <sfjit-stacks.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "trouble.h"

/**
 * struct perfdata_build_id - a build-id of a recording
 * @path:	of the file, as its process named it
 * @kernel:	of the kernel
 * @length:	of @bytes; 0: there is none
 * @bytes:	the build-id
 */
struct perfdata_build_id {
	const char *path;
	bool kernel;
	uint8_t length, bytes[SFJIT_STACKS_BUILD_ID_MAX];
};

/**
 * struct perfdata_files - called for the files of a recording that is made
 * @mapped:	code of a file was mapped, at @time of CLOCK_MONOTONIC; 0: not known.
 *		true: the record gets this build-id in place of the inode
 * @opened:	a stack needs the file, which @fd is; or it was mapped, and only its
 *		process or an ancestor leads to it: this is called before @mapped
 * @next:	at the end, with 0, 1, ...: the next build-id for the header; false:
 *		there is none. That of the kernel is written if it was sampled
 * @arg:	for all
 */
struct perfdata_files {
	bool (*mapped)(void *arg, pid_t pid, uint64_t time,
		       const struct sfjit_stacks_mapping *mapping,
		       struct perfdata_build_id *own);
	void (*opened)(void *arg, pid_t pid,
		       const struct sfjit_stacks_mapping *mapping, int fd);
	bool (*next)(void *arg, size_t i, struct perfdata_build_id *id);
	void *arg;
};

/**
 * struct perfdata_options - input, output and options
 * @in:		descriptor of a file, or of what perf record -o - writes
 * @out:	any descriptor, for perfdata_inject(). Unless it is an empty file,
 *		it gets the pipe form, too
 * @launcher:	for perfdata_explain(): NULL, or the name of the file that
 *		sfjit run maps into the processes it starts
 * @raw:	write piped input that cannot be converted as it is, if nothing
 *		was written before
 * @live:	the input was recorded just now: see sfjit-stacks.h. Piped input
 *		becomes a regular recording, if @out is an empty file
 * @files:	NULL, or for @live, if @out is an empty file
 * @copies:	NULL, or the directory where perf record keeps files by build-id
 * @root:	NULL, or the directory below which the files of another machine are
 * @say:	called with one line for each message, in which names of the
 *		recording may have any characters
 * @progress:	NULL, or called at times: bytes read so far, and of how many
 *		(0: unknown)
 * @arg:	for both
 */
struct perfdata_options {
	int in, out;
	bool raw, live;
	const struct perfdata_files *files;
	const char *copies, *root, *launcher;
	void (*say)(void *arg, const char *line);
	void (*progress)(void *arg, uint64_t done, uint64_t size);
	void *arg;
};

/*
 * Samples that were recorded just now wait for a jitdump that their process still
 * writes, and later records for them. If these are more bytes, the oldest sample is
 * written as it is.
 */
#define PERFDATA_WAITING_MOST	(256U << 20)

/**
 * struct perfdata_result - what was converted
 * @samples:	in all
 * @converted:	those that had registers and stacks
 * @hasty:	those in generated code that could not wait for its description
 * @kernel:	those that interrupted the kernel
 * @lost:	records, mostly samples, that had no room in perf's buffers
 * @read:	bytes
 * @written:	bytes
 * @kept:	if it fails: bytes of the output, which are a recording without
 *		the rest; 0: there is none
 * @raw:	if it fails: @kept is the input, as it is
 * @error:	if a write failed: its errno
 * @stacks:	what the tracker had at the end
 */
struct perfdata_result {
	uint64_t samples, converted, kernel, hasty, lost, read, written, kept;
	bool raw;
	int error;
	struct sfjit_stacks_counts stacks;
};

struct perfdata_ends;

/*
 * Replaces registers and copies of stacks in samples by call chains, and copies
 * everything else byte for byte and in order.
 *
 * 0, or a negative errno, and why, in a line as for @say. The output up to then
 * is no recording, unless @result->kept.
 *
 * Reads a truncated recording up to its end, and tells @say.
 *
 * @ends, if not NULL, gets the results of perfdata_explain() for the input,
 * except for samples of events without copies of stacks: only @chains counts
 * these. Release it if this succeeds.
 */
int perfdata_inject(const struct perfdata_options *options,
		    struct perfdata_result *result, struct perfdata_ends *ends,
		    struct trouble *trouble);

/* The place where a stack ends. */
enum perfdata_place {
	PERFDATA_FILE,
	PERFDATA_CODE,		/* generated, and described by a jitdump */
	PERFDATA_MEMORY,	/* no file, and without a description */
	PERFDATA_NOWHERE,	/* nothing is known there */
	PERFDATA_NR_PLACES
};

/* Of a call chain the deferred part is missing; otherwise SFJIT_STACKS_*. */
#define PERFDATA_NOT_DEFERRED	SFJIT_STACKS_NR_ENDS

/**
 * struct perfdata_end - where stacks end that are not complete
 * @chain:	they are call chains: SFJIT_STACKS_STOPPED is a chain that ends
 *		although there are rules. Otherwise copies of stacks
 * @why:	SFJIT_STACKS_*, PERFDATA_NOT_DEFERRED
 * @place:	what lies there
 * @launched:	with SFJIT_STACKS_STOPPED: by sfjit run
 * @module:	of PERFDATA_FILE the name without directories, in which there may
 *		be any characters; NULL: several, beyond PERFDATA_ENDS_MOST
 * @samples:	that end so
 */
struct perfdata_end {
	bool chain;
	unsigned int why;
	enum perfdata_place place;
	bool launched;
	const char *module;
	uint64_t samples;
};

/* Ends that are told apart by their module. */
#define PERFDATA_ENDS_MOST	4096

/**
 * struct perfdata_ends - where the stacks of a recording end
 * @samples:	in all
 * @without:	those that have no stack of user space: they were not recorded
 *		with one, or nothing of user space was running
 * @complete:	those whose last frame has no caller
 * @chains:	those that perfdata_inject() has not looked at
 * @lost:	not one of these: there was no room for them in perf's buffers
 * @by_code:	copies of stacks with a frame that a file has no rule for, and whose
 *		caller the instructions tell
 * @list:	the others, those of most samples first
 * @nr:		of these
 */
struct perfdata_ends {
	uint64_t samples, without, complete, chains, lost, by_code;
	struct perfdata_end *list;
	size_t nr;
};

/*
 * Where stacks end: of copies as perfdata_inject() unwinds them, of call chains
 * what is known of their last address. As perfdata_inject() otherwise; @ends is
 * to be released if it succeeds.
 */
int perfdata_explain(const struct perfdata_options *options,
		     struct perfdata_ends *ends, struct trouble *trouble);

/*
 * Ends in lines, for perfdata_ends_read(). 0 or EOF. @bytes and @changed tell
 * which recording they are of.
 */
int perfdata_ends_write(const struct perfdata_ends *ends, uint64_t bytes,
			const struct timespec *changed, FILE *out);
/*
 * -ESTALE: of another recording; -EBADMSG: not what that writes; -ENOMEM. To be
 * released if it succeeds.
 */
int perfdata_ends_read(struct perfdata_ends *ends, uint64_t bytes,
		       const struct timespec *changed, FILE *in);
void perfdata_ends_free(struct perfdata_ends *ends);

#endif /* SFJIT_PERFDATA_PERFDATA_H */
