/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * libsfjit: functions of an interpreter in the call chains of the kernel.
 *
 * An interpreter has no code of its own for the functions that it runs: a
 * kernel's walk finds the interpreter's loop instead of them. A kernel with
 * PR_UNWIND_ASSIST asks the program, when a profiler takes a deferred call
 * chain (perf record --call-graph=fp,defer). It sends a signal to the thread,
 * and the handler of this library has the runtimes add what they know to what
 * the kernel has found.
 *
 * Rules that hold for every call of this header:
 *
 * - A call returns 0 on success and -errno on failure, unless it says other.
 *   errno itself may be changed by any call, but not by the handler.
 * - Every call is MT-safe. Those that say so are async-signal-safe, and may be
 *   made by a callback. The others may not: they take locks.
 * - fork: a child is asked as its parent was, and has its runtimes and names.
 *   fork is permitted at any time, but not in a callback. Programs made by
 *   vfork() or by clone() with CLONE_VM are not asked; exec ends it.
 * - Cancellation: no call is a cancellation point.
 * - One copy of this library in a process: a second one would have a signal of
 *   its own, and the kernel asks a thread by one. A runtime that brings the
 *   library as an archive gets -EBUSY if another copy has enabled the thread.
 * - The first sfjit_assist_enable() keeps the library, or the plugin that the
 *   archive is in, from being unloaded. A plugin should be linked with -z now, as
 *   the library is: otherwise handlers look up functions of libc.
 */
#ifndef SFJIT_ASSIST_H
#define SFJIT_ASSIST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Threads that are asked ------------------------------------------- */

/* Flags of sfjit_assist_enable(). */
#define SFJIT_ASSIST_ALT_STACK	(1u << 0)

/**
 * sfjit_assist_enable - let the kernel ask this thread
 * @flags:	0, or SFJIT_ASSIST_ALT_STACK: ask only while the thread has an
 *		alternate signal stack that is not in use, see sigaltstack(2),
 *		and give the calling thread one if it has none
 *
 * The first call takes a signal: of the real-time signals that have the default
 * action the one with the highest number. Its handler has all signals blocked
 * and runs on the alternate stack if there is one. The signal is the library's
 * from then on.
 *
 * The calling thread is asked from now on, and so are threads and processes
 * that it makes later. A thread that existed before has to call this itself.
 * Once more: with these flags. No question comes while the thread blocks the
 * signal or is traced, while a system call would be interrupted, and when a
 * seccomp filter was installed since the call.
 *
 * Without the flag the handler runs on the stack that the thread is on: it
 * needs 16 KiB there, what the kernel saves for a signal, and what callbacks
 * need. With it a thread that is made later has no alternate stack, and is not
 * asked until it calls this. An alternate stack that was given has 64 KiB and
 * what the kernel saves, with a guard page below; it is taken back by
 * sfjit_assist_disable() and when the thread ends.
 *
 * A stack of the program's own stays, and the handler is on it, with the flag or
 * without. It has to have 28 KiB and what the kernel saves; if the program sets a
 * smaller one later, the kernel's walk is the answer there.
 *
 * Not under a lock that dlopen() of this program's constructors would take.
 *
 * Return: 0.
 *   -EINVAL	@flags has unknown bits.
 *   -EOPNOTSUPP The kernel cannot ask, or a seccomp filter hides it.
 *   -EPERM	`sfjit run --reasons` traces the program, which it says by the
 *		variable SFJIT_REASONS: the kernel asks no traced thread.
 *   -EBUSY	No real-time signal has the default action; or another copy of
 *		the library, or the program itself, has this thread asked.
 *   -ENOSPC	The alternate stack of the program is too small.
 *   -ENOMEM	No memory, also of the kernel; or there was none for atfork
 *		handlers when the library was loaded.
 */
int sfjit_assist_enable(unsigned int flags);

/**
 * sfjit_assist_disable - ask this thread no more
 *
 * Others are asked as before. The signal keeps its handler.
 *
 * Return: 0, also if the thread was not asked.
 *   -EBUSY	The thread is on the alternate stack that it was given. It is
 *		not asked any more, and keeps the stack.
 */
int sfjit_assist_disable(void);

/* ---- Runtimes ---------------------------------------------------------- */

/* The most runtimes that are registered at a time. */
#define SFJIT_ASSIST_RUNTIMES	16

/* The most frames of an answer, the kernel's among them. */
#define SFJIT_ASSIST_FRAMES	510

/**
 * struct sfjit_assist_stack - what the kernel has found
 * @size:	of this struct; later versions have more at the end
 * @nr:		number of frames, at least 1
 * @frames:	the innermost first: [0] is the interrupted instruction, the
 *		others are return addresses
 * @context:	ucontext_t of the interrupted code
 *
 * It is there until the callback returns.
 */
struct sfjit_assist_stack {
	uint32_t	size;
	uint32_t	nr;
	const uint64_t	*frames;
	const void	*context;
};

/**
 * sfjit_assist_callback - adds frames to a stack, in the handler of the signal
 * @stack:	the stack of this thread
 * @data:	as registered
 *
 * The thread may have been interrupted anywhere, also in malloc(), in dlopen()
 * and in this library. So it is async-signal-safe: it takes no lock, allocates
 * nothing, and reads what it found half changed by sfjit_assist_read(). It
 * returns, without longjmp() or an exception. It has less than 10 ms, after
 * which the kernel takes its own walk. All signals are blocked, the thread is
 * not cancelled, and the caller keeps errno. It is called at most once for a
 * question.
 *
 * Return: 0: what it inserted counts, also if that is nothing. Negative: it is
 * not sure; the answer is the kernel's walk, without the frames of others.
 */
