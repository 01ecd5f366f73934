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

/* Does a step by frame pointer tell what rows start from? */
#define FP_GIVES_ROW	1

/* Frames have the address of the next one, instead of frame pointers. */
#define BACK_CHAIN	0

/* How far the CFA is above the stack pointer of the caller. */
#define SAVE_AREA	0

/* What the kernel has return addresses be a multiple of. */
#define CODE_ALIGN	1

/*
 * The frame of bench_trigger(): the CFA from its stack pointer; return address and
 * frame pointer from that; and a row that says so.
 */
#define TRIGGER_CFA	32
#define TRIGGER_RA	-8
#define TRIGGER_FP	-16
#define TRIGGER_ROW	{ }

/* A frame that needs no row. */
#define PLAIN_FROM_FP	1
#define PLAIN_CFA	16
#define PLAIN_RA	-8
#define PLAIN_FP	-16

/* Frame pointer that ends a walk in the context of the sample. */
#define LAST_FP		-1

/*
 * Return addresses in a slot, as offsets; in its frame the CFA, and from that the
 * return address, and the frame pointer if it is saved.
 */
#define WINDOW_SLOT	16
#define WINDOW_ARG_RA	8
#define WINDOW_RBP_RA	10
#define SLOT_CFA	16
#define SLOT_ARG_RA	-8
#define SLOT_RBP_RA	-8
#define SLOT_RBP_FP	-16

#endif /* BENCH_MACHINE_H */
