/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A kernel with PR_UNWIND_ASSIST for tests of the library: a prctl() in place
 * of libc's, and the signal.
 */
#ifndef LIB_ASSIST_H
#define LIB_ASSIST_H

#include <stdarg.h>
#include <sys/syscall.h>

#include <sfjit-assist.h>
#include <sfjit/unwind_assist.h>

#include "test.h"

static bool present = true;	/* the kernel has assisted unwinding */
static int absent_error = EINVAL;
static int on_error;		/* of the next ON */
static void (*after_on)(int signal);
static int nr_off;

/*
 * A thread, as the kernel knows it.
 * @late: how often READ and ANSWER still succeed
 * @refuse: the error of the next ANSWER that has frames
 */
static _Thread_local struct {
	int		signal;		/* 0: off */
	unsigned long	flags;
	bool		open;
	uint64_t	token;
	unsigned int	nr;
	uint64_t	frames[UNWIND_ASSIST_MAX_FRAMES];
	int		left;
	int		refuse;
	int		nr_answers;
	int		nr_answer;	/* -1: none yet; 0: the kernel's walk */
	uint64_t	answer[UNWIND_ASSIST_MAX_FRAMES];
} kernel;

static inline int fail(int error)
{
	errno = error;
	return -1;
}

static inline int answer_on(unsigned long signal, unsigned long flags,
			    unsigned long zero)
{
	int error = on_error;

	on_error = 0;
	if (error)
		return fail(error);
	if (signal < 32 || signal > 64 || zero ||
	    flags & ~UNWIND_ASSIST_ANY_STACK)
		return fail(EINVAL);
	kernel.signal = signal;
	kernel.flags = flags;
	if (after_on)
		after_on(signal);
	return 0;
}

static inline int answer_off(unsigned long zero)
{
	if (zero)
		return fail(EINVAL);
	__atomic_fetch_add(&nr_off, 1, __ATOMIC_RELAXED);
	kernel.signal = 0;
	kernel.open = false;
	return 0;
}

static inline bool is_open(uint64_t token)
{
	return kernel.open && token == kernel.token && kernel.left-- > 0;
}

static inline int answer_read(uint64_t *frames, unsigned long nr)
{
	memcpy(frames, kernel.frames,
	       (nr < kernel.nr ? nr : kernel.nr) * sizeof(*frames));
	return kernel.nr;
}

static inline int answer_answer(const uint64_t *frames, unsigned long nr)
{
	int error = kernel.refuse;

	if (nr > UNWIND_ASSIST_MAX_FRAMES)
		return fail(E2BIG);
	if (nr && error) {
		kernel.refuse = 0;
		return fail(error);
	}
	if (nr)
		memcpy(kernel.answer, frames, nr * sizeof(*frames));
	kernel.nr_answer = nr;
	kernel.nr_answers++;
	kernel.open = false;
	return 0;
}

static inline int answer_assist(unsigned long what, const unsigned long *arg)
{
	if (what == PR_UNWIND_ASSIST_ON)
		return answer_on(arg[0], arg[1], arg[2]);
	if (what == PR_UNWIND_ASSIST_OFF)
		return answer_off(arg[0] | arg[1] | arg[2]);
	if (what > PR_UNWIND_ASSIST_ANSWER || !kernel.signal)
		return fail(EINVAL);
	if (!is_open(arg[0]))
		return fail(ESRCH);
	if (what == PR_UNWIND_ASSIST_READ)
		return answer_read((uint64_t *)arg[1], arg[2]);
	return answer_answer((uint64_t *)arg[1], arg[2]);
}

int prctl(int option, ...)
{
	unsigned long what, arg[3];
	va_list args;
	int i;

	va_start(args, option);
	what = va_arg(args, unsigned long);
	for (i = 0; i < 3; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	if (option != PR_UNWIND_ASSIST)
		return fail(EINVAL);
	return present ? answer_assist(what, arg) : fail(absent_error);
}

/* A process may send itself signals with the kernel's si_code. */
static inline void send_signal(int signal, int code, uint64_t token)
{
	siginfo_t info = { .si_signo = signal, .si_code = code };

	info.si_value.sival_ptr = (void *)(uintptr_t)token;
	MUST(!syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
		      signal, &info));
	/* libc declares that the call does not call back. */
	__asm__ volatile("" : : : "memory");
#ifdef __SANITIZE_THREAD__
	/* TSan runs the handler only when the thread waits. */
	usleep(1);
#endif
}

/* Asks about the walk in kernel.frames; the request ends on return. */
static inline void ask_about(unsigned int nr)
{
	kernel.nr = nr;
	kernel.open = true;
	kernel.token++;
	kernel.left = 3;
	kernel.nr_answer = -1;
	kernel.nr_answers = 0;
	send_signal(kernel.signal, SI_KERNEL, kernel.token);
}

static inline void ask(const uint64_t *frames, unsigned int nr)
{
	memcpy(kernel.frames, frames, nr * sizeof(*frames));
	ask_about(nr);
}

static inline struct sfjit_assist_stats counts(void)
{
	struct sfjit_assist_stats stats = { .size = sizeof(stats) };

	MUST(!sfjit_assist_stats(&stats));
	return stats;
}

static inline int write_name(char *text, size_t size, void *data)
{
	return snprintf(text, size, "%s", (char *)data);
}

/* An identity whose name is its number. */
static inline int write_number(char *text, size_t size, void *data)
{
	return snprintf(text, size, "py::%lu", (unsigned long)data);
}

static inline uint64_t name_number(unsigned long number)
{
	return sfjit_assist_name(number, ~number, write_number,
				 (void *)number);
}

#endif /* LIB_ASSIST_H */
