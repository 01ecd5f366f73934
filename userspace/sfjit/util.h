/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What several commands need: memory, a child that may die, and lists of names.
 */
#ifndef SFJIT_RUN_UTIL_H
#define SFJIT_RUN_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns a pointer from malloc() or the like; exits if it is NULL. */
void *check_alloc(void *allocated);

/* As grow_array() of <grow.h>, but exits if there is no memory. */
void check_grow(void *array, size_t *max, size_t nr, size_t size);

/*
 * What may end a program is tried in another one: runs this in a child, which
 * may be killed by what it tries, with a copy of the trial that both have.
 * Returns 0, or the signal that ended the child.
 */
int child_try(void (*attempt)(void *trial), void *trial, size_t size);

/* Takes the directory and the number of a process. */
typedef void (*process_take)(void *arg, const char *dir, pid_t pid);

/* Calls 'take' for each process of this directory, which is /proc or like it. */
void each_process(const char *proc, process_take take, void *arg);

/* A list of names, each of them once, in the order of coming. */
struct names {
	char **name;
	size_t nr, max;
};

bool names_have(const struct names *names, const char *name);
/* Takes a copy. */
void names_add(struct names *names, const char *name);
void names_free(struct names *names);

#endif /* SFJIT_RUN_UTIL_H */
