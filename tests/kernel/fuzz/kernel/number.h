/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Numbers of 1 to 8 bytes in the byte order of the machine that this is compiled
 * for, which is the one that sections of its kernel have.
 */
#ifndef FUZZ_NUMBER_H
#define FUZZ_NUMBER_H

/* Where the byte is that has bits 8 * @i and up. */
static inline unsigned int number_byte(unsigned int i, unsigned int size)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? size - 1 - i : i;
}

static inline u64 get_number(const u8 *p, unsigned int size)
{
	u64 value = 0;
	unsigned int i;

	for (i = size; i--; )
		value = value << 8 | p[number_byte(i, size)];
	return value;
}

static inline void put_number(u8 *p, u64 value, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		p[number_byte(i, size)] = value >> 8 * i;
}

#endif