typedef int (*sfjit_assist_callback)(const struct sfjit_assist_stack *stack,
				     void *data);

/**
 * sfjit_assist_register - have a runtime add its frames
 * @text:	first byte of the code of its interpreter's loop
 * @length:	bytes of it
 * @callback:	is called if a frame of a walk is in this code; a return address
 *		is where the call before it is. If several are called, then in no
 *		certain order
 * @data:	for @callback
 *
 * Return: 0.
 *   -EINVAL	@text or @callback is NULL, @length is 0, or the range wraps
 *		around.
 *   -EEXIST	The range overlaps that of another runtime.
 *   -ENOSPC	There are SFJIT_ASSIST_RUNTIMES already.
 *   -ENOMEM	There was no memory for atfork handlers when the library was
 *		loaded.
 */
int sfjit_assist_register(const void *text, size_t length,
			  sfjit_assist_callback callback, void *data);

/**
 * sfjit_assist_unregister - have a runtime add no frames
 * @text:	as registered
 *
 * Waits for handlers of other threads that are in the callback. When it has
 * returned no thread is in it or will be, and @data may be freed. Not in a
 * callback: it would wait for itself.
 *
 * Return: 0.
 *   -ENOENT	No range begins there.
 */
int sfjit_assist_unregister(const void *text);

/**
 * sfjit_assist_insert - insert a frame
 * @stack:	as given to the callback
 * @behind:	index of a frame of @stack, not less than in the call before
 * @address:	as by sfjit_assist_name(), or a return address
 *
 * Only in a callback. The frame becomes a caller of @stack->frames[@behind]:
 * it comes right behind it, outward, and behind what was inserted there before.
 * If several runtimes insert behind the same frame, the frames of each stay
 * together.
 *
 * Return: 0; on failure nothing was inserted.
 *   -EINVAL	@address is 0, as by a sfjit_assist_name() that failed.
 *   -ERANGE	There is no such frame, or @behind is less than before.
 *   -ENOSPC	The answer would have more than SFJIT_ASSIST_FRAMES frames.
 */
int sfjit_assist_insert(const struct sfjit_assist_stack *stack,
			uint32_t behind, uint64_t address);

/* ---- Names ------------------------------------------------------------- */

/* The most names of a process, but for one that is shared; bytes of a name. */
#define SFJIT_ASSIST_NAMES	65536
#define SFJIT_ASSIST_NAME_BYTES	1024

/**
 * sfjit_assist_name - the address that stands for a function
 * @id0:	identity of the function, its first word
 * @id1:	its second word
 * @name:	writes the name, at most @size bytes, which a byte 0 may end,
 *		and returns their number, or a negative one if there is no
 *		name to be had. Async-signal-safe if this call has to be. Called
 *		only if the identity is new, and it may be called in several
 *		threads at the same time, or again after it refused
 * @data:	for @name
 *
 * An identity has the same address for ever. The address is in memory that is
 * mapped executable and is never written or run: 16 bytes for a name, which
 * profilers find in /tmp/perf-PID.map, the address inside of them. Control
 * characters of the name become '?'. If the file cannot be written the address
 * is good, and has no name.
 *
 * The file is opened for each new name. The first line of a forked child
 * follows all names that were known to it; they are written when the child is
 * asked, gives a name, or calls sfjit_perf_map_sync().
 *
 * Async-signal-safe, for any thread, also if it is not asked. A new name takes
 * some system calls; an old one is found without a lock or a system call.
 *
 * An address is never given to another function, since profiles may have it.
 * When there are SFJIT_ASSIST_NAMES, all other functions have the same one,
 * whose name is "[no space for more names]", and @name is not called.
 *
 * Return: the address, or 0: @name refused, wrote nothing, or returned more than
 * @size; or there is no memory for another name.
 */
uint64_t sfjit_assist_name(uint64_t id0, uint64_t id1,
			   int (*name)(char *text, size_t size, void *data),
			   void *data);

/**
 * sfjit_assist_read - read memory that may have gone
 * @to:		where it is copied
 * @from:	where it may be
 * @length:	bytes
 *
 * One system call. Async-signal-safe.
 *
 * Return: 0.
 *   -EFAULT	Not all of it can be read. Some of @to may have been written.
 */
int sfjit_assist_read(void *to, const void *from, size_t length);

/* ---- Counts ------------------------------------------------------------ */

/**
 * struct sfjit_assist_stats - what sfjit_assist_stats() fills
 * @size:	of this struct, set by the caller
 * @signal:	by which threads are asked; 0 before the first enable
 * @asked:	questions; the sum of the next four, and of those that are being
 *		answered
 * @answered:	answers with frames that were inserted
 * @native:	answers that are the kernel's walk, since nothing was inserted
 * @late:	questions that the kernel had given up
 * @unsure:	answers that are the kernel's walk, since a callback was not sure
 * @names:	names that have an address
 * @names_full:	names that had no address of their own, for want of space or
 *		memory
 *
 * A forked child goes on with the counts of its parent.
 */
struct sfjit_assist_stats {
	uint32_t	size;
	uint32_t	signal;
	uint64_t	asked;
	uint64_t	answered;
	uint64_t	native;
	uint64_t	late;
	uint64_t	unsure;
	uint64_t	names;
	uint64_t	names_full;
};

/**
 * sfjit_assist_stats - look at the counts of this process
 * @stats:	filled, but for @size
 *
 * Async-signal-safe. In C++ the type is written with "struct".
 *
 * Return: 0.
 *   -EINVAL	@stats is NULL, or its @size is less than that of the struct
 *		above.
 */
int sfjit_assist_stats(struct sfjit_assist_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_ASSIST_H */
