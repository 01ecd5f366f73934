/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * libsfjit-stacks: unwind samples that contain registers and a copy of the stack.
 *
 * A tracker knows the processes of a recording, or of a machine. Report to it
 * what was mapped and unmapped, and when; give it samples, and it calls you back
 * with their frames. It reads a file once, however many processes map it, and
 * forgets it when no process maps it any more.
 *
 * Rules for every call of this header:
 *
 * - A call returns 0, or the value that it documents. On failure it returns a
 *   negative error number. Any call may change errno.
 * - Times are nanoseconds of one clock, which you choose. Events and samples may
 *   come in any order: each is taken as of its time. Only report the creation of
 *   a process before what the process created itself. At an address lies what the
 *   last event up to a time put there; among events of the same time, the one
 *   reported last. sfjit_stacks_settle() says that nothing earlier will come;
 *   without it nothing is ever forgotten.
 * - Ranges are half-open. Addresses are those of the sampled process.
 * - Use a tracker in one thread at a time. Trackers are independent of each other.
 *   No call is async-signal-safe.
 * - Events and samples may be hostile: addresses, lengths, registers and stacks
 *   may be anything, and so may the files. The time for a sample is bounded by
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

/* Maximum number of mappings, of all processes together: 512 MiB. */
#define SFJIT_STACKS_MAX_MAPPINGS	(1u << 22)

/* The processes of one recording. */
struct sfjit_stacks;

/* Opens files instead of open(); see struct sfjit_stacks_options. */
struct sfjit_stacks_mapping;
typedef int (*sfjit_stacks_open_fn)(void *arg, pid_t pid,
				    const struct sfjit_stacks_mapping *mapping);

/**
 * struct sfjit_stacks_options - options of a tracker
 * @abi:	SFRAME_ABI_* of the processes; 0: that of this program
 * @open:	NULL, or called for each file that a sample needs, with the process
 *		that has it mapped; if that fails, with its parent, and so on. It
 *		returns a descriptor of the mapped file, which the tracker closes,
 *		or -errno. The default is sfjit_stacks_open()
 * @arg:	for @open
 * @keep:	bytes of tables to keep although no process maps their files now,
 *		because the next one may
 * @live:	events are of processes that run now, and may end before a sample
 *		needs their files. The tracker reads a file when it is mapped if
 *		only its process leads to it
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
 * @stacks:	set to the tracker; release it with sfjit_stacks_end()
 *
 * Return: 0, or
 *   -ENOMEM	out of memory
 *   -ENOTSUP	the ABI is not known here
 */
int sfjit_stacks_begin(const struct sfjit_stacks_options *options,
		       struct sfjit_stacks **stacks);

/**
 * sfjit_stacks_end - release a tracker
 * @stacks:	the tracker; NULL does nothing
 */
void sfjit_stacks_end(struct sfjit_stacks *stacks);

/**
 * sfjit_stacks_registers - get the registers that samples should have
 * @stacks:	the tracker
 *
 * Return: bits as in perf_event_attr.sample_regs_user. You may pass samples with
 * fewer registers: frames that need the others are not found.
 */
uint64_t sfjit_stacks_registers(const struct sfjit_stacks *stacks);

/* ---- What happened to memory ------------------------------------------ */

#define SFJIT_STACKS_BUILD_ID_MAX	20

/**
 * struct sfjit_stacks_mapping - a file that was mapped
 * @start:	first address
 * @length:	bytes
 * @offset:	of @start in the file
 * @path:	of the file, as the process named it. Other names than absolute
 *		paths are memory without tables: "[heap]", "//anon". "[vdso]" is
 *		the vDSO of this machine, if @build_id is its, or is not known
 * @executable:	false: data
 * @build_id_length: bytes of @build_id; 0: not known
 * @build_id:	of the file
 * @inode:	of the file; 0: not known. A file with another inode or build-id
 *		was replaced since, and is not used
 * @device_major: of the file, as maps of proc(5) and PERF_RECORD_MMAP2 name it
 * @device_minor: both 0: not known
 *
 * If @inode and @build_id are both given, the build-id is that of the file to which
 * @path led at some time, as a recording's header has it. It counts only if nothing
 * shows that this was another file.
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
 * Tries @path; then @path below the root of the process, which differs for one in
 * a container; then, with privileges, the file that the process has mapped at
 * @start, even if it was deleted since. A file with another device and inode,
 * or another build-id, is not what was mapped. Only regular files are opened.
 *
 * Return: a descriptor, or -errno:
 *   -ENOENT	none of them is
 *   -ESTALE	one has the build-id, but another inode: it took the place of what
 *		was mapped before its build-id was noted
 */
int sfjit_stacks_open(pid_t pid, const struct sfjit_stacks_mapping *mapping);

/**
 * sfjit_stacks_open_below - open a copy of the file that was mapped
 * @directory:	the root of the copies, as of another machine
 * @mapping:	what
 *
 * Takes what is at @path below @directory for the file, with any device and inode,
 * but not with another build-id than @mapping has. Links lead to no file outside of
 * @directory. Only regular files are opened.
 *
 * Return: a descriptor, or -errno, that of openat2(2), or:
 *   -ENOENT	@path leads to no regular file there
 *   -ESTALE	the file there has another build-id
 */
