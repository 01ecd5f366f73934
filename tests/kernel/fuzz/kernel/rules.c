// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The kernel's reader of packed tables against sfg_find_packed_row(): the rule of
 * each address of a table that the library finds correct. No read may be outside
 * of the table, and no look-up may make more than the format allows.
 */
#include <linux/sframe.h>

#include <sframegen.h>

#include "sframe_packed.h"
#include "sframe_step.h"
#include "alone.h"
#include "no-files.h"
#include "machine.h"
#include "rules.h"

/* Entry, number of changes, changes, id, rule and addend. */
#define MOST_READS	(1 + 1 + 32 + 1 + 2 + 2)

bool shim_has_mask = true;
struct task_struct shim_task;

static const u8 *table_data;
static unsigned long table_size;
static unsigned int reads;
static bool open;

/* ---- The kernel around the reader -------------------------------------- */

static int load(void *dst, unsigned long addr, unsigned long size)
{
	unsigned long off = addr - (unsigned long)table_data;

	if (off >= table_size || size > table_size - off)
		finding("the kernel reads outside of the table");
	memcpy(dst, table_data + off, size);
	return 0;
}

bool shim_access_begin(unsigned long addr, unsigned long size)
{
	if (open)
		finding("user access is opened twice");
	open = true;
	return true;
}

void shim_access_end(void)
{
	open = false;
}

int shim_unsafe_load(void *dst, unsigned long addr, unsigned int size)
{
	if (!open)
		finding("user memory is read without being opened");
	reads++;
	return load(dst, addr, size);
}

unsigned long copy_from_user(void *dst, const void *src, unsigned long size)
{
	load(dst, (unsigned long)src, size);
	return 0;
}

unsigned long shim_mask_table(unsigned long addr)
{
	return addr;
}

unsigned long shim_mask(unsigned long addr)
{
	return addr;
}

unsigned long shim_index_nospec(unsigned long index, unsigned long size)
{
	return index < size ? index : 0;
}

u64 local_clock(void)
{
	return 0;
}

int sframe_check_range(unsigned long addr, unsigned long len,
		       unsigned long least)
{
	return len < least || len > U32_MAX ? -EINVAL : 0;
}

enum sframe_reason sframe_look(struct sframe_walk *walk)
{
	return SFRAME_REASON_NONE;
}

void sframe_find_window(struct sframe_walk *walk, unsigned long ip)
{
	finding("a window is looked up");
}

/* ---- The comparison ---------------------------------------------------- */

static bool is_reg(const struct sfjit_rule *rule, unsigned int reg)
{
	return rule->base == SFJIT_BASE_REG && rule->reg == reg;
}

static bool is_saved(const struct sfjit_rule *rule)
{
	return rule->base == SFJIT_BASE_CFA && rule->deref;
}

/* No rule of a return address: where a call puts it. */
static struct sfjit_rule ra_of(const struct sfjit_row *row)
{
	if (row->ra.base != SFJIT_BASE_NONE)
		return row->ra;
	return MACHINE_RA ? sfjit_rule_saved(MACHINE_RA) :
			    sfjit_rule_reg(MACHINE_LR, 0);
}

/* Did a call or its function put it there? */
static bool is_called(const struct sfjit_rule *ra)
{
	if (is_reg(ra, MACHINE_LR))
		return !ra->deref;
	return (is_saved(ra) && ra->offset < 0) ||
	       (is_reg(ra, MACHINE_FP) && ra->deref);
}

static bool is_plain(const struct sfjit_row *row, const struct sfjit_rule *ra)
{
	return (is_reg(&row->cfa, MACHINE_SP) || is_reg(&row->cfa, MACHINE_FP)) &&
	       !row->cfa.deref && is_saved(ra) &&
	       (row->fp.base == SFJIT_BASE_NONE || is_saved(&row->fp));
}

static unsigned int kind_of(const struct sfjit_function *fde,
			    const struct sfjit_row *row)
{
	const struct sfjit_rule ra = ra_of(row);

	if (row->flags & SFJIT_ROW_OUTERMOST)
		return UNWIND_USER_FRAME_OUTERMOST;
	if (row->flags & SFG_ROW_FP)
		return UNWIND_USER_FRAME_POINTER;
	if (fde->flags & SFJIT_FUNCTION_SIGNAL)
		return is_called(&ra) ? UNWIND_USER_FRAME_RULES :
					UNWIND_USER_FRAME_SIGNAL;
	return is_plain(row, &ra) ? UNWIND_USER_FRAME_PLAIN :
				    UNWIND_USER_FRAME_RULES;
}

static bool same_rule(const struct sfjit_rule *rule,
		      const struct unwind_user_rule *got)
{
	if (got->from == UNWIND_USER_FROM_NONE)
		return rule->base == SFJIT_BASE_NONE;
	if (rule->offset != got->off ||
	    rule->deref != !!(got->from & UNWIND_USER_DEREF))
		return false;
	switch (got->from & ~UNWIND_USER_DEREF) {
	case UNWIND_USER_FROM_CFA:
		return rule->base == SFJIT_BASE_CFA;
	case UNWIND_USER_FROM_SP:
		return is_reg(rule, MACHINE_SP);
	case UNWIND_USER_FROM_FP:
		return is_reg(rule, MACHINE_FP);
	case UNWIND_USER_FROM_LR:
		return is_reg(rule, MACHINE_LR);
	default:
		return is_reg(rule, got->regnum);
	}
}

