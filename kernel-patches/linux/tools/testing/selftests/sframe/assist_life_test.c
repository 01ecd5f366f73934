// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * How threads, fork, exec, exit and changes of events affect threads that opted
 * in, and a question that is open meanwhile.
 */
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "assist_harness.h"

#define CHILD_STACK	(64 * SFT_PAGE)
#define MAX_CPUS	64

FIXTURE(life)
{
	struct sfa_session	perf;
};

FIXTURE_SETUP(life)
{
	if (sfa_missing())
		SKIP(return, "%s", sfa_missing());
	begin_session(_metadata, &self->perf);
}

FIXTURE_TEARDOWN(life)
{
	end_session(_metadata, &self->perf);
}

/* Sample the calling thread with a new event and a separate log. */
static const struct sfa_record *sample_alone(void)
{
	static __thread struct sfa_session perf;
	const struct sfa_record *record;

	if (!perf.log)
		perf.log = sft_map(sizeof(*perf.log), SFT_RW);
	if (!perf.log || sfa_event_open(&perf.event))
		return NULL;
	record = sfa_sample(&perf);
	sft_event_close(&perf.event);
	return record;
}

static void check_asked(struct __test_metadata *_metadata)
{
	const struct sfa_counts before = sfa_counts();
	const unsigned int handled = sfa_me.handled;

	EXPECT_EQ(SFA_SIGNAL, sfa_count(&before, "signal"));
	EXPECT_TRUE(sfa_is_marks(sample_alone()));
	EXPECT_EQ(handled + 1, sfa_me.handled);
	EXPECT_TRUE(sfa_counted(&before, "asked answered"));
	EXPECT_TRUE(sfa_balanced());
}

static void check_off(struct __test_metadata *_metadata)
{
	const struct sfa_counts before = sfa_counts();
	const unsigned int handled = sfa_me.handled;

	EXPECT_EQ(0, sfa_count(&before, "signal"));
	EXPECT_TRUE(sfa_is_walk(sample_alone()));
	EXPECT_EQ(handled, sfa_me.handled);
	EXPECT_TRUE(sfa_counted(&before, ""));
}

/* In a new thread or process, all counts must be 0. */
static void check_nothing_counted(struct __test_metadata *_metadata)
{
	const struct sfa_counts counts = sfa_counts();
	unsigned int i;

	EXPECT_LT(1, counts.nr);
	for (i = 1; i < counts.nr; i++)
		EXPECT_EQ(0, counts.counts[i].nr);
}

static void check_new_and_asked(struct __test_metadata *_metadata)
{
	check_nothing_counted(_metadata);
	EXPECT_EQ(0, sfa_prepare());
	check_asked(_metadata);
}

static void check_new_and_off(struct __test_metadata *_metadata)
{
	check_nothing_counted(_metadata);
	EXPECT_EQ(0, sfa_prepare());
	check_off(_metadata);
}

/* ---- Threads --------------------------------------------------------- */

struct in_thread {
	struct __test_metadata	*metadata;
	void			(*check)(struct __test_metadata *_metadata);
};

static void *thread_checks(void *arg)
{
	const struct in_thread *in = arg;

	in->check(in->metadata);
	return NULL;
}

static void in_thread(struct __test_metadata *_metadata,
		      void (*check)(struct __test_metadata *_metadata))
{
	struct in_thread in = { _metadata, check };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_checks, &in));
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

static void thread_in_thread(struct __test_metadata *_metadata)
{
	check_new_and_asked(_metadata);
	in_thread(_metadata, check_new_and_asked);
	check_asked(_metadata);
}

/* Guards against: not asking threads that start after ON. */
TEST_F(life, threads_inherit)
{
	in_thread(_metadata, check_new_and_asked);
	check_asked(_metadata);
	in_thread(_metadata, thread_in_thread);
	ASSERT_EQ(0, sfa_off());
	in_thread(_metadata, check_new_and_off);
}

static void opt_out(struct __test_metadata *_metadata)
{
	check_new_and_asked(_metadata);
	EXPECT_EQ(0, sfa_off());
	check_off(_metadata);
}

static void opt_in(struct __test_metadata *_metadata)
{
	check_new_and_off(_metadata);
	EXPECT_EQ(0, sfa_on(SFA_SIGNAL, 0));
	check_asked(_metadata);
}

