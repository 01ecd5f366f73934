// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A toy interpreter whose functions appear in the stacks of perf record
 * --call-graph=fp,defer. Its loop calls them without recursion.
 *
 * usage: sfjit run -- asked_loop ROUNDS
 */
/* The guide to assists shows what is between these marks. begin */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sfjit-assist.h>

enum { RETURN, WORK, CALL };	/* a function's number follows CALL */

static const struct function {
	const char *name;
	unsigned char code[8];
} functions[] = {
	{ "toy::main", { CALL, 1, CALL, 1, RETURN } },
	{ "toy::outer", { CALL, 2, WORK, RETURN } },
	{ "toy::inner", { WORK, WORK, WORK, WORK, RETURN } },
};

struct frame {
	struct frame *caller;
	const struct function *function;
	const unsigned char *next;
};

/* Atomic: the frame is filled before a signal handler can see it. */
static _Thread_local struct frame *_Atomic innermost;

/* The section holds the whole loop; the linker defines its ends. */
extern const char __start_toy_loop[], __stop_toy_loop[];

__attribute__((noinline, noclone, section("toy_loop")))
static void interpret(const struct function *function)
{
	struct frame stack[8] = { { NULL, function, function->code } };
	struct frame *frame = stack;
	volatile int i;

	innermost = frame;
	while (frame) {
		switch (*frame->next++) {
		case CALL:
			function = &functions[*frame->next++];
			frame[1].caller = frame;
			frame[1].function = function;
			frame[1].next = function->code;
			innermost = ++frame;
			break;
		case WORK:
			for (i = 0; i < 10000; i++)
				;
			break;
		case RETURN:
			innermost = frame = frame->caller;
		}
	}
}

static int copy_name(char *text, size_t size, void *function)
{
	return stpncpy(text, ((struct function *)function)->name, size) - text;
}

/* All frames but the first are return addresses: look at the call before. */
static int is_loop(const struct sfjit_assist_stack *stack, uint32_t i)
{
	uint64_t at = stack->frames[i] - (i > 0);

	return at >= (uintptr_t)__start_toy_loop &&
	       at < (uintptr_t)__stop_toy_loop;
}

/* This interpreter has at most one loop on a stack, which runs all frames. */
static int answer(const struct sfjit_assist_stack *stack, void *data)
{
	struct frame *at = innermost, frame;
	uint32_t i = 0;
	uint64_t name;

	while (i < stack->nr && !is_loop(stack, i))
		i++;
	if (!at || i == stack->nr)	/* the loop is starting or ending */
		return -1;
	for (; at; at = frame.caller) {
		if (sfjit_assist_read(&frame, at, sizeof(frame)))
			return -1;
		/*
		 * Functions are never freed, so their address is an identity.
		 */
		name = sfjit_assist_name((uintptr_t)frame.function, 0,
					 copy_name, (void *)frame.function);
		if (sfjit_assist_insert(stack, i, name))
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	size_t length = __stop_toy_loop - __start_toy_loop;
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	int ret = sfjit_assist_register(__start_toy_loop, length, answer, NULL);

	if (!ret)
		ret = sfjit_assist_enable(0);
	if (ret)	/* run anyway, without them in stacks */
		fprintf(stderr, "cannot enable assists: %s\n", strerror(-ret));
	while (rounds-- > 0)
		interpret(&functions[0]);
	return 0;
}
/* end */
