/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_EPOCH_H
#define SFJIT_EPOCH_H

#include <stddef.h>

#include <sfjit/area.h>
#include <sfjit/code.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: sfjit_epoch - reuse the memory of code while threads run
 *
 * An epoch divides an area into windows. Your JIT fills one, copies the live
 * code into the next one, and leaves the first to be reused. Rows stay
 * published until no thread can be in the code or return to it; then they are
 * withdrawn and the window is wiped. So no sample uses rows of code that is
 * gone.
 *
 * Publish functions with sfjit_area_publish(), each within one window. A window
 * goes through three states:
 *
 * * sfjit_epoch_begin() takes a free window, for you to fill.
 * * sfjit_epoch_unlink() says that nothing leads to its code any more.
 * * sfjit_epoch_reclaim() or sfjit_epoch_scan() makes it free again.
 *
 * "Nothing leads to it" means that no memory which a thread may read from now
 * on holds an address in it, or a value from which such an address is computed:
 * no table, other code, object, timer or signal handler, and no thread-local
 * variable. Only registers and stacks of threads that took an address before
 * may still have it: code that runs, return addresses, and pointers about to be
 * called. These threads must not store it anywhere else. There are two ways to
 * find out when the last of these is gone:
 *
 * Quiescence: each thread that runs code joins, and from time to time calls
 * sfjit_epoch_quiescent() to say that it holds no address. A thread that does
 * not call it keeps all windows that were unlinked since.
 *
 * Scan: a signal stops all threads of the process, and a window is kept if any
 * word of registers or stacks is an address in it. This is for programs whose
 * threads never leave the code, or are not known.
 *
 * Calls with the same epoch may run in parallel. Only the thread itself uses
 * its handle.
 *
 * You may fork at any time. In the child the handles of other threads are
 * offline and unused. If the child shares the memory of the code (MAP_SHARED),
 * only one of the two processes may reuse windows.
 */
struct sfjit_epoch;
struct sfjit_epoch_thread;

/**
 * sfjit_epoch_create - divide an area into windows
 * @area:	area without functions; retire it after the epoch
 * @windows:	number of windows of equal size, from 2 to 65536
 * @writable:	address at which the first byte of the area can be written: that
 *		of the area or of another mapping. NULL: windows are not wiped
 * @epoch:	set to the epoch; release it with sfjit_epoch_retire()
 *
 * All windows are free. Their size must be a multiple of 4 KiB: the area's table
 * then has free bytes again for each window that becomes free.
 *
 * Return:
 * * 0 - success. On failure @epoch is not changed.
 * * -EINVAL - @area or @epoch is NULL; there are fewer than 2 windows, or their
 *   size is not a multiple of 4 KiB.
 * * -E2BIG - too many windows.
 * * -EBUSY - the area already has an epoch.
 * * -ENOMEM - no memory.
 */
int sfjit_epoch_create(struct sfjit_area *area, unsigned int windows,
		       void *writable, struct sfjit_epoch **epoch);

/**
 * sfjit_epoch_begin - take the window that has been free for longest
 * @epoch:	epoch to take it from
 * @text:	set to the range of the window
 *
 * Return:
 * * 0 or more - number of the window. On failure @text is not changed.
 * * -EINVAL - @epoch or @text is NULL.
 * * -EAGAIN - no window is free: reclaim or scan, and try again later.
 */
int sfjit_epoch_begin(struct sfjit_epoch *epoch, struct sfjit_range *text);

/**
 * sfjit_epoch_unlink - say that nothing leads to a window any more
 * @epoch:	epoch it was taken from
 * @window:	its number
 *
 * First take the last address of its code out of memory, see sfjit_epoch(7).
 * Its functions stay published, and threads may still run them.
 *
 * Return:
 * * 0 - success. On failure nothing has changed.
 * * -EINVAL - @epoch is NULL, or has no such window.
 * * -ENOENT - the window was not begun, or is already unlinked.
 * * -EEXIST - one of its functions reaches into another window, or one of
 *   another window into it.
 */
int sfjit_epoch_unlink(struct sfjit_epoch *epoch, unsigned int window);

/**
 * sfjit_epoch_join - wait for the calling thread from now on
 * @epoch:	epoch whose code the thread is going to run
 * @thread:	set to the handle of the calling thread, which is online
 *
 * Call it in the thread itself, before it takes an address of code.
 *
 * Return:
 * * 0 - success. On failure @thread is not changed.
 * * -EINVAL - @epoch or @thread is NULL.
 * * -ENOMEM - no memory.
 */
int sfjit_epoch_join(struct sfjit_epoch *epoch,
		     struct sfjit_epoch_thread **thread);

/**
 * sfjit_epoch_leave - no longer wait for the calling thread
 * @thread:	handle of the calling thread; NULL does nothing
 *
 * The thread must hold no address of code. Call it before the thread ends: a
 * thread that ends without it keeps windows.
 *
 * Return:
 * * 0 - success. @thread is gone.
 */
int sfjit_epoch_leave(struct sfjit_epoch_thread *thread);

/**
 * sfjit_epoch_quiescent - say that the thread holds no address of code
 * @thread:	handle of the calling thread
 *
 * No code of the area is on the thread's stack, and from now on it reads each
 * address that it uses from memory again. Does nothing if the thread is
 * offline. Costs two loads, and a store if a window was unlinked since the last
 * call; no system call, lock or allocation.
 *
 * Context: async-signal-safe.
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @thread is NULL.
 */
