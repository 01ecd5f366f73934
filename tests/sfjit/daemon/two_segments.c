// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Code in two executable segments; see tests/sfjit/sfjit.mk. */
#include <unistd.h>

__attribute__((section(".far"), noinline)) int far_away(int n)
{
	return n + getpid();
}

int main(void)
{
	return far_away(1) == 0;
}
