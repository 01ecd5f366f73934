// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Encodings are those of the z/Architecture Principles of Operation, appendix
 * B. r15 is the stack pointer, r14 has the return address, and r11 is the frame
 * pointer of functions that have one. Unknown instructions are not a leaf's.
 *
 * The uppermost bits of an instruction are how long it is. Its first byte is
 * the operation; in some formats the last one, or half of the second, is part
 * of that, too. Registers are half bytes: mostly the first of the second byte.
 */
#include <string.h>

#include <bare.h>

#define FRAME		(1u << 11 | 1u << 14 | 1u << 15)
#define UNKNOWN		FRAME

#define NR_SIGRETURN	119
#define NR_CLONE	120
#define NR_RT_SIGRETURN	173
#define NR_CLONE3	435

const struct sfjit_row bare_rows[] = {
	{ 0, 0, SFJIT_REG(15, 160), SFJIT_NO_RULE, SFJIT_NO_RULE },
};
const unsigned int bare_nr_rows = 1;

static unsigned int high(uint8_t byte)
{
	return byte >> 4;
}

static unsigned int low(uint8_t byte)
{
	return byte & 15;
}

static uint32_t one(unsigned int reg)
{
	return 1u << reg;
}

static uint32_t pair(unsigned int reg)
{
	return 3u << (reg & ~1u);
}

/* From one to the other; r0 follows r15. */
static uint32_t range(unsigned int first, unsigned int last)
{
	uint32_t regs = one(last);

	for (; first != last; first = (first + 1) & 15)
		regs |= one(first);
	return regs;
}

/* Two bytes, and two registers; calls and jumps through them are unknown. */
static uint32_t two_changed(const uint8_t *insn)
{
	unsigned int r1 = high(insn[1]), r2 = low(insn[1]);

	switch (insn[0]) {
	case 0x04:				/* the condition code */
	case 0x15: case 0x19:			/* comparisons */
	case 0x20 ... 0x3f:			/* floating point */
		return 0;
	case 0x06: case 0x0d:			/* of r0: nothing is called */
		return r2 ? UNKNOWN : one(r1);
	case 0x0e: case 0x0f:			/* moves and compares areas */
		return pair(r1) | pair(r2);
	case 0x10 ... 0x14: case 0x16 ... 0x18: case 0x1a ... 0x1b:
	case 0x1e ... 0x1f:
		return one(r1);
	case 0x1c: case 0x1d:			/* products and quotients */
		return pair(r1);
	}
	return UNKNOWN;
}

/* A7: with a halfword. */
static uint32_t halfword_changed(const uint8_t *insn)
{
	switch (low(insn[1])) {
	case 0x0 ... 0x3: case 0xe: case 0xf:	/* tests and comparisons */
	case 0x4:				/* a jump */
		return 0;
	}
	return one(high(insn[1]));
}

/* B2: the registers are in the last byte. */
static uint32_t b2_changed(const uint8_t *insn)
{
	unsigned int r1 = high(insn[3]), r2 = low(insn[3]);

	switch (insn[1]) {
	case 0x05: case 0x78: case 0x7c:	/* the clock */
	case 0x4d: case 0x4e:			/* access registers */
	case 0x99: case 0x9c: case 0x9d:	/* state of FP */
		return 0;
	case 0x22: case 0x4f: case 0x52:
		return one(r1);
	case 0x55: case 0x5d: case 0x5e:	/* strings */
		return one(r1) | one(r2);
	case 0x41: case 0xa5 ... 0xa7:
		return pair(r1) | pair(r2);
	}
	return UNKNOWN;
}

/* B3: floating point, and those with a general register. */
static uint32_t b3_changed(const uint8_t *insn)
{
	switch (insn[1]) {
	case 0x8c: case 0x98 ... 0x9a: case 0x9c ... 0x9e: case 0xa8 ... 0xaa:
	case 0xac ... 0xae: case 0xb8 ... 0xba: case 0xc8 ... 0xca: case 0xcd:
	case 0xe1 ... 0xe3: case 0xe5: case 0xe7: case 0xe9: case 0xea:
	case 0xeb: case 0xed: case 0xef:
		return pair(high(insn[3]));
	}
	return 0;
}

