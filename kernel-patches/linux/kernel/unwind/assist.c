// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred call chains with the help of the program.
 *
 * A signal asks a thread that opted in for its stack. The kernel withholds its
 * own walk until the program answers. At most one question is open. While it
 * is, requests are refused, so that a tracer sees one stack for each cookie
 * before it sees the thread's next cookie. Each question gives out one stack:
 * the program's answer or the kernel's walk.
 *
 * All of this runs in the thread itself, so there are no locks. Only
 * __unwind_assist_busy() may interrupt it, even from NMI, and only
 * unwind_assist_cancel() runs in other threads.
 */
#include <linux/compat.h>
#include <linux/ptrace.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/unwind_assist.h>
#include <linux/unwind_deferred.h>
#include <linux/unwind_user.h>
#include <linux/uprobes.h>

#include <asm/syscall.h>

/* After this, a refused request makes the kernel give out its own walk. */
#define UNWIND_ASSIST_PATIENCE_NS	(10 * NSEC_PER_MSEC)

/* Outcomes of requests and questions. */
enum unwind_assist_count {
	UNWIND_ASSIST_ASKED,
	UNWIND_ASSIST_ANSWERED,		/* with frames */
	UNWIND_ASSIST_NATIVE,		/* without frames */
	UNWIND_ASSIST_LATE,		/* no answer in time */
	UNWIND_ASSIST_SETTLED,		/* by exit, exec or OFF */
	UNWIND_ASSIST_BUSY,		/* request refused, a question is open */

	/* Why the program was not asked. */
	UNWIND_ASSIST_EXITING,
	UNWIND_ASSIST_HANDLER,		/* no handler */
	UNWIND_ASSIST_BLOCKED,
	UNWIND_ASSIST_STACK,		/* none, in use, or too small */
	UNWIND_ASSIST_QUEUE,		/* signal queue is full */
	UNWIND_ASSIST_TRACED,
	UNWIND_ASSIST_SECCOMP,		/* filters were added */
	UNWIND_ASSIST_DISPATCH,		/* syscall user dispatch is on */
	UNWIND_ASSIST_RESTART,		/* syscall restart, or other work */
	UNWIND_ASSIST_PENDING,		/* another signal, or a uprobe step */

	UNWIND_ASSIST_NR_COUNTS,
};

/* Names in /proc/<pid>/unwind_assist. */
static const char *const unwind_assist_names[UNWIND_ASSIST_NR_COUNTS] = {
	[UNWIND_ASSIST_ASKED]		= "asked",
	[UNWIND_ASSIST_ANSWERED]	= "answered",
	[UNWIND_ASSIST_NATIVE]		= "native",
	[UNWIND_ASSIST_LATE]		= "late",
	[UNWIND_ASSIST_SETTLED]		= "settled",
	[UNWIND_ASSIST_BUSY]		= "busy",
	[UNWIND_ASSIST_EXITING]		= "exiting",
	[UNWIND_ASSIST_HANDLER]		= "handler",
	[UNWIND_ASSIST_BLOCKED]		= "blocked",
	[UNWIND_ASSIST_STACK]		= "stack",
	[UNWIND_ASSIST_QUEUE]		= "queue",
	[UNWIND_ASSIST_TRACED]		= "traced",
	[UNWIND_ASSIST_SECCOMP]		= "seccomp",
	[UNWIND_ASSIST_DISPATCH]	= "dispatch",
	[UNWIND_ASSIST_RESTART]		= "restart",
	[UNWIND_ASSIST_PENDING]		= "pending",
};

enum {
	UNWIND_ASSIST_OPEN,		/* a question is open */
	UNWIND_ASSIST_GIVING_UP,	/* the task work is queued */
};

/**
 * struct unwind_assist - state of a thread that has ever opted in
 * @signal:	signal to ask with; 0 after the thread has opted out
 * @flags:	UNWIND_ASSIST_* of PR_UNWIND_ASSIST_ON
 * @seccomp:	filters and mode when it opted in
 * @state:	bits UNWIND_ASSIST_OPEN and _GIVING_UP
 * @token:	of the last question. Each thread starts at a random value, so
 *		that tokens of other threads do not match
 * @cookie:	the tracers' cookie of the stack. It contains the CPU, so the
 *		program must not see it
 * @asked:	time of the question, by ktime_get_mono_fast_ns()
 * @work:	gives out the kernel's walk when the answer is late
 * @cache:	the kernel's walk; swapped with the cache of the task to avoid
 *		a copy
 * @counts:	by enum unwind_assist_count
 */
