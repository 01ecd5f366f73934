// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Address spaces with windows.
 *
 * An entry is made at the first registration and at a fork of a process with
 * windows, and stays until the address space ends. It keeps the module loaded.
 */
#include <linux/hashtable.h>
#include <linux/mman.h>
#include <linux/sched.h>

#include <asm/unistd.h>

#include "series.h"
#include "sfjit.h"
#include "target.h"

static DEFINE_HASHTABLE(sfjit_mms, 10);
static DEFINE_SPINLOCK(sfjit_mms_lock);
static atomic_t sfjit_nr_mms = ATOMIC_INIT(0);

/* Stands for address spaces without an entry. Its registry is always NULL. */
static struct sfjit_mm sfjit_none;

/**
 * sfjit_mm_find - find the entry of an address space
 * @mm:		that of current, or one that cannot end meanwhile
 *
 * Context: Any, including NMI.
 * Return: the entry, which stays as long as @mm is in use, or NULL.
 */
struct sfjit_mm *sfjit_mm_find(struct mm_struct *mm)
{
	struct sfjit_mm *entry;

	if (!atomic_read(&sfjit_nr_mms))
		return NULL;
	guard(rcu)();
	hash_for_each_possible_rcu_notrace(sfjit_mms, entry, node,
					   (unsigned long)mm)
		if (entry->mm == mm)
			return entry;
	return NULL;
}

struct sfjit_mm *sfjit_mm_or_none(struct mm_struct *mm)
{
	return sfjit_mm_find(mm) ?: &sfjit_none;
}

/* The entry of the process that the call of current is for. */
struct sfjit_mm *sfjit_mm_of_target(void)
{
	struct sfjit_target *target = sfjit_target();

	return sfjit_mm_or_none(target ? target->mm : current->mm);
}

bool sfjit_mm_has_windows(struct mm_struct *mm)
{
	struct sfjit_mm *entry = mm ? sfjit_mm_find(mm) : NULL;

	return entry && sframe_mm_has_windows(entry);
}

/* Like sfjit_mm_find(), with a reference for sfjit_mm_put(). */
struct sfjit_mm *sfjit_mm_get(struct mm_struct *mm)
{
	struct sfjit_mm *entry;

	guard(rcu)();
	entry = sfjit_mm_find(mm);
	return entry && refcount_inc_not_zero(&entry->refs) ? entry : NULL;
}

void sfjit_mm_put(struct sfjit_mm *entry)
{
	if (refcount_dec_and_test(&entry->refs))
		kfree_rcu(entry, rcu);
}

/* mremap() with MREMAP_DONTUNMAP moves the pages but keeps the mapping. */
static bool sfjit_stays_mapped(const struct mmu_notifier_range *range)
{
	const struct pt_regs *regs = task_pt_regs(current);

	return current->mm == range->mm && regs->orig_ax == __NR_mremap &&
	       regs->r10 & MREMAP_DONTUNMAP && range->start >= regs->di &&
	       range->end <= regs->di + PAGE_ALIGN(regs->si);
}

/* munmap() and similar calls hold the mmap lock and may sleep. */
static int sfjit_invalidate(struct mmu_notifier *notifier,
			    const struct mmu_notifier_range *range)
{
	struct sfjit_mm *entry = container_of(notifier, struct sfjit_mm,
					      notifier);

	if (range->event == MMU_NOTIFY_UNMAP && READ_ONCE(entry->sframe) &&
	    !sfjit_stays_mapped(range))
		sframe_munmap(entry, range->start, range->end);
	return 0;
}

/* The address space has no users left. */
static void sfjit_release(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct sfjit_mm *entry = container_of(notifier, struct sfjit_mm,
					      notifier);

	sframe_mm_free(entry);
	scoped_guard(spinlock, &sfjit_mms_lock)
		hash_del_rcu(&entry->node);
	atomic_dec(&sfjit_nr_mms);
	mmu_notifier_put(notifier);
}

static struct mmu_notifier *sfjit_alloc(struct mm_struct *mm)
{
	struct sfjit_mm *entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);

	if (!entry)
		return ERR_PTR(-ENOMEM);
	entry->mm = mm;
	refcount_set(&entry->refs, 1);
	__module_get(THIS_MODULE);
	return &entry->notifier;
}

