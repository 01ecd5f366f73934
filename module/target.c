// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Calls for another process.
 *
 * The caller itself does the work: it can be killed while it waits for a lock
 * or a page of the other process, and holds no lock that a third process needs.
 * The sources of the series find the address space of a call here.
 */
#include <linux/hashtable.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/static_call.h>

#include "hooks.h"
#include "target.h"

static DEFINE_HASHTABLE(sfjit_targets, 6);
static DEFINE_SPINLOCK(sfjit_targets_lock);
static atomic_t sfjit_nr_targets = ATOMIC_INIT(0);

static struct mm_struct *sfjit_no_access(struct task_struct *task,
					 unsigned int mode)
{
	return ERR_PTR(-EACCES);
}

static struct task_struct *sfjit_no_task(int pidfd, unsigned int *flags)
{
	return ERR_PTR(-EBADF);
}

/* Not exported. */
static_assert(__same_type(mm_access, sfjit_no_access));
static_assert(__same_type(pidfd_get_task, sfjit_no_task));
DEFINE_STATIC_CALL(sfjit_access, sfjit_no_access);
DEFINE_STATIC_CALL(sfjit_task, sfjit_no_task);

int sfjit_target_init(void)
{
	void *access = sfjit_hook_body("mm_access");
	void *task = sfjit_hook_body("pidfd_get_task");

	if (IS_ERR(access))
		return PTR_ERR(access);
	if (IS_ERR(task))
		return PTR_ERR(task);
	static_call_update(sfjit_access, access);
	static_call_update(sfjit_task, task);
	return 0;
}

/*
 * The address space of a process that current may inspect; NULL if it has none.
 * This waits for a running execve(), so that the credentials that it checks
 * belong to the program in this address space.
 */
struct mm_struct *sfjit_mm_access(struct task_struct *task, unsigned int mode)
{
	return static_call(sfjit_access)(task, mode);
}

struct sfjit_target *sfjit_target(void)
{
	struct sfjit_target *target;

	if (!atomic_read(&sfjit_nr_targets))
		return NULL;
	guard(spinlock)(&sfjit_targets_lock);
	hash_for_each_possible(sfjit_targets, target, node,
			       (unsigned long)current)
		if (target->caller == current)
			return target;
	return NULL;
}

/* Errors are those of process_vm_readv(). */
static int sfjit_target_mm(struct sfjit_target *target,
			   struct task_struct *task)
{
	struct mm_struct *mm;

	mm = sfjit_mm_access(task, PTRACE_MODE_ATTACH_REALCREDS);
	if (!mm)
		return -ESRCH;
	if (IS_ERR(mm))
		return PTR_ERR(mm) == -EACCES ? -EPERM : PTR_ERR(mm);
	/* Sections and walks are for tasks with the kernel's word size. */
	if (test_tsk_thread_flag(task, TIF_ADDR32)) {
		mmput(mm);
		return -EOPNOTSUPP;
	}
	target->mm = mm;
	target->uid = task_uid(task);
	return 0;
}

/**
 * sfjit_target_begin - make calls of current act on another process
 * @target:	filled; must stay valid until sfjit_target_end()
 * @pidfd:	pidfd of the process
 *
 * If the process calls execve() meanwhile, the calls act on its old address
 * space.
 *
 * Return: 0 or a negative error.
 */
int sfjit_target_begin(struct sfjit_target *target, int pidfd)
{
	struct task_struct *task;
	unsigned int flags;
	int ret;

	task = static_call(sfjit_task)(pidfd, &flags);
	if (IS_ERR(task))
		return PTR_ERR(task);
	ret = sfjit_target_mm(target, task);
	put_task_struct(task);
	if (ret)
		return ret;

	target->memcg = get_mem_cgroup_from_mm(target->mm);
	target->old_memcg = set_active_memcg(target->memcg);
	target->caller = current;
	atomic_inc(&sfjit_nr_targets);
	guard(spinlock)(&sfjit_targets_lock);
	hash_add(sfjit_targets, &target->node, (unsigned long)current);
	return 0;
}

void sfjit_target_end(struct sfjit_target *target)
{
	scoped_guard(spinlock, &sfjit_targets_lock)
		hash_del(&target->node);
	atomic_dec(&sfjit_nr_targets);
	set_active_memcg(target->old_memcg);
	mem_cgroup_put(target->memcg);
	mmput(target->mm);
}

/* get_user_pages_remote() lost an argument in Linux 6.5. */
static long sfjit_get_page(struct mm_struct *mm, unsigned long addr,
			   struct page **page, int *locked)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	return get_user_pages_remote(mm, addr, 1, 0, page, NULL, locked);
#else
	return get_user_pages_remote(mm, addr, 1, 0, page, locked);
#endif
}

static int sfjit_read_page(struct mm_struct *mm, void *to, unsigned long addr,
			   unsigned long size)
{
	int locked = 1;
	struct page *page;
	long nr;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	nr = sfjit_get_page(mm, addr, &page, &locked);
	if (locked)
		mmap_read_unlock(mm);
	if (nr != 1)
		return -EFAULT;
	memcpy_from_page(to, page, offset_in_page(addr), size);
	put_page(page);
	return 0;
}

/* As copy_from_user(), but from the process that the call is for. */
unsigned long sfjit_target_read(void *to, const void __user *from,
				unsigned long size)
{
	struct sfjit_target *target = sfjit_target();
	unsigned long addr = (unsigned long)from, part;

	if (!target)
		return copy_from_user(to, from, size);
	for (; size; size -= part, addr += part, to += part) {
		part = min(size, PAGE_SIZE - offset_in_page(addr));
		if (sfjit_read_page(target->mm, to, addr, part))
			break;
	}
	return size;
}
