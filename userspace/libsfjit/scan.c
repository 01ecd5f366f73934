// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A conservative scan of the stacks and registers of all threads.
 *
 * A signal stops each thread in a handler. One thread reads all stacks when all
 * have stopped. If each thread read its own, one that still runs could store an
 * address on a stack that was read already, and drop its own copy. Threads are
 * listed again until a list has no new one: stopped threads create none.
 *
 * Stopped threads may hold any lock of the program. So nothing here takes a
 * lock: no malloc(), opendir() or stdio.
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

/*
 * Bytes per read, plus the first bytes of the next chunk: a word may cross
 * both.
 */
#define CHUNK		65536
#define OVERLAP		(sizeof(uintptr_t) - 1)

#define FIRST_SLOTS	256

/* How often to check whether a thread that did not answer has exited. */
#define POLL_NS		2000000L

/*
 * @asked: the round that asked the thread to stop, CLAIMED while the handler
 * fills the rest, the round plus one after it has stopped, 0 before the slot is
 * reused
 * @gone: the thread has exited
 */
#define CLAIMED		UINT32_MAX

struct slot {
	pid_t		tid;
	uint32_t	asked;
	bool		gone;
	uintptr_t	frame;		/* of the handler */
	uintptr_t	sp;		/* of the interrupted code */
	uintptr_t	tls;
	uintptr_t	alt;		/* the alternate stack */
	size_t		alt_size;
};

/*
 * @round: odd while threads are being stopped. A handler may run after its
 * round or in the next one
 * @stopped: counts handlers; the scanner waits on it
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

/* In the parent, a handler may have been filling a slot. */
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

/* Another round may have given the slot to another thread. */
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
 * Use the alternate stack, if there is one: others may be too small. The
 * handler stays installed: the default action of a late signal would kill the
 * process.
 */
static int install_stop_handler(int signal)
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

/* Never freed: a handler may run late. */
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

/* Reads a string as long as the chunk allows. */
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

/* Do not queue the signal again for a thread that blocks it. */
static bool is_pending(pid_t tid, int signal)
{
	const char *found;

	if (!read_status(tid))
		return false;
	found = strstr((char *)threads.chunk, "\nSigPnd:\t");
	return found && strtoull(found + 9, NULL, 16) >> (signal - 1) & 1;
}

/* A first thread that has exited stays listed until the others have exited. */
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

/* The format of getdents64(). */
struct linux_dirent64 {
	uint64_t	ino;
	int64_t		off;
	unsigned short	length;
	unsigned char	type;
	char		name[];
};

/*
 * Threads that have exited are not listed. If the id is listed again, it is
 * another thread, or belongs to another pid namespace and will not answer.
 */
static bool is_running_again(struct slot *slot)
{
	if (!slot->gone || is_zombie(slot->tid))
		return false;
	slot->gone = false;
	return true;
}

