/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * libsfjit: show the functions of an interpreter in the kernel's call chains.
 */
#ifndef SFJIT_ASSIST_H
#define SFJIT_ASSIST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: sfjit_assist - show the functions of an interpreter in call chains
 *
 * An interpreter has no machine code for the functions that it runs: a walk by
 * the kernel finds the interpreter's loop instead. When a profiler takes a
 * deferred call chain (perf record --call-graph=fp,defer), a kernel with
 * PR_UNWIND_ASSIST asks the program. It sends a signal to the thread, and this
 * library's handler lets each runtime add its functions to the frames that the
 * kernel has found.
 *
 * Calls return 0 on success and a negative error number on failure, unless they
 * say otherwise. Any call may change errno; the handler keeps it.
 *
 * Every call is MT-safe. Some are async-signal-safe, and only these may be made
 * by a callback; the others take locks. No call is a cancellation point.
 *
 * You may fork at any time, but not in a callback. A child is asked as its
 * parent was, and has its runtimes and names. Processes made by vfork() or by
 * clone() with CLONE_VM are not asked. exec ends it.
 *
 * Use one copy of this library in a process: a second one would use a signal of
 * its own, and the kernel asks a thread by one signal. A runtime that contains
 * the library as an archive gets -EBUSY in most cases if another copy has
 * enabled the thread, but not if the first of two copies makes the call again.
 *
 * After the first sfjit_assist_enable() the library, or the plugin that
 * contains the archive, is not unloaded any more. Link such a plugin with -z
 * now, as the library is: otherwise the handler has to look up functions of
 * libc.
 */

/* ---- Threads that are asked ------------------------------------------- */

#define SFJIT_ASSIST_ALT_STACK	(1u << 0)

/**
 * sfjit_assist_enable - let the kernel ask the calling thread
 * @flags:	0 or SFJIT_ASSIST_ALT_STACK
 *
 * From now on the kernel asks this thread, and the threads and processes that
 * it makes later. A thread that existed before must call this itself. A second
 * call sets new flags.
 *
 * The first call takes a signal: the highest real-time signal that has the
 * default action. It belongs to the library from then on. Its handler runs with
 * all signals blocked, on the alternate stack if there is one.
 *
 * The kernel does not ask while the thread blocks the signal or is traced,
 * while a system call would be interrupted, nor when a seccomp filter was
 * installed since the call.
 *
 * Without the flag the handler runs on the thread's current stack. It needs 16
 * KiB there, plus what the kernel saves for a signal and what callbacks need.
 *
 * With SFJIT_ASSIST_ALT_STACK the kernel asks only while the thread has an
 * alternate signal stack that is not in use, see sigaltstack(2). If the calling
 * thread has none, it gets one of 64 KiB plus what the kernel saves, with a
 * guard page below; sfjit_assist_disable() or the end of the thread takes it
 * back. Threads that are made later have no alternate stack and are not asked
 * until they make this call.
 *
 * An alternate stack of the program stays, and the handler uses it with or
 * without the flag. It must have 28 KiB plus what the kernel saves. If the
 * program sets a smaller one later, the answer is the kernel's walk.
 *
 * Do not hold a lock that a constructor of this program takes: the call may use
 * dlopen().
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @flags has unknown bits.
 * * -EOPNOTSUPP - the kernel cannot ask, or a seccomp filter hides it.
 * * -EPERM - "sfjit run --reasons" traces the program, as the variable
 *   SFJIT_REASONS tells; the kernel does not ask traced threads.
 * * -EBUSY - no real-time signal has the default action; or another copy of the
 *   library, or the program itself, lets the kernel ask this thread.
 * * -ENOSPC - the program's alternate stack is too small, for example that of
 *   Python's faulthandler.
 * * -ENOMEM - no memory, also in the kernel; or there was none for atfork
 *   handlers when the library was loaded.
 */
int sfjit_assist_enable(unsigned int flags);