/* Guards against: ON or OFF that affects the whole process. */
TEST_F(life, threads_do_not_affect_each_other)
{
	in_thread(_metadata, opt_out);
	check_asked(_metadata);
	ASSERT_EQ(0, sfa_off());
	in_thread(_metadata, opt_in);
	check_off(_metadata);
}

static void no_stack_but_flag(struct __test_metadata *_metadata)
{
	EXPECT_EQ(0, sfa_prepare());
	EXPECT_EQ(0, sfa_set_stack(SS_DISABLE));
	check_asked(_metadata);
}

/* Guards against: flags of ON that new threads do not inherit. */
TEST_F(life, flags_are_inherited)
{
	ASSERT_EQ(0, sfa_on(SFA_SIGNAL, UNWIND_ASSIST_ANY_STACK));
	in_thread(_metadata, no_stack_but_flag);
}

/* ---- Processes ------------------------------------------------------- */

/* Run @check in a forked child; its failures fail the test. */
static void in_child(struct __test_metadata *_metadata,
		     void (*check)(struct __test_metadata *_metadata))
{
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		check(_metadata);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

static void child_in_child(struct __test_metadata *_metadata)
{
	check_new_and_asked(_metadata);
	in_child(_metadata, check_new_and_asked);
	in_thread(_metadata, check_new_and_asked);
	check_asked(_metadata);
}

/* Guards against: children that share their parent's state, or have none. */
TEST_F(life, fork_inherits)
{
	in_child(_metadata, check_new_and_asked);
	check_asked(_metadata);
	in_child(_metadata, child_in_child);
	in_child(_metadata, opt_out);
	check_asked(_metadata);
	ASSERT_EQ(0, sfa_off());
	in_child(_metadata, check_new_and_off);
	in_child(_metadata, opt_in);
	check_off(_metadata);
}

static struct __test_metadata *test_metadata;

static int child_is_off(void *arg)
{
	check_new_and_off(test_metadata);
	_exit(0);
}

static void in_clone(struct __test_metadata *_metadata, int flags)
{
	void *stack = sft_map(CHILD_STACK, SFT_RW);
	int status;
	pid_t pid;

	ASSERT_NE(NULL, stack);
	test_metadata = _metadata;
	pid = clone(child_is_off, stack + CHILD_STACK, flags | SIGCHLD, NULL);
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	munmap(stack, CHILD_STACK);
	/* The child used the same memory in sfa_prepare(). */
	ASSERT_EQ(0, sfa_set_stack(0));
	sfa_me.handled = 0;
	check_asked(_metadata);
}

/* Guards against: a child's handler that overwrites memory of its parent. */
TEST_F(life, processes_that_share_memory_do_not_inherit)
{
	in_clone(_metadata, CLONE_VM | CLONE_VFORK);
	in_clone(_metadata, CLONE_VM);
	in_clone(_metadata, CLONE_VM | CLONE_SIGHAND | CLONE_FILES | CLONE_FS);
}

/* ---- exec ------------------------------------------------------------ */

/* exec runs this program again, see the constructor below. */
#define EXEC_MARK	"ASSIST_TEST_LOOK"
#define EXEC_STATUS	100

/* Did the new program inherit state of the old one? */
__attribute__((constructor))
static void look_after_exec(void)
{
	struct sfa_counts counts;
	unsigned int i;
	__u64 frame;

	if (!getenv(EXEC_MARK))
		return;
	counts = sfa_counts();
	if (!counts.nr)
		_exit(EXEC_STATUS + 1);
	for (i = 0; i < counts.nr; i++)
		if (counts.counts[i].nr)
			_exit(EXEC_STATUS + 2 + i);
	if (sfa_read(0, &frame, 1) != -EINVAL)
		_exit(EXEC_STATUS + 50);
	/* Opting in again must work. */
	if (sfa_on(SFA_SIGNAL, 0) || sfa_read(0, &frame, 1) != -ESRCH)
		_exit(EXEC_STATUS + 51);
	_exit(EXEC_STATUS);
}

static char *const exec_argv[] = { (char *)"assist_life_test", NULL };
static char *const exec_envp[] = { (char *)EXEC_MARK "=1", NULL };

static void do_exec(void)
{
	execve("/proc/self/exe", exec_argv, exec_envp);
}

static void child_execs(struct __test_metadata *_metadata)
{
	check_new_and_asked(_metadata);
	do_exec();
}

/* Guards against: asking after exec, which kills a program with no handler. */
TEST_F(life, exec_ends_it)
{
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		child_execs(_metadata);
		_exit(1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(EXEC_STATUS, WEXITSTATUS(status));

	ASSERT_EQ(0, posix_spawn(&pid, "/proc/self/exe", NULL, NULL, exec_argv,
				 exec_envp));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(EXEC_STATUS, WEXITSTATUS(status));
	check_asked(_metadata);
}

/* Guards against: a failed exec that opts out. */
TEST_F(life, failed_exec_does_not_end_it)
{
	EXPECT_EQ(-1, execve("/proc/self/exe/none", exec_argv, exec_envp));
	EXPECT_EQ(-1, execve("/proc/self/status", exec_argv, exec_envp));
	check_asked(_metadata);
}

/* ---- A child that is sampled once, from outside ---------------------- */

/**
 * struct subject - a child with one thread that is sampled
 * @answer:	what its handler does
 * @thread:	the thread is not the first one
 * @pid:	the process
 * @tid:	the thread
 * @ready:	pipe to which the thread writes its ID
 * @go:		pipe from which it reads a byte before it is sampled
 * @event:	event of the thread
 * @log:	records of the event
 */
struct subject {
	void			(*answer)(struct sfa_thread *me);
	bool			thread;
	pid_t			pid, tid;
	int			ready[2], go[2];
	struct sft_event	event;
	struct sfa_log		*log;
};

/* The exit status unless the child is killed or calls exec. */
#define SUBJECT_STATUS	7

static void *run_subject(void *arg)
{
	struct subject *subject = arg;
	const pid_t tid = gettid();
	char byte;

	if (sfa_begin())
		_exit(1);
	sfa_me.data = subject;
	sfa_me.answer = subject->answer;
	if (write(subject->ready[1], &tid, sizeof(tid)) != sizeof(tid) ||
	    read(subject->go[0], &byte, 1) != 1)
		_exit(2);
	sfa_touch();
	return NULL;
}

static void child_is_subject(struct subject *subject)
{
	pthread_t thread;

	if (!subject->thread)
		run_subject(subject);
	else if (pthread_create(&thread, NULL, run_subject, subject) ||
		 pthread_join(thread, NULL))
		_exit(3);
	_exit(SUBJECT_STATUS);
}

/* Record its page faults and exec. */
static int open_subject(struct subject *subject)
{
	struct perf_event_attr attr;

	sfa_attr_init(&attr);
	attr.comm = 1;
	attr.comm_exec = 1;
	attr.mmap = 1;
	attr.task = 1;
	return sft_event_open_of(&subject->event, &attr, subject->tid, -1);
}

/* The sample may be taken soon after this returns. */
static int start_subject(struct subject *subject)
{
	int ret;

	subject->log = &sample_log;
	if (pipe(subject->ready) || pipe(subject->go))
		return -errno;
	subject->pid = fork();
	if (!subject->pid)
		child_is_subject(subject);
	if (subject->pid < 0 ||
	    read(subject->ready[0], &subject->tid, sizeof(subject->tid)) !=
	    sizeof(subject->tid))
		return -ESRCH;
	ret = open_subject(subject);
	if (ret)
		return ret;
	sfa_enable(&subject->event);
	return write(subject->go[1], "", 1) == 1 ? 0 : -EIO;
}

/* Wait for its end. Returns its status, or -1. */
static int end_subject(struct subject *subject)
{
	int status;

	if (waitpid(subject->pid, &status, 0) != subject->pid)
		return -1;
	if (sfa_log_read(subject->log, &subject->event))
		return -1;
	sft_event_close(&subject->event);
	close(subject->ready[0]);
	close(subject->ready[1]);
	close(subject->go[0]);
	close(subject->go[1]);
	return status;
}

/* The first two records must be a sample and its stack: returns the stack. */
static const struct sfa_record *subject_pair(struct subject *subject)
{
	const struct sfa_record *sample = sfa_next(subject->log);
	const struct sfa_record *stack = sfa_next(subject->log);

	if (!sample || !stack || sample->type != PERF_RECORD_SAMPLE ||
	    sample->tid != subject->tid || stack->tid != subject->tid ||
	    !sample->cookie || sample->cookie != stack->cookie)
		return NULL;
	return stack;
}

/* Guards against: tests below that pass because nothing is sampled. */
TEST_F(life, subject)
{
	struct subject subject = { .answer = sfa_say_frames };
	int i;

	for (i = 0; i < 2; i++) {
		subject.thread = i;
		ASSERT_EQ(0, start_subject(&subject));
		EXPECT_EQ(SUBJECT_STATUS << 8, end_subject(&subject));
		EXPECT_TRUE(sfa_is_marks(subject_pair(&subject)));
		self->perf.log->next = self->perf.log->nr;
	}
}

static void exec_instead(struct sfa_thread *me)
{
	do_exec();
	_exit(4);
}

/* Is the next COMM or MMAP record that of exec? */
static bool next_is_exec(struct sfa_log *log)
{
	const struct sfa_record *record;

	do {
		record = sfa_next(log);
		if (!record)
			return false;
	} while (record->type != PERF_RECORD_COMM &&
		 record->type != PERF_RECORD_MMAP);
	return record->type == PERF_RECORD_COMM &&
	       record->misc & PERF_RECORD_MISC_COMM_EXEC;
}

/*
 * Guards against: a stack written after exec, when it is looked up in the new
 * program and the thread has taken over the ID of the first one.
 */
TEST_F(life, exec_while_a_question_is_open)
{
	struct subject subject = { .answer = exec_instead };
	int i;

	for (i = 0; i < 2; i++) {
		subject.thread = i;
		ASSERT_EQ(0, start_subject(&subject));
		EXPECT_EQ(EXEC_STATUS << 8, end_subject(&subject));
		EXPECT_EQ(i, subject.tid != subject.pid);
		EXPECT_TRUE(sfa_is_walk(subject_pair(&subject)));
		EXPECT_TRUE(next_is_exec(self->perf.log));
		self->perf.log->next = self->perf.log->nr;
	}
}

/* ---- exit ------------------------------------------------------------ */

static void exit_process(struct sfa_thread *me)
{
	syscall(__NR_exit_group, SUBJECT_STATUS);
}

static void exit_thread(struct sfa_thread *me)
{
	syscall(__NR_exit, SUBJECT_STATUS);
}

static void crash(struct sfa_thread *me)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	raise(SIGABRT);
}

static void wait_for_the_end(struct sfa_thread *me)
{
	struct subject *subject = me->data;

	if (write(subject->ready[1], &subject->tid, sizeof(subject->tid)) < 0)
		_exit(5);
	for (;;)
		pause();
}

/* One event per CPU, which gets the stacks of all tasks. */
static struct sft_event cpu_events[MAX_CPUS];
static struct sfa_log cpu_log;
static unsigned int nr_cpus;

static int open_cpus(void)
{
	struct perf_event_attr attr;
	unsigned int i;
	int ret;

	sfa_attr_init(&attr);
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.defer_callchain = 0;
	attr.disabled = 0;
	/* Without such a bit, it gets no records of tasks. */
	attr.task = 1;
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (nr_cpus > MAX_CPUS)
		nr_cpus = MAX_CPUS;
	for (i = 0; i < nr_cpus; i++) {
		ret = sft_event_open_of(&cpu_events[i], &attr, -1, i);
		if (ret)
			return ret;
	}
	return 0;
}

static int close_cpus(void)
{
	unsigned int i;
	int ret = 0;

	cpu_log.others = true;
	for (i = 0; i < nr_cpus; i++) {
		ret = ret ?: sfa_log_read(&cpu_log, &cpu_events[i]);
		sft_event_close(&cpu_events[i]);
	}
	return ret;
}

/* The stack for this cookie if all CPUs have just one, else NULL. */
static const struct sfa_record *of_all_cpus(__u64 cookie)
{
	const struct sfa_record *record, *found = NULL;

	cpu_log.next = 0;
	while ((record = sfa_next(&cpu_log))) {
		if (record->type != PERF_RECORD_CALLCHAIN_DEFERRED ||
		    record->cookie != cookie)
			continue;
		if (found)
			return NULL;
		found = record;
	}
	return found;
}

struct way_to_end {
	void	(*answer)(struct sfa_thread *me);
	bool	kill;
	int	status;
};

static void check_end(struct __test_metadata *_metadata,
		      struct sfa_log *log, const struct way_to_end *way,
		      bool thread)
{
	struct subject subject = { .answer = way->answer, .thread = thread };
	const struct sfa_record *stack;
	pid_t tid;

	ASSERT_EQ(0, open_cpus());
	ASSERT_EQ(0, start_subject(&subject));
	if (way->kill) {
		EXPECT_EQ(sizeof(tid), read(subject.ready[0], &tid,
					    sizeof(tid)));
		EXPECT_EQ(0, kill(subject.pid, SIGKILL));
	}
	EXPECT_EQ(way->status, end_subject(&subject));
	EXPECT_EQ(0, close_cpus());

	stack = subject_pair(&subject);
	EXPECT_TRUE(sfa_is_walk(stack));
	if (stack)
		EXPECT_TRUE(sfa_is_walk(of_all_cpus(stack->cookie)));
	log->next = log->nr;
}

/* Guards against: a stack lost or freed when the thread exits. */
TEST_F(life, exit_while_a_question_is_open)
{
	static const struct way_to_end ways[] = {
		{ exit_process, false, SUBJECT_STATUS << 8 },
		{ exit_thread, false, SUBJECT_STATUS << 8 },
		{ crash, false, SIGABRT },
		{ wait_for_the_end, true, SIGKILL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		check_end(_metadata, self->perf.log, &ways[i], false);
		check_end(_metadata, self->perf.log, &ways[i], true);
	}
}

static void stop_and_answer(struct sfa_thread *me)
{
	kill(getpid(), SIGSTOP);
	sfa_say_frames(me);
}

/* Guards against: a question lost or given up because of job control. */
TEST_F(life, stopped_while_a_question_is_open)
{
	struct subject subject = { .answer = stop_and_answer };
	int status;

	ASSERT_EQ(0, start_subject(&subject));
	ASSERT_EQ(subject.pid, waitpid(subject.pid, &status, WUNTRACED));
	EXPECT_TRUE(WIFSTOPPED(status));
	sfa_wait_ms(SFA_LATE_MS);
	ASSERT_EQ(0, sfa_log_read(subject.log, &subject.event));
	EXPECT_EQ(1, subject.log->nr);
	ASSERT_EQ(0, kill(subject.pid, SIGCONT));
	EXPECT_EQ(SUBJECT_STATUS << 8, end_subject(&subject));
	EXPECT_TRUE(sfa_is_marks(subject_pair(&subject)));
}

/* ---- fork that fails ------------------------------------------------- */

/* The part of struct clone_args that is used here. */
struct thread_args {
	__u64 flags, pidfd, child_tid, parent_tid, exit_signal, stack,
	      stack_size, tls, set_tid, set_tid_size;
};

#define FAILED_FORKS	3000
/* Growth due to tasks not yet freed, and to the rest of the system. */
#define SLACK_KB	(3 * 1024)
#define SETTLE_SECONDS	600

static long slab_kb(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	long kb = -1;

	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "SUnreclaim: %ld", &kb) != 1)
		;
	if (file)
		fclose(file);
	return kb;
}

