// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Check sections by the kernel's rules: why it would refuse to register one,
 * and why a step would fail. The kernel is stricter than the format in some
 * places and checks nothing in others; this file does the same. The reasons
 * have the names of /proc/PID/sframe.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <sframegen.h>

#include "check_packed.h"
#include "verdict.h"

#define HEADER_SIZE	sizeof(struct sframe_header)
#define INDEX_SIZE	sizeof(struct sframe_fde)
#define ATTR_SIZE	sizeof(struct sframe_fde_attr)

/* Limits of the kernel; offsets in a section have 32 bits. */
#define MAX_FUNCTIONS	(1u << 24)
#define MAX_LENGTH	UINT32_MAX

/* A registered section. Offsets count from its start. */
struct reader {
	const unsigned char *section;
	uint64_t	addr;		/* function starts are relative to it */
	uint64_t	text, text_end;
	uint64_t	fdes, fres, fres_end;
	uint32_t	nr;
};

struct function {
	uint64_t	start;
	uint64_t	rows;		/* offset of the first row */
	uint32_t	size;
	uint32_t	nr_rows;
	uint32_t	next_row;	/* start of the next row */
	bool		at_end;		/* there is no next row */
	unsigned int	start_bytes;
	uint8_t		repeat;
	bool		flex;
	bool		exact;		/* signal bit */
	bool		key_b;
	bool		signal;		/* and a signal frame there */
};

struct row {
	uint32_t	start;
	uint64_t	words;
	uint8_t		info;
};

/* ---- Registration ----------------------------------------------------- */

static uint64_t number(const struct reader *r, uint64_t at, unsigned int bytes)
{
	uint64_t value = 0;
	uint32_t four;
	uint16_t two;

	if (bytes == 8) {
		memcpy(&value, r->section + at, 8);
	} else if (bytes == 4) {
		memcpy(&four, r->section + at, 4);
		value = four;
	} else if (bytes == 2) {
		memcpy(&two, r->section + at, 2);
		value = two;
	} else {
		value = r->section[at];
	}
	return value;
}

/* Sections from this library's encoder differ only in numbers. */
static bool has_our_format(const void *section)
{
	unsigned char ours[HEADER_SIZE];
	size_t used;

	return !sfg_write_section(SFG_HOST_ABI, NULL, 0, (uintptr_t)ours, ours,
				  sizeof(ours), &used, NULL) &&
	       !memcmp(section, ours, offsetof(struct sframe_header, num_fdes));
}

static const char *set_extent(struct reader *r, uint64_t length)
{
	struct sframe_header header;
	uint64_t left = length - HEADER_SIZE;

	memcpy(&header, r->section, sizeof(header));
	/* The index comes first, then the rows, all inside the section. */
	if (header.fres_off > left || header.fdes_off > header.fres_off)
		return "index or rows outside of the section";
	left -= header.fres_off;
	if (header.fre_len > left)
		return "rows outside of the section";
	if (header.num_fdes > (header.fres_off - header.fdes_off) / INDEX_SIZE)
		return "index is shorter than its number of functions";
	if (header.num_fdes > MAX_FUNCTIONS)
		return "more than 16777216 functions";
	r->nr = header.num_fdes;
	r->fdes = HEADER_SIZE + header.fdes_off;
	r->fres = HEADER_SIZE + header.fres_off;
	r->fres_end = r->fres + header.fre_len;
	return NULL;
}

static uint64_t start_of_fde(const struct reader *r, uint32_t i)
{
	uint64_t at = r->fdes + (uint64_t)i * INDEX_SIZE;

	return r->addr + at + number(r, at, 8);
}

static uint32_t size_of(const struct reader *r, uint32_t i)
{
	return number(r, r->fdes + (uint64_t)i * INDEX_SIZE +
		      offsetof(struct sframe_fde, func_size), 4);
}

