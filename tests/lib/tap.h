/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The cases of a test program, in TAP for prove(1):
 *
 *	ok 1 - NAME		it holds
 *	not ok 2 - NAME		it does not
 *	# WHY
 *	ok 3 - NAME # SKIP WHY	it cannot be tried here
 *	1..3
 *
 * main() ends with finish(), which prints the last line. A program that exits
 * before it, or without a case, has failed. Children of fork() count in the same
 * page, and need not finish; the parent waits for a child before its next case.
 */
#ifndef TAP_H
#define TAP_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Prints the line, with @why as for printf(); returns whether it is good. */
__attribute__((format(printf, 3, 4)))
bool result(bool good, const char *name, const char *why, ...);
void skip(const char *name, const char *why);

/* For main() to return: 0, or 1 if a case failed. */
int finish(void);
/* The same for a test that cannot run here. */
int skip_all(const char *name, const char *why);
/* This process is no test: it was started by one, or is a child to be judged. */
void not_the_test(void);
/* Ends the program after a case that failed. */
__attribute__((noreturn))
void give_up(void);

#define IS(name, got, want) do { \
	long got_ = (long)(got), want_ = (long)(want); \
	result(got_ == want_, name, "%s is %ld, expected %ld", #got, got_, \
	       want_); \
} while (0)

#define TRUE(name, condition) \
	result(condition, name, "%s is 0, expected 1", #condition)

/* What a test cannot go on without. */
#define MUST(condition) do { \
	if (!(condition)) { \
		result(false, __FILE__, "%d: %s: %s", __LINE__, #condition, \
		       strerror(errno)); \
		give_up(); \
	} \
} while (0)

#endif /* TAP_H */