int sfjit_stacks_open_below(const char *directory,
			    const struct sfjit_stacks_mapping *mapping);

/**
 * sfjit_stacks_mmap - report that memory was mapped
 * @stacks:	the tracker
 * @pid:	of the process
 * @time:	when
 * @mapping:	what; copied
 *
 * From then on the mappings that were there are gone, and so is JIT code, unless
 * the new mapping is anonymous: perf also writes such events for mprotect().
 *
 * Return: 0, or
 *   -EINVAL	@length is 0 or wraps around, or @build_id_length exceeds
 *		SFJIT_STACKS_BUILD_ID_MAX
 *   -ENOMEM	out of memory
 *   -ENOSPC	there are SFJIT_STACKS_MAX_MAPPINGS
 * After the last two nothing is known of this memory.
 */
int sfjit_stacks_mmap(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
		      const struct sfjit_stacks_mapping *mapping);

/**
 * sfjit_stacks_munmap - report that memory was unmapped, with JIT code in it
 *
 * perf has no event for this: use a tracepoint of the system call.
 *
 * Return: as sfjit_stacks_mmap()
 */
int sfjit_stacks_munmap(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
			uint64_t start, uint64_t length);

/**
 * sfjit_stacks_fork - report that a process or thread was created
 * @pid, @tid:	the new one
 * @parent:	the process that created it, which is @pid for a thread; 0: none, as
 *		in perf's events for processes that ran before the recording
 *
 * A process starts with the mappings that its parent has at that time. An earlier
 * process with the same number is forgotten.
 *
 * Return: 0, or -ENOMEM or -ENOSPC: it lacks some mappings
 */
int sfjit_stacks_fork(struct sfjit_stacks *stacks, pid_t pid, pid_t tid,
		      pid_t parent, uint64_t time);

/**
 * sfjit_stacks_exec - report that a process executes a new program
 *
 * All its mappings are gone.
 *
 * Return: 0, -ENOMEM or -ENOSPC
 */
int sfjit_stacks_exec(struct sfjit_stacks *stacks, pid_t pid, uint64_t time);

/**
 * sfjit_stacks_exit - report that a thread ended
 *
 * A process ends with the last of its known threads.
 *
 * Return: 0
 */
int sfjit_stacks_exit(struct sfjit_stacks *stacks, pid_t pid, pid_t tid,
		      uint64_t time);

/**
 * sfjit_stacks_running - read what a running process has mapped
 * @pid:	the process; 0: all processes that this one may read
 * @time:	of these mappings
 *
 * Reads the executable mappings in /proc/PID/maps. Take the time, then enable the
 * events, then call this: later changes are in the events, and count from their own
 * times on. The process is forgotten only when another one gets its number, since
 * its threads may have ended before you read of them.
 *
 * Return: as sfjit_stacks_mmap(), or
 *   -ESRCH	there is no such process
 *   -EACCES	this process may not read it
 *   other -errno of opening the file
 */
int sfjit_stacks_running(struct sfjit_stacks *stacks, pid_t pid, uint64_t time);

/* How generated code is described. */
#define SFJIT_STACKS_EH_FRAME		1	/* .eh_frame, at @table_address */
#define SFJIT_STACKS_FRAME_POINTER	2	/* it keeps frame pointers */
#define SFJIT_STACKS_UNKNOWN		3	/* stacks end there */

/**
 * struct sfjit_stacks_code - generated code
 * @start:	first address
 * @length:	bytes
 * @kind:	SFJIT_STACKS_*
 * @table:	for SFJIT_STACKS_EH_FRAME, @table_length bytes
 * @table_address: address to which pointers in @table are relative
 */
struct sfjit_stacks_code {
	uint64_t start, length;
	unsigned int kind;
	const void *table;
	size_t table_length;
	uint64_t table_address;
};

/**
 * sfjit_stacks_jit_load - report that code was generated
 * @code:	the code; copied
 *
 * It hides the mapping and other code at its addresses until it is unloaded.
 *
 * Return: as sfjit_stacks_mmap(), or
 *   -EINVAL	also: @kind is none of the above, or the table is damaged
 */
int sfjit_stacks_jit_load(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
			  const struct sfjit_stacks_code *code);

/**
 * sfjit_stacks_jit_unload - report that generated code is gone
 *
 * A jitdump has no record for this; that of libsfjit has a file beside it, see
 * sfjit_names(7).
 *
 * Return: as sfjit_stacks_mmap()
 */
int sfjit_stacks_jit_unload(struct sfjit_stacks *stacks, pid_t pid,
			    uint64_t time, uint64_t start, uint64_t length);

