// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <sfjit_trampoline.h>

#include "measure.h"
#include "window.h"

/* Like tables of pools, these start on cache lines. */
#define SECTION_STRIDE	128

static void fill_section(struct windows *windows, size_t i, int rbp)
{
	uint8_t *table = window_section(windows, i);
	const uint64_t start = window_key(windows, i);
	const uint32_t size = WINDOW_SIZE;

	if (rbp)
		memcpy(table, sfjit_tramp_rbp_packed,
		       sizeof(sfjit_tramp_rbp_packed));
	else
		memcpy(table, sfjit_tramp_arg_packed,
		       sizeof(sfjit_tramp_arg_packed));
	memcpy(table + SFJIT_TRAMP_ARG_PACKED_START_OFF, &start, sizeof(start));
	memcpy(table + SFJIT_TRAMP_ARG_PACKED_SIZE_OFF, &size, sizeof(size));
}

void windows_map(struct windows *windows, size_t nr, int rbp)
{
	size_t i;

	windows->nr = nr;
	windows->text = map_memory(nr * WINDOW_SIZE, PROT_READ | PROT_EXEC);
	windows->sections = map_memory(nr * SECTION_STRIDE,
				       PROT_READ | PROT_WRITE);
	for (i = 0; i < nr; i++)
		fill_section(windows, i, rbp);
}

void windows_unmap(struct windows *windows)
{
	munmap(windows->text, windows->nr * WINDOW_SIZE);
	munmap(windows->sections, windows->nr * SECTION_STRIDE);
}

uintptr_t window_key(const struct windows *windows, size_t i)
{
	return (uintptr_t)windows->text + i * WINDOW_SIZE;
}

void *window_section(const struct windows *windows, size_t i)
{
	return windows->sections + i * SECTION_STRIDE;
}

size_t window_section_size(void)
{
	return sizeof(sfjit_tramp_rbp_packed);
}

static void call_register(const struct windows *windows, size_t i,
			  const struct sframe_window_opts *opts)
{
	if (prctl(PR_SFRAME_REGISTER, window_key(windows, i),
		  window_section(windows, i), window_section_size(), opts))
		die("PR_SFRAME_REGISTER: %m");
}

void window_register(const struct windows *windows, size_t i)
{
	const struct sframe_window_opts opts = {
		.size = sizeof(opts), .format = SFRAME_FORMAT_PACKED,
	};

	call_register(windows, i, &opts);
}

void window_register_range(const struct windows *windows, size_t i,
			   uint32_t flags)
{
	struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.flags = flags,
		.format = SFRAME_FORMAT_PACKED,
		.text_start = window_key(windows, i),
		.text_length = WINDOW_SIZE,
	};

	call_register(windows, i, &opts);
}

void window_unregister(const struct windows *windows, size_t i)
{
	if (prctl(PR_SFRAME_UNREGISTER, window_key(windows, i), 0, 0, 0))
		die("PR_SFRAME_UNREGISTER: %m");
}
