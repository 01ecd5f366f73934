// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A strict reader: refuses what the format does not define. It reads plain
 * version 3 as version 3 with addends, without any.
 */
#include "core.h"

#define HEADER_SIZE	sizeof(struct sframe_header)
#define INDEX_SIZE	sizeof(struct sframe_fde)
#define ATTR_SIZE	sizeof(struct sframe_fde_attr)

#define HEADER_FLAGS	(SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL)

static int fail_read(struct sfg_error *err, size_t offset, const char *reason)
{
	return sfg_fail(err, offset, reason, -EINVAL);
}

/*
 * The ABI byte tells the byte order, and the magic must agree: e2 de in
 * little-endian sections, de e2 in others.
 */
static const struct sfg_arch *arch_of(const struct sframe_header *h)
{
	const struct sfg_arch *arch = sfg_arch_by_abi(h->abi_arch);
	uint16_t magic = h->magic;

	if (!arch || swap16(arch_swaps(arch), magic) != SFRAME_MAGIC)
		return NULL;
	return arch;
}

static void swap_header(struct sframe_header *h, bool swap)
{
	h->magic = swap16(swap, h->magic);
	h->num_fdes = swap32(swap, h->num_fdes);
	h->num_fres = swap32(swap, h->num_fres);
	h->fre_len = swap32(swap, h->fre_len);
	h->fdes_off = swap32(swap, h->fdes_off);
	h->fres_off = swap32(swap, h->fres_off);
}

static bool is_magic(uint16_t magic)
{
	return magic == SFRAME_MAGIC || swap16(true, magic) == SFRAME_MAGIC;
}

/*
 * Error offsets are those of header fields. Versions 1 and 2 have the same
 * header, but FDEs of 17 and 20 bytes; their flag 0x2, FRAME_POINTER, is gone
 * in version 3. No specification defines an auxiliary header, and no producer
 * writes one.
 */
static int check_sframe_header(struct sfg_section *s, struct sfg_error *err)
{
	struct sframe_header *h = &s->header;

	if (!is_magic(h->magic))
		return fail_read(err, 0, "no SFrame magic");
	if (h->version != SFRAME_VERSION_3)
		return sfg_fail(err, 2, "SFrame version is not 3", -ENOTSUP);
	s->arch = arch_of(h);
	if (!s->arch)
		return sfg_fail(err, 4, "unknown SFrame ABI", -ENOTSUP);
	swap_header(h, arch_swaps(s->arch));
	/* an assembler's section is not yet sorted */
	if ((h->flags | SFRAME_F_FDE_SORTED) != HEADER_FLAGS)
		return fail_read(err, 3, "unknown header flags");
	if (h->cfa_fixed_fp_offset || h->cfa_fixed_ra_offset !=
	    s->arch->fixed_ra)
		return fail_read(err, 5, "fixed offsets are not the ABI's");
	if (h->auxhdr_len)
		return fail_read(err, 7, "auxiliary header");
	return 0;
}

/*
 * Both areas must lie inside the section and not overlap. More bytes may
 * follow: s390x pads sections to 8, and GNU ld's PT_GNU_SFRAME is too long.
 * There may be space between the areas, as in a window to which FDEs are
 * appended.
 */
static int check_areas(struct sfg_section *s, struct sfg_error *err)
{
	const struct sframe_header *h = &s->header;
	uint64_t room = s->len - HEADER_SIZE;
	uint64_t fdes_len = (uint64_t)h->num_fdes * INDEX_SIZE;

	if (h->fdes_off > room || fdes_len > room - h->fdes_off)
		return fail_read(err, 20, "FDEs reach past the section");
	if (h->fres_off > room || h->fre_len > room - h->fres_off)
		return fail_read(err, 24, "FREs reach past the section");
	if (h->fres_off < h->fdes_off + fdes_len)
		return fail_read(err, 24, "FREs overlap the FDEs");
	s->fdes_off = HEADER_SIZE + h->fdes_off;
	s->fres_off = HEADER_SIZE + h->fres_off;
	return 0;
}

