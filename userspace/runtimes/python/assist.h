/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The reader: Python functions in the call chains that the kernel asks for. What
 * says "in a handler" is called there, and is async-signal-safe.
 */
#ifndef SFJIT_PYTHON_ASSIST_H
#define SFJIT_PYTHON_ASSIST_H

#include <Python.h>
#include <sfjit-assist.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Under the GIL. From now on this thread is asked, and those that begin later.
 * -1 with an exception set.
 */
int assist_install(void);

/* Before the interpreter ends, which takes frames away from other threads. */
void assist_end(void);

/* ---- The interpreter's loop: assist_text.c ------------------------------- */

struct assist_range {
	uintptr_t start;
	size_t length;
};

/* The loop, and its other part: nothing if there is none. */
extern struct assist_range assist_loop, assist_rare;

static inline bool assist_is_in(struct assist_range range, uintptr_t address)
{
	return address - range.start < range.length;
}

/* Return addresses are where the call before them is. In a handler. */
static inline bool assist_is_loop(uint64_t address, bool called)
{
	return assist_is_in(assist_loop, address - called) ||
	       assist_is_in(assist_rare, address - called);
}

/* 0, or -ENOENT: there is no such code. */
int assist_find_loop(void);

/* All of it, and what is between its parts. */
void assist_loop_range(const void **text, size_t *length);

/* ---- Frames: assist_frames.c --------------------------------------------- */

/* What is foreign in this interpreter, or NULL. */
const char *assist_foreign_layout(void);

/*
 * Where frames lie, from those of this thread, which the interpreter's loop is
 * running: 0 or -ENOENT.
 */
int assist_measure_frames(void);

/* In a handler: a sfjit_assist_callback. */
int assist_add_frames(const struct sfjit_assist_stack *stack, void *data);

/*
 * Around a time in which the thread has no frames while the loop runs those that
 * it had.
 */
void assist_hide(PyThreadState *thread);
void assist_show(void);

/* ---- Code objects: assist_code.c ------------------------------------------ */

struct assist_code {
	uint64_t name;		/* 0: it is no function of the program */
	uint64_t frame_size;	/* bytes */
};

/*
 * The code objects of this interpreter are known by their address from now on.
 * -1 with an exception set. With NULL no code is found any more.
 */
int assist_watch(PyInterpreterState *interp);
void assist_unwatch(void);

/* In a handler. Whether it is the one that is watched. */
bool assist_is_watched(const PyInterpreterState *interp);

/* In a handler: 0, or negative if it is none, or has no name. */
int assist_find_code(const PyObject *object, struct assist_code *code);

/* ---- Names: assist_name.c ------------------------------------------------- */

struct assist_names {
	const PyObject *function, *file;
};

/* In a handler: for sfjit_assist_name(), of struct assist_names. */
int assist_write_name(char *text, size_t size, void *names);

#endif /* SFJIT_PYTHON_ASSIST_H */