static uint32_t b9_changed(const uint8_t *insn)
{
	unsigned int r1 = high(insn[3]), r2 = low(insn[3]);

	switch (insn[1]) {
	case 0x20: case 0x21: case 0x30: case 0x31: case 0xcd: case 0xcf:
	case 0xdd: case 0xdf:			/* comparisons */
	case 0x60: case 0x61: case 0x72: case 0x73:	/* traps */
	case 0x51 ... 0x53: case 0x59 ... 0x5b:	/* to floating point */
		return 0;
	case 0x00 ... 0x04: case 0x06 ... 0x0c: case 0x0f: case 0x10 ... 0x14:
	case 0x16 ... 0x1c: case 0x1f: case 0x26: case 0x27:
	case 0x41 ... 0x43: case 0x49 ... 0x4b: case 0x64 ... 0x69:
	case 0x74 ... 0x77: case 0x79: case 0x80 ... 0x82: case 0x84: case 0x85:
	case 0x88: case 0x89: case 0x94: case 0x95: case 0x98: case 0x99:
	case 0xc0: case 0xc8 ... 0xcb: case 0xd8 ... 0xdb: case 0xe0 ... 0xe4:
	case 0xe6 ... 0xeb: case 0xed: case 0xf0: case 0xf2: case 0xf4:
	case 0xf6 ... 0xfb: case 0xfd:
		return one(r1);
	case 0x46:
		return r2 ? UNKNOWN : one(r1);
	case 0x0d: case 0x1d: case 0x83: case 0x86: case 0x87: case 0x96:
	case 0x97: case 0xec:
		return pair(r1);
	case 0x2a ... 0x2f: case 0x3c: case 0x3e: case 0x3f:	/* ciphers */
	case 0xb0 ... 0xb3: case 0xbd: case 0xbe:
		return pair(r1) | pair(r2);
	}
	return UNKNOWN;
}

static uint32_t four_changed(const uint8_t *insn)
{
	unsigned int r1 = high(insn[1]), r3 = low(insn[1]);

	switch (insn[0]) {
	case 0x40: case 0x42: case 0x49: case 0x4e: case 0x50: case 0x55:
	case 0x59:				/* stores and comparisons */
	case 0x60 ... 0x70: case 0x72 ... 0x7f:	/* floating point */
	case 0x90 ... 0x97: case 0x9a: case 0x9b: case 0xbd: case 0xbe:
		return 0;
	case 0x41: case 0x43: case 0x48: case 0x4a ... 0x4c: case 0x4f:
	case 0x51: case 0x54: case 0x56 ... 0x58: case 0x5a: case 0x5b:
	case 0x5e: case 0x5f: case 0x71: case 0x84: case 0x85:
	case 0x88 ... 0x8b: case 0xa5: case 0xba: case 0xbf:
		return one(r1);
	case 0x5c: case 0x5d: case 0x8c ... 0x8f: case 0xbb:
		return pair(r1);
	case 0x98:
		return range(r1, r3);
	case 0xa7:
		return halfword_changed(insn);
	case 0xa8: case 0xa9:
		return pair(r1) | pair(r3);
	case 0xb2:
		return b2_changed(insn);
	case 0xb3:
		return b3_changed(insn);
	case 0xb9:
		return b9_changed(insn);
	}
	return UNKNOWN;
}

/* C0 to CC: with 32 bits, which are how far it is or a number. */
static uint32_t wide_changed(const uint8_t *insn)
{
	switch (insn[0] << 4 | low(insn[1])) {
	case 0xc04: case 0xc20 + 0xc ... 0xc20 + 0xf: case 0xc47: case 0xc4b:
	case 0xc4f: case 0xc62: case 0xc64 ... 0xc68: case 0xc6a:
	case 0xc6c ... 0xc6f: case 0xc80: case 0xccd: case 0xccf:
		return 0;
	case 0xc00: case 0xc01: case 0xc06 ... 0xc0f: case 0xc20 ... 0xc2b:
	case 0xc42: case 0xc44 ... 0xc46: case 0xc48: case 0xc4c ... 0xc4e:
	case 0xcc6: case 0xcc8: case 0xcca: case 0xccb:
		return one(high(insn[1]));
	}
	return UNKNOWN;
}

