/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The call frame information of one file, or of a piece of generated code.
 */
#ifndef SFJIT_STACKS_TABLE_H
#define SFJIT_STACKS_TABLE_H

#include <sys/queue.h>

#include <sfjit-stacks.h>
#include <sframegen.h>

/* Bytes of a file that are loaded as code, and their link-time address. */
struct segment {
	uint64_t offset, length;
	uint64_t addr;
};

/* Equal for two files only if their tables are. */
struct content {
	uint8_t length;			/* of the build-id; 0: none */
	uint8_t build_id[SFJIT_STACKS_BUILD_ID_MAX];
	uint64_t device, inode, size, mtime;	/* without one */
};

struct table {
	uint64_t serial;		/* never used again */
	struct sfg_cfi *cfi;		/* NULL, or .eh_frame */
	void *data;			/* that it refers to */
	struct sfg_cfi *debug;		/* NULL, or .debug_frame */
	void *debug_data;
	struct sfg_go *go;		/* NULL, or Go's table of functions */
	void *go_data;
	size_t bytes;			/* of memory, with that of CFI when it
					   was last counted */
	size_t cfi_bytes;
	uint64_t *all_bytes;		/* NULL, or the sum that these are in */
	uint64_t entry;			/* of the program; 0: none */
	struct segment *segments;	/* of code */
	unsigned int nr_segments;

	/* of files.c */
	unsigned int refs;
	struct content content;
	TAILQ_ENTRY(table) unused;
};

/* Generated code has link-time addresses that are those of the process. */
int code_read_table(unsigned int abi, const struct sfjit_stacks_code *code,
		    struct table *table);

/* As sfg_has_cfi(), sfg_find_cfi_row() and sfg_step_cfi(). */
bool table_has_eh_frame(struct table *table, uint64_t addr);
int table_find_row(struct table *table, uint64_t addr, uint64_t *budget,
		   struct sfjit_row *row);
int table_step(struct table *table, uint64_t bias, struct sfg_frame *frame);

/* Adds the memory of CFI to 'bytes': it grows when more is read. */
void table_count(struct table *table);

/* Where there are no rules: the code that programs start with has no caller. */
bool table_is_entry(const struct table *table, uint64_t addr);

/* What code_read_table() or elf_read_table() has put into it. */
void table_clear(struct table *table);

/* NULL: the file does not load this offset as code. */
const struct segment *table_segment(const struct table *table, uint64_t offset);

/* NULL: the file does not load this link-time address as code. */
const struct segment *table_segment_at(const struct table *table,
				       uint64_t addr);

/* Whether the file loads this offset as code, and at which address. */
bool table_address(const struct table *table, uint64_t offset, uint64_t *addr);

#endif /* SFJIT_STACKS_TABLE_H */
