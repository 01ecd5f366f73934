/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Windows as libsfjit's pools have them, by bare prctl(). */
#ifndef BENCH_WINDOW_H
#define BENCH_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include <sfjit/sframe.h>

#define WINDOW_SIZE	0x10000

/* Text and sections of 'nr' windows next to each other. */
struct windows {
	uint8_t *text;
	uint8_t *sections;
	size_t nr;
};

/* 'rbp': of the slot kind that saves rbp, else of the one that does not. */
void windows_map(struct windows *windows, size_t nr, int rbp);
void windows_unmap(struct windows *windows);

/* Key, section and its text range of one of them. */
uintptr_t window_key(const struct windows *windows, size_t i);
void *window_section(const struct windows *windows, size_t i);
size_t window_section_size(void);

/* The calls; they end the program when the kernel refuses. */
void window_register(const struct windows *windows, size_t i);
void window_register_range(const struct windows *windows, size_t i,
			   uint32_t flags);
void window_unregister(const struct windows *windows, size_t i);

#endif /* BENCH_WINDOW_H */