int sfjit_epoch_quiescent(struct sfjit_epoch_thread *thread);

/**
 * sfjit_epoch_offline - say that the thread holds no address until it is online
 * @thread:	handle of the calling thread
 *
 * Use it before a call that may wait for long. Windows do not wait for a thread
 * that is offline. Costs as sfjit_epoch_quiescent(), plus a fence.
 *
 * Context: async-signal-safe.
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @thread is NULL.
 */
int sfjit_epoch_offline(struct sfjit_epoch_thread *thread);

/**
 * sfjit_epoch_online - say that the thread may hold addresses again
 * @thread:	handle of the calling thread
 *
 * Call it before the thread takes an address of code. Costs as
 * sfjit_epoch_offline().
 *
 * Context: async-signal-safe.
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @thread is NULL.
 */
int sfjit_epoch_online(struct sfjit_epoch_thread *thread);

/**
 * sfjit_epoch_reclaim - free the windows that all joined threads have left
 * @epoch:	epoch to look at
 *
 * A window is free if each thread that has joined was quiescent or offline
 * since it was unlinked. The call withdraws its functions as sfjit_area_reset()
 * does, drops their names as sfjit_names_drop() does, and fills it with
 * instructions that raise SIGTRAP (on other machines than x86-64 SIGILL), in
 * this order. It does not wait. It does not look at threads that did not join.
 *
 * Return:
 * * 0 or more - number of windows that became free.
 * * -EINVAL - @epoch is NULL.
 */
int sfjit_epoch_reclaim(struct sfjit_epoch *epoch);

/**
 * sfjit_epoch_scan - free the windows that no register and no stack refers to
 * @epoch:	epoch to look at
 * @signal:	a signal that the program does not use otherwise, such as
 *		SIGRTMIN + 5
 * @timeout_ms:	how long threads may take to stop and to be read, in
 *		milliseconds
 * @stacks:	other stacks than those of threads, such as coroutines', whether
 *		or not a thread runs on them; NULL: none
 * @nr:		number of @stacks
 *
 * The signal stops all threads of the process until their stacks have been
 * read. If any word is an address in a window, or that of its end, the window
 * is kept until a later scan. Words may be at any address; below 4 GiB, 32-bit
 * words count too. Your own stack counts: an address in a variable of the
 * calling function keeps a window. The others become free as in
 * sfjit_epoch_reclaim(). Threads need not join. If no window is unlinked
 * nothing is done.
 *
 * All windows are kept, and sfjit_epoch_stat() says why, if
 *
 * * a thread did not stop in time, because it blocks the signal, as workers of
 *   io_uring(7) do, or waits in a system call that no signal interrupts. A
 *   system call that cannot be restarted returns EINTR;
 * * the end of a thread's stack is not known. It is known for threads of the C
 *   library, if nothing up to it is unmapped or unreadable, and for @stacks. It
 *   is not known while a handler runs on an alternate stack, nor for threads
 *   made by clone() that share the C library's data of another thread.
 *
 * Stacks that no thread runs on and that are not in @stacks, and stacks that a
 * compiler adds (safe stacks, fake stacks of sanitizers), are not read. The
 * handler is installed at the first call, with SA_RESTART and SA_ONSTACK, and
 * stays. The calling thread blocks all signals during the call.
 *
 * Return:
 * * 0 or more - number of windows that became free.
 * * -EINVAL - @epoch is NULL; @signal can have no handler; a range is empty or
 *   wraps around, or one of @stacks and @nr is 0.
 * * -EBUSY - the signal has another handler or is ignored, or another thread
 *   scans.
 * * -ENOMEM - no memory.
 * * other - as open(2) of /proc/self/task.
 */
int sfjit_epoch_scan(struct sfjit_epoch *epoch, int signal,
		     unsigned int timeout_ms, const struct sfjit_range *stacks,
		     size_t nr);

/**
 * sfjit_epoch_retire - free an epoch and the handles of its threads
 * @epoch:	epoch to retire; NULL does nothing
 *
 * The area stays, with what is published in it.
 *
 * Return:
 * * 0 - success. @epoch is gone.
 */
int sfjit_epoch_retire(struct sfjit_epoch *epoch);

/**
 * struct sfjit_epoch_info - state of an epoch, see sfjit_epoch_stat()
 * @size:	bytes of a window
 * @windows:	number of windows
 * @free:	free windows
 * @in_use:	windows begun and not unlinked
 * @unlinked:	windows unlinked and not free yet
 * @online:	threads joined and not offline
 * @unanswered:	threads that did not stop for the last scan
 * @unknown:	threads and given stacks that the last scan could not read
 *		completely
 */
struct sfjit_epoch_info {
	size_t		size;
	unsigned int	windows;
	unsigned int	free;
	unsigned int	in_use;
	unsigned int	unlinked;
	unsigned int	online;
	unsigned int	unanswered;
	unsigned int	unknown;
};

/**
 * sfjit_epoch_stat - get the state of an epoch
 * @epoch:	epoch to look at
 * @stat:	filled
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @epoch or @stat is NULL.
 */
int sfjit_epoch_stat(const struct sfjit_epoch *epoch,
		     struct sfjit_epoch_info *stat);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_EPOCH_H */
