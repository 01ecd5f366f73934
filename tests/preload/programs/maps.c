// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* A program with a JIT of its own. */
#include <stdio.h>

int plugin_number(void);

int main(void)
{
	return printf("%d\n", plugin_number()) < 0;
}
