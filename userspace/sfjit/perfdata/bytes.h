/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Fields of records, at any alignment. Whoever reads one has checked before
 * that it is there.
 */
#ifndef SFJIT_PERFDATA_BYTES_H
#define SFJIT_PERFDATA_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t get_u16(const void *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint32_t get_u32(const void *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t get_u64(const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline void put_u16(void *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

static inline void put_u32(void *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static inline void put_u64(void *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

#endif /* SFJIT_PERFDATA_BYTES_H */
