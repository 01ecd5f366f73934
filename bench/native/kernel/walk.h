/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Walk stacks of this process with the kernel's code. */
#ifndef BENCH_KERNEL_WALK_H
#define BENCH_KERNEL_WALK_H

#include <stddef.h>
#include <stdint.h>

/* kernel.perf_event_max_stack */
#define KERNEL_MAX_STACK	127

struct user_read {
	unsigned long addr, size;
};

/* Call this before the first walk. */
void kernel_set_clock(double ticks_per_ns);

/* kernel.sframe_walk_us, but in nanoseconds. */
void kernel_set_limit(uint64_t ns);

/* The only way to remove windows here: munmap() does not. */
void kernel_forget_windows(void);

/* Returns the number of addresses in @chain; the first one is @ip. */
size_t kernel_walk(uintptr_t ip, const void *sp, const void *fp,
		   uint64_t *chain);

/* The same by frame pointers, like a kernel without windows. */
size_t kernel_walk_fp(uintptr_t ip, const void *fp, uint64_t *chain);

/* Logs reads from now on; NULL stops. Returns how many there were. */
size_t kernel_log(struct user_read *log, unsigned long *sections);

#endif /* BENCH_KERNEL_WALK_H */
