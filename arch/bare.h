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

/*
 * Rules of leaves, by number. The first is that of a function's entry. None:
 * the machine's leaves are found by sfg_convert() (SFG_INPUT_CODE).
 */
extern const struct sfjit_row bare_rows[];
extern const unsigned int bare_nr_rows;

/* In place of a number: code that returns from signals, which has no rule. */
#define BARE_SIGNAL	255

struct bare_range {
	uint32_t	start, end;
	uint8_t		row;		/* of bare_rows */
};

/**
 * bare_leaves - find leaves in code without call frame information
 * @text:	instructions
 * @size:	bytes of them
 * @ranges:	set, sorted; from malloc()
 * @nr:		set to how many
 * @links:	only code of linkers that leads on to other functions
 *
 * From a leaf every way leads to a return, and none changes the stack or frame
 * pointer before, nor the return address. So in all of the leaf the return
 * address is where the return finds it, wherever the leaf is entered. After
 * data, code may be taken for other instructions up to the first that both have
 * in common, and get their leaves.
 *
 * Return: 0, or -ENOMEM.
 */
int bare_leaves(const uint8_t *text, uint32_t size, bool links,
		struct bare_range **ranges, size_t *nr);

/**
 * bare_signal - does a function return from signals, unknown to its call frame
 * information?
 * @text:	its instructions
 * @size:	bytes of them
 *
 * Its rows are left out then, and bare_leaves() is shown its code.
 */
bool bare_signal(const uint8_t *text, uint32_t size);

#define BARE_FALSE_MAX	128

/**
 * bare_false - find where the rows of a function are false
 * @f:		the function
 * @text:	its instructions
 * @ranges:	set, sorted
 *
 * An unwinder resumes at a handler by __builtin_eh_return(). gcc ends such a
 * function with a stack pointer from another register. Before, libgcc calls a
 * function that overwrites what the caller's registers and return address are
 * restored from, while the rows still say that they are the caller's; and then
 * one that is empty, for debuggers.
 *
 * Interpreters in assembly may be a single function with a single row, of code
 * that has a frame. It is false where they build and drop that.
 *
 * Return: number of ranges.
 */
size_t bare_false(const struct sfjit_function *f, const uint8_t *text,
		  struct bare_range ranges[BARE_FALSE_MAX]);

/* Corrects the rows of a function that is known for false ones. */
void bare_correct(struct sfjit_row *rows, uint32_t nr);

/*
 * The effect of an instruction, for bare.c. @to: where a jump goes, or the
 * code's size; @length 0: no instruction
 */
struct bare_step {
	uint32_t	to;
	uint8_t		length;
	uint8_t		row;		/* as of a range */
	bool		falls;		/* to the next one */
	bool		jumps;
	bool		leaf;
	bool		ends;		/* a way leads to a return */
	bool		links;		/* as for bare_leaves() */
};

/*
 * Each machine has this: sets the steps at which instructions begin, as far as
 * there are instructions.
 */
void bare_decode(struct bare_step *steps, const uint8_t *text, uint32_t size);

#endif /* SFJIT_BARE_H */
