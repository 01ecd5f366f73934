// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* A program that is linked with plugin_number(). */
#include <stdio.h>

int plugin_number(void);

int main(void)
{
	printf("%d\n", plugin_number());
	return 0;
}
