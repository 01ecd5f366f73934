// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Records begin with their length: 4 bytes, or all ones and 8 bytes (DWARF 5,
 * section 7.4). Then follow 4 bytes: 0 in a CIE, in an FDE the way back from
 * there to its CIE (LSB, "Exception Frames"). Nothing says how many bytes there
 * are: the records are followed, in a copy, as far as memory goes.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cfi_read.h"
#include "self.h"

#define PAGE		4096UL
#define STEP_MAX	(1UL << 20)
#define CFI_MAX		(32UL << 20)
#define ID_SIZE		4

struct copy {
	uint8_t *data;
	size_t have, room;
	uintptr_t from;
};

struct record {
	size_t id;		/* where the id is, from the record's start */
	size_t size;		/* of the record */
};

static int fail_read(const char **reason, const char *why)
{
	*reason = why;
	return -EINVAL;
}

static bool make_room(struct copy *c, size_t more)
{
	size_t room = c->room ? c->room : 2 * PAGE;
	uint8_t *bigger;

	while (room < c->have + more)
		room *= 2;
	if (room == c->room)
		return true;
	bigger = realloc(c->data, room);
	if (!bigger)
		return false;
	c->data = bigger;
	c->room = room;
	return true;
}

/* To the end of a page, then ever more: most of what is registered is short. */
static bool extend(struct copy *c)
{
	size_t step = PAGE - (c->from + c->have) % PAGE, n;

	if (c->have >= PAGE)
		step += (c->have < STEP_MAX ? c->have : STEP_MAX) & ~(PAGE - 1);
	if (!make_room(c, step))
		return false;
	n = self_read(c->from + c->have, c->data + c->have, step);
	c->have += n;
	return n;
}

/* 'length' bytes at 'at' are copied. */
static bool have(struct copy *c, size_t at, size_t length)
{
	while (c->have < at || c->have - at < length)
		if (!extend(c))
			return false;
	return true;
}

/* 1: a record; 0: the terminator. */
static int read_record(struct copy *c, size_t at, struct record *r,
		       const char **reason)
{
	uint32_t length;
	uint64_t wide;

	if (!have(c, at, sizeof(length)))
		return fail_read(reason, "the frames leave mapped memory");
	memcpy(&length, c->data + at, sizeof(length));
	if (!length)
		return 0;
	r->id = sizeof(length);
	wide = length;
	if (length == UINT32_MAX) {
		if (!have(c, at, sizeof(length) + sizeof(wide)))
			return fail_read(reason, "the frames leave mapped memory");
		memcpy(&wide, c->data + at + sizeof(length), sizeof(wide));
		r->id += sizeof(wide);
	}
	/* It has an id, and a length that frames can have. */
	if (wide < ID_SIZE)
		return fail_read(reason, "a record of the frames is too short");
	if (wide > CFI_MAX || at > CFI_MAX - wide)
		return fail_read(reason, "the frames are over 32 MiB");
	r->size = r->id + wide;
	if (!have(c, at, r->size))
		return fail_read(reason, "the frames leave mapped memory");
	return 1;
}

static uint32_t id_of(const struct copy *c, size_t at, const struct record *r)
{
	uint32_t id;

	memcpy(&id, c->data + at + r->id, sizeof(id));
	return id;
}

/* The copy of the FDE with its CIE in front, where the section had another. */
static int join(struct sfg_image *image, const struct copy *cie,
		const struct record *cie_record, const struct copy *fde,
		const struct record *fde_record)
{
	size_t length = cie_record->size + fde_record->size;
	uint32_t back = cie_record->size + fde_record->id;
	uint8_t *data = malloc(length);

	if (!data)
		return -ENOMEM;
	memcpy(data, cie->data, cie_record->size);
	memcpy(data + cie_record->size, fde->data, fde_record->size);
	memcpy(data + back, &back, sizeof(back));
	image->data = data;
	image->len = length;
	image->addr = fde->from - cie_record->size;
	return 0;
}

static int read_one(struct copy *fde, const struct record *r,
		    struct sfg_image *image, const char **reason)
{
	int32_t back = id_of(fde, 0, r);
	struct copy cie = { .from = fde->from + r->id - back };
	struct record c;
	int ret;

	ret = read_record(&cie, 0, &c, reason);
	if (ret < 0)
		return ret;
	/* It points to a CIE. */
	if (!ret || id_of(&cie, 0, &c))
		return fail_read(reason, "the frame names no CIE");
	*reason = "no memory for the frames";
	return join(image, &cie, &c, fde, r);
}

int cfi_read(uintptr_t begin, struct sfg_image *image, const char **reason)
{
	struct copy c = { .from = begin };
	struct record r;
	size_t at = 0;
	int ret;

	*reason = "no frames";
	ret = read_record(&c, 0, &r, reason);
	if (ret <= 0)
		return ret ? ret : -ENODATA;
	if (id_of(&c, 0, &r))
		return read_one(&c, &r, image, reason);
	while (ret > 0) {
		at += r.size;
		ret = read_record(&c, at, &r, reason);
	}
	if (ret)
		return ret;
	image->data = c.data;
	image->len = at;
	image->addr = begin;
	return 0;
}
