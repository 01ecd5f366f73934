/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A checksum against accidents, eight bytes at a time: FNV-1a with a shift, so
 * that the upper bits matter to the lower.
 */
#ifndef SFJIT_PRELOAD_SUM_H
#define SFJIT_PRELOAD_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SUM_START	0xcbf29ce484222325ULL
#define SUM_PRIME	0x100000001b3ULL

static inline uint64_t sum_bytes(uint64_t sum, const void *data, size_t length)
{
	const uint8_t *p = data;
	uint64_t word;

	for (; length >= 8; p += 8, length -= 8) {
		memcpy(&word, p, 8);
		sum = (sum ^ word) * SUM_PRIME;
		sum ^= sum >> 29;
	}
	while (length--)
		sum = (sum ^ *p++) * SUM_PRIME;
	return sum;
}

#endif /* SFJIT_PRELOAD_SUM_H */