static const char *set_text(struct reader *r, const struct sfjit_table *table)
{
	uint64_t size = table->text_length;

	r->text = (uintptr_t)table->text;
	r->text_end = r->text + size;
	if (!r->text && !size) {
		if (!r->nr)
			return "neither functions nor text range";
		size = size_of(r, r->nr - 1);
		r->text = start_of_fde(r, 0);
		r->text_end = start_of_fde(r, r->nr - 1) + size;
		if (r->text_end < size)
			return "text wraps around";
	}
	if (r->text >= r->text_end)
		return "text is empty or wraps around";
	return NULL;
}

/* Returns NULL, or why the kernel would return EINVAL. */
static const char *open_section(struct reader *r,
				const struct sfjit_table *table)
{
	const char *why;

	*r = (struct reader){
		.section = table->section,
		.addr = (uintptr_t)table->section + table->bias,
	};
	if (table->flags & SFJIT_TABLE_LIVE)
		return "a section cannot grow";
	if (table->flags)
		return "unknown flag";
	if (!table->section || table->length < HEADER_SIZE)
		return "section is shorter than a header";
	if (table->length > MAX_LENGTH ||
	    sfjit_wraps(table->section, table->length))
		return "section is longer than 4 GiB";
	if (!table->text != !table->text_length)
		return "one of text and its length is 0";
	if (!has_our_format(table->section))
		return "not the header of this format and machine";
	why = set_extent(r, table->length);
	if (!why)
		why = set_text(r, table);
	return why;
}

/* ---- The function of an address --------------------------------------- */

/*
 * Binary search: only the entries it reads must be in order. With its cache of
 * positions the kernel reads fewer, and finds the same: it fills that only if
 * all are in order.
 */
static const char *search(const struct reader *r, uint64_t ip, uint32_t *found)
{
	uint64_t lowest = 0, highest = UINT64_MAX, start;
	uint32_t low = 0, high = r->nr, mid;
	const char *why = "no_fde";

	while (low < high) {
		mid = low + (high - low) / 2;
		start = start_of_fde(r, mid);
		if (start < lowest || start > highest)
			return "fde_order";
		if (start > ip) {
			highest = start;
			high = mid;
		} else {
			lowest = start;
			low = mid + 1;
			*found = mid;
			why = NULL;
		}
	}
	return why;
}

static const char *read_attributes(const struct reader *r, uint32_t fre_off,
				   struct function *f)
{
	uint64_t at = r->fres + fre_off, area = r->fres_end - r->fres;
	uint8_t info, info2;

	if (area < ATTR_SIZE || fre_off > area - ATTR_SIZE)
		return "fre_offset";
	info = number(r, at + offsetof(struct sframe_fde_attr, info), 1);
	info2 = number(r, at + offsetof(struct sframe_fde_attr, info2), 1);
	/* Later versions, other machines, unknown types. */
	if (info & SFRAME_FDE_RESERVED ||
	    (info & SFRAME_FDE_PAUTH_KEY_B && !may_sign()) ||
	    info2 & SFRAME_FDE2_RESERVED ||
	    SFRAME_FDE_FRE_TYPE(info) > SFRAME_FRE_TYPE_ADDR4 ||
	    SFRAME_FDE2_TYPE(info2) > SFRAME_FDE_TYPE_FLEX)
		return "fde_type";
	f->rows = at + ATTR_SIZE;
	f->nr_rows = number(r, at, 2);
	f->start_bytes = 1u << SFRAME_FDE_FRE_TYPE(info);
	f->flex = SFRAME_FDE2_TYPE(info2) == SFRAME_FDE_TYPE_FLEX;
	f->exact = info & SFRAME_FDE_SIGNAL;
	f->key_b = info & SFRAME_FDE_PAUTH_KEY_B;
	f->signal = f->exact && !f->nr_rows;
	f->repeat = 0;
	if (!(info & SFRAME_FDE_PCMASK))
		return NULL;
	f->repeat = number(r, at + offsetof(struct sframe_fde_attr, rep_size),
			   1);
	return f->repeat ? NULL : "rep_size";
}

static const char *find_function(const struct reader *r, uint64_t ip,
				 struct function *f)
{
	uint32_t i = 0;
	const char *why = search(r, ip, &i);