/* E3: a register and memory. */
static uint32_t e3_changed(const uint8_t *insn)
{
	switch (insn[5]) {
	case 0x20: case 0x21: case 0x30: case 0x31: case 0x34: case 0x55:
	case 0x59: case 0x79: case 0xcd: case 0xcf:	/* comparisons */
	case 0x24 ... 0x26: case 0x2e: case 0x2f: case 0x3e: case 0x3f:
	case 0x49: case 0x50: case 0x70: case 0x72: case 0x8e: case 0xc3:
	case 0xc7: case 0xcb:				/* stores */
	case 0x36:
		return 0;
	case 0x03: case 0x13: case 0x46: case 0x47:
		return UNKNOWN;
	case 0x0d: case 0x1d: case 0x5c: case 0x84: case 0x86: case 0x87:
	case 0x8f: case 0x96: case 0x97:
		return pair(high(insn[1]));
	}
	return one(high(insn[1]));
}

/* EB: two registers and memory, or a byte and memory. */
static uint32_t eb_changed(const uint8_t *insn)
{
	unsigned int r1 = high(insn[1]), r3 = low(insn[1]);

	switch (insn[5]) {
	case 0x20: case 0x21: case 0x23: case 0x24: case 0x26:
	case 0x2b ... 0x2d: case 0x51 ... 0x57: case 0x6a: case 0x6e:
	case 0x7a: case 0x7e: case 0x90: case 0x9a: case 0x9b: case 0xe1:
	case 0xe3: case 0xf3:
		return 0;
	case 0x0a ... 0x0d: case 0x14: case 0x1c: case 0x1d: case 0x30:
	case 0x4c: case 0x80: case 0x81: case 0xdc ... 0xe0: case 0xe2:
	case 0xe4: case 0xe6 ... 0xe8: case 0xea: case 0xf2: case 0xf4:
	case 0xf6 ... 0xf8: case 0xfa:
		return one(r1);
	case 0x31: case 0x3e:
		return pair(r1);
	case 0x04: case 0x96: case 0x98:
		return range(r1, r3);
	case 0x8e: case 0x8f:
		return pair(r1) | pair(r3);
	}
	return UNKNOWN;
}

/* EC: registers and a number; those that jump say where, not by a register. */
static uint32_t ec_changed(const uint8_t *insn)
{
	switch (insn[5]) {
	case 0x64: case 0x65: case 0x70 ... 0x73: case 0x76: case 0x77:
	case 0x7c ... 0x7f:
		return 0;
	case 0x42: case 0x44 ... 0x46: case 0x4e: case 0x51: case 0x54 ... 0x57:
	case 0x59: case 0x5d: case 0xd8 ... 0xdb:
		return one(high(insn[1]));
	}
	return UNKNOWN;
}

/* Vectors; four instructions have a general register as result. */
static uint32_t vector_changed(const uint8_t *insn)
{
	switch (insn[0] << 8 | insn[5]) {
	case 0xe650: case 0xe652: case 0xe721: case 0xe727:
		return one(high(insn[1]));
	}
	return 0;
}

static uint32_t six_changed(const uint8_t *insn)
{
	switch (insn[0]) {
	case 0xc0: case 0xc2: case 0xc4: case 0xc6: case 0xc8: case 0xcc:
		return wide_changed(insn);
	case 0xc5: case 0xc7:			/* of what is likely */
	case 0xd0 ... 0xd9: case 0xdc ... 0xdf:	/* areas, and r1 and r2 */
	case 0xe1: case 0xe2: case 0xe8 ... 0xea: case 0xf0 ... 0xf3:
	case 0xf8 ... 0xfd:			/* decimal */
	case 0xed:				/* floating point */
		return 0;
	case 0xe3:
		return e3_changed(insn);
	case 0xe5:
		return insn[1] >= 0x44 && insn[1] <= 0x5d ? 0 : UNKNOWN;
	case 0xe6: case 0xe7:
		return vector_changed(insn);
	case 0xeb:
		return eb_changed(insn);
	case 0xec:
		return ec_changed(insn);
	}
	return UNKNOWN;
}

