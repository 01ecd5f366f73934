/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The cases of a test program, in TAP for prove(1):
 *
 *	ok 1 - NAME		the case passed
 *	not ok 2 - NAME		it failed
 *	# WHY
 *	ok 3 - NAME # SKIP WHY	it cannot run here
 *	1..3
 *
 * main() ends with finish(), which prints the last line. A program that exits
 * before it, or without a case, has failed. Children of fork() count in shared
 * memory and need not call finish(); wait for a child before the parent's next
 * case.
 */
#ifndef TAP_H
#define TAP_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Prints a case; @why as for printf(). Returns @good. */
__attribute__((format(printf, 3, 4)))
bool result(bool good, const char *name, const char *why, ...);
void skip(const char *name, const char *why);

/* For main() to return: 0, or 1 if a case failed. */
int finish(void);
/* For main() to return if the test cannot run here. */
int skip_all(const char *name, const char *why);
/* Call it in processes that are not the test: its children and helpers. */
void not_the_test(void);
/* Ends the program after a failed case. */
__attribute__((noreturn))
void give_up(void);

#define IS(name, got, want) do { \
	long got_ = (long)(got), want_ = (long)(want); \
	result(got_ == want_, name, "%s is %ld, expected %ld", #got, got_, \
	       want_); \
} while (0)

#define TRUE(name, condition) \
	result(condition, name, "%s is 0, expected 1", #condition)

/* Conditions without which the test cannot continue. */
#define MUST(condition) do { \
	if (!(condition)) { \
		result(false, __FILE__, "%d: %s: %s", __LINE__, #condition, \
		       strerror(errno)); \
		give_up(); \
	} \
} while (0)

#endif /* TAP_H */