	if (why)
		return why;
	f->start = start_of_fde(r, i);
	f->size = size_of(r, i);
	if (ip - f->start >= f->size)
		return "no_fde";
	/* The function must lie inside the window. */
	if (f->start < r->text || f->size > r->text_end - f->start)
		return "fde_range";
	return read_attributes(r, number(r, r->fdes + (uint64_t)i * INDEX_SIZE +
					 offsetof(struct sframe_fde, fre_off),
					 4), f);
}

/* ---- The row of an address -------------------------------------------- */

/* Bytes of the words, or -1. No rule needs more than seven words of 4 bytes. */
static int words_size(uint8_t info)
{
	if (SFRAME_FRE_WORDS(info) > 7 || SFRAME_FRE_WORD_SIZE(info) > 2)
		return -1;
	return SFRAME_FRE_WORDS(info) << SFRAME_FRE_WORD_SIZE(info);
}

static const char *read_row(const struct reader *r, struct function *f,
			    uint32_t off, uint64_t *pos, struct row *row)
{
	int64_t last = row->words ? (int64_t)row->start : -1;
	uint32_t start;
	uint8_t info;
	int size;

	if (*pos + f->start_bytes + 1 > r->fres_end)
		return "fre_offset";
	start = number(r, *pos, f->start_bytes);
	/* Starts must ascend. */
	if (start <= last)
		return "row_order";
	if (start > off) {
		f->next_row = start;
		f->at_end = false;
		return NULL;
	}
	info = number(r, *pos + f->start_bytes, 1);
	size = words_size(info);
	if (size < 0)
		return "row_words";
	row->start = start;
	row->info = info;
	row->words = *pos + f->start_bytes + 1;
	*pos = row->words + size;
	return NULL;
}

/* Rows have no fixed size, so search linearly. */
static const char *find_row(const struct reader *r, struct function *f,
			    uint32_t off, struct row *row)
{
	uint64_t pos = f->rows;
	const char *why;
	uint32_t i;

	*row = (struct row){ 0 };
	f->at_end = true;
	for (i = 0; i < f->nr_rows && f->at_end; i++) {
		why = read_row(r, f, off, &pos, row);
		if (why)
			return why;
	}
	if (!row->words)
		return "no_row";
	return pos > r->fres_end ? "fre_offset" : NULL;
}

/* ---- Its rules -------------------------------------------------------- */

static int32_t signed_word(const struct reader *r, const struct row *row,
			   unsigned int i)
{
	unsigned int bytes = 1u << SFRAME_FRE_WORD_SIZE(row->info);
	uint64_t value = number(r, row->words + (uint64_t)i * bytes, bytes);

	if (bytes == 1)
		return (int8_t)value;
	return bytes == 2 ? (int16_t)value : (int32_t)value;
}

static uint32_t unsigned_word(const struct reader *r, const struct row *row,
			      unsigned int i)
{
	unsigned int bytes = 1u << SFRAME_FRE_WORD_SIZE(row->info);

	return number(r, row->words + (uint64_t)i * bytes, bytes);
}

/* The first word is the CFA offset, in the machine's units. */
static const char *set_cfa_offset(int32_t word, struct sfjit_rule *cfa)
{
	int64_t offset = sfg_cfa_of_word(SFG_HOST_ABI, word);

	cfa->offset = offset;
	return cfa->offset == offset ? NULL : "row_rule";
}

static const char *default_rules(const struct reader *r, const struct row *in,
				 struct sfjit_row *out)
{
	unsigned int nr = SFRAME_FRE_WORDS(in->info), i = 1;
	int32_t ra;

	if (nr > 2u + sfg_rows_have_ra(SFG_HOST_ABI))
		return "row_words";
	if (!SFRAME_FRE_BASE_SP(in->info))
		out->cfa.reg = sfg_frame_pointer(SFG_HOST_ABI);
	if (i < nr && sfg_rows_have_ra(SFG_HOST_ABI)) {
		ra = signed_word(r, in, i++);
		if (ra)
			out->ra = sfjit_rule_saved(ra);
	}
	if (i < nr)
		out->fp = sfjit_rule_saved(signed_word(r, in, i));
	return set_cfa_offset(signed_word(r, in, 0), &out->cfa);
}

