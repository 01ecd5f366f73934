// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: reused windows: against a model; what keeps one in use, by
 * quiescence and by the scan, in each place that can hold an address; threads
 * that pass an address on while they are scanned; forks. Runs with ASan and
 * UBSan, and the parts without signals with TSan.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <context.h>
#include <sfjit/epoch.h>
#include <slot.h>
#include <unistd.h>

#include "machine.h"
#include "prctl.h"

#define WINDOWS		4
#define SIZE		4096UL
#define LENGTH		(WINDOWS * SIZE)
#define MOST_WINDOWS	8
#define SIGNAL		(SIGRTMIN + 5)
#define TIMEOUT		600000	/* ms; for threads that answer */
#define SHORT		100	/* for a thread that does not answer */

static struct sfjit_row row;

/* Inverted addresses of the text, where the scan must not find them. */
static uintptr_t hidden_text;
static unsigned char *writable;
static struct sfjit_area *area;
static struct sfjit_epoch *epoch;

static unsigned char *text(void)
{
	return (unsigned char *)~hidden_text;
}

static struct sfjit_function function_at(size_t offset, uint32_t size)
{
	return (struct sfjit_function){
		.addr = ~hidden_text + offset, .size = size, .nr_rows = 1,
		.rows = &row,
	};
}

/* On machines without an SFrame ABI nothing can be published. */
static int publish(size_t offset, uint32_t size)
{
	struct sfjit_function f = function_at(offset, size);
	int ret = sfjit_area_publish(area, &f);

	return HAS_SECTIONS ? ret : ret != -ENOTSUP;
}

#define PUBLISHED(nr)	(HAS_SECTIONS ? (nr) : 0)