struct unwind_assist {
	int			signal;
	unsigned long		flags;
	u64			seccomp;
	unsigned long		state;
	u64			token;
	u64			cookie;
	u64			asked;
	struct callback_head	work;
	struct unwind_cache	*cache;
	atomic_long_t		counts[UNWIND_ASSIST_NR_COUNTS];
};

static void unwind_assist_count(struct unwind_assist *assist,
				enum unwind_assist_count count)
{
	atomic_long_inc(&assist->counts[count]);
}

static bool unwind_assist_open(struct unwind_assist *assist)
{
	return test_bit(UNWIND_ASSIST_OPEN, &assist->state);
}

/*
 * Keep the question open until the stack is given out: a sample in between
 * must not get a cookie.
 */
static void unwind_assist_settle(struct unwind_assist *assist,
				 struct unwind_stacktrace *trace,
				 enum unwind_assist_count count)
{
	unwind_deferred_emit_withheld(trace, assist->cookie);
	unwind_assist_count(assist, count);
	/* Pairs with program order in an interrupt on this CPU. */
	barrier();
	clear_bit(UNWIND_ASSIST_OPEN, &assist->state);
}

static void unwind_assist_settle_native(struct unwind_assist *assist,
					enum unwind_assist_count count)
{
	struct unwind_stacktrace trace = {
		.nr		= assist->cache->nr_entries,
		.entries	= assist->cache->entries,
	};

	unwind_assist_settle(assist, &trace, count);
}

static void unwind_assist_give_up(struct callback_head *work)
{
	struct unwind_assist *assist = container_of(work, struct unwind_assist,
						    work);

	clear_bit(UNWIND_ASSIST_GIVING_UP, &assist->state);
	/* The program may have answered since, and been asked again. */
	if (unwind_assist_open(assist) &&
	    ktime_get_mono_fast_ns() - assist->asked > UNWIND_ASSIST_PATIENCE_NS)
		unwind_assist_settle_native(assist, UNWIND_ASSIST_LATE);
}

bool __unwind_assist_busy(struct unwind_assist *assist)
{
	if (!unwind_assist_open(assist))
		return false;

	unwind_assist_count(assist, UNWIND_ASSIST_BUSY);
	if (ktime_get_mono_fast_ns() - assist->asked <= UNWIND_ASSIST_PATIENCE_NS ||
	    test_and_set_bit(UNWIND_ASSIST_GIVING_UP, &assist->state))
		return true;

	if (task_work_add(current, &assist->work,
			  in_nmi() ? TWA_NMI_CURRENT : TWA_RESUME))
		clear_bit(UNWIND_ASSIST_GIVING_UP, &assist->state);
	return true;
}

/* A new filter may forbid prctl() or another system call of the handler. */
static u64 unwind_assist_seccomp(void)
{
#ifdef CONFIG_SECCOMP
	return (u64)current->seccomp.mode << 32 |
	       atomic_read(&current->seccomp.filter_count);
#else
	return 0;
#endif
}

/* System calls of the handler would send SIGSYS to the program. */
static bool unwind_assist_dispatched(void)
{
#ifdef CONFIG_SYSCALL_USER_DISPATCH
	return test_syscall_work(SYSCALL_USER_DISPATCH);
#else
	return false;
#endif
}

/*
 * The handler of another signal might run first, and change stack and mask.
 * While uprobes steps over a breakpoint, it defers all signals and clears
 * TIF_SIGPENDING, so pending ones do not show.
 */
static bool unwind_assist_pending(void)
{
#ifdef CONFIG_UPROBES
	if (current->utask && current->utask->active_uprobe)
		return true;
#endif
	return signal_pending(current);
}

/*
 * A handler would cut short a sleep that is to resume: the system call returned
 * a restart code or, if signals were already checked, is about to run again.
 *
 * The system call may also be in progress. io_uring runs task work while it
 * waits, and signal delivery runs it before it checks the result. Both leave
 * TIF_NOTIFY_RESUME set. KVM clears it: KVM_RUN returns, as for any signal.
 *
 * @more task work may sleep like a system call: close() with SO_LINGER.
 */
static bool unwind_assist_restarts(struct pt_regs *regs, bool more)
{
	if (more || unwind_user_at_syscall(regs) ||
	    test_thread_flag(TIF_NOTIFY_RESUME))
		return true;
	if (syscall_get_nr(current, regs) != -1) {
		switch (syscall_get_error(current, regs)) {
		case -ERESTARTSYS:
		case -ERESTARTNOINTR:
		case -ERESTARTNOHAND:
		case -ERESTART_RESTARTBLOCK:
			return true;
		}
	}
	return false;
}

