// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * When the kernel asks a thread that opted in. If it does not ask, it gives out
 * its own walk at once.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/filter.h>
#include <linux/futex.h>

#include "assist_harness.h"

/* The C library registers rseq and publishes its offset. */
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#define HAVE_RSEQ
#endif
#endif

#ifndef SS_AUTODISARM
#define SS_AUTODISARM	0x80000000U
#endif

/* The kernel's <linux/seccomp.h> needs headers that are not available. */
#ifndef SECCOMP_MODE_STRICT
#define SECCOMP_MODE_STRICT		1
#endif
#ifndef SECCOMP_SET_MODE_FILTER
#define SECCOMP_SET_MODE_FILTER		1
#define SECCOMP_FILTER_FLAG_TSYNC	1U
#define SECCOMP_RET_ALLOW		0x7fff0000U
#endif

FIXTURE(ask)
{
	struct sfa_session	perf;
};

FIXTURE_SETUP(ask)
{
	if (sfa_missing())
		SKIP(return, "%s", sfa_missing());
	begin_session(_metadata, &self->perf);
}

FIXTURE_TEARDOWN(ask)
{
	end_session(_metadata, &self->perf);
}

/* Records of a second session. */
static struct sfa_log second_log;

static void check_asked(struct __test_metadata *_metadata,
			struct sfa_session *perf)
{
	const struct sfa_counts before = sfa_counts();
	const unsigned int handled = sfa_me.handled;

	EXPECT_TRUE(sfa_is_marks(sfa_sample(perf)));
	EXPECT_EQ(handled + 1, sfa_me.handled);
	EXPECT_TRUE(sfa_counted(&before, "asked answered"));
}

/* A sample at @touch must not ask, and must increment @names. */
static void check_refused(struct __test_metadata *_metadata,
			  struct sfa_session *perf, void (*touch)(void),
			  const char *names)
{
	const struct sfa_counts before = sfa_counts();
	const unsigned int handled = sfa_me.handled;

	EXPECT_TRUE(sfa_is_walk(sfa_sample_at(perf, touch)));
	EXPECT_EQ(handled, sfa_me.handled);
	EXPECT_TRUE(sfa_counted(&before, names));
}

#define EXPECT_ASKED()		check_asked(_metadata, &self->perf)
#define EXPECT_REFUSED_AT(touch, why)					\
	check_refused(_metadata, &self->perf, touch, why)
#define EXPECT_REFUSED(why)	EXPECT_REFUSED_AT(sfa_touch, why)

/* ---- The handler ----------------------------------------------------- */

/* Guards against: a question that kills a program with no handler. */
TEST_F(ask, no_handler)
{
	EXPECT_NE(SIG_ERR, signal(SFA_SIGNAL, SIG_DFL));
	EXPECT_REFUSED("handler");
	EXPECT_NE(SIG_ERR, signal(SFA_SIGNAL, SIG_IGN));
	EXPECT_REFUSED("handler");
	ASSERT_EQ(0, sfa_handle(SFA_SIGNAL, SA_ONSTACK));
	EXPECT_ASKED();
}

/* Guards against: the same after SA_RESETHAND has removed the handler. */
TEST_F(ask, handler_that_is_reset)
{
	ASSERT_EQ(0, sfa_handle(SFA_SIGNAL, SA_ONSTACK | SA_RESETHAND));
	EXPECT_ASKED();
	EXPECT_REFUSED("handler");
	EXPECT_REFUSED("handler");
}

/* Guards against: checking the handler of another signal. */
TEST_F(ask, handler_of_another_signal)
{
	ASSERT_EQ(0, sfa_on(SFA_SIGNAL - 1, 0));
	EXPECT_REFUSED("handler");
	ASSERT_EQ(0, sfa_on(SFA_SIGNAL - 2, 0));
	EXPECT_REFUSED("handler");
	ASSERT_EQ(0, sfa_handle(SFA_SIGNAL - 2, SA_ONSTACK));
	EXPECT_ASKED();
}

static void set_blocked(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SFA_SIGNAL);
	sigprocmask(how, &set, NULL);
}

/* Guards against: a blocked question that is delivered too late. */
TEST_F(ask, blocked)
{
	sigset_t pending;

	set_blocked(SIG_BLOCK);
	EXPECT_REFUSED("blocked");
	ASSERT_EQ(0, sigpending(&pending));
	EXPECT_EQ(0, sigismember(&pending, SFA_SIGNAL));
	set_blocked(SIG_UNBLOCK);
	EXPECT_EQ(0, sfa_me.handled);
	EXPECT_ASKED();
}

/* Guards against: not asking because other signals are blocked. */
TEST_F(ask, others_blocked)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SFA_SIGNAL);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &set, NULL));
	EXPECT_ASKED();
}

/* ---- Stacks ---------------------------------------------------------- */

static bool was_on_stack;

static void say_where(struct sfa_thread *me)
{
	was_on_stack = sfa_on_stack();
	sfa_say_frames(me);
}

/* Guards against: a signal frame that overflows the thread's own stack. */
TEST_F(ask, no_alternate_stack)
{
	sfa_me.answer = say_where;
	ASSERT_EQ(0, sfa_set_stack(SS_DISABLE));
	EXPECT_REFUSED("stack");
	ASSERT_EQ(0, sfa_on(SFA_SIGNAL, UNWIND_ASSIST_ANY_STACK));
	EXPECT_ASKED();
	EXPECT_FALSE(was_on_stack);

	ASSERT_EQ(0, sfa_set_stack(0));
	EXPECT_ASKED();
	EXPECT_TRUE(was_on_stack);
	ASSERT_EQ(0, sfa_on(SFA_SIGNAL, 0));
	EXPECT_ASKED();
	EXPECT_TRUE(was_on_stack);
}

/* Guards against: the same if the handler lacks SA_ONSTACK. */
TEST_F(ask, handler_without_the_alternate_stack)
{
	sfa_me.answer = say_where;
	ASSERT_EQ(0, sfa_handle(SFA_SIGNAL, 0));
	EXPECT_REFUSED("stack");
	ASSERT_EQ(0, sfa_on(SFA_SIGNAL, UNWIND_ASSIST_ANY_STACK));
	EXPECT_ASKED();
	EXPECT_FALSE(was_on_stack);
}

