// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Lengths and operands, by the opcode maps of the processors' manuals. It
 * decodes any bytes; nonsense that has a length is an instruction.
 */
#include <string.h>

#include "x86_insn.h"

struct reader {
	const uint8_t	*text;
	size_t		room;
	size_t		pos;
	bool		bad;
	uint8_t		rex;
	bool		short_address;
};

static uint8_t get(struct reader *r)
{
	/* No instruction is longer than 15 bytes. */
	if (r->pos >= r->room || r->pos >= 15) {
		r->bad = true;
		return 0;
	}
	return r->text[r->pos++];
}

static int64_t get_number(struct reader *r, unsigned int bytes)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < bytes; i++)
		value |= (uint64_t)get(r) << 8 * i;
	return bytes && bytes < 8 ?
	       (int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes) :
	       (int64_t)value;
}

/* Prefixes, then REX, which has to be the last of them. */
static uint8_t read_prefixes(struct reader *r, struct insn *insn)
{
	uint8_t byte = get(r);

	for (;; byte = get(r)) {
		if (byte == 0x66)
			insn->small = true;
		else if (byte == 0x67)
			r->short_address = true;
		else if (byte == 0xf2 || byte == 0xf3)
			insn->repeat = byte;
		else if (byte != 0xf0 && byte != 0x2e && byte != 0x36 &&
			 byte != 0x3e && byte != 0x26 && byte != 0x64 &&
			 byte != 0x65)
			break;
		if (r->bad)
			return 0;
	}
	if ((byte & 0xf0) == 0x40) {
		r->rex = byte;
		byte = get(r);
	}
	insn->wide = r->rex & 8;
	return byte;
}

/* VEX and EVEX have REX's bits inverted, and name map and prefix by number. */
static void read_vex(struct reader *r, struct insn *insn, uint8_t first)
{
	static const uint8_t repeats[4] = { 0, 0, 0xf3, 0xf2 };
	uint8_t one = get(r), two = 0;

	insn->vex = true;
	insn->evex = first == 0x62;
	insn->map = INSN_MAP_0F;
	r->rex = ~one >> 5 & 4;
	if (first == 0xc5) {
		two = one & 0x7f;
	} else {
		r->rex = ~one >> 5 & 7;
		insn->map = one & (insn->evex ? 7 : 0x1f);
		two = get(r);
		insn->wide = two & 0x80;
	}
	insn->vvvv = ~two >> 3 & 15;
	insn->small = (two & 3) == 1;
	insn->repeat = repeats[two & 3];
	if (insn->evex)
		get(r);
	insn->op = get(r);
}

static void read_opcode(struct reader *r, struct insn *insn)
{
	uint8_t byte = read_prefixes(r, insn);

	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
		read_vex(r, insn, byte);
		return;
	}
	if (byte == 0x0f) {
		insn->map = INSN_MAP_0F;
		byte = get(r);
		if (byte == 0x38 || byte == 0x3a) {
			insn->map = byte == 0x38 ? INSN_MAP_0F38 :
						   INSN_MAP_0F3A;
			byte = get(r);
		}
	}
	insn->op = byte;
}

static bool has_modrm(const struct insn *insn)
{
	uint8_t op = insn->op;

	if (insn->map > INSN_MAP_0F)
		return true;
	if (insn->map == INSN_MAP_0F) {
		if (insn->vex)
			return op != 0x77;
		return !((op >= 0x05 && op <= 0x0b) || op == 0x0e ||
			 (op >= 0x30 && op <= 0x37) ||
			 op == 0x77 || (op & 0xf0) == 0x80 ||
			 (op >= 0xa0 && op <= 0xa2) ||
			 (op >= 0xa8 && op <= 0xaa) ||
			 (op >= 0xc8 && op <= 0xcf));
	}
	if (op < 0x40)
		return (op & 7) < 4;
	return op == 0x63 || op == 0x69 || op == 0x6b ||
	       (op & 0xf0) == 0x80 || op == 0xc0 || op == 0xc1 ||
	       op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) ||
	       (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 ||
	       op == 0xfe || op == 0xff;
}

static void read_memory(struct reader *r, struct insn *insn, uint8_t low)
{
	uint8_t sib;

	insn->base = low | (r->rex & 1) << 3;
	insn->index = INSN_NO_REG;
	if (low == 4) {
		sib = get(r);
		low = sib & 7;
		insn->base = low | (r->rex & 1) << 3;
		insn->index = (sib >> 3 & 7) | (r->rex & 2) << 2;
		if (insn->index == RSP)
			insn->index = INSN_NO_REG;
		if (low == 5 && !insn->mod) {
			insn->base = INSN_NO_REG;
			insn->disp = get_number(r, 4);
		}
	} else if (low == 5 && !insn->mod) {
		insn->base = INSN_RIP;
		insn->disp = get_number(r, 4);
	}
	if (insn->mod == 1)
		insn->disp = get_number(r, 1);
	else if (insn->mod == 2)
		insn->disp = get_number(r, 4);
}