int sfg_open_section(struct sfg_section *section, const void *data, size_t len,
		     uint64_t addr, struct sfg_error *err)
{
	struct sfg_section s = { .data = data, .len = len, .addr = addr };
	int ret;

	if (len < HEADER_SIZE)
		return fail_read(err, len, "SFrame header is truncated");
	memcpy(&s.header, data, HEADER_SIZE);
	ret = check_sframe_header(&s, err);
	if (!ret)
		ret = check_areas(&s, err);
	if (!ret)
		*section = s;
	return ret;
}

static size_t index_offset(const struct sfg_section *s, uint32_t index)
{
	return s->fdes_off + (size_t)index * INDEX_SIZE;
}

/*
 * Copied: after a 28-byte header no entry is 8-byte aligned, although the
 * specification says so.
 */
static struct sframe_fde read_index(const struct sfg_section *s,
				    uint32_t index)
{
	bool swap = arch_swaps(s->arch);
	struct sframe_fde fde;

	memcpy(&fde, s->data + index_offset(s, index), sizeof(fde));
	fde.func_start = swap64(swap, fde.func_start);
	fde.func_size = swap32(swap, fde.func_size);
	fde.fre_off = swap32(swap, fde.fre_off);
	return fde;
}

static uint64_t start_of(const struct sfg_section *s, uint32_t index)
{
	return s->addr + index_offset(s, index) +
	       (uint64_t)read_index(s, index).func_start;
}

static uint8_t fde_flags(const struct sframe_fde_attr *attr)
{
	uint8_t flags = 0;

	if (attr->info & SFRAME_FDE_SIGNAL)
		flags |= SFJIT_FUNCTION_SIGNAL;
	if (attr->info & SFRAME_FDE_PAUTH_KEY_B)
		flags |= SFJIT_FUNCTION_PAUTH_KEY_B;
	return flags;
}

/*
 * A block size of 0 is a division by 0 in readers that do not check, such as
 * libsframe.
 */
static const char *check_attr(const struct sframe_fde_attr *attr)
{
	bool mask = attr->info & SFRAME_FDE_PCMASK;

	if (SFRAME_FDE_FRE_TYPE(attr->info) > SFRAME_FRE_TYPE_ADDR4)
		return "unknown row type";
	if (attr->info & SFRAME_FDE_RESERVED ||
	    attr->info2 & SFRAME_FDE2_RESERVED)
		return "reserved FDE bits are set";
	if (SFRAME_FDE2_TYPE(attr->info2) > SFRAME_FDE_TYPE_FLEX)
		return "unknown FDE type";
	if (mask && !attr->rep_size)
		return "PCMASK block size is 0";
	if (!mask && attr->rep_size)
		return "block size without PCMASK";
	return NULL;
}

int sfg_read_fde(const struct sfg_section *s, uint32_t index,
		 struct sfg_row_reader *reader, struct sfg_error *err)
{
	struct sframe_fde_attr attr;
	struct sframe_fde fde;
	const char *reason;

	if (index >= s->header.num_fdes)
		return sfg_fail(err, s->len, "no such FDE", -ENOENT);
	fde = read_index(s, index);
	if (fde.fre_off > s->header.fre_len ||
	    s->header.fre_len - fde.fre_off < ATTR_SIZE)
		return fail_read(err, index_offset(s, index) + 12,
				 "rows of the FDE are outside the section");
	memcpy(&attr, s->data + s->fres_off + fde.fre_off, ATTR_SIZE);
	reason = check_attr(&attr);
	if (reason)
		return fail_read(err, s->fres_off + fde.fre_off, reason);
	memset(reader, 0, sizeof(*reader));
	reader->section = s;
	reader->fde.addr = start_of(s, index);
	reader->fde.size = fde.func_size;
	reader->fde.nr_rows = swap16(arch_swaps(s->arch), attr.num_fres);
	reader->fde.flags = fde_flags(&attr);
	reader->fde.repeat = attr.rep_size;
	reader->flex = SFRAME_FDE2_TYPE(attr.info2);
	reader->fre_type = SFRAME_FDE_FRE_TYPE(attr.info);
	reader->left = reader->fde.nr_rows;
	reader->pos = s->fres_off + fde.fre_off + ATTR_SIZE;
	return 0;
}