static bool map_text(uintptr_t at, int flags)
{
	void *memory = mmap((void *)at, MOST_WINDOWS * SIZE,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	hidden_text = ~(uintptr_t)memory;
	writable = memory;
	return true;
}

static void start(unsigned int windows)
{
	MUST(!sfjit_area_create(text(), windows * SIZE, 0, 0, &area));
	MUST(!sfjit_epoch_create(area, windows, writable, &epoch));
}

/* ASan must keep variables on the real stack. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_stack_use_after_return=0";
}

/* Clear what other threads left there: frames overwrite only parts. */
__attribute__((noinline)) static void clear_below(void)
{
	volatile char below[32768];

	memset((void *)below, 0, sizeof(below));
	__asm__ volatile("" :: "r" (below) : "memory");
}

/*
 * Runs on a stack that is freed afterwards, so that the first thread's stack
 * has no stale addresses and each scan starts clean.
 */
static void *run_function(void *argument)
{
	clear_below();
	return (void *)(*(long (**)(void))argument)();
}

static long in_thread(long (*function)(void))
{
	pthread_t thread;
	void *ret;

	MUST(!pthread_create(&thread, NULL, run_function, &function));
	MUST(!pthread_join(thread, &ret));
	return (long)ret;
}

static long retire(void)
{
	IS("retire the epoch", sfjit_epoch_retire(epoch), 0);
	IS("retire the area", sfjit_area_retire(area), 0);
	return 0;
}

static void end(void)
{
	in_thread(retire);
}

static struct sfjit_epoch_info stat_of(void)
{
	struct sfjit_epoch_info stat;

	MUST(!sfjit_epoch_stat(epoch, &stat));
	return stat;
}

static unsigned int nr_functions(void)
{
	struct sfjit_area_info stat;

	MUST(!sfjit_area_stat(area, &stat));
	return stat.functions;
}

/* Not inlined: the frame with the range is gone after the return. */
__attribute__((noinline)) static int begin(void)
{
	struct sfjit_range range;

	return sfjit_epoch_begin(epoch, &range);
}

static int nr_to_unlink, scan_timeout;
static const struct sfjit_range *scan_stacks;

static long unlink_first(void)
{
	int i;

	start(WINDOWS);
	for (i = 0; i < nr_to_unlink; i++)
		MUST(!sfjit_epoch_unlink(epoch, begin()));
	return 0;
}

/* Creates an epoch with @nr unlinked windows. */
static void start_unlinked(int nr)
{
	nr_to_unlink = nr;
	in_thread(unlink_first);
}

static long unlink_one(void)
{
	int window = begin();

	return window < 0 ? window : sfjit_epoch_unlink(epoch, window);
}

static long scan_here(void)
{
	return sfjit_epoch_scan(epoch, SIGNAL, scan_timeout, scan_stacks,
				!!scan_stacks);
}

static long scan_for(int timeout, const struct sfjit_range *stacks)
{
	scan_timeout = timeout;
	scan_stacks = stacks;
	return in_thread(scan_here);
}

static long scan(void)
{
	return scan_for(TIMEOUT, NULL);
}

/* ---- One by one ------------------------------------------------------ */

static void test_arguments(void)
{
	struct sfjit_epoch_thread *thread;
	struct sfjit_epoch_info stat;
	struct sfjit_range range, empty = { writable, 0 };
	struct sfjit_epoch *other = NULL;

	start(WINDOWS);
	IS("no area", sfjit_epoch_create(NULL, 2, NULL, &other), -EINVAL);
	IS("no result", sfjit_epoch_create(area, 2, NULL, NULL), -EINVAL);
	IS("one window", sfjit_epoch_create(area, 1, NULL, &other), -EINVAL);
	IS("three", sfjit_epoch_create(area, 3, NULL, &other), -EINVAL);
	IS("less than a granule", sfjit_epoch_create(area, LENGTH / 32, NULL,
						     &other), -EINVAL);
	IS("too many", sfjit_epoch_create(area, 65537, NULL, &other), -E2BIG);
	IS("two of an area", sfjit_epoch_create(area, 2, NULL, &other), -EBUSY);
	TRUE("none was made", !other);
	IS("begin nothing", sfjit_epoch_begin(NULL, &range), -EINVAL);
	IS("begin into nothing", sfjit_epoch_begin(epoch, NULL), -EINVAL);
	IS("unlink nothing", sfjit_epoch_unlink(NULL, 0), -EINVAL);
	IS("unlink no window", sfjit_epoch_unlink(epoch, WINDOWS), -EINVAL);
	IS("unlink a free one", sfjit_epoch_unlink(epoch, 0), -ENOENT);
	IS("join nothing", sfjit_epoch_join(NULL, &thread), -EINVAL);
	IS("join as nobody", sfjit_epoch_join(epoch, NULL), -EINVAL);
	IS("leave as nobody", sfjit_epoch_leave(NULL), 0);
	IS("quiescent", sfjit_epoch_quiescent(NULL), -EINVAL);
	IS("offline", sfjit_epoch_offline(NULL), -EINVAL);
	IS("online", sfjit_epoch_online(NULL), -EINVAL);
	IS("reclaim", sfjit_epoch_reclaim(NULL), -EINVAL);
	IS("look at nothing", sfjit_epoch_stat(NULL, &stat), -EINVAL);
	IS("into nothing", sfjit_epoch_stat(epoch, NULL), -EINVAL);
	IS("retire nothing", sfjit_epoch_retire(NULL), 0);
	IS("scan nothing", sfjit_epoch_scan(NULL, SIGNAL, 1, NULL, 0), -EINVAL);
	IS("no stacks", sfjit_epoch_scan(epoch, SIGNAL, 1, NULL, 1), -EINVAL);
	IS("none of them", sfjit_epoch_scan(epoch, SIGNAL, 1, &range, 0),
	   -EINVAL);
	IS("an empty one", sfjit_epoch_scan(epoch, SIGNAL, 1, &empty, 1),
	   -EINVAL);
	empty = (struct sfjit_range){ (void *)-1L, 2 };
	IS("one that wraps", sfjit_epoch_scan(epoch, SIGNAL, 1, &empty, 1),
	   -EINVAL);
	end();
}

static void test_signals(void)
{
	start_unlinked(0);
	IS("nothing to do: no signal", sfjit_epoch_scan(epoch, SIGKILL, 1, NULL,
							0), 0);
	MUST(!in_thread(unlink_one));
	IS("SIGKILL", sfjit_epoch_scan(epoch, SIGKILL, 1, NULL, 0), -EINVAL);
	IS("libc's", sfjit_epoch_scan(epoch, 33, 1, NULL, 0), -EINVAL);
	IS("none", sfjit_epoch_scan(epoch, 0, 1, NULL, 0), -EINVAL);
	signal(SIGUSR1, SIG_IGN);
	IS("ignored", sfjit_epoch_scan(epoch, SIGUSR1, 1, NULL, 0), -EBUSY);
	IS("all of them are kept", stat_of().unlinked, 1);
	fail_call = "mmap";
	IS("no memory", sfjit_epoch_scan(epoch, SIGNAL, TIMEOUT, NULL, 0),
	   -ENOMEM);
	fail_call = NULL;
	IS("it is kept", stat_of().unlinked, 1);
	IS("scan", scan(), 1);
	IS("all are free", stat_of().free, WINDOWS);
	end();
}

static void test_life(void)
{
	struct sfjit_range range;
	int i;

	start(WINDOWS);
	IS("size", stat_of().size, SIZE);
	for (i = 0; i < WINDOWS; i++) {
		IS("begin", sfjit_epoch_begin(epoch, &range), i);
		TRUE("its range", range.start == text() + i * SIZE &&
		     range.length == SIZE);
		MUST(!publish(i * SIZE + SIZE - 64, 64));
	}
	IS("no more", sfjit_epoch_begin(epoch, &range), -EAGAIN);
	IS("all in use", stat_of().in_use, WINDOWS);
	IS("unlink", sfjit_epoch_unlink(epoch, 2), 0);
	IS("twice", sfjit_epoch_unlink(epoch, 2), -ENOENT);
	IS("one unlinked", stat_of().unlinked, 1);
	IS("its function is there", nr_functions(), PUBLISHED(WINDOWS));
	memset(writable, 0x90, LENGTH);
	IS("reclaim", sfjit_epoch_reclaim(epoch), 1);
	IS("again", sfjit_epoch_reclaim(epoch), 0);
	IS("its function is gone", nr_functions(),
	   PUBLISHED(WINDOWS - 1));
	TRUE("it is wiped", writable[2 * SIZE] == SLOT_TRAP &&
	     !memcmp(writable + 2 * SIZE, writable + 2 * SIZE + 1, SIZE - 1));
	TRUE("nothing else is", writable[2 * SIZE - 1] == 0x90 &&
	     writable[3 * SIZE] == 0x90);
	IS("free", stat_of().free, 1);
	IS("begin again", sfjit_epoch_begin(epoch, &range), 2);
	MUST(!sfjit_epoch_unlink(epoch, 3));
	MUST(!sfjit_epoch_unlink(epoch, 0));
	IS("reclaim two", sfjit_epoch_reclaim(epoch), 2);
	IS("what was used longest ago", begin(), 3);
	end();
}

static void test_split(void)
{
	struct sfjit_function f = function_at(SIZE - 64, 128);

	start(WINDOWS);
	begin();
	begin();
	MUST(!sfjit_area_publish(area, &f));
	IS("it reaches out", sfjit_epoch_unlink(epoch, 0), -EEXIST);
	IS("it reaches in", sfjit_epoch_unlink(epoch, 1), -EEXIST);
	MUST(!sfjit_area_withdraw(area, (void *)f.addr));
	f = function_at(SIZE - 64, 64);
	MUST(!sfjit_area_publish(area, &f));
	f = function_at(SIZE, 64);
	MUST(!sfjit_area_publish(area, &f));
	IS("up to the end", sfjit_epoch_unlink(epoch, 0), 0);
	IS("from the start", sfjit_epoch_unlink(epoch, 1), 0);
	end();
}

/* ---- Rows go first --------------------------------------------------- */

static atomic_int functions_at_wipe = -1;

static void on_write(int signal, siginfo_t *info, void *context)
{
	atomic_store(&functions_at_wipe, nr_functions());
	mprotect(writable, LENGTH, PROT_READ | PROT_WRITE);
}

static int withdraw_then_wipe(void)
{
	struct sigaction action = { .sa_sigaction = on_write,
				    .sa_flags = SA_SIGINFO };

	start(WINDOWS);
	begin();
	MUST(!publish(64, 64));
	MUST(!sfjit_epoch_unlink(epoch, 0));
	MUST(!sigaction(SIGSEGV, &action, NULL));
	memset(writable, 0x90, LENGTH);
	MUST(!mprotect(writable, LENGTH, PROT_READ));
	return sfjit_epoch_reclaim(epoch) == 1 && !functions_at_wipe &&
	       writable[0] == SLOT_TRAP ? 0 : 1;
}

/* ---- Against a model ------------------------------------------------- */

#define NR_THREADS	5
#define NR_MODEL	MOST_WINDOWS

static uint32_t seed = 1;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % n;
}

