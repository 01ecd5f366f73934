/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef RECORD_H
#define RECORD_H

#include <stdint.h>

#define RECORD_MAX	16384

struct record_window {
	uint64_t	key;
	uint64_t	section;
	uint64_t	length;
	uint64_t	text;
	uint64_t	text_length;
};

struct record {
	uint32_t		nr;
	uint32_t		changes;
	struct record_window	windows[RECORD_MAX];
};

#endif