/* Reads a number of 1 << shift bytes. */
static uint32_t get_uint(const struct sfg_section *s, size_t pos,
			 unsigned int shift)
{
	bool swap = arch_swaps(s->arch);
	uint16_t half;
	uint32_t word;

	if (shift == 0)
		return s->data[pos];
	if (shift == 1) {
		memcpy(&half, s->data + pos, 2);
		return swap16(swap, half);
	}
	memcpy(&word, s->data + pos, 4);
	return swap32(swap, word);
}

/*
 * The number of words has 4 bits, so up to 15; no row has more than 7. Control
 * words are unsigned: 0x81 in one byte is register 16.
 */
struct raw_row {
	uint32_t word[15];	/* not sign-extended */
	unsigned int nr, shift;
	uint8_t info;
};

static int32_t signed_word(const struct raw_row *raw, unsigned int i)
{
	if (raw->shift == 0)
		return (int8_t)raw->word[i];
	if (raw->shift == 1)
		return (int16_t)raw->word[i];
	return raw->word[i];
}

/* gas also scales in FLEX rows; the specification does not say. */
static const char *load_cfa(const struct sfg_arch *arch, int32_t word,
			    struct sfjit_rule *cfa)
{
	int64_t offset = arch_cfa_offset(arch, word);

	cfa->offset = offset;
	return cfa->offset == offset ? NULL : "CFA offset is too large";
}

static struct sfjit_rule slot_rule(int32_t offset)
{
	return (struct sfjit_rule) {
		.offset = offset, .base = SFJIT_BASE_CFA, .deref = 1,
	};
}

/*
 * Decodes the words of RA and FP. A stored RA of 0 is none, for s390x's FP
 * without RA. AArch64 has RA alone, which gas writes for functions that save
 * only x30, or both.
 */
static const char *decode_slots(const struct sfg_arch *arch,
				const struct raw_row *raw,
				struct sfjit_row *row)
{
	unsigned int i = 1;

	if (!arch->fixed_ra && i < raw->nr) {
		if (signed_word(raw, i))
			row->ra = slot_rule(signed_word(raw, i));
		else if (i + 1 == raw->nr)
			return "padding with no rule after it";
		i++;
	}
	if (i < raw->nr)
		row->fp = slot_rule(signed_word(raw, i++));
	return i == raw->nr ? NULL : "too many data words";
}

static const char *decode_default(const struct sfg_arch *arch,
				  const struct raw_row *raw,
				  struct sfjit_row *row)
{
	const char *reason = load_cfa(arch, signed_word(raw, 0), &row->cfa);

	row->cfa.base = SFJIT_BASE_REG;
	row->cfa.reg = SFRAME_FRE_BASE_SP(raw->info) ? arch->sp : arch->fp;
	return reason ? reason : decode_slots(arch, raw, row);
}

/* Only loads have an addend; otherwise the offset includes it. */
static const char *decode_addend(const struct raw_row *raw, unsigned int *next,
				 struct sfjit_rule *rule)
{
	if (!rule->deref)
		return "addend to what is not loaded";
	if (*next == raw->nr)
		return "control word without addend";
	rule->addend = signed_word(raw, (*next)++);
	return NULL;
}

/* Reads words from *next on and advances it. */
static const char *decode_rule(const struct raw_row *raw, unsigned int *next,
			       struct sfjit_rule *rule)
{
	unsigned int i = *next;
	uint32_t control;

