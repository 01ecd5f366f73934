// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: attach-target [WHAT]...
 *        attach-target vfork
 *
 * Threads that wait, count and are interrupted, and check the results; all of
 * them, or those named. Prints "ready". At the end of its input it prints "WHAT
 * ROUNDS WRONG" for each thread, and the first failure. With vfork it waits for
 * a child that prints its process id and never ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS		2000000
#define PAGE		4096
#define CPUS		1024
#define LINE		8	/* words of a cache line */

struct worker {
	const char *name;
	void (*round)(struct worker *w);
	pthread_t thread;
	bool wanted;
	volatile unsigned long rounds;
	unsigned long wrong;
	char first[160];
};

static volatile bool over;

__attribute__((format(printf, 2, 3)))
static void is_wrong(struct worker *w, const char *format, ...)
{
	va_list list;

	if (w->wrong++)
		return;
	va_start(list, format);
	vsnprintf(w->first, sizeof(w->first), format, list);
	va_end(list);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* ---- Calls that wait --------------------------------------------------- */

static void check_wait(struct worker *w, uint64_t since, long ret, int error,
		       bool good)
{
	uint64_t took = now() - since;

	if (!good)
		is_wrong(w, "returned %ld, errno %d", ret, error);
	else if (took < WAIT_NS)
		is_wrong(w, "waited only %lu ns", (unsigned long)took);
}

static void sleep_round(struct worker *w)
{
	const struct timespec wait = { .tv_nsec = WAIT_NS };
	uint64_t since = now();
	int ret = clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);

	check_wait(w, since, ret, 0, !ret);
}

static int quiet[2];

static void poll_round(struct worker *w)
{
	struct pollfd fd = { .fd = quiet[0], .events = POLLIN };
	uint64_t since = now();
	int ret = poll(&fd, 1, WAIT_NS / 1000000);

	check_wait(w, since, ret, errno, !ret);
}

static void futex_round(struct worker *w)
{
	static uint32_t word;
	const struct timespec wait = { .tv_nsec = WAIT_NS };
	uint64_t since = now();
	long ret = syscall(SYS_futex, &word, FUTEX_WAIT, 0, &wait, NULL, 0);

	check_wait(w, since, ret, errno, ret == -1 && errno == ETIMEDOUT);
}

/* Numbers go through a pipe, complete and in order. */
static int numbers[2];

static void write_round(struct worker *w)
{
	uint64_t number = w->rounds;
	ssize_t n = write(numbers[1], &number, sizeof(number));

	if (n != sizeof(number))
		is_wrong(w, "write() returned %zd, errno %d", n, errno);
	usleep(100);
}

static void read_round(struct worker *w)
{
	uint64_t number = 0;
	ssize_t n = read(numbers[0], &number, sizeof(number));

	if (n == sizeof(number) && number != w->rounds)
		is_wrong(w, "read %lu, not %lu", (unsigned long)number,
			 w->rounds);
	else if (n != sizeof(number) && !(over && !n))
		is_wrong(w, "read() returned %zd, errno %d", n, errno);
}

/*
 * ---- What the process has ----
 *
 * Comparisons of files and mappings of this process skip /dev/zero, which comes
 * and goes.
 */

static int zero;

/* No other thread opens files, so the number is always the same. */
static void file_round(struct worker *w)
{
	static int first = -1;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (first < 0)
		first = fd;
	if (fd < 0 || fd != first)
		is_wrong(w, "file %d, not %d", fd, first);
	close(fd);
	usleep(100);
}

static uint64_t *pages;

/* A gap between two pages must stay, and both pages keep their contents. */
static void map_round(struct worker *w)
{
	const int step = PAGE / sizeof(*pages);
	void *gap;

	pages[0] = pages[2 * step] = w->rounds;
	usleep(100);
	gap = mmap(pages + step, PAGE, PROT_READ, MAP_PRIVATE |
		   MAP_FIXED_NOREPLACE, zero, 0);
	if (gap == MAP_FAILED)
		is_wrong(w, "the gap has a mapping: errno %d", errno);
	else
		munmap(gap, PAGE);
	if (pages[0] != w->rounds || pages[2 * step] != w->rounds)
		is_wrong(w, "the pages have %lx and %lx, not %lx",
			 (unsigned long)pages[0],
			 (unsigned long)pages[2 * step], w->rounds);
}

/* ---- Signals ----------------------------------------------------------- */