/* Request a thread ID that is in use, which clone3() detects late. */
static int failed_clone(void *stack)
{
	const pid_t tid = getpid();
	const struct thread_args args = {
		.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			 CLONE_THREAD | CLONE_SYSVSEM,
		.stack = (uintptr_t)stack, .stack_size = CHILD_STACK,
		.set_tid = (uintptr_t)&tid, .set_tid_size = 1,
	};
	const long ret = syscall(__NR_clone3, &args, sizeof(args));

	/* If it succeeded, the new thread would run on. */
	if (!ret)
		syscall(__NR_exit, 0);
	return ret < 0 ? -errno : 0;
}

static int fail_clones(void *stack)
{
	int i, ret;

	for (i = 0; i < FAILED_FORKS; i++) {
		ret = failed_clone(stack);
		if (ret != -EEXIST)
			return ret ?: -ECHILD;
	}
	return 0;
}

/* Guards against: leaked state, or freeing the parent's state. */
TEST_F(life, failed_fork)
{
	void *stack = sft_map(CHILD_STACK, SFT_RW);
	long before, after;
	int i, ret;

	ASSERT_NE(NULL, stack);
	ret = failed_clone(stack);
	if (ret != -EEXIST)
		SKIP(return, "clone3() does not take thread IDs: %d", ret);
	/* KASAN keeps freed memory up to a limit: reach that first. */
	ASSERT_EQ(0, fail_clones(stack));
	before = slab_kb();
	ASSERT_LT(0, before);
	ASSERT_EQ(0, fail_clones(stack));
	/* Each leak would be more than 4 KiB. */
	for (i = 0; i < SETTLE_SECONDS * 10; i++) {
		after = slab_kb();
		if (after < before + SLACK_KB)
			break;
		sfa_wait_ms(100);
	}
	EXPECT_LT(after, before + SLACK_KB);
	check_asked(_metadata);
}

