/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Barriers and locks of the shim, for programs with one processor and no model
 * that checks order. One file of each includes it.
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
