/* SPDX-License-Identifier: GPL-2.0 */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_MM_H
#define SFJIT_MM_H

#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mmu_notifier.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>

struct sframe_registry;

/**
 * struct sfjit_mm - an address space that has or had windows
 * @sframe:	its windows
 * @mm:		the address space
 * @parent:	address space from which windows are being copied, or NULL
 * @map_count:	differs from the parent's, so that the copy checks all mappings
 * @refs:	one for @notifier, one for each open file
 * @notifier:	tells when text is unmapped, and when @mm ends
 * @node:	in the hash by @mm
 * @rcu:	frees this
 */
struct sfjit_mm {
	struct sframe_registry	*sframe;
	struct mm_struct	*mm;
	struct sfjit_mm		*parent;
	int			map_count;
	refcount_t		refs;
	struct mmu_notifier	notifier;
	struct hlist_node	node;
	struct rcu_head		rcu;
};

struct sfjit_mm *sfjit_mm_find(struct mm_struct *mm);
struct sfjit_mm *sfjit_mm_or_none(struct mm_struct *mm);
struct sfjit_mm *sfjit_mm_of_target(void);
bool sfjit_mm_has_windows(struct mm_struct *mm);
struct sfjit_mm *sfjit_mm_get(struct mm_struct *mm);
void sfjit_mm_put(struct sfjit_mm *entry);
int sfjit_mm_make(struct mm_struct *mm);
void sfjit_mm_fork(struct mm_struct *mm, struct mm_struct *oldmm);
unsigned int sfjit_mm_count(void);
int sfjit_mm_list(char *buffer, size_t size);
struct vm_area_struct *sfjit_vma_lookup(struct sfjit_mm *entry,
					unsigned long addr);

#endif
