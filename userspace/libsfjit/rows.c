// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Make rows from stack operations. Each row is made from the whole state after
 * an operation, so that operations in a senseless order cannot leave half of a
 * rule.
 */
#include <errno.h>
#include <stdbool.h>

#include <sframegen.h>

#include "internal.h"

/* Bytes of a push. */
#define WORD	((int32_t)sizeof(void *))

static void fail_rows(struct sfjit_rows *rows, int error)
{
	if (!rows->error)
		rows->error = error;
}

static struct sfjit_row entry_row(void)
{
	struct sfjit_row row;

	sfg_entry_row(SFG_HOST_ABI, &row);
	return row;
}

/* Calls leave the return address in a register, and nothing pushes. */
static bool has_link_register(void)
{
	return sfg_rows_have_ra(SFG_HOST_ABI);
}

static unsigned int frame_pointer(void)
{
	return sfg_frame_pointer(SFG_HOST_ABI);
}

static struct sfjit_row row_of(const struct sfjit_rows_state *state,
			       uint32_t start)
{
	struct sfjit_row row = entry_row();

	row.start = start;
	if (state->outermost) {
		row.flags = SFJIT_ROW_OUTERMOST;
		row.cfa = sfjit_rule_none();
		return row;
	}
	if (state->frame)
		row.cfa = sfjit_rule_reg(frame_pointer(), state->frame);
	else
		row.cfa.offset = state->depth;
	if (state->saved)
		row.fp = sfjit_rule_saved(-state->saved);
	if (state->ra)
		row.ra = sfjit_rule_saved(-state->ra);
	return row;
}

/* The state is valid from here on. Several operations may end at one place. */
static void add_row(struct sfjit_rows *rows, uint32_t start)
{
	struct sfjit_row row = row_of(&rows->now, start);

	if (rows->error)
		return;
	if (rows->nr && start < rows->rows[rows->nr - 1].start) {
		fail_rows(rows, -EINVAL);
		return;
	}
	if (rows->nr && start == rows->rows[rows->nr - 1].start)
		rows->nr--;
	if (rows->nr && sfg_rows_equal(&rows->rows[rows->nr - 1], &row))
		return;
	if (rows->nr == rows->max)
		fail_rows(rows, -ENOSPC);
	else
		rows->rows[rows->nr++] = row;
}

static void set_depth(struct sfjit_rows *rows, uint32_t offset, int64_t depth)
{
	/* The bytes above the return address are the caller's. */
	if (depth < entry_row().cfa.offset || depth % WORD)
		fail_rows(rows, -EINVAL);
	else if (depth > INT32_MAX)
		fail_rows(rows, -EOVERFLOW);
	else
		rows->now.depth = depth;
	/* Words below the stack pointer are lost, so no row may use them. */
	if (!rows->now.frame && rows->now.depth < rows->now.saved)
		rows->now.saved = 0;
	if (!rows->now.frame && rows->now.depth < rows->now.ra)
		rows->now.ra = 0;
	add_row(rows, offset);
}

void sfjit_rows_init(struct sfjit_rows *rows, struct sfjit_row *array,
		     uint32_t max)
{
	*rows = (struct sfjit_rows){ .rows = array, .max = max };
	if (!array)
		rows->max = 0;
	rows->now.depth = entry_row().cfa.offset;
	add_row(rows, 0);
}

void sfjit_rows_push(struct sfjit_rows *rows, uint32_t offset,
		     unsigned int reg)
{
	int64_t depth = (int64_t)rows->now.depth + WORD;

	if (has_link_register())
		fail_rows(rows, -EINVAL);
	/* Only the first push holds the caller's value. */
	if (reg == frame_pointer() && !rows->now.saved && depth <= INT32_MAX)
		rows->now.saved = depth;
	set_depth(rows, offset, depth);
}

