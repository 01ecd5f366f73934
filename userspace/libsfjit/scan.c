// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A conservative scan of the stacks and registers of all threads.
 *
 * A signal stops each thread in a handler, and one thread reads all stacks when
 * all have stopped. If each read its own as it came, a thread that still runs
 * could write an address to the stack of one that has been read, and forget its
 * own. Threads are listed again until a list has no new one: those that are
 * stopped create none.
 *
 * While threads are stopped they may hold any lock of the program. Nothing here
 * takes one, so there is no malloc(), opendir() or stdio.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <context.h>

#include "scan.h"

/* Read at a time, with the first bytes of the next: words may be on both. */
#define CHUNK		65536
#define OVERLAP		(sizeof(uintptr_t) - 1)

#define FIRST_SLOTS	256

/* How often to look whether a thread that did not answer has ended. */
#define POLL_NS		2000000L

/*
 * A thread. @asked is the round in which it was asked to stop, CLAIMED while the
 * handler fills the rest, one more than the round when it has stopped, and 0
 * before the slot is given to another thread.
 * @gone: it has ended
 */
#define CLAIMED		UINT32_MAX

struct slot {
	pid_t		tid;
	uint32_t	asked;
	bool		gone;
	uintptr_t	frame;		/* of the handler */
	uintptr_t	sp;		/* of what it interrupted */
	uintptr_t	tls;
	uintptr_t	alt;		/* the alternate stack */
	size_t		alt_size;
};

/*
 * @round: odd while threads are being stopped. A handler may come late, when
 * the round in which it was asked is over, or the next has begun
 * @stopped: counts handlers, for the scanner to wait on
 */
static struct {
	uint32_t	busy;
	uint32_t	round;
	uint32_t	stopped;
	uint32_t	nr, max;
	struct slot	*slots;		/* of @max */
	unsigned char	*chunk;
} threads;

static void wait_on(uint32_t *word, uint32_t value, const struct timespec *time)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, time, NULL, 0);
}

static void wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

int sfjit_scan_begin(void)
{
	return __atomic_exchange_n(&threads.busy, 1, __ATOMIC_ACQUIRE) ?
	       -EBUSY : 0;
}

void sfjit_scan_end(void)
{
	__atomic_store_n(&threads.busy, 0, __ATOMIC_RELEASE);
}

/* A handler of another thread may have been filling a slot. */
void sfjit_scan_in_child(void)
{
	threads.round = (threads.round + 1) & ~1U;
	threads.busy = 0;
	threads.nr = 0;
}

/* ---- In the other threads -------------------------------------------- */

static struct slot *slot_of(pid_t tid)
{
	uint32_t nr = __atomic_load_n(&threads.nr, __ATOMIC_ACQUIRE), i;

	for (i = 0; i < nr; i++)
		if (__atomic_load_n(&threads.slots[i].tid, __ATOMIC_RELAXED) ==
		    tid)
			return &threads.slots[i];
	return NULL;
}