/* Guards against: a signal that overflows an alternate stack in use. */
TEST_F(ask, on_the_alternate_stack)
{
	EXPECT_REFUSED_AT(sfa_touch_there, "stack");
	EXPECT_ASKED();

	ASSERT_EQ(0, sfa_on(SFA_SIGNAL, UNWIND_ASSIST_ANY_STACK));
	EXPECT_TRUE(sfa_is_marks(sfa_sample_at(&self->perf, sfa_touch_there)));
}

/* In the middle of a mapping: calls may need more than a small stack. */
static int set_small_stack(size_t size)
{
	stack_t stack = { .ss_size = size };
	__u8 *mem = sft_map(64 * SFT_PAGE, SFT_RW);

	if (!mem)
		return -ENOMEM;
	stack.ss_sp = mem + 32 * SFT_PAGE;
	return sigaltstack(&stack, NULL) ? -errno : 0;
}

/* If the kernel accepts such a stack, a child must survive a sample with it. */
static void check_small_stack(struct __test_metadata *_metadata,
			      struct sfa_session *perf, size_t size,
			      unsigned long flags)
{
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		if (set_small_stack(size) || sfa_on(SFA_SIGNAL, flags) ||
		    sfa_event_open(&perf->event))
			_exit(0);
		/* On s390 the first access to a copied page faults. */
		sfa_touch();
		EXPECT_NE(NULL, sfa_sample(perf));
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status)
		TH_LOG("%zu bytes, flags %lu", size, flags);
}

/* Guards against: a question that kills a program with a small signal stack. */
TEST_F(ask, small_alternate_stacks)
{
	static const size_t sizes[] = { 2048, 2560, 3072, 4096, 5120, 8192 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_small_stack(_metadata, &self->perf, sizes[i], 0);
		check_small_stack(_metadata, &self->perf, sizes[i],
				  UNWIND_ASSIST_ANY_STACK);
	}
}

static struct sfa_session *current_perf;

static void refused_here(int signal, siginfo_t *info, void *context)
{
	struct __test_metadata *_metadata = sfa_me.data;

	EXPECT_TRUE(sfa_on_stack());
	check_refused(_metadata, current_perf, sfa_touch, "stack");
}

/* Guards against: taking a disarmed stack in use for a free one. */
TEST_F(ask, disarmed_stack)
{
	/* Without SA_SIGINFO, s390 does not save the stack in the frame. */
	struct sigaction action = {
		.sa_sigaction = refused_here,
		.sa_flags = SA_ONSTACK | SA_SIGINFO,
	};

	current_perf = &self->perf;
	ASSERT_EQ(0, sfa_set_stack(SS_AUTODISARM));
	EXPECT_ASKED();
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, raise(SIGUSR1));
	EXPECT_ASKED();
}

/* ---- In the handler -------------------------------------------------- */

static void touch_after_answering(struct sfa_thread *me)
{
	sfa_say_frames(me);
	sfa_touch_here();
}

/* Sample once, with samples in the handler. */
static int sample_nested(struct sfa_session *perf)
{
	sfa_enable(&perf->event);
	sfa_touch();
	sfa_disable(&perf->event);
	return sfa_session_read(perf);
}

/* Guards against: asking again in the handler of a question. */
TEST_F(ask, in_the_handler)
{
	struct sfa_log *log = self->perf.log;
	const struct sfa_counts before = sfa_counts();

	sfa_me.answer = touch_after_answering;
	ASSERT_EQ(0, sample_nested(&self->perf));
	EXPECT_EQ(0, sfa_me.ret);
	EXPECT_EQ(1, sfa_me.handled);
	ASSERT_EQ(4, log->nr);
	EXPECT_NE(0, sfa_next(log)->cookie);
	EXPECT_TRUE(sfa_is_marks(sfa_next(log)));
	EXPECT_NE(0, sfa_next(log)->cookie);
	EXPECT_TRUE(sfa_is_walk(sfa_next(log)));
	EXPECT_TRUE(sfa_counted(&before, "asked answered blocked"));
}

/* Guards against: the same where the signal is not blocked. */
TEST_F(ask, in_a_handler_that_is_not_blocked)
{
	const struct sfa_counts before = sfa_counts();

	ASSERT_EQ(0, sfa_handle(SFA_SIGNAL, SA_ONSTACK | SA_NODEFER));
	sfa_me.answer = touch_after_answering;
	ASSERT_EQ(0, sample_nested(&self->perf));
	EXPECT_EQ(1, sfa_me.handled);
	ASSERT_EQ(4, self->perf.log->nr);
	EXPECT_TRUE(sfa_counted(&before, "asked answered stack"));
}

#define DEPTH	4

static void touch_down(struct sfa_thread *me)
{
	sfa_say_frames(me);
	if (me->handled < DEPTH)
		sfa_touch_here();
}

/* Guards against: a question that stays open after its answer. */
TEST_F(ask, questions_in_handlers_of_questions)
{
	struct sfa_log *log = self->perf.log;
	const struct sfa_counts before = sfa_counts();
	unsigned int i;

	ASSERT_EQ(0, sfa_handle(SFA_SIGNAL, SA_ONSTACK | SA_NODEFER));
	ASSERT_EQ(0, sfa_on(SFA_SIGNAL, UNWIND_ASSIST_ANY_STACK));
	sfa_me.answer = touch_down;
	ASSERT_EQ(0, sample_nested(&self->perf));
	EXPECT_EQ(DEPTH, sfa_me.handled);
	ASSERT_EQ(2 * DEPTH, log->nr);
	for (i = 0; i < DEPTH; i++) {
		EXPECT_NE(0, sfa_next(log)->cookie);
		EXPECT_TRUE(sfa_is_marks(sfa_next(log)));
	}
	EXPECT_TRUE(sfa_counted(&before, "asked=4 answered=4"));
}

#define NESTED	8

static void touch_before_answering(struct sfa_thread *me)
{
	unsigned int i;

	for (i = 0; i < NESTED; i++)
		sfa_touch();
	sfa_say_frames(me);
}

