// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: kernel-flip SECTION [PART OF]
 *
 * Flips each bit of a section, as sframegen --elf writes it, in turn, and steps
 * from where its byte matters: in the functions next to an FDE, at the rows of
 * a function. The header, and FDEs that the text range is from, are registered
 * anew. Of OF parts only PART, counted from 0.
 */
#include "flip.h"
#include "input.h"

#define SECTION		0x7f4200000000UL
#define STACK		0x7f5200000000UL
#define MAX_IPS		40

static struct flip {
	u8 *bytes;		/* as they are */
	unsigned long length;
	u32 nr, fdes, fres;
	u32 *owner;		/* of a byte of the rows: an FDE + 1 */
	unsigned long steps;
} flip;

struct fde {
	u64 start;
	u32 size, rows;
};

static u64 number(u32 off, unsigned int size)
{
	return get_number(flip.bytes + off, size);
}

static struct fde fde_at(u32 nr)
{
	u32 off = flip.fdes + 16 * nr;

	return (struct fde) {
		.start = SECTION + off + number(off, 8),
		.size = number(off + 8, 4),
		.rows = flip.fres + number(off + 12, 4),
	};
}

static unsigned int start_size(const struct fde *fde)
{
	return 1 << (number(fde->rows + 2, 1) & 15);
}

static u32 next_row(const struct fde *fde, u32 row)
{
	u8 info;

	row += start_size(fde);
	info = number(row, 1);
	return row + 1 + ((info >> 1 & 15) << (info >> 5 & 3));
}

/* Blocks of rows are shared: one of their owners stands for all. */
static void find_owners(void)
{
	u32 nr, row, rows;
	struct fde fde;

	for (nr = 0; nr < flip.nr; nr++) {
		fde = fde_at(nr);
		row = fde.rows + 5;
		for (rows = number(fde.rows, 2); rows; rows--)
			row = next_row(&fde, row);
		for (; fde.rows < row; fde.rows++)
			flip.owner[fde.rows] = nr + 1;
	}
}

static void step_at(u64 ip)
{
	struct unwind_user_state state = {
		.ip = ip,
		.sp = STACK,
		.fp = STACK + 256,
		.ws = 8,
		.sframe.budget = 4096,
		.regs = &shim_regs,
		.topmost = true,
		.exact_ip = true,
	};

	compare_step(&state);
	flip.steps++;
}

static void step_at_ends(u32 nr)
{
	struct fde fde;

	if (nr >= flip.nr)
		return;
	fde = fde_at(nr);
	step_at(fde.start);
	step_at(fde.start + fde.size - 1);
}

static void step_at_rows(u32 nr)
{
	struct fde fde = fde_at(nr);
	u32 row = fde.rows + 5, rows = number(fde.rows, 2);

	for (rows = min(rows, (u32)MAX_IPS); rows; rows--) {
		step_at(fde.start + number(row, start_size(&fde)));
		row = next_row(&fde, row);
	}
	step_at(fde.start + fde.size - 1);
}

static bool make_window(void)
{
	model_reset();
	return !model_register(0, SECTION, flip.length, 0);
}

static bool is_in_entry(u32 off, u32 nr)
{
	return off - (flip.fdes + 16 * nr) < 16;
}

/* With the byte changed. */
static void try_byte(u32 off)
{
	u32 nr = (off - flip.fdes) / 16;

	if (off < flip.fdes) {
		if (!make_window())
			return;
		step_at_ends(0);
		step_at_ends(flip.nr / 2);
		step_at_ends(flip.nr - 1);
	} else if (nr < flip.nr) {
		if ((is_in_entry(off, 0) || is_in_entry(off, flip.nr - 1)) &&
		    !make_window())
			return;
		step_at_ends(nr - 1);
		step_at_ends(nr);
		step_at_ends(nr + 1);
	} else if (flip.owner[off]) {
		step_at_rows(flip.owner[off] - 1);
	}
}

static void try_bits(u32 off)
{
	u8 *byte = model.regions[REGION_SECTION].bytes + off;
	unsigned int bit;

	for (bit = 0; bit < 8; bit++) {
		*byte ^= 1 << bit;
		try_byte(off);
		*byte ^= 1 << bit;
	}
	/* Whatever window that was. */
	if (!make_window())
		finding("the section as it was is refused");
}

unsigned long flip_bits(u8 *bytes, unsigned long length, u8 *copy,
			u32 *owner, struct shadow *shadow, u8 *pages,
			unsigned int part, unsigned int of)
{
	unsigned long size = (length + PAGE_SIZE) & ~(PAGE_SIZE - 1);
	unsigned long off;

	input_memory();
	model.regions[REGION_SECTION] = (struct region) {
		.base = SECTION, .size = size, .bytes = copy, .pages = pages,
	};
	model.regions[REGION_STACK].base = STACK;
	model.shadow = shadow;
	memcpy(copy, bytes, length);
	flip.bytes = bytes;
	flip.length = length;
	flip.owner = owner;
	flip.nr = number(8, 4);
	flip.fdes = 28 + number(20, 4);
	flip.fres = 28 + number(24, 4);
	find_owners();
	if (!make_window())
		finding("the section is refused");
	for (off = length * part / of; off < length * (part + 1) / of; off++)
		try_bits(off);
	return flip.steps;
}