/* Asks the threads not asked yet; returns their number or -errno. */
static int ask_listed(const struct sfjit_scan *scan, int fd, pid_t pid)
{
	char buffer[4096] __attribute__((aligned(8)));
	const struct linux_dirent64 *entry;
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
			nr += !slot || is_running_again(slot);
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

/* Returns 0, or -errno; -EAGAIN if there are more threads than slots. */
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

static void release_threads(void)
{
	__atomic_fetch_add(&threads.round, 1, __ATOMIC_RELEASE);
	wake(&threads.round);
}

/* ---- Reading stacks -------------------------------------------------- */

/*
 * The address one past the last byte also counts: a call may be the last
 * instruction.
 */
static void mark_word(const struct sfjit_scan *scan, uintptr_t word)
{
	uintptr_t offset = word - scan->text;

	if (offset > scan->size * scan->nr)
		return;
	if (offset < scan->size * scan->nr)
		scan->reached[offset / scan->size] = 1;
	if (offset)
		scan->reached[(offset - 1) / scan->size] = 1;
}

/* Words may be unaligned. Code below 4 GiB may have 32-bit addresses. */
static void mark_words(const struct sfjit_scan *scan,
		       const unsigned char *bytes, size_t length)
{
	bool is_low = scan->text + scan->size * scan->nr <= UINT32_MAX;
	uintptr_t word;
	uint32_t low;
	size_t i;

	for (i = 0; is_low && i + sizeof(low) <= length; i++) {
		memcpy(&low, bytes + i, sizeof(low));
		mark_word(scan, low);
	}
	for (i = 0; !is_low && i + sizeof(word) <= length; i++) {
		memcpy(&word, bytes + i, sizeof(word));
		mark_word(scan, word);
	}
}

/*
 * process_vm_readv() returns an error where a load would fault. Use the
 * thread's id: if the first thread has exited, the process's id has no memory.
 */
static bool read_bytes(uintptr_t from, size_t length)
{
	struct iovec local = { threads.chunk, length };
	struct iovec remote = { (void *)from, length };

	return process_vm_readv(syscall(SYS_gettid), &local, 1, &remote, 1,
				0) == (ssize_t)length;
}

/* Reads a whole range, or returns false. */
static bool scan_range(const struct sfjit_scan *scan, uintptr_t from,
		       uintptr_t to, int64_t deadline)
{
	size_t length, step;

	for (; from < to; from += step) {
		step = to - from < CHUNK ? to - from : CHUNK;
		length = to - from < CHUNK + OVERLAP ? to - from :
						       CHUNK + OVERLAP;
		if (now() > deadline || !read_bytes(from, length))
			return false;
		mark_words(scan, threads.chunk, length);
	}
	return true;
}

/* Reads downwards from the top to the first unreadable page. */
static bool scan_down(const struct sfjit_scan *scan, uintptr_t top,
		      int64_t deadline)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), from = top & -page;

	if (!scan_range(scan, from, top, deadline))
		return false;
	/* A word that crosses two pages is read with the lower one. */
	while (from >= page && read_bytes(from - page, page)) {
		if (now() > deadline ||
		    !scan_range(scan, from - page,
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

static bool is_given_stack(const struct sfjit_scan *scan, uintptr_t sp)
{
	size_t i;

	for (i = 0; i < scan->nr_stacks; i++)
		if (is_within(sp, (uintptr_t)scan->stacks[i].start,
			      scan->stacks[i].length))
			return true;
	return false;
}

/*
 * The upper end of a thread's frames. For the first thread this is AT_RANDOM,
 * which the kernel put above its stack. For others it is the thread data that
 * the C library places at the top of each stack, even one that the program
 * supplied.
 */
static uintptr_t stack_top(const struct slot *slot, pid_t pid)
{
	return slot->tid == pid && !sfjit_first_is_forked ?
	       getauxval(AT_RANDOM) : slot->tls;
}

/*
 * A thread made by clone() without the C library has no thread data of its own.
 */
static bool shares_tls(const struct slot *slot)
{
	uint32_t i;

	for (i = 0; i < threads.nr; i++)
		if (&threads.slots[i] != slot && !threads.slots[i].gone &&
		    threads.slots[i].tls == slot->tls)
			return true;
	return false;
}

/* The registers are on the handler's stack, after its frame. */
static bool scan_thread(const struct sfjit_scan *scan, const struct slot *slot,
			pid_t pid, int64_t deadline)
{
	bool is_alone = is_within(slot->frame, slot->alt, slot->alt_size);
	uintptr_t from = slot->frame, top = stack_top(slot, pid);

	if (shares_tls(slot))
		return false;
	/*
	 * The stack that a handler on the alternate stack interrupted is
	 * unknown.
	 */
	if (is_within(slot->sp, slot->alt, slot->alt_size))
		return false;
	if (is_alone) {
		if (!scan_range(scan, from, slot->alt + slot->alt_size,
				deadline))
			return false;
		from = slot->sp - CONTEXT_RED_ZONE;
	}
	/* That stack is read in scan_stacks(). */
	if (is_given_stack(scan, slot->sp))
		return scan_down(scan, top, deadline);
	return from < top && scan_range(scan, from, top, deadline);
}

static void scan_stacks(struct sfjit_scan *scan, int64_t deadline)
{
	pid_t pid = getpid();
	uintptr_t start;
	uint32_t i;

	for (i = 0; i < scan->nr_stacks; i++) {
		start = (uintptr_t)scan->stacks[i].start;
		scan->unknown += !scan_range(scan, start,
					     start + scan->stacks[i].length,
					     deadline);
	}
	for (i = 0; i < threads.nr; i++)
		if (!threads.slots[i].gone)
			scan->unknown += !scan_thread(scan, &threads.slots[i],
						      pid, deadline);
}

/* ---- The scan -------------------------------------------------------- */

/* The caller is not stopped: its registers are above @bottom. */
static void add_caller(const struct sfjit_scan *scan)
{
	struct slot *slot = add_slot(syscall(SYS_gettid), threads.round + 1);

	slot->frame = scan->bottom;
	slot->sp = scan->bottom;
	slot->tls = (uintptr_t)pthread_self();
	slot->alt = 0;
	slot->alt_size = 0;
}

/* Fails while a handler of an earlier round is filling the slot. */
static bool withdraw(struct slot *slot)
{
	uint32_t asked = __atomic_load_n(&slot->asked, __ATOMIC_ACQUIRE);

	return asked != CLAIMED &&
	       __atomic_compare_exchange_n(&slot->asked, &asked, 0, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Slots may be reused only after this. */
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
		scan_stacks(scan, deadline);
	release_threads();
	return ret;
}

int sfjit_scan(struct sfjit_scan *scan)
{
	int fd, ret = install_stop_handler(scan->signal);

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
