// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Programs have the table in constant data, position-independent ones in data that
 * is constant once it is relocated. A copy of a file is not relocated.
 */
#include "find_go.h"

#define MOST_DATA	4

/* The first bytes of writable data, which ld.so makes read-only. */
static uint64_t relocated(const struct dl_phdr_info *info,
			  const ElfW(Phdr) *load)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr;
	uint64_t end = 0;

	for (; ph < info->dlpi_phdr + info->dlpi_phnum; ph++)
		if (ph->p_type == PT_GNU_RELRO && ph->p_vaddr >= load->p_vaddr &&
		    ph->p_vaddr - load->p_vaddr < load->p_filesz)
			end = ph->p_vaddr - load->p_vaddr + ph->p_filesz;
	return end < load->p_filesz ? end : load->p_filesz;
}

static uint64_t constant(const struct dl_phdr_info *info,
			 const ElfW(Phdr) *load)
{
	if (load->p_type != PT_LOAD || !(load->p_flags & PF_R) ||
	    load->p_flags & PF_X)
		return 0;
	return load->p_flags & PF_W ? relocated(info, load) : load->p_filesz;
}

static struct sfg_image image_of(const struct dl_phdr_info *info,
				 const ElfW(Phdr) *load, uint64_t length)
{
	return (struct sfg_image) {
		(const void *)(uintptr_t)(info->dlpi_addr + load->p_vaddr),
		length, load->p_vaddr,
	};
}

static size_t read_data(const struct dl_phdr_info *info,
			struct sfg_image *data)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr;
	size_t nr = 0;

	for (; ph < info->dlpi_phdr + info->dlpi_phnum && nr < MOST_DATA; ph++)
		if (ph->p_type == PT_LOAD && ph->p_flags & PF_W)
			data[nr++] = image_of(info, ph, ph->p_filesz);
	return nr;
}

bool find_go(const struct dl_phdr_info *info, const struct sfg_image *text,
	     size_t nr_text, struct sfg_go *go)
{
	struct sfg_image data[MOST_DATA];
	struct sfg_go_input in = {
		.abi = SFG_HOST_ABI, .text = text, .nr_text = nr_text,
		.data = data, .nr_data = read_data(info, data),
	};
	const ElfW(Phdr) *ph = info->dlpi_phdr;

	for (; ph < info->dlpi_phdr + info->dlpi_phnum; ph++) {
		in.table = image_of(info, ph, constant(info, ph));
		in.bias = 0;
		if (in.table.len && !sfg_find_go(go, &in, NULL))
			return true;
		in.bias = info->dlpi_addr;
		if (in.table.len && in.bias && !sfg_find_go(go, &in, NULL))
			return true;
	}
	return false;
}