/* Guards against: a new cookie before the previous one has its stack. */
TEST_F(ask, samples_while_a_question_is_open)
{
	const struct sfa_record *record;
	struct sfa_log *log = self->perf.log;
	struct sfa_counts before;
	unsigned int i;

	sfa_me.answer = touch_before_answering;
	do {
		/* Retry if the answer was late because another task ran. */
		log->next = log->nr;
		before = sfa_counts();
		ASSERT_EQ(0, sample_nested(&self->perf));
	} while (sfa_me.ret == -ESRCH);
	EXPECT_EQ(0, sfa_me.ret);
	ASSERT_EQ(NESTED + 2, log->nr - log->next);
	EXPECT_NE(0, sfa_next(log)->cookie);
	for (i = 0; i < NESTED; i++)
		EXPECT_TRUE(sfa_is_direct(sfa_next(log)));
	record = sfa_next(log);
	EXPECT_TRUE(sfa_is_marks(record));
	EXPECT_TRUE(sfa_counted(&before, "asked answered busy=8"));
}

static sigjmp_buf jump;

static void jump_away(struct sfa_thread *me)
{
	siglongjmp(jump, 1);
}

static void answer_and_jump_away(struct sfa_thread *me)
{
	sfa_say_frames(me);
	siglongjmp(jump, 1);
}

static void touch_and_jump(void)
{
	if (!sigsetjmp(jump, 1))
		sfa_touch();
	sfa_me.depth = 0;
}

/* Guards against: never asking again after a jump out of the handler. */
TEST_F(ask, jump_out_of_the_handler)
{
	struct sfa_log *log = self->perf.log;
	struct sfa_counts before = sfa_counts();
	const struct sfa_record *record;

	sfa_me.answer = answer_and_jump_away;
	EXPECT_TRUE(sfa_is_marks(sfa_sample_at(&self->perf, touch_and_jump)));
	EXPECT_TRUE(sfa_counted(&before, "asked answered"));

	/* This one stays open until it is late and another sample comes. */
	before = sfa_counts();
	sfa_me.answer = jump_away;
	sfa_enable(&self->perf.event);
	touch_and_jump();
	sfa_wait_ms(SFA_LATE_MS);
	sfa_touch();
	sfa_disable(&self->perf.event);
	ASSERT_EQ(0, sfa_session_read(&self->perf));
	record = sfa_next(log);
	ASSERT_NE(NULL, record);
	EXPECT_NE(0, record->cookie);
	EXPECT_TRUE(sfa_is_direct(sfa_next(log)));
	EXPECT_TRUE(sfa_is_walk(sfa_next(log)));
	EXPECT_TRUE(sfa_counted(&before, "asked busy late"));
	EXPECT_EQ(2, sfa_me.handled);

	sfa_me.answer = sfa_say_frames;
	EXPECT_ASKED();
}

/* ---- Limits ---------------------------------------------------------- */

/* Guards against: a signal without token if the queue is full. */
TEST_F(ask, no_room_in_the_queue_of_signals)
{
	struct rlimit limit, none;

	ASSERT_EQ(0, getrlimit(RLIMIT_SIGPENDING, &limit));
	none = limit;
	none.rlim_cur = 0;
	ASSERT_EQ(0, setrlimit(RLIMIT_SIGPENDING, &none));
	EXPECT_REFUSED("queue");
	ASSERT_EQ(0, setrlimit(RLIMIT_SIGPENDING, &limit));
	EXPECT_ASKED();
}

/* ---- Debuggers ------------------------------------------------------- */

/* Trace @pid and pass on all of its signals. */
static void trace(pid_t pid, int ready)
{
	int status;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0) || write(ready, "", 1) != 1)
		_exit(1);
	while (waitpid(pid, &status, __WALL) == pid)
		ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status));
	_exit(0);
}

/* Start a child that traces this process until it is killed. */
static pid_t start_tracer(void)
{
	const pid_t parent = getpid();
	int ready[2];
	pid_t child;
	char byte;

	if (pipe(ready))
		return -1;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	child = fork();
	if (!child)
		trace(parent, ready[1]);
	close(ready[1]);
	if (child > 0 && read(ready[0], &byte, 1) != 1)
		child = -1;
	close(ready[0]);
	return child;
}

/* Guards against: samples that stop the program in its debugger. */
TEST_F(ask, traced)
{
	pid_t tracer;

	EXPECT_ASKED();
	tracer = start_tracer();
	ASSERT_LT(0, tracer);
	EXPECT_REFUSED("traced");
	EXPECT_REFUSED("traced");
	ASSERT_EQ(0, kill(tracer, SIGKILL));
	ASSERT_EQ(tracer, waitpid(tracer, NULL, 0));
	EXPECT_ASKED();
}

/* ---- Filters of system calls ----------------------------------------- */

static int add_filter(unsigned int flags)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K,
					    SECCOMP_RET_ALLOW);
	const struct sock_fprog program = { .len = 1, .filter = &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program))
		return -errno;
	return 0;
}

static void check_refused_then_on(struct __test_metadata *_metadata,
				  struct sfa_session *perf)
{
	check_refused(_metadata, perf, sfa_touch, "seccomp");
	ASSERT_EQ(0, sfa_on(SFA_SIGNAL, 0));
	check_asked(_metadata, perf);
}

/* Guards against: asking after new filters, which may kill the handler. */
TEST_F(ask, filters)
{
	unsigned int i;

	EXPECT_ASKED();
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, add_filter(0));
		check_refused_then_on(_metadata, &self->perf);
	}
}

static void *add_filter_for_all(void *arg)
{
	return (void *)(long)add_filter(SECCOMP_FILTER_FLAG_TSYNC);
}

/* Guards against: the same if another thread adds the filter. */
TEST_F(ask, filters_of_another_thread)
{
	pthread_t thread;
	void *ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, add_filter_for_all, NULL));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	ASSERT_EQ(NULL, ret);
	check_refused_then_on(_metadata, &self->perf);
}

/* Run @check in a child with its own event; its failures fail the test. */
static void sampled_child(struct __test_metadata *_metadata,
			  void (*check)(struct __test_metadata *_metadata,
					struct sfa_session *perf))
{
	struct sfa_session perf = { .log = &sample_log };
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		memset(perf.log, 0, sizeof(*perf.log));
		EXPECT_EQ(0, sfa_prepare());
		EXPECT_EQ(0, sfa_event_open(&perf.event));
		check(_metadata, &perf);
		EXPECT_TRUE(sfa_log_right(perf.log));
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* Guards against: a child that trusts filters its parent added after ON. */
TEST_F(ask, filters_of_the_parent)
{
	sampled_child(_metadata, check_asked);
	ASSERT_EQ(0, add_filter(0));
	sampled_child(_metadata, check_refused_then_on);
	check_refused_then_on(_metadata, &self->perf);
	sampled_child(_metadata, check_asked);
}

/* ---- System calls that are signals ------------------------------------ */

#ifdef __x86_64__
/* Guards against: asking although the handler's system calls raise SIGSYS. */
TEST_F(ask, system_calls_are_dispatched)
{
	/* 0 allows all system calls for now. */
	static __u8 selector;

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0,
		  &selector))
		SKIP(return, "kernel without CONFIG_SYSCALL_USER_DISPATCH");
	EXPECT_REFUSED("dispatch");
	ASSERT_EQ(0, prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF,
			   0, 0, 0));
	EXPECT_ASKED();
}
#endif

