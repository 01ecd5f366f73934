// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* A library to load. NUMBER tells its builds apart. */
int plugin_number(void);
int plugin_number(void)
{
	return NUMBER;
}

/* Without CFI, as large as the gap that parts two windows. */
#ifdef GAP
__asm__(".text\n"
	"	.fill 0x20000, 1, 0xcc\n");

int plugin_behind(int (*call)(void));
int plugin_behind(int (*call)(void))
{
	return call() + 1;
}
#endif
