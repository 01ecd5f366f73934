// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <sfjit_trampoline.h>

#include "measure.h"
#include "window.h"

/* Like sections of pools, these start on cache lines. */
#define SECTION_STRIDE	64

static void fill_section(struct windows *windows, size_t i, int rbp)
{
	uint8_t *section = window_section(windows, i);
	const int start_off = SFJIT_TRAMP_ARG_SFRAME_START_OFF;
	int64_t start = window_key(windows, i) -
			(uintptr_t)(section + start_off);
	const uint32_t size = WINDOW_SIZE;

	if (rbp)
		memcpy(section, sfjit_tramp_rbp_sframe,
		       sizeof(sfjit_tramp_rbp_sframe));
	else
		memcpy(section, sfjit_tramp_arg_sframe,
		       sizeof(sfjit_tramp_arg_sframe));
	memcpy(section + start_off, &start, sizeof(start));
	memcpy(section + SFJIT_TRAMP_ARG_SFRAME_SIZE_OFF, &size, sizeof(size));
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
	return sizeof(sfjit_tramp_rbp_sframe);
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
	call_register(windows, i, NULL);
}

void window_register_range(const struct windows *windows, size_t i,
			   uint32_t flags)
{
	struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.flags = flags,
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