static uint32_t length_of(const uint8_t *insn)
{
	return insn[0] < 0x40 ? 2 : insn[0] < 0xc0 ? 4 : 6;
}

static uint32_t changed(const uint8_t *insn)
{
	switch (length_of(insn)) {
	case 2:
		return two_changed(insn);
	case 4:
		return four_changed(insn);
	}
	return six_changed(insn);
}

static int64_t halfwords(const uint8_t *at)
{
	return 2 * (int16_t)(at[0] << 8 | at[1]);
}

static int64_t words(const uint8_t *at)
{
	return 2 * (int64_t)(int32_t)((uint32_t)at[0] << 24 | at[1] << 16 |
				      at[2] << 8 | at[3]);
}

static bool is_rie_jump(uint8_t op)
{
	return op == 0x44 || op == 0x45 || op == 0x64 || op == 0x65 ||
	       op == 0x76 || op == 0x77 || (op >= 0x7c && op <= 0x7f);
}

/* Sets how far; an instruction that jumps may change a register besides. */
static bool is_jump(const uint8_t *insn, int64_t *far)
{
	unsigned int op = insn[0] << 4 | low(insn[1]);

	/* No condition code: it never does. */
	if ((op == 0xc04 || op == 0xa74) && !high(insn[1]))
		return false;
	if (op == 0xc04 || op == 0xcc6)
		*far = words(insn + 2);
	else if ((op >= 0xa74 && op <= 0xa77) || insn[0] == 0x84 ||
		 insn[0] == 0x85 || (insn[0] == 0xec && is_rie_jump(insn[5])))
		*far = halfwords(insn + 2);
	else
		return false;
	return true;
}

/* brc and brcl with each condition code, and bras, which data follows. */
static bool is_always(const uint8_t *insn)
{
	unsigned int op = insn[0] << 4 | low(insn[1]);

	return ((op == 0xc04 || op == 0xa74) && high(insn[1]) == 15) ||
	       op == 0xa75;
}

/* bcr, if r14 is the register and there is a condition code to jump on. */
static bool is_return(const uint8_t *insn)
{
	return insn[0] == 0x07 && low(insn[1]) == 14 && high(insn[1]);
}

/* nopr, and bc that never jumps */
static bool is_nop(const uint8_t *insn)
{
	return (insn[0] == 0x07 && (!low(insn[1]) || !high(insn[1]))) ||
	       (insn[0] == 0x47 && !high(insn[1]));
}

/*
 * exrl executes the instruction that it names with other lengths or registers
 * in its second byte: those of areas have lengths there.
 */
static bool is_other_area(const uint8_t *text, uint32_t at, uint32_t size)
{
	int64_t to;

	if (text[at] != 0xc6 || low(text[at + 1]))
		return false;
	to = at + words(text + at + 2);
	return to >= 0 && to < size && text[to] >= 0xd0 && text[to] <= 0xdf &&
	       six_changed(text + to) != UNKNOWN;
}

static void make_step(struct bare_step *step, const uint8_t *text, uint32_t at,
		      uint32_t size)
{
	const uint8_t *insn = text + at;
	int64_t far = 0, to;

	step->length = length_of(insn);
	step->jumps = is_jump(insn, &far);
	step->ends = is_return(insn);
	step->falls = !(step->jumps && is_always(insn)) &&
		      !(step->ends && high(insn[1]) == 15);
	to = at + far;
	step->to = step->jumps && to >= 0 && to < size ? to : size;
	step->leaf = step->ends || is_nop(insn) ||
		     is_other_area(text, at, size) || !(changed(insn) & FRAME);
}

/*
 * The number of a system call is in the instruction, or in r1, which lghi or
 * lhi has set before it. 0: not known.
 */
