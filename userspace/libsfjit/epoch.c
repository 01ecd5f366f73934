// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Windows of an area that are reused when no thread can be in their code.
 *
 * A counter counts unlinked windows. Each thread stores the counter's value
 * when it last held no address of code. Each window stores the first value at
 * which threads could no longer find it. OFFLINE marks a thread that holds no
 * address until it goes online.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <slot.h>

#include "area.h"
#include "internal.h"
#include "scan.h"

#define MAX_WINDOWS	65536
#define CACHE_LINE	64

#define OFFLINE		0

/*
 * SCANNED and WIPED: one call works on it without the lock. A child of fork()
 * sets it back to UNLINKED.
 */
enum state {
	FREE,
	IN_USE,
	UNLINKED,
	SCANNED,
	WIPED,
};

struct window {
	enum state	state;
	uint64_t	stamp;
};

/* On a cache line of its own: other threads read it while its thread writes. */
struct sfjit_epoch_thread {
	uint64_t		seen __attribute__((aligned(CACHE_LINE)));
	struct sfjit_epoch	*epoch;
	struct sfjit_epoch_thread *next;
	pthread_t		thread;
	void			*memory;
};

struct sfjit_epoch {
	struct sfjit_area	*area;
	unsigned char		*writable;
	uintptr_t		text;
	size_t			size;		/* of a window */
	unsigned int		nr;
	unsigned int		turn;		/* next window to try */
	uint64_t		counter;
	struct sfjit_epoch_thread *threads;
	struct sfjit_epoch	*next;
	unsigned int		unanswered;
	unsigned int		unknown;
	unsigned char		*reached;	/* one per window */
	struct window		windows[];
};

static struct sfjit_epoch *epochs;	/* under the lock */

/* ---- Making one ------------------------------------------------------ */

/* Only the thread that forked exists in the child. */
static void forget_others(struct sfjit_epoch *epoch)
{
	struct sfjit_epoch_thread *thread;
	unsigned int i;

	for (thread = epoch->threads; thread; thread = thread->next)
		if (!pthread_equal(thread->thread, pthread_self()))
			thread->seen = OFFLINE;
	for (i = 0; i < epoch->nr; i++)
		if (epoch->windows[i].state > UNLINKED)
			epoch->windows[i].state = UNLINKED;
}

static void begin_in_child(void)
{
	struct sfjit_epoch *epoch;

	for (epoch = epochs; epoch; epoch = epoch->next)
		forget_others(epoch);
	sfjit_scan_in_child();
}

static struct sfjit_epoch *new_epoch(unsigned int windows)
{
	struct sfjit_epoch *epoch;

	epoch = calloc(1, sizeof(*epoch) +
		       windows * (sizeof(struct window) + 1));
	if (!epoch)
		return NULL;
	epoch->nr = windows;
	epoch->reached = (unsigned char *)&epoch->windows[windows];
	epoch->counter = OFFLINE + 1;
	return epoch;
}

static int create(struct sfjit_area *area, unsigned int windows,
		  void *writable, struct sfjit_epoch **result)
{
	struct sfjit_epoch *epoch;
	size_t length, granule;
	uintptr_t text;
	int ret;

	sfjit_area_text(area, &text, &length, &granule);
	if (length % windows || length / windows % granule)
		return -EINVAL;
	epoch = new_epoch(windows);
	if (!epoch)
		return -ENOMEM;
	ret = sfjit_area_divide(area, true);
	if (ret) {
		free(epoch);
		return ret;
	}
	epoch->area = area;
	epoch->writable = writable;
	epoch->text = text;
	epoch->size = length / windows;
	epoch->next = epochs;
	epochs = epoch;
	sfjit_in_child[SFJIT_CHILD_EPOCH] = begin_in_child;
	*result = epoch;
	return 0;
}

