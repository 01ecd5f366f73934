/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * What the shim asks of programs in which nobody else is there: no other
 * processor, and no model that looks at the order. One file of each includes it.
 */
#ifndef FUZZ_ALONE_H
#define FUZZ_ALONE_H

void shim_rmb(void)
{
	__asm__ volatile("" ::: "memory");
}

int shim_rcu_lock(void)
{
	return 0;
}

void shim_rcu_unlock(int *unused)
{
}

int shim_preempt_lock(void)
{
	return 0;
}

void shim_preempt_unlock(int *unused)
{
}

int shim_pagefault_lock(void)
{
	return 0;
}

void shim_pagefault_unlock(int *unused)
{
}

#endif
