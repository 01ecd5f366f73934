/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * libsfjit-stacks: samples with registers and a copy of the stack to frames.
 *
 * A tracker knows the processes of a recording, or of a machine: who reads
 * events tells it what was mapped, when, and when it went away; who reads
 * samples gets their frames by callback. A file is read once, however many
 * processes map it, and forgotten when none does any more.
 *
 * Rules that hold for every call of this header:
 *
 * - A call returns 0 (or a value >= 0 where it says so) on success and -errno
 *   on failure. errno itself may be changed by any call.
 * - Times are nanoseconds of one clock, which the caller chooses. Events and
 *   samples may come in any order: each is taken as of its time. Only that a
 *   process was made must come before what it made itself. What lies at an
 *   address is what the last event up to a time put there; of events of the
 *   same time, the one that came last. sfjit_stacks_settle() says that nothing
 *   earlier will come, without which nothing is ever forgotten.
 * - Ranges are half-open. An address is one of the process that was sampled.
 * - A tracker may be used by one thread at a time. Trackers are independent of
 *   each other. No call is async-signal-safe.
 * - Events and samples are hostile: addresses, lengths, registers and stacks may
 *   be anything. So are the files. The time of a sample is bounded by
 *   SFJIT_STACKS_MAX_FRAMES and by a budget for call frame information.
 */
#ifndef SFJIT_STACKS_H
#define SFJIT_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <sfjit/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All that is known at one time, of all processes: 512 MiB. */
#define SFJIT_STACKS_MAX_MAPPINGS	(1u << 22)

/* The processes of one recording. */
struct sfjit_stacks;

/* What opens files instead of open(); see sfjit_stacks_begin(). */
struct sfjit_stacks_mapping;
typedef int (*sfjit_stacks_open_fn)(void *arg, pid_t pid,
				    const struct sfjit_stacks_mapping *mapping);

/**
 * struct sfjit_stacks_options - a tracker
 * @abi:	SFRAME_ABI_* of the processes; 0: that of this program
 * @open:	NULL, or called for each file that a sample needs, with the process
 *		that has it mapped; if that fails, with its parent, and so on. It
 *		returns a descriptor of what was mapped, which is closed by the
 *		tracker, or -errno. The default is sfjit_stacks_open()
 * @arg:	for @open
 * @keep:	bytes of tables that are kept although no process maps their files
 *		now: the next one may
 * @live:	events are of processes that run now, and may end before a sample
 *		needs their files: those that only they lead to are read when they
 *		are mapped
 */
struct sfjit_stacks_options {
	unsigned int abi;
	sfjit_stacks_open_fn open;
	void *arg;
	size_t keep;
	bool live;
};

/**
 * sfjit_stacks_begin - make a tracker
 * @options:	NULL: all zero
 * @stacks:	receives it; to be released by sfjit_stacks_end()
 *
 * Return: 0, or
 *   -ENOMEM	out of memory
 *   -ENOTSUP	the ABI is not known here
 */
int sfjit_stacks_begin(const struct sfjit_stacks_options *options,
		       struct sfjit_stacks **stacks);

/** sfjit_stacks_end - release a tracker; NULL is none */
void sfjit_stacks_end(struct sfjit_stacks *stacks);

/**
 * sfjit_stacks_registers - the registers that samples should have
 * @stacks:	the tracker
 *
 * Return: bits as in perf_event_attr.sample_regs_user. Samples with fewer of
 * them are taken as well: frames that need others are not found.
 */
uint64_t sfjit_stacks_registers(const struct sfjit_stacks *stacks);

/* ---- What happened to memory ------------------------------------------ */

#define SFJIT_STACKS_BUILD_ID_MAX	20

/**
 * struct sfjit_stacks_mapping - a file that was mapped
 * @start:	first address
 * @length:	bytes
 * @offset:	of @start in the file
 * @path:	of the file, as the process named it. What is no absolute path is
 *		memory without tables: "[heap]", "//anon"; but "[vdso]" is the
 *		vDSO of this machine, if @build_id says that it is the same, or is
 *		not known
 * @executable:	false: data
 * @build_id:	of the file, @build_id_length bytes; 0: not known
 * @inode:	of the file; 0: not known
 * @device_major: of the file, as maps of proc(5) and PERF_RECORD_MMAP2 name it;
 * @device_minor: both 0: not known
 *
 * If @inode and @build_id are both given, the build-id is that which @path led to
 * at some time, as a recording's header has it. It counts only where nothing says
 * that this was another file.
 */
struct sfjit_stacks_mapping {
	uint64_t start, length, offset;
	const char *path;
	bool executable;
	uint8_t build_id_length;
	uint8_t build_id[SFJIT_STACKS_BUILD_ID_MAX];
	uint64_t inode;
	uint32_t device_major, device_minor;
};

