/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Make system calls in a stopped thread of another process. Afterwards the
 * thread continues with its own registers and in its own system call.
 *
 * A signal that arrives meanwhile is delivered at once, on the thread's own
 * registers; its handler then waits at its first instruction.
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
	uint64_t code;		/* address of a system call instruction */
	registers own;		/* the thread's registers */
	bool elsewhere;		/* the thread has other registers now */
	bool lost;		/* the thread did not run; it may be frozen */
};

/*
 * The thread must be stopped. Returns 0; -EOPNOTSUPP if it runs code of another
 * architecture or word size; -ESRCH; or -EFAULT if the kernel would kill it for
 * its restartable sequence.
 */
int remote_begin(struct remote *remote, pid_t tid, uint64_t code);

/*
 * Returns the call's result or -errno: -ESRCH if the thread has exited,
 * -ETIMEDOUT if it did not run, -ECONNREFUSED if Syscall User Dispatch refuses
 * calls.
 */
long remote_call(struct remote *remote, long nr, const uint64_t args[6]);

#define REMOTE_CALL(remote, nr, ...) \
	remote_call(remote, nr, (const uint64_t[6]) { __VA_ARGS__ })

/* Stops the thread again with its own registers, unless it has exited. */
int remote_end(struct remote *remote);

/* Memory of a process. Return 0 or -errno; a partial copy is -EFAULT. */
int remote_read(pid_t pid, uint64_t address, void *to, size_t length);
int remote_write(pid_t pid, uint64_t address, const void *from, size_t length);

#endif /* SFJIT_ATTACH_REMOTE_H */