int sfjit_epoch_create(struct sfjit_area *area, unsigned int windows,
		       void *writable, struct sfjit_epoch **result)
{
	int ret;

	if (!area || !result || windows < 2)
		return -EINVAL;
	if (windows > MAX_WINDOWS)
		return -E2BIG;
	ret = sfjit_lock_for_new();
	if (ret)
		return ret;
	ret = create(area, windows, writable, result);
	sfjit_unlock();
	return ret;
}

int sfjit_epoch_retire(struct sfjit_epoch *epoch)
{
	struct sfjit_epoch_thread *thread, *next;
	struct sfjit_epoch **link;

	if (!epoch)
		return 0;
	sfjit_lock();
	for (link = &epochs; *link != epoch; link = &(*link)->next)
		;
	*link = epoch->next;
	sfjit_area_divide(epoch->area, false);
	sfjit_unlock();
	for (thread = epoch->threads; thread; thread = next) {
		next = thread->next;
		free(thread->memory);
	}
	free(epoch);
	return 0;
}

/* ---- Windows --------------------------------------------------------- */

static uintptr_t window_start(const struct sfjit_epoch *epoch,
			      unsigned int window)
{
	return epoch->text + window * epoch->size;
}

/* Round robin: reuse the window that was freed longest ago. */
static int take_free(struct sfjit_epoch *epoch)
{
	unsigned int i, window;

	for (i = 0; i < epoch->nr; i++) {
		window = (epoch->turn + i) % epoch->nr;
		if (epoch->windows[window].state != FREE)
			continue;
		epoch->windows[window].state = IN_USE;
		epoch->turn = (window + 1) % epoch->nr;
		return window;
	}
	return -EAGAIN;
}

int sfjit_epoch_begin(struct sfjit_epoch *epoch, struct sfjit_range *text)
{
	int window;

	if (!epoch || !text)
		return -EINVAL;
	sfjit_lock();
	window = take_free(epoch);
	sfjit_unlock();
	if (window >= 0) {
		text->start = (void *)window_start(epoch, window);
		text->length = epoch->size;
	}
	return window;
}

static int unlink_window(struct sfjit_epoch *epoch, unsigned int window)
{
	if (epoch->windows[window].state != IN_USE)
		return -ENOENT;
	/* Unlinking would tear a function that crosses into another window. */
	if (sfjit_area_is_split(epoch->area, window_start(epoch, window)) ||
	    sfjit_area_is_split(epoch->area, window_start(epoch, window + 1)))
		return -EEXIST;
	epoch->windows[window].state = UNLINKED;
	epoch->windows[window].stamp =
		__atomic_add_fetch(&epoch->counter, 1, __ATOMIC_SEQ_CST);
	return 0;
}

int sfjit_epoch_unlink(struct sfjit_epoch *epoch, unsigned int window)
{
	int ret;

	if (!epoch || window >= epoch->nr)
		return -EINVAL;
	sfjit_lock();
	ret = unlink_window(epoch, window);
	sfjit_unlock();
	return ret;
}

/*
 * Reset the rows before the code, so that no walk uses old rows for new bytes.
 */
static void wipe(struct sfjit_epoch *epoch, unsigned int window)
{
	void *start = (void *)window_start(epoch, window);

	sfjit_area_reset(epoch->area, start, epoch->size);
	sfjit_names_drop(start, epoch->size);
	if (epoch->writable)
		memset(epoch->writable + window * epoch->size, SLOT_TRAP,
		       epoch->size);
}

static void set_free(struct sfjit_epoch *epoch, unsigned int window)
{
	wipe(epoch, window);
	sfjit_lock();
	epoch->windows[window].state = FREE;
	sfjit_unlock();
}

/* ---- Threads --------------------------------------------------------- */