/* ---- Other signals --------------------------------------------------- */

static unsigned int nr_traps;

static void count_trap(int signal)
{
	nr_traps++;
}

static struct sft_event trap;

/* SIGTRAP at each page fault, sent by task work as questions are. */
static int open_trap(void)
{
	struct sigaction action = { .sa_handler = count_trap };
	struct perf_event_attr attr;

	if (sigaction(SIGTRAP, &action, NULL))
		return -errno;
	sfa_attr_init(&attr);
	/* Events of the same kind share their callchains. */
	attr.sample_type &= ~PERF_SAMPLE_CALLCHAIN;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	return sft_event_open(&trap, &attr);
}

static void touch_and_trap(void)
{
	sfa_enable(&trap);
	sfa_touch();
	sfa_disable(&trap);
}

/*
 * Guards against: asking while another signal is pending, whose handler would
 * run first. The event opened last counts first, and its task work runs last.
 */
TEST_F(ask, another_signal_comes)
{
	struct sfa_session last = { .log = &second_log };

	ASSERT_EQ(0, open_trap());
	EXPECT_REFUSED_AT(touch_and_trap, "restart");
	EXPECT_EQ(1, nr_traps);

	ASSERT_EQ(0, sfa_event_open(&last.event));
	check_refused(_metadata, &last, touch_and_trap, "pending");
	EXPECT_EQ(2, nr_traps);
	sft_event_close(&last.event);
	sft_event_close(&trap);
	EXPECT_ASKED();
}

/*
 * Guards against: the same during the step over a probe's breakpoint, which
 * hides pending signals. The sample is from before the step.
 */
TEST_F(ask, instruction_behind_a_probe)
{
	struct sfa_session probe = { .log = &second_log };
	struct perf_event_attr attr;

	sfa_attr_init(&attr);
	if (!sft_probe_at(&attr, sft_touch_load))
		SKIP(return, "kernel without CONFIG_UPROBE_EVENTS");
	ASSERT_EQ(0, sft_event_open(&probe.event, &attr));
	check_refused(_metadata, &probe, sfa_touch, "pending");
	sft_event_close(&probe.event);
	EXPECT_ASKED();
}

/**
 * struct in_between - a signal that is handled before that of a question
 * @thread:	thread that is asked
 * @leave:	called by the handler: stops listening to SFA_SIGNAL
 * @trigger:	event that sends SIGUSR1 when the thread generates a signal
 * @beside:	the handler also raises SFA_SIGNAL
 * @now:	the thread is about to be sampled: send SIGUSR1
 * @end:	stop sending
 * @found:	the handler ran while a question was pending
 * @waits:	SFA_SIGNAL was still pending after @leave
 * @ret:	result of @leave
 */
static struct in_between {
	pid_t	thread;
	int	(*leave)(void);
	int	trigger;
	bool	beside, now, end, found, waits;
	int	ret;
} in_between;

static bool question_waits(void)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, SFA_SIGNAL);
}

/* Handler of SIGUSR1, with all signals blocked. */
static void leave_if_asked(int signal)
{
	if (in_between.found || !question_waits())
		return;
	in_between.found = true;
	sfa_me.handled = 0;
	if (in_between.beside)
		raise(SFA_SIGNAL);
	in_between.ret = in_between.leave();
	in_between.waits = question_waits();
}

#define LONGEST_DELAY	10000
/* Longer than anything takes on a busy machine. */
#define HANGS_MS	600000
#define SIGNAL_EVENT_ID	\
	"/sys/kernel/tracing/events/signal/signal_generate/id"

/* Each time, wait a little longer before the signal. */
static void *send_for_ever(void *arg)
{
	unsigned int delay = 0, i;

	while (!__atomic_load_n(&in_between.end, __ATOMIC_RELAXED)) {
		if (!__atomic_exchange_n(&in_between.now, false,
					 __ATOMIC_ACQUIRE)) {
			sched_yield();
			continue;
		}
		for (i = 0; i < delay; i++)
			asm volatile("");
		syscall(__NR_tgkill, getpid(), in_between.thread, SIGUSR1);
		delay = (delay + 20) % LONGEST_DELAY;
	}
	return NULL;
}

/*
 * Send SIGUSR1 after each signal that this thread generates, including that of
 * a question. This needs a machine that can interrupt itself; elsewhere only
 * send_for_ever() hits the right moment, by chance.
 */
static int open_trigger(void)
{
	const struct f_owner_ex owner = { F_OWNER_TID, gettid() };
	struct perf_event_attr attr;
	int fd;

	sft_attr_init(&attr, PERF_TYPE_TRACEPOINT, false);
	attr.config = sft_read_number(SIGNAL_EVENT_ID);
	fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1,
		     PERF_FLAG_FD_CLOEXEC);
	fcntl(fd, F_SETOWN_EX, &owner);
	fcntl(fd, F_SETSIG, SIGUSR1);
	fcntl(fd, F_SETFL, O_ASYNC);
	return fd;
}

static void sample_many(struct sfa_session *perf)
{
	unsigned int i;

	sfa_enable(&perf->event);
	for (i = 0; i < 32 && !in_between.found; i++) {
		__atomic_store_n(&in_between.now, true, __ATOMIC_RELEASE);
		ioctl(in_between.trigger, PERF_EVENT_IOC_REFRESH, 1);
		sfa_touch();
	}
	sfa_disable(&perf->event);
}

/* Sample until SIGUSR1 comes right after a question. */
static void sample_until_found(struct __test_metadata *_metadata,
			       struct sfa_session *perf)
{
	const __u64 end = sfa_now_ms() + HANGS_MS;

