/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Add Python functions to the call chains that the kernel requests. Functions
 * marked "in a handler" are async-signal-safe.
 */
#ifndef SFJIT_PYTHON_ASSIST_H
#define SFJIT_PYTHON_ASSIST_H

#include <Python.h>
#include <sfjit-assist.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Call with the GIL. Enables requests for this thread and for those started
 * later. Returns -1 with an exception set.
 */
int assist_install(void);

/* Call before the interpreter ends, which frees frames of other threads. */
void assist_end(void);

/* ---- The interpreter's loop: assist_text.c ------------------------------- */

struct assist_range {
	uintptr_t start;
	size_t length;
};

/* The loop and its cold part, which may be empty. */
extern struct assist_range assist_loop, assist_rare;

static inline bool assist_is_in(struct assist_range range, uintptr_t address)
{
	return address - range.start < range.length;
}

/* In a handler. Return addresses are looked up by the call before them. */
static inline bool assist_is_loop(uint64_t address, bool called)
{
	return assist_is_in(assist_loop, address - called) ||
	       assist_is_in(assist_rare, address - called);
}

/* Returns 0, or -ENOENT without such code. */
int assist_find_loop(void);

/* The loop, its cold part, and everything between them. */
void assist_loop_range(const void **text, size_t *length);

/* ---- Frames: assist_frames.c --------------------------------------------- */

/* The difference in this interpreter, or NULL. */
const char *assist_foreign_layout(void);

/*
 * Finds where frames lie, from those of this thread, which must be running the
 * interpreter's loop. Returns 0 or -ENOENT.
 */
int assist_measure_frames(void);

/* In a handler: a sfjit_assist_callback. */
int assist_add_frames(const struct sfjit_assist_stack *stack, void *data);

/*
 * Call around a time in which the thread's frames are unlinked while the loop
 * that runs them is on the stack.
 */
void assist_hide(PyThreadState *thread);
void assist_show(void);

/* ---- Code objects: assist_code.c ------------------------------------------ */

struct assist_code {
	uint64_t name;		/* 0: not a function of the program */
	uint64_t frame_size;	/* bytes */
};

/*
 * From now on code objects of this interpreter are known by their address.
 * Returns -1 with an exception set. With NULL no code object is found any more.
 */
int assist_watch(PyInterpreterState *interp);
void assist_unwatch(void);

/* In a handler. Whether @interp is the watched one. */
bool assist_is_watched(const PyInterpreterState *interp);

/*
 * In a handler: returns 0, or negative if it is no code object or has no name.
 */
int assist_find_code(const PyObject *object, struct assist_code *code);

/* ---- Names: assist_name.c ------------------------------------------------- */

struct assist_names {
	const PyObject *function, *file;
};

/* In a handler: a callback of sfjit_assist_name() for struct assist_names. */
int assist_write_name(char *text, size_t size, void *names);

#endif /* SFJIT_PYTHON_ASSIST_H */
