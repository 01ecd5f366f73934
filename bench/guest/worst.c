// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The dearest table the kernel takes: the longest index, of which a search
 * makes each probe, and the most rows it reads for one step. A walk of perf's
 * default depth stays just within its budget of reads.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <sfjit/sframe.h>

#include "measure.h"
#include "shape.h"

#define NR_FDES		(1u << 24)
#define NR_ROWS		64
#define ROW_SIZE	6
#define TEXT_SIZE	4096
#define CALL		128	/* offset of the return address */

#define FRES_SIZE	(sizeof(struct sframe_fde_attr) + NR_ROWS * ROW_SIZE)
#define INDEX_SIZE	((size_t)NR_FDES * sizeof(struct sframe_fde))
#define HEADER_SIZE	sizeof(struct sframe_header)
#define SECTION_SIZE	(HEADER_SIZE + INDEX_SIZE + FRES_SIZE)

static uint8_t *map, *section;

static void fill_header(void)
{
	const struct sframe_header header = {
		.magic = SFRAME_MAGIC,
		.version = SFRAME_VERSION_3,
		.flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
		.abi_arch = SFRAME_ABI_AMD64_LE,
		.cfa_fixed_ra_offset = -8,
		.num_fdes = NR_FDES,
		.num_fres = NR_ROWS,
		.fre_len = FRES_SIZE,
		.fres_off = INDEX_SIZE,
	};

	memcpy(section, &header, sizeof(header));
}

/* The other entries are 0: each describes its own address, above the text. */
static void fill_first_fde(void)
{
	struct sframe_fde *fde = (void *)(section + HEADER_SIZE);

	fde->func_start = (intptr_t)map - (intptr_t)fde;
	fde->func_size = TEXT_SIZE;
}

/* FLEX: CFA = sp + 16, return address at CFA - 8. */
static void fill_rows(void)
{
	const struct sframe_fde_attr attr = {
		.num_fres = NR_ROWS,
		.info = SFRAME_FRE_TYPE_ADDR1,
		.info2 = SFRAME_FDE_TYPE_FLEX,
	};
	uint8_t row[ROW_SIZE] = {
		0, 4 << 1, 7 << 3 | SFRAME_FLEX_REG_P, 16,
		SFRAME_FLEX_DEREF_P, -8,
	};
	uint8_t *fres = section + HEADER_SIZE + INDEX_SIZE;

	memcpy(fres, &attr, sizeof(attr));
	fres += sizeof(attr);
	for (row[0] = 0; row[0] < NR_ROWS; row[0]++)
		memcpy(fres + row[0] * ROW_SIZE, row, ROW_SIZE);
}

static void *map_present(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_NORESERVE | MAP_POPULATE, -1, 0);

	if (mem == MAP_FAILED)
		die("no memory for the largest table: %m");
	return mem;
}

/* Nearly all of the index is the one page of zeros. */
static void enter_worst(const char *arg)
{
	struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.text_length = TEXT_SIZE,
	};

	map = map_present(TEXT_SIZE + SECTION_SIZE);
	section = map + TEXT_SIZE;
	mprotect(map, TEXT_SIZE, PROT_READ | PROT_EXEC);
	mprotect(section, SECTION_SIZE, PROT_READ | PROT_WRITE);
	fill_header();
	fill_first_fde();
	fill_rows();
	opts.text_start = (uintptr_t)map;
	if (prctl(PR_SFRAME_REGISTER, map, section, SECTION_SIZE, &opts))
		die("PR_SFRAME_REGISTER of the largest table: %m");
}

static void leave_worst(void)
{
	munmap(map, TEXT_SIZE + SECTION_SIZE);
}

static void build_worst(struct stack *stack, size_t depth)
{
	while (stack->depth < depth - 1)
		stack_add_row(stack, (uintptr_t)map + CALL, 0, 16, 0);
	stack_end(stack, (uintptr_t)bench_trigger_insn);
}

const struct shape shape_worst = {
	"worst", enter_worst, build_worst, leave_worst,
};
