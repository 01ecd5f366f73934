/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A tiny emitter for x86-64. It reports each change of the stack pointer to a
 * struct sfjit_rows. Functions have no frame pointer and use rbp for data.
 */
#ifndef EMIT_H
#define EMIT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sfjit.h>
#include <sfjit/names.h>
#include <sfjit/row_builder.h>

#define EMIT_MAX	128	/* bytes of a function */
#define RBX		3	/* DWARF numbers */
#define RBP		6

struct emit {
	unsigned char	code[EMIT_MAX];
	uint32_t	size;
	struct sfjit_row array[16];
	struct sfjit_rows rows;
};

static inline uint32_t emit_bytes(struct emit *e, const void *bytes,
				  uint32_t size)
{
	memcpy(e->code + e->size, bytes, size);
	e->size += size;
	return e->size;
}

#define EMIT(e, string) emit_bytes(e, string, sizeof(string) - 1)

static inline void emit_begin(struct emit *e)
{
	e->size = 0;
	sfjit_rows_init(&e->rows, e->array, 16);
}

/* push %rbp; sub $32, %rsp; mov $7, %ebp */
static inline void emit_enter(struct emit *e)
{
	sfjit_rows_push(&e->rows, EMIT(e, "\x55"), RBP);
	sfjit_rows_adjust(&e->rows, EMIT(e, "\x48\x83\xec\x20"), 32);
	EMIT(e, "\xbd\x07\0\0\0");
}

/* add $32, %rsp; pop %rbp */
static inline void emit_leave(struct emit *e)
{
	sfjit_rows_adjust(&e->rows, EMIT(e, "\x48\x83\xc4\x20"), -32);
	sfjit_rows_pop(&e->rows, EMIT(e, "\x5d"), RBP);
}

static inline void emit_ret(struct emit *e)
{
	EMIT(e, "\xc3");
}

/* mov $n, %ecx; 1: dec %ecx; jne 1b */
static inline void emit_spin(struct emit *e, uint32_t n)
{
	EMIT(e, "\xb9");
	emit_bytes(e, &n, sizeof(n));
	EMIT(e, "\xff\xc9\x75\xfc");
}

/* movabs $target, %rax; call *%rax */
static inline void emit_call(struct emit *e, const void *target)
{
	EMIT(e, "\x48\xb8");
	emit_bytes(e, &target, sizeof(target));
	EMIT(e, "\xff\xd0");
}

/* movabs $target, %rax; jmp *%rax */
static inline void emit_jump(struct emit *e, const void *target)
{
	EMIT(e, "\x48\xb8");
	emit_bytes(e, &target, sizeof(target));
	EMIT(e, "\xff\xe0");
}

/* Copies the code, and describes the function at its final address. */
static inline int emit_end(struct emit *e, void *writable, const void *text,
			   struct sfjit_function *function)
{
	memcpy(writable, e->code, e->size);
	return sfjit_rows_function(&e->rows, text, e->size, function);
}

/* ---- What a program of a pattern has besides --------------------------- */

static inline long long read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* CPU time of all threads, so that a busy machine takes as many samples. */
static inline long long now_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/*
 * usage: PROGRAM SECONDS [DIRECTORY]
 *
 * Runs for SECONDS of CPU time, with names in the log, and in a jitdump in
 * DIRECTORY. Prints the times when it began and ended.
 */
static inline long long begin_run(int argc, char **argv)
{
	unsigned int what = SFJIT_NAMES_LOG;
	long long end = now_ns();

	if (argc < 2) {
		fprintf(stderr, "usage: %s SECONDS [DIRECTORY]\n", argv[0]);
		exit(2);
	}
	if (argc > 2)
		what |= SFJIT_NAMES_JITDUMP;
	if (sfjit_names_open(what, argc > 2 ? argv[2] : NULL))
		fprintf(stderr, "cannot open the names\n");
	printf("pid %d\nbegin %lld\n", (int)getpid(),
	       read_clock(CLOCK_MONOTONIC));
	return end + atoll(argv[1]) * 1000000000LL;
}

static inline int end_run(unsigned long compiled)
{
	printf("end %lld\n%lu functions\n", read_clock(CLOCK_MONOTONIC),
	       compiled);
	return sfjit_names_close() ? 1 : 0;
}

/* Calls a function until @end; no tail call, so that it has a frame. */
__attribute__((noinline, unused))
static void run(const void *function, long long end)
{
	do {
		((void (*)(void))function)();
	} while (now_ns() < end);
}

static inline void check(int ret, const char *what)
{
	if (ret < 0) {
		fprintf(stderr, "%s: %s\n", what, strerror(-ret));
		exit(1);
	}
}

#endif /* EMIT_H */