/* Exceed the user's limit of processes, which fork() detects early. */
static void fork_one_too_many(struct __test_metadata *_metadata)
{
	const struct rlimit one = { 1, 1 };
	int i;

	EXPECT_EQ(0, sfa_prepare());
	ASSERT_EQ(0, setrlimit(RLIMIT_NPROC, &one));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	/* Otherwise root would own the files in /proc. */
	ASSERT_EQ(0, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	for (i = 0; i < 100; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		ASSERT_EQ(-1, pid);
		ASSERT_EQ(EAGAIN, errno);
	}
	check_asked(_metadata);
}

/* Guards against: freeing the parent's state with the child. */
TEST_F(life, failed_fork_of_a_user)
{
	if (getuid())
		SKIP(return, "not root");
	in_child(_metadata, fork_one_too_many);
	check_asked(_metadata);
}

/* ---- While a question is open ---------------------------------------- */

static void opt_out_instead(struct sfa_thread *me)
{
	struct __test_metadata *_metadata = me->data;
	__u64 frame;

	EXPECT_EQ(0, sfa_off());
	EXPECT_EQ(-EINVAL, sfa_read(me->token, &frame, 1));
	EXPECT_EQ(-EINVAL, sfa_answer(me->token, &frame, 1));
	EXPECT_EQ(0, sfa_on(SFA_SIGNAL, 0));
	EXPECT_EQ(-ESRCH, sfa_read(me->token, &frame, 1));
	me->ret = sfa_answer(me->token, NULL, 0);
}

/* Guards against: OFF that loses the stack of the open question. */
TEST_F(life, off_while_a_question_is_open)
{
	struct sfa_counts before = sfa_counts();

	sfa_me.answer = opt_out_instead;
	EXPECT_TRUE(sfa_is_walk(sfa_sample(&self->perf)));
	EXPECT_EQ(-ESRCH, sfa_me.ret);
	EXPECT_TRUE(sfa_counted(&before, "asked settled"));
	sfa_me.answer = sfa_say_frames;
	check_asked(_metadata);
}

static struct sft_event *to_close;

static void close_and_answer(struct sfa_thread *me)
{
	sft_event_close(to_close);
	sfa_say_frames(me);
}

/* Guards against: a stack written to a closed event, or to the next one. */
TEST_F(life, event_is_closed_while_a_question_is_open)
{
	const struct sfa_counts before = sfa_counts();
	struct sft_event event;
	int i;

	to_close = &event;
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, sfa_event_open(&event));
		sfa_me.answer = close_and_answer;
		sfa_enable(&event);
		sfa_touch();
		EXPECT_EQ(0, sfa_me.ret);
		sfa_me.answer = sfa_say_frames;
		EXPECT_TRUE(sfa_is_marks(sfa_sample(&self->perf)));
	}
	EXPECT_TRUE(sfa_counted(&before, "asked=6 answered=6"));
}

