// SPDX-License-Identifier: GPL-2.0
/*
 * The SFrame windows of an address space.
 *
 * Lock order: mmap_lock, then the registry lock. Changes take the registry
 * lock, walkers only RCU. A published window is immutable.
 */
#include <linux/err.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include <linux/sframe.h>

#include "sframe.h"

#define SFRAME_TREE_FLAGS	(MT_FLAGS_USE_RCU | MT_FLAGS_LOCK_EXTERN)

/*
 * Maple tree nodes are rarely charged to a memcg, since they come from
 * pre-filled sheaves. So charge each entry for its share of the nodes: 51 bytes
 * in the sparsest trees measured.
 */
#define SFRAME_NODE_BYTES	52

/* Lets vm.max_sframe_windows bound the memory of an address space. */
#define SFRAME_WINDOW_BYTES	256
static_assert(sizeof(struct sframe_window) <= SFRAME_WINDOW_BYTES);

/* Counts for all address spaces without a registry. */
struct sframe_registry sframe_no_windows = {
	.text	= MTREE_INIT(sframe_no_windows.text, MT_FLAGS_USE_RCU),
};

static int sysctl_max_sframe_windows __read_mostly = 65536;

/* Time limit of a walk in the context of a sample, in microseconds. */
static int sysctl_sframe_walk_us __read_mostly = 250;
static const int sframe_walk_us_max = USEC_PER_SEC;

static const struct ctl_table sframe_sysctls[] = {
	{
		.procname	= "max_sframe_windows",
		.data		= &sysctl_max_sframe_windows,
		.maxlen		= sizeof(sysctl_max_sframe_windows),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_INT_MAX,
	},
};

static const struct ctl_table sframe_walk_sysctls[] = {
	{
		.procname	= "sframe_walk_us",
		.data		= &sysctl_sframe_walk_us,
		.maxlen		= sizeof(sysctl_sframe_walk_us),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ONE,
		.extra2		= (void *)&sframe_walk_us_max,
	},
};

static int __init sframe_init(void)
{
	register_sysctl_init("vm", sframe_sysctls);
	register_sysctl_init("kernel", sframe_walk_sysctls);
	return 0;
}
subsys_initcall(sframe_init);

int sframe_window_limit(void)
{
	return READ_ONCE(sysctl_max_sframe_windows);
}

/* Nanoseconds. */
u64 sframe_walk_limit(void)
{
	return READ_ONCE(sysctl_sframe_walk_us) * (u64)NSEC_PER_USEC;
}

/**
 * sframe_registry_bytes - memory of all windows, with their share of the trees
 * @reg:	the registry
 *
 * A window that a child shares counts in both address spaces.
 */
size_t sframe_registry_bytes(const struct sframe_registry *reg)
{
	const size_t nr = READ_ONCE(reg->nr);

	return nr * kmalloc_size_roundup(sizeof(struct sframe_window)) +
	       (nr + READ_ONCE(reg->nr_keys)) * SFRAME_NODE_BYTES;
}

/**
 * sframe_window_alloc - allocate a window for registration
 * @draft:	its contents
 *
 * Return: the window, or NULL.
 */
struct sframe_window *sframe_window_alloc(const struct sframe_window *draft)
{
	struct sframe_window *window;

	window = kmemdup(draft, sizeof(*draft), GFP_KERNEL_ACCOUNT);
	if (!window)
		return NULL;

	refcount_set(&window->refs, 1);
	return window;
}

/* Free a window that was never published. */
void sframe_window_free(struct sframe_window *window)
{
	kfree(window);
}

static void sframe_window_free_rcu(struct rcu_head *rcu)
{
	sframe_window_free(container_of(rcu, struct sframe_window, rcu));
}

static void sframe_window_put(struct sframe_window *window)
{
	if (refcount_dec_and_test(&window->refs))
		call_rcu(&window->rcu, sframe_window_free_rcu);
}

/* Nothing is charged to the root cgroup. */
static struct obj_cgroup *sframe_objcg(void)
{
#ifdef CONFIG_MEMCG
	struct obj_cgroup *objcg =
		memcg_kmem_online() ? current_obj_cgroup() : NULL;

	if (objcg && !obj_cgroup_is_root(objcg)) {
		obj_cgroup_get(objcg);
		return objcg;
	}
#endif
	return NULL;
}

static int sframe_charge(struct sframe_registry *reg, size_t nr)
{
#ifdef CONFIG_MEMCG
	if (reg->objcg)
		return obj_cgroup_charge(reg->objcg, GFP_KERNEL,
					 nr * SFRAME_NODE_BYTES);
#endif
	return 0;
}

