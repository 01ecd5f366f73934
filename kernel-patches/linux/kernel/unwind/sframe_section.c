// SPDX-License-Identifier: GPL-2.0
/*
 * Read the header and the text range of an SFrame section, for registration.
 *
 * Runs in process context without locks, since it may take page faults.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/uaccess.h>

#include <asm/unwind_user_sframe.h>

#include "sframe.h"
#include "sframe_format.h"

static int sframe_check_header(const struct sframe_header *header)
{
	/* The layout has changed in each version so far. */
	if (header->magic != SFRAME_MAGIC ||
	    header->version != SFRAME_VERSION_3)
		return -EINVAL;

	/* The search needs sorted FDEs with field-relative addresses. */
	if (header->flags != (SFRAME_F_FDE_SORTED |
			      SFRAME_F_FDE_FUNC_START_PCREL))
		return -EINVAL;

	/* Rules name the registers of one architecture. */
	if (header->abi_arch != UNWIND_USER_SFRAME_ABI ||
	    header->cfa_fixed_ra_offset != UNWIND_USER_SFRAME_RA_OFF ||
	    header->cfa_fixed_fp_offset)
		return -EINVAL;

	/* No producer emits an auxiliary header. */
	if (header->auxhdr_len)
		return -EINVAL;

	return 0;
}

/* The index precedes the rows, and both must lie within the section. */
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
	/* Bound the time of a search. */
	if (header->num_fdes > capacity || header->num_fdes > SFRAME_MAX_FDES)
		return -EINVAL;

	section->num_fdes = header->num_fdes;
	section->fdes = behind + header->fdes_off;
	section->fres = behind + header->fres_off;
	section->fres_end = section->fres + header->fre_len;
	return 0;
}

/**
 * sframe_check_range - check the address range of a table
 * @addr:	user address of the table
 * @len:	its length
 * @least:	size of its header
 *
 * Offsets in a table have 32 bits, and the range must not wrap. If user space
 * has an address space of its own, access_ok() accepts any range.
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
	/* Reads keep the tag of the address. Text addresses have no tag. */
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

	/* The caller checks the range, but could not detect this overflow. */
	if (check_add_overflow(last, size, end))
		return -EINVAL;
	return 0;
}