/* Which threads may be in an unlinked window. */
static struct {
	enum { MODEL_FREE, MODEL_USED, MODEL_UNLINKED } state;
	bool held[NR_THREADS];
} model[NR_MODEL];
static struct sfjit_epoch_thread *threads[NR_THREADS];
static bool online[NR_THREADS];

static void let_go(int thread)
{
	int i;

	for (i = 0; i < NR_MODEL; i++)
		model[i].held[thread] = false;
}

static int model_reclaim(void)
{
	int i, j, nr = 0;
	bool held;

	for (i = 0; i < NR_MODEL; i++) {
		for (held = false, j = 0; j < NR_THREADS; j++)
			held |= model[i].held[j];
		if (model[i].state != MODEL_UNLINKED || held)
			continue;
		model[i].state = MODEL_FREE;
		nr++;
	}
	return nr;
}

static int act_on_thread(int i)
{
	switch (threads[i] ? random_below(8) : 0) {
	case 0:
		let_go(i);
		online[i] = !threads[i];
		if (!threads[i])
			return sfjit_epoch_join(epoch, &threads[i]);
		sfjit_epoch_leave(threads[i]);
		threads[i] = NULL;
		return 0;
	case 1:
		let_go(i);
		online[i] = false;
		return sfjit_epoch_offline(threads[i]);
	case 2:
		if (online[i])
			return 0;
		online[i] = true;
		return sfjit_epoch_online(threads[i]);
	default:
		let_go(i);
		return sfjit_epoch_quiescent(threads[i]);
	}
}

static int act_on_window(int i)
{
	struct sfjit_range range;
	int ret;

	if (random_below(2)) {
		ret = sfjit_epoch_begin(epoch, &range);
		if (ret == -EAGAIN)
			for (i = 0; i < NR_MODEL; i++)
				if (model[i].state == MODEL_FREE)
					return 1;
		if (ret < 0)
			return 0;
		if (model[ret].state != MODEL_FREE)
			return 1;
		model[ret].state = MODEL_USED;
		return 0;
	}
	ret = sfjit_epoch_unlink(epoch, i);
	if (model[i].state != MODEL_USED)
		return ret != -ENOENT;
	model[i].state = MODEL_UNLINKED;
	memcpy(model[i].held, online, sizeof(online));
	return ret;
}

static void test_model(void)
{
	unsigned int i, wrong = 0, reclaimed = 0, kept = 0;
	int want, got;

	start(NR_MODEL);
	for (i = 0; i < 100000; i++) {
		if (random_below(2))
			wrong += act_on_thread(random_below(NR_THREADS)) != 0;
		else
			wrong += act_on_window(random_below(NR_MODEL)) != 0;
		if (random_below(8))
			continue;
		want = model_reclaim();
		got = sfjit_epoch_reclaim(epoch);
		wrong += want != got;
		reclaimed += want;
		kept += stat_of().unlinked;
	}
	for (i = 0; i < NR_THREADS; i++)
		sfjit_epoch_leave(threads[i]);
	result(!wrong && reclaimed > 1000 && kept > 1000, "as the model",
	       "%u wrong, %u reclaimed, %u kept", wrong, reclaimed, kept);
	end();
}

/* ---- Threads that hold an address ------------------------------------ */

static atomic_int held, go;
static uintptr_t hidden;	/* the address, inverted */
static void (*volatile hold)(void);

/* No call, so that registers and the bytes below the stack pointer stay. */
#define WAIT_WITH(what) do { \
	atomic_store(&held, 1); \
	while (!atomic_load(&go)) \
		what; \
} while (0)

#define WAIT()	WAIT_WITH(__asm__ volatile(""))

/* Byte by byte, so that no register ever has the whole address. */
__attribute__((noinline)) static void put_address(volatile void *to)
{
	const volatile unsigned char *from = (void *)&hidden;
	volatile unsigned char *at = to;
	size_t i;

	for (i = 0; i < sizeof(hidden); i++)
		at[i] = ~from[i];
}

static void hold_none(void)
{
	WAIT();
}

static void hold_on_stack(void)
{
	volatile uintptr_t address;

	put_address(&address);
	WAIT();
	address = 0;
}

static void hold_in_register(void)
{
	uintptr_t address = ~hidden;

	WAIT_WITH(__asm__ volatile("" : "+r" (address)));
}

