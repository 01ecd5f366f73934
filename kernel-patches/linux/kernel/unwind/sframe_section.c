// SPDX-License-Identifier: GPL-2.0
/*
 * Registration reads the header of an SFrame section, and the range of its text.
 *
 * Process context, without locks, since page faults are taken.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
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

/* The index comes before the rows, and both are inside of the section. */
static int sframe_set_extent(struct sframe_section *section,
			     const struct sframe_header *header)
{
	unsigned long behind = section->start + sizeof(*header);
	unsigned long len = section->length - sizeof(*header);
	u32 capacity;

	if (header->fres_off > len || header->fdes_off > header->fres_off)
		return -EINVAL;
	if (header->fre_len > len - header->fres_off)
		return -EINVAL;

	capacity = (header->fres_off - header->fdes_off) /
		   sizeof(struct sframe_fde);
	/* The time of a search is bounded. */
	if (header->num_fdes > capacity || header->num_fdes > SFRAME_MAX_FDES)
		return -EINVAL;

	section->num_fdes = header->num_fdes;
	section->fdes = behind + header->fdes_off;
	section->fres = behind + header->fres_off;
	section->fres_end = section->fres + header->fre_len;
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
 *
 * Return: 0, -EINVAL or -EFAULT.
 */
int sframe_read_header(struct sframe_section *section, unsigned long addr,
		       unsigned long len)
{
	struct sframe_header header;
	int ret;

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
	return sframe_set_extent(section, &header);
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
 * @end:	first address after the last FDE
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
