// SPDX-License-Identifier: GPL-2.0
/*
 * The SFrame windows of an address space.
 *
 * Lock order: mmap_lock, then the lock of a registry. Changes take the latter,
 * walkers only RCU. Windows do not change once they can be found.
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
 * Nodes of maple trees are hardly ever charged to a memcg: they come out of
 * sheaves that were filled before. So each window is charged for its share, 101
 * bytes in the thinnest trees that were measured.
 */
#define SFRAME_NODE_BYTES	104

/* With this, vm.max_sframe_windows bounds the memory of an address space. */
#define SFRAME_WINDOW_BYTES	256
static_assert(sizeof(struct sframe_window) <= SFRAME_WINDOW_BYTES);

static int sysctl_max_sframe_windows __read_mostly = 65536;

/* Microseconds that a walk in the context of a sample may take. */
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
		.extra1		= SYSCTL_ZERO,
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

/* Nanoseconds, or 0 if windows are not to be used. */
u64 sframe_walk_limit(void)
{
	return READ_ONCE(sysctl_sframe_walk_us) * (u64)NSEC_PER_USEC;
}

/**
 * sframe_window_bytes - what is allocated for a window, with its share of the trees
 *
 * Windows are shared with children.
 */
size_t sframe_window_bytes(void)
{
	return SFRAME_NODE_BYTES +
	       kmalloc_size_roundup(sizeof(struct sframe_window));
}

/**
 * sframe_window_alloc - make a window to be registered
 * @draft:	what it is to be
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

/* Without windows. */
static void sframe_registry_free(struct sframe_registry *reg)
{
	obj_cgroup_put(reg->objcg);
	kfree(reg);
}

/* Set once, then there until the last user of the mm is gone. */
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
 * Not mtree_load(): its tracepoint has no place in a sample.
 *
 * Context: Any, in an RCU read-side critical section.
 * Return: the window, or that there is none, and for which addresses.
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
	 * A store into a node writes the slot first and its limit second. In
	 * between, an address is found under its neighbour.
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
 * Count a change, so that walkers see it: they keep what they have looked up
 * as long as the count is the same, and compare it before and after they read
 * a section, since user space may reuse the memory of one when its window is
 * gone. A walker that reads a section does
 *
 *	W1: seq = acquire(reg->seq)
 *	W2: look up the window
 *	W3: read its section
 *	W4: smp_rmb(), reg->seq == seq?
 *
 * and the task that removes the window, and one that it then tells,
 *
 *	R1: erase it from the trees		U1: acquire(told)
 *	R2: release(reg->seq) + 1		U2: write something else there
 *	R3: smp_mb()
 *	R4: return to user space, tell
 *
 * If W1 sees the count of R2, W2 does not find the window that R1 erased. If
 * W1 does not see it, but W3 has read a byte of U2, then W4 sees the count:
 * otherwise W4 came before R2 in the order of memory, R3 before U1, since U1
 * has seen R4, U1 before U2, and U2 before W4, which follows W3: a circle. It
 * takes a full barrier at R3, as U2 is the store of another task, which R2 is
 * not ordered against by R2's release alone.
 *
 * Windows are freed by RCU. A walker that finds the old count at the beginning
 * of a read-side critical section may use the window that it kept: the grace
 * period begins after the count, and so does not end before that section.
 *
 * Additions count, too: that there is no window is kept as well.
 */
static void sframe_changed(struct sframe_registry *reg)
{
	/* R2 */
	smp_store_release(&reg->seq, reg->seq + 1);
	/* R3 */
	smp_mb();
}

static void sframe_erase_key(struct sframe_registry *reg,
			     const struct sframe_window *window)
{
	MA_STATE(mas, &reg->keys, window->key, window->key);

	mas_erase(&mas);
	WRITE_ONCE(reg->nr, reg->nr - 1);
	sframe_uncharge(reg, 1);
}

static struct sframe_window *sframe_find_key(struct sframe_registry *reg,
					     unsigned long key)
{
	MA_STATE(mas, &reg->keys, key, key);

	return mas_walk(&mas);
}

/* Is there a window other than @old with text in that of @window? */
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

/* Both trees have their memory before either changes. */
static int sframe_store(struct sframe_registry *reg,
			struct sframe_window *window)
{
	MA_STATE(text, &reg->text, window->text_start, window->text_end - 1);
	MA_STATE(key, &reg->keys, window->key, window->key);
	int ret;

	ret = mas_preallocate(&text, window, GFP_KERNEL);
	if (ret)
		return ret;
	ret = mas_preallocate(&key, window, GFP_KERNEL);
	if (ret) {
		mas_destroy(&text);
		return ret;
	}
	mas_store_prealloc(&text, window);
	mas_store_prealloc(&key, window);
	return 0;
}

/*
 * Is each page of the range mapped? It need not be executable: a JIT may write to
 * it, and no stack leads to what is never executed.
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
	int ret;

	if (!sframe_is_mapped(mm, window->text_start, window->text_end))
		return -EINVAL;
	if (sframe_find_key(reg, window->key))
		return -EBUSY;
	if (sframe_overlaps(reg, window, NULL))
		return -EEXIST;
	if (reg->nr >= sframe_window_limit())
		return -ENOSPC;

	ret = sframe_charge(reg, 1);
	if (ret)
		return ret;

	ret = sframe_store(reg, window);
	if (ret) {
		sframe_uncharge(reg, 1);
		return ret;
	}
	WRITE_ONCE(reg->nr, reg->nr + 1);
	sframe_changed(reg);
	return 0;
}

/*
 * One store swaps the windows, so that no sample falls in between. That takes
 * a range which covers the old one.
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
	sframe_changed(reg);
	sframe_window_put(old);
	return 0;
}

/**
 * sframe_register - publish a window in the address space of current
 * @window:	complete but for its reference; consumed on success
 * @replace:	take the place of the window with the same key
 *
 * The mmap lock is held from the look at the text to the insertion: a munmap
 * in between would leave a window behind that nothing removes.
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
	sframe_erase_key(reg, window);
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

/* A window with any text in the range goes whole: trimming could fail. */
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
 * Nobody walks the tree any more, so its nodes need no grace period. They must
 * not ask for one: the deferred walk takes the metadata of a full inner node
 * for a child, as exit_mmap() knows.
 */
static void sframe_destroy_tree(struct maple_tree *tree)
{
	mt_clear_in_rcu(tree);
	__mt_destroy(tree);
}

static int sframe_copy_trees(struct sframe_registry *new,
			     struct sframe_registry *old)
{
	int ret;

	ret = sframe_charge(new, old->nr);
	if (ret)
		return ret;
	ret = __mt_dup(&old->text, &new->text, GFP_KERNEL);
	if (ret)
		goto uncharge;
	ret = __mt_dup(&old->keys, &new->keys, GFP_KERNEL);
	if (ret)
		goto destroy_text;

	new->nr = old->nr;
	return 0;

destroy_text:
	sframe_destroy_tree(&new->text);
uncharge:
	sframe_uncharge(new, old->nr);
	return ret;
}

/* The copies hold no references yet: take them, or drop the entry. */
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
		sframe_erase_key(new, window);
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
		sframe_uncharge(reg, reg->nr);
	}
	mm->sframe = NULL;
	sframe_registry_free(reg);
}
