/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Instructions of files, where call frame information has no rules.
 */
#ifndef SFJIT_STACKS_CODE_H
#define SFJIT_STACKS_CODE_H

#include "files.h"

/* The part of a file that was read last. */
struct code {
	uint64_t table;			/* serial of the file's; 0: none */
	uint64_t offset, length;	/* in the file */
	size_t size;			/* of the memory */
	uint8_t *bytes;
};

void code_clear(struct code *code);

/*
 * The row at an offset in an origin that has a table, from instructions; see
 * sfg_find_code_row().
 */
int code_find_row(struct code *code, unsigned int abi, struct origin *origin,
		  const struct user *user, uint64_t offset, int64_t sp,
		  bool called, struct sfjit_row *row);

/*
 * The row at a link-time address in Go's code; see sfg_find_go_row(). EIO: the file
 * cannot be read there.
 */
int code_find_go_row(struct code *code, struct origin *origin,
		     const struct user *user, uint64_t addr,
		     struct sfjit_row *row, bool *exact);

#endif /* SFJIT_STACKS_CODE_H */