static void sframe_uncharge(struct sframe_registry *reg, size_t nr)
{
#ifdef CONFIG_MEMCG
	if (reg->objcg)
		obj_cgroup_uncharge(reg->objcg, nr * SFRAME_NODE_BYTES);
#endif
}

static struct sframe_registry *sframe_registry_alloc(void)
{
	struct sframe_registry *reg;

	reg = kzalloc_obj(*reg, GFP_KERNEL_ACCOUNT);
	if (!reg)
		return NULL;

	mutex_init(&reg->lock);
	mt_init_flags(&reg->text, SFRAME_TREE_FLAGS);
	mt_set_external_lock(&reg->text, &reg->lock);
	mt_init_flags(&reg->keys, SFRAME_TREE_FLAGS);
	mt_set_external_lock(&reg->keys, &reg->lock);
	reg->objcg = sframe_objcg();
	return reg;
}

/* The trees must be empty or destroyed. */
static void sframe_registry_free(struct sframe_registry *reg)
{
	obj_cgroup_put(reg->objcg);
	kfree(reg);
}

/* mm->sframe is set once and stays until the last user of the mm is gone. */
static struct sframe_registry *sframe_registry_get(struct mm_struct *mm)
{
	struct sframe_registry *reg, *old = NULL;

	reg = sframe_registry_of(mm);
	if (reg)
		return reg;

	reg = sframe_registry_alloc();
	if (!reg)
		return NULL;
	if (try_cmpxchg_release(&mm->sframe, &old, reg))
		return reg;

	sframe_registry_free(reg);
	return sframe_registry_of(mm);
}

bool __sframe_mm_has_windows(struct mm_struct *mm)
{
	return READ_ONCE(sframe_registry_of(mm)->nr);
}

/**
 * sframe_lookup - find the window that covers an address
 * @reg:	registry of the mm of current
 * @ip:		the address
 *
 * Do not use mtree_load(): its tracepoint must not fire within a sample.
 *
 * Context: Any, in an RCU read-side critical section.
 * Return: the window or NULL, with the range of addresses it is valid for.
 */
struct sframe_range sframe_lookup(struct sframe_registry *reg,
				  unsigned long ip)
{
	MA_STATE(mas, &reg->text, ip, ip);
	struct sframe_window *window = mas_walk(&mas);

	if (!window)
		return (struct sframe_range){
			.first = mas.index,
			.last = mas.last,
		};

	/*
	 * A store into a node writes the slot before the pivot. In between, a
	 * lookup may return the neighbouring window.
	 */
	if (ip < window->text_start || ip >= window->text_end)
		return (struct sframe_range){ .first = ip, .last = ip };

	return (struct sframe_range){
		.window = window,
		.first = window->text_start,
		.last = window->text_end - 1,
	};
}

/*
 * Count a change, so that walkers notice it. A walker keeps its lookups while
 * the count stays the same. It also compares the count before and after it
 * reads a section, since user space may reuse that memory once the window is
 * gone. A walker that reads a section does
 *
 *	W1: seq = acquire(reg->seq)
 *	W2: look up the window
 *	W3: read its section
 *	W4: smp_rmb(), reg->seq == seq?
 *
 * and the task that removes the window, and another task that it tells, do
 *
 *	R1: erase it from the trees		U1: acquire(told)
 *	R2: release(reg->seq) + 1		U2: write something else there
 *	R3: smp_mb()
 *	R4: return to user space, tell
 *
 * If W1 sees the count of R2, W2 does not find the window that R1 erased. If
 * W1 does not see it, but W3 reads a byte that U2 wrote, then W4 sees the
 * count. Otherwise W4 would precede R2 in memory order. R3 orders R2 before U1,
 * which has seen R4. U1 precedes U2, and U2 precedes W4, which follows W3: a
 * cycle. R3 must be a full barrier: U2 is a store of another task, and the
 * release at R2 does not order R2 before it.
 *
 * Windows are freed by RCU. A walker that sees the old count at the beginning
 * of a read-side critical section may use a window that it kept: the grace
 * period starts after the count changes, so it cannot end before that section.
 *
 * Additions count, too, since walkers also keep the result "no window".
 */
static void sframe_changed(struct sframe_registry *reg)
{
	/* R2 */
	smp_store_release(&reg->seq, reg->seq + 1);
	/* R3 */
	smp_mb();
}

/* A window whose key is an address of its text is found by its text. */
static bool sframe_is_keyed(const struct sframe_window *window)
{
	return window->key < window->text_start ||
	       window->key >= window->text_end;
}

static void sframe_erase_key(struct sframe_registry *reg,
			     const struct sframe_window *window)
{
	MA_STATE(mas, &reg->keys, window->key, window->key);

	mas_erase(&mas);
	WRITE_ONCE(reg->nr_keys, reg->nr_keys - 1);
	sframe_uncharge(reg, 1);
}