/*
 * A signal may not fit on a stack that is in use, or on an alternate stack that
 * was set up when signal frames were smaller, which sigaltstack() permits.
 */
static bool unwind_assist_has_stack(struct unwind_assist *assist,
				    const struct k_sigaction *action,
				    struct pt_regs *regs)
{
	if (action->sa.sa_flags & SA_ONSTACK &&
	    !sas_ss_flags(user_stack_pointer(regs)))
		return current->sas_ss_size >=
		       unwind_user_sigframe_size() + MINSIGSTKSZ;
	return assist->flags & UNWIND_ASSIST_ANY_STACK;
}

/* Called with @sighand locked. Returns the count to increment. */
static enum unwind_assist_count
unwind_assist_signal(struct unwind_assist *assist, struct pt_regs *regs,
		     const struct sighand_struct *sighand)
{
	const struct k_sigaction *action =
		&sighand->action[assist->signal - 1];
	struct kernel_siginfo info;

	/* The default action ends the program. */
	if (action->sa.sa_handler == SIG_DFL ||
	    action->sa.sa_handler == SIG_IGN)
		return UNWIND_ASSIST_HANDLER;
	if (sigismember(&current->blocked, assist->signal))
		return UNWIND_ASSIST_BLOCKED;
	if (!unwind_assist_has_stack(assist, action, regs))
		return UNWIND_ASSIST_STACK;

	clear_siginfo(&info);
	info.si_signo = assist->signal;
	info.si_code = SI_KERNEL;
	info.si_ptr = (void __user *)(unsigned long)(assist->token + 1);
	if (send_signal_locked(assist->signal, &info, current, PIDTYPE_PID))
		return UNWIND_ASSIST_QUEUE;
	return UNWIND_ASSIST_ASKED;
}

static enum unwind_assist_count unwind_assist_ask(struct unwind_assist *assist,
						  bool more)
{
	struct pt_regs *regs = task_pt_regs(current);
	enum unwind_assist_count count;
	struct sighand_struct *sighand;
	unsigned long flags;

	if (current->flags & PF_EXITING || fatal_signal_pending(current))
		return UNWIND_ASSIST_EXITING;
	/* The debugger would see a signal that the program never sends. */
	if (current->ptrace)
		return UNWIND_ASSIST_TRACED;
	if (unwind_assist_seccomp() != assist->seccomp)
		return UNWIND_ASSIST_SECCOMP;
	if (unwind_assist_dispatched())
		return UNWIND_ASSIST_DISPATCH;
	if (unwind_assist_restarts(regs, more))
		return UNWIND_ASSIST_RESTART;
	if (unwind_assist_pending())
		return UNWIND_ASSIST_PENDING;

	sighand = lock_task_sighand(current, &flags);
	if (!sighand)
		return UNWIND_ASSIST_EXITING;
	count = unwind_assist_signal(assist, regs, sighand);
	unlock_task_sighand(current, &flags);
	return count;
}

/* A request that comes before the question opens gets its stack at once. */
static void unwind_assist_hold(struct unwind_task_info *info,
			       unsigned long bits)
{
	struct unwind_cache *walk = info->cache, *cache = info->assist->cache;
	unsigned long mask;

	cache->nr_entries = 0;
	cache->unwind_completed = READ_ONCE(walk->unwind_completed) | bits;
	info->assist->cache = walk;
	WRITE_ONCE(info->cache, cache);
	atomic_long_set(&info->withheld, bits);

	/*
	 * Pairs with unwind_assist_cancel(). The walk may have slept: if a
	 * tracer was cancelled meanwhile, its bit may soon be reused.
	 */
	smp_mb();
	mask = atomic_long_read(&info->unwind_mask);
	atomic_long_and(mask, &info->withheld);
	set_mask_bits(&cache->unwind_completed, ~mask, 0);
}

bool __unwind_assist_withhold(struct unwind_task_info *info,
			      unsigned long bits, bool more)
{
	struct unwind_assist *assist = info->assist;
	enum unwind_assist_count count;

	/* This request may have come just before the question was opened. */
	if (!assist->signal || unwind_assist_open(assist) || !info->cache)
		return false;

	count = unwind_assist_ask(assist, more);
	unwind_assist_count(assist, count);
	if (count != UNWIND_ASSIST_ASKED)
		return false;

	assist->token++;
	assist->cookie = info->id.id;
	assist->asked = ktime_get_mono_fast_ns();
	unwind_assist_hold(info, bits);
	barrier();
	set_bit(UNWIND_ASSIST_OPEN, &assist->state);
	return true;
}

