// SPDX-License-Identifier: GPL-2.0
/*
 * What is read of an SFrame section when it is registered: the header, the
 * range of its text, and the rows of a small table, which makes steps short.
 *
 * Process context, without locks, since page faults are taken.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/uaccess.h>

#include <asm/unwind_user_sframe.h>

#include "sframe.h"
#include "sframe_format.h"

static int sframe_check_header(const struct sframe_header *header)
{
	/* Each version so far has another layout. */
	if (header->magic != SFRAME_MAGIC ||
	    header->version != SFRAME_VERSION_3)
		return -EINVAL;

	/* The search needs order, and addresses relative to their field. */
	if (header->flags != (SFRAME_F_FDE_SORTED |
			      SFRAME_F_FDE_FUNC_START_PCREL))
		return -EINVAL;

	/* Rules are in terms of one machine's registers. */
	if (header->abi_arch != UNWIND_USER_SFRAME_ABI ||
	    header->cfa_fixed_ra_offset != UNWIND_USER_SFRAME_RA_OFF ||
	    header->cfa_fixed_fp_offset)
		return -EINVAL;

	/* Nobody emits an auxiliary header. */
	if (header->auxhdr_len)
		return -EINVAL;

	return 0;
}

/*
 * The index lies in front of the rows, and these in the section. In a live
 * section the index grows up to the rows, and these up to the end.
 */
static int sframe_set_extent(struct sframe_section *section,
			     const struct sframe_header *header, bool live)
{
	unsigned long behind = section->start + sizeof(*header);
	unsigned long len = section->length - sizeof(*header);
	u32 capacity, fre_len;

	if (header->fres_off > len || header->fdes_off > header->fres_off)
		return -EINVAL;
	len -= header->fres_off;
	fre_len = live ? len : header->fre_len;
	if (fre_len > len)
		return -EINVAL;

	capacity = (header->fres_off - header->fdes_off) /
		   sizeof(struct sframe_fde);
	/* Also of a live section: what is there was appended. */
	if (header->num_fdes > capacity)
		return -EINVAL;
	section->num_fdes = live ? capacity : header->num_fdes;
	/* The time of a search is bounded. */
	if (section->num_fdes > SFRAME_MAX_FDES)
		return -EINVAL;

	section->fdes = behind + header->fdes_off;
	section->fres = behind + header->fres_off;
	section->fres_end = section->fres + fre_len;
	section->live = live;
	return 0;
}

/**
 * sframe_check_range - can a table be there?
 * @addr:	user address of the table
 * @len:	its length
 * @least:	bytes of its header
 *
 * Offsets in a table have 32 bits, and it must not wrap. Where user space is apart
 * from the kernel, access_ok() takes any range.
 *
 * Return: 0 or -EINVAL.
 */
int sframe_check_range(unsigned long addr, unsigned long len,
		       unsigned long least)
{
	if (len < least || len > U32_MAX ||
	    !access_ok((void __user *)addr, len) ||
	    (IS_ENABLED(CONFIG_ALTERNATE_USER_ADDRESS_SPACE) &&
	     addr > TASK_SIZE_MAX - len))
		return -EINVAL;
	return 0;
}

/**
 * sframe_read_header - read and check the header of a section
 * @section:	filled from the header
 * @addr:	user address of the section
 * @len:	its length
 * @live:	the section grows
 *
 * Return: 0, -EINVAL or -EFAULT.
 */
int sframe_read_header(struct sframe_section *section, unsigned long addr,
		       unsigned long len, bool live)
{
	struct sframe_header header;
	int ret;

	/* The count of a live section is read by one aligned load. */
	if (live && !IS_ALIGNED(addr, sizeof(u64)))
		return -EINVAL;

	ret = sframe_check_range(addr, len, sizeof(header));
	if (ret)
		return ret;
	if (copy_from_user(&header, (void __user *)addr, sizeof(header)))
		return -EFAULT;
	ret = sframe_check_header(&header);
	if (ret)
		return ret;

	section->start = addr;
	/* Reads may need the tag of an address, and text has none. */
	section->untag = untagged_addr(addr) - addr;
	section->bias += section->untag;
	section->length = len;
	section->ra_off = header.cfa_fixed_ra_offset;
	return sframe_set_extent(section, &header, live);
}

static int sframe_read_fde(const struct sframe_section *section, u32 nr,
			   unsigned long *start, unsigned long *size)
{
	unsigned long addr = section->fdes + nr * sizeof(struct sframe_fde);
	struct sframe_fde fde;

	if (copy_from_user(&fde, (void __user *)addr, sizeof(fde)))
		return -EFAULT;
	*start = addr + fde.func_start + section->bias;
	*size = fde.func_size;
	return 0;
}

/**
 * sframe_read_text_range - the text from the first to the last FDE
 * @section:	a checked section
 * @start:	first address of the first FDE
 * @end:	first address behind the last FDE
 *
 * Return: 0, -EINVAL if there is no FDE, or -EFAULT.
 */
int sframe_read_text_range(const struct sframe_section *section,
			   unsigned long *start, unsigned long *end)
{
	unsigned long last, size;
	int ret;

	if (!section->num_fdes)
		return -EINVAL;
	ret = sframe_read_fde(section, 0, start, &size);
	if (ret)
		return ret;
	ret = sframe_read_fde(section, section->num_fdes - 1, &last, &size);
	if (ret)
		return ret;

	/* The caller checks the range; only the sum could hide an overflow. */
	if (check_add_overflow(last, size, end))
		return -EINVAL;
	return 0;
}

/* The rules of an address, as a step finds them. */
static bool sframe_read_rules(struct unwind_user_state *state,
			      const struct sframe_window *window,
			      unsigned long ip, struct sframe_func *func)
{
	/* No step looks outside of the text, but a table may be of elsewhere. */
	if (ip < window->text_start || ip >= window->text_end)
		return false;

	guard(pagefault)();
	guard(rcu)();

	state->sframe.slack = SFRAME_INTERVAL;
	state->sframe.budget = sframe_walk_budget(0, true);
	return !sframe_read(state, window, ip, func, NULL);
}

/**
 * sframe_read_rows - copy the rows of a small table
 * @window:	complete, but for @func and @rows
 * @func:	filled with its only function
 * @rows:	space for SFRAME_SMALL_ROWS
 *
 * A step through the window need not read the table then. A table with a
 * mistake is not copied: a walk that meets it will say what is wrong.
 *
 * Return: number of rows, 0 if the table is not small.
 */
unsigned int sframe_read_rows(const struct sframe_window *window,
			      struct sframe_func *func,
			      struct sframe_small_row *rows)
{
	const struct sframe_section *section = &window->section;
	struct unwind_user_state state = { .topmost = true };
	unsigned long start, end;
	unsigned int nr = 0;
	u32 off = 0, size;

	if (section->live || section->num_fdes != 1 ||
	    fault_in_readable((const char __user *)section->start,
			      min(section->length, PAGE_SIZE)) ||
	    sframe_read_text_range(section, &start, &end))
		return 0;

	do {
		if (nr == SFRAME_SMALL_ROWS ||
		    !sframe_read_rules(&state, window, start + off, func))
			return 0;
		rows[nr].start = off;
		rows[nr++].frame = state.sframe.frame;
		if (func->signal && !func->nr_rows)
			return nr;
		off = func->next_row;
		size = func->rep_size ?: func->size;
	} while (off < min(size, func->size));
	return nr;
}
