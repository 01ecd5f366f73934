// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * For LD_PRELOAD: a kernel that accepts only plain version 3. Everything else
 * goes to the real kernel.
 */
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sfjit/sframe.h>

int prctl(int option, ...)
{
	unsigned long arg[4];
	va_list args;
	int i;

	va_start(args, option);
	for (i = 0; i < 4; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	if (option == PR_SFRAME_QUERY && arg[0] == PR_SFRAME_QUERY_FORMATS)
		return 1 << SFRAME_FORMAT_V3;
	return syscall(SYS_prctl, option, arg[0], arg[1], arg[2], arg[3]);
}
