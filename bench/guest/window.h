/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Windows like those of libsfjit's pools, by direct calls of prctl(). */
#ifndef BENCH_WINDOW_H
#define BENCH_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include <sfjit/sframe.h>

#define WINDOW_SIZE	0x10000

/* Adjacent text and sections of @nr windows. */
struct windows {
	uint8_t *text;
	uint8_t *sections;
	size_t nr;
};

/* @rbp: the kind of slot that saves rbp, else the one that does not. */
void windows_map(struct windows *windows, size_t nr, int rbp);
void windows_unmap(struct windows *windows);

/* Key, section and text range of one window. */
uintptr_t window_key(const struct windows *windows, size_t i);
void *window_section(const struct windows *windows, size_t i);
size_t window_section_size(void);

/* The calls; they exit if the kernel refuses. */
void window_register(const struct windows *windows, size_t i);
void window_register_range(const struct windows *windows, size_t i,
			   uint32_t flags);
void window_unregister(const struct windows *windows, size_t i);

#endif /* BENCH_WINDOW_H */
