/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* What the benchmarks in guests have to know of the machine. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdint.h>
#include <x86intrin.h>

/* Instructions, in a guest that counts them; a value is a multiple of this. */
#define NOW_STEP	1

static inline uint64_t now(void)
{
	return __rdtsc();
}

/* Length of an event at an instruction. */
#define BREAK_LEN	sizeof(long)

/* DWARF numbers. */
#define REGNUM_SP	7
#define REGNUM_FP	6

/* Does a step by frame pointer tell the stack pointer? */
#define FP_GIVES_SP	1

/* Return addresses in a slot, as offsets, and in its frame, from the CFA. */
#define WINDOW_SLOT	16
#define WINDOW_ARG_RA	8
#define WINDOW_RBP_RA	10
#define SLOT_ARG_RA	-8

#endif /* BENCH_MACHINE_H */