/* Guards against: a question that cannot be answered without its event. */
TEST_F(life, event_is_closed_and_nothing_said)
{
	struct sft_event event;
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, sfa_event_open(&event));
		sfa_me.answer = NULL;
		sfa_enable(&event);
		sfa_touch();
		sft_event_close(&event);
		EXPECT_EQ(4, sfa_read(sfa_me.token, NULL, 0));
		EXPECT_EQ(0, sfa_answer(sfa_me.token, sfa_marks, 3));
		sfa_me.answer = sfa_say_frames;
		EXPECT_TRUE(sfa_is_marks(sfa_sample(&self->perf)));
	}
}

static unsigned int other_cpu;

static void migrate_and_answer(struct sfa_thread *me)
{
	sft_run_on(other_cpu);
	sfa_say_frames(me);
}

/* Two CPUs that this thread may run on. */
static bool find_cpus(unsigned int *cpus)
{
	unsigned int i, nr = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return false;
	for (i = 0; i < CPU_SETSIZE && nr < 2; i++)
		if (CPU_ISSET(i, &set))
			cpus[nr++] = i;
	return nr == 2;
}

/* Guards against: taking the stack's cookie from the thread's new CPU. */
TEST_F(life, thread_moves_while_a_question_is_open)
{
	unsigned int cpus[2], i;

	if (!find_cpus(cpus))
		SKIP(return, "only one CPU");
	sfa_me.answer = migrate_and_answer;
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, sft_run_on(cpus[i % 2]));
		other_cpu = cpus[1 - i % 2];
		EXPECT_TRUE(sfa_is_marks(sfa_sample(&self->perf)));
		EXPECT_EQ(0, sfa_me.ret);
	}
}

