// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Assisted unwinding: the signal, its handler, and the counts.
 *
 * The handler may interrupt anything, this library included. So the functions
 * it calls take no lock, allocate only with mmap(), and use no thread-local
 * variables, which the loader may have to allocate.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "assist.h"

static int signal_number;		/* 0: none yet */

/* In the order of struct sfjit_assist_stats. */
enum outcome { ANSWERED, NATIVE, LATE, UNSURE, NR_OUTCOMES };
static uint64_t nr_asked, outcomes[NR_OUTCOMES];

/* Weak: absent from statically linked programs. */
extern __typeof__(dlopen) dlopen __attribute__((weak));
extern __typeof__(dladdr) dladdr __attribute__((weak));

/* ---- The handler --------------------------------------------------------- */

/*
 * If the kernel refuses an answer, the request stays open: send an empty one.
 */
static enum outcome leave_to_kernel(const void *token, enum outcome outcome)
{
	return sfjit_assist_give(token, NULL, 0) ? LATE : outcome;
}

static enum outcome send_answer(const void *token, const uint64_t *frames,
				unsigned int nr)
{
	int ret = sfjit_assist_give(token, frames, nr);

	if (!ret)
		return ANSWERED;
	return ret == -ESRCH ? LATE : leave_to_kernel(token, NATIVE);
}

/* Not inlined: its frame needs room that the caller has not checked yet. */
static __attribute__((noinline))
enum outcome complete_stack(const void *token, const void *context)
{
	uint64_t frames[SFJIT_ASSIST_FRAMES];
	int found, nr;

	found = sfjit_assist_get(token, frames, SFJIT_ASSIST_FRAMES);
	if (found < 0)
		return LATE;
	if (!found || found > SFJIT_ASSIST_FRAMES)
		return leave_to_kernel(token, NATIVE);
	nr = sfjit_assist_complete(frames, found, context);
	if (nr < 0)
		return leave_to_kernel(token, UNSURE);
	if (nr == found)
		return leave_to_kernel(token, NATIVE);
	return send_answer(token, frames, nr);
}

static enum outcome respond(const void *token, const void *context)
{
	return sfjit_assist_has_room(context) ? complete_stack(token, context) :
						leave_to_kernel(token, NATIVE);
}

static void count_event(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* Any process may send the signal; only the kernel sets SI_KERNEL. */
static void on_request(int signal, siginfo_t *info, void *context)
{
	int saved = errno, cancel;

	if (info->si_code != SI_KERNEL)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	count_event(&nr_asked);
	sfjit_assist_write_inherited();
	count_event(&outcomes[respond(info->si_value.sival_ptr, context)]);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

/* ---- The signal ---------------------------------------------------------- */

static bool is_default(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) &&
	       action->sa_handler == SIG_DFL;
}

static bool is_free(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && is_default(&action);
}

static bool is_ours(int signal)
{
	struct sigaction action;

	return signal && !sigaction(signal, NULL, &action) &&
	       action.sa_flags & SA_SIGINFO &&
	       action.sa_sigaction == on_request;
}

/* If another thread installed a handler first, restore that one. */
static bool install_request_handler(int signal)
{
	struct sigaction action, old;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_request;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	sigfillset(&action.sa_mask);
	if (sigaction(signal, &action, &old))
		return false;
	if (is_default(&old))
		return true;
	sigaction(signal, &old, NULL);
	return false;
}

/* Do not occupy a signal if the kernel has no assisted unwinding. */
static int choose_signal(bool any_stack)
{
	int signal, ret;

	for (signal = SIGRTMAX; signal >= SIGRTMIN; signal--) {
		if (!is_free(signal))
			continue;
		ret = sfjit_assist_turn_on(signal, any_stack);
		if (ret)
			return ret;
		if (install_request_handler(signal)) {
			__atomic_store_n(&signal_number, signal,
					 __ATOMIC_RELAXED);
			return 0;
		}
	}
	sfjit_assist_turn_off();
	return -EBUSY;
}

static int turn_on(bool any_stack)
{
	if (is_ours(signal_number))
		return sfjit_assist_turn_on(signal_number, any_stack);
	if (!signal_number && sfjit_assist_is_on())
		return -EBUSY;
	return choose_signal(any_stack);
}

static int enable(unsigned int flags)
{
	int given = sfjit_assist_add_stack(flags & SFJIT_ASSIST_ALT_STACK);
	int ret;

	if (given < 0)
		return given;
	ret = turn_on(!(flags & SFJIT_ASSIST_ALT_STACK));
	if (ret && given)
		sfjit_assist_remove_stack();
	return ret;
}

/*
 * dladdr() names the file. For the program itself dlopen() fails, harmlessly.
 */
static void keep_loaded(void)
{
	Dl_info info;

	if (__atomic_load_n(&signal_number, __ATOMIC_RELAXED))
		return;
	if (dlopen && dladdr && dladdr((void *)on_request, &info) &&
	    info.dli_fname)
		dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD |
		       RTLD_NODELETE);
}

/*
 * The tracer of `sfjit run --reasons' never detaches, so no request would come.
 * A debugger may detach.
 */
static bool is_traced_for_reasons(void)
{
	const char *reasons = secure_getenv("SFJIT_REASONS");

	return reasons && *reasons;
}

int sfjit_assist_enable(unsigned int flags)
{
	int ret;

	if (flags & ~SFJIT_ASSIST_ALT_STACK)
		return -EINVAL;
	if (is_traced_for_reasons())
		return -EPERM;
	/*
	 * Call dlopen() before taking the lock: the loader's lock comes first.
	 */
	keep_loaded();
	ret = sfjit_lock_for_new();
	if (ret)
		return ret;
	ret = enable(flags);
	sfjit_unlock();
	return ret;
}

int sfjit_assist_disable(void)
{
	sfjit_assist_turn_off();
	return sfjit_assist_remove_stack();
}

/* ---- Counts -------------------------------------------------------------- */

static uint64_t read_counter(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

int sfjit_assist_stats(struct sfjit_assist_stats *stats)
{
	if (!stats || stats->size < sizeof(*stats))
		return -EINVAL;
	stats->signal = __atomic_load_n(&signal_number, __ATOMIC_RELAXED);
	stats->answered = read_counter(&outcomes[ANSWERED]);
	stats->native = read_counter(&outcomes[NATIVE]);
	stats->late = read_counter(&outcomes[LATE]);
	stats->unsure = read_counter(&outcomes[UNSURE]);
	stats->asked = read_counter(&nr_asked);
	sfjit_assist_count_names(stats);
	return 0;
}