/**
 * sfjit_assist_disable - no longer let the kernel ask the calling thread
 *
 * Other threads are asked as before. The signal keeps its handler.
 *
 * Return:
 * * 0 - success, also if the thread was not asked.
 * * -EBUSY - the thread runs on the alternate stack that it was given. It is
 *   not asked any more, and keeps the stack.
 */
int sfjit_assist_disable(void);

/* ---- Runtimes ---------------------------------------------------------- */

/* Maximum number of runtimes registered at a time. */
#define SFJIT_ASSIST_RUNTIMES	16

/* Maximum number of frames in an answer, including the kernel's. */
#define SFJIT_ASSIST_FRAMES	510

/**
 * struct sfjit_assist_stack - the frames that the kernel has found
 * @size:	bytes of this struct; later versions add members at the end
 * @nr:		number of frames, at least 1
 * @frames:	innermost first: the first one is the interrupted instruction,
 *		the others are return addresses
 * @context:	ucontext_t of the interrupted code
 *
 * It is valid until the callback returns.
 */
struct sfjit_assist_stack {
	uint32_t	size;
	uint32_t	nr;
	const uint64_t	*frames;
	const void	*context;
};

/**
 * typedef sfjit_assist_callback - add frames to a stack, in the signal handler
 * @stack:	stack of this thread
 * @data:	as registered
 *
 * The thread may have been interrupted anywhere, also in malloc(), in dlopen()
 * and in this library. So a callback must be async-signal-safe: take no lock,
 * allocate nothing, and use sfjit_assist_read() for data that may be half
 * changed. It must return, not leave by longjmp() or an exception, and it must
 * not fork. It has less than 10 ms; then the kernel takes its own walk. All
 * signals are blocked, the thread is not cancelled, and the handler keeps
 * errno. For each question it is called at most once.
 *
 * Return:
 * * 0 - the frames that it inserted count, even if there are none.
 * * negative - it is not sure: the answer is the kernel's walk, without the
 *   frames of other runtimes.
 */
typedef int (*sfjit_assist_callback)(const struct sfjit_assist_stack *stack,
				     void *data);

/**
 * sfjit_assist_register - let a runtime add its frames
 * @text:	first byte of the code of its interpreter's loop
 * @length:	bytes of this code
 * @callback:	called if a frame of a walk is in this code; a return address
 *		belongs to the call before it. Several callbacks are called in
 *		no particular order
 * @data:	for @callback
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @text or @callback is NULL, @length is 0, or the range wraps
 *   around.
 * * -EEXIST - the range overlaps that of another runtime.
 * * -ENOSPC - there are 16 runtimes (SFJIT_ASSIST_RUNTIMES) already.
 * * -ENOMEM - there was no memory for atfork handlers when the library was
 *   loaded.
 */
int sfjit_assist_register(const void *text, size_t length,
			  sfjit_assist_callback callback, void *data);

/**
 * sfjit_assist_unregister - remove a runtime
 * @text:	as registered
 *
 * Waits for handlers of other threads that are in the callback. After it
 * returns no thread is in the callback or will be, and you may free @data. Do
 * not call it in a callback: it would wait for itself.
 *
 * Return:
 * * 0 - success.
 * * -ENOENT - no registered range begins there.
 */
int sfjit_assist_unregister(const void *text);

/**
 * sfjit_assist_insert - insert a frame
 * @stack:	as given to the callback
 * @callee:	index in @stack of the frame whose caller it becomes, not less
 *		than in the call before
 * @address:	as returned by sfjit_assist_name(), or a return address
 *
 * The frame goes right after frame @callee, outward, and after those that were
 * already inserted there. If several runtimes insert after the same frame, the
 * frames of each stay together.
 *
 * Context: async-signal-safe; only in a callback.
 *
 * Return:
 * * 0 - success. On failure nothing was inserted.
 * * -EINVAL - @address is 0, for example from a sfjit_assist_name() that
 *   failed.
 * * -ERANGE - there is no such frame, or @callee is less than before.
 * * -ENOSPC - the answer would have more than 510 frames (SFJIT_ASSIST_FRAMES).
 */