/* Guards against: the same with one event per CPU, as perf opens them. */
TEST_F(life, thread_moves_between_events)
{
	static struct sfa_log logs[2] = { { .others = true }, { .nr = 0 } };
	const struct sfa_record *sample, *stack;
	struct perf_event_attr attr;
	struct sft_event events[2];
	unsigned int cpus[2], i;

	if (!find_cpus(cpus))
		SKIP(return, "only one CPU");
	sfa_attr_init(&attr);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, sft_event_open_on(&events[i], &attr, cpus[i]));
	ASSERT_EQ(0, sft_run_on(cpus[0]));
	other_cpu = cpus[1];
	sfa_me.answer = migrate_and_answer;
	sfa_enable(&events[0]);
	sfa_enable(&events[1]);
	sfa_touch();
	sfa_disable(&events[0]);
	sfa_disable(&events[1]);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, sfa_log_read(&logs[i], &events[i]));
		ASSERT_EQ(1, logs[i].nr);
		sft_event_close(&events[i]);
	}
	sample = sfa_next(&logs[0]);
	stack = sfa_next(&logs[1]);
	EXPECT_NE(0, sample->cookie);
	EXPECT_EQ(sample->cookie, stack->cookie);
	EXPECT_TRUE(sfa_is_marks(stack));
}