/* Reads a control word and an offset, from word *i on. */
static const char *flex_rule(const struct reader *r, const struct row *in,
			     unsigned int *i, struct sfjit_rule *rule)
{
	uint32_t control = unsigned_word(r, in, *i);

	*rule = (struct sfjit_rule){
		.offset = signed_word(r, in, *i + 1),
		.base = SFJIT_BASE_CFA,
		.deref = !!(control & SFRAME_FLEX_DEREF_P),
	};
	*i += 2;
	if (control & SFRAME_FLEX_REG_P) {
		if (SFRAME_FLEX_REGNUM(control) > UINT16_MAX)
			return "row_register";
		rule->base = SFJIT_BASE_REG;
		rule->reg = SFRAME_FLEX_REGNUM(control);
	}
	/* Only packed tables have addends. */
	return control & SFRAME_FLEX_RESERVED ? "row_rule" : NULL;
}

static const char *flex_cfa(const struct reader *r, const struct row *in,
			    unsigned int *i, struct sfjit_rule *cfa)
{
	const char *why = flex_rule(r, in, i, cfa);

	if (why)
		return why;
	/* The CFA cannot be its own base. */
	return cfa->base == SFJIT_BASE_REG ? set_cfa_offset(cfa->offset, cfa) :
					     "row_rule";
}

static const char *flex_rules(const struct reader *r, const struct row *in,
			      struct sfjit_row *out)
{
	unsigned int nr = SFRAME_FRE_WORDS(in->info), i = 0, left;
	const char *why;

	if (nr < 2)
		return "row_words";
	why = flex_cfa(r, in, &i, &out->cfa);
	left = nr - i;
	if (why || !left)
		return why;
	/* Either a word 0 (padding) or a rule for the return address. */
	if (left == 3) {
		if (signed_word(r, in, i++))
			return "row_words";
	} else if (left == 2 || left == 4) {
		why = flex_rule(r, in, &i, &out->ra);
		if (why)
			return why;
		if (out->ra.base == SFJIT_BASE_CFA && !out->ra.deref)
			return "row_rule";
	} else {
		return "row_words";
	}
	return i == nr ? NULL : flex_rule(r, in, &i, &out->fp);
}

static const char *rules(const struct reader *r, const struct function *f,
			 const struct row *in, struct sfjit_row *out)
{
	out->start = in->start;
	if (!SFRAME_FRE_WORDS(in->info)) {
		out->flags = SFJIT_ROW_OUTERMOST;
		out->cfa = sfjit_rule_none();
		return NULL;
	}
	if (SFRAME_FRE_MANGLED_RA(in->info)) {
		if (!may_sign())
			return "row_rule";
		out->flags = SFJIT_ROW_MANGLED_RA;
	}
	return f->flex ? flex_rules(r, in, out) : default_rules(r, in, out);
}

/* Finds the row of an address, or returns why a step from there fails. */
static const char *decode(const struct reader *r, uint64_t ip,
			  struct function *f, struct sfjit_row *out)
{
	const char *why = find_function(r, ip, f);
	struct row row;
	uint32_t off;

	sfg_entry_row(SFG_HOST_ABI, out);
	if (why || f->signal)
		return why;
	off = ip - f->start;
	if (f->repeat)
		off %= f->repeat;
	why = find_row(r, f, off, &row);
	if (!why)
		why = rules(r, f, &row, out);
	if (!why && f->exact && !(out->flags & SFJIT_ROW_OUTERMOST))
		f->signal = !sfg_row_is_called(SFG_HOST_ABI, out);
	return why;
}

/* ---- All of them ------------------------------------------------------ */

/* Steps from each row. One bad row also hides all later rows. */
static int check_rows(const struct reader *r, uint32_t i,
		      struct sfjit_complaint *complaint)
{
	uint64_t start = start_of_fde(r, i), off = 0, end = size_of(r, i);
	struct function f;
	struct sfjit_row row;
	const char *why;

