// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The lock, by futex(2): libc's are not usable before libc is initialised. */
#include <linux/futex.h>

#include "lock.h"
#include "sys.h"

bool lock_try(struct lock *lock)
{
	uint32_t self = SYS(SYS_getpid), old = 0;

	if (__atomic_compare_exchange_n(&lock->owner, &old, self, false,
					__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return true;
	return old != self &&
	       __atomic_compare_exchange_n(&lock->owner, &old, self, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void lock_take(struct lock *lock)
{
	uint32_t self = SYS(SYS_getpid);

	__atomic_add_fetch(&lock->waiting, 1, __ATOMIC_SEQ_CST);
	while (!lock_try(lock))
		SYS(SYS_futex, &lock->owner, FUTEX_WAIT_PRIVATE, self, NULL);
	__atomic_sub_fetch(&lock->waiting, 1, __ATOMIC_SEQ_CST);
}

void lock_release(struct lock *lock)
{
	__atomic_store_n(&lock->owner, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&lock->waiting, __ATOMIC_SEQ_CST))
		SYS(SYS_futex, &lock->owner, FUTEX_WAKE_PRIVATE, 1);
}