/* Each register holds another address. */
static void hold_in_another(void)
{
	uintptr_t a = 1, b = 2, c = 3, d = 4, e = 5, address = ~hidden;

	WAIT_WITH(__asm__ volatile("" : "+r" (a), "+r" (b), "+r" (c),
				   "+r" (d), "+r" (e), "+r" (address)));
}

/*
 * As a double it is denormal: half of twice the address has its bits, which
 * then were only in a floating-point register.
 */
static void hold_in_floating(void)
{
	static volatile double half = 0.5, one = 1.0;
	uint64_t twice = ~(hidden << 1 | 1);
	double number, address, factor = one;

	memcpy(&number, &twice, sizeof(number));
	address = number * half;
	WAIT_WITH(address *= factor);
	one = address != 0;
}

static void hold_unaligned(void)
{
	volatile unsigned char bytes[24] __attribute__((aligned(8)));

	put_address(bytes + 3);
	WAIT();
	bytes[3] = 0;
}

/* 32 bits of the address, and the whole address nowhere near. */
static void hold_low(void)
{
	volatile uint32_t words[2];

	words[0] = ~(uint32_t)hidden;
	words[1] = UINT32_MAX;
	WAIT();
	words[0] = words[1];
}

/* qemu-user keeps the 288 bytes of PowerPC's psABI; its kernel keeps more. */
#define RED_ZONE	(CONTEXT_RED_ZONE < 288 ? CONTEXT_RED_ZONE : 288)

static void put_in_red_zone(int signal, siginfo_t *info, void *context)
{
	put_address((void *)(CONTEXT_SP((ucontext_t *)context) - RED_ZONE));
	atomic_store(&held, 1);
}

static atomic_int is_waiting;

static void *send_when_waiting(void *thread)
{
	while (!atomic_load(&is_waiting))
		sched_yield();
	MUST(!pthread_kill(*(pthread_t *)thread, SIGUSR2));
	return NULL;
}

/* The handler finds the red zone; this function leaves it empty. */
static void hold_in_red_zone(void)
{
	struct sigaction action = { .sa_sigaction = put_in_red_zone,
				    .sa_flags = SA_SIGINFO };
	pthread_t own = pthread_self(), sender;

	MUST(!sigaction(SIGUSR2, &action, NULL));
	atomic_store(&is_waiting, 0);
	MUST(!pthread_create(&sender, NULL, send_when_waiting, &own));
	atomic_store(&is_waiting, 1);
	while (!atomic_load(&go))
		;
	MUST(!pthread_join(sender, NULL));
}

/* Many frames above the waiting thread. */
__attribute__((noinline)) static int recurse(int depth)
{
	volatile char frame[1000];

	frame[0] = depth;
	if (depth)
		return recurse(depth - 1) + frame[0];
	WAIT();
	return frame[0];
}

static void hold_deep(void)
{
	volatile uintptr_t address;

	put_address(&address);
	recurse(200);
	address = 0;
}

static void *holder(void *argument)
{
	clear_below();
	hold();
	return NULL;
}

/* A handler on an alternate stack, in which the thread waits. */
static void wait_in_handler(int signal)
{
	hold_none();
}