static bool same_row(const struct sfjit_function *fde,
		     const struct sfjit_row *row,
		     const struct unwind_user_frame *frame)
{
	const struct sfjit_rule ra = ra_of(row);

	if (frame->kind > UNWIND_USER_FRAME_RULES)
		return true;
	return same_rule(&row->cfa, &frame->cfa) && same_rule(&ra, &frame->ra) &&
	       same_rule(&row->fp, &frame->fp) &&
	       row->cfa.addend == frame->cfa_addend &&
	       frame->third * SFJIT_ROW_RBX_KEPT == (row->flags & SFJIT_ROW_RBX) &&
	       frame->exact == !!(fde->flags & SFJIT_FUNCTION_SIGNAL) &&
	       frame->sp_off == -MACHINE_SAVED;
}

static void check_reads(void)
{
	if (reads > MOST_READS)
		finding("a look-up makes too many reads");
	if (open)
		finding("user access is left open");
}

/* The same rule without a read, if the table is a file's? */
static bool compare_copy(const struct sframe_window *copy, unsigned long addr,
			 enum sframe_reason want,
			 const struct unwind_user_frame *frame)
{
	struct unwind_user_state state = { .topmost = true };
	enum sframe_reason reason;

	reads = 0;
	reason = sframe_read_packed(&state, copy, addr, NULL);
	if (reads)
		finding("a copy of a table is read as user memory");
	return reason == want &&
	       (reason || !memcmp(&state.sframe.frame, frame, sizeof(*frame)));
}

/* Return: is the rule of this address the same? */
static bool compare(const struct sfg_packed *table,
		    const struct sframe_window *window,
		    const struct sframe_window *copy, unsigned long addr,
		    struct rules_found *found)
{
	struct unwind_user_state state = { .topmost = true };
	unsigned int kind = RULES_UNKNOWN;
	struct sfjit_function fde;
	enum sframe_reason reason;
	struct sfg_error err;
	struct sfjit_row row;
	int ret = sfg_find_packed_row(table, addr, &fde, &row, &err);

	if (ret && ret != -ENOENT)
		finding(err.reason);
	if (!ret)
		kind = kind_of(&fde, &row);
	else if (fde.size)
		kind = UNWIND_USER_FRAME_SIGNAL;
	found->kinds[kind]++;

	reads = 0;
	reason = sframe_read_packed(&state, window, addr, NULL);
	check_reads();
	found->most_reads = max(found->most_reads, reads);
	if (!compare_copy(copy, addr, reason, &state.sframe.frame))
		return false;
	if (reason || kind == RULES_UNKNOWN)
		return reason == SFRAME_REASON_NO_ROW && kind == RULES_UNKNOWN;
	return kind == state.sframe.frame.kind &&
	       (ret || same_row(&fde, &row, &state.sframe.frame));
}

int rules_compare(const void *data, unsigned long size,
		  struct rules_found *found)
{
	struct sframe_window window = { .format = SFRAME_FORMAT_PACKED };
	struct sframe_window copy = window;
	struct sfg_packed table;
	struct sfg_error err;
	unsigned long addr, end;

	*found = (struct rules_found){ 0 };
	table_data = data;
	table_size = size;
	if (sfg_open_packed(&table, data, size, &err) ||
	    sfg_check_packed(&table, &err) ||
	    sframe_read_packed_header(&window.packed, (unsigned long)data, size,
				      0))
		return 1;
	if (sframe_check_copy(&copy.packed, data, size, 0))
		finding("a file's table is refused");
	copy.copied = true;
	end = table.header.text_start + table.header.text_length;
	for (addr = table.header.text_start; addr < end; addr++)
		if (!compare(&table, &window, &copy, addr, found) &&
		    !found->different++)
			found->first = addr;
	return 0;
}

static u64 random_state = 88172645463325252ULL;

static u64 random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

int rules_hostile(unsigned char *data, unsigned long size, unsigned long count)
{
	const unsigned long header = sizeof(struct sframe_packed_header);
	struct sframe_window window = { .format = SFRAME_FORMAT_PACKED };
	struct sframe_packed *packed = &window.packed;
	unsigned int most = 0;

	table_data = data;
	table_size = size;
	if (sframe_read_packed_header(packed, (unsigned long)data, size, 0))
		return -1;
	while (count--) {
		struct unwind_user_state state = { .topmost = true };

		data[header + random_number() % (size - header)] =
			random_number() >> 32;
		reads = 0;
		sframe_read_packed(&state, &window, packed->text_start +
				   random_number() % packed->text_length, NULL);
		check_reads();
		most = max(most, reads);
	}
	return most;
}