void sfjit_rows_pop(struct sfjit_rows *rows, uint32_t offset,
		    unsigned int reg)
{
	struct sfjit_rows_state *now = &rows->now;

	if (has_link_register())
		fail_rows(rows, -EINVAL);
	if (reg == frame_pointer()) {
		/* A row has one place for the caller's value. */
		if (now->saved != now->depth)
			fail_rows(rows, -EINVAL);
		now->saved = 0;
		now->frame = 0;
	} else if (now->saved && now->saved == now->depth) {
		/*
		 * Popped elsewhere: rbp does not hold the caller's value yet.
		 */
		fail_rows(rows, -EINVAL);
	}
	set_depth(rows, offset, (int64_t)now->depth - WORD);
}

void sfjit_rows_adjust(struct sfjit_rows *rows, uint32_t offset,
		       int32_t bytes)
{
	set_depth(rows, offset, (int64_t)rows->now.depth + bytes);
}

void sfjit_rows_depth(struct sfjit_rows *rows, uint32_t offset, int32_t bytes)
{
	set_depth(rows, offset, bytes);
}

void sfjit_rows_saved(struct sfjit_rows *rows, uint32_t offset, int32_t bytes)
{
	struct sfjit_rows_state *now = &rows->now;
	int32_t above = 0;

	/*
	 * A stored return address is between the caller's frame and this one.
	 */
	if (!has_link_register())
		above = entry_row().cfa.offset;
	if (bytes && (bytes % WORD || bytes <= above))
		fail_rows(rows, -EINVAL);
	now->saved = bytes;
	if (!bytes)
		now->frame = 0;
	add_row(rows, offset);
}

void sfjit_rows_saved_ra(struct sfjit_rows *rows, uint32_t offset,
			 int32_t bytes)
{
	if (!has_link_register() || bytes % WORD)
		fail_rows(rows, -EINVAL);
	rows->now.ra = bytes;
	add_row(rows, offset);
}

void sfjit_rows_frame(struct sfjit_rows *rows, uint32_t offset)
{
	if (!rows->now.saved)
		fail_rows(rows, -EINVAL);
	rows->now.frame = rows->now.depth;
	add_row(rows, offset);
}

void sfjit_rows_leave(struct sfjit_rows *rows, uint32_t offset)
{
	struct sfjit_rows_state *now = &rows->now;

	/* It pops the word at the frame pointer. */
	if (has_link_register() || !now->frame || now->saved != now->frame)
		fail_rows(rows, -EINVAL);
	now->depth = now->frame;
	now->frame = 0;
	now->saved = 0;
	set_depth(rows, offset, (int64_t)now->depth - WORD);
}

void sfjit_rows_outermost(struct sfjit_rows *rows, uint32_t offset)
{
	if (offset)
		sfjit_rows_remember(rows);
	rows->now.outermost = 1;
	add_row(rows, offset);
}

void sfjit_rows_remember(struct sfjit_rows *rows)
{
	if (rows->nr_remembered == SFJIT_ROWS_REMEMBERED)
		fail_rows(rows, -EOVERFLOW);
	else
		rows->remembered[rows->nr_remembered++] = rows->now;
}

void sfjit_rows_restore(struct sfjit_rows *rows, uint32_t offset)
{
	if (!rows->nr_remembered)
		fail_rows(rows, -EINVAL);
	else
		rows->now = rows->remembered[--rows->nr_remembered];
	add_row(rows, offset);
}

void sfjit_rows_epilogue(struct sfjit_rows *rows, uint32_t offset)
{
	sfjit_rows_remember(rows);
	rows->now = (struct sfjit_rows_state){
		.depth = entry_row().cfa.offset,
	};
	add_row(rows, offset);
}

int sfjit_rows_function(const struct sfjit_rows *rows, const void *start,
			size_t size, struct sfjit_function *function)
{
	uint32_t nr;

	if (!rows || !start || !function || !size || size > UINT32_MAX)
		return -EINVAL;
	if (rows->error)
		return rows->error;
	nr = rows->nr;
	if (nr > 1 && rows->rows[nr - 1].start == size)
		nr--;
	if (rows->rows[nr - 1].start >= size)
		return -EINVAL;
	*function = (struct sfjit_function){
		.addr = (uintptr_t)start,
		.size = size,
		.nr_rows = nr,
		.rows = rows->rows,
	};
	return 0;
}