/* Its text has been erased. */
static void sframe_forget(struct sframe_registry *reg,
			  const struct sframe_window *window)
{
	if (sframe_is_keyed(window))
		sframe_erase_key(reg, window);
	WRITE_ONCE(reg->nr, reg->nr - 1);
	sframe_uncharge(reg, 1);
}

static struct sframe_window *sframe_find_key(struct sframe_registry *reg,
					     unsigned long key)
{
	MA_STATE(text, &reg->text, key, key);
	MA_STATE(mas, &reg->keys, key, key);
	struct sframe_window *window = mas_walk(&text);

	return window && window->key == key ? window : mas_walk(&mas);
}

/* Does any window other than @old overlap the text of @window? */
static bool sframe_overlaps(struct sframe_registry *reg,
			    const struct sframe_window *window,
			    const struct sframe_window *old)
{
	MA_STATE(mas, &reg->text, window->text_start, window->text_start);
	struct sframe_window *found;

	mas_for_each(&mas, found, window->text_end - 1)
		if (found != old)
			return true;
	return false;
}

/* Preallocate for both trees first: a failure must leave both unchanged. */
static int sframe_store(struct sframe_registry *reg,
			struct sframe_window *window)
{
	MA_STATE(text, &reg->text, window->text_start, window->text_end - 1);
	MA_STATE(key, &reg->keys, window->key, window->key);
	int ret;

	ret = mas_preallocate(&text, window, GFP_KERNEL);
	if (ret)
		return ret;
	if (sframe_is_keyed(window)) {
		ret = mas_preallocate(&key, window, GFP_KERNEL);
		if (ret) {
			mas_destroy(&text);
			return ret;
		}
		mas_store_prealloc(&key, window);
	}
	mas_store_prealloc(&text, window);
	return 0;
}

/*
 * Is each page of the range mapped? It need not be executable: a JIT may write
 * to it, and no stack leads to text that never executes.
 */
static bool sframe_is_mapped(struct mm_struct *mm, unsigned long start,
			     unsigned long end)
{
	struct vm_area_struct *vma;

	/* The text of a JIT may be split into several mappings. */
	for (; start < end; start = vma->vm_end) {
		vma = vma_lookup(mm, start);
		if (!vma)
			return false;
	}
	return true;
}

static int sframe_insert(struct mm_struct *mm, struct sframe_registry *reg,
			 struct sframe_window *window)
{
	const unsigned int keys = sframe_is_keyed(window);
	int ret;

	if (!sframe_is_mapped(mm, window->text_start, window->text_end))
		return -EINVAL;
	if (sframe_find_key(reg, window->key))
		return -EBUSY;
	if (sframe_overlaps(reg, window, NULL))
		return -EEXIST;
	if (reg->nr >= sframe_window_limit())
		return -ENOSPC;

	ret = sframe_charge(reg, 1 + keys);
	if (ret)
		return ret;

	ret = sframe_store(reg, window);
	if (ret) {
		sframe_uncharge(reg, 1 + keys);
		return ret;
	}
	WRITE_ONCE(reg->nr, reg->nr + 1);
	WRITE_ONCE(reg->nr_keys, reg->nr_keys + keys);
	sframe_changed(reg);
	return 0;
}

/*
 * Swap the windows with a single store, so that each sample sees one of them.
 * This requires the new range to cover the old one.
 */
static int sframe_replace(struct mm_struct *mm, struct sframe_registry *reg,
			  struct sframe_window *window)
{
	struct sframe_window *old = sframe_find_key(reg, window->key);
	int ret;

	if (!old)
		return -ENOENT;
	if (window->text_start > old->text_start ||
	    window->text_end < old->text_end)
		return -EINVAL;
	if (!sframe_is_mapped(mm, window->text_start, window->text_end))
		return -EINVAL;
	if (sframe_overlaps(reg, window, old))
		return -EEXIST;

	ret = sframe_store(reg, window);
	if (ret)
		return ret;
	/* The new text may have the key, which the old one had not. */
	if (sframe_is_keyed(old) && !sframe_is_keyed(window))
		sframe_erase_key(reg, old);
	sframe_changed(reg);
	sframe_window_put(old);
	return 0;
}

/**
 * sframe_register - publish a window in the address space of current
 * @window:	from sframe_window_alloc(); consumed on success
 * @replace:	replace the window with the same key
 *
 * Hold the mmap lock from the check of the text to the insertion. A munmap in
 * between would leave a window that nothing removes.
 *
 * Return: 0 or a negative error, see PR_SFRAME_REGISTER.
 */
