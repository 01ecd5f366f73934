/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Machine-dependent parts of the benchmarks in guests. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

/*
 * Instructions, in a guest that counts them, rounded to a multiple of this.
 * QEMU's counter goes up by one in as many nanoseconds.
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

/* Length of a breakpoint event. */
#define BREAK_LEN	4

/* DWARF numbers. */
#define REGNUM_SP	31
#define REGNUM_FP	29

/* Whether a step by frame pointer gives the register that rows start from. */
#define FP_GIVES_ROW	0

/* Frames hold the address of the next one instead of a frame pointer. */
#define BACK_CHAIN	0

/* Distance of the CFA from the caller's stack pointer. */
#define SAVE_AREA	0

/* Alignment of return addresses that the kernel requires. */
#define CODE_ALIGN	1

/*
 * The frame of bench_trigger(): the CFA from its stack pointer; return address
 * and frame pointer from the CFA; and the row for it.
 */
#define TRIGGER_CFA	32
#define TRIGGER_RA	-8
#define TRIGGER_FP	-16
/* CFA = x29 + 16 */
#define TRIGGER_ROW	{ 3 << 1, 16, -8, -16 }

/* A frame that needs no row. */
#define PLAIN_FROM_FP	1
#define PLAIN_CFA	16
#define PLAIN_RA	-8
#define PLAIN_FP	-16

/* Frame pointer that ends a walk in the sample's context. */
#define LAST_FP		-1

/*
 * Offsets of return addresses in a slot; in its frame the CFA, and from that
 * the return address, and the frame pointer if saved.
 */
#define WINDOW_SLOT	32
#define WINDOW_ARG_RA	12
#define WINDOW_RBP_RA	16
#define SLOT_CFA	16
#define SLOT_ARG_RA	-16
#define SLOT_RBP_RA	-8
#define SLOT_RBP_FP	-16

#endif /* BENCH_MACHINE_H */
