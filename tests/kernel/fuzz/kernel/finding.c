// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* A finding ends the program, as a crash does. */
#include <stdio.h>
#include <stdlib.h>

void finding(const char *what) __attribute__((noreturn));

void finding(const char *what)
{
	fprintf(stderr, "finding: %s\n", what);
	abort();
}
