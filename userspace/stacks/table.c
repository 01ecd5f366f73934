// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Tables, wherever their call frame information is from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

void table_clear(struct table *table)
{
	sfg_close_cfi(table->cfi);
	sfg_close_cfi(table->debug);
	free(table->data);
	free(table->debug_data);
	free(table->go);
	free(table->go_data);
	free(table->segments);
	table->cfi = table->debug = NULL;
	table->go = NULL;
	table->data = table->debug_data = table->go_data = NULL;
	table->segments = NULL;
	table->nr_segments = 0;
	table->cfi_bytes = 0;
}

int code_read_table(unsigned int abi, const struct sfjit_stacks_code *code,
		    struct table *table)
{
	struct sfg_input in = { .abi = abi, .flags = SFG_INPUT_ADDENDS };
	int ret;

	table->data = malloc(code->table_length + 1);
	if (!table->data)
		return -ENOMEM;
	memcpy(table->data, code->table, code->table_length);
	in.cfi = (struct sfg_image) {
		table->data, code->table_length, code->table_address,
	};
	ret = sfg_open_cfi(&in, &table->cfi, NULL);
	if (ret) {
		table_clear(table);
		return ret == -ENOMEM ? ret : -EINVAL;
	}
	table->bytes = sizeof(*table) + code->table_length;
	table_count(table);
	return 0;
}

void table_count(struct table *table)
{
	size_t bytes = 0;

	if (table->cfi)
		bytes += sfg_cfi_memory(table->cfi);
	if (table->debug)
		bytes += sfg_cfi_memory(table->debug);
	table->bytes += bytes - table->cfi_bytes;
	if (table->all_bytes)
		*table->all_bytes += bytes - table->cfi_bytes;
	table->cfi_bytes = bytes;
}

static bool has_eh_frame(const struct table *table, uint64_t addr)
{
	return table->cfi && sfg_has_cfi(table->cfi, addr);
}

bool table_has_eh_frame(struct table *table, uint64_t addr)
{
	bool has = has_eh_frame(table, addr);

	table_count(table);
	return has;
}

/*
 * A program without unwind tables has an .eh_frame nevertheless: that of the C
 * library's crt1.o.
 */
static struct sfg_cfi *find_cfi(const struct table *table, uint64_t addr)
{
	if (!table->debug || has_eh_frame(table, addr))
		return table->cfi;
	return table->debug;
}

int table_find_row(struct table *table, uint64_t addr, uint64_t *budget,
		   struct sfjit_row *row)
{
	struct sfg_cfi *cfi = find_cfi(table, addr);
	int ret = cfi ? sfg_find_cfi_row(cfi, addr, budget, row) : -ENOENT;

	table_count(table);
	return ret;
}

int table_step(struct table *table, uint64_t bias, struct sfg_frame *frame)
{
	struct sfg_cfi *cfi = find_cfi(table,
				       frame->pc - frame->called - bias);
	int ret = cfi ? sfg_step_cfi(cfi, bias, frame) : -ENOENT;

	table_count(table);
	return ret;
}

/*
 * That of ld.so has 61 bytes on x86-64, and no call frame information. That of
 * other C libraries than glibc mostly has none, either.
 */
#define ENTRY_MOST	64

bool table_is_entry(const struct table *table, uint64_t addr)
{
	return table->entry && addr - table->entry < ENTRY_MOST;
}

const struct segment *table_segment(const struct table *table, uint64_t offset)
{
	size_t i;

	for (i = 0; i < table->nr_segments; i++)
		if (offset - table->segments[i].offset <
		    table->segments[i].length)
			return &table->segments[i];
	return NULL;
}

const struct segment *table_segment_at(const struct table *table,
				       uint64_t addr)
{
	size_t i;

	for (i = 0; i < table->nr_segments; i++)
		if (addr - table->segments[i].addr < table->segments[i].length)
			return &table->segments[i];
	return NULL;
}

/*
 * A mapping may begin before the segment does: both are rounded to pages, and
 * the last page of one segment is often the first of the next.
 */
bool table_address(const struct table *table, uint64_t offset, uint64_t *addr)
{
	const struct segment *s = table_segment(table, offset);

	if (s)
		*addr = s->addr + (offset - s->offset);
	return s;
}
