// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Encodings are from the Arm Architecture Reference Manual, C4.1. x29 is the
 * frame pointer, x30 the return address, and 31 the stack pointer or zero,
 * depending on the instruction. A leaf has no unknown instructions.
 */
#include <string.h>

#include <bare.h>

#define SP		31
#define SVC		0xd4000001
#define NOP		0xd503201f
#define LR_PUSHED	1

const struct sfjit_row bare_rows[] = {
	{ 0, 0, SFJIT_REG(SP, 0), SFJIT_NO_RULE, SFJIT_NO_RULE },
	[LR_PUSHED] = { 0, 0, SFJIT_REG(SP, 16), SFJIT_SAVED(-8),
			SFJIT_NO_RULE },
};
const unsigned int bare_nr_rows = 2;

static bool is(uint32_t insn, uint32_t mask, uint32_t bits)
{
	return (insn & mask) == bits;
}

static bool bit(uint32_t insn, unsigned int n)
{
	return insn >> n & 1;
}

static unsigned int field(uint32_t insn, unsigned int from)
{
	return insn >> from & 31;
}

static bool is_frame(unsigned int reg)
{
	return reg == 29 || reg == 30;
}

/* The destination is SP in additions and logic that set no flags. */
static bool immediate_changes(uint32_t insn)
{
	if (field(insn, 0) != SP)
		return is_frame(field(insn, 0));
	switch (insn >> 23 & 7) {
	case 2:
		return !bit(insn, 29);
	case 4:
		return (insn >> 29 & 3) != 3;
	}
	return (insn >> 23 & 7) == 3;
}

/* Additions of an extended register. */
static bool register_changes(uint32_t insn)
{
	if (field(insn, 0) != SP)
		return is_frame(field(insn, 0));
	return is(insn, 0x3f200000, 0x0b200000);
}

/* Conversions to integers, umov and smov have a general register. */
static bool vector_changes(uint32_t insn)
{
	bool general = is(insn, 0x5f200000, 0x1e000000) ||
		       is(insn, 0x5f20fc00, 0x1e200000) ||
		       is(insn, 0xbfe0fc00, 0x0e003c00) ||
		       is(insn, 0xbfe0fc00, 0x0e002c00);

	return general && is_frame(field(insn, 0));
}

/* The base is changed, too, where the address is indexed. */
static bool is_indexed(uint32_t insn)
{
	switch (insn >> 28 & 3) {
	case 0:
		return bit(insn, 26) ? bit(insn, 23) : bit(insn, 24);
	case 1:
		return bit(insn, 24) && (bit(insn, 21) || insn >> 10 & 3);
	case 2:
		return bit(insn, 23);
	}
	return !bit(insn, 24) && bit(insn, 10);
}

/* Stores count as loads. */
static bool memory_changes(uint32_t insn)
{
	unsigned int class = insn >> 28 & 3;

	if (is_indexed(insn) && field(insn, 5) >= 29)
		return true;
	if (bit(insn, 26))
		return false;
	if (is_frame(field(insn, 0)))
		return true;
	/* pairs, exclusives and compare-and-swap */
	if ((class == 2 || class == 0) && is_frame(field(insn, 10)))
		return true;
	return (class == 0 || (class == 1 && is_indexed(insn))) &&
	       is_frame(field(insn, 16));
}

static bool is_return(uint32_t insn)
{
	/* ret, retaa, retab */
	return insn == 0xd65f03c0 || insn == 0xd65f0bff || insn == 0xd65f0fff;
}

static bool system_changes(uint32_t insn)
{
	/* hints, including those that sign or authenticate x30; barriers */
	if (is(insn, 0xfffff01f, 0xd503201f) ||
	    is(insn, 0xfffff000, 0xd5033000))
		return false;
	/* msr and sys, then mrs */
	if (is(insn, 0xfff00000, 0xd5100000) ||
	    is(insn, 0xfff80000, 0xd5080000))
		return false;
	return !is(insn, 0xfff00000, 0xd5300000) || is_frame(field(insn, 0));
}

static bool changes_frame(uint32_t insn)
{
	if (is(insn, 0x1c000000, 0x10000000))
		return immediate_changes(insn);
	if (is(insn, 0x1c000000, 0x14000000))
		return system_changes(insn);
	if (is(insn, 0x0a000000, 0x08000000))
		return memory_changes(insn);
	if (is(insn, 0x0e000000, 0x0a000000))
		return register_changes(insn);
	return !is(insn, 0x0e000000, 0x0e000000) || vector_changes(insn);
}