static struct unwind_assist *unwind_assist_alloc(void)
{
	struct unwind_assist *assist;

	BUILD_BUG_ON(UNWIND_ASSIST_MAX_FRAMES != UNWIND_MAX_ENTRIES);

	assist = kzalloc_obj(*assist, GFP_KERNEL_ACCOUNT);
	if (!assist)
		return NULL;
	assist->cache = kzalloc_flex(*assist->cache, entries,
				     UNWIND_MAX_ENTRIES, GFP_KERNEL_ACCOUNT);
	if (!assist->cache) {
		kfree(assist);
		return NULL;
	}
	init_task_work(&assist->work, unwind_assist_give_up);
	assist->token = get_random_u64();
	return assist;
}

/* A vfork() child runs on its parent's stack; do not ask it. */
static bool unwind_assist_inherits(struct task_struct *child, u64 clone_flags)
{
	if (child->flags & (PF_KTHREAD | PF_USER_WORKER | PF_IO_WORKER))
		return false;
	return clone_flags & CLONE_THREAD || !(clone_flags & CLONE_VM);
}

int __unwind_assist_fork(struct task_struct *child, u64 clone_flags)
{
	const struct unwind_assist *parent = current->unwind_info.assist;
	struct unwind_assist *assist;

	if (!parent->signal || !unwind_assist_inherits(child, clone_flags))
		return 0;

	assist = unwind_assist_alloc();
	if (!assist)
		return -ENOMEM;
	assist->signal = parent->signal;
	assist->flags = parent->flags;
	assist->seccomp = parent->seccomp;
	child->unwind_info.assist = assist;
	return 0;
}

void __unwind_assist_free(struct task_struct *task)
{
	kfree(task->unwind_info.assist->cache);
	kfree(task->unwind_info.assist);
	task->unwind_info.assist = NULL;
}

static struct sigqueue *unwind_assist_queued(struct unwind_assist *assist)
{
	struct sigqueue *q;

	list_for_each_entry(q, &current->pending.list, list) {
		if (q->info.si_code == SI_KERNEL &&
		    (unsigned long)q->info.si_ptr == assist->token)
			return q;
	}
	return NULL;
}

/*
 * The handler of another signal may run first and block this one. Remove it:
 * later, perhaps after execve(), it may have no handler. Return: was it queued?
 */
static bool unwind_assist_unqueue(struct unwind_assist *assist)
{
	struct sigqueue *q, *other;
	struct sigpending dropped;
	unsigned long flags;
	bool waited;

	init_sigpending(&dropped);
	if (!lock_task_sighand(current, &flags))
		return false;
	q = unwind_assist_queued(assist);
	waited = q;
	if (q) {
		list_move(&q->list, &dropped.list);
		sigdelset(&current->pending.signal, q->info.si_signo);
		list_for_each_entry(other, &current->pending.list, list) {
			if (other->info.si_signo == q->info.si_signo)
				sigaddset(&current->pending.signal,
					  q->info.si_signo);
		}
		recalc_sigpending();
	}
	unlock_task_sighand(current, &flags);
	flush_sigqueue(&dropped);
	return waited;
}

static void unwind_assist_settle_open(struct unwind_assist *assist)
{
	if (unwind_assist_open(assist))
		unwind_assist_settle_native(assist, UNWIND_ASSIST_SETTLED);
}

static void unwind_assist_off(struct unwind_assist *assist)
{
	WRITE_ONCE(assist->signal, 0);
	unwind_assist_unqueue(assist);
	unwind_assist_settle_open(assist);
}

void __unwind_assist_exit(struct unwind_assist *assist)
{
	unwind_assist_off(assist);
}

void __unwind_assist_exec(struct unwind_assist *assist)
{
	unsigned int i;

	unwind_assist_off(assist);
	for (i = 0; i < UNWIND_ASSIST_NR_COUNTS; i++)
		atomic_long_set(&assist->counts[i], 0);
}