int sframe_register(struct sframe_window *window, bool replace)
{
	struct mm_struct *mm = current->mm;
	struct sframe_registry *reg;
	int ret;

	reg = sframe_registry_get(mm);
	if (!reg)
		return -ENOMEM;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	scoped_guard(mutex, &reg->lock) {
		if (replace)
			ret = sframe_replace(mm, reg, window);
		else
			ret = sframe_insert(mm, reg, window);
	}
	mmap_read_unlock(mm);
	return ret;
}

static void sframe_remove(struct sframe_registry *reg, struct ma_state *text,
			  struct sframe_window *window)
{
	mas_erase(text);
	sframe_forget(reg, window);
	sframe_changed(reg);
	sframe_window_put(window);
}

/**
 * sframe_unregister - remove a window of current
 * @key:	its key
 *
 * Return: 0 or -ENOENT.
 */
int sframe_unregister(unsigned long key)
{
	struct sframe_registry *reg = sframe_registry_of(current->mm);
	struct sframe_window *window;

	if (!reg)
		return -ENOENT;

	guard(mutex)(&reg->lock);
	window = sframe_find_key(reg, key);
	if (!window)
		return -ENOENT;

	MA_STATE(mas, &reg->text, window->text_start, window->text_start);
	sframe_remove(reg, &mas, window);
	return 0;
}

/* Remove each window with text in the range whole: trimming could fail. */
void __sframe_munmap(struct mm_struct *mm, unsigned long start,
		     unsigned long end)
{
	MA_STATE(mas, &mm->sframe->text, start, start);
	struct sframe_registry *reg = mm->sframe;
	struct sframe_window *window;

	guard(mutex)(&reg->lock);
	mas_for_each(&mas, window, end - 1) {
		sframe_remove(reg, &mas, window);
		cond_resched();
	}
}

/*
 * No walker can see the tree any more, so its nodes need no grace period. They
 * must not use one either: the deferred free mistakes the metadata of a full
 * inner node for a child. exit_mmap() clears the flag, too.
 */
static void sframe_destroy_tree(struct maple_tree *tree)
{
	mt_clear_in_rcu(tree);
	__mt_destroy(tree);
}

static int sframe_copy_trees(struct sframe_registry *new,
			     struct sframe_registry *old)
{
	const size_t nr = old->nr + old->nr_keys;
	int ret;

	ret = sframe_charge(new, nr);
	if (ret)
		return ret;
	ret = __mt_dup(&old->text, &new->text, GFP_KERNEL);
	if (ret)
		goto uncharge;
	ret = __mt_dup(&old->keys, &new->keys, GFP_KERNEL);
	if (ret)
		goto destroy_text;

	new->nr = old->nr;
	new->nr_keys = old->nr_keys;
	return 0;

destroy_text:
	sframe_destroy_tree(&new->text);
uncharge:
	sframe_uncharge(new, nr);
	return ret;
}

/* The copied entries hold no references yet: take one for each, or drop it. */
static void sframe_adopt(struct mm_struct *mm, struct sframe_registry *new,
			 bool all_mapped)
{
	MA_STATE(mas, &new->text, 0, 0);
	struct sframe_window *window;

	mas_for_each(&mas, window, ULONG_MAX) {
		cond_resched();
		/* MADV_DONTFORK leaves text out of the child. */
		if (all_mapped || sframe_is_mapped(mm, window->text_start,
						   window->text_end)) {
			refcount_inc(&window->refs);
			continue;
		}
		mas_erase(&mas);
		sframe_forget(new, window);
	}
}

void __sframe_mm_dup(struct mm_struct *mm, struct mm_struct *oldmm)
{
	struct sframe_registry *new, *old = oldmm->sframe;
	int ret;

	new = sframe_registry_alloc();
	if (!new)
		return;

	guard(mutex)(&old->lock);
	mutex_lock_nested(&new->lock, SINGLE_DEPTH_NESTING);
	ret = sframe_copy_trees(new, old);
	if (!ret) {
		sframe_adopt(mm, new, mm->map_count == oldmm->map_count);
		mm->sframe = new;
	}
	mutex_unlock(&new->lock);
	if (ret)
		sframe_registry_free(new);
}

void __sframe_mm_free(struct mm_struct *mm)
{
	MA_STATE(mas, &mm->sframe->text, 0, 0);
	struct sframe_registry *reg = mm->sframe;
	struct sframe_window *window;

	scoped_guard(mutex, &reg->lock) {
		mas_for_each(&mas, window, ULONG_MAX) {
			sframe_window_put(window);
			cond_resched();
		}
		sframe_destroy_tree(&reg->text);
		sframe_destroy_tree(&reg->keys);
		sframe_uncharge(reg, reg->nr + reg->nr_keys);
	}
	mm->sframe = NULL;
	sframe_registry_free(reg);
}
