/* SPDX-License-Identifier: GPL-2.0 */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_TARGET_H
#define SFJIT_TARGET_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct mem_cgroup;
struct mm_struct;
struct task_struct;

/**
 * struct sfjit_target - the process that a call is for, if it is another one
 * @node:	in the hash by @caller
 * @caller:	the task that makes the call
 * @mm:		the address space that the call is for, with a reference
 * @memcg:	memcg of @mm, charged for allocations
 * @old_memcg:	the active memcg before the call
 * @uid:	user of the process, for the limit of windows
 */
struct sfjit_target {
	struct hlist_node	node;
	struct task_struct	*caller;
	struct mm_struct	*mm;
	struct mem_cgroup	*memcg;
	struct mem_cgroup	*old_memcg;
	kuid_t			uid;
};

int sfjit_target_init(void);
int sfjit_target_begin(struct sfjit_target *target, int pidfd);
void sfjit_target_end(struct sfjit_target *target);

/* The target of current, or NULL if its call is for itself. */
struct sfjit_target *sfjit_target(void);

unsigned long sfjit_target_read(void *to, const void __user *from,
				unsigned long size);
struct mm_struct *sfjit_mm_access(struct task_struct *task, unsigned int mode);

#endif
