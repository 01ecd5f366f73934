// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The system calls of assisted unwinding.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <sfjit/unwind_assist.h>

#include "assist.h"

_Static_assert(SFJIT_ASSIST_FRAMES == UNWIND_ASSIST_MAX_FRAMES,
	       "an answer is as long as the kernel takes it");

static int assist_prctl(unsigned long what, unsigned long arg3,
			unsigned long arg4, unsigned long arg5)
{
	int ret = sfjit_fault("prctl");

	if (ret)
		return ret;
	ret = prctl(PR_UNWIND_ASSIST, what, arg3, arg4, arg5);
	return ret < 0 ? -errno : ret;
}

/*
 * An unpatched kernel returns EINVAL; seccomp filters return EPERM, ENOSYS or
 * any other error.
 */
int sfjit_assist_turn_on(int signal, bool any_stack)
{
	int ret = assist_prctl(PR_UNWIND_ASSIST_ON, signal,
			       any_stack ? UNWIND_ASSIST_ANY_STACK : 0, 0);

	return ret && ret != -ENOMEM ? -EOPNOTSUPP : ret;
}

void sfjit_assist_turn_off(void)
{
	assist_prctl(PR_UNWIND_ASSIST_OFF, 0, 0, 0);
}

/*
 * Outside of a handler no request is pending: -ESRCH means that the thread has
 * opted in.
 */
bool sfjit_assist_is_on(void)
{
	return assist_prctl(PR_UNWIND_ASSIST_READ, 0, 0, 0) == -ESRCH;
}

int sfjit_assist_get(const void *token, uint64_t *frames, unsigned int max)
{
	return assist_prctl(PR_UNWIND_ASSIST_READ, (uintptr_t)token,
			    (uintptr_t)frames, max);
}

int sfjit_assist_give(const void *token, const uint64_t *frames,
		      unsigned int nr)
{
	return assist_prctl(PR_UNWIND_ASSIST_ANSWER, (uintptr_t)token,
			    (uintptr_t)frames, nr);
}

/*
 * process_vm_readv() returns an error where a load would fault. Use the
 * thread's id: if the first thread has exited, the process's id has no memory.
 */
int sfjit_assist_read(void *to, const void *from, size_t length)
{
	struct iovec local = { to, length };
	struct iovec remote = { (void *)from, length };
	ssize_t got;

	got = process_vm_readv(syscall(SYS_gettid), &local, 1, &remote, 1, 0);
	return got >= 0 && (size_t)got == length ? 0 : -EFAULT;
}
