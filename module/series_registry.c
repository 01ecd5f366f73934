// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
#define SFJIT_SERIES_SOURCE
#define SFJIT_SERIES_TARGET_MM
#include "permit.h"
#include "sfjit.h"

/* The module's own initialization calls what the kernel's would. */
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
 * Nodes of trees cannot be charged to a memcg, as its functions are not
 * exported. The user is bounded instead, by the number of windows.
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
#include "kernel/unwind/sframe_registry.c"
