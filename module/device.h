/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * /dev/sfjit, the device node of the module for stock kernels.
 *
 * Its ioctls do what prctl(PR_SFRAME_*) does on a kernel with the series, with
 * the structures of <sfjit/sframe.h>. Sizes and lengths are bytes, addresses are
 * those of the process that gets the window.
 *
 *   ioctl(fd, SFJIT_IOC_REGISTER, &request)
 *   ioctl(fd, SFJIT_IOC_UNREGISTER, &request)
 *   ioctl(fd, SFJIT_IOC_QUERY, PR_SFRAME_QUERY_...)
 *   ioctl(fd, SFJIT_IOC_FILES, 0)
 *
 * A call acts on the process that makes it, whichever process opened the file:
 * after a fork on the child, after execve() on the new program. With
 * SFJIT_REQUEST_PIDFD it acts on the process of a pidfd instead.
 *
 * Opening the node to read is enough for every call. For SFJIT_IOC_REGISTER, and
 * for every call with a pidfd, the caller must have permission to write to the
 * node, by its owner, group and mode. Each call checks this for its caller. It
 * does not matter who opened the file, or how.
 *
 * Any thread may call at any time, also with the same file. Calls may sleep, and
 * SIGKILL ends them. The module cannot be unloaded while the file is open.
 *
 * Errors, besides those of PR_SFRAME_REGISTER(2) and PR_SFRAME_UNREGISTER(2):
 *
 *   EFAULT	The request is not readable.
 *   EINVAL	A flag is unknown, or a pidfd comes without its flag.
 *   EPERM	The caller may not write to the node, or may not trace the process.
 *   EBADF	The file descriptor in the request is not a pidfd.
 *   ESRCH	The process has ended, or is a kernel thread.
 *   EOPNOTSUPP	The caller or the process does not run 64-bit code.
 *   ENOTTY	The module does not know the call.
 */
#ifndef SFJIT_DEVICE_H
#define SFJIT_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define SFJIT_DEVICE	"/dev/sfjit"

/* Flags of a request. */
#define SFJIT_REQUEST_PIDFD	(1U << 0)	/* @pidfd names the process */

/**
 * struct sfjit_request - argument of SFJIT_IOC_REGISTER and SFJIT_IOC_UNREGISTER
 * @key:	name of the window, unique in the process
 * @address:	address of the section; SFJIT_IOC_UNREGISTER: 0
 * @length:	its length; SFJIT_IOC_UNREGISTER: 0
 * @opts:	0, or address of a struct sframe_window_opts, in the memory of the
 *		caller; SFJIT_IOC_UNREGISTER: 0
 * @pidfd:	pidfd of the process, which the caller may trace
 *		(PTRACE_MODE_ATTACH_REALCREDS); 0 without SFJIT_REQUEST_PIDFD
 * @flags:	SFJIT_REQUEST_*
 */
struct sfjit_request {
	__u64	key;
	__u64	address;
	__u64	length;
	__u64	opts;
	__s32	pidfd;
	__u32	flags;
};

/* All return 0, and SFJIT_IOC_QUERY the answer, or -1 with errno. */
#define SFJIT_IOC_REGISTER	_IOW(0xe9, 1, struct sfjit_request)
#define SFJIT_IOC_UNREGISTER	_IOW(0xe9, 2, struct sfjit_request)
#define SFJIT_IOC_QUERY		_IO(0xe9, 3)	/* argument: PR_SFRAME_QUERY_* */
#define SFJIT_IOC_FILES		_IO(0xe9, 4)	/* argument: 0 */

#endif /* SFJIT_DEVICE_H */