	while (!in_between.found && sfa_now_ms() < end) {
		memset(perf->log, 0, sizeof(*perf->log));
		sample_many(perf);
		ASSERT_EQ(0, sfa_session_read(perf));
		ASSERT_TRUE(sfa_log_right(perf->log));
	}
	EXPECT_TRUE(in_between.found);
}

static int use_another_signal(void)
{
	return sfa_on(SFA_SIGNAL - 1, 0);
}

static void leave_in_between(struct __test_metadata *_metadata,
			     struct sfa_session *perf, int (*leave)(void),
			     bool beside)
{
	pthread_t sender;

	in_between = (struct in_between) {
		.thread = gettid(), .leave = leave, .beside = beside,
		.trigger = open_trigger(),
	};
	ASSERT_EQ(0, sfa_on(SFA_SIGNAL, 0));
	ASSERT_EQ(0, pthread_create(&sender, NULL, send_for_ever, NULL));
	sample_until_found(_metadata, perf);
	__atomic_store_n(&in_between.end, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(sender, NULL));
	close(in_between.trigger);
	EXPECT_EQ(0, in_between.ret);
	EXPECT_EQ(beside, in_between.waits);
	EXPECT_EQ(beside, sfa_me.handled);
	if (beside)
		EXPECT_EQ(SI_TKILL, sfa_me.info.si_code);
}

/*
 * Guards against: a question still queued after OFF or a change of signal, or
 * its removal dropping the same signal from another sender.
 */
TEST_F(ask, left_before_the_question_comes)
{
	struct sigaction action = {
		.sa_handler = leave_if_asked, .sa_flags = SA_RESTART,
	};

	sigfillset(&action.sa_mask);
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	leave_in_between(_metadata, &self->perf, sfa_off, false);
	leave_in_between(_metadata, &self->perf, sfa_off, true);
	leave_in_between(_metadata, &self->perf, use_another_signal, false);
	self->perf.log->next = self->perf.log->nr;
	ASSERT_EQ(0, sfa_on(SFA_SIGNAL, 0));
	EXPECT_ASKED();
}

/* ---- Restartable sequences ------------------------------------------- */

#ifdef HAVE_RSEQ
/* Guards against: a walk that starts at the rseq abort handler. */
TEST_F(ask, restartable_sequence)
{
	static struct rseq_cs section;
	const struct sfa_counts before = sfa_counts();
	struct rseq *rseq = (void *)((char *)__builtin_thread_pointer() +
				     __rseq_offset);
	__u64 *current_section = (__u64 *)&rseq->rseq_cs;

	if (!__rseq_size)
		SKIP(return, "restartable sequences are not registered");
	section.start_ip = (uintptr_t)sft_touch_load;
	section.post_commit_offset = sft_touch_loaded - sft_touch_load;
	section.abort_ip = (uintptr_t)sft_touch_abort;
	sfa_me.answer = sfa_say_native;

	sfa_enable(&self->perf.event);
	__atomic_store_n(current_section, (uintptr_t)&section,
			 __ATOMIC_RELEASE);
	sfa_touch();
	__atomic_store_n(current_section, 0, __ATOMIC_RELEASE);
	sfa_disable(&self->perf.event);
	EXPECT_TRUE(sfa_is_walk(sfa_next_pair(&self->perf)));
	EXPECT_EQ((uintptr_t)sft_touch_abort, sfa_me.pc);
	EXPECT_TRUE(sfa_counted(&before, "asked native"));
}
#endif

/* ---- More events ----------------------------------------------------- */

/* Sample once with two events. */
static void sample_both(struct sft_event *first, struct sft_event *second)
{
	sfa_enable(second);
	sfa_enable(first);
	sfa_touch();
	sfa_disable(first);
	sfa_disable(second);
}

/* Guards against: a stack that only one of two sessions gets. */
TEST_F(ask, two_sessions)
{
	const struct sfa_counts before = sfa_counts();
	struct sfa_session second = { .log = &second_log };
	const struct sfa_record *stacks[2];
	__u64 cookie;

	ASSERT_EQ(0, sfa_event_open(&second.event));
	sample_both(&self->perf.event, &second.event);
	stacks[0] = sfa_next_pair(&self->perf);
	stacks[1] = sfa_next_pair(&second);
	EXPECT_TRUE(sfa_is_marks(stacks[0]));
	EXPECT_TRUE(sfa_is_marks(stacks[1]));
	ASSERT_NE(NULL, stacks[0]);
	ASSERT_NE(NULL, stacks[1]);
	cookie = stacks[0]->cookie;
	EXPECT_EQ(cookie, stacks[1]->cookie);
	EXPECT_EQ(1, sfa_me.handled);
	EXPECT_TRUE(sfa_counted(&before, "asked answered"));
	sft_event_close(&second.event);
	EXPECT_ASKED();
}

/* Guards against: a question for an event that does not defer callchains. */
TEST_F(ask, event_whose_callchain_is_not_deferred)
{
	const struct sfa_counts before = sfa_counts();
	struct perf_event_attr attr;
	struct sft_event second;

	sfa_attr_init(&attr);
	/* Events of the same kind share their callchains. */
	attr.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	ASSERT_EQ(0, sft_event_open(&second, &attr));
	sfa_enable(&second);
	sfa_touch();
	sfa_disable(&second);
	EXPECT_EQ(0, sfa_me.handled);
	EXPECT_TRUE(sfa_counted(&before, ""));

	/* The callchain of another event is still deferred. */
	sample_both(&self->perf.event, &second);
	EXPECT_TRUE(sfa_is_marks(sfa_next_pair(&self->perf)));
	EXPECT_TRUE(sfa_counted(&before, "asked answered"));
	ASSERT_EQ(0, sfa_log_read(&second_log, &second));
	ASSERT_EQ(2, second_log.nr);
	EXPECT_TRUE(sfa_is_direct(sfa_next(&second_log)));
	EXPECT_TRUE(sfa_is_direct(sfa_next(&second_log)));
	sft_event_close(&second);
}

/* Guards against: no stacks for an event without samples. */
TEST_F(ask, event_that_only_has_the_stacks)
{
	struct perf_event_attr attr;
	struct sft_event second;

	sfa_attr_init(&attr);
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.defer_callchain = 0;
	ASSERT_EQ(0, sft_event_open(&second, &attr));
	sample_both(&self->perf.event, &second);
	EXPECT_TRUE(sfa_is_marks(sfa_next_pair(&self->perf)));

	second_log.others = true;
	ASSERT_EQ(0, sfa_log_read(&second_log, &second));
	EXPECT_EQ(1, second_log.nr);
	EXPECT_TRUE(sfa_is_marks(sfa_next(&second_log)));
	EXPECT_TRUE(sfa_log_right(&second_log));
	sft_event_close(&second);
}

