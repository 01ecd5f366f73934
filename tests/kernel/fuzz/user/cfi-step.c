// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Steps in memory whose words are derived from their addresses. */
#include <stdlib.h>

#include "cfi.h"
#include "oracle.h"

/* Each is tried nine times, and has the program run for each register. */
#define MAX_STEPS	8

static bool read_nowhere(void *arg, uint64_t addr, uint64_t *word)
{
	return false;
}

static bool read_anywhere(void *arg, uint64_t addr, uint64_t *word)
{
	*word = (addr ^ addr >> 7) * 0x9e3779b97f4a7c15;
	return addr % 7;
}

static struct sfg_frame frame_at(uint64_t pc)
{
	struct sfg_frame frame = {
		.pc = pc, .known = UINT32_MAX, .budget = UINT64_MAX,
		.read = read_anywhere,
	};
	unsigned int i;

	for (i = 0; i < 32; i++)
		frame.reg[i] = 0x1000 + 0x333 * i;
	return frame;
}

static void require_same_register(const struct sfg_frame *a,
				  const struct sfg_frame *b, int reg)
{
	if (a->known & b->known & 1u << reg)
		REQUIRE(a->reg[reg] == b->reg[reg]);
}

/* A step that fails leaves the frame, but for what it has spent. */
static void require_failure(int ret, const struct sfg_frame *after,
			    const struct sfg_frame *before)
{
	struct sfg_frame frame = *after;

	if (ret >= 0)
		return;
	REQUIRE(frame.budget <= before->budget);
	frame.budget = before->budget;
	REQUIRE(!memcmp(&frame, before, sizeof(frame)));
}

static void try_step(const struct sfg_section *section,
		     const struct sfg_cfi *cfi, const struct sfg_frame *frame)
{
	struct sfg_frame by_section = *frame, by_cfi = *frame;
	int ret;

	require_failure(sfg_step_section(section, 0, &by_section),
			&by_section, frame);
	ret = sfg_step_cfi(cfi, 0, &by_cfi);
	require_failure(ret, &by_cfi, frame);
	REQUIRE(ret == -ENOENT || sfg_has_cfi(cfi, frame->pc - frame->called));
}

/* Where something is not known, or nowhere. */
static void require_unmoved(const struct sfg_section *section,
			    const struct sfg_cfi *cfi, uint64_t pc)
{
	struct sfg_frame frame = frame_at(pc), known = frame;

	try_step(section, cfi, &frame);
	frame.known = 0xaaaa5555;
	try_step(section, cfi, &frame);
	frame.known = 0;
	try_step(section, cfi, &frame);
	frame = known;
	frame.read = read_nowhere;
	try_step(section, cfi, &frame);
	frame.budget = 0;
	try_step(section, cfi, &frame);
	frame = known;
	frame.pc = 0;
	try_step(section, cfi, &frame);
	frame.called = true;
	try_step(section, cfi, &frame);
}

/* A row that is found is the section's, and says what the section does. */
static void require_same_row(const struct sfg_section *section,
			     const struct sfg_cfi *cfi, uint64_t pc)
{
	struct sfg_frame by_section = frame_at(pc), by_row = by_section;
	int ret = sfg_step_section(section, 0, &by_section);
	uint64_t budget = UINT32_MAX;
	struct sfjit_row row;

	/* A row does not say that the caller's address is exact. */
	if (sfg_find_cfi_row(cfi, pc, &budget, &row)) {
		REQUIRE(ret < 0 || !by_section.called);
		return;
	}
	if (ret != -ENOENT)
		REQUIRE(sfg_step_row(section->arch->abi, &row, &by_row) == ret &&
			!memcmp(&by_row, &by_section, sizeof(by_row)));
}

static void require_same_step(const struct sfg_arch *arch,
			      const struct sfg_section *section,
			      const struct sfg_cfi *cfi, uint64_t pc)
{
	struct sfg_frame a = frame_at(pc), b = frame_at(pc);
	int by_section = sfg_step_section(section, 0, &a);
	int by_cfi = sfg_step_cfi(cfi, 0, &b);

	REQUIRE(by_section != -EINVAL);
	require_unmoved(section, cfi, pc);
	require_same_row(section, cfi, pc);
	if (by_section < 0)
		return;
	REQUIRE(by_section == by_cfi);
	REQUIRE(a.pc == b.pc && a.called == b.called);
	require_same_register(&a, &b, arch->fp);
	/* a slot of the ABI is not what memory has here */
	if (!arch->sp_kept)
		require_same_register(&a, &b, arch->sp);
}

/* Also where no row is, as the section cannot say it. */
static void step_everywhere(const struct sfg_input *in,
			    const struct sfg_section *section,
			    const struct sfg_cfi *cfi)
{
	struct sfg_image *list;
	size_t i, nr;

	REQUIRE(!sfg_list_functions(in, &list, &nr, NULL));
	for (i = 0; i < nr && i < MAX_STEPS; i++) {
		require_unmoved(section, cfi, list[i].addr);
		require_unmoved(section, cfi, list[i].addr + list[i].len - 1);
	}
	free(list);
}

void require_steps(const struct sfg_input *in, const struct sfg_output *out,
		   const struct sfg_fdes *derived)
{
	const struct sfjit_function *fde = derived->fdes;
	struct sfg_section section;
	struct sfg_cfi *cfi;
	uint32_t row, steps = 0;

	REQUIRE(!sfg_open_section(&section, out->data, out->len,
				  in->section_addr, NULL));
	REQUIRE(!sfg_open_cfi(in, &cfi, NULL));
	REQUIRE(sfg_cfi_memory(cfi) > 0);
	for (; fde < derived->fdes + derived->nr; fde++)
		for (row = 0; row <= fde->nr_rows && steps < MAX_STEPS;
		     row++, steps++)
			require_same_step(section.arch, &section, cfi,
					  fde->addr + (row < fde->nr_rows ?
					  fde->rows[row].start :
					  fde->size - 1));
	step_everywhere(in, &section, cfi);
	sfg_close_cfi(cfi);
}

/*
 * The index follows the CFI in the input: any bytes, or an index made for this CFI.
 * It may name what is no record, so any row will do.
 */
void require_indexed(const struct sfg_input *in, size_t from)
{
	struct sfg_input indexed = *in;
	uint64_t addr, budget = UINT32_MAX;
	struct sfg_frame frame;
	struct sfjit_row row;
	struct sfg_cfi *cfi;

	indexed.index = (struct sfg_image) {
		(const uint8_t *)in->cfi.data + from, in->cfi.len - from,
		in->cfi.addr + from,
	};
	if (sfg_open_cfi(&indexed, &cfi, NULL))
		return;
	for (addr = 0; in->nr_text && addr < 4 * MAX_STEPS; addr += 4) {
		frame = frame_at(in->text->addr + addr);
		sfg_step_cfi(cfi, 0, &frame);
		sfg_find_cfi_row(cfi, in->text->addr + addr, &budget, &row);
	}
	sfg_close_cfi(cfi);
}

int require_opened(const struct sfg_input *in)
{
	struct sfg_cfi *cfi = NULL;
	int ret = sfg_open_cfi(in, &cfi, NULL);

	REQUIRE(!ret == (cfi != NULL));
	sfg_close_cfi(cfi);
	return ret;
}
