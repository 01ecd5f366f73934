/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * System calls in a stopped thread of another process. The thread then goes on
 * as if there had been none: with its registers, in the call that it was in.
 *
 * A signal that comes meanwhile is delivered at once, to the registers that the
 * thread had; its handler then waits at its first instruction.
 */
#ifndef SFJIT_ATTACH_REMOTE_H
#define SFJIT_ATTACH_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <registers.h>

struct remote {
	pid_t tid;
	uint64_t code;		/* of a system call, in the process */
	registers own;		/* with which it goes on */
	bool elsewhere;		/* it has others */
	bool lost;		/* it does not run, as if it were frozen */
};

/*
 * The thread is stopped. Returns 0; -EOPNOTSUPP, if it runs code of another
 * machine or word size; -ESRCH; or -EFAULT, if it is in a restartable sequence
 * that the kernel would kill it for.
 */
int remote_begin(struct remote *remote, pid_t tid, uint64_t code);

/*
 * The call's result, or -errno: -ESRCH if the thread has ended, -ETIMEDOUT if it
 * did not run, -ECONNREFUSED if calls raise SIGSYS there.
 */
long remote_call(struct remote *remote, long nr, const uint64_t args[6]);

#define REMOTE_CALL(remote, nr, ...) \
	remote_call(remote, nr, (const uint64_t[6]) { __VA_ARGS__ })

/* The thread is stopped again, with its registers, if it has not ended. */
int remote_end(struct remote *remote);

/* Memory of a process: 0 or -errno; a part is -EFAULT. */
int remote_read(pid_t pid, uint64_t address, void *to, size_t length);
int remote_write(pid_t pid, uint64_t address, const void *from, size_t length);

#endif /* SFJIT_ATTACH_REMOTE_H */
