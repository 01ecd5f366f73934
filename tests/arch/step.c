// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What tests/arch/step.py steps through: a call through a trampoline of each
 * kind. Writes lines of words, "NAME KIND VALUE", numbers and bytes in hex.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sframegen.h>
#include <sfjit.h>
#include <sfjit_trampoline.h>

#include "../../userspace/libsfjit/window.h"

struct kind {
	const char *name;
	unsigned int kind;
	const unsigned char *eh_frame;
	size_t eh_frame_length, start_off, size_off;
	const unsigned char *table;
	size_t table_length, table_start_off, table_size_off;
	bool repeats;
};

#define KIND(lower, upper) { #lower, upper, lower ## _eh_frame, \
	sizeof(lower ## _eh_frame), upper ## _EH_FRAME_START_OFF, \
	upper ## _EH_FRAME_SIZE_OFF, lower ## _packed, \
	upper ## _PACKED_SIZE, upper ## _PACKED_START_OFF, \
	upper ## _PACKED_SIZE_OFF, \
	upper ## _EH_FRAME_REPEATS }

static const struct kind kinds[] = {
	KIND(sfjit_tramp_arg, SFJIT_TRAMP_ARG),
	KIND(sfjit_tramp_slot, SFJIT_TRAMP_SLOT),
	KIND(sfjit_tramp_rbp, SFJIT_TRAMP_RBP),
#ifdef SFJIT_TRAMP_SIGNED_A_CODE_SIZE
	KIND(sfjit_tramp_signed_a, SFJIT_TRAMP_SIGNED_A),
	KIND(sfjit_tramp_signed_b, SFJIT_TRAMP_SIGNED_B),
#endif
};

/* Of the test build, whose windows check their table. */
int sfjit_fault(const char *call)
{
	return 0;
}

static void print_bytes(const struct kind *k, const char *what,
			const unsigned char *p, size_t length)
{
	printf("%s %s ", what, k->name);
	while (length--)
		printf("%02x", *p++);
	printf("\n");
}

static void print_number(const struct kind *k, const char *what,
			 unsigned long number)
{
	printf("%s %s %lx\n", what, k->name, number);
}

/* Of the slot, or of the window that it is in. */
static void print_eh_frame(const struct kind *k, uint64_t slot, uint64_t window)
{
	unsigned char cfi[SFJIT_WINDOW_SIZE];
	uint64_t start = k->repeats ? window : slot;
	uint64_t size = k->repeats ? SFJIT_WINDOW_SIZE : SFJIT_SLOT_SIZE;

	memcpy(cfi, k->eh_frame, k->eh_frame_length);
	memcpy(cfi + k->start_off, &start, sizeof(start));
	memcpy(cfi + k->size_off, &size, sizeof(size));
	print_bytes(k, "eh_frame", cfi, k->eh_frame_length);
}

/* Where SFrame has no number, windows have no table: of the template. */
static void print_trial(const struct kind *k, const unsigned char *window)
{
	unsigned char bytes[SFJIT_WINDOW_SIZE];
	uint64_t start = (uintptr_t)window;
	uint32_t size = SFJIT_WINDOW_SIZE;

	memcpy(bytes, k->table, k->table_length);
	memcpy(bytes + k->table_start_off, &start, sizeof(start));
	memcpy(bytes + k->table_size_off, &size, sizeof(size));
	print_bytes(k, "table", bytes, k->table_length);
}

static void print_table(const struct kind *k, const unsigned char *window)
{
	const unsigned char *table = window + SFJIT_WINDOW_SIZE;

	if (sfjit_kind_has_data(k->kind))
		table += SFJIT_WINDOW_SIZE;
	if (sfg_abi_has_sframe(SFG_HOST_ABI))
		print_bytes(k, "table", table, k->table_length);
	else
		print_trial(k, window);
}

/* ---- Where step.py stops --------------------------------------------- */

__attribute__((noinline, noclone))
long step_target(long a, long b, long c, long d, void *e, void *f, double g)
{
	return (a * 1000 + b * 100 + c * 10 + d) * (long)(2 * g);
}

__attribute__((noinline, noclone))
void step_begin(const void *entry)
{
	asm volatile("" : : "r" (entry) : "memory");
}

typedef long tramp_fn(long, long, long, long, void *, void *, double);

/* The target is the sixth integer argument, or the fifth: see SFJIT_TRAMP_ARG. */
__attribute__((noinline, noclone))
long step_call(tramp_fn *entry)
{
	return entry(1, 2, 3, 4, step_target, step_target, 0.5) + 1;
}

static void step(const struct kind *k)
{
	struct sfjit_pool *pool;
	void *first, *entry;
	long result;
	int ret = sfjit_pool_create(k->kind, &pool);

	/* The second: rows are of each slot. */
	if (!ret)
		ret = sfjit_tramp_get(pool, step_begin, NULL, &first);
	if (!ret)
		ret = sfjit_tramp_get(pool, step_target, NULL, &entry);
	if (ret) {
		printf("error %s %d\n", k->name, ret);
		return;
	}
	print_number(k, "entry", (unsigned long)entry);
	print_number(k, "slot", SFJIT_SLOT_SIZE);
	print_table(k, first);
	print_eh_frame(k, (unsigned long)entry, (unsigned long)first);
	fflush(stdout);
	step_begin(entry);
	result = step_call(entry);
	print_number(k, "result", result);
	sfjit_pool_retire(pool);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		step(&kinds[i]);
	return 0;
}