static uint32_t call_number(const uint8_t *text, uint32_t at, uint32_t before)
{
	const uint8_t *last = text + before;

	if (text[at + 1])
		return text[at + 1];
	if (before == at || last[0] != 0xa7 ||
	    (last[1] != 0x18 && last[1] != 0x19))
		return 0;
	return last[2] << 8 | last[3];
}

/*
 * Registers are kept by a system call whose number is known, but by those that
 * go on elsewhere. At a svc that returns from a signal the stack pointer is at
 * the signal frame. Nothing calls it: the return address of a handler is its
 * first byte, so padding in front belongs to it.
 */
static void mark_call(struct bare_step *steps, const uint8_t *text, uint32_t at,
		      uint32_t before)
{
	uint32_t number = call_number(text, at, before);

	if (text[at] != 0x0a || !number || number == NR_CLONE ||
	    number == NR_CLONE3)
		return;
	if (number != NR_SIGRETURN && number != NR_RT_SIGRETURN) {
		steps[at].leaf = true;
		return;
	}
	/* The kernel knows it by the number in the instruction. */
	steps[at].leaf = steps[at].ends = text[at + 1];
	steps[at].falls = false;
	steps[at].row = BARE_SIGNAL;
	if (before != at && is_nop(text + before))
		steps[before].row = BARE_SIGNAL;
}

#define ENTRY_SIZE	32

/*
 * An entry of a linkage table, and the first one:
 *	larl %r1; lg %r1,0(%r1); br %r1; basr %r1,%r0; lgf %r1,12(%r1); jg;
 *	4 bytes of data
 *	stg %r1,56(%r15); larl %r1; mvc 48(8,%r15),8(%r1); lg %r1,16(%r1);
 *	br %r1; padding
 * r0 and r1 are the linker's there. Both br count as returns; the jg leads to
 * the first one.
 */
static const uint8_t entry_mask[ENTRY_SIZE] = {
	0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};
static const uint8_t entry[ENTRY_SIZE] = {
	0xc0, 0x10, 0, 0, 0, 0, 0xe3, 0x10, 0x10, 0x00, 0x00, 0x04, 0x07, 0xf1,
	0x0d, 0x10, 0xe3, 0x10, 0x10, 0x0c, 0x00, 0x14, 0xc0, 0xf4,
};
static const uint8_t first_mask[ENTRY_SIZE] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};
static const uint8_t first[ENTRY_SIZE] = {
	0xe3, 0x10, 0xf0, 0x38, 0x00, 0x24, 0xc0, 0x10, 0, 0, 0, 0, 0xd2, 0x07,
	0xf0, 0x30, 0x10, 0x08, 0xe3, 0x10, 0x10, 0x10, 0x00, 0x04, 0x07, 0xf1,
};

static bool looks_like(const uint8_t *text, const uint8_t *mask,
		       const uint8_t *bits)
{
	unsigned int i;

	for (i = 0; i < ENTRY_SIZE; i++)
		if ((text[i] & mask[i]) != bits[i])
			return false;
	return true;
}

/* 'data': bytes at the end that are no instruction; their step is no leaf */
static void mark_entry(struct bare_step *steps, const uint8_t *text,
		       uint32_t at, uint32_t size, uint32_t data)
{
	uint32_t end = at + ENTRY_SIZE;

	for (; at < end - data; at += steps[at].length) {
		make_step(steps + at, text, at, size);
		steps[at].links = true;
		if (text[at] == 0x07 && text[at + 1] == 0xf1) {
			steps[at].leaf = steps[at].ends = true;
			steps[at].falls = false;
		}
	}
	if (data)
		steps[at].length = data;
}

/* Makes steps of such an entry; returns whether there is one. */
static bool is_linkage(struct bare_step *steps, const uint8_t *text,
		       uint32_t at, uint32_t size)
{
	if (size - at < ENTRY_SIZE)
		return false;
	if (looks_like(text + at, entry_mask, entry))
		mark_entry(steps, text, at, size, 4);
	else if (looks_like(text + at, first_mask, first))
		mark_entry(steps, text, at, size, 0);
	else
		return false;
	return true;
}