int sfjit_epoch_online(struct sfjit_epoch_thread *thread)
{
	uint64_t counter;

	if (!thread)
		return -EINVAL;
	counter = __atomic_load_n(&thread->epoch->counter, __ATOMIC_ACQUIRE);
	__atomic_store_n(&thread->seen, counter, __ATOMIC_RELAXED);
	/* A thread that still reads OFFLINE has unlinked before this. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return 0;
}

int sfjit_epoch_quiescent(struct sfjit_epoch_thread *thread)
{
	uint64_t counter, seen;

	if (!thread)
		return -EINVAL;
	counter = __atomic_load_n(&thread->epoch->counter, __ATOMIC_ACQUIRE);
	seen = __atomic_load_n(&thread->seen, __ATOMIC_RELAXED);
	if (seen != OFFLINE && seen != counter)
		__atomic_store_n(&thread->seen, counter, __ATOMIC_RELEASE);
	return 0;
}

int sfjit_epoch_offline(struct sfjit_epoch_thread *thread)
{
	if (!thread)
		return -EINVAL;
	__atomic_store_n(&thread->seen, OFFLINE, __ATOMIC_RELEASE);
	return 0;
}

static struct sfjit_epoch_thread *new_thread(void)
{
	struct sfjit_epoch_thread *thread;
	void *memory = calloc(1, sizeof(*thread) + CACHE_LINE);

	if (!memory)
		return NULL;
	thread = (void *)(((uintptr_t)memory + CACHE_LINE - 1) &
			  -(uintptr_t)CACHE_LINE);
	thread->memory = memory;
	return thread;
}

int sfjit_epoch_join(struct sfjit_epoch *epoch,
		     struct sfjit_epoch_thread **result)
{
	struct sfjit_epoch_thread *thread;

	if (!epoch || !result)
		return -EINVAL;
	thread = new_thread();
	if (!thread)
		return -ENOMEM;
	thread->epoch = epoch;
	thread->thread = pthread_self();
	sfjit_lock();
	thread->next = epoch->threads;
	epoch->threads = thread;
	sfjit_epoch_online(thread);
	sfjit_unlock();
	*result = thread;
	return 0;
}

int sfjit_epoch_leave(struct sfjit_epoch_thread *thread)
{
	struct sfjit_epoch_thread **link;

	if (!thread)
		return 0;
	sfjit_lock();
	for (link = &thread->epoch->threads; *link != thread;
	     link = &(*link)->next)
		;
	*link = thread->next;
	sfjit_unlock();
	free(thread->memory);
	return 0;
}

/* ---- Reclaiming ------------------------------------------------------ */

static bool all_have_passed(const struct sfjit_epoch *epoch, uint64_t stamp)
{
	const struct sfjit_epoch_thread *thread;
	uint64_t seen;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (thread = epoch->threads; thread; thread = thread->next) {
		seen = __atomic_load_n(&thread->seen, __ATOMIC_ACQUIRE);
		if (seen != OFFLINE && seen < stamp)
			return false;
	}
	return true;
}

/* Returns a window to wipe, or the number of windows. */
static unsigned int take_passed(struct sfjit_epoch *epoch)
{
	struct window *window;
	unsigned int i;

	for (i = 0; i < epoch->nr; i++) {
		window = &epoch->windows[i];
		if (window->state != UNLINKED ||
		    !all_have_passed(epoch, window->stamp))
			continue;
		window->state = WIPED;
		break;
	}
	return i;
}

static int free_all(struct sfjit_epoch *epoch,
		    unsigned int (*take)(struct sfjit_epoch *epoch))
{
	unsigned int window;
	int nr;

	for (nr = 0;; nr++) {
		sfjit_lock();
		window = take(epoch);
		sfjit_unlock();
		if (window == epoch->nr)
			return nr;
		set_free(epoch, window);
	}
}

int sfjit_epoch_reclaim(struct sfjit_epoch *epoch)
{
	return epoch ? free_all(epoch, take_passed) : -EINVAL;
}

/* Returns how many windows changed state. */
static unsigned int change(struct sfjit_epoch *epoch, enum state from,
			   enum state to)
{
	unsigned int i, nr = 0;

	sfjit_lock();
	for (i = 0; i < epoch->nr; i++)
		if (epoch->windows[i].state == from) {
			epoch->windows[i].state = to;
			nr++;
		}
	sfjit_unlock();
	return nr;
}

static unsigned int take_unreached(struct sfjit_epoch *epoch)
{
	unsigned int i;

	for (i = 0; i < epoch->nr; i++)
		if (epoch->windows[i].state == SCANNED && !epoch->reached[i]) {
			epoch->windows[i].state = WIPED;
			break;
		}
	return i;
}

static int scan_windows(struct sfjit_epoch *epoch, struct sfjit_scan *scan)
{
	int ret;

	if (!change(epoch, UNLINKED, SCANNED))
		return 0;
	scan->text = epoch->text;
	scan->size = epoch->size;
	scan->nr = epoch->nr;
	scan->reached = epoch->reached;
	memset(epoch->reached, 0, epoch->nr);
	ret = sfjit_scan(scan);
	epoch->unanswered = scan->unanswered;
	epoch->unknown = scan->unknown;
	if (!ret && !scan->unanswered && !scan->unknown)
		ret = free_all(epoch, take_unreached);
	change(epoch, SCANNED, UNLINKED);
	return ret;
}

/*
 * Not inlined: the frame of the caller holds the registers that it must keep.
 */
__attribute__((noinline))
static int scan_above(struct sfjit_epoch *epoch, int signal,
		      unsigned int timeout_ms, const struct sfjit_range *stacks,
		      size_t nr)
{
	struct sfjit_scan scan = {
		.signal = signal,
		.timeout_ms = timeout_ms,
		.stacks = stacks,
		.nr_stacks = nr,
		.bottom = (uintptr_t)__builtin_frame_address(0),
	};
	struct sfjit_quiet quiet;
	int ret;

	/*
	 * A handler could wait for a stopped thread, leave by siglongjmp(), or
	 * fork in the middle of the scan.
	 */
	sfjit_be_quiet(&quiet);
	ret = sfjit_scan_begin();
	if (!ret) {
		ret = scan_windows(epoch, &scan);
		sfjit_scan_end();
	}
	sfjit_end_quiet(&quiet);
	return ret;
}

static bool are_stacks(const struct sfjit_range *stacks, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!stacks[i].length ||
		    sfjit_wraps(stacks[i].start, stacks[i].length))
			return false;
	return true;
}