	if (i + 2 > raw->nr)
		return "control word without offset";
	*next = i + 2;
	control = raw->word[i];
	rule->deref = (control & SFRAME_FLEX_DEREF_P) != 0;
	rule->offset = signed_word(raw, i + 1);
	rule->base = SFJIT_BASE_CFA;
	if (control & SFRAME_FLEX_REG_P) {
		rule->base = SFJIT_BASE_REG;
		if (SFRAME_FLEX_REGNUM(control) > UINT16_MAX)
			return "register number is too large";
		rule->reg = SFRAME_FLEX_REGNUM(control);
	} else if (SFRAME_FLEX_REGNUM(control)) {
		return "register number without a register rule";
	}
	return control & SFRAME_FLEX_ADDEND ?
	       decode_addend(raw, next, rule) : NULL;
}

/*
 * sfg_row_fits() checks the CFA's register. A single word 0 is an RA without a
 * rule: as a pair's control word it would mean CFA + offset, which is no return
 * address.
 */
static const char *decode_flex(const struct sfg_arch *arch,
			       const struct raw_row *raw, struct sfjit_row *row)
{
	unsigned int i = 0;
	const char *reason = decode_rule(raw, &i, &row->cfa);

	if (!reason && SFRAME_FRE_BASE_SP(raw->info))
		reason = "base register bit in a FLEX row";
	if (!reason)
		reason = load_cfa(arch, row->cfa.offset, &row->cfa);
	if (reason || i == raw->nr)
		return reason;
	if (!raw->word[i]) {
		if (++i == raw->nr)
			reason = "padding with no rule after it";
	} else {
		reason = decode_rule(raw, &i, &row->ra);
	}
	if (!reason && i < raw->nr)
		reason = decode_rule(raw, &i, &row->fp);
	if (!reason && i != raw->nr)
		reason = "too many data words";
	return reason;
}

/*
 * Without words the return address is undefined. gas then clears the other bits
 * of the info byte.
 */
static const char *decode_row(const struct sfg_arch *arch, bool flex,
			      const struct raw_row *raw, struct sfjit_row *row)
{
	const char *reason;

	if (!raw->nr) {
		row->flags = SFJIT_ROW_OUTERMOST;
		return raw->info ? "info bits of an outermost row" : NULL;
	}
	if (SFRAME_FRE_MANGLED_RA(raw->info))
		row->flags = SFJIT_ROW_MANGLED_RA;
	reason = flex ? decode_flex(arch, raw, row) :
			decode_default(arch, raw, row);
	if (!reason && !sfg_row_fits(arch, row))
		reason = "rule that the format does not allow";
	return reason;
}

/* Reads start, info and words, all inside the FRE area. */
static const char *read_raw(const struct sfg_row_reader *r, uint32_t *start,
			    struct raw_row *raw, size_t *end)
{
	const struct sfg_section *s = r->section;
	size_t limit = s->fres_off + s->header.fre_len, pos = r->pos;
	unsigned int i;

	if (limit - pos < (1u << r->fre_type) + 1)
		return "row is truncated";
	*start = get_uint(s, pos, r->fre_type);
	pos += 1u << r->fre_type;
	raw->info = s->data[pos++];
	raw->nr = SFRAME_FRE_WORDS(raw->info);
	raw->shift = SFRAME_FRE_WORD_SIZE(raw->info);
	if (raw->shift > 2)
		return "unknown word size";
	if (limit - pos < (size_t)raw->nr << raw->shift)
		return "row is truncated";
	for (i = 0; i < raw->nr; i++, pos += 1u << raw->shift)
		raw->word[i] = get_uint(s, pos, raw->shift);
	*end = pos;
	return NULL;
}

/*
 * gas writes two rows for one address if an alignment of no bytes separates two
 * directives. The kernel rejects them, and a search could find either.
 */
static const char *check_start(const struct sfg_row_reader *r, uint32_t start)
{
	uint32_t end = r->fde.repeat ? r->fde.repeat : r->fde.size;

	if (start < r->next_start)
		return "row starts do not increase";
	/* a function of size 0, which was taken back, keeps its rows */
	if (start >= end && end)
		return "row starts past its function";
	return NULL;
}

