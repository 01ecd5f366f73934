/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* What the benchmarks in guests have to know of the machine. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

/* Instructions, in a guest that counts them, or one more or less. */
#define NOW_STEP	2

#include <stdint.h>

/* QEMU's clock has 4,096 parts in a microsecond. */
static inline uint64_t now(void)
{
	uint64_t count;

	asm volatile("stckf	%0" : "=Q" (count) : : "cc", "memory");
	return (count >> 9) * 125 + ((count & 511) * 125 >> 9);
}

/* There are no events at an instruction: a probe makes one. */
#define BREAK_LEN	0

/* DWARF numbers. */
#define REGNUM_SP	15
#define REGNUM_FP	11

/* Does a step by frame pointer tell what rows start from? */
#define FP_GIVES_ROW	0

/* Frames have the address of the next one, instead of frame pointers. */
#define BACK_CHAIN	1

/* How far the CFA is above the stack pointer of the caller. */
#define SAVE_AREA	160

/* What the kernel has return addresses be a multiple of. */
#define CODE_ALIGN	2

/*
 * The frame of bench_trigger(): the CFA from its stack pointer; return address and
 * frame pointer from that; and a row that says so.
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

/* Back chain that ends a walk in the context of the sample. */
#define LAST_FP		0

/*
 * Return addresses in a slot, as offsets; in its frame the CFA, and from that the
 * return address, and the frame pointer if it is saved.
 */
#define WINDOW_SLOT	32
#define WINDOW_ARG_RA	12
#define WINDOW_RBP_RA	16
#define SLOT_CFA	320
#define SLOT_ARG_RA	-48
#define SLOT_RBP_RA	-48
#define SLOT_RBP_FP	-72

#endif /* BENCH_MACHINE_H */
