// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * go-cfi ELF: rows from Go's table, compared with the .debug_frame that Go has
 * written, which does not tell the frame pointer.
 *
 * Prints of how many bytes the CFA is the same, comes from the frame pointer (where
 * the runtime changes stacks), or is none, as it ends the stack; how many have a row
 * in .debug_frame alone, and how many differ, with the first five. Exit status 1:
 * some differ.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "object.h"

enum { SAME, BY_FP, ENDS, NONE, DIFFERS, NR_KINDS };

static int derive(const struct sfg_input *in, const struct sfg_go *go,
		  struct sfg_fdes *fdes)
{
	struct sfg_input with = *in;

	with.go = go;
	return sfg_derive(&with, fdes, NULL, NULL);
}

/* Addresses come in order: *at moves on with them. */
static const struct sfjit_row *row_at(const struct sfg_fdes *fdes, size_t *at,
				      uint64_t addr)
{
	const struct sfjit_row *row = NULL;
	const struct sfjit_function *f;
	uint32_t i;

	while (*at < fdes->nr &&
	       fdes->fdes[*at].addr + fdes->fdes[*at].size <= addr)
		++*at;
	f = &fdes->fdes[*at];
	if (*at == fdes->nr || addr < f->addr)
		return NULL;
	for (i = 0; i < f->nr_rows && f->rows[i].start <= addr - f->addr; i++)
		row = &f->rows[i];
	return row;
}

static int judge(const struct sfjit_row *go, const struct sfjit_row *cfi)
{
	if (!go)
		return NONE;
	if (go->flags & SFJIT_ROW_OUTERMOST)
		return ENDS;
	if (!go->cfa.deref && go->cfa.reg == cfi->cfa.reg &&
	    go->cfa.offset == cfi->cfa.offset)
		return SAME;
	return go->cfa.reg == SFJIT_X86_64_FP ? BY_FP : DIFFERS;
}

static void show(uint64_t addr, const struct sfjit_row *go,
		 const struct sfjit_row *cfi)
{
	char ours[ROW_TEXT_MAX], theirs[ROW_TEXT_MAX];

	format_row(SFRAME_ABI_AMD64_LE, go, ours);
	format_row(SFRAME_ABI_AMD64_LE, cfi, theirs);
	printf("0x%" PRIx64 ": %s; .debug_frame: %s\n", addr, ours, theirs);
}

static void compare(const struct sfg_fdes *go, const struct sfg_fdes *cfi,
		    uint64_t bytes[NR_KINDS])
{
	const struct sfjit_row *theirs, *ours;
	size_t i, at = 0, same = 0;
	uint64_t addr;
	int kind;

	for (i = 0; i < cfi->nr; i++)
		for (addr = cfi->fdes[i].addr;
		     addr < cfi->fdes[i].addr + cfi->fdes[i].size; addr++) {
			theirs = row_at(cfi, &same, addr);
			ours = row_at(go, &at, addr);
			kind = theirs ? judge(ours, theirs) : NONE;
			if (kind == DIFFERS && bytes[DIFFERS] < 5)
				show(addr, ours, theirs);
			bytes[kind]++;
		}
}

static int compare_file(struct object *f, uint64_t bytes[NR_KINDS])
{
	struct sfg_input in = object_input(f);
	struct sfg_fdes go, cfi;
	int ret;

	in.flags |= SFG_INPUT_ADDENDS;
	if (!in.go || !(in.flags & SFG_INPUT_DEBUG_FRAME))
		return -ENOENT;
	ret = derive(&in, in.go, &go);
	if (ret)
		return ret;
	ret = derive(&in, NULL, &cfi);
	if (!ret) {
		compare(&go, &cfi, bytes);
		sfg_free_fdes(&cfi);
	}
	sfg_free_fdes(&go);
	return ret;
}

int main(int argc, char **argv)
{
	uint64_t bytes[NR_KINDS] = { 0 };
	struct object f;
	int ret;

	if (argc != 2)
		return 2;
	ret = object_open(&f, argv[1]);
	if (!ret)
		ret = object_read_go(&f);
	if (!ret)
		ret = object_read_cfi(&f);
	if (!ret)
		ret = compare_file(&f, bytes);
	object_close(&f);
	printf("%" PRIu64 " bytes the same, %" PRIu64 " by frame pointer, %"
	       PRIu64 " end the stack, %" PRIu64 " only in .debug_frame, %"
	       PRIu64 " differ\n", bytes[SAME], bytes[BY_FP], bytes[ENDS],
	       bytes[NONE], bytes[DIFFERS]);
	return ret ? 2 : bytes[DIFFERS] != 0;
}
