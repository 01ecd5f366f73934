/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A sample to frames: one step after the other, by the row of an address where
 * there is one, else by its call frame information, else as the instructions
 * near it tell.
 */
#ifndef SFJIT_STACKS_WALK_H
#define SFJIT_STACKS_WALK_H

#include <sframegen.h>

#include "code.h"
#include "process.h"
#include "table.h"

struct known_row;
struct known_place;
struct known_insn;

struct walk {
	unsigned int abi;
	uint8_t register_of[64];	/* DWARF number of a bit in a sample */
	uint8_t sp;
	int pc_bit;
	struct known_row *rows;		/* that samples needed */
	struct known_place *places;
	struct known_insn *insns;
	struct code code;

	/* The sample. */
	const struct process *process;
	uint64_t time;
	const uint8_t *stack;
	uint64_t stack_start, stack_length;
	uint64_t missed;		/* the last address that is not in it */
	bool has_missed;
	bool in_go;			/* by a row of Go's table */

	/* Its frames. */
	struct sfjit_stacks_frame frames[SFJIT_STACKS_MAX_FRAMES];
	size_t nr;
	enum sfjit_stacks_reason end;
};

/* -ENOTSUP: perf's registers of this ABI are not known here. */
int walk_init(struct walk *walk, unsigned int abi);
void walk_clear(struct walk *walk);

uint64_t walk_registers(const struct walk *walk);

/* Of NULL nothing is known. -EINVAL: it has no pc or no stack pointer. */
int walk_sample(struct walk *walk, const struct process *process, uint64_t time,
		const struct sfjit_stacks_sample *sample);

/* See sfjit_stacks_look(). */
enum sfjit_stacks_reason walk_look(struct walk *walk,
				   const struct process *process, uint64_t time,
				   uint64_t addr);

#endif /* SFJIT_STACKS_WALK_H */
