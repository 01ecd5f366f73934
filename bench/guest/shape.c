// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdlib.h>

#include "measure.h"
#include "shape.h"
#include "trigger.h"
#include "window.h"

static struct windows windows;

/* Code with frame pointers: an address that no window covers. */
static uint64_t plain_code(size_t i)
{
	return (uintptr_t)bench_trigger_insn + i * CODE_ALIGN;
}

static void end_plain(struct stack *stack)
{
	stack_end(stack, plain_code(stack->depth));
}

static void build_fp(struct stack *stack, size_t depth)
{
	while (stack->depth < depth - 1)
		stack_add_fp(stack, plain_code(stack->depth));
	end_plain(stack);
}

static void no_enter(const char *arg)
{
}

static void no_leave(void)
{
}

const struct shape shape_fp = {
	"fp", no_enter, build_fp, no_leave,
};

static void enter_windows(const char *arg, int rbp)
{
	size_t i, nr = arg ? strtoul(arg, NULL, 0) : 1;

	if (!nr)
		die("'%s' is no number of windows", arg);
	trigger_window_register();
	windows_map(&windows, nr, rbp);
	for (i = 0; i < nr; i++)
		window_register(&windows, i);
}

static void enter_arg(const char *arg)
{
	enter_windows(arg, 0);
}

static void enter_rbp(const char *arg)
{
	enter_windows(arg, 1);
}

static void leave_windows(void)
{
	size_t i;

	for (i = 0; i < windows.nr; i++)
		window_unregister(&windows, i);
	windows_unmap(&windows);
	trigger_window_unregister();
}

const struct shape shape_beside = {
	"beside", enter_arg, build_fp, leave_windows,
};

/* A window with uncovered code on both sides. */
static void enter_first(const char *arg)
{
	windows_map(&windows, 3, 0);
	window_register(&windows, 1);
}

/* Frames alternate between the two sides of the window. */
static void build_first(struct stack *stack, size_t depth)
{
	while (stack->depth < depth - 1)
		stack_add_fp(stack, window_key(&windows, 2 *
					       (stack->depth % 2)) +
				    WINDOW_SIZE / 2 +
				    stack->depth * CODE_ALIGN);
	end_plain(stack);
}

static void leave_first(void)
{
	window_unregister(&windows, 1);
	windows_unmap(&windows);
}

const struct shape shape_first = {
	"first", enter_first, build_first, leave_first,
};

static uint64_t random_slot(void)
{
	return window_key(&windows, random_below(windows.nr)) +
	       random_below(WINDOW_SIZE / WINDOW_SLOT) * WINDOW_SLOT;
}

static void build_arg(struct stack *stack, size_t depth)
{
	while (stack->depth < depth - 1)
		stack_add_saved(stack, random_slot() + WINDOW_ARG_RA, 0,
				SLOT_CFA, SLOT_ARG_RA, 0);
	end_plain(stack);
}

const struct shape shape_arg = {
	"arg", enter_arg, build_arg, leave_windows,
};

static void build_rbp(struct stack *stack, size_t depth)
{
	while (stack->depth < depth - 1)
		stack_add_saved(stack, random_slot() + WINDOW_RBP_RA, 0,
				SLOT_CFA, SLOT_RBP_RA, SLOT_RBP_FP);
	end_plain(stack);
}

const struct shape shape_rbp = {
	"rbp", enter_rbp, build_rbp, leave_windows,
};
