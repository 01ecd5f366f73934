/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Reads hostile bytes. A read past the end returns 0 and sets 'bad', which
 * stays set; check it before you use the values.
 */
#ifndef SFRAMEGEN_CURSOR_H
#define SFRAMEGEN_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *data;
	size_t pos, end;
	bool big_endian;
	bool bad;
};

static inline void cursor_init(struct cursor *c, const void *data, size_t pos,
			       size_t end, bool big_endian)
{
	c->data = data;
	c->pos = pos;
	c->end = end;
	c->big_endian = big_endian;
	c->bad = false;
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->bad ? 0 : c->end - c->pos;
}

static inline bool cursor_take(struct cursor *c, uint64_t len)
{
	if (c->bad || len > c->end - c->pos) {
		c->bad = true;
		return false;
	}
	c->pos += len;
	return true;
}

static inline uint64_t cursor_uint(struct cursor *c, unsigned int len)
{
	const uint8_t *p = c->data + c->pos;
	uint64_t v = 0;
	unsigned int i;

	if (!cursor_take(c, len))
		return 0;
	for (i = 0; i < len; i++)
		v |= (uint64_t)p[i] << 8 * (c->big_endian ? len - 1 - i : i);
	return v;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	if (!cursor_take(c, 1))
		return 0;
	return c->data[c->pos - 1];
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	return cursor_uint(c, 2);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	return cursor_uint(c, 4);
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	return cursor_uint(c, 8);
}

/* Numbers wider than 64 bits are bad, padding bytes of a LEB128 are not. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (shift >= 64 ? byte & 0x7f : shift == 63 && byte & 0x7e)
			c->bad = true;
		shift = shift < 64 ? shift + 7 : shift;
	} while (byte & 0x80 && !c->bad);
	return v;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift = shift < 64 ? shift + 7 : shift;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		v |= ~(uint64_t)0 << shift;
	return v;
}

#endif /* SFRAMEGEN_CURSOR_H */
