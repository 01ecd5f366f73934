// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: assist SECONDS any|alternate
 *
 * An interpreter that the kernel asks. Its functions are fn0 to fn5: each calls the
 * next one, fn1 and fn3 by way of C, which makes a run of the loop of its own, the
 * others in the same run. The last one calls a leaf in C. So a stack is
 *
 *	leaf run fn5 fn4 builtin run fn3 fn2 builtin run fn1 fn0 main|worker|child
 *
 * for two threads at first, and then for a child of fork. Handlers run on any
 * stack, or on alternate ones that the library gives. Prints the counts of
 * each process, as "asked answered native late unsure names full".
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sfjit-assist.h>

#define DEPTH	6

/* @enters: it is the first of a run. */
struct frame {
	struct frame	*previous;
	int		function;
	int		enters;
};

/* In a program it is there from the beginning: handlers may read it. */
static __thread struct frame *volatile innermost;

extern const char __start_loop[], __stop_loop[];

static volatile unsigned int sink;

/* Its variable is on the stack, so that it has a frame. */
__attribute__((noinline)) void leaf(void)
{
	volatile unsigned int i;

	for (i = 0; i < 20000; i++)
		;
}

void run(int function);

__attribute__((noinline)) void builtin(int function)
{
	run(function);
	sink++;
}

/*
 * A loop that calls without recursion, as that of CPython 3.11 and later: its
 * frames are made, and linked, one instruction after the other.
 */
__attribute__((noinline, section("loop"))) void run(int function)
{
	struct frame frames[DEPTH], *frame = frames;
	int enters = 1;

	for (;;) {
		frame->function = function;
		frame->enters = enters;
		frame->previous = innermost;
		innermost = frame;
		if (function == DEPTH - 1 || function & 1)
			break;
		function++;
		frame++;
		enters = 0;
	}
	if (function == DEPTH - 1)
		leaf();
	else
		builtin(function + 1);
	do
		innermost = frame->previous;
	while (frame-- > frames);
}

static int write_name(char *text, size_t size, void *data)
{
	const struct frame *frame = data;

	if (size < 3)
		return -1;
	memcpy(text, "fn", 2);
	text[2] = '0' + frame->function;
	return 3;
}

static int is_loop(const struct sfjit_assist_stack *stack, unsigned int i)
{
	uintptr_t at = stack->frames[i] - (i > 0);

	return at >= (uintptr_t)__start_loop && at < (uintptr_t)__stop_loop;
}

/* The functions of a run; returns the frame that called it. */
static int insert_run(const struct sfjit_assist_stack *stack, unsigned int i,
		      struct frame **frame)
{
	struct frame copy;
	uint64_t address;

	do {
		if (sfjit_assist_read(&copy, *frame, sizeof(copy)))
			return -1;
		address = sfjit_assist_name(copy.function, 0, write_name,
					    &copy);
		if (sfjit_assist_insert(stack, i, address))
			return -1;
		*frame = copy.previous;
	} while (!copy.enters);
	return 0;
}

/* Runs and loops have to be as many: a run may just be beginning or ending. */
static int insert(const struct sfjit_assist_stack *stack, void *data)
{
	struct frame *frame = innermost;
	unsigned int i;

	for (i = 0; i < stack->nr; i++)
		if (is_loop(stack, i) &&
		    (!frame || insert_run(stack, i, &frame)))
			return -1;
	return frame ? -1 : 0;
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long end;
static unsigned int flags;

static void check(int ret, const char *what)
{
	if (ret)
		errx(1, "%s: %s", what, strerror(-ret));
}

/* It is asked from the beginning if any stack will do. */
__attribute__((noinline)) void *worker(void *argument)
{
	if (flags)
		check(sfjit_assist_enable(flags), "enable");
	while (now() < end)
		run(0);
	return NULL;
}

__attribute__((noinline)) void child(void)
{
	while (now() < end)
		run(0);
	sink++;
}

static void print_counts(void)
{
	struct sfjit_assist_stats s = { .size = sizeof(s) };

	sfjit_assist_stats(&s);
	printf("%llu %llu %llu %llu %llu %llu %llu\n",
	       (unsigned long long)s.asked, (unsigned long long)s.answered,
	       (unsigned long long)s.native, (unsigned long long)s.late,
	       (unsigned long long)s.unsure, (unsigned long long)s.names,
	       (unsigned long long)s.names_full);
	fflush(stdout);
}

static void fork_child(long long time)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		end = now() + time;
		child();
		print_counts();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "child: status %d", status);
}

int main(int argc, char **argv)
{
	long long time;
	pthread_t thread;

	if (argc != 3)
		errx(2, "usage: assist SECONDS any|alternate");
	if (!strcmp(argv[2], "alternate"))
		flags = SFJIT_ASSIST_ALT_STACK;
	time = atoll(argv[1]) * 1000000000LL;
	check(sfjit_assist_register(__start_loop, __stop_loop - __start_loop,
				    insert, NULL), "register");
	check(sfjit_assist_enable(flags), "enable");
	end = now() + time;
	if (pthread_create(&thread, NULL, worker, NULL))
		errx(1, "no thread");
	while (now() < end)
		run(0);
	pthread_join(thread, NULL);
	print_counts();
	fork_child(time);
	return 0;
}