/* Guards against: never asking again, or stacks withheld for ever. */
TEST_F(life, question_is_given_up)
{
	struct sfa_counts before;
	const struct sfa_record *first;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		before = sfa_counts();
		sfa_me.answer = NULL;
		sfa_enable(&self->perf.event);
		sfa_touch();
		sfa_wait_ms(SFA_LATE_MS);
		/* A refused sample makes the kernel give up the first one. */
		sfa_touch();
		sfa_disable(&self->perf.event);
		EXPECT_EQ(-ESRCH, sfa_answer(sfa_me.token, sfa_marks, 3));
		ASSERT_EQ(0, sfa_session_read(&self->perf));
		ASSERT_EQ(3, self->perf.log->nr - self->perf.log->next);
		first = sfa_next(self->perf.log);
		EXPECT_NE(0, first->cookie);
		EXPECT_TRUE(sfa_is_direct(sfa_next(self->perf.log)));
		EXPECT_TRUE(sfa_is_walk(sfa_next(self->perf.log)));
		EXPECT_TRUE(sfa_counted(&before, "asked busy late"));
		sfa_me.answer = sfa_say_frames;
		check_asked(_metadata);
	}
}

/* ---- Whatever a program may do --------------------------------------- */

static __u32 seed;

static __u32 random_below(__u32 limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % limit;
}

static __u64 random_frames[UNWIND_ASSIST_MAX_FRAMES + 2];
static __u8 *no_page;

static unsigned long random_number(void)
{
	static const unsigned long numbers[] = {
		0, 1, 2, 3, 4, 5, 17, SFA_SIGNAL, SFA_FIRST_SIGNAL, 509, 510,
		511, 4096, 1UL << 31, 1UL << 32, 1UL << 61, -1UL,
	};

	return numbers[random_below(ARRAY_SIZE(numbers))];
}

static void *random_buffer(void)
{
	switch (random_below(8)) {
	case 0:
		return NULL;
	case 1:
		return no_page;
	case 2:
		return no_page - 8;
	case 3:
		return (void *)-8L;
	default:
		return random_frames;
	}
}

static __u64 random_token(void)
{
	return sfa_me.token + (random_below(4) ? 0 : random_below(3) - 1);
}

/* Mostly short, so that all records fit. */
static unsigned long random_nr(void)
{
	return random_below(8) ? random_below(12) : random_number();
}