/**
 * sfjit_stacks_open - open the file that was mapped
 * @pid:	a process that has it mapped, or has the same root and mounts; 0: none
 * @mapping:	what
 *
 * Tries @path; then @path below the root of the process, which for one in a
 * container is another file; then, with privileges, what the process has mapped
 * at @start, also if it was deleted since. A file with another device and inode,
 * or another build-id, is not what was mapped. Only regular files are opened.
 *
 * Return: a descriptor, or -errno:
 *   -ENOENT	none of them is
 *   -ESTALE	one has the build-id, but another inode: it took the place of what
 *		was mapped before its build-id was noted
 */
int sfjit_stacks_open(pid_t pid, const struct sfjit_stacks_mapping *mapping);

/**
 * sfjit_stacks_mmap - memory was mapped
 * @stacks:	the tracker
 * @pid:	of the process
 * @time:	when
 * @mapping:	what; copied
 *
 * What was mapped there is gone from then on, and JIT code as well unless the
 * mapping is anonymous: perf also writes such events for mprotect().
 *
 * Return: 0, or
 *   -EINVAL	@length is 0 or goes around the end of memory, @build_id_length is
 *		over SFJIT_STACKS_BUILD_ID_MAX
 *   -ENOMEM	out of memory
 *   -ENOSPC	there are SFJIT_STACKS_MAX_MAPPINGS
 * After the last two, what lies there is not known.
 */
int sfjit_stacks_mmap(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
		      const struct sfjit_stacks_mapping *mapping);

/**
 * sfjit_stacks_munmap - memory was unmapped, with JIT code that was there
 *
 * perf has no event for this; a tracepoint of the system call tells.
 *
 * Return: as sfjit_stacks_mmap()
 */
int sfjit_stacks_munmap(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
			uint64_t start, uint64_t length);

/**
 * sfjit_stacks_fork - a process or thread was made
 * @pid, @tid:	it
 * @parent:	the process that made it, which is @pid for a thread; 0: nobody, as
 *		in the events by which perf tells what ran before a recording
 *
 * A process starts with what its parent has at that time. Of an earlier process
 * of the same number nothing remains.
 *
 * Return: 0, or -ENOMEM or -ENOSPC: it has less than it should
 */
int sfjit_stacks_fork(struct sfjit_stacks *stacks, pid_t pid, pid_t tid,
		      pid_t parent, uint64_t time);

/**
 * sfjit_stacks_exec - a process was given a new program
 *
 * Of what it had nothing remains.
 *
 * Return: 0, -ENOMEM or -ENOSPC
 */
int sfjit_stacks_exec(struct sfjit_stacks *stacks, pid_t pid, uint64_t time);

/**
 * sfjit_stacks_exit - a thread ended
 *
 * A process ends with the last of the threads that are known.
 *
 * Return: 0
 */
int sfjit_stacks_exit(struct sfjit_stacks *stacks, pid_t pid, pid_t tid,
		      uint64_t time);

/* How code that was generated is described. */
#define SFJIT_STACKS_EH_FRAME		1	/* .eh_frame, at @table_address */
#define SFJIT_STACKS_FRAME_POINTER	2	/* it keeps frame pointers */
#define SFJIT_STACKS_UNKNOWN		3	/* stacks end there */

/**
 * struct sfjit_stacks_code - code that was generated
 * @start:	first address
 * @length:	bytes
 * @kind:	SFJIT_STACKS_*
 * @table:	for SFJIT_STACKS_EH_FRAME, @table_length bytes
 * @table_address: that pointers in @table are relative to
 */
struct sfjit_stacks_code {
	uint64_t start, length;
	unsigned int kind;
	const void *table;
	size_t table_length;
	uint64_t table_address;
};

/**
 * sfjit_stacks_jit_load - code was generated
 * @code:	what; copied
 *
 * It covers what is mapped there, and other code, until it is unloaded.
 *
 * Return: as sfjit_stacks_mmap(), or
 *   -EINVAL	also: @kind is none of the above, the table is damaged
 */
int sfjit_stacks_jit_load(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
			  const struct sfjit_stacks_code *code);

/**
 * sfjit_stacks_jit_unload - generated code is gone, as a JIT's retire log says
 *
 * Return: as sfjit_stacks_mmap()
 */
int sfjit_stacks_jit_unload(struct sfjit_stacks *stacks, pid_t pid,
			    uint64_t time, uint64_t start, uint64_t length);

/**
 * sfjit_stacks_settle - no event or sample before this time will come
 *
 * What had gone by then is forgotten. What comes earlier nevertheless is taken
 * as of this time. Much that is not settled takes time: of more than
 * SFJIT_STACKS_MAX_UNSETTLED changes the oldest are settled by themselves.
 */
#define SFJIT_STACKS_MAX_UNSETTLED	16384
void sfjit_stacks_settle(struct sfjit_stacks *stacks, uint64_t time);

/* ---- Samples ---------------------------------------------------------- */

#define SFJIT_STACKS_MAX_FRAMES		1024

/**
 * struct sfjit_stacks_sample - a sample
 * @pid:	process
 * @time:	when
 * @mask:	which registers, as perf_event_attr.sample_regs_user
 * @registers:	their values, as many as @mask has bits, in that order
 * @stack:	copy of the stack, from the stack pointer on
 * @stack_length: bytes
 */