static int64_t distance(uint32_t insn, unsigned int from, unsigned int bits)
{
	return (int64_t)((uint64_t)insn << (64 - from - bits)) >>
	       (64 - bits) << 2;
}

/* Sets *far; the instruction itself changes nothing. */
static bool is_jump(uint32_t insn, int64_t *far)
{
	if (is(insn, 0xfc000000, 0x14000000))
		*far = distance(insn, 0, 26);
	else if (is(insn, 0xff000000, 0x54000000) ||
		 is(insn, 0x7e000000, 0x34000000))
		*far = distance(insn, 5, 19);
	else if (is(insn, 0x7e000000, 0x36000000))
		*far = distance(insn, 5, 14);
	else
		return false;
	return true;
}

static uint32_t word(const uint8_t *text, uint32_t at)
{
	uint32_t insn;

	memcpy(&insn, text + at, sizeof(insn));
	return insn;
}

/*
 * Linkers reach far code and other modules by x16 and x17, which are theirs at
 * a call (AAPCS64, 6.1.1): adrp x16; ldr x17, [x16]; add x16, x16; perhaps
 * autia1716; br x17. Or adrp x16; add or ldr to x16; br x16. Returns where that
 * begins, or 'at' if it does not end there.
 */
static uint32_t linkage(const uint8_t *text, uint32_t at)
{
	uint32_t from = at, insn = word(text, at);

	if (insn == 0xd61f0220 && from >= 16 &&
	    word(text, from - 4) == 0xd503219f)
		from -= 4;
	if (insn == 0xd61f0220 && from >= 12 &&
	    is(word(text, from - 4), 0xffc003ff, 0x91000210) &&
	    is(word(text, from - 8), 0xffc003ff, 0xf9400211))
		from -= 12;
	else if (insn == 0xd61f0200 && from >= 8 &&
		 (is(word(text, from - 4), 0xffc003ff, 0x91000210) ||
		  is(word(text, from - 4), 0xffc003ff, 0xf9400210)))
		from -= 8;
	else
		return at;
	return is(word(text, from), 0x9f00001f, 0x90000010) ? from : at;
}

/* The end of such code counts as a return. */
static void mark_linkage(struct bare_step *steps, const uint8_t *text,
			 uint32_t at)
{
	uint32_t from = linkage(text, at), i;

	if (from == at)
		return;
	steps[at].leaf = steps[at].ends = true;
	steps[at].falls = false;
	for (i = from; i <= at; i += 4)
		steps[i].links = true;
	/* The first entry of a linkage table: stp x16, x30, [sp, #-16]! */
	if (from < 4 || word(text, from - 4) != 0xa9bf7bf0)
		return;
	steps[from - 4].leaf = steps[from - 4].links = true;
	for (i = from; i <= at; i += 4)
		steps[i].row = LR_PUSHED;
}

/* mov x8 or w8: the number of a system call */
static bool is_number(uint32_t insn, uint32_t *number)
{
	*number = insn >> 5 & 0xffff;
	return is(insn, 0x7fe0001f, 0x52800008);
}

/*
 * System calls with a known number preserve registers, except those that
 * continue elsewhere: __NR_rt_sigreturn, clone, clone3. At rt_sigreturn the
 * stack pointer is at the signal frame. No code calls it: its first byte is the
 * return address of handlers, and the kernel puts a nop before it, which
 * belongs to it.
 */
static void mark_call(struct bare_step *steps, const uint8_t *text, uint32_t at)
{
	uint32_t number, i;

	if (at < 4 || word(text, at) != SVC ||
	    !is_number(word(text, at - 4), &number) || number == 220 ||
	    number == 435)
		return;
	steps[at].leaf = true;
	if (number != 139)
		return;
	steps[at].ends = true;
	steps[at].falls = false;
	for (i = 0; i <= 8 && i <= at; i += 4)
		if (i < 8 || word(text, at - i) == NOP)
			steps[at - i].row = BARE_SIGNAL;
}

static void make_step(struct bare_step *step, uint32_t insn, uint32_t at,
		      uint32_t size)
{
	int64_t far = 0, to;

	step->length = 4;
	step->jumps = is_jump(insn, &far);
	step->ends = is_return(insn);
	step->falls = !step->ends && !is(insn, 0xfc000000, 0x14000000);
	to = at + far;
	step->to = step->jumps && to >= 0 && to < size ? to : size;
	step->leaf = step->jumps || step->ends || !changes_frame(insn);
}

