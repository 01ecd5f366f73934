// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Changes call frame information record by record, so that the records keep
 * their lengths and FDEs the way to their CIE. libFuzzer's own changes come
 * in between.
 */
#include <stdlib.h>

#include "cfi.h"
#include "cursor.h"
#include "dwarf_cfi.h"

#define MAX_RECORDS	64

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed);

struct record {
	const uint8_t *body;	/* after the id */
	size_t len;
	size_t cie;		/* an FDE's: its index; a CIE's: its own */
	size_t offset;		/* of the length field */
};

struct records {
	struct record r[MAX_RECORDS];
	size_t nr;
	bool big_endian, debug_frame;
	unsigned int seed;
};

static unsigned int random_below(struct records *rs, unsigned int n)
{
	rs->seed = rs->seed * 1103515245 + 12345;
	return (rs->seed >> 16) % n;
}

static size_t record_at(const struct records *rs, uint64_t offset)
{
	size_t i;

	for (i = 0; i < rs->nr; i++)
		if (rs->r[i].offset == offset)
			return i;
	return 0;
}

static void parse(struct records *rs, const uint8_t *data, size_t size)
{
	struct cursor c;
	struct record *r;
	uint64_t len, id;

	cursor_init(&c, data, 0, size, rs->big_endian);
	for (rs->nr = 0; rs->nr < MAX_RECORDS; rs->nr++) {
		r = &rs->r[rs->nr];
		r->offset = c.pos;
		len = cursor_u32(&c);
		id = cursor_u32(&c);
		if (c.bad || len < 4)
			return;
		r->len = len - 4 < cursor_left(&c) ? len - 4 : cursor_left(&c);
		r->body = data + c.pos;
		if (id == (rs->debug_frame ? UINT32_MAX : 0))
			r->cie = rs->nr;
		else
			r->cie = record_at(rs, rs->debug_frame ? id :
					   r->offset + 4 - id);
		cursor_take(&c, r->len);
	}
}

static void put_int(const struct records *rs, uint8_t *p, uint32_t v)
{
	v = swap32(rs->big_endian !=
		   (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__), v);
	memcpy(p, &v, 4);
}

static uint32_t id_of(const struct records *rs, const struct record *r,
		      size_t at)
{
	if (r == &rs->r[r->cie])
		return rs->debug_frame ? UINT32_MAX : 0;
	if (rs->debug_frame)
		return rs->r[r->cie].offset;
	return at + 4 - rs->r[r->cie].offset;
}

/* Writes as many of the records as there is room for. */
static size_t write_records(struct records *rs, uint8_t *out, size_t max)
{
	size_t at = 0, i;

	for (i = 0; i < rs->nr; i++) {
		struct record *r = &rs->r[i];

		if (max - at < 8 + r->len)
			break;
		put_int(rs, out + at, r->len + 4);
		put_int(rs, out + at + 4, id_of(rs, r, at));
		if (r->len)
			memcpy(out + at + 8, r->body, r->len);
		r->offset = at;
		at += 8 + r->len;
	}
	return at;
}

static const uint8_t opcodes[] = {
	DW_CFA_nop, DW_CFA_set_loc, DW_CFA_advance_loc1, DW_CFA_advance_loc2,
	DW_CFA_advance_loc4, DW_CFA_offset_extended, DW_CFA_restore_extended,
	DW_CFA_undefined, DW_CFA_same_value, DW_CFA_register,
	DW_CFA_remember_state, DW_CFA_restore_state, DW_CFA_def_cfa,
	DW_CFA_def_cfa_register, DW_CFA_def_cfa_offset,
	DW_CFA_def_cfa_expression, DW_CFA_expression,
	DW_CFA_offset_extended_sf, DW_CFA_def_cfa_sf,
	DW_CFA_def_cfa_offset_sf, DW_CFA_val_offset, DW_CFA_val_offset_sf,
	DW_CFA_val_expression, DW_CFA_MIPS_advance_loc8,
	DW_CFA_AARCH64_negate_ra_state, DW_CFA_GNU_args_size,
	DW_CFA_GNU_negative_offset_extended, DW_CFA_advance_loc,
	DW_CFA_advance_loc + 1, DW_CFA_advance_loc + 4, DW_CFA_offset + 6,
	DW_CFA_offset + 16, DW_CFA_restore + 6, DW_CFA_restore + 16,
};

static const uint8_t operands[] = {
	0, 1, 2, 6, 7, 8, 11, 14, 15, 16, 29, 30, 31, 32, 0x40, 0x70, 0x78,
	0x7f, 0x80, 0xff,
};

