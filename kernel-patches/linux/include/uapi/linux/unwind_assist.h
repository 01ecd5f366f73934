/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * Call chains with the help of the program: prctl ABI (prototype, version 0).
 *
 * When a tracer wants a deferred call chain of a thread that has opted in, a
 * signal asks the thread for its user stack. See
 * Documentation/userspace-api/unwind_assist.rst.
 */
#ifndef _UAPI_LINUX_UNWIND_ASSIST_H
#define _UAPI_LINUX_UNWIND_ASSIST_H

/*
 * A prctl() option. Its number ("UWA1") is private to the prototype.
 *
 *   prctl(PR_UNWIND_ASSIST, PR_UNWIND_ASSIST_ON, signal, flags, 0)
 *   prctl(PR_UNWIND_ASSIST, PR_UNWIND_ASSIST_OFF, 0, 0, 0)
 *   prctl(PR_UNWIND_ASSIST, PR_UNWIND_ASSIST_READ, token, frames, nr)
 *   prctl(PR_UNWIND_ASSIST, PR_UNWIND_ASSIST_ANSWER, token, frames, nr)
 *
 * All four apply to the calling thread. 'frames' is an array of __u64:
 * addresses, innermost first; all but the first are return addresses.
 */
#define PR_UNWIND_ASSIST	0x55574131

/*
 * Ask this thread with 'signal', a real-time signal, from now on. Children
 * inherit this unless they share the address space without being threads;
 * execve() ends it. Another call changes the values.
 */
#define PR_UNWIND_ASSIST_ON	0

/* Stop asking. Tracers get the kernel's own walk for an open question. */
#define PR_UNWIND_ASSIST_OFF	1

/*
 * Copies up to 'nr' frames of the kernel's own walk to 'frames', and returns
 * the number of frames of the walk.
 */
#define PR_UNWIND_ASSIST_READ	2

/*
 * Answers the open question with 'nr' frames, or with the kernel's own walk if
 * 'nr' is 0. If it fails, the question stays open.
 */
#define PR_UNWIND_ASSIST_ANSWER	3

/* Flags of PR_UNWIND_ASSIST_ON. */
#define UNWIND_ASSIST_ANY_STACK	(1UL << 0)	/* ask also without an alternate
						 * signal stack
						 */

/* Maximum number of frames in an answer. */
#define UNWIND_ASSIST_MAX_FRAMES	510

/*
 * siginfo of the signal: si_code is SI_KERNEL, si_value.sival_ptr the token.
 *
 * errno:
 *   EINVAL	an unknown operation or flag, arguments that must be 0, a signal
 *		that is not a real-time one; of READ and ANSWER: the thread has
 *		not opted in
 *   ENOMEM	no memory (ON, ANSWER)
 *   EOPNOTSUPP	a 32-bit program
 *   ESRCH	no question with this token is open: it was answered, or given
 *		up, or belongs to another thread
 *   EFAULT	'frames' cannot be read or written
 *   E2BIG	more than UNWIND_ASSIST_MAX_FRAMES
 *   ERANGE	a frame is not an address of user space
 */

#endif /* _UAPI_LINUX_UNWIND_ASSIST_H */
