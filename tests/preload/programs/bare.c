// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* A static program without call frame information, which waits for ever. */
#include <sys/syscall.h>

void _start(void);
void _start(void)
{
	long ret;

	for (;;)
		__asm__ volatile("syscall" : "=a" (ret) : "a" (SYS_pause) :
				 "rcx", "r11", "memory");
}