static const uint8_t operations[] = {
	DW_OP_deref, DW_OP_const1u, DW_OP_const1s, DW_OP_const2u,
	DW_OP_const4s, DW_OP_const8u, DW_OP_constu, DW_OP_consts, DW_OP_dup,
	DW_OP_drop, DW_OP_over, DW_OP_pick, DW_OP_swap, DW_OP_rot, DW_OP_and,
	DW_OP_minus, DW_OP_mul, DW_OP_neg, DW_OP_not, DW_OP_or, DW_OP_plus,
	DW_OP_plus_uconst, DW_OP_shl, DW_OP_shr, DW_OP_shra, DW_OP_xor,
	DW_OP_bra, DW_OP_eq, DW_OP_ge, DW_OP_gt, DW_OP_le, DW_OP_lt, DW_OP_ne,
	DW_OP_skip, DW_OP_lit0, DW_OP_lit0 + 3, DW_OP_lit0 + 15, DW_OP_lit31,
	DW_OP_breg0 + 6, DW_OP_breg0 + 7, DW_OP_breg0 + 10, DW_OP_breg0 + 16,
	DW_OP_bregx, DW_OP_nop,
};

#define PICK(rs, array)	(array)[random_below(rs, ARRAY_SIZE(array))]

static size_t make_expression(struct records *rs, uint8_t *p)
{
	size_t len = 1 + random_below(rs, 12), i;

	p[0] = len;
	for (i = 1; i <= len; i++)
		p[i] = random_below(rs, 4) ? PICK(rs, operations) :
					     PICK(rs, operands);
	return len + 1;
}

/* An instruction with operands that mean something, most of the time. */
static size_t make_instruction(struct records *rs, uint8_t *p)
{
	size_t len = 0, more = random_below(rs, 3);
	uint8_t op = PICK(rs, opcodes);

	p[len++] = op;
	if (op == DW_CFA_expression || op == DW_CFA_val_expression)
		p[len++] = PICK(rs, operands);
	if (op == DW_CFA_expression || op == DW_CFA_val_expression ||
	    op == DW_CFA_def_cfa_expression)
		return len + make_expression(rs, p + len);
	while (more--)
		p[len++] = PICK(rs, operands);
	return len;
}

#define ROOM	32

/* 'body' has ROOM more bytes than the record, for the program. */
static void change_program(struct records *rs, struct record *r, uint8_t *body)
{
	size_t at = r->len ? random_below(rs, r->len) : 0, n;
	uint8_t made[ROOM];

	memcpy(body, r->body, r->len);
	r->body = body;
	n = make_instruction(rs, made);
	if (random_below(rs, 2) && at + n <= r->len) {
		memcpy(body + at, made, n);
		return;
	}
	memmove(body + at + n, body + at, r->len - at);
	memcpy(body + at, made, n);
	r->len += n;
}

static void drop_record(struct records *rs, size_t i)
{
	size_t k;

	rs->nr--;
	memmove(&rs->r[i], &rs->r[i + 1], (rs->nr - i) * sizeof(rs->r[0]));
	for (k = 0; k < rs->nr; k++) {
		rs->r[k].cie -= rs->r[k].cie > i;
		if (rs->r[k].cie >= rs->nr)
			rs->r[k].cie = 0;
	}
}

static void repeat_record(struct records *rs, size_t i)
{
	if (rs->nr == MAX_RECORDS)
		return;
	rs->r[rs->nr] = rs->r[i];
	if (rs->r[i].cie == i)
		rs->r[rs->nr].cie = rs->nr;
	rs->nr++;
}

/* Another start or size: the first bytes of an FDE. */
static void change_range(struct records *rs, struct record *r, uint8_t *body)
{
	size_t at = random_below(rs, 16), i;

	memcpy(body, r->body, r->len);
	r->body = body;
	for (i = at; i < at + 1 + random_below(rs, 2) && i < r->len; i++)
		body[i] += PICK(rs, operands);
}

static void change_record(struct records *rs, uint8_t *body)
{
	size_t i = random_below(rs, rs->nr);

	switch (random_below(rs, 8)) {
	case 0:
		drop_record(rs, i);
		break;
	case 1:
		repeat_record(rs, i);
		break;
	case 2:
		change_range(rs, &rs->r[i], body);
		break;
	default:
		change_program(rs, &rs->r[i], body);
	}
}

static size_t change_records(uint8_t *cfi, size_t size, size_t max,
			     const struct head *head, unsigned int seed)
{
	const struct sfg_arch *arch = sfg_any_arch(head_abi(head));
	struct records rs = {
		.big_endian = arch && arch->big_endian,
		.debug_frame = head->flags & HEAD_DEBUG, .seed = seed,
	};
	uint8_t *old = malloc(size), *body = malloc(size + ROOM);

	memcpy(old, cfi, size);
	parse(&rs, old, size);
	if (rs.nr) {
		change_record(&rs, body);
		size = write_records(&rs, cfi, max);
	}
	free(old);
	free(body);
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed)
{
	struct head head;
	size_t before;

	if (size >= sizeof(head) && seed % 3) {
		memcpy(&head, data, sizeof(head));
		before = sizeof(head) + head_uint(head.text_len, 2);
		if (size > before)
			return before + change_records(data + before,
						       size - before,
						       max - before, &head,
						       seed / 3);
	}
	return LLVMFuzzerMutate(data, size, max);
}
