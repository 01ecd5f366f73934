// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Life of one window of trampolines: reserve, fill, commit, retire.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <context.h>
#include <sframegen.h>
#include <sfjit_trampoline.h>

#include "internal.h"
#include "window.h"

/* Protection bits that a machine adds for code. */
#ifndef CONTEXT_PROT
#define CONTEXT_PROT	0
#endif

struct template {
	const unsigned char *code;
	const unsigned char *table;	/* packed */
	size_t table_length;		/* 0: the machine has no encoder */
	const struct sfjit_row *rows;
	uint32_t nr_rows;
	uint8_t flags;			/* SFJIT_FUNCTION_* */
	bool has_data;
};

/* A slot is exactly the code: the .S pads it with traps. */
#define IS_ONE_SLOT(name, NAME) \
	_Static_assert(sizeof(name ## _code) == SFJIT_SLOT_SIZE && \
		       NAME ## _SLOT_SIZE == SFJIT_SLOT_SIZE, \
		       #name " does not fill its slot")
IS_ONE_SLOT(sfjit_tramp_arg, SFJIT_TRAMP_ARG);
IS_ONE_SLOT(sfjit_tramp_slot, SFJIT_TRAMP_SLOT);
IS_ONE_SLOT(sfjit_tramp_rbp, SFJIT_TRAMP_RBP);

#define TEMPLATE(name, NAME, data) { \
	.code = name ## _code, \
	.table = name ## _packed, \
	.table_length = NAME ## _PACKED_SIZE, \
	.rows = name ## _rows, \
	.nr_rows = sizeof(name ## _rows) / sizeof(name ## _rows[0]), \
	.flags = NAME ## _FLAGS, \
	.has_data = data, \
}

/* Without .code: not available on this machine. */
static const struct template templates[] = {
	[SFJIT_TRAMP_ARG] =
		TEMPLATE(sfjit_tramp_arg, SFJIT_TRAMP_ARG, false),
	[SFJIT_TRAMP_SLOT] =
		TEMPLATE(sfjit_tramp_slot, SFJIT_TRAMP_SLOT, true),
	[SFJIT_TRAMP_RBP] =
		TEMPLATE(sfjit_tramp_rbp, SFJIT_TRAMP_RBP, false),
#ifdef SFJIT_TRAMP_SIGNED_A_CODE_SIZE
	[SFJIT_TRAMP_SIGNED_A] =
		TEMPLATE(sfjit_tramp_signed_a, SFJIT_TRAMP_SIGNED_A, true),
#endif
#ifdef SFJIT_TRAMP_SIGNED_B_CODE_SIZE
	[SFJIT_TRAMP_SIGNED_B] =
		TEMPLATE(sfjit_tramp_signed_b, SFJIT_TRAMP_SIGNED_B, true),
#else
	[SFJIT_TRAMP_SIGNED_B] = { 0 },
#endif
};

int sfjit_kind_check(unsigned int kind)
{
	if (kind >= sizeof(templates) / sizeof(templates[0]))
		return -EINVAL;
	return templates[kind].code ? 0 : -EOPNOTSUPP;
}

bool sfjit_kind_has_data(unsigned int kind)
{
	return templates[kind].has_data;
}

void sfjit_kind_function(unsigned int kind, const void *slot,
			 struct sfjit_function *function)
{
	*function = (struct sfjit_function){
		.addr = (uintptr_t)slot,
		.size = SFJIT_SLOT_SIZE,
		.nr_rows = templates[kind].nr_rows,
		.rows = templates[kind].rows,
		.flags = templates[kind].flags,
	};
}

static size_t table_page(const struct template *template)
{
	return template->table_length ? sysconf(_SC_PAGESIZE) : 0;
}

/* The code of a slot has the distance to its data built in. */
static size_t table_offset(const struct template *template)
{
	return template->has_data ? 2 * SFJIT_WINDOW_SIZE : SFJIT_WINDOW_SIZE;
}

static int reserve(struct sfjit_window *window,
		   const struct template *template)
{
	size_t offset = table_offset(template);
	size_t length = offset + table_page(template);
	int ret = sfjit_map(length, 0, &window->code);

	if (ret)
		return ret;
	window->table = window->code + offset;
	window->length = length;
	return 0;
}

static int unmap(struct sfjit_window *window)
{
	return sfjit_unmap(window->code, window->length);
}

static void fill_code(struct sfjit_window *window,
		      const struct template *template)
{
	size_t offset;

	for (offset = 0; offset < SFJIT_WINDOW_SIZE; offset += SFJIT_SLOT_SIZE)
		memcpy(window->code + offset, template->code, SFJIT_SLOT_SIZE);
	__builtin___clear_cache((char *)window->code,
				(char *)window->code + SFJIT_WINDOW_SIZE);
}

static void fill_table(struct sfjit_window *window,
		       const struct template *template)
{
	struct sframe_packed_header *header = (void *)window->table;

	if (!template->table_length)
		return;
	memcpy(window->table, template->table, template->table_length);
	header->text_start = (uintptr_t)window->code;
	header->text_length = SFJIT_WINDOW_SIZE;
}

static int protect(void *start, size_t length, int prot)
{
	int ret = sfjit_fault("mprotect");

	if (ret)
		return ret;
	return mprotect(start, length, prot) ? -errno : 0;
}

/* Code and table never change after this. */
static int seal(struct sfjit_window *window, const struct template *template)
{
	size_t length = table_page(template);
	int ret = length ? protect(window->table, length, PROT_READ) : 0;

	if (ret)
		return ret;
	return protect(window->code, SFJIT_WINDOW_SIZE,
		       PROT_READ | PROT_EXEC | CONTEXT_PROT);
}

/*
 * A table of another address would only show as truncated stacks in a profile.
 * So the test build checks that each byte of the first and the last slot has a
 * row, and that no byte outside has one.
 */
#ifdef SFJIT_TEST
static bool finds(struct sfg_packed *table, uintptr_t address)
{
	struct sfjit_function fde;
	struct sfjit_row row;

	return !sfg_find_packed_row(table, address, &fde, &row, NULL);
}

static void check(const struct sfjit_window *window,
		  const struct template *template)
{
	uintptr_t start = (uintptr_t)window->code;
	uintptr_t last = start + SFJIT_WINDOW_SIZE - SFJIT_SLOT_SIZE;
	struct sfg_packed table;
	int i;

	if (!template->table_length)
		return;
	if (sfg_open_packed(&table, window->table, template->table_length,
			    NULL) ||
	    sfg_check_packed(&table, NULL))
		abort();
	if (finds(&table, start - 1) || finds(&table, last + SFJIT_SLOT_SIZE))
		abort();
	for (i = 0; i < SFJIT_SLOT_SIZE; i++)
		if (!finds(&table, start + i) || !finds(&table, last + i))
			abort();
}
#else
static void check(const struct sfjit_window *window,
		  const struct template *template)
{
}
#endif

int sfjit_window_create(struct sfjit_window *window, unsigned int kind)
{
	const struct template *template = &templates[kind];
	int ret;

	ret = reserve(window, template);
	if (ret)
		return ret;
	fill_code(window, template);
	fill_table(window, template);
	ret = seal(window, template);
	if (ret) {
		unmap(window);
		return ret;
	}
	window->error = -EOPNOTSUPP;
	if (template->table_length)
		window->error = sfjit_register((uintptr_t)window->code,
					       window->table,
					       template->table_length,
					       window->code,
					       SFJIT_WINDOW_SIZE);
	check(window, template);
	return 0;
}

int sfjit_window_retire(struct sfjit_window *window)
{
	/* After a failed registration the key may be another producer's. */
	if (!window->error)
		sfjit_unregister((uintptr_t)window->code);
	return unmap(window);
}

/* One aligned store: another thread sees the old target or the new one. */
void sfjit_window_set_target(struct sfjit_window *window, unsigned int slot,
			     const void *target)
{
	unsigned char *data = window->code + SFJIT_WINDOW_SIZE +
			      slot * SFJIT_SLOT_SIZE;

	__atomic_store_n((const void **)data, target, __ATOMIC_RELEASE);
}