/* ---- System calls that sleep ----------------------------------------- */

/**
 * struct sleeper - a system call that sleeps
 * @name:	its name
 * @prepare:	called before, or NULL; returns 0 or a negative errno
 * @sleep:	makes the call; returns its result or a negative errno
 * @wake:	wakes it; NULL if it ends by itself
 * @wakes:	number of wake-ups, each while it sleeps
 * @result:	expected result
 * @stops:	SIGSTOP and SIGCONT do not make it return
 */
struct sleeper {
	const char	*name;
	int		(*prepare)(void);
	long		(*sleep)(void);
	void		(*wake)(void);
	unsigned int	wakes;
	long		result;
	bool		stops;
};

/**
 * struct shared - what parent and child both write
 * @futex:	waited for while it is 0
 * @started:	the child is about to make the system call
 * @nap_ms:	length of a sleep that ends by itself
 * @result:	result of the system call
 * @asked:	"asked" of the child
 * @refused:	"restart" of the child
 */
static struct shared {
	int		futex;
	bool		started;
	unsigned int	nap_ms;
	long		result;
	long long	asked, refused;
} *shared;

static int wake_pipe[2], epoll_fd;

static long minus_errno(long ret)
{
	return ret < 0 ? -errno : ret;
}

static long sleep_relative(void)
{
	const struct timespec time = {
		.tv_sec = shared->nap_ms / 1000,
		.tv_nsec = shared->nap_ms % 1000 * 1000000,
	};

	return minus_errno(nanosleep(&time, NULL));
}

static long sleep_until(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec += shared->nap_ms / 1000;
	time.tv_nsec += shared->nap_ms % 1000 * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000;
	}
	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static long do_poll(int timeout)
{
	struct pollfd fd = { .fd = wake_pipe[0], .events = POLLIN };

	return minus_errno(poll(&fd, 1, timeout));
}

static long poll_for_ever(void)
{
	return do_poll(-1);
}

static long poll_for_minutes(void)
{
	return do_poll(600000);
}

static long select_for_minutes(void)
{
	struct timeval time = { .tv_sec = 600 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(wake_pipe[0], &set);
	return minus_errno(select(wake_pipe[0] + 1, &set, NULL, NULL, &time));
}

static long read_byte(void)
{
	char byte;

	return minus_errno(read(wake_pipe[0], &byte, 1));
}

static long wait_for_epoll(void)
{
	struct epoll_event event;

	return minus_errno(epoll_wait(epoll_fd, &event, 1, 600000));
}

static void write_byte(void)
{
	if (write(wake_pipe[1], "", 1) != 1)
		abort();
}

static long do_futex(const struct timespec *time)
{
	return minus_errno(syscall(__NR_futex, &shared->futex, FUTEX_WAIT, 0,
				   time, NULL, 0));
}

static long futex_for_ever(void)
{
	return do_futex(NULL);
}

static long futex_for_minutes(void)
{
	const struct timespec time = { .tv_sec = 600 };

	return do_futex(&time);
}

/* Keep the value: the child may be about to check it again. */
static void wake_futex(void)
{
	const __u64 end = sfa_now_ms() + HANGS_MS;

	while (syscall(__NR_futex, &shared->futex, FUTEX_WAKE, 1, NULL, NULL,
		       0) != 1 && sfa_now_ms() < end)
		sched_yield();
}

/* The parts of <linux/io_uring.h> that are used here. */
struct uring_params {
	__u32	setup[10];
	struct {
		__u32	head, tail, mask, entries, flags, dropped, array;
		__u32	unused;
		__u64	user_addr;
	} sq;
	struct {
		__u32	head, tail, unused[6];
		__u64	user_addr;
	} cq;
};

struct uring_request {
	__u8	opcode, flags;
	__u16	priority;
	__s32	fd;
	__u64	offset, addr;
	__u32	len;
	__u16	poll_events;
	__u8	unused[34];
};

#define URING_REQUESTS	0x10000000
#define URING_POLL	6
#define URING_GETEVENTS	1

/* The two requests poll these for input. */
static int uring_pipes[2][2];

static struct uring_request *requests;
static __u8 *uring;

/* Make a ring for two requests; returns its descriptor. */
static int make_uring(struct uring_params *params)
{
	int fd = syscall(__NR_io_uring_setup, 2, params);

	if (fd < 0)
		return -errno;
	requests = mmap(NULL, SFT_PAGE, SFT_RW, MAP_SHARED, fd,
			URING_REQUESTS);
	uring = mmap(NULL, SFT_PAGE, SFT_RW, MAP_SHARED, fd, 0);
	return requests == MAP_FAILED || uring == MAP_FAILED ? -errno : fd;
}

static void put_requests(const struct uring_params *params)
{
	__u32 *array = (__u32 *)(uring + params->sq.array), i;

	for (i = 0; i < 2; i++) {
		memset(&requests[i], 0, sizeof(requests[i]));
		requests[i].opcode = URING_POLL;
		requests[i].fd = uring_pipes[i][0];
		requests[i].poll_events = POLLIN;
		array[i] = i;
	}
	__atomic_store_n((__u32 *)(uring + params->sq.tail), 2,
			 __ATOMIC_RELEASE);
}

static long enter_uring(int fd, unsigned int submit, unsigned int wait)
{
	return minus_errno(syscall(__NR_io_uring_enter, fd, submit, wait,
				   URING_GETEVENTS, NULL, 0));
}

static struct uring_params uring_params;
static int uring_fd;

static int submit_both(void)
{
	uring_fd = make_uring(&uring_params);
	if (uring_fd < 0)
		return uring_fd;
	put_requests(&uring_params);
	return enter_uring(uring_fd, 2, 0) == 2 ? 0 : -EPROTO;
}

/*
 * The kernel runs task work after the first completion, and keeps waiting for
 * both. If interrupted then, it returns no error: count the completions.
 */
static long wait_for_both(void)
{
	return enter_uring(uring_fd, 0, 2) ?:
	       *(__u32 *)(uring + uring_params.cq.tail) -
	       *(__u32 *)(uring + uring_params.cq.head);
}

static void write_next(void)
{
	static unsigned int next;

	if (write(uring_pipes[next++ % 2][1], "", 1) != 1)
		abort();
}

static const struct sleeper sleepers[] = {
	{ "nanosleep", NULL, sleep_relative, NULL, 0, 0, true },
	{ "clock_nanosleep", NULL, sleep_until, NULL, 0, 0, true },
	{ "poll for ever", NULL, poll_for_ever, write_byte, 1, 1, true },
	{ "poll", NULL, poll_for_minutes, write_byte, 1, 1, true },
	{ "select", NULL, select_for_minutes, write_byte, 1, 1, true },
	{ "read", NULL, read_byte, write_byte, 1, 1, true },
	{ "futex for ever", NULL, futex_for_ever, wake_futex, 1, 0, true },
	{ "futex", NULL, futex_for_minutes, wake_futex, 1, 0, true },
	/* Any stop makes this one return. */
	{ "epoll", NULL, wait_for_epoll, write_byte, 1, 1, false },
};

static int open_switches(struct sft_event *event, pid_t pid)
{
	struct perf_event_attr attr;

	sfa_switches_init(&attr);
	return sft_event_open_of(event, &attr, pid, -1);
}

/*
 * The kernel patches its code when the first event of a kind is opened. QEMU
 * 7.2 may then run the old code for ever on another CPU that is there at that
 * moment, such as the child's. So keep one event open.
 */
static struct sft_event first_of_switches;

static int make_shared(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	shared = mmap(NULL, SFT_PAGE, SFT_RW, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || pipe(wake_pipe))
		return -errno;
	epoll_fd = epoll_create1(0);
	if (epoll_fd < 0 ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_pipe[0], &event))
		return -errno;
	return open_switches(&first_of_switches, 0);
}

