/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * The shim of the fuzz targets, but user memory is this process's: loads are
 * plain loads, as in the kernel. All memory must be mapped, since there is no
 * exception table.
 */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include "shim.h"
#include "walk.h"

/* Log of reads, or NULL. */
extern struct user_read *user_log;
extern unsigned long user_reads, user_sections;

static __always_inline const void *user_mask(const void *ptr)
{
	const void *max = (const void *)TASK_SIZE_MAX;

	__asm__("cmp %1, %0; cmova %1, %0" : "+r" (ptr) : "r" (max));
	return ptr;
}

static __always_inline unsigned long user_index(unsigned long index,
						unsigned long size)
{
	unsigned long mask;

	__asm__ volatile("cmp %1, %2; sbb %0, %0"
			 : "=r" (mask) : "g" (size), "r" (index) : "cc");
	return index & mask;
}

static __always_inline void user_note(unsigned long addr, unsigned long size)
{
	if (unlikely(user_log))
		user_log[user_reads++] = (struct user_read){ addr, size };
}

/* x86-64's definitions; user space cannot execute STAC and CLAC. */
#undef array_index_nospec
#undef can_do_masked_user_access
#undef masked_user_read_access_begin
#undef mask_user_address
#undef user_read_access_end
#undef unsafe_get_user
#define array_index_nospec(index, size)		user_index(index, size)
#define can_do_masked_user_access()		true
#define masked_user_read_access_begin(ptr)	((void)user_sections++)
#define mask_user_address(ptr)			user_mask(ptr)
#define user_read_access_end()			__asm__ volatile("" ::: "memory")
#define unsafe_get_user(x, ptr, label) do {				\
	user_note((unsigned long)(ptr), sizeof(*(ptr)));		\
	__asm__ goto("" :::: label);					\
	(x) = READ_ONCE(*(ptr));					\
} while (0)

#endif
