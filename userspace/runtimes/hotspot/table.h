/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The windows of code heaps, and the code in them.
 *
 * A code heap is a free list: addresses are reused in any order, which a live
 * window cannot follow. So a heap is cut into pieces of equal size, each with a
 * window; a change of the code makes new sections for the pieces it touches,
 * and replaces them. What is not described ends stacks.
 */
#ifndef SFJIT_TABLE_H
#define SFJIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfjit.h>
#include <sfjit/check.h>

#include "vm.h"

/**
 * struct table_code - code with its rows
 * @start:	address of the first byte
 * @end:	address behind the last
 * @rows:	from @start; rows without a base of the CFA are holes. From
 *		malloc(), and the table's
 * @nr_rows:	how many
 * @method:	blob is not 0: the compiled method it belongs to
 * @made:	it may not be finished; @sum is that of the code then
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

/* A number that other code hardly has. */
uint64_t table_sum(uintptr_t start, uintptr_t end);

/* All calls are made under this lock. */
void table_lock(void);
void table_unlock(void);

/* Covers a heap with windows. Returns 0 or a negative errno. */
int table_add_heap(uintptr_t low, uintptr_t high);

/*
 * Between these, changes are collected: nothing is registered anew before the
 * last of them.
 */
void table_hold(void);
void table_release(void);

/* Adds code, in place of what overlaps it. @code is copied. */
int table_add(const struct table_code *code);

/*
 * Whether that method's code is there. Code that may not have been finished
 * counts if nothing has changed; from when the method is @installed it may.
 */
bool table_has(const struct vm_method *method, bool installed);

typedef bool (*table_filter)(const struct vm_method *method);

/* Forgets the code that starts at @start, but for a method that stays. */
void table_remove(uintptr_t start, table_filter stays);

/* Forgets code whose method is gone. */
void table_remove_unused(table_filter is_used);

struct table_stat {
	size_t		windows;
	size_t		codes;
	unsigned long	replaced;
	unsigned long	bytes;		/* of sections */
	int		error;		/* last errno of a registration */
};

void table_stat(struct table_stat *stat);

#endif /* SFJIT_TABLE_H */