/* The state of the process from /proc, or 0. */
static char state_of(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

static void wait_until_asleep(pid_t pid)
{
	char state;

	do {
		sched_yield();
		state = state_of(pid);
	} while (state && state != 'S' && state != 'Z');
}

static void child_sleeps(const struct sleeper *sleeper, int go)
{
	struct sfa_counts counts;
	char byte;

	sfa_prepare();
	if (read(go, &byte, 1) != 1)
		_exit(1);
	if (sleeper->prepare && sleeper->prepare())
		_exit(2);
	__atomic_store_n(&shared->started, true, __ATOMIC_RELEASE);
	shared->result = sleeper->sleep();
	counts = sfa_counts();
	shared->asked = sfa_count(&counts, "asked");
	shared->refused = sfa_count(&counts, "restart");
	_exit(0);
}

/* False if it has ended instead. */
static bool stop_and_continue(pid_t pid, int *status)
{
	kill(pid, SIGSTOP);
	if (waitpid(pid, status, WUNTRACED) != pid || !WIFSTOPPED(*status))
		return false;
	kill(pid, SIGCONT);
	return waitpid(pid, status, WCONTINUED) == pid &&
	       WIFCONTINUED(*status);
}

static bool was_sampled(const struct sfa_log *log)
{
	return log->nr && log->records[log->nr - 1].type == PERF_RECORD_SAMPLE;
}

/*
 * Wait until it sleeps and was sampled when it went to sleep. /proc shows the
 * state earlier: if woken before the sample, it does not sleep.
 */
static int wait_until_sampled(struct sfa_log *log, struct sft_event *event,
			      pid_t pid)
{
	const __u64 end = sfa_now_ms() + HANGS_MS;
	int ret;

	do {
		wait_until_asleep(pid);
		ret = sfa_log_read(log, event);
		if (ret || state_of(pid) == 'Z' || was_sampled(log))
			return ret;
	} while (sfa_now_ms() < end);
	return -ETIMEDOUT;
}

/* Stop it in its system call, then let it end. Returns its status, or -1. */
static int drive_sleeper(struct sfa_log *log, struct sft_event *event,
			 pid_t pid, const struct sleeper *sleeper)
{
	unsigned int i;
	int status = 0;

	for (i = 0; i < 2 && sleeper->stops; i++) {
		wait_until_asleep(pid);
		if (!stop_and_continue(pid, &status))
			return status;
	}
	for (i = 0; i < sleeper->wakes; i++) {
		if (wait_until_sampled(log, event, pid)) {
			kill(pid, SIGKILL);
			break;
		}
		sleeper->wake();
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void wait_until_started(pid_t pid)
{
	while (!__atomic_load_n(&shared->started, __ATOMIC_ACQUIRE) &&
	       state_of(pid) != 'Z')
		sched_yield();
}

/*
 * Sample a child in this system call, in which it may be stopped. The first
 * sample of a stopped child is where it stops, after the check for signals: it
 * is asked only once until it is back in user space.
 */
static void run_sleeper(struct __test_metadata *_metadata,
			struct sfa_log *log, const struct sleeper *sleeper)
{
	struct sft_event event;
	pid_t pid;
	int go[2];

	memset(log, 0, sizeof(*log));
	log->again = true;
	shared->started = false;
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		child_sleeps(sleeper, go[0]);
	ASSERT_EQ(0, open_switches(&event, pid));
	if (!sleeper->stops)
		sfa_enable(&event);
	EXPECT_EQ(1, write(go[1], "", 1));
	wait_until_started(pid);
	if (sleeper->stops) {
		wait_until_asleep(pid);
		sfa_enable(&event);
	}
	EXPECT_EQ(0, drive_sleeper(log, &event, pid, sleeper));
	EXPECT_EQ(0, sfa_log_read(log, &event));
	EXPECT_TRUE(sfa_log_right(log));
	sft_event_close(&event);
	close(go[0]);
	close(go[1]);
}

/* Has it been sampled in the sleep, and stopped there? */
static bool has_slept(const struct sleeper *sleeper)
{
	/* It is asked or refused, depending on when task work runs. */
	if (sleeper->prepare)
		return shared->asked + shared->refused > 0;
	return shared->asked > 0 && (!sleeper->stops || shared->refused > 1);
}

/* A byte left by one sleeper would keep the next one from sleeping. */
static void empty_wake_pipe(struct __test_metadata *_metadata)
{
	char byte;
	int left;

	while (!ioctl(wake_pipe[0], FIONREAD, &left) && left)
		ASSERT_EQ(1, read(wake_pipe[0], &byte, 1));
}

#define MOST_TRIES	500

/*
 * Retry: a sleep may end before it is stopped. The child is not sampled if it
 * is continued or woken before it is scheduled out.
 */
static void check_sleeper(struct __test_metadata *_metadata,
			  struct sfa_log *log, const struct sleeper *sleeper)
{
	unsigned int tries = 0;

	shared->nap_ms = 100;
	do {
		run_sleeper(_metadata, log, sleeper);
		EXPECT_EQ(sleeper->result, shared->result)
			TH_LOG("%s", sleeper->name);
		empty_wake_pipe(_metadata);
		if (shared->nap_ms < 10000)
			shared->nap_ms += shared->nap_ms / 4;
	} while (!has_slept(sleeper) && ++tries < MOST_TRIES);
	EXPECT_TRUE(has_slept(sleeper))
		TH_LOG("%s: asked %lld refused %lld", sleeper->name,
		       shared->asked, shared->refused);
}

/* Guards against: a question that cuts short a sleep that should resume. */
TEST_F(ask, sleeping_system_calls)
{
	unsigned int i;

	ASSERT_EQ(0, make_shared());
	for (i = 0; i < ARRAY_SIZE(sleepers); i++)
		check_sleeper(_metadata, self->perf.log, &sleepers[i]);
}

/* Guards against: a question from task work that runs in a system call. */
TEST_F(ask, io_uring)
{
	static const struct sleeper sleeper = {
		"io_uring", submit_both, wait_for_both, write_next, 2, 2, false
	};
	struct uring_params params = { .setup = { 0 } };
	const int fd = make_uring(&params);

	if (fd < 0)
		SKIP(return, "io_uring is not there");
	close(fd);
	ASSERT_EQ(0, make_shared());
	ASSERT_EQ(0, pipe(uring_pipes[0]));
	ASSERT_EQ(0, pipe(uring_pipes[1]));
	check_sleeper(_metadata, self->perf.log, &sleeper);
}

#ifdef __x86_64__
/* Not a system call, but the result register holds a restart code. */
static void touch_with_result(void)
{
	const long result = -512;	/* ERESTARTSYS of the kernel */

	madvise(sfa_me.page, SFT_PAGE, MADV_DONTNEED_LOCKED);
	asm volatile("movb	(%1), %%cl"
		     : : "a"(result), "r"(sfa_me.page) : "rcx");
}

/* Guards against: a page fault mistaken for a system call that restarts. */
TEST_F(ask, like_an_interrupted_system_call)
{
	const struct sfa_counts before = sfa_counts();

	EXPECT_TRUE(sfa_is_marks(sfa_sample_at(&self->perf,
					       touch_with_result)));
	EXPECT_TRUE(sfa_counted(&before, "asked answered"));
}
#endif

/* ---- Strict mode ----------------------------------------------------- */

/* Returns when the child waits for a byte from @go. */
static pid_t start_child(void (*run)(int go), int go[2])
{
	pid_t pid;

	if (pipe(go))
		return -errno;
	pid = fork();
	if (!pid)
		run(go[0]);
	if (pid < 0)
		return -errno;
	wait_until_asleep(pid);
	return pid;
}

static void child_in_strict_mode(int go)
{
	char byte;

	sfa_prepare();
	mlockall(MCL_CURRENT);
	if (read(go, &byte, 1) != 1)
		_exit(1);
	madvise(sfa_me.page, SFT_PAGE, MADV_DONTNEED_LOCKED);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		_exit(2);
	__atomic_load_n(sfa_me.page, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->started, true, __ATOMIC_RELEASE);
	if (read(go, &byte, 1) != 1)
		syscall(__NR_exit, 3);
	syscall(__NR_exit, 0);
}

/* Guards against: asking in strict mode: no filter, but prctl() kills. */
TEST_F(ask, strict_mode)
{
	struct sfa_log *log = self->perf.log;
	struct perf_event_attr attr;
	struct sfa_counts counts;
	struct sft_event event;
	int go[2], status;
	pid_t pid;

	log->again = true;
	ASSERT_EQ(0, make_shared());
	pid = start_child(child_in_strict_mode, go);
	ASSERT_LT(0, pid);
	sfa_attr_init(&attr);
	ASSERT_EQ(0, sft_event_open_of(&event, &attr, pid, -1));
	sfa_enable(&event);
	EXPECT_EQ(1, write(go[1], "", 1));
	wait_until_started(pid);
	EXPECT_EQ(0, sfa_counts_of(pid, pid, &counts));
	EXPECT_LE(1, sfa_count(&counts, "seccomp"));
	EXPECT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, sfa_log_read(log, &event));
	EXPECT_TRUE(sfa_log_right(log));
	sft_event_close(&event);
	close(go[0]);
	close(go[1]);
}

/* ---- Exit ------------------------------------------------------------ */

static void child_reads(int go)
{
	char byte;

	sfa_prepare();
	if (read(go, &byte, 1) == 1)
		byte = read(wake_pipe[0], &byte, 1);
	_exit(0);
}

/* Guards against: asking a killed thread, which never runs its handler. */
TEST_F(ask, killed)
{
	struct sfa_log *log = self->perf.log;
	const struct sfa_record *last;
	struct sfa_counts counts;
	struct sft_event event;
	siginfo_t info;
	int go[2];
	pid_t pid;

	log->again = true;
	ASSERT_EQ(0, make_shared());
	pid = start_child(child_reads, go);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, open_switches(&event, pid));
	sfa_enable(&event);
	EXPECT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(0, wait_until_sampled(log, &event, pid));
	last = &log->records[log->nr - 1];
	EXPECT_EQ(0, kill(pid, SIGKILL));

	/* Its counts are readable until it is reaped. */
	EXPECT_EQ(0, waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	ASSERT_EQ(0, sfa_counts_of(pid, pid, &counts));
	EXPECT_EQ(1, sfa_count(&counts, "exiting"));
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(0, sfa_log_read(log, &event));
	ASSERT_LT(last, &log->records[log->nr - 1]);
	EXPECT_EQ(PERF_RECORD_CALLCHAIN_DEFERRED, last[1].type);
	EXPECT_EQ(PERF_RECORD_MISC_USER, last[1].misc);
	EXPECT_EQ(last->cookie, last[1].cookie);
	sft_event_close(&event);
}

TEST_HARNESS_MAIN