int sfjit_assist_insert(const struct sfjit_assist_stack *stack,
			uint32_t callee, uint64_t address);

/* ---- Names ------------------------------------------------------------- */

/* Maximum number of names in a process, and of bytes in a name. */
#define SFJIT_ASSIST_NAMES	65536
#define SFJIT_ASSIST_NAME_BYTES	1024

/**
 * sfjit_assist_name - get the address that stands for a function
 * @id0:	identity of the function, its first word
 * @id1:	its second word
 * @name:	writes up to @size (1024) bytes of the name to @text, where a
 *		byte 0 may end it, and returns their number, or a negative
 *		number if there is no name
 * @data:	for @name
 *
 * An identity keeps its address for ever, and the address is never given to
 * another function, since profiles may contain it. So identify a function by
 * two words that are never reused.
 *
 * @name is called only if the identity is new. It may run in several threads at
 * the same time, or again after it refused. It must be async-signal-safe if
 * this call must be.
 *
 * The address lies in memory that is mapped executable and is never written or
 * run: each name has 16 bytes there, with the address inside. Profilers find
 * the name in /tmp/perf-PID.map. Control characters of the name become '?'. The
 * file is opened for each new name. If it cannot be opened, the next name
 * writes what is missing; if it cannot be written, names are lost and their
 * addresses stay valid. RLIMIT_FSIZE raises no signal.
 *
 * Before the first line of a forked child come all names that it inherited.
 * They are written when the child is asked, gives a name, or calls
 * sfjit_perf_map_sync().
 *
 * A process can have 65,536 names (SFJIT_ASSIST_NAMES). All further functions
 * share one address, whose name is "[no space for more names]", and @name is
 * not called.
 *
 * A new name takes some system calls. A known one is found without a lock or a
 * system call.
 *
 * Context: async-signal-safe, in any thread, also if it is not asked.
 *
 * Return:
 * * not 0 - the address.
 * * 0 - @name refused, wrote nothing, or returned more than @size; or there is
 *   no memory for another name.
 */
uint64_t sfjit_assist_name(uint64_t id0, uint64_t id1,
			   int (*name)(char *text, size_t size, void *data),
			   void *data);

/**
 * sfjit_assist_read - read memory that may be unmapped
 * @to:		where to copy it
 * @from:	where to read
 * @length:	bytes
 *
 * For example what a structure points to that was being changed. Costs one
 * system call.
 *
 * Context: async-signal-safe.
 *
 * Return:
 * * 0 - success.
 * * -EFAULT - not all of it can be read. Some of @to may have been written.
 */
int sfjit_assist_read(void *to, const void *from, size_t length);

/* ---- Counts ------------------------------------------------------------ */

/**
 * struct sfjit_assist_stats - counts of this process
 * @size:	bytes of this struct; set it before the call
 * @signal:	signal by which threads are asked; 0 before the first enable
 * @asked:	questions: the sum of the next four, and of those being answered
 * @answered:	answers with inserted frames
 * @native:	answers that are the kernel's walk because no frame was inserted
 * @late:	questions that the kernel gave up before the answer
 * @unsure:	answers that are the kernel's walk because a callback was not
 *		sure
 * @names:	names that have an address
 * @names_full:	names that got no address of their own, for lack of space or
 *		memory
 *
 * A forked child continues its parent's counts.
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
 * sfjit_assist_stats - get the counts of this process
 * @stats:	filled, except for @size
 *
 * In C++ write the type as "struct sfjit_assist_stats".
 *
 * Context: async-signal-safe.
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @stats is NULL, or its @size is less than that of the struct.
 */
int sfjit_assist_stats(struct sfjit_assist_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_ASSIST_H */
