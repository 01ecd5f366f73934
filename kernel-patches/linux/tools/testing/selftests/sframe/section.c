// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Make SFrame sections field by field, valid or not, and register them.
 */
#include <stdio.h>
#include <sys/prctl.h>

#include "slots.h"

struct sframe_header *sft_header(void *sec)
{
	return sec;
}

struct sframe_fde *sft_index(void *sec, unsigned int i)
{
	return (struct sframe_fde *)(sft_header(sec) + 1) + i;
}

static __u8 *sft_rows_area(void *sec)
{
	return (__u8 *)(sft_header(sec) + 1) + sft_header(sec)->fres_off;
}

struct sframe_fde_attr *sft_attr(void *sec, unsigned int i)
{
	__u8 *area = sft_rows_area(sec);

	return (struct sframe_fde_attr *)(area + sft_index(sec, i)->fre_off);
}

__u8 *sft_row_bytes(void *sec, unsigned int i)
{
	return (__u8 *)(sft_attr(sec, i) + 1);
}

__u8 *sft_put(__u8 *pos, __u32 value, unsigned int size)
{
	const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	memcpy(pos, (__u8 *)&value + (big ? sizeof(value) - size : 0), size);
	return pos + size;
}

static __u8 *put_row(__u8 *pos, const struct sft_row *row,
		     unsigned int start_size)
{
	unsigned int i, word_size = 1U << SFRAME_FRE_WORD_SIZE(row->info);

	pos = sft_put(pos, row->start, start_size);
	pos = sft_put(pos, row->info | row->nr_words << 1, 1);
	for (i = 0; i < row->nr_words; i++)
		pos = sft_put(pos, row->words[i], word_size);
	return pos;
}

static __u8 *put_function(__u8 *pos, const struct sft_fde *fde)
{
	struct sframe_fde_attr attr = {
		.num_fres = fde->nr_rows,
		.info = fde->info,
		.info2 = fde->info2,
		.rep_size = fde->rep_size,
	};
	unsigned int i, start_size = 1U << SFRAME_FDE_FRE_TYPE(fde->info);

	memcpy(pos, &attr, sizeof(attr));
	pos += sizeof(attr);
	for (i = 0; i < fde->nr_rows; i++)
		pos = put_row(pos, &fde->rows[i], start_size);
	return pos;
}

/* The header of a section with no functions yet, and space for @capacity. */
static void put_header(void *sec, __u32 capacity)
{
	*sft_header(sec) = (struct sframe_header) {
		.magic = SFRAME_MAGIC,
		.version = SFRAME_VERSION_3,
		.flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
		.abi_arch = SFT_ABI,
		.cfa_fixed_ra_offset = SFT_RA_OFF,
		.fres_off = capacity * sizeof(struct sframe_fde),
	};
}

/* Write function @i, its rows to @pos; returns where they end. */
static __u8 *put_fde(void *sec, unsigned int i, __u8 *pos,
		     const struct sft_fde *func)
{
	struct sframe_fde *fde = sft_index(sec, i);

	fde->func_start = (uintptr_t)func->start - (uintptr_t)fde;
	fde->func_size = func->size;
	fde->fre_off = pos - sft_rows_area(sec);
	return put_function(pos, func);
}

size_t sft_build(void *sec, const struct sft_fde *fdes, unsigned int nr)
{
	struct sframe_header *header = sft_header(sec);
	unsigned int i, num_fres = 0;
	__u8 *pos;

	put_header(sec, nr);
	pos = sft_rows_area(sec);
	for (i = 0; i < nr; i++) {
		num_fres += fdes[i].nr_rows;
		pos = put_fde(sec, i, pos, &fdes[i]);
	}
	header->num_fdes = nr;
	header->num_fres = num_fres;
	header->fre_len = pos - sft_rows_area(sec);
	return pos - (__u8 *)sec;
}

static int result(int ret)
{
	return ret < 0 ? -errno : ret;
}

int sft_register(unsigned long key, const void *sec, size_t len,
		 const struct sframe_window_opts *opts)
{
	return result(prctl(PR_SFRAME_REGISTER, key, sec, len, opts));
}

int sft_register_text(unsigned long key, const void *sec, size_t len,
		      const void *text, size_t text_len, __u32 flags)
{
	struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.flags = flags,
		.text_start = (uintptr_t)text,
		.text_length = text_len,
	};

	return sft_register(key, sec, len, &opts);
}

int sft_unregister(unsigned long key)
{
	return result(prctl(PR_SFRAME_UNREGISTER, key, 0UL, 0UL, 0UL));
}

int sft_query(unsigned long what)
{
	return result(prctl(PR_SFRAME_QUERY, what, 0UL, 0UL, 0UL));
}

#if SFT_CALLEES

/* No test uses this key. */
#define KEY_CALLEES	0x100000000UL

static int register_callee(unsigned long key, const char *start,
			   const char *end)
{
	struct sft_fde fde = SFT_FDE(start, end - start, sft_leaf_rows);
	void *section = sft_map(SFT_PAGE, SFT_RW);

	if (!section)
		return -ENOMEM;
	return sft_register(key, section, sft_build(section, &fde, 1),
			    NULL);
}

int sft_register_callees(void)
{
	return register_callee(KEY_CALLEES, sft_leaf, sft_leaf_end) ?:
	       register_callee(KEY_CALLEES + 1, sft_escape, sft_escape_end);
}

#else

int sft_register_callees(void)
{
	return 0;
}

#endif

const char *sft_missing(void)
{
	if (sft_query(PR_SFRAME_QUERY_FORMATS) < 0)
		return "kernel without CONFIG_UNWIND_USER_SFRAME";
	return NULL;
}