/* Signals of the second kind are queued; each of the first arrives in order. */
static pthread_t receiver;
static volatile bool receives;
static volatile sig_atomic_t received, disordered, depth;

static void on_number(int signal, siginfo_t *info, void *context)
{
	if (depth++ || info->si_value.sival_int != received ||
	    info->si_code != SI_QUEUE || info->si_pid != getpid())
		disordered = 1;
	received++;
	depth--;
}

static void signal_round(struct worker *w)
{
	union sigval value = { .sival_int = w->rounds };
	int ret;

	while (!receives)
		usleep(100);
	while ((ret = pthread_sigqueue(receiver, SIGRTMIN, value)) == EAGAIN)
		usleep(100);
	if (ret)
		is_wrong(w, "pthread_sigqueue() returned %d", ret);
	usleep(200);
}

/*
 * A third of the time between two numbers. Handlers interrupt it, and it must
 * continue unaffected. All registers but the stack pointer have known values.
 */
static void register_round(struct worker *w)
{
	uint64_t bad;

	receiver = pthread_self();
	receives = true;
	__asm__ volatile(
	"	push	%%rbp\n"
	"	mov	$0x1111, %%rax\n	mov	$0x2222, %%rbx\n"
	"	mov	$0x3333, %%rdx\n	mov	$0x4444, %%rsi\n"
	"	mov	$0x5555, %%rdi\n	mov	$0x6666, %%rbp\n"
	"	mov	$0x7777, %%r8\n		mov	$0x8888, %%r9\n"
	"	mov	$0x9999, %%r10\n	mov	$0xaaaa, %%r11\n"
	"	mov	$0xbbbb, %%r12\n	mov	$0xcccc, %%r13\n"
	"	mov	$0xdddd, %%r14\n	mov	$0xeeee, %%r15\n"
	"	movq	%%r15, %%xmm0\n		movq	%%r14, %%xmm15\n"
	"	mov	$100000, %%ecx\n"
	"1:	dec	%%ecx\n"
	"	jnz	1b\n"
	"	sub	$0x1111, %%rax\n	sub	$0x2222, %%rbx\n"
	"	sub	$0x3333, %%rdx\n	sub	$0x4444, %%rsi\n"
	"	sub	$0x5555, %%rdi\n	sub	$0x6666, %%rbp\n"
	"	sub	$0x7777, %%r8\n		sub	$0x8888, %%r9\n"
	"	sub	$0x9999, %%r10\n	sub	$0xaaaa, %%r11\n"
	"	sub	$0xbbbb, %%r12\n	sub	$0xcccc, %%r13\n"
	"	sub	$0xdddd, %%r14\n	sub	$0xeeee, %%r15\n"
	"	or	%%rbx, %%rax\n		or	%%rdx, %%rax\n"
	"	or	%%rsi, %%rax\n		or	%%rdi, %%rax\n"
	"	or	%%rbp, %%rax\n		or	%%r8, %%rax\n"
	"	or	%%r9, %%rax\n		or	%%r10, %%rax\n"
	"	or	%%r11, %%rax\n		or	%%r12, %%rax\n"
	"	or	%%r13, %%rax\n		or	%%r14, %%rax\n"
	"	or	%%r15, %%rax\n"
	"	movq	%%xmm0, %%rbx\n		sub	$0xeeee, %%rbx\n"
	"	or	%%rbx, %%rax\n"
	"	movq	%%xmm15, %%rbx\n	sub	$0xdddd, %%rbx\n"
	"	or	%%rbx, %%rax\n"
	"	pop	%%rbp\n"
	: "=a" (bad)
	:
	: "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
	  "r13", "r14", "r15", "xmm0", "xmm15", "cc", "memory");
	if (bad)
		is_wrong(w, "registers differ in bits %lx", (unsigned long)bad);
	if (disordered)
		is_wrong(w, "signal %d came out of order", (int)received);
}

/* ---- Restartable sequences --------------------------------------------- */

/*
 * A counter per CPU, without atomic instructions. A thread interrupted between
 * load and store must start over; otherwise counts are lost, or counted twice.
 */
static uint64_t counters[CPUS * LINE];