static void read_modrm(struct reader *r, struct insn *insn)
{
	uint8_t byte = get(r);

	insn->has_modrm = true;
	insn->mod = byte >> 6;
	insn->reg = (byte >> 3 & 7) | (r->rex & 4) << 1;
	insn->rm = (byte & 7) | (r->rex & 1) << 3;
	if (insn->mod != 3)
		read_memory(r, insn, byte & 7);
}

/* Bytes of the immediate in the map of one byte. */
static unsigned int immediate_size(const struct insn *insn,
				   const struct reader *r)
{
	unsigned int word = insn->small && !insn->wide ? 2 : 4;
	uint8_t op = insn->op;

	if (op < 0x40)
		return (op & 7) == 4 ? 1 : (op & 7) == 5 ? word : 0;
	if ((op & 0xf8) == 0xb8)
		return insn->wide ? 8 : word;
	if ((op & 0xfc) == 0xa0)
		return r->short_address ? 4 : 8;
	switch (op) {
	case 0x68: case 0x69: case 0x81: case 0xa9: case 0xc7:
		return word;
	case 0xe8: case 0xe9:
		return 4;
	case 0xc2: case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0x6a: case 0x6b: case 0x80: case 0x83: case 0xa8: case 0xc0:
	case 0xc1: case 0xc6: case 0xcd: case 0xeb:
		return 1;
	case 0xf6:
		return (insn->reg & 7) < 2 ? 1 : 0;
	case 0xf7:
		return (insn->reg & 7) < 2 ? word : 0;
	}
	return (op & 0xf0) == 0x70 || (op & 0xf8) == 0xb0 ||
	       (op & 0xfc) == 0xe0 || (op >= 0xe4 && op <= 0xe7) ? 1 : 0;
}

static unsigned int extended_immediate_size(const struct insn *insn)
{
	uint8_t op = insn->op;

	if (insn->map == INSN_MAP_0F3A)
		return 1;
	if (insn->map != INSN_MAP_0F)
		return 0;
	if (!insn->vex && (op & 0xf0) == 0x80)
		return 4;
	return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac ||
	       op == 0xba || op == 0xc2 || (op >= 0xc4 && op <= 0xc6);
}

/* Invalid in 64-bit code, or of unknown length. */
static bool is_invalid(const struct insn *insn)
{
	uint8_t op = insn->op;

	if (insn->vex)
		return insn->map < 1 || insn->map > 6;
	if (insn->map)
		return false;
	return (op < 0x40 && (op & 7) >= 6) || op == 0x27 || op == 0x2f ||
	       op == 0x37 || op == 0x3f || op == 0x60 || op == 0x61 ||
	       op == 0x82 || op == 0x9a || op == 0xce || op == 0xd4 ||
	       op == 0xd5 || op == 0xd6 || op == 0xea;
}

bool sfg_insn_decode(const uint8_t *text, size_t room, struct insn *insn)
{
	struct reader r = { .text = text, .room = room };

	memset(insn, 0, sizeof(*insn));
	insn->base = insn->index = INSN_NO_REG;
	read_opcode(&r, insn);
	if (r.bad || is_invalid(insn))
		return false;
	insn->opreg = (insn->op & 7) | (r.rex & 1) << 3;
	if (has_modrm(insn))
		read_modrm(&r, insn);
	insn->imm = get_number(&r, insn->map ? extended_immediate_size(insn) :
			       immediate_size(insn, &r));
	insn->length = r.pos;
	return !r.bad;
}

/* ---- What changes ---------------------------------------------------- */

#define BIT(n)	(1u << (n))

static uint32_t rm_bit(const struct insn *insn)
{
	return insn->mod == 3 ? BIT(insn->rm) : 0;
}

/* Only these of map 0F write general registers. */
static uint32_t changes_0f(const struct insn *insn)
{
	uint8_t op = insn->op;

	if ((op & 0xf0) == 0x40)
		return insn->vex ? 0 : BIT(insn->reg);
	if ((op & 0xf0) == 0x90)
		return insn->vex ? BIT(insn->reg) : rm_bit(insn);
	if (op >= 0xc8 && op <= 0xcf)
		return insn->vex ? 0 : BIT(insn->opreg);
	switch (op) {
	case 0x2c: case 0x2d: case 0x50: case 0x78: case 0x79: case 0xc5:
	case 0xd7:
		return BIT(insn->reg);
	case 0x7e:
		return insn->repeat ? 0 : rm_bit(insn);
	case 0x00: case 0x01: case 0xba: case 0xab: case 0xb3: case 0xbb:
		return rm_bit(insn) | (op == 1 ? BIT(RAX) | BIT(RCX) |
				       BIT(RDX) : 0);
	case 0x02: case 0x03: case 0xaf: case 0xb6: case 0xb7: case 0xb8:
	case 0xbc: case 0xbd: case 0xbe: case 0xbf:
		return BIT(insn->reg);
	case 0xa4: case 0xa5: case 0xac: case 0xad:
		return rm_bit(insn);
	case 0xb0: case 0xb1:
		return rm_bit(insn) | BIT(RAX);
	case 0xc0: case 0xc1:
		return rm_bit(insn) | BIT(insn->reg);
	case 0xc7:
		return rm_bit(insn) | BIT(RAX) | BIT(RDX);
	case 0x05: case 0x31: case 0x32: case 0x33: case 0xa2:
		return BIT(RAX) | BIT(RCX) | BIT(RDX) | BIT(RBX) | BIT(11);
	}
	return 0;
}