/* A truncated one is no instruction. */
void bare_decode(struct bare_step *steps, const uint8_t *text, uint32_t size)
{
	uint32_t at = 0, before = 0;

	while (size - at >= 2) {
		if (is_linkage(steps, text, at, size)) {
			at += ENTRY_SIZE;
			before = at;
			continue;
		}
		if (size - at < length_of(text + at))
			break;
		make_step(steps + at, text, at, size);
		mark_call(steps, text, at, before);
		before = at;
		at += steps[at].length;
	}
}

/* Linux's vDSO says of these what it says of functions that are called. */
bool bare_signal(const uint8_t *text, uint32_t size)
{
	return size >= 2 && text[0] == 0x0a &&
	       (text[1] == NR_SIGRETURN || text[1] == NR_RT_SIGRETURN);
}

/* Instructions that are followed, and bytes of functions that are looked at. */
#define END_INSNS	64
#define LONGEST_END	4096

static bool is_call(const uint8_t *insn)
{
	return insn[0] == 0xc0 && insn[1] == 0xe5;
}

/* stg of any register to the place where the row says that r14 was saved */
static bool is_overwritten(const struct sfjit_row *row, const uint8_t *insn)
{
	int32_t at = (int8_t)insn[4] * 4096 + low(insn[2]) * 256 + insn[3];

	return insn[0] == 0xe3 && insn[5] == 0x24 && !low(insn[1]) &&
	       high(insn[2]) == 15 && high(insn[1]) != 14 &&
	       row->cfa.base == SFJIT_BASE_REG && row->cfa.reg == 15 &&
	       !row->cfa.deref && row->ra.base == SFJIT_BASE_CFA &&
	       row->ra.deref && at == row->cfa.offset + row->ra.offset;
}

/*
 * From there straight on, along jumps, to the lmg that loads r14 and r15; the
 * next one returns, by registers that are true again. Adds ranges for it.
 */
static size_t follow_end(const uint8_t *text, uint32_t size, uint32_t at,
			 struct bare_range *range, size_t room)
{
	const uint8_t *insn;
	unsigned int i;
	int64_t far = 0;
	size_t n = 0;

	for (i = 0; i < END_INSNS && at < size; i++) {
		insn = text + at;
		if (size - at < length_of(insn))
			return 0;
		range[n].end = at + length_of(insn);
		if (insn[0] == 0xeb && insn[5] == 0x04 && low(insn[1]) == 15)
			return n + 1;
		if (!is_jump(insn, &far)) {
			at += length_of(insn);
			continue;
		}
		if (!is_always(insn) || ++n == room || far < 0 - (int64_t)at)
			return 0;
		range[n].start = at += far;
	}
	return 0;
}

static void sort(struct bare_range *ranges, size_t nr)
{
	struct bare_range range;
	size_t i, j;

	for (i = 1; i < nr; i++)
		for (j = i; j && ranges[j].start < ranges[j - 1].start; j--) {
			range = ranges[j];
			ranges[j] = ranges[j - 1];
			ranges[j - 1] = range;
		}
}

/*
 * The handler's address is stored where the return address was saved. Before
 * that, libgcc calls two functions: in the first and after it rows are false.
 */
size_t bare_false(const struct sfjit_function *f, const uint8_t *text,
		  struct bare_range ranges[BARE_FALSE_MAX])
{
	uint32_t at, row = 0, last = 0, call = 0;
	size_t nr;

	if (f->size > LONGEST_END)
		return 0;
	for (at = 0; f->size - at >= 6; at += length_of(text + at)) {
		while (row + 1 < f->nr_rows && f->rows[row + 1].start <= at)
			row++;
		if (is_call(text + at)) {
			call = last;
			last = at;
		}
		if (!call || !is_overwritten(&f->rows[row], text + at))
			continue;
		ranges[0].start = call;
		nr = follow_end(text, f->size, at, ranges, BARE_FALSE_MAX);
		sort(ranges, nr);
		return nr;
	}
	return 0;
}

/* None is. */
void bare_correct(struct sfjit_row *rows, uint32_t nr)
{
}