static void increment(uint64_t *counter)
{
	__asm__ volatile(
	"	.pushsection __rseq_cs, \"aw\"\n"
	"	.balign	32\n"
	"9:	.long	0, 0\n"
	"	.quad	2f, 3f - 2f, 4f\n"
	"	.popsection\n"
	"1:	lea	9b(%%rip), %%rax\n"
	"	mov	%%rax, %%fs:8(%[area])\n"
	"2:	mov	%%fs:4(%[area]), %%eax\n"
	"	shl	$6, %%rax\n"
	"	mov	(%[counter], %%rax), %%rcx\n"
	"	mov	$300, %%edx\n"
	"5:	dec	%%edx\n"
	"	jnz	5b\n"
	"	inc	%%rcx\n"
	"	mov	%%rcx, (%[counter], %%rax)\n"
	"3:\n"
	"	.pushsection .text.unlikely\n"
	"	.byte	0x0f, 0xb9, 0x3d\n"
	"	.long	%c[sig]\n"
	"4:	jmp	1b\n"
	"	.popsection\n"
	:
	: [area] "r" (__rseq_offset), [counter] "r" (counter),
	  [sig] "i" (RSEQ_SIG)
	: "rax", "rcx", "rdx", "cc", "memory");
}

static void rseq_round(struct worker *w)
{
	increment(counters);
}

static uint64_t sum_counters(void)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < CPUS; i++)
		sum += counters[i * LINE];
	return sum;
}

/* ---- All of them ------------------------------------------------------- */

static struct worker workers[] = {
	{ .name = "sleep", .round = sleep_round },
	{ .name = "poll", .round = poll_round },
	{ .name = "futex", .round = futex_round },
	{ .name = "write", .round = write_round },
	{ .name = "read", .round = read_round },
	{ .name = "file", .round = file_round },
	{ .name = "map", .round = map_round },
	{ .name = "signal", .round = signal_round },
	{ .name = "registers", .round = register_round },
	{ .name = "rseq", .round = rseq_round },
	{ .name = "rseq", .round = rseq_round },
};

#define END	(workers + sizeof(workers) / sizeof(*workers))

static void *work(void *arg)
{
	struct worker *w = arg;

	while (!over) {
		w->round(w);
		w->rounds++;
	}
	return NULL;
}

static void choose(char **names)
{
	struct worker *w;
	char **name;

	for (w = workers; w < END; w++) {
		w->wanted = !*names;
		for (name = names; *name; name++)
			w->wanted |= !strcmp(*name, w->name);
	}
}

static void check_counters(void)
{
	uint64_t rounds = 0, sum = sum_counters();
	struct worker *w, *last = NULL;

	for (w = workers; w < END; w++) {
		if (w->round != rseq_round || !w->wanted)
			continue;
		rounds += w->rounds;
		last = w;
	}
	if (last && rounds != sum)
		is_wrong(last, "%lu rounds are counted as %lu",
			 (unsigned long)rounds, (unsigned long)sum);
}

static void report(void)
{
	struct worker *w;

	check_counters();
	for (w = workers; w < END; w++)
		if (w->wanted)
			printf("%s %lu %lu %s\n", w->name, w->rounds, w->wrong,
			       w->first);
}

/*
 * Before threads start: a file or mapping made later would look like the
 * tracer's.
 */
static bool make_files_and_mappings(void)
{
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return zero >= 0 && !pipe(numbers) && !pipe(quiet) &&
	       pages != MAP_FAILED &&
	       !munmap(pages + PAGE / sizeof(*pages), PAGE);
}

static void wait_for_child(void)
{
	char number[32];

	if (vfork())
		return;
	snprintf(number, sizeof(number), "%d\n", getpid());
	if (write(1, number, strlen(number)) < 0)
		_exit(1);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	struct sigaction action = {
		.sa_sigaction = on_number, .sa_flags = SA_SIGINFO | SA_RESTART,
	};
	struct worker *w;
	char byte;

	if (argc > 1 && !strcmp(argv[1], "vfork"))
		wait_for_child();
	sigaction(SIGRTMIN, &action, NULL);
	choose(argv + 1);
	if (!make_files_and_mappings())
		return 1;
	for (w = workers; w < END; w++)
		if (w->wanted && pthread_create(&w->thread, NULL, work, w))
			return 1;
	/* Wait until threads have made their own mappings. */
	for (w = workers; w < END; w++)
		while (w->wanted && !w->rounds)
			usleep(1000);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	over = true;
	for (w = workers; w < END; w++) {
		/* Only the reader still waits, for the writer. */
		if (w->round == read_round)
			close(numbers[1]);
		if (w->wanted)
			pthread_join(w->thread, NULL);
	}
	report();
	return 0;
}
