// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
#define SFJIT_SERIES_SOURCE
#define SFJIT_SERIES_TARGET_MM
#include "permit.h"
#include "sfjit.h"

/* The module calls the initcall itself. */
#undef subsys_initcall
#define subsys_initcall(fn)						\
	int __init sfjit_series_init(void)				\
	{								\
		return fn();						\
	}
#undef register_sysctl_init
#define register_sysctl_init(path, table)				\
	do {								\
		int __ret = sfjit_sysctl_add(path, table,		\
					     ARRAY_SIZE(table));	\
		if (__ret)						\
			return __ret;					\
	} while (0)

/*
 * The functions to charge tree nodes to a memcg are not exported. Limit the
 * number of windows per user instead.
 */
#undef CONFIG_MEMCG
#define CONFIG_MEMCG			1
#define obj_cgroup			sfjit_user
#define memcg_kmem_online()		true
#define current_obj_cgroup()		sfjit_user_get()
#define obj_cgroup_is_root(user)	false
#define obj_cgroup_get(user)		((void)(user))
#define obj_cgroup_put(user)		sfjit_user_put(user)
#define obj_cgroup_charge(user, gfp, size)	\
	sfjit_user_charge(user, (size) / SFRAME_NODE_BYTES)
#define obj_cgroup_uncharge(user, size) \
	sfjit_user_uncharge(user, (size) / SFRAME_NODE_BYTES)

#include "series.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
/*
 * A store to a tree of Linux 6.1 marks the old node as dead before it links the
 * new one. A sample on the same CPU in between would wait for it for ever.
 */
static DEFINE_PER_CPU(bool, sfjit_changes_tree);

bool sfjit_tree_changes(void)
{
	return this_cpu_read(sfjit_changes_tree);
}

static int sfjit_try_store(struct ma_state *mas, void *window)
{
	int ret;

	guard(preempt)();
	this_cpu_write(sfjit_changes_tree, true);
	barrier();
	ret = mas_store_gfp(mas, window, GFP_ATOMIC | __GFP_NOWARN);
	barrier();
	this_cpu_write(sfjit_changes_tree, false);
	return ret;
}

/* Preallocating nodes is not possible: the functions are not exported. */
static void sfjit_store(struct ma_state *mas, void *window)
{
	const unsigned long first = mas->index, last = mas->last;

	while (sfjit_try_store(mas, window)) {
		/* This waits until memory is free. */
		kfree(kmalloc(PAGE_SIZE, GFP_KERNEL | __GFP_NOFAIL));
		mas_set_range(mas, first, last);
	}
}

/* Unlike this, mas_erase() may sleep during the change. */
static void *sfjit_erase(struct ma_state *mas)
{
	void *window = mas_walk(mas);

	if (!window)
		return NULL;
	mas_reset(mas);
	sfjit_store(mas, NULL);
	return window;
}

#define mas_preallocate(mas, window, gfp)	0
#define mas_store_prealloc			sfjit_store
#define mas_erase				sfjit_erase
#endif

#include "kernel/unwind/sframe_registry.c"
