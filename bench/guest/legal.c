// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <sys/mman.h>
#include <sys/prctl.h>

#include <sfjit/sframe.h>

#include "legal.h"
#include "measure.h"
#include "probe.h"
#include "sframegen.h"

#define NR_FDES		10000
#define NR_ROWS		SFG_MAX_ROWS
#define MAX_PROBES	14

#define REG_RBP		6
#define REG_RSP		7

/* A realigned stack holds the CFA, which needs FLEX. */
const struct legal_kind legal_kinds[LEGAL_NR_KINDS] = {
	{ "small", 0x100, 0, 0 },
	{ "medium", 0x1000, 0x400, 0 },
	{ "large", 0x11000, 0x9000, 0 },
	{ "realigned", 0x11000, 0x9000, 1 },
};

static const struct legal_kind *legal;
static struct sfjit_row rows[NR_ROWS];
static uint64_t text;
static void *section;
static size_t section_size, text_size;

static struct sfjit_rule saved_at(int32_t offset)
{
	return (struct sfjit_rule){
		.offset = offset, .base = SFJIT_BASE_CFA, .deref = 1,
	};
}

static void fill_row(uint32_t i)
{
	struct sfjit_row *row = &rows[i];

	*row = (struct sfjit_row){
		.start = i * (legal->size / NR_ROWS),
		.cfa = {
			.offset = legal->frame + 16 + 8 * i,
			.reg = REG_RSP, .base = SFJIT_BASE_REG,
		},
		.fp = saved_at(-16),
	};
	if (legal->flex && i == NR_ROWS / 2)
		row->cfa = (struct sfjit_rule){
			.offset = -8, .reg = REG_RBP, .base = SFJIT_BASE_REG,
			.deref = 1,
		};
}

static uint64_t function(size_t i)
{
	return text + i * legal->size;
}

static void write_section(void)
{
	static struct sfjit_function fdes[NR_FDES];
	size_t i, len = SFG_SECTION_MAX(NR_FDES, NR_FDES * NR_ROWS);
	struct sfg_error err;

	for (i = 0; i < NR_ROWS; i++)
		fill_row(i);
	for (i = 0; i < NR_FDES; i++)
		fdes[i] = (struct sfjit_function){
			.addr = function(i), .size = legal->size,
			.rows = rows, .nr_rows = NR_ROWS,
		};
	section = map_memory(len, PROT_READ | PROT_WRITE);
	if (sfg_write_section(SFRAME_ABI_AMD64_LE, fdes, NR_FDES,
			      (uintptr_t)section, section, len, &section_size,
			      &err))
		die("legal table: %s", err.reason);
}

void legal_enter(const struct legal_kind *kind)
{
	legal = kind;
	text_size = (size_t)NR_FDES * kind->size;
	text = (uintptr_t)map_memory(text_size, PROT_READ | PROT_EXEC);
	write_section();
	if (prctl(PR_SFRAME_REGISTER, text, section, section_size, 0))
		die("PR_SFRAME_REGISTER of a legal table: %m");
}

void legal_leave(void)
{
	munmap((void *)text, text_size);
	munmap(section, SFG_SECTION_MAX(NR_FDES, NR_FDES * NR_ROWS));
}

/* Probes of the kernel's binary search. */
static unsigned int probes(uint32_t index)
{
	uint32_t low = 0, high = NR_FDES, mid;
	unsigned int nr = 0;

	for (; low < high; nr++) {
		mid = low + (high - low) / 2;
		if (mid > index)
			high = mid;
		else
			low = mid + 1;
	}
	return nr;
}

/* Of the function at @at of @all in the table. */
static uint64_t last_row(size_t at, size_t all)
{
	uint32_t index = at * NR_FDES / all;

	while (probes(index) != MAX_PROBES)
		index++;
	return function(index) + rows[NR_ROWS - 1].start;
}

void legal_build(struct stack *stack, size_t depth, int probe)
{
	uint32_t cfa = rows[NR_ROWS - 1].cfa.offset;
	size_t i;

	stack_init(stack);
	if (probe) {
		stack_begin_row(stack, cfa, -16);
		probe_place(last_row(depth, depth + 1));
	}
	for (i = 0; i < depth - 1; i++)
		stack_add_row(stack, last_row(i, depth + 1) + 1, 0, cfa, -16);
	stack_end(stack, (uintptr_t)bench_trigger_insn);
}