/**
 * sfjit_stacks_settle - say that no earlier event or sample will come
 *
 * Mappings that were gone by then are forgotten. An earlier event that comes
 * nevertheless is taken as of this time. Unsettled changes cost time: if there are
 * more than SFJIT_STACKS_MAX_UNSETTLED the oldest are settled automatically.
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

/* Why there are no more frames: the end of a stack. */
enum sfjit_stacks_reason {
	SFJIT_STACKS_OUTERMOST,		/* no caller: complete */
	SFJIT_STACKS_TRUNCATED,		/* the copy of the stack ends here */
	SFJIT_STACKS_NO_MAPPING,	/* nothing is known of that address */
	SFJIT_STACKS_NO_FILE,		/* the file is missing or was replaced */
	SFJIT_STACKS_NO_TABLE,		/* no call frame information */
	SFJIT_STACKS_NO_RULE,		/* none for this address */
	SFJIT_STACKS_NO_REGISTER,	/* the sample lacks a register */
	SFJIT_STACKS_NOT_SUPPORTED,	/* this library cannot use the rule */
	SFJIT_STACKS_DAMAGED,		/* the rule, or the stack */
	SFJIT_STACKS_LIMIT,		/* of frames, or of the budget */
	SFJIT_STACKS_STOPPED,		/* by the callback */
	SFJIT_STACKS_OTHER_STACK,	/* goes on on a stack that was not copied */
	SFJIT_STACKS_NR_ENDS
};

/* sfjit_stacks_frame.flags */
#define SFJIT_STACKS_BY_FRAME_POINTER	0x1	/* there was no better way */
#define SFJIT_STACKS_AFTER_SIGNAL	0x2	/* interrupted: @ip is exact */
#define SFJIT_STACKS_BY_CODE		0x4	/* without rules: by instructions */

/**
 * struct sfjit_stacks_frame - a frame
 * @ip:		where it was interrupted, or the return address of its call
 * @flags:	SFJIT_STACKS_BY_*, SFJIT_STACKS_AFTER_*
 */
struct sfjit_stacks_frame {
	uint64_t ip;
	unsigned int flags;
};

/* Called for each frame, innermost first. Return not 0 to stop. */
typedef int (*sfjit_stacks_frame_fn)(void *arg,
				     const struct sfjit_stacks_frame *frame);

/**
 * sfjit_stacks_frames - get the frames of a sample
 * @stacks:	the tracker
 * @sample:	borrowed
 * @frame:	called for each; it must not use the tracker
 * @arg:	for @frame
 * @end:	NULL, or set to the reason why there are no more
 *
 * A frame is passed on only after everything that it needs was checked. If a
 * caller's register is needed that rows do not have, the stack is walked again
 * from its beginning before the first callback.
 *
 * Return: the number of frames, or
 *   -EINVAL	the sample has no instruction or no stack pointer
 *   -ENOMEM	out of memory
 */
int sfjit_stacks_frames(struct sfjit_stacks *stacks,
			const struct sfjit_stacks_sample *sample,
			sfjit_stacks_frame_fn frame, void *arg,
			enum sfjit_stacks_reason *end);

/** sfjit_stacks_end_text - get the reason in words, a constant string */
const char *sfjit_stacks_end_text(enum sfjit_stacks_reason end);

/* ---- Questions -------------------------------------------------------- */

/**
 * sfjit_stacks_find - get the mapping at an address
 * @mapping:	filled; its @path is valid up to the next call with the tracker. It
 *		is "" for code of sfjit_stacks_jit_load()
 *
 * Return: 0, or
 *   -ESRCH	the process is not known
 *   -ENOENT	nothing is known of the address
 */
int sfjit_stacks_find(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
		      uint64_t address, struct sfjit_stacks_mapping *mapping);

/**
 * sfjit_stacks_look - check whether an address has a caller and rules
 *
 * Use it to check whether a call chain from elsewhere is complete. For a return
 * address pass the address less one.
 *
 * Return: SFJIT_STACKS_OUTERMOST: it has no caller. SFJIT_STACKS_STOPPED: it has
 * one, and there are rules. Otherwise the reason why there is no rule;
 * SFJIT_STACKS_NO_TABLE for memory that was not described.
 */
enum sfjit_stacks_reason sfjit_stacks_look(struct sfjit_stacks *stacks,
					   pid_t pid, uint64_t time,
					   uint64_t address);

/**
 * sfjit_stacks_is_memory - check whether the path of a mapping is not a file
 *
 * Only a jitdump describes code in such memory.
 */
bool sfjit_stacks_is_memory(const char *path);

/**
 * struct sfjit_stacks_counts - counts of a tracker
 * @processes:	processes known now
 * @mappings:	mappings and pieces of generated code, of all processes
 * @files:	files that mappings name
 * @tables:	tables of files that were read
 * @table_bytes: memory for these tables
 * @samples:	samples up to now
 * @frames:	their frames
 * @ends:	their ends, by reason
 * @settled:	the time that was settled last, automatically or not
 */
struct sfjit_stacks_counts {
	uint64_t processes, mappings, files, tables, table_bytes;
	uint64_t samples, frames;
	uint64_t ends[SFJIT_STACKS_NR_ENDS];
	uint64_t settled;
};

/** sfjit_stacks_stats - get the counts of a tracker */
void sfjit_stacks_stats(const struct sfjit_stacks *stacks,
			struct sfjit_stacks_counts *stats);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_STACKS_H */
