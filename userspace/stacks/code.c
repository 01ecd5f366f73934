// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Reads the instructions of files at addresses without rules. Most files have none,
 * so this reads them on demand, a part at a time, and keeps the last part.
 */
#include <errno.h>
#include <stdlib.h>

#include "code.h"

#define PART	(256 << 10)	/* that is read, at least */
#define BEFORE	(16 << 10)	/* functions jump back, and on */
#define AFTER	(64 << 10)
#define LONGEST	(16 << 20)	/* function of Go */

void code_clear(struct code *code)
{
	free(code->bytes);
	code->bytes = NULL;
	code->size = 0;
}

static bool has_part(const struct code *code, const struct table *table,
		     uint64_t from, uint64_t to)
{
	return code->table == table->serial && from >= code->offset &&
	       to <= code->offset + code->length;
}

static bool grow_code(struct code *code, size_t size)
{
	uint8_t *bytes;

	if (size <= code->size)
		return true;
	bytes = realloc(code->bytes, size);
	if (!bytes)
		return false;
	code->bytes = bytes;
	code->size = size;
	return true;
}

/* From well before 'offset' up to 'to', or further. */
static bool read_code_part(struct code *code, struct origin *origin,
			   const struct user *user, const struct segment *s,
			   uint64_t offset, uint64_t to)
{
	uint64_t skip = offset - s->offset, length;

	skip = skip > PART / 2 ? (skip - PART / 2) & -(uint64_t)BEFORE : 0;
	length = s->length - skip < PART ? s->length - skip : PART;
	if (length < to - s->offset - skip)
		length = to - s->offset - skip;
	code->table = 0;
	if (!grow_code(code, length))
		return false;
	code->offset = s->offset + skip;
	code->length = length;
	if (files_read(origin, user, code->offset, code->bytes, length))
		return false;
	code->table = origin->table->serial;
	return true;
}

/* 'before' and 'after' an offset, as far as its segment has them. */
static bool need_part(struct code *code, struct origin *origin,
		      const struct user *user, const struct segment *s,
		      uint64_t offset, uint64_t before, uint64_t after)
{
	uint64_t skip = offset - s->offset, left = s->length - skip;
	uint64_t from = offset - (skip < before ? skip : before);
	uint64_t to = offset + (left < after ? left : after);

	return has_part(code, origin->table, from, to) ||
	       read_code_part(code, origin, user, s, offset, to);
}

int code_find_row(struct code *code, unsigned int abi, struct origin *origin,
		  const struct user *user, uint64_t offset, int64_t sp,
		  bool called, struct sfjit_row *row)
{
	const struct segment *s = table_segment(origin->table, offset);

	if (!s || !need_part(code, origin, user, s, offset, BEFORE, AFTER))
		return -ENOENT;
	return sfg_find_code_row(abi, &(struct sfg_image) {
		code->bytes, code->length, code->offset }, offset, sp, called,
		row);
}

int code_find_go_row(struct code *code, struct origin *origin,
		     const struct user *user, uint64_t addr,
		     struct sfjit_row *row, bool *exact)
{
	const struct table *table = origin->table;
	struct sfg_image function;
	const struct segment *s;
	int ret = sfg_go_function_at(table->go, addr, &function);

	if (ret)
		return ret;
	s = table_segment_at(table, function.addr);
	if (!s || function.len > LONGEST ||
	    !need_part(code, origin, user, s,
		       s->offset + (function.addr - s->addr), 0, function.len))
		return -EIO;
	return sfg_find_go_row(table->go, &(struct sfg_image) {
		code->bytes, code->length,
		s->addr + (code->offset - s->offset) }, addr, row, exact);
}