static void sfjit_free(struct mmu_notifier *notifier)
{
	sfjit_mm_put(container_of(notifier, struct sfjit_mm, notifier));
	module_put(THIS_MODULE);
}

static const struct mmu_notifier_ops sfjit_notifier_ops = {
	.release		= sfjit_release,
	.invalidate_range_start	= sfjit_invalidate,
	.alloc_notifier		= sfjit_alloc,
	.free_notifier		= sfjit_free,
};

/* @mm is locked for write. */
static struct sfjit_mm *sfjit_mm_add(struct mm_struct *mm)
{
	struct mmu_notifier *notifier;
	struct sfjit_mm *entry;

	notifier = mmu_notifier_get_locked(&sfjit_notifier_ops, mm);
	if (IS_ERR(notifier))
		return ERR_CAST(notifier);
	entry = container_of(notifier, struct sfjit_mm, notifier);
	scoped_guard(spinlock, &sfjit_mms_lock)
		hash_add_rcu(sfjit_mms, &entry->node, (unsigned long)mm);
	atomic_inc(&sfjit_nr_mms);
	return entry;
}

/**
 * sfjit_mm_make - make an entry for an address space
 * @mm:		that of current, or one with a reference
 *
 * Return: 0 or a negative error; -ERESTARTNOINTR if a pending signal prevents
 * taking the locks of all mappings.
 */
int sfjit_mm_make(struct mm_struct *mm)
{
	int ret = 0;

	if (sfjit_mm_find(mm))
		return 0;
	if (mmap_write_lock_killable(mm))
		return -EINTR;
	if (!sfjit_mm_find(mm))
		ret = PTR_ERR_OR_ZERO(sfjit_mm_add(mm));
	mmap_write_unlock(mm);
	return ret == -EINTR ? -ERESTARTNOINTR : ret;
}

/**
 * sfjit_mm_fork - copy the windows to a child
 * @mm:		that of the child, not visible elsewhere, without mappings yet
 * @oldmm:	that of the parent, locked for write
 *
 * If memory runs out, the child has no windows.
 */
void sfjit_mm_fork(struct mm_struct *mm, struct mm_struct *oldmm)
{
	struct sfjit_mm *entry, *parent = sfjit_mm_find(oldmm);

	if (!parent)
		return;
	mmap_write_lock_nested(mm, SINGLE_DEPTH_NESTING);
	entry = sfjit_mm_add(mm);
	mmap_write_unlock(mm);
	if (IS_ERR(entry))
		return;

	entry->parent = parent;
	entry->map_count = parent->map_count + 1;
	sframe_mm_dup(entry, parent);
	entry->parent = NULL;
}

/**
 * sfjit_vma_lookup - find the mapping of an address
 * @entry:	the address space
 * @addr:	the address
 *
 * While windows are copied, the child has no mappings yet. It will get those of
 * its parent, except the ones with MADV_DONTFORK.
 */
struct vm_area_struct *sfjit_vma_lookup(struct sfjit_mm *entry,
					unsigned long addr)
{
	struct vm_area_struct *vma;

	if (!entry->parent)
		return vma_lookup(entry->mm, addr);
	vma = vma_lookup(entry->parent->mm, addr);
	return vma && !(vma->vm_flags & VM_DONTCOPY) ? vma : NULL;
}

unsigned int sfjit_mm_count(void)
{
	return atomic_read(&sfjit_nr_mms);
}

static int sfjit_mm_pid(const struct sfjit_mm *entry)
{
#ifdef CONFIG_MEMCG
	struct task_struct *owner = rcu_dereference(entry->mm->owner);

	return owner ? task_tgid_nr(owner) : 0;
#else
	return 0;
#endif
}

/* Write the PIDs of processes that keep the module loaded, one per line. */
int sfjit_mm_list(char *buffer, size_t size)
{
	struct sfjit_mm *entry;
	int bucket, length = 0;

	guard(rcu)();
	hash_for_each_rcu(sfjit_mms, bucket, entry, node)
		length += scnprintf(buffer + length, size - length, "%d\n",
				    sfjit_mm_pid(entry));
	return length;
}
