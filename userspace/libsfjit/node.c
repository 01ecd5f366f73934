// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Each call opens the node and closes it: programs close descriptors that they
 * do not know, and reuse their numbers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sfjit/device.h>
#include <sfjit/sframe.h>

#include "node.h"

enum { UNKNOWN, ABSENT, USED };

static int node_state;

static int node_get(void)
{
	return __atomic_load_n(&node_state, __ATOMIC_RELAXED);
}

static void node_set(int state)
{
	__atomic_store_n(&node_state, state, __ATOMIC_RELAXED);
}

/* Not for ever: the next call may succeed. */
static bool node_is_busy(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM ||
	       error == EINTR;
}

/* O_NONBLOCK: what is not ours must not block. */
static int node_open(void)
{
	int fd = syscall(SYS_openat, AT_FDCWD, SFJIT_DEVICE,
			 O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0)
		return fd;
	if (node_get() == USED)
		return node_is_busy(errno) ? -errno : -EPERM;
	if (!node_is_busy(errno))
		node_set(ABSENT);
	return -EINVAL;
}

static long node_request(int fd, int option, struct sfjit_request *request)
{
	long ret;

	if (option == PR_SFRAME_QUERY)
		ret = syscall(SYS_ioctl, fd, SFJIT_IOC_QUERY, request->key);
	else
		ret = syscall(SYS_ioctl, fd, option == PR_SFRAME_REGISTER ?
			      SFJIT_IOC_REGISTER : SFJIT_IOC_UNREGISTER,
			      request);
	return ret < 0 ? -errno : ret;
}

long sfjit_node_call(int option, unsigned long arg2, unsigned long arg3,
		     unsigned long arg4, unsigned long arg5)
{
	struct sfjit_request request = {
		.key = arg2, .address = arg3, .length = arg4, .opts = arg5,
	};
	long ret;
	int fd;

	if (node_get() == ABSENT)
		return -EINVAL;
	fd = node_open();
	if (fd < 0)
		return fd;
	ret = node_request(fd, option, &request);
	syscall(SYS_close, fd);
	/* A file of this name that is none of ours. */
	if (ret == -ENOTTY && node_get() == UNKNOWN) {
		node_set(ABSENT);
		return -EINVAL;
	}
	node_set(USED);
	return ret;
}

bool sfjit_node_used(void)
{
	return node_get() == USED;
}

void sfjit_node_find(void)
{
	int fd = node_get() == UNKNOWN ? node_open() : -1;

	if (fd >= 0)
		syscall(SYS_close, fd);
}
