// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <sys/mman.h>
#include <sys/prctl.h>

#include <sfjit/format.h>
#include <sfjit/sframe.h>

#include "big.h"
#include "measure.h"

#define NR_FDES		(1u << 24)
#define FUNCTION_SIZE	16

struct function_rows {
	struct sframe_fde_attr attr;
	uint8_t start, info;
	int8_t cfa;
} __attribute__((packed));

static struct {
	struct sframe_header header;
	uint8_t align[4];
	struct sframe_fde fdes[NR_FDES];
	struct function_rows rows[NR_FDES];
} __attribute__((packed)) *section;

static uint8_t *text;

static void fill_header(void)
{
	section->header = (struct sframe_header){
		.magic = SFRAME_MAGIC,
		.version = SFRAME_VERSION_3,
		.flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
		.abi_arch = SFRAME_ABI_AMD64_LE,
		.cfa_fixed_ra_offset = -8,
		.num_fdes = NR_FDES,
		.num_fres = NR_FDES,
		.fre_len = sizeof(section->rows),
		.fdes_off = sizeof(section->align),
		.fres_off = sizeof(section->align) + sizeof(section->fdes),
	};
}

static void fill_function(uint32_t i)
{
	struct sframe_fde *fde = &section->fdes[i];

	fde->func_start = (uintptr_t)text + (uint64_t)i * FUNCTION_SIZE -
			  (uintptr_t)fde;
	fde->func_size = FUNCTION_SIZE;
	fde->fre_off = i * sizeof(*section->rows);
	section->rows[i] = (struct function_rows){
		.attr.num_fres = 1, .info = 1 << 1 | 1, .cfa = BIG_CFA,
	};
}

void big_enter(void)
{
	const size_t text_size = (size_t)NR_FDES * FUNCTION_SIZE;
	struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.text_length = text_size,
	};
	uint32_t i;

	text = map_memory(text_size, PROT_READ | PROT_EXEC);
	section = map_memory(sizeof(*section), PROT_READ | PROT_WRITE);
	opts.text_start = (uintptr_t)text;
	fill_header();
	for (i = 0; i < NR_FDES; i++)
		fill_function(i);
	if (prctl(PR_SFRAME_REGISTER, text, section, sizeof(*section), &opts))
		die("the big table is refused");
}

uint64_t big_call(void)
{
	return (uintptr_t)text + 1 + random_below(NR_FDES) * FUNCTION_SIZE;
}

void big_leave(void)
{
	munmap(section, sizeof(*section));
	munmap(text, (size_t)NR_FDES * FUNCTION_SIZE);
}