static void random_call(void)
{
	switch (random_below(16)) {
	case 0:
		sfa_off();
		break;
	case 1:
		sfa_on(random_number(), random_number());
		break;
	case 2:
		prctl(PR_UNWIND_ASSIST, random_number(), random_number(),
		      random_number(), random_number());
		break;
	case 3:
	case 4:
		sfa_on(SFA_SIGNAL, random_below(2));
		break;
	case 5:
	case 6:
	case 7:
	case 8:
		sfa_read(random_token(), random_buffer(), random_nr());
		memset(random_frames, 0x11 * random_below(8),
		       sizeof(random_frames));
		break;
	default:
		sfa_answer(random_token(), random_buffer(), random_nr());
		break;
	}
}

static void answer_anything(struct sfa_thread *me)
{
	unsigned int nr = random_below(4);

	while (nr--)
		random_call();
}

#define RANDOM_ROUNDS	1500

/* Guards against: bugs in combinations of calls that no other test makes. */
TEST_F(life, random_calls)
{
	unsigned int i, j;

	no_page = sft_map(2 * SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, no_page);
	no_page += SFT_PAGE;
	ASSERT_EQ(0, mprotect(no_page, SFT_PAGE, PROT_NONE));
	seed = getpid();
	sfa_me.answer = answer_anything;
	for (i = 0; i < RANDOM_ROUNDS; i++) {
		sfa_enable(&self->perf.event);
		sfa_touch();
		for (j = random_below(20); j; j--)
			random_call();
		if (!random_below(50))
			sfa_wait_ms(SFA_LATE_MS);
		sfa_disable(&self->perf.event);
		ASSERT_EQ(0, sfa_session_read(&self->perf))
			TH_LOG("seed %d", getpid());
	}

	/* OFF gives out a stack, which a disabled event would not get. */
	sfa_enable(&self->perf.event);
	EXPECT_EQ(0, sfa_off());
	sfa_disable(&self->perf.event);
	EXPECT_TRUE(sfa_balanced());
	EXPECT_LT(RANDOM_ROUNDS / 10, sfa_me.handled)
		TH_LOG("seed %d", getpid());

	sfa_me.answer = sfa_say_frames;
	EXPECT_EQ(0, sfa_on(SFA_SIGNAL, 0));
	check_asked(_metadata);
}

/* ---- Samples anywhere ------------------------------------------------ */

#define STORM_THREADS	3
#define STORM_QUESTIONS	150

/* Answer with no frames, not at all, too late, or with frames, in turn. */
static void answer_in_turn(struct sfa_thread *me)
{
	switch (me->handled % 8) {
	case 0:
		sfa_say_native(me);
		break;
	case 1:
		return;
	case 2:
		sfa_wait_ms(SFA_LATE_MS);
		sfa_say_frames(me);
		break;
	default:
		sfa_say_frames(me);
		break;
	}
}

static void storm(struct __test_metadata *_metadata)
{
	struct sfa_log *log = sft_map(sizeof(*log), SFT_RW);
	struct perf_event_attr attr;
	struct sft_event event;

	ASSERT_NE(NULL, log);
	sfa_attr_init(&attr);
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = 500000;
	ASSERT_EQ(0, sfa_begin());
	ASSERT_EQ(0, sft_event_open(&event, &attr));
	sfa_me.answer = answer_in_turn;
	sfa_enable(&event);
	/* Reading the records is sampled, too. */
	while (sfa_me.handled < STORM_QUESTIONS &&
	       log->nr < SFA_MAX_RECORDS / 2)
		ASSERT_EQ(0, sfa_log_read(log, &event));
	EXPECT_EQ(0, sfa_off());
	sfa_disable(&event);
	EXPECT_EQ(0, sfa_log_read(log, &event));
	EXPECT_TRUE(sfa_log_right(log));
	EXPECT_TRUE(sfa_balanced());
	EXPECT_LE(STORM_QUESTIONS / 10, sfa_me.handled);
	sft_event_close(&event);
}

/* Guards against: races that only interrupts at any instruction show. */
TEST_F(life, samples_anywhere)
{
	struct in_thread in = { _metadata, storm };
	pthread_t threads[STORM_THREADS];
	unsigned int i;

	for (i = 0; i < STORM_THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, thread_checks,
					    &in));
	for (i = 0; i < STORM_THREADS; i++)
		ASSERT_EQ(0, pthread_join(threads[i], NULL));
}

TEST_HARNESS_MAIN
