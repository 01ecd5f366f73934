/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The windows of code heaps, and the code in them.
 *
 * A code heap is a free list: addresses are reused in any order. So each heap is
 * an area. Stacks end in code without a description.
 */
#ifndef SFJIT_TABLE_H
#define SFJIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfjit.h>

#include "vm.h"

/**
 * struct table_code - code with its rows
 * @start:	address of the first byte
 * @end:	address after the last byte
 * @rows:	from @start; rows without a CFA base are holes. From malloc(), and
 *		owned by the table
 * @nr_rows:	number of rows
 * @method:	the compiled method, if blob is not 0
 * @made:	it may be unfinished; @sum is the checksum of the code
 */
struct table_code {
	uintptr_t		start;
	uintptr_t		end;
	struct sfjit_row	*rows;
	size_t			nr_rows;
	struct vm_method	method;
	uint64_t		sum;
	bool			made;
};

/* A checksum of code. */
uint64_t table_sum(uintptr_t start, uintptr_t end);

/* Hold this lock during all calls below. */
void table_lock(void);
void table_unlock(void);

/* Covers a heap with a window. Returns 0 or -errno. */
int table_add_heap(uintptr_t low, uintptr_t high);

/* Adds a copy of @code and removes what it overlaps. */
int table_add(const struct table_code *code);

/*
 * Whether the table has the method's code. If it was added unfinished, it must
 * be unchanged; if the method is @installed now, it must be finished.
 */
bool table_has(const struct vm_method *method, bool installed);

typedef bool (*table_filter)(const struct vm_method *method);

/*
 * Removes the code that starts at @start, unless it is of a method that stays.
 */
void table_remove(uintptr_t start, table_filter stays);

/* Removes the code of methods that are unused. */
void table_remove_unused(table_filter is_used);

struct table_stat {
	size_t		windows;
	size_t		codes;
	unsigned long	tables;		/* that were registered */
	unsigned long	bytes;		/* of tables, without what is free */
	int		error;		/* of the last failed registration */
};

void table_stat(struct table_stat *stat);

#endif /* SFJIT_TABLE_H */