static int unwind_assist_prctl_on(unsigned long signal, unsigned long flags)
{
	struct unwind_task_info *info = &current->unwind_info;
	struct unwind_assist *assist = info->assist;

	if (signal < SIGRTMIN || signal > SIGRTMAX)
		return -EINVAL;
	if (flags & ~UNWIND_ASSIST_ANY_STACK)
		return -EINVAL;
	/* Frames have 64 bits, and a token does not fit in a compat siginfo. */
	if (in_compat_syscall())
		return -EOPNOTSUPP;

	if (!assist) {
		assist = unwind_assist_alloc();
		if (!assist)
			return -ENOMEM;
		/* Pairs with unwind_assist_show(). */
		smp_store_release(&info->assist, assist);
	}
	/* If the old signal is still queued, its handler will never see it. */
	if (assist->signal != signal && unwind_assist_unqueue(assist))
		unwind_assist_settle_open(assist);
	assist->flags = flags;
	assist->seccomp = unwind_assist_seccomp();
	WRITE_ONCE(assist->signal, signal);
	return 0;
}

static int unwind_assist_prctl_read(struct unwind_assist *assist,
				    u64 __user *frames, unsigned long nr)
{
	const struct unwind_cache *cache = assist->cache;

	BUILD_BUG_ON(sizeof(*cache->entries) != sizeof(*frames));

	nr = min_t(unsigned long, nr, cache->nr_entries);
	if (copy_to_user(frames, cache->entries, nr * sizeof(*frames)))
		return -EFAULT;
	return cache->nr_entries;
}

/* Other values would pass for kernel addresses or context markers. */
static bool unwind_assist_valid(const unsigned long *frames, unsigned long nr)
{
	while (nr--) {
		if (frames[nr] >= TASK_SIZE_MAX)
			return false;
	}
	return true;
}

static int unwind_assist_prctl_answer(struct unwind_assist *assist,
				      const u64 __user *uframes,
				      unsigned long nr)
{
	struct unwind_stacktrace trace = {
		.nr		= nr,
		.assisted	= true,
	};
	unsigned long *frames __free(kfree) = NULL;

	if (!nr) {
		unwind_assist_settle_native(assist, UNWIND_ASSIST_NATIVE);
		return 0;
	}
	if (nr > UNWIND_ASSIST_MAX_FRAMES)
		return -E2BIG;

	frames = kmalloc_array(nr, sizeof(*frames), GFP_KERNEL_ACCOUNT);
	if (!frames)
		return -ENOMEM;
	if (copy_from_user(frames, uframes, nr * sizeof(*frames)))
		return -EFAULT;
	if (!unwind_assist_valid(frames, nr))
		return -ERANGE;

	trace.entries = frames;
	unwind_assist_settle(assist, &trace, UNWIND_ASSIST_ANSWERED);
	return 0;
}

static int unwind_assist_prctl_frames(unsigned long op, u64 token,
				      void __user *frames, unsigned long nr)
{
	struct unwind_assist *assist = current->unwind_info.assist;

	if (!assist || !assist->signal)
		return -EINVAL;
	if (!unwind_assist_open(assist) || token != assist->token)
		return -ESRCH;

	return op == PR_UNWIND_ASSIST_READ ?
	       unwind_assist_prctl_read(assist, frames, nr) :
	       unwind_assist_prctl_answer(assist, frames, nr);
}

int unwind_assist_prctl(unsigned long op, unsigned long arg3,
			unsigned long arg4, unsigned long arg5)
{
	struct unwind_assist *assist = current->unwind_info.assist;

	switch (op) {
	case PR_UNWIND_ASSIST_ON:
		if (arg5)
			return -EINVAL;
		return unwind_assist_prctl_on(arg3, arg4);
	case PR_UNWIND_ASSIST_OFF:
		if (arg3 || arg4 || arg5)
			return -EINVAL;
		if (assist)
			unwind_assist_off(assist);
		return 0;
	case PR_UNWIND_ASSIST_READ:
	case PR_UNWIND_ASSIST_ANSWER:
		return unwind_assist_prctl_frames(op, arg3,
						  (void __user *)arg4, arg5);
	default:
		return -EINVAL;
	}
}

void unwind_assist_show(struct seq_file *m, struct task_struct *task)
{
	struct unwind_assist *assist;
	unsigned int i;

	/* Pairs with PR_UNWIND_ASSIST_ON. It stays until @task is freed. */
	assist = smp_load_acquire(&task->unwind_info.assist);
	seq_printf(m, "signal %d\n", assist ? READ_ONCE(assist->signal) : 0);
	for (i = 0; i < UNWIND_ASSIST_NR_COUNTS; i++)
		seq_printf(m, "%s %ld\n", unwind_assist_names[i], assist ?
			   atomic_long_read(&assist->counts[i]) : 0);
}
