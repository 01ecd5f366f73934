// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Any bytes as a section, to the strict reader. All ways to read an accepted
 * section must agree, and the encoder must write it again.
 */
#include <stdlib.h>

#include "commands.h"
#include "oracle.h"

#define MAX_READ	4096
#define MAX_FOUND	8

/* One by one, without a look at the whole: must end in an error or a row. */
static void find_anyhow(const struct sfg_section *s, uint64_t addr)
{
	struct sfjit_function fde;
	struct sfg_error err;
	struct sfjit_row row;
	int ret = sfg_find_row(s, addr, &fde, &row, &err);

	if (ret && ret != -ENOENT)
		require_error(ret, &err, s->len);
}

static void read_anyhow(const struct sfg_section *s)
{
	char text[ROW_TEXT_MAX];
	struct sfg_row_reader r;
	struct sfg_error err;
	struct sfjit_row row;
	uint32_t i, left = MAX_READ;
	int ret;

	for (i = 0; i < s->header.num_fdes && left; i++, left--) {
		ret = sfg_read_fde(s, i, &r, &err);
		if (ret) {
			require_error(ret, &err, s->len);
			continue;
		}
		if (i < MAX_FOUND)
			find_anyhow(s, r.fde.addr + r.fde.size - 1);
		for (; r.left && left && !ret; left--) {
			ret = sfg_read_row(&r, &row, &err);
			if (ret)
				require_error(ret, &err, s->len);
			else
				format_row(s->header.abi_arch, &row, text);
		}
	}
}

/* What the encoder asks for beyond what the format allows. */
static bool can_be_encoded(const struct sfg_section *s,
			   const struct sfg_fdes *fdes)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < fdes->nr; i++) {
		const struct sfjit_function *fde = &fdes->fdes[i];

		if (!fde->size || fde->addr < end ||
		    fde->addr + fde->size < fde->addr)
			return false;
		if (fde->nr_rows ? fde->rows[0].start :
				   !(fde->flags & SFJIT_FUNCTION_SIGNAL))
			return false;
		end = fde->addr + fde->size;
	}
	return true;
}

static void require_encoded(const struct sfg_section *s,
			    const struct sfg_fdes *fdes)
{
	struct sfg_output out;
	struct sfg_fdes again;

	if (encode(arch_by_number(s->header.abi_arch), fdes, ~s->addr, &out)) {
		REQUIRE(!can_be_encoded(s, fdes));
		return;
	}
	REQUIRE(can_be_encoded(s, fdes));
	read_section(out.data, out.len, ~s->addr, &again);
	require_equal_fdes(fdes, &again);
	sfg_free_fdes(&again);
	free(out.data);
}

static void require_readable(const struct sfg_section *s)
{
	struct sfg_fdes fdes;

	read_checked(s, &fdes);
	if (s->header.flags & SFRAME_F_FDE_SORTED)
		require_found(s, &fdes);
	require_encoded(s, &fdes);
	require_rebase(s->data, s->len, -1);
	sfg_free_fdes(&fdes);
}

/* The last eight bytes are its address. */
static void run(const uint8_t *data, size_t size)
{
	struct sfg_section s, untouched;
	struct sfg_error err = { 0 };
	uint64_t addr;
	int ret;

	memcpy(&addr, data + size - sizeof(addr), sizeof(addr));
	size -= sizeof(addr);
	data = exact_copy(data, size);
	fill_memory(0xa5);
	memset(&untouched, 0x77, sizeof(s));
	s = untouched;
	ret = sfg_open_section(&s, data, size, addr, &err);
	if (ret) {
		require_error(ret, &err, size);
		REQUIRE(!memcmp(&s, &untouched, sizeof(s)));
		REQUIRE(sfg_rebase((void *)data, size, 1) == -EINVAL);
	} else {
		read_anyhow(&s);
		ret = sfg_check_section(&s, &err);
		if (ret)
			require_error(ret, &err, size);
		else
			require_readable(&s);
	}
	fill_memory(0);
	free((void *)data);
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed);

static uint32_t fitting(uint32_t v, size_t most)
{
	return v <= most ? v : most;
}

/* Makes a header consistent with itself and with the length after it. */
static void repair(uint8_t *data, size_t room)
{
	const struct sfg_arch *arch = sfg_arch_by_abi(1 + (data[4] & 3));
	bool swap = arch_swaps(arch);
	struct sframe_header h;
	uint32_t nr;

	memcpy(&h, data, sizeof(h));
	nr = fitting(swap32(swap, h.num_fdes),
		     room / sizeof(struct sframe_fde));
	h = (struct sframe_header) {
		.magic = swap16(swap, SFRAME_MAGIC),
		.version = SFRAME_VERSION_3,
		.flags = SFRAME_F_FDE_FUNC_START_PCREL |
			 (h.flags & SFRAME_F_FDE_SORTED),
		.abi_arch = arch->abi, .cfa_fixed_ra_offset = arch->fixed_ra,
		.num_fdes = swap32(swap, nr), .num_fres = h.num_fres,
		.fres_off = swap32(swap, nr * sizeof(struct sframe_fde)),
	};
	h.fre_len = swap32(swap, room - nr * sizeof(struct sframe_fde));
	memcpy(data, &h, sizeof(h));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed)
{
	const size_t fixed = sizeof(struct sframe_header) + sizeof(uint64_t);

	size = LLVMFuzzerMutate(data, size, max);
	if (seed % 8 && size >= fixed)
		repair(data, size - fixed);
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= sizeof(uint64_t))
		run_bounded(run, data, size);
	return 0;
}
