// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: signals LOG [PHASE]
 *
 * An ordinary program whose signal handlers take all of the time. Each time one
 * of them does, it asks the C compiler's unwinder for its stack. At the end LOG
 * has the phases, those stacks with the time they stood, and what the kernel
 * says of the windows.
 */
#include <execinfo.h>
#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "signals.h"

#define NOINLINE	__attribute__((noipa))
/* The call before is no tail call. */
#define HERE()		__asm__ volatile("" ::: "memory")

#define TIMES		80
#define MAX_RECORDS	2048
#define MAX_FRAMES	127
#define ALT_SIZE	(128UL << 10)
#define COPY_SIZE	2048
#define DEPTH		20

struct record {
	const char *phase;
	int tid, nr;
	uint64_t from, to;
	uintptr_t restorer, ip;
	void *chain[MAX_FRAMES];
};

struct phase {
	const char *name;
	void (*work)(void);
	void (*handler)(int, siginfo_t *, void *);
	int sig, flags;
	void *(*alternate)(void *above);
	bool bare, thread;
};

static struct record records[MAX_RECORDS];
static volatile int nr_records, level;
static const struct phase *phase;
static uintptr_t restorer, interrupted;
static uint64_t spin_ns = 4000000;
static FILE *log_file;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The stack below this function stands while it runs. */
NOINLINE static void spin(void)
{
	struct record *r = &records[nr_records % MAX_RECORDS];
	volatile int i;

	r->phase = phase->name;
	r->tid = syscall(SYS_gettid);
	r->restorer = restorer;
	r->ip = interrupted;
	r->nr = backtrace(r->chain, MAX_FRAMES);
	r->from = now();
	do {
		for (i = 0; i < 20000; i++)
			;
		r->to = now();
	} while (r->to < r->from + spin_ns);
	nr_records++;
}

