/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* What the benchmarks in guests have to know of the machine. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

/*
 * Instructions, in a guest that counts them; a value is a multiple of this. The
 * counter of QEMU goes up by one in as many nanoseconds.
 */
#define NOW_STEP	16

#ifndef __ASSEMBLER__

#include <stdint.h>

static inline uint64_t now(void)
{
	uint64_t count;

	asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r" (count) : : "memory");
	return count * NOW_STEP;
}

#endif

/* Length of an event at an instruction. */
#define BREAK_LEN	4

/* DWARF numbers. */
#define REGNUM_SP	31
#define REGNUM_FP	29

/* Does a step by frame pointer tell the stack pointer? */
#define FP_GIVES_SP	0

/* Return addresses in a slot, as offsets, and in its frame, from the CFA. */
#define WINDOW_SLOT	32
#define WINDOW_ARG_RA	12
#define WINDOW_RBP_RA	16
#define SLOT_ARG_RA	-16

#endif /* BENCH_MACHINE_H */
