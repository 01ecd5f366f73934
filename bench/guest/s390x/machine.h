/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Machine-dependent parts of the benchmarks in guests. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

/* Instructions, in a guest that counts them, plus or minus one. */
#define NOW_STEP	2

#include <stdint.h>

/* QEMU's clock counts 4,096 per microsecond. */
static inline uint64_t now(void)
{
	uint64_t count;

	asm volatile("stckf	%0" : "=Q" (count) : : "cc", "memory");
	return (count >> 9) * 125 + ((count & 511) * 125 >> 9);
}

/* No breakpoint events: a probe makes one. */
#define BREAK_LEN	0

/* DWARF numbers. */
#define REGNUM_SP	15
#define REGNUM_FP	11

/* Whether a step by frame pointer gives the register that rows start from. */
#define FP_GIVES_ROW	0

/* Frames hold the address of the next one instead of a frame pointer. */
#define BACK_CHAIN	1

/* Distance of the CFA from the caller's stack pointer. */
#define SAVE_AREA	160

/* Alignment of return addresses that the kernel requires. */
#define CODE_ALIGN	2

/*
 * The frame of bench_trigger(): the CFA from its stack pointer; return address
 * and frame pointer from the CFA; and the row for it.
 */
#define TRIGGER_CFA	320
#define TRIGGER_RA	-48
#define TRIGGER_FP	-72
/* CFA = r15 + 320, stored less the save area and in words of 8 */
#define TRIGGER_ROW	{ 1 | 3 << 1, 20, -48, -72 }

/* A frame that needs no row. */
#define PLAIN_FROM_FP	0
#define PLAIN_CFA	320
#define PLAIN_RA	-48
#define PLAIN_FP	0

/* Back chain that ends a walk in the sample's context. */
#define LAST_FP		0

/*
 * Offsets of return addresses in a slot; in its frame the CFA, and from that
 * the return address, and the frame pointer if saved.
 */
#define WINDOW_SLOT	32
#define WINDOW_ARG_RA	12
#define WINDOW_RBP_RA	16
#define SLOT_CFA	320
#define SLOT_ARG_RA	-48
#define SLOT_RBP_RA	-48
#define SLOT_RBP_FP	-72

#endif /* BENCH_MACHINE_H */
