/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred call chains with the help of the program.
 */
#ifndef _LINUX_UNWIND_ASSIST_H
#define _LINUX_UNWIND_ASSIST_H

#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/unwind_deferred_types.h>
#include <uapi/linux/unwind_assist.h>

struct seq_file;

#ifdef CONFIG_UNWIND_ASSIST

bool __unwind_assist_withhold(struct unwind_task_info *info,
			      unsigned long bits, bool more);
bool __unwind_assist_busy(struct unwind_assist *assist);
int __unwind_assist_fork(struct task_struct *child, u64 clone_flags);
void __unwind_assist_exit(struct unwind_assist *assist);
void __unwind_assist_exec(struct unwind_assist *assist);
void __unwind_assist_free(struct task_struct *task);
int unwind_assist_prctl(unsigned long op, unsigned long arg3,
			unsigned long arg4, unsigned long arg5);
void unwind_assist_show(struct seq_file *m, struct task_struct *task);

/* In deferred.c: gives out a withheld stack. */
void unwind_deferred_emit_withheld(struct unwind_stacktrace *trace, u64 cookie);

/**
 * unwind_assist_withhold - Ask the program for its stack
 * @info: of the current task, about to return to user space; its cache has the
 *	kernel's walk
 * @bits: callbacks that want the stack
 * @more: more task work follows
 *
 * Return: true if it asks. The callbacks then get the answer or the walk later.
 */
static __always_inline bool
unwind_assist_withhold(struct unwind_task_info *info, unsigned long bits,
		       bool more)
{
	return unlikely(info->assist) &&
	       __unwind_assist_withhold(info, bits, more);
}

/**
 * unwind_assist_busy - Is the program being asked for a stack?
 * @info: of the current task
 *
 * If the answer is late, this also queues task work that gives out the kernel's
 * own walk.
 * Context: any, also NMI.
 */
static __always_inline bool unwind_assist_busy(struct unwind_task_info *info)
{
	return unlikely(info->assist) && __unwind_assist_busy(info->assist);
}

/* The tracer with @bit, already cleared in @task, no longer wants the stack. */
static inline void unwind_assist_cancel(struct task_struct *task, int bit)
{
	/* Pairs with unwind_assist_hold(): one sees the other's store. */
	smp_mb__after_atomic();
	atomic_long_andnot(BIT(bit), &task->unwind_info.withheld);
}

static inline int unwind_assist_fork(struct task_struct *child, u64 clone_flags)
{
	return unlikely(current->unwind_info.assist) ?
	       __unwind_assist_fork(child, clone_flags) : 0;
}

/* The current task exits. Call this before its perf events go away. */
static inline void unwind_assist_exit(void)
{
	if (unlikely(current->unwind_info.assist))
		__unwind_assist_exit(current->unwind_info.assist);
}

/* The current task execs. Call this while it has its threads and thread ID. */
static inline void unwind_assist_exec(void)
{
	if (unlikely(current->unwind_info.assist))
		__unwind_assist_exec(current->unwind_info.assist);
}

/* No one else can access @task. */
static inline void unwind_assist_free(struct task_struct *task)
{
	if (unlikely(task->unwind_info.assist))
		__unwind_assist_free(task);
}

#else /* !CONFIG_UNWIND_ASSIST */

static inline bool unwind_assist_withhold(struct unwind_task_info *info,
					  unsigned long bits, bool more)
{ return false; }

static inline bool unwind_assist_busy(struct unwind_task_info *info)
{ return false; }

static inline void unwind_assist_cancel(struct task_struct *task, int bit) {}

static inline int unwind_assist_fork(struct task_struct *child, u64 clone_flags)
{ return 0; }

static inline void unwind_assist_exit(void) {}
static inline void unwind_assist_exec(void) {}
static inline void unwind_assist_free(struct task_struct *task) {}

static inline int unwind_assist_prctl(unsigned long op, unsigned long arg3,
				      unsigned long arg4, unsigned long arg5)
{ return -EINVAL; }

#endif /* !CONFIG_UNWIND_ASSIST */

#endif /* _LINUX_UNWIND_ASSIST_H */