static void hold_below_handler(void)
{
	static char alt[65536];
	struct sigaction action = { .sa_handler = wait_in_handler,
				    .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = alt, .ss_size = sizeof(alt) };
	volatile uintptr_t address;

	sigaction(SIGUSR2, &action, NULL);
	sigaltstack(&stack, NULL);
	put_address(&address);
	pthread_kill(pthread_self(), SIGUSR2);
	address = 0;
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

/* The thread has an alternate stack, but is not on it. */
static void beside_alt(void (*hold_there)(void))
{
	static char alt[65536];
	stack_t stack = { .ss_sp = alt, .ss_size = sizeof(alt) };

	sigaltstack(&stack, NULL);
	hold_there();
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

static void hold_beside_alt(void)
{
	beside_alt(hold_in_floating);
}

static void hold_red_zone_beside_alt(void)
{
	beside_alt(hold_in_red_zone);
}

static void hold_blocked(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGNAL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	hold_none();
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Mapped with a gap on both sides; the address stays where it was. */
static char *other_stack;

#define OTHER_SIZE	65536

static ucontext_t own_context, other_context;

static void wait_there(void)
{
	WAIT();
}

static void on_other_stack(void)
{
	MUST(!getcontext(&other_context));
	other_context.uc_stack.ss_sp = other_stack;
	other_context.uc_stack.ss_size = OTHER_SIZE;
	other_context.uc_link = &own_context;
	makecontext(&other_context, wait_there, 0);
	MUST(!swapcontext(&own_context, &other_context));
}

static void hold_below_other(void)
{
	volatile uintptr_t address;

	put_address(&address);
	on_other_stack();
	address = 0;
}

static volatile uintptr_t *inside_other(void)
{
	return (void *)(other_stack + OTHER_SIZE / 2);
}

static void hold_on_other(void)
{
	put_address(inside_other());
	on_other_stack();
	*inside_other() = 0;
}

/* The thread is not on this stack. */
static void hold_on_suspended(void)
{
	put_address(inside_other());
	hold_none();
	*inside_other() = 0;
}

static void map_other_stack(void)
{
	char *memory = mmap(NULL, OTHER_SIZE + 2 * 4096, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(memory != MAP_FAILED);
	other_stack = memory + 4096;
	MUST(!mprotect(other_stack, OTHER_SIZE, PROT_READ | PROT_WRITE));
}

/* A thread that is only late answers a later scan. */
static long scan_with(unsigned int unanswered, const struct sfjit_range *stacks)
{
	int tries = TIMEOUT / SHORT;
	long free;

	if (!unanswered)
		return scan_for(TIMEOUT, stacks);
	do
		free = scan_for(SHORT, stacks);
	while (!free && stat_of().unanswered > unanswered && tries--);
	return free;
}

/*
 * What a scan finds while a thread holds the address, and after it has let go.
 */
static void scan_while(const char *name, void (*how)(void), size_t offset,
		       const struct sfjit_range *stacks, int free,
		       unsigned int unanswered, unsigned int unknown)
{
	struct sfjit_epoch_info stat;
	pthread_t thread;
	int i;

	start_unlinked(2);
	hidden = hidden_text - offset;
	hold = how;
	atomic_store(&held, 0);
	atomic_store(&go, 0);
	MUST(!pthread_create(&thread, NULL, holder, NULL));
	while (!atomic_load(&held))
		sched_yield();
	for (i = 0; i < 2 && !(i && free); i++) {
		IS(name, scan_with(unanswered, stacks), free);
		stat = stat_of();
		IS(name, stat.free, WINDOWS - 2 + free);
		IS(name, stat.unanswered, unanswered);
		IS(name, stat.unknown, unknown);
	}
	atomic_store(&go, 1);
	MUST(!pthread_join(thread, NULL));
	IS(name, scan(), 2 - free);
	IS(name, stat_of().unanswered + stat_of().unknown, 0);
	end();
}

static void test_scan(void)
{
	struct sfjit_range other;

	map_other_stack();
	other = (struct sfjit_range){ other_stack, OTHER_SIZE };
	scan_while("nowhere", hold_none, 0, NULL, 2, 0, 0);
	scan_while("stack", hold_on_stack, 8, NULL, 1, 0, 0);
	scan_while("stack, first byte", hold_on_stack, 0, NULL, 1, 0, 0);
	scan_while("stack, last byte", hold_on_stack, SIZE - 1, NULL, 1, 0, 0);
	scan_while("end of one, start of the next", hold_on_stack, SIZE, NULL,
		   0, 0, 0);
	scan_while("end", hold_on_stack, 2 * SIZE, NULL, 1, 0, 0);
	scan_while("past the end", hold_on_stack, 2 * SIZE + 1, NULL, 2, 0,
		   0);
	scan_while("in front", hold_on_stack, -1, NULL, 2, 0, 0);
	scan_while("end of all", hold_on_stack, LENGTH, NULL, 2, 0, 0);
	scan_while("register", hold_in_register, 8, NULL, 1, 0, 0);
	scan_while("another register", hold_in_another, 8, NULL, 1, 0, 0);
	scan_while("floating-point register", hold_in_floating, 8, NULL, 1, 0,
		   0);
	scan_while("unaligned", hold_unaligned, 8, NULL, 1, 0, 0);
	if (RED_ZONE) {
		scan_while("red zone", hold_in_red_zone, 8, NULL, 1, 0, 0);
		scan_while("red zone, alternate stack",
			   hold_red_zone_beside_alt, 8, NULL, 1, 0, 0);
	}
	scan_while("deep in the stack", hold_deep, 8, NULL, 1, 0, 0);
	scan_while("register, alternate stack", hold_beside_alt, 8, NULL, 1, 0,
		   0);
	scan_while("in a handler", hold_below_handler, 8, NULL, 0, 0, 1);
	scan_while("blocked signal", hold_blocked, 8, NULL, 0, 1, 0);
	scan_while("stack that is not told", hold_below_other, 8, NULL, 0, 0,
		   1);
	scan_while("below a stack that is told", hold_below_other, 8, &other, 1,
		   0, 0);
	scan_while("on a stack that is told", hold_on_other, 8, &other, 1, 0,
		   0);
	scan_while("on one that nobody runs on", hold_on_suspended, 8, &other,
		   1, 0, 0);
	other.length += 4096;
	scan_while("told, and not there", hold_none, 8, &other, 0, 0, 1);
}

/* Below 4 GiB, and only there, 32 bits count as an address. */
static long map_low(void)
{
	/* A value that does not occur by chance. */
	uintptr_t at = 0x5a3c7000;

	while (!map_text(at, MAP_FIXED_NOREPLACE))
		MUST((at += 0x1011000) < UINT32_MAX - MOST_WINDOWS * SIZE);
	return 0;
}

static int scan_low(void)
{
	scan_while("32 bits of a high address", hold_low, 8, NULL, 2, 0, 0);
	in_thread(map_low);
	scan_while("32 bits of a low address", hold_low, 8, NULL, 1, 0, 0);
	scan_while("none of a low address", hold_none, 8, NULL, 2, 0, 0);
	return finish();
}

/* The caller itself has the address in a variable. */
static long scan_with_variable(void)
{
	volatile uintptr_t address = ~hidden_text + 8;

	scan_timeout = TIMEOUT;
	return scan_here() + (address == 0);
}

static void test_caller(void)
{
	start_unlinked(1);
	IS("the caller's variable", in_thread(scan_with_variable), 0);
	IS("without", scan(), 1);
	end();
}

static int nr_queued;

/* A blocked signal is queued once, not by each scan. */
static void hold_and_count(void)
{
	const struct timespec now = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGNAL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	hold_none();
	while (sigtimedwait(&set, NULL, &now) == SIGNAL)
		nr_queued++;
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void test_queue(void)
{
	pthread_t thread;
	int i;

	start_unlinked(1);
	hold = hold_and_count;
	atomic_store(&held, 0);
	atomic_store(&go, 0);
	MUST(!pthread_create(&thread, NULL, holder, NULL));
	while (!atomic_load(&held))
		sched_yield();
	for (i = 0; i < 5; i++)
		IS("blocked", scan_for(20, NULL), 0);
	atomic_store(&go, 1);
	MUST(!pthread_join(thread, NULL));
	IS("signals that wait", nr_queued, 1);
	IS("then", scan(), 1);
	end();
}

/* ---- Threads that pass it on ----------------------------------------- */

/*
 * In ms. A thread that exits blocks all signals and waits for the C library's
 * lock of stacks. If the scan stops a thread that holds that lock, it times out
 * and is incomplete.
 */
#define LOCKED	1000
#define PASSES	150
#define MOST	(1000 * PASSES)		/* scans, until there are enough */

static atomic_bool stop;
static atomic_ulong nr_passed;

/*
 * Each thread starts the next one, which takes the address from the first's
 * stack.
 */
static void *relay(void *argument)
{
	volatile uintptr_t address = *(volatile uintptr_t *)argument;
	pthread_attr_t attr;
	pthread_t next;

	/* The previous thread may exit now. */
	*(volatile uintptr_t *)argument = 0;
	atomic_fetch_add(&nr_passed, 1);
	if (atomic_load(&stop)) {
		atomic_store(&held, 0);
		return NULL;
	}
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	MUST(!pthread_create(&next, &attr, relay, (void *)&address));
	while (address)
		sched_yield();
	return NULL;
}

static void *start_relay(void *argument)
{
	volatile uintptr_t address = ~hidden;
	pthread_t next;

	atomic_store(&held, 1);
	MUST(!pthread_create(&next, NULL, relay, (void *)&address));
	MUST(!pthread_join(next, NULL));
	return NULL;
}

/* Two threads pass the address back and forth between their stacks. */
static volatile uintptr_t *_Atomic hands[2];

static void *juggler(void *argument)
{
	volatile uintptr_t own = (uintptr_t)argument ? 0 : ~hidden;
	uintptr_t address;
	int me = (uintptr_t)argument;

	atomic_store(&hands[me], &own);
	while (!atomic_load(&hands[!me]))
		sched_yield();
	atomic_store(&held, 1);
	while (!atomic_load(&stop)) {
		address = own;
		if (!address)
			continue;
		/* The other thread may pass it back at once. */
		own = 0;
		*atomic_load(&hands[!me]) = address;
		atomic_fetch_add(&nr_passed, 1);
	}
	atomic_fetch_add(&go, 1);
	while (atomic_load(&go) < 2)
		sched_yield();
	return NULL;
}

static bool enough(int complete)
{
	return complete > PASSES / 2 && atomic_load(&nr_passed) > 100;
}

static void scan_passed(const char *name, int nr, void *(*first)(void *))
{
	pthread_t thread[2];
	int i, wrong = 0, complete = 0;

	start_unlinked(1);
	hidden = hidden_text - 8;
	atomic_store(&stop, false);
	atomic_store(&held, 0);
	atomic_store(&go, 0);
	atomic_store(&nr_passed, 0);
	for (i = 0; i < nr; i++)
		MUST(!pthread_create(&thread[i], NULL, first,
				     (void *)(uintptr_t)i));
	while (!atomic_load(&held))
		sched_yield();
	for (i = 0; i < PASSES || (i < MOST && !enough(complete)); i++) {
		wrong += scan_for(LOCKED, NULL) != 0;
		complete += !stat_of().unanswered && !stat_of().unknown;
		usleep(200);
	}
	atomic_store(&stop, true);
	for (i = 0; i < nr; i++)
		MUST(!pthread_join(thread[i], NULL));
	IS(name, wrong, 0);
	result(complete > PASSES / 2, name, "%d scans complete", complete);
	result(atomic_load(&nr_passed) > 100, name, "passed %lu times",
	       atomic_load(&nr_passed));
	while (first == start_relay && atomic_load(&held))
		sched_yield();
	end();
}

static void test_passed(void)
{
	scan_passed("from thread to new thread", 1, start_relay);
	scan_passed("from stack to stack", 2, juggler);
}

/* ---- Threads that the C library did not make -------------------------- */

static int raw_thread(void *argument)
{
	atomic_store(&held, 1);
	while (!atomic_load(&go))
		;
	syscall(SYS_exit, 0);
	return 0;
}

static int scan_raw(void)
{
	pid_t tid;

	map_other_stack();
	start_unlinked(1);
	scan_timeout = TIMEOUT;
	atomic_store(&held, 0);
	atomic_store(&go, 0);
	tid = clone(raw_thread, other_stack + OTHER_SIZE, CLONE_VM | CLONE_FS |
		    CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
		    NULL);
	MUST(tid > 0);
	while (!atomic_load(&held))
		;
	IS("a thread by clone()", scan_here(), 0);
	TRUE("its stack is unknown", stat_of().unknown);
	IS("it answered", stat_of().unanswered, 0);
	atomic_store(&go, 1);
	while (!syscall(SYS_tgkill, getpid(), tid, 0))
		;
	IS("without it", scan(), 1);
	return finish();
}

/* The first thread stays listed until the last has exited. */
static void *scan_alone(void *argument)
{
	char path[64], state[64] = "";
	FILE *file;

	clear_below();
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	while (!strstr(state, ") Z")) {
		file = fopen(path, "r");
		MUST(file && fgets(state, sizeof(state), file));
		fclose(file);
	}
	IS("the first thread has ended",
	   scan(), 1);
	IS("and is not waited for", stat_of().unanswered, 0);
	exit(finish());
}

static int scan_without_first(void)
{
	pthread_t thread;

	start_unlinked(1);
	MUST(!pthread_create(&thread, NULL, scan_alone, NULL));
	pthread_exit(NULL);
}

/* More threads than the initial slots. */
static void *wait_for_go(void *argument)
{
	while (!atomic_load(&go))
		usleep(1000);
	return NULL;
}

static void test_many(void)
{
	enum { MANY = 300 };
	static pthread_t thread[MANY];
	pthread_attr_t attr;
	int i, nr = 0;

	start_unlinked(1);
	atomic_store(&go, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536 * 2);
	for (i = 0; i < MANY; i++)
		nr += !pthread_create(&thread[nr], &attr, wait_for_go, NULL);
	IS("threads", nr, MANY);
	IS("scan of many threads", scan(), 1);
	atomic_store(&go, 1);
	for (i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
	end();
}

/* ---- Forks ------------------------------------------------------------ */

static struct sfjit_epoch_thread *other_thread;

static void *join_and_wait(void *argument)
{
	MUST(!sfjit_epoch_join(epoch, &other_thread));
	atomic_store(&held, 1);
	while (!atomic_load(&go))
		sched_yield();
	sfjit_epoch_leave(other_thread);
	return NULL;
}

static int reclaim_once(void)
{
	return sfjit_epoch_reclaim(epoch);
}

static long test_fork(void)
{
	struct sfjit_epoch_thread *own;
	pthread_t thread;

	start(WINDOWS);
	atomic_store(&held, 0);
	atomic_store(&go, 0);
	MUST(!pthread_create(&thread, NULL, join_and_wait, NULL));
	while (!atomic_load(&held))
		sched_yield();
	MUST(!sfjit_epoch_join(epoch, &own));
	MUST(!sfjit_epoch_unlink(epoch, begin()));
	IS("the child's own thread is waited for", in_child(reclaim_once), 0);
	MUST(!sfjit_epoch_quiescent(own));
	IS("others are not in the child", in_child(reclaim_once), 1);
	IS("in the parent they are", sfjit_epoch_reclaim(epoch), 0);
	IS("two are online", stat_of().online, 2);
	atomic_store(&go, 1);
	MUST(!pthread_join(thread, NULL));
	IS("until they leave", sfjit_epoch_reclaim(epoch), 1);
	sfjit_epoch_leave(own);
	end();
	return 0;
}

/*
 * Without a thread for each step, as ASan's locks do not survive a fork. So the
 * scan may find stale addresses on the stack and free nothing, but must not be
 * busy.
 */
static long unlink_and_scan(void)
{
	long ret = unlink_one();

	if (!ret)
		ret = scan_here();
	return ret < 0 ? ret : ret + sfjit_epoch_reclaim(epoch);
}

static void *scan_on(void *argument)
{
	unsigned long wrong = 0;

	while (!atomic_load(&stop)) {
		wrong += unlink_and_scan() != 1;
		atomic_fetch_add(&nr_passed, 1);
	}
	return (void *)wrong;
}

/* Whatever the other thread was doing, a child can create an epoch and scan. */
static int scan_in_child(void)
{
	return unlink_and_scan() < 1;
}

static void test_fork_in_scan(void)
{
	int i, wrong = 0;
	pthread_t thread;
	void *ret;

	start_unlinked(0);
	scan_timeout = TIMEOUT;
	scan_stacks = NULL;
	atomic_store(&stop, false);
	atomic_store(&nr_passed, 0);
	MUST(!pthread_create(&thread, NULL, scan_on, NULL));
	for (i = 0; i < 40 || atomic_load(&nr_passed) <= 10; i++)
		wrong += in_child(scan_in_child) != 0;
	atomic_store(&stop, true);
	MUST(!pthread_join(thread, &ret));
	IS("forks in all states of a scan", wrong, 0);
	IS("the scans", (long)ret, 0);
	TRUE("they went on", atomic_load(&nr_passed) > 10);
	end();
}

/* The child's first thread runs on a stack of the C library. */
static int scan_forked(void)
{
	return scan_here() < 0 || stat_of().unknown || stat_of().unanswered;
}

static long fork_and_scan(void)
{
	MUST(!unlink_one());
	return in_child(scan_forked);
}

static void test_fork_of_thread(void)
{
	start_unlinked(0);
	scan_timeout = TIMEOUT;
	scan_stacks = NULL;
	IS("a child of a thread knows the thread's stack",
	   in_thread(fork_and_scan), 0);
	end();
}

/* ---- What comes between ----------------------------------------------- */

#define NR_HANDLED	50

static atomic_ulong counter;
static atomic_int nr_handled, nr_waited;

static void *count(void *argument)
{
	while (!atomic_load(&stop)) {
		atomic_fetch_add(&counter, 1);
		sched_yield();
	}
	return NULL;
}

/*
 * Like a garbage collector's handler, which stops the thread until another has
 * run.
 */
static void wait_for_other(int signal)
{
	unsigned long before = atomic_load(&counter);
	struct timespec t = { 0, 1000000 };
	int i, most = atomic_load(&nr_waited) ? 1 : 1000 * HANGS_SECONDS;

	for (i = 0; i < most && atomic_load(&counter) == before; i++)
		nanosleep(&t, NULL);
	atomic_fetch_add(&nr_waited, i == most && most > 1);
	atomic_fetch_add(&nr_handled, 1);
}

static long scan_often(void)
{
	long wrong = 0;

	while (atomic_load(&nr_handled) < NR_HANDLED)
		wrong += unlink_and_scan() < 0;
	return wrong;
}

static void test_signals_in_scan(void)
{
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } }, never = { 0 };
	pthread_t thread;
	sigset_t alarm;

	start_unlinked(0);
	scan_timeout = TIMEOUT;
	scan_stacks = NULL;
	atomic_store(&stop, false);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	MUST(!pthread_sigmask(SIG_BLOCK, &alarm, NULL));
	MUST(!pthread_create(&thread, NULL, count, NULL));
	MUST(!pthread_sigmask(SIG_UNBLOCK, &alarm, NULL));
	MUST(signal(SIGALRM, wait_for_other) != SIG_ERR);
	MUST(!setitimer(ITIMER_REAL, &often, NULL));
	IS("scans beside signals", scan_often(), 0);
	MUST(!setitimer(ITIMER_REAL, &never, NULL));
	atomic_store(&stop, true);
	MUST(!pthread_join(thread, NULL));
	IS("no handler runs while others are stopped",
	   atomic_load(&nr_waited), 0);
	end();
}

static void *be_cancelled(void *argument)
{
	long (*function)(void) = *(long (**)(void))argument;

	clear_below();
	MUST(!pthread_cancel(pthread_self()));
	return (void *)function();
}

static long name_it(void)
{
	return sfjit_perf_map_name(text(), 16, "cancelled");
}

static void not_cancelled(const char *name, long (*function)(void), long want)
{
	pthread_t thread;
	void *ret;

	MUST(!pthread_create(&thread, NULL, be_cancelled, &function));
	MUST(!pthread_join(thread, &ret));
	IS(name, (long)ret, want);
	IS(name, in_thread(function), want);
}

static void test_cancel(void)
{
	char path[64];

	start_unlinked(0);
	scan_timeout = TIMEOUT;
	scan_stacks = NULL;
	not_cancelled("cancelled in a scan", unlink_and_scan, 1);
	not_cancelled("cancelled in a name", name_it, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	IS("the names", unlink(path), 0);
	end();
}

/* ---- Side by side, for TSan ------------------------------------------ */

#define NR_READERS	3
#define ROUNDS		2000

/* A place in a window in use, for readers, or NULL. */
static unsigned char *_Atomic entry;
static atomic_ulong nr_read;

/* If a window were wiped during a read, the byte would differ. */
static void *reader(void *argument)
{
	struct sfjit_epoch_thread *own;
	unsigned long wrong = 0, i = 0;
	unsigned char *at;

	MUST(!sfjit_epoch_join(epoch, &own));
	while (!atomic_load(&stop)) {
		at = atomic_load(&entry);
		if (at) {
			wrong += *at != 0x90;
			sched_yield();
			wrong += *at != 0x90;
		}
		sfjit_epoch_quiescent(own);
		if (++i % 8 == (uintptr_t)argument) {
			sfjit_epoch_offline(own);
			sched_yield();
			sfjit_epoch_online(own);
		}
		atomic_fetch_add(&nr_read, 1);
	}
	sfjit_epoch_leave(own);
	return (void *)wrong;
}

static int begin_waiting(struct sfjit_range *range)
{
	int window;

	while ((window = sfjit_epoch_begin(epoch, range)) == -EAGAIN) {
		sfjit_epoch_reclaim(epoch);
		sched_yield();
	}
	return window;
}

static void test_threads(void)
{
	pthread_t thread[NR_READERS];
	unsigned long wrong = 0, i;
	struct sfjit_range range;
	int window, last = -1;
	void *ret;

	start(WINDOWS);
	atomic_store(&stop, false);
	for (i = 0; i < NR_READERS; i++)
		MUST(!pthread_create(&thread[i], NULL, reader, (void *)i));
	for (i = 0; i < ROUNDS || atomic_load(&nr_read) <= 1000; i++) {
		window = begin_waiting(&range);
		wrong += writable[window * SIZE] !=
			 (i < WINDOWS ? 0 : SLOT_TRAP);
		memset(writable + window * SIZE, 0x90, SIZE);
		atomic_store(&entry, writable + window * SIZE + 100);
		if (last >= 0)
			wrong += sfjit_epoch_unlink(epoch, last) != 0;
		last = window;
	}
	atomic_store(&stop, true);
	for (i = 0; i < NR_READERS; i++) {
		MUST(!pthread_join(thread[i], &ret));
		wrong += (unsigned long)ret;
	}
	IS("what threads read is not wiped", wrong, 0);
	result(atomic_load(&nr_read) > 1000, "threads read", "%lu times",
	       atomic_load(&nr_read));
	end();
}

static void test_blocked(void)
{
	struct sfjit_range range;
	pthread_t thread;
	int i, freed = 0;

	start(WINDOWS);
	atomic_store(&held, 0);
	atomic_store(&go, 0);
	MUST(!pthread_create(&thread, NULL, join_and_wait, NULL));
	while (!atomic_load(&held))
		sched_yield();
	for (i = 0; i < WINDOWS; i++)
		MUST(!sfjit_epoch_unlink(epoch,
					 sfjit_epoch_begin(epoch, &range)));
	for (i = 0; i < 100; i++)
		freed += sfjit_epoch_reclaim(epoch);
	IS("a thread that is not quiescent keeps all", freed, 0);
	IS("no window is free", begin(), -EAGAIN);
	atomic_store(&go, 1);
	MUST(!pthread_join(thread, NULL));
	IS("all are free when it has left", sfjit_epoch_reclaim(epoch),
	   WINDOWS);
	end();
}

static long test_steps(void)
{
	test_arguments();
	test_life();
	if (HAS_SECTIONS)
		test_split();
	IS("rows are withdrawn, then it is wiped", in_child(withdraw_then_wipe),
	   0);
	test_model();
	return 0;
}

static void test_scans(void)
{
	test_signals();
	test_scan();
	cases_in_child(scan_low);
	test_caller();
	test_queue();
	test_passed();
	cases_in_child(scan_raw);
	cases_in_child(scan_without_first);
	test_many();
	test_fork_in_scan();
	test_fork_of_thread();
	test_signals_in_scan();
	test_cancel();
}

static void test_alone(void)
{
	in_thread(test_steps);
	in_thread(test_fork);
	/* Its thread is listed with the program's, and blocks all signals. */
	if (getenv("SFJIT_EMULATED"))
		skip("scans", "qemu-user has a thread of its own");
	else
		test_scans();
}

static long map_high(void)
{
	MUST(map_text(0, 0));
	return 0;
}

int main(int argc, char **argv)
{
	present = true;
	row = (struct sfjit_row){ 0, 0, SP(0), SAME, SAME };
	in_thread(map_high);
	if (!strstr(argv[0], "races"))
		test_alone();
	test_blocked();
	/* Nothing below wipes it. */
	memset(writable, 0, LENGTH);
	test_threads();
	return finish();
}
