/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What instructions say where call frame information says nothing, or a lie.
 */
#ifndef SFJIT_BARE_H
#define SFJIT_BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfjit/rows.h>

/* The rule of leaves: as where a function is entered. */
#define BARE_LEAF_ROW { 0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, \
			SFJIT_NO_RULE }

struct bare_range {
	uint32_t start, end;
};

/**
 * bare_leaves - find leaves in code without call frame information
 * @text:	instructions
 * @size:	bytes of them
 * @ranges:	set, sorted; from malloc()
 * @nr:		set to how many
 *
 * From a leaf every way leads to a return, and none changes the stack or frame
 * pointer before. A return takes its address from the top of the stack, so it
 * is there in all of the leaf, wherever that is entered. Where data lies in
 * front of code, the code may be taken for other instructions up to the first
 * that both have in common, and be given their leaves.
 *
 * Return: 0, or -ENOMEM.
 */
int bare_leaves(const uint8_t *text, uint32_t size, struct bare_range **ranges,
		size_t *nr);

/**
 * bare_resumes - find where the rows of a function become false
 * @row:	a row of it
 * @text:	the function, from its first instruction
 * @size:	bytes of it
 * @false_from:	set: from here to @row->start
 *
 * An unwinder resumes at a handler by __builtin_eh_return(). gcc ends such a
 * function with a stack pointer from rcx. Before, libgcc calls a function that
 * overwrites what the caller's registers and return address are restored from,
 * while the rows still say that they are the caller's; and then one that is
 * empty, for debuggers.
 *
 * Return: whether it is such a function, and @row its end.
 */
bool bare_resumes(const struct sfjit_row *row, const uint8_t *text,
		  uint32_t size, uint32_t *false_from);

#endif /* SFJIT_BARE_H */
