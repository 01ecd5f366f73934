// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * JITs may describe code before it is executable, and the kernel takes windows
 * for executable text only: this says when. The call goes to the next mprotect()
 * of the program; before this module has looked that up, to the kernel.
 */
#include "libc.h"
#include "remap.h"
#include "sys.h"

#define EXPORT	__attribute__((visibility("default")))

EXPORT int mprotect(void *start, size_t length, int protection);
EXPORT int pkey_mprotect(void *start, size_t length, int protection, int key);

static int (*next_mprotect)(void *start, size_t length, int protection);
static int (*next_pkey_mprotect)(void *start, size_t length, int protection,
				 int key);

__attribute__((constructor)) static void look_up_mprotect(void)
{
	next_mprotect = (int (*)(void *, size_t, int))
		libc_next("mprotect");
	next_pkey_mprotect = (int (*)(void *, size_t, int, int))
		libc_next("pkey_mprotect");
}

static int noticed(int ret, void *start, size_t length, int protection)
{
	if (!ret && (protection & PROT_EXEC))
		remap_done(start, length);
	return ret;
}

int mprotect(void *start, size_t length, int protection)
{
	int ret = next_mprotect ? next_mprotect(start, length, protection) :
		syscall(SYS_mprotect, start, length, protection);

	return noticed(ret, start, length, protection);
}

int pkey_mprotect(void *start, size_t length, int protection, int key)
{
	int ret = next_pkey_mprotect ?
		next_pkey_mprotect(start, length, protection, key) :
		syscall(SYS_pkey_mprotect, start, length, protection, key);

	return noticed(ret, start, length, protection);
}