static void arm(long us)
{
	struct itimerval timer = { .it_value.tv_usec = us };

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Not in step with what is interrupted. */
static void arm_again(void)
{
	static unsigned int seed = 1;

	seed = seed * 1103515245 + 12345;
	arm(300 + (seed >> 16) % 700);
}

static void see(const void *context)
{
	const ucontext_t *uc = context;

	interrupted = uc->uc_mcontext.gregs[REG_RIP];
}

/* ---- What is interrupted ----------------------------------------------- */

NOINLINE static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/* Few enough that qsort() does not allocate: handlers sort, too. */
NOINLINE static void work_sort(void)
{
	long numbers[100];
	int i;

	for (i = 0; i < 100; i++)
		numbers[i] = i * 7919L % 100;
	qsort(numbers, 100, sizeof(*numbers), compare);
	HERE();
}

NOINLINE static void work_copy(void)
{
	static char from[COPY_SIZE], to[COPY_SIZE];
	/* No string instruction: an emulator counts it as one, however long. */
	static volatile size_t size = COPY_SIZE;

	memcpy(to, from, size);
	HERE();
}

NOINLINE static void work_regcomp(void)
{
	regex_t re;

	if (!regcomp(&re, "^(([a-z]+)[0-9]*|x(y|z){2,4})+$", REG_EXTENDED))
		regfree(&re);
	HERE();
}

NOINLINE static void work_raise(void)
{
	raise(SIGUSR1);
	HERE();
}

NOINLINE static int work_deep(int depth)
{
	if (depth)
		depth = work_deep(depth - 1) + 1;
	else
		raise(SIGUSR1);
	HERE();
	return depth;
}

NOINLINE static void work_down(void)
{
	work_deep(DEPTH);
	HERE();
}

/*
 * Faults at its first instruction: one byte before belongs to a function with
 * another frame.
 */
void signals_poke(char *page);
__asm__(".text\n"
	"	.type	signals_before, @function\n"
	"signals_before:\n"
	"	.cfi_startproc\n"
	"	subq	$72, %rsp\n"
	"	.cfi_adjust_cfa_offset 72\n"
	"	ud2\n"
	"	.cfi_endproc\n"
	"	.size	signals_before, . - signals_before\n"
	"	.globl	signals_poke\n"
	"	.type	signals_poke, @function\n"
	"signals_poke:\n"
	"	.cfi_startproc\n"
	"	movb	$1, (%rdi)\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	signals_poke, . - signals_poke\n");

static char *page;

NOINLINE static void work_fault(void)
{
	mprotect(page, getpagesize(), PROT_NONE);
	signals_poke(page);
	HERE();
}

static sigjmp_buf escape;

NOINLINE static void work_escape(void)
{
	if (!sigsetjmp(escape, 1))
		raise(SIGUSR1);
	HERE();
}

/* ---- Handlers ---------------------------------------------------------- */

NOINLINE static void on_signal(int sig, siginfo_t *info, void *context)
{
	see(context);
	spin();
	if (sig == SIGALRM)
		arm_again();
}

NOINLINE static void on_fault(int sig, siginfo_t *info, void *context)
{
	see(context);
	spin();
	mprotect(page, getpagesize(), PROT_READ | PROT_WRITE);
}

NOINLINE static void on_escape(int sig, siginfo_t *info, void *context)
{
	see(context);
	spin();
	siglongjmp(escape, 1);
}

NOINLINE static int compare_slowly(const void *a, const void *b)
{
	spin();
	return compare(a, b);
}

NOINLINE static int dive(int depth)
{
	long numbers[] = { 2, 1 };

	if (depth)
		depth = dive(depth - 1) + 1;
	else
		qsort(numbers, 2, sizeof(*numbers), compare_slowly);
	HERE();
	return depth;
}

NOINLINE static void on_deep(int sig, siginfo_t *info, void *context)
{
	see(context);
	dive(DEPTH);
	HERE();
}

/* As many handlers as the phase's name says. */
NOINLINE static void on_nested(int sig, siginfo_t *info, void *context)
{
	see(context);
	if (++level == phase->name[strlen(phase->name) - 1] - '0')
		spin();
	else
		raise(sig);
	level--;
}

/* The first waits, at work, for the second. */
NOINLINE static void on_two(int sig, siginfo_t *info, void *context)
{
	int before = nr_records;

	see(context);
	if (level++) {
		spin();
		level--;
		return;
	}
	arm_again();
	while (nr_records == before)
		work_sort();
	level--;
	arm_again();
}

/* ---- Phases ------------------------------------------------------------ */

static void *low_stack(void *above)
{
	return mmap((void *)0x10000000, ALT_SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *high_stack(void *above)
{
	return above;
}

#define PHASE(text, what, on, number, ...) {				\
	.name = text, .work = what, .handler = on, .sig = number,	\
	__VA_ARGS__							\
}

static const struct phase phases[] = {
	PHASE("raise", work_raise, on_signal, SIGUSR1),
	PHASE("deep", work_down, on_deep, SIGUSR1),
	PHASE("sort", work_sort, on_signal, SIGALRM),
	PHASE("copy", work_copy, on_signal, SIGALRM),
	PHASE("regcomp", work_regcomp, on_signal, SIGALRM),
	PHASE("fault", work_fault, on_fault, SIGSEGV),
	PHASE("escape", work_escape, on_escape, SIGUSR1),
	PHASE("nested-8", work_raise, on_nested, SIGUSR1,
	      .flags = SA_NODEFER),
	PHASE("nested-9", work_raise, on_nested, SIGUSR1,
	      .flags = SA_NODEFER),
	PHASE("nested-timer", work_sort, on_two, SIGALRM,
	      .flags = SA_NODEFER),
	PHASE("altstack-below", work_sort, on_signal, SIGALRM,
	      .flags = SA_ONSTACK, .alternate = low_stack),
	PHASE("altstack-above", work_sort, on_signal, SIGALRM,
	      .flags = SA_ONSTACK, .alternate = high_stack),
	PHASE("thread", work_sort, on_signal, SIGALRM,
	      .flags = SA_ONSTACK, .alternate = low_stack, .thread = true),
	PHASE("bare", work_raise, on_signal, SIGUSR1, .bare = true),
};

/* As the kernel has it. */
struct kernel_sigaction {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	uintptr_t restorer;
	unsigned long mask;
};

/* The restorer of a C library without call frame information for it. */
void signals_restorer(void);
__asm__(".text\n"
	"	nop\n"
	"	.type	signals_restorer, @function\n"
	"signals_restorer:\n"
	"	movq	$15, %rax\n"
	"	syscall\n"
	"	.size	signals_restorer, . - signals_restorer\n");

static void handle(void)
{
	struct sigaction action = {
		.sa_sigaction = phase->handler,
		.sa_flags = phase->flags | SA_SIGINFO,
	};
	struct kernel_sigaction bare;

	sigaction(phase->sig, &action, NULL);
	syscall(SYS_rt_sigaction, phase->sig, NULL, &bare, 8);
	if (phase->bare) {
		bare.restorer = (uintptr_t)signals_restorer;
		syscall(SYS_rt_sigaction, phase->sig, &bare, NULL, 8);
	}
	restorer = bare.restorer;
}

static void set_stack(void *above)
{
	stack_t alt = { .ss_size = ALT_SIZE };

	if (!phase->alternate)
		return;
	alt.ss_sp = phase->alternate(above);
	if (alt.ss_sp == MAP_FAILED || sigaltstack(&alt, NULL)) {
		perror("signals: sigaltstack");
		exit(1);
	}
}

static void block_alarm(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(how, &set, NULL);
}

NOINLINE static void run_phase(void *above)
{
	int end = nr_records + TIMES;
	uint64_t from;

	set_stack(above);
	handle();
	from = now();
	if (phase->sig == SIGALRM)
		arm_again();
	while (nr_records < end)
		phase->work();
	/* From here on no handler arms the timer again. */
	signal(SIGALRM, SIG_IGN);
	arm(0);
	fprintf(log_file, "phase %s %ld %lu %lu\n", phase->name,
		syscall(SYS_gettid), from, now());
}

static void *thread_main(void *above)
{
	block_alarm(SIG_UNBLOCK);
	run_phase(above);
	return NULL;
}

static void run_thread(void)
{
	pthread_t thread;

	block_alarm(SIG_BLOCK);
	if (pthread_create(&thread, NULL, thread_main, NULL)) {
		perror("signals: pthread_create");
		exit(1);
	}
	pthread_join(thread, NULL);
	block_alarm(SIG_UNBLOCK);
}

static void log_record(const struct record *r)
{
	int i;

	fprintf(log_file, "record %s %d %lu %lu %lx %lx", r->phase, r->tid,
		r->from, r->to, r->restorer, r->ip);
	for (i = 0; i < r->nr; i++)
		fprintf(log_file, " %lx", (uintptr_t)r->chain[i]);
	fprintf(log_file, "\n");
}

static void log_windows(void)
{
	FILE *f = fopen("/proc/self/sframe", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		fprintf(log_file, "sframe %s", line);
	if (f)
		fclose(f);
}

/* A lazy load of the unwinder in a handler would not be safe. */
static void prepare(const char *path)
{
	void *frame;

	log_file = fopen(path, "w");
	page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!log_file || page == MAP_FAILED || signals_begin() ||
	    backtrace(&frame, 1) != 1) {
		perror("signals");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	/* Above the frames of all that main() calls. */
	char above[ALT_SIZE] __attribute__((aligned(64)));
	int i;

	if (argc < 2)
		return 2;
	prepare(argv[1]);
	if (getenv("SIGNALS_MS"))
		spin_ns = atoi(getenv("SIGNALS_MS")) * 1000000ULL;
	for (phase = phases;
	     phase < phases + sizeof(phases) / sizeof(*phases); phase++) {
		if (argc > 2 && strcmp(argv[2], phase->name))
			continue;
		if (phase->thread)
			run_thread();
		else
			run_phase(above);
	}
	for (i = 0; i < nr_records; i++)
		log_record(&records[i]);
	log_windows();
	return fclose(log_file) != 0;
}