	while (off < end) {
		why = decode(r, start + off, &f, &row);
		if (!why && !f.signal)
			why = check_cfa(&row);
		if (why)
			return complain(complaint, -EBADMSG, why, start + off);
		if ((f.exact && !f.nr_rows) || f.at_end)
			return 0;
		if (f.repeat && f.repeat < end)
			end = f.repeat;
		off = f.next_row;
	}
	return 0;
}

/* Each function starts at or after the end of the previous one. */
static int check_order(const struct reader *r, uint32_t i,
		       struct sfjit_complaint *complaint)
{
	uint64_t start = start_of_fde(r, i), before;

	if (!i)
		return 0;
	before = start_of_fde(r, i - 1);
	if (start >= before && start - before >= size_of(r, i - 1))
		return 0;
	return complain(complaint, -EBADMSG, "fde_order", start);
}

static int check_range(const struct reader *r, uint32_t i,
		       struct sfjit_complaint *complaint)
{
	uint64_t start = start_of_fde(r, i), size = size_of(r, i);

	if (!size || (start >= r->text && start < r->text_end &&
		      size <= r->text_end - start))
		return 0;
	/* Report the first address where a walk would fail. */
	if (start < r->text && r->text - start < size)
		start = r->text;
	return complain(complaint, -EBADMSG, "fde_range", start);
}

static int check_all(const struct reader *r,
		     struct sfjit_complaint *complaint)
{
	static int (*const checks[])(const struct reader *r, uint32_t i,
				     struct sfjit_complaint *complaint) = {
		/* Order first: the binary search depends on it. */
		check_order, check_range, check_rows,
	};
	size_t check;
	uint32_t i;
	int ret = 0;

	for (check = 0; check < sizeof(checks) / sizeof(checks[0]); check++)
		for (i = 0; i < r->nr && !ret; i++)
			ret = checks[check](r, i, complaint);
	return ret;
}

int sfjit_check(const struct sfjit_table *table,
		struct sfjit_complaint *complaint)
{
	struct reader r;
	const char *why;

	if (!table)
		return -EINVAL;
	if (sfjit_is_packed(table))
		return sfjit_check_packed(table, complaint);
	why = open_section(&r, table);
	if (why)
		return complain(complaint, -EINVAL, why, 0);
	return check_all(&r, complaint);
}

int sfjit_find_row(const struct sfjit_table *table, const void *ip,
		   struct sfjit_function *function, struct sfjit_row *row,
		   struct sfjit_complaint *complaint)
{
	struct function f = { 0 };
	struct sfjit_row found;
	struct reader r;
	const char *why;

	if (!table || !row)
		return -EINVAL;
	if (sfjit_is_packed(table))
		return sfjit_find_packed_row(table, ip, function, row,
					     complaint);
	why = open_section(&r, table);
	if (why)
		return complain(complaint, -EINVAL, why, 0);
	if ((uintptr_t)ip < r.text || (uintptr_t)ip >= r.text_end)
		return complain(complaint, -ENOENT, "outside of the text",
				(uintptr_t)ip);
	why = decode(&r, (uintptr_t)ip, &f, &found);
	if (why)
		return complain(complaint, strcmp(why, "no_fde") ? -EBADMSG :
								   -ENOENT,
				why, (uintptr_t)ip);
	*row = found;
	if (function)
		*function = (struct sfjit_function){
			.addr = f.start,
			.size = f.size,
			.nr_rows = f.nr_rows,
			.flags = (f.exact ? SFJIT_FUNCTION_SIGNAL : 0) |
				 (f.key_b ? SFJIT_FUNCTION_PAUTH_KEY_B : 0),
			.repeat = f.repeat,
		};
	return 0;
}

void sfjit_table_text(const struct sfjit_table *table, uintptr_t *start,
		      uintptr_t *end)
{
	struct reader r;

	if (sfjit_is_packed(table)) {
		sfjit_packed_text(table, start, end);
		return;
	}
	open_section(&r, table);
	*start = r.text;
	*end = r.text_end;
}