static uint32_t changes_0f38(const struct insn *insn)
{
	uint8_t op = insn->op;

	if (op == 0xf3 && insn->vex)
		return BIT(insn->vvvv);
	if (op >= 0xf0 && op <= 0xf7)
		return BIT(insn->reg) | (insn->vex ? BIT(insn->vvvv) : 0);
	return 0;
}

static uint32_t changes_0f3a(const struct insn *insn)
{
	uint8_t op = insn->op;

	if (op >= 0x14 && op <= 0x17)
		return rm_bit(insn);
	if (op == 0xf0)
		return BIT(insn->reg);
	return op == 0x61 || op == 0x63 ? BIT(RCX) : 0;
}

static uint32_t changes_unary(const struct insn *insn)
{
	unsigned int nr = insn->reg & 7;

	if (insn->op < 0xf8)		/* F6, F7 */
		return nr < 2 ? 0 : nr < 4 ? rm_bit(insn) :
		       BIT(RAX) | BIT(RDX);
	return nr < 2 ? rm_bit(insn) : 0;	/* inc, dec */
}

static uint32_t changes_one_byte(const struct insn *insn)
{
	uint8_t op = insn->op;

	if (op < 0x38 && (op & 7) < 6)
		return (op & 7) < 2 ? rm_bit(insn) :
		       (op & 7) < 4 ? BIT(insn->reg) : BIT(RAX);
	if ((op & 0xf8) == 0x58 || (op & 0xf0) == 0xb0)
		return BIT(insn->opreg);
	if ((op & 0xf8) == 0x90)
		return BIT(insn->opreg) | BIT(RAX);
	if (op >= 0xa4 && op <= 0xaf && op != 0xa8 && op != 0xa9)
		return BIT(RSI) | BIT(RDI) | BIT(RCX) | BIT(RAX);
	if (op >= 0x80 && op <= 0x83)
		return (insn->reg & 7) == 7 ? 0 : rm_bit(insn);
	switch (op) {
	case 0x63: case 0x69: case 0x6b: case 0x8a: case 0x8b: case 0x8d:
		return BIT(insn->reg);
	case 0x86: case 0x87:
		return rm_bit(insn) | BIT(insn->reg);
	case 0x88: case 0x89: case 0x8c: case 0x8f: case 0xc0: case 0xc1:
	case 0xc6: case 0xc7: case 0xd0: case 0xd1: case 0xd2: case 0xd3:
		return rm_bit(insn);
	case 0x98: case 0xa0: case 0xa1: case 0xd7: case 0x9f:
	case 0xe4: case 0xe5: case 0xec: case 0xed:
		return BIT(RAX);
	case 0x99:
		return BIT(RDX);
	case 0xc8: case 0xc9:
		return BIT(RBP);
	case 0xe0: case 0xe1: case 0xe2:
		return BIT(RCX);
	case 0xf6: case 0xf7: case 0xfe: case 0xff:
		return changes_unary(insn);
	}
	return 0;
}

/*
 * Without REX, a byte operand with the number of the stack or frame pointer is
 * %ah or %ch. No code writes the low bytes of these pointers.
 */
static bool is_byte(const struct insn *insn)
{
	uint8_t op = insn->op;

	if (insn->map == INSN_MAP_0F)
		return (op & 0xf0) == 0x90 || op == 0xb0 || op == 0xc0;
	if (insn->map)
		return false;
	return (op >= 0xb0 && op <= 0xb7) || (!(op & 1) && (op < 0x40 ||
	       op == 0x80 || op == 0x86 || op == 0x88 || op == 0x8a ||
	       op == 0xc0 || op == 0xc6 || op == 0xd0 || op == 0xd2 ||
	       op == 0xf6 || op == 0xfe));
}

static uint32_t changes(const struct insn *insn)
{
	switch (insn->map) {
	case 0:
		return changes_one_byte(insn);
	case INSN_MAP_0F:
		return changes_0f(insn);
	case INSN_MAP_0F38:
		return changes_0f38(insn);
	case INSN_MAP_0F3A:
		return changes_0f3a(insn);
	}
	return 0;
}

uint32_t sfg_insn_changes(const struct insn *insn)
{
	return changes(insn) & ~(is_byte(insn) ? BIT(RSP) | BIT(RBP) : 0);
}

bool sfg_insn_jumps_if(const struct insn *insn)
{
	if (insn->map == INSN_MAP_0F)
		return !insn->vex && (insn->op & 0xf0) == 0x80;
	return !insn->map && ((insn->op & 0xf0) == 0x70 ||
			      (insn->op & 0xfc) == 0xe0);
}
