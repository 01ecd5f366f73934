/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SFrame windows of a user address space.
 */
#ifndef _LINUX_SFRAME_H
#define _LINUX_SFRAME_H

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/mm_types.h>
#include <linux/types.h>
#include <uapi/linux/sframe.h>

struct perf_callchain_entry_ctx;
struct pt_regs;
struct seq_operations;
struct sframe_registry;
struct unwind_user_state;

/* Maximum number of steps in one sframe_steps(). */
#define SFRAME_STEPS	32U

#ifdef CONFIG_UNWIND_USER_SFRAME

static inline void sframe_mm_init(struct mm_struct *mm)
{
	mm->sframe = NULL;
}

bool __sframe_mm_has_windows(struct mm_struct *mm);
void __sframe_mm_free(struct mm_struct *mm);
void __sframe_mm_dup(struct mm_struct *mm, struct mm_struct *oldmm);
void __sframe_munmap(struct mm_struct *mm, unsigned long start,
		     unsigned long end);

/* Can a walk of this address space meet a window? */
static inline bool sframe_mm_has_windows(struct mm_struct *mm)
{
	return unlikely(READ_ONCE(mm->sframe)) && __sframe_mm_has_windows(mm);
}

#ifdef CONFIG_UNWIND_USER_SFRAME_FILES
extern atomic_t sframe_nr_file_sets;

/* May files have tables? */
static inline bool sframe_has_files(void)
{
	return unlikely(atomic_read(&sframe_nr_file_sets));
}
#else
static inline bool sframe_has_files(void)
{
	return false;
}
#endif

/* Can a walk of this address space meet a window, or a table of a file? */
static inline bool sframe_mm_has_tables(struct mm_struct *mm)
{
	return sframe_mm_has_windows(mm) || sframe_has_files();
}

/* The last user of @mm is gone. */
static inline void sframe_mm_free(struct mm_struct *mm)
{
	if (unlikely(mm->sframe))
		__sframe_mm_free(mm);
}

/*
 * Copy the windows. Called with both mmap locks held for write. If an
 * allocation fails, the child has no windows.
 */
static inline void sframe_mm_dup(struct mm_struct *mm, struct mm_struct *oldmm)
{
	if (sframe_mm_has_windows(oldmm))
		__sframe_mm_dup(mm, oldmm);
}

/*
 * Drop each window with text in [start, end). Cannot fail, as the mapping is
 * gone. The text of a JIT may be writable and so not counted in exec_vm, so
 * every munmap has to call this. It costs one load without a registry.
 */
static inline void sframe_munmap(struct mm_struct *mm, unsigned long start,
				 unsigned long end)
{
	if (sframe_mm_has_windows(mm))
		__sframe_munmap(mm, start, end);
}

bool sframe_walk_init(struct unwind_user_state *state, unsigned int frames,
		      bool sample);
int sframe_step(struct unwind_user_state *state);
unsigned int sframe_steps(struct unwind_user_state *state, unsigned long *ips,
			  unsigned int max);
void sframe_refused(struct unwind_user_state *state);
void sframe_fallback_refused(struct unwind_user_state *state);

int sframe_prctl_register(unsigned long key, unsigned long addr,
			  unsigned long len, unsigned long opts);
int sframe_prctl_unregister(unsigned long key, unsigned long arg3,
			    unsigned long arg4, unsigned long arg5);
int sframe_prctl_query(unsigned long what, unsigned long arg3,
		       unsigned long arg4, unsigned long arg5);
int sframe_prctl_files(unsigned long arg2, unsigned long arg3,
		       unsigned long arg4, unsigned long arg5);
int sframe_files_open(void);

#else /* !CONFIG_UNWIND_USER_SFRAME */

static inline void sframe_mm_init(struct mm_struct *mm)
{
}

static inline void sframe_mm_free(struct mm_struct *mm)
{
}

static inline void sframe_mm_dup(struct mm_struct *mm, struct mm_struct *oldmm)
{
}

static inline void sframe_munmap(struct mm_struct *mm, unsigned long start,
				 unsigned long end)
{
}

static inline bool sframe_mm_has_windows(struct mm_struct *mm)
{
	return false;
}

static inline bool sframe_mm_has_tables(struct mm_struct *mm)
{
	return false;
}

static inline bool sframe_walk_init(struct unwind_user_state *state,
				    unsigned int frames, bool sample)
{
	return false;
}

static inline int sframe_step(struct unwind_user_state *state)
{
	return -ENOENT;
}

static inline unsigned int
sframe_steps(struct unwind_user_state *state, unsigned long *ips,
	     unsigned int max)
{
	return 0;
}

static inline void sframe_refused(struct unwind_user_state *state)
{
}

static inline void sframe_fallback_refused(struct unwind_user_state *state)
{
}

static inline int sframe_prctl_register(unsigned long key, unsigned long addr,
					unsigned long len, unsigned long opts)
{
	return -EINVAL;
}

static inline int sframe_prctl_unregister(unsigned long key,
					  unsigned long arg3,
					  unsigned long arg4,
					  unsigned long arg5)
{
	return -EINVAL;
}

static inline int sframe_prctl_query(unsigned long what, unsigned long arg3,
				     unsigned long arg4, unsigned long arg5)
{
	return -EINVAL;
}

static inline int sframe_prctl_files(unsigned long arg2, unsigned long arg3,
				     unsigned long arg4, unsigned long arg5)
{
	return -EINVAL;
}

#endif /* CONFIG_UNWIND_USER_SFRAME */

/**
 * struct sframe_seq - an open /proc/<pid>/sframe
 * @mm:		address space shown; NULL if the task has none
 * @reg:	its registry, between start and stop
 * @active:	between start and stop, @mm is in use
 */
struct sframe_seq {
	struct mm_struct	*mm;
	struct sframe_registry	*reg;
	bool			active;
};

extern const struct seq_operations sframe_seq_ops;

#ifdef CONFIG_PERF_SFRAME_CALLCHAIN
bool sframe_callchain_user(struct perf_callchain_entry_ctx *entry,
			   struct pt_regs *regs);
bool sframe_callchain(struct perf_callchain_entry_ctx *entry,
		      struct pt_regs *regs);
#else
static inline bool
sframe_callchain_user(struct perf_callchain_entry_ctx *entry,
		      struct pt_regs *regs)
{
	return false;
}

static inline bool sframe_callchain(struct perf_callchain_entry_ctx *entry,
				    struct pt_regs *regs)
{
	return false;
}
#endif

#endif /* _LINUX_SFRAME_H */