/* This frame must not hold an address of a window. */
int sfjit_epoch_scan(struct sfjit_epoch *epoch, int signal,
		     unsigned int timeout_ms, const struct sfjit_range *stacks,
		     size_t nr)
{
	int ret;

	if (!epoch || !stacks != !nr || !are_stacks(stacks, nr))
		return -EINVAL;
	/*
	 * Spill the callee-saved registers into this frame, above the scan's
	 * bottom.
	 */
	__builtin_unwind_init();
	ret = scan_above(epoch, signal, timeout_ms, stacks, nr);
	/* No tail call, so that the frame stays. */
	__asm__ volatile("" : "+r" (ret));
	return ret;
}

int sfjit_epoch_stat(const struct sfjit_epoch *epoch,
		     struct sfjit_epoch_info *stat)
{
	const struct sfjit_epoch_thread *thread;
	unsigned int i;

	if (!epoch || !stat)
		return -EINVAL;
	*stat = (struct sfjit_epoch_info){
		.size = epoch->size,
		.windows = epoch->nr,
		.unanswered = epoch->unanswered,
		.unknown = epoch->unknown,
	};
	sfjit_lock();
	for (i = 0; i < epoch->nr; i++) {
		stat->free += epoch->windows[i].state == FREE;
		stat->in_use += epoch->windows[i].state == IN_USE;
	}
	stat->unlinked = epoch->nr - stat->free - stat->in_use;
	for (thread = epoch->threads; thread; thread = thread->next)
		stat->online += __atomic_load_n(&thread->seen,
						__ATOMIC_RELAXED) != OFFLINE;
	sfjit_unlock();
	return 0;
}