struct sfjit_stacks_sample {
	pid_t pid;
	uint64_t time;
	uint64_t mask;
	const uint64_t *registers;
	const void *stack;
	size_t stack_length;
};

/* Why there are no more frames. */
enum sfjit_stacks_end {
	SFJIT_STACKS_OUTERMOST,		/* there are none: complete */
	SFJIT_STACKS_TRUNCATED,		/* the copy of the stack ends here */
	SFJIT_STACKS_NO_MAPPING,	/* nothing is known of that address */
	SFJIT_STACKS_NO_FILE,		/* the file is not there, or another */
	SFJIT_STACKS_NO_TABLE,		/* it has no call frame information */
	SFJIT_STACKS_NO_RULE,		/* it has, but not for this address */
	SFJIT_STACKS_NO_REGISTER,	/* the sample does not have a register */
	SFJIT_STACKS_NOT_SUPPORTED,	/* the rule is beyond this library */
	SFJIT_STACKS_DAMAGED,		/* the rule, or the stack */
	SFJIT_STACKS_LIMIT,		/* of frames, or of the budget */
	SFJIT_STACKS_STOPPED,		/* by the callback */
	SFJIT_STACKS_NR_ENDS
};

/* What is known of a frame. */
#define SFJIT_STACKS_BY_FRAME_POINTER	0x1	/* found as nothing else could */
#define SFJIT_STACKS_AFTER_SIGNAL	0x2	/* interrupted: @ip is exact */

/**
 * struct sfjit_stacks_frame - a frame
 * @ip:		where it was interrupted, or the return address of its call
 * @flags:	SFJIT_STACKS_BY_*, SFJIT_STACKS_AFTER_*
 */
struct sfjit_stacks_frame {
	uint64_t ip;
	unsigned int flags;
};

/* For each frame, innermost first. Not 0: that was enough. */
typedef int (*sfjit_stacks_frame_fn)(void *arg,
				     const struct sfjit_stacks_frame *frame);

/**
 * sfjit_stacks_frames - the frames of a sample
 * @stacks:	the tracker
 * @sample:	borrowed
 * @frame:	called for each; it must not use the tracker
 * @arg:	for @frame
 * @end:	NULL, or receives why there are no more
 *
 * A frame is passed on only after all that is needed of it was checked. If a
 * caller's register turns out to be needed that rows do not tell, the stack is
 * walked again from its beginning before the callback is called at all.
 *
 * Return: the number of frames, or
 *   -EINVAL	the sample has no instruction or no stack pointer
 *   -ENOMEM	out of memory
 */
int sfjit_stacks_frames(struct sfjit_stacks *stacks,
			const struct sfjit_stacks_sample *sample,
			sfjit_stacks_frame_fn frame, void *arg,
			enum sfjit_stacks_end *end);

/** sfjit_stacks_end_text - a constant string, in words */
const char *sfjit_stacks_end_text(enum sfjit_stacks_end end);

/* ---- Questions -------------------------------------------------------- */

/**
 * sfjit_stacks_find - what lies at an address
 * @mapping:	receives it; @path is valid up to the next call with the tracker; "":
 *		it is code of sfjit_stacks_jit_load()
 *
 * Return: 0, or
 *   -ESRCH	the process is not known
 *   -ENOENT	nothing is known of the address
 */
int sfjit_stacks_find(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
		      uint64_t address, struct sfjit_stacks_mapping *mapping);

/**
 * sfjit_stacks_look - what is known of the code at an address
 *
 * For who has call chains that somebody else made, and asks whether they are
 * complete. A return address is looked up less one.
 *
 * Return: SFJIT_STACKS_OUTERMOST: it has no caller; SFJIT_STACKS_STOPPED: it has
 * one, and there are rules; else why there is no rule. Of memory that nobody
 * has described it is SFJIT_STACKS_NO_TABLE.
 */
enum sfjit_stacks_end sfjit_stacks_look(struct sfjit_stacks *stacks, pid_t pid,
					uint64_t time, uint64_t address);

/**
 * sfjit_stacks_is_memory - whether a path of a mapping names memory, no file
 *
 * Of its code nobody but a jitdump says anything.
 */
bool sfjit_stacks_is_memory(const char *path);

/**
 * struct sfjit_stacks_stats - what a tracker has
 * @processes:	known now
 * @mappings:	and pieces of generated code, of all processes
 * @files:	that mappings name
 * @tables:	of files that were read
 * @table_bytes: of memory for them
 * @samples:	up to now
 * @frames:	of them
 * @ends:	of them, by reason
 */
struct sfjit_stacks_stats {
	uint64_t processes, mappings, files, tables, table_bytes;
	uint64_t samples, frames;
	uint64_t ends[SFJIT_STACKS_NR_ENDS];
};

/** sfjit_stacks_stats - what a tracker has, and has done */
void sfjit_stacks_stats(const struct sfjit_stacks *stacks,
			struct sfjit_stacks_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_STACKS_H */