/* The slot may be another thread's in another round. */
static bool claim(struct slot *slot, uint32_t round)
{
	return __atomic_compare_exchange_n(&slot->asked, &round, CLAIMED, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void stop_in(struct slot *slot, uint32_t round, uintptr_t frame,
		    const ucontext_t *context)
{
	slot->frame = frame;
	slot->sp = CONTEXT_SP(context);
	slot->tls = (uintptr_t)pthread_self();
	slot->alt = (uintptr_t)context->uc_stack.ss_sp;
	slot->alt_size = context->uc_stack.ss_size;
	__atomic_store_n(&slot->asked, round + 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&threads.stopped, 1, __ATOMIC_RELEASE);
	wake(&threads.stopped);
	while (__atomic_load_n(&threads.round, __ATOMIC_ACQUIRE) == round)
		wait_on(&threads.round, round, NULL);
}

static void stop_here(int signal, siginfo_t *info, void *context)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	uint32_t round = __atomic_load_n(&threads.round, __ATOMIC_ACQUIRE);
	int saved = errno;
	struct slot *slot;

	if (round & 1) {
		slot = slot_of(syscall(SYS_gettid));
		if (slot && claim(slot, round))
			stop_in(slot, round, frame, context);
	}
	errno = saved;
}

/* ---- Stopping them --------------------------------------------------- */

/*
 * On the alternate stack, if there is one: others may be too small. The handler
 * stays, since a signal may come late, and its default would end the process.
 */
static int install(int signal)
{
	struct sigaction action, old;

	if (sigaction(signal, NULL, &old))
		return -errno;
	if (old.sa_flags & SA_SIGINFO && old.sa_sigaction == stop_here)
		return 0;
	if (old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL)
		return -EBUSY;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = stop_here;
	action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	sigfillset(&action.sa_mask);
	return sigaction(signal, &action, NULL) ? -errno : 0;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Memory of slots is kept: a handler may come late. */
static int make_slots(uint32_t max)
{
	unsigned char *memory;
	int ret;

	if (threads.max >= max)
		return 0;
	ret = sfjit_map(CHUNK + OVERLAP + max * sizeof(struct slot), 0,
			&memory);
	if (ret)
		return ret;
	__atomic_store_n(&threads.nr, 0, __ATOMIC_RELEASE);
	threads.chunk = memory + max * sizeof(struct slot);
	__atomic_store_n(&threads.slots, (struct slot *)memory,
			 __ATOMIC_RELEASE);
	threads.max = max;
	return 0;
}

static struct slot *add_slot(pid_t tid, uint32_t asked)
{
	struct slot *slot = &threads.slots[threads.nr];

	__atomic_store_n(&slot->tid, tid, __ATOMIC_RELAXED);
	slot->gone = false;
	__atomic_store_n(&slot->asked, asked, __ATOMIC_RELEASE);
	__atomic_store_n(&threads.nr, threads.nr + 1, __ATOMIC_RELEASE);
	return slot;
}

/* Reads as much as there is space for in the chunk, as a string. */
static bool read_status(pid_t tid)
{
	char path[64];
	ssize_t got, used = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	do {
		got = read(fd, threads.chunk + used, CHUNK - 1 - used);
		used += got > 0 ? got : 0;
	} while (got > 0 && used < CHUNK - 1);
	close(fd);
	threads.chunk[used] = '\0';
	return got >= 0;
}

/* A signal that a thread blocks is not queued again by each scan. */
static bool is_pending(pid_t tid, int signal)
{
	const char *found;

	if (!read_status(tid))
		return false;
	found = strstr((char *)threads.chunk, "\nSigPnd:\t");
	return found && strtoull(found + 9, NULL, 16) >> (signal - 1) & 1;
}

/* The first thread stays listed when it has ended before the others. */
static bool is_zombie(pid_t tid)
{
	return read_status(tid) &&
	       strstr((char *)threads.chunk, "\nState:\tZ");
}

static bool has_ended(const struct slot *slot, pid_t pid)
{
	if (syscall(SYS_tgkill, pid, slot->tid, 0) && errno == ESRCH)
		return true;
	return slot->tid == pid && is_zombie(slot->tid);
}

static bool has_stopped(const struct slot *slot, uint32_t round)
{
	return __atomic_load_n(&slot->asked, __ATOMIC_ACQUIRE) == round + 1;
}

static void ask(pid_t tid, const struct sfjit_scan *scan, pid_t pid)
{
	struct slot *slot = add_slot(tid, threads.round);

	if (is_pending(tid, scan->signal))
		return;
	if (syscall(SYS_tgkill, pid, tid, scan->signal) && errno == ESRCH)
		slot->gone = true;
}

/* As the kernel writes it. */
struct entry {
	uint64_t	ino;
	int64_t		off;
	unsigned short	length;
	unsigned char	type;
	char		name[];
};

/*
 * One that has ended is not listed again. If it is, this is another thread, or
 * the numbers are those of another namespace: it will not answer.
 */
static bool is_back(struct slot *slot)
{
	if (!slot->gone || is_zombie(slot->tid))
		return false;
	slot->gone = false;
	return true;
}

/* Asks those that were not: their number, or -errno. */
static int ask_listed(const struct sfjit_scan *scan, int fd, pid_t pid)
{
	char buffer[4096] __attribute__((aligned(8)));
	const struct entry *entry;
	struct slot *slot;
	long got, at;
	pid_t tid;
	int nr = 0;

	if (lseek(fd, 0, SEEK_SET))
		return -errno;
	while ((got = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0)
		for (at = 0; at < got; at += entry->length) {
			entry = (void *)(buffer + at);
			tid = atoi(entry->name);
			if (!tid)	/* . and .. */
				continue;
			slot = slot_of(tid);
			nr += !slot || is_back(slot);
			if (slot)
				continue;
			if (threads.nr == threads.max)
				return -EAGAIN;
			ask(tid, scan, pid);
		}
	return got ? -errno : nr;
}

static unsigned int nr_running(pid_t pid)
{
	unsigned int nr = 0, i;
	struct slot *slot;

	for (i = 0; i < threads.nr; i++) {
		slot = &threads.slots[i];
		if (slot->gone || has_stopped(slot, threads.round))
			continue;
		slot->gone = has_ended(slot, pid);
		nr += !slot->gone;
	}
	return nr;
}

static unsigned int wait_for_all(int64_t deadline, pid_t pid)
{
	const struct timespec poll = { 0, POLL_NS };
	uint32_t stopped;
	unsigned int nr;

	do {
		stopped = __atomic_load_n(&threads.stopped, __ATOMIC_ACQUIRE);
		nr = nr_running(pid);
		if (nr)
			wait_on(&threads.stopped, stopped, &poll);
	} while (nr && now() < deadline);
	return nr;
}

/* 0, or -errno; -EAGAIN: there are more threads than slots. */
static int stop_all(struct sfjit_scan *scan, int fd, int64_t deadline)
{
	pid_t pid = getpid();
	int ret;

	do {
		ret = ask_listed(scan, fd, pid);
		if (ret < 0)
			return ret;
		scan->unanswered = wait_for_all(deadline, pid);
		if (ret && !scan->unanswered && now() > deadline)
			scan->unanswered = ret;
	} while (ret && !scan->unanswered);
	return 0;
}

static void release(void)
{
	__atomic_fetch_add(&threads.round, 1, __ATOMIC_RELEASE);
	wake(&threads.round);
}

/* ---- Reading stacks -------------------------------------------------- */

/*
 * An address behind the last byte counts: it is where a call returns to that is
 * the last instruction.
 */
static void see(const struct sfjit_scan *scan, uintptr_t word)
{
	uintptr_t offset = word - scan->text;

	if (offset > scan->size * scan->nr)
		return;
	if (offset < scan->size * scan->nr)
		scan->reached[offset / scan->size] = 1;
	if (offset)
		scan->reached[(offset - 1) / scan->size] = 1;
}

/*
 * Words at any address, as nothing says that they are aligned. Code below 4 GiB
 * may have its addresses in 32 bits.
 */
static void see_words(const struct sfjit_scan *scan, const unsigned char *bytes,
		      size_t length)
{
	bool is_low = scan->text + scan->size * scan->nr <= UINT32_MAX;
	uintptr_t word;
	uint32_t low;
	size_t i;

	for (i = 0; is_low && i + sizeof(low) <= length; i++) {
		memcpy(&low, bytes + i, sizeof(low));
		see(scan, low);
	}
	for (i = 0; !is_low && i + sizeof(word) <= length; i++) {
		memcpy(&word, bytes + i, sizeof(word));
		see(scan, word);
	}
}

/*
 * What is not mapped, or not readable, is an error and no fault. By the number of
 * this thread: the first one has no memory any more when it has ended.
 */
static bool read_bytes(uintptr_t from, size_t length)
{
	struct iovec local = { threads.chunk, length };
	struct iovec remote = { (void *)from, length };

	return process_vm_readv(syscall(SYS_gettid), &local, 1, &remote, 1,
				0) == (ssize_t)length;
}

/* All of a range, or false. */
static bool see_range(const struct sfjit_scan *scan, uintptr_t from,
		      uintptr_t to, int64_t deadline)
{
	size_t length, step;

	for (; from < to; from += step) {
		step = to - from < CHUNK ? to - from : CHUNK;
		length = to - from < CHUNK + OVERLAP ? to - from :
						       CHUNK + OVERLAP;
		if (now() > deadline || !read_bytes(from, length))
			return false;
		see_words(scan, threads.chunk, length);
	}
	return true;
}

/* From the top down to the first page that cannot be read. */
static bool see_down(const struct sfjit_scan *scan, uintptr_t top,
		     int64_t deadline)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), from = top & -page;

	if (!see_range(scan, from, top, deadline))
		return false;
	/* A word on two pages is seen with the lower one. */
	while (from >= page && read_bytes(from - page, page)) {
		if (now() > deadline ||
		    !see_range(scan, from - page,
			       from + (from < top ? OVERLAP : 0), deadline))
			return false;
		from -= page;
	}
	return true;
}

static bool is_within(uintptr_t address, uintptr_t start, size_t size)
{
	return address - start < size;
}

static bool is_told(const struct sfjit_scan *scan, uintptr_t sp)
{
	size_t i;

	for (i = 0; i < scan->nr_stacks; i++)
		if (is_within(sp, (uintptr_t)scan->stacks[i].start,
			      scan->stacks[i].length))
			return true;
	return false;
}

/*
 * All frames of a thread are below this: those of the first thread are below the
 * vectors that the kernel gives a program; the C library puts its data of each
 * other thread on top of the stack, also if the program brought that.
 */
static uintptr_t top_of(const struct slot *slot, pid_t pid)
{
	return slot->tid == pid && !sfjit_first_is_forked ?
	       getauxval(AT_RANDOM) : slot->tls;
}

/* Made by clone() without the C library, it has no such data of its own. */
static bool shares_tls(const struct slot *slot)
{
	uint32_t i;

	for (i = 0; i < threads.nr; i++)
		if (&threads.slots[i] != slot && !threads.slots[i].gone &&
		    threads.slots[i].tls == slot->tls)
			return true;
	return false;
}

/* Registers are on the stack of the handler, behind its frame. */
static bool see_thread(const struct sfjit_scan *scan, const struct slot *slot,
		       pid_t pid, int64_t deadline)
{
	bool is_alone = is_within(slot->frame, slot->alt, slot->alt_size);
	uintptr_t from = slot->frame, top = top_of(slot, pid);

	if (shares_tls(slot))
		return false;
	/* Of what a handler on the alternate stack interrupted nothing is known. */
	if (is_within(slot->sp, slot->alt, slot->alt_size))
		return false;
	if (is_alone) {
		if (!see_range(scan, from, slot->alt + slot->alt_size,
			       deadline))
			return false;
		from = slot->sp - CONTEXT_RED_ZONE;
	}
	/* That stack is read with the others that were told. */
	if (is_told(scan, slot->sp))
		return see_down(scan, top, deadline);
	return from < top && see_range(scan, from, top, deadline);
}

static void see_all(struct sfjit_scan *scan, int64_t deadline)
{
	pid_t pid = getpid();
	uintptr_t start;
	uint32_t i;

	for (i = 0; i < scan->nr_stacks; i++) {
		start = (uintptr_t)scan->stacks[i].start;
		scan->unknown += !see_range(scan, start,
					    start + scan->stacks[i].length,
					    deadline);
	}
	for (i = 0; i < threads.nr; i++)
		if (!threads.slots[i].gone)
			scan->unknown += !see_thread(scan, &threads.slots[i],
						     pid, deadline);
}

/* ---- The scan -------------------------------------------------------- */

/* The caller is not asked: registers that matter are above the bottom. */
static void add_caller(const struct sfjit_scan *scan)
{
	struct slot *slot = add_slot(syscall(SYS_gettid), threads.round + 1);

	slot->frame = scan->bottom;
	slot->sp = scan->bottom;
	slot->tls = (uintptr_t)pthread_self();
	slot->alt = 0;
	slot->alt_size = 0;
}

/* No handler of an earlier round is filling the slot, or will be. */
static bool withdraw(struct slot *slot)
{
	uint32_t asked = __atomic_load_n(&slot->asked, __ATOMIC_ACQUIRE);

	return asked != CLAIMED &&
	       __atomic_compare_exchange_n(&slot->asked, &asked, 0, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Only then may slots be given to other threads. */
static bool withdraw_all(void)
{
	bool all = true;
	uint32_t i;

	for (i = 0; i < threads.nr; i++)
		all &= withdraw(&threads.slots[i]);
	return all;
}

static int one_round(struct sfjit_scan *scan, int fd)
{
	int64_t deadline = now() + scan->timeout_ms * 1000000LL;
	int ret;

	if (!withdraw_all()) {
		scan->unanswered = 1;
		return 0;
	}
	__atomic_store_n(&threads.nr, 0, __ATOMIC_RELEASE);
	__atomic_fetch_add(&threads.round, 1, __ATOMIC_SEQ_CST);
	add_caller(scan);
	ret = stop_all(scan, fd, deadline);
	if (!ret && !scan->unanswered)
		see_all(scan, deadline);
	release();
	return ret;
}

int sfjit_scan(struct sfjit_scan *scan)
{
	int fd, ret = install(scan->signal);

	if (!ret)
		ret = make_slots(FIRST_SLOTS);
	if (ret)
		return ret;
	fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((ret = one_round(scan, fd)) == -EAGAIN) {
		ret = make_slots(threads.max * 2);
		if (ret)
			break;
	}
	close(fd);
	return ret;
}