/* Text must begin with an instruction. */
void bare_decode(struct bare_step *steps, const uint8_t *text, uint32_t size)
{
	uint32_t at;

	for (at = 0; size - at >= 4; at += 4) {
		make_step(steps + at, word(text, at), at, size);
		mark_linkage(steps, text, at);
		mark_call(steps, text, at);
	}
}

/* It is known. */
bool bare_signal(const uint8_t *text, uint32_t size)
{
	return false;
}

/* Limits on instructions to follow, and on bytes of a function. */
#define END_INSNS	256
#define LONGEST_END	4096

/*
 * From a call whose result is kept in x4 or x5, follows code, jumps and one
 * more call, to where the result is added to the stack pointer: the end of a
 * libgcc function that resumes at a handler. Marks that code.
 */
static bool follow_end(const uint8_t *text, uint32_t size, uint32_t from,
		       uint8_t *marks)
{
	uint32_t reg = word(text, from + 4) - 0xaa0003e0, at = from, insn, i;
	unsigned int calls = 0;
	int64_t far;

	for (i = 0; i < END_INSNS && at <= size - 4; i++, at += 4) {
		insn = word(text, at);
		marks[at / 4] = 1;
		if (insn == (0x8b2063ff | reg << 16))
			break;
		calls += is(insn, 0xfc000000, 0x94000000);
		if (is(insn, 0xfc000000, 0x14000000)) {
			is_jump(insn, &far);
			at += far - 4;
		} else if (is_jump(insn, &far) || calls > 2 ||
			   is(insn, 0xfe000000, 0xd6000000)) {
			return false;
		}
	}
	if (i == END_INSNS || at > size - 4)
		return false;
	/* it jumps to the handler by a register that no row has, or returns */
	if (size - at >= 8 && !is_return(word(text, at + 4)))
		marks[at / 4 + 1] = 1;
	return true;
}

static size_t list_marks(const uint8_t *marks, uint32_t nr, uint32_t size,
			 struct bare_range ranges[BARE_FALSE_MAX])
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		if (!marks[i] || (i && marks[i - 1]))
			continue;
		if (n == BARE_FALSE_MAX) {
			ranges[0] = (struct bare_range) { .end = size };
			return 1;
		}
		ranges[n].start = 4 * i;
		while (i < nr && marks[i])
			i++;
		ranges[n++].end = 4 * i;
	}
	return n;
}

size_t bare_false(const struct sfjit_function *f, const uint8_t *text,
		  struct bare_range ranges[BARE_FALSE_MAX])
{
	uint32_t nr = f->size / 4, at, kept;
	uint8_t marks[LONGEST_END / 4] = { 0 }, all[LONGEST_END / 4] = { 0 };

	if (f->size > LONGEST_END)
		return 0;
	for (at = 0; f->size - at >= 8; at += 4) {
		kept = word(text, at + 4);
		if (!is(word(text, at), 0xfc000000, 0x94000000) ||
		    (kept != 0xaa0003e4 && kept != 0xaa0003e5))
			continue;
		if (follow_end(text, f->size, at, marks))
			memcpy(all, marks, sizeof(all));
		else
			memcpy(marks, all, sizeof(all));
	}
	return list_marks(all, nr, f->size, ranges);
}

static void correct(struct sfjit_row *row)
{
	row->cfa.offset += 16;
	if (row->ra.base == SFJIT_BASE_CFA)
		row->ra.offset -= 16;
	if (row->fp.base == SFJIT_BASE_CFA)
		row->fp.offset -= 16;
	/* back in x30, and no longer on the stack */
	if (!row->cfa.offset)
		row->ra = (struct sfjit_rule)SFJIT_NO_RULE;
}

/*
 * The first entry of a linkage table pushes 16 bytes and enters glibc's
 * _dl_runtime_resolve(). Its CFI accounts for them in the return address, but
 * not in the CFA: the address is saved above that.
 */
void bare_correct(struct sfjit_row *rows, uint32_t nr)
{
	bool is_false = false;
	uint32_t i;

	for (i = 0; i < nr; i++)
		is_false |= rows[i].cfa.base == SFJIT_BASE_REG &&
			    rows[i].cfa.reg == SP &&
			    rows[i].ra.base == SFJIT_BASE_CFA &&
			    rows[i].ra.offset >= 0;
	for (i = 0; is_false && i < nr; i++)
		correct(&rows[i]);
}
