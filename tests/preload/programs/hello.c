// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Exits with the status given as argument. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	puts("hello");
	return argc > 1 ? atoi(argv[1]) : 0;
}
