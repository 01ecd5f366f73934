// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Reads the instructions of files at addresses without rules. Most files have none,
 * so this reads them on demand, a part at a time, and keeps the last part.
 */
#include <errno.h>
#include <stdlib.h>

#include "code.h"

#define PART	(256 << 10)	/* that is read */
#define BEFORE	(16 << 10)	/* functions jump back, and on */
#define AFTER	(64 << 10)

void code_clear(struct code *code)
{
	free(code->bytes);
	code->bytes = NULL;
}

static bool has_part(const struct code *code, const struct table *table,
		     const struct segment *s, uint64_t offset)
{
	uint64_t end = code->offset + code->length;

	if (code->table != table->serial || offset < code->offset ||
	    offset >= end)
		return false;
	return (offset - code->offset >= BEFORE || code->offset == s->offset) &&
	       (end - offset >= AFTER || end == s->offset + s->length);
}

static bool read_part(struct code *code, struct origin *origin,
		      const struct user *user, const struct segment *s,
		      uint64_t offset)
{
	uint64_t skip = offset - s->offset;

	skip = skip > PART / 2 ? (skip - PART / 2) & -(uint64_t)BEFORE : 0;
	code->table = 0;
	if (!code->bytes)
		code->bytes = malloc(PART);
	if (!code->bytes)
		return false;
	code->offset = s->offset + skip;
	code->length = s->length - skip < PART ? s->length - skip : PART;
	if (files_read(origin, user, code->offset, code->bytes, code->length))
		return false;
	code->table = origin->table->serial;
	return true;
}

int code_find_row(struct code *code, unsigned int abi, struct origin *origin,
		  const struct user *user, uint64_t offset, int64_t sp,
		  bool called, struct sfjit_row *row)
{
	const struct table *table = origin->table;
	const struct segment *s = table_segment(table, offset);

	if (!s || (!has_part(code, table, s, offset) &&
		   !read_part(code, origin, user, s, offset)))
		return -ENOENT;
	return sfg_find_code_row(abi, &(struct sfg_image) {
		code->bytes, code->length, code->offset }, offset, sp, called,
		row);
}