int sfg_read_row(struct sfg_row_reader *reader, struct sfjit_row *row,
		 struct sfg_error *err)
{
	struct sfjit_row out = { 0 };
	struct raw_row raw;
	const char *reason;
	size_t end;

	if (!reader->left)
		return sfg_fail(err, reader->pos, "no row is left", -ENOENT);
	reason = read_raw(reader, &out.start, &raw, &end);
	if (!reason)
		reason = check_start(reader, out.start);
	if (!reason)
		reason = decode_row(reader->section->arch, reader->flex, &raw,
				    &out);
	if (reason)
		return fail_read(err, reader->pos, reason);
	reader->next_start = (uint64_t)out.start + 1;
	reader->pos = end;
	reader->left--;
	*row = out;
	return 0;
}

/*
 * FDEs may share rows; if thousands share thousands, reading all takes forever.
 * Real sections stay far below this.
 */
#define MAX_ROWS_PER_BYTE	4

uint64_t sfg_max_rows(const struct sfg_section *section)
{
	return UINT16_MAX + (uint64_t)section->len * MAX_ROWS_PER_BYTE;
}

static int check_fde_rows(struct sfg_row_reader *r, uint64_t *budget,
			  struct sfg_error *err)
{
	struct sfjit_row row;
	int ret = 0;

	if (r->left > *budget)
		return fail_read(err, r->pos, "rows are shared beyond reason");
	*budget -= r->left;
	while (r->left && !ret)
		ret = sfg_read_row(r, &row, err);
	return ret;
}

int sfg_check_section(const struct sfg_section *section,
		      struct sfg_error *err)
{
	struct sfg_row_reader reader;
	uint64_t budget = sfg_max_rows(section);
	uint64_t end = 0;
	uint32_t i;
	int ret;

	for (i = 0; i < section->header.num_fdes; i++) {
		ret = sfg_read_fde(section, i, &reader, err);
		if (!ret)
			ret = check_fde_rows(&reader, &budget, err);
		if (ret)
			return ret;
		if (section->header.flags & SFRAME_F_FDE_SORTED &&
		    reader.fde.addr < end)
			return fail_read(err, index_offset(section, i),
					 "FDEs are not sorted or overlap");
		end = reader.fde.addr + reader.fde.size;
		if (end < reader.fde.addr)
			return fail_read(err, index_offset(section, i),
					 "FDE wraps around");
	}
	return 0;
}

/*
 * Returns the index of the last FDE at or before addr, or num_fdes. Needs a
 * sorted section.
 */
static uint32_t search_index(const struct sfg_section *s, uint64_t addr)
{
	uint32_t lo = 0, hi = s->header.num_fdes, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (start_of(s, mid) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : s->header.num_fdes;
}

/* Rows differ in length, so read all from the first: up to 65535. */
int sfg_find_row(const struct sfg_section *section, uint64_t addr,
		 struct sfjit_function *fde, struct sfjit_row *row,
		 struct sfg_error *err)
{
	struct sfg_row_reader r;
	struct sfjit_row next, last;
	uint64_t offset;
	bool found = false;
	int ret;

	ret = sfg_read_fde(section, search_index(section, addr), &r, err);
	if (ret)
		return ret;
	offset = addr - r.fde.addr;
	if (offset >= r.fde.size)
		return sfg_fail(err, 0, "no FDE covers the address", -ENOENT);
	if (r.fde.repeat)
		offset %= r.fde.repeat;
	while (r.left) {
		ret = sfg_read_row(&r, &next, err);
		if (ret)
			return ret;
		if (next.start > offset)
			break;
		last = next;
		found = true;
	}
	*fde = r.fde;
	if (!found)
		return sfg_fail(err, 0, "no row covers the address", -ENOENT);
	*row = last;
	return 0;
}
