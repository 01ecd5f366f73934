// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <string.h>

#include "eh_frame.h"

/* Length, CIE id, version, "zR" at least, and three numbers. */
#define CIE_LEAST	12
#define EXTENDED	0xffffffff
/* With its end, as "zPLR"; longer ones are not searched. */
#define AUGMENTATION	8

struct records {
	const uint8_t *bytes;
	size_t length;
	bool swapped;
	size_t at, cie;		/* of this record, and of the latest CIE */
	bool has_cie, has_fde;
};

static uint32_t word(const struct records *r, size_t at)
{
	uint32_t value;

	memcpy(&value, r->bytes + at, sizeof(value));
	return r->swapped ? __builtin_bswap32(value) : value;
}

/* @length: after the word that tells it. */
static bool is_cie_record(const struct records *r, size_t at, uint32_t length)
{
	const uint8_t *p = r->bytes + at + 8;

	return length >= CIE_LEAST && !word(r, at + 4) &&
	       (p[0] == 1 || p[0] == 3) && p[1] == 'z' &&
	       memchr(p + 1, '\0', length < 5 + AUGMENTATION ? length - 5 :
							AUGMENTATION);
}

/* Linkers put each CIE before its FDEs, but may merge equal ones. */
static bool is_fde_record(const struct records *r, size_t at, uint32_t length)
{
	uint32_t back = word(r, at + 4);
	size_t cie;

	if (!r->has_cie || length < 12 || back > at + 4)
		return false;
	cie = at + 4 - back;
	return cie == r->cie || (cie < r->cie && cie % 4 == 0 &&
				 is_cie_record(r, cie, word(r, cie)));
}

static bool take_record(struct records *r, uint32_t length)
{
	if (is_cie_record(r, r->at, length)) {
		r->cie = r->at;
		r->has_cie = true;
		return true;
	}
	if (!is_fde_record(r, r->at, length))
		return false;
	r->has_fde = true;
	return true;
}

/* From a place on. Where that fails, @at is the record which is none. */
static bool follow_records(struct records *r)
{
	uint32_t length;

	r->has_cie = r->has_fde = false;
	while (r->length - r->at >= 4) {
		length = word(r, r->at);
		if (!length)
			break;
		if (length == EXTENDED || length % 4 || length < 4 ||
		    length > r->length - r->at - 4 || !take_record(r, length))
			return false;
		r->at += 4 + length;
	}
	return r->has_fde;
}

bool eh_frame_find(const uint8_t *bytes, size_t length, bool swapped,
		   size_t *at, size_t *size)
{
	struct records r = {
		.bytes = bytes, .length = length, .swapped = swapped,
	};
	size_t begin;

	/* No record is read twice: go on where the last one failed. */
	for (begin = 0; begin + 4 <= length; begin = r.at + 4) {
		r.at = begin;
		if (!follow_records(&r))
			continue;
		*at = begin;
		*size = length - r.at < 4 ? r.at - begin : r.at + 4 - begin;
		return true;
	}
	return false;
}
