// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Reads records of .debug_frame (DWARF 5, section 6.4.1) and of .eh_frame,
 * which the LSB derived from an early one (Core, "Exception Frames"). They
 * differ in a CIE's id, an FDE's way to its CIE, the end mark, and pointer
 * encodings.
 */
#include <stdlib.h>

#include "cfi.h"
#include "dwarf_cfi.h"

struct record {
	size_t offset;		/* of the length field */
	size_t id_pos;
	uint64_t id;
	struct cursor body;	/* after the id */
};

struct walker {
	struct cfi_table *t;
	struct cursor c;
	struct sfg_error *err;
};

static int fail_cfi(struct sfg_error *err, size_t offset, const char *reason)
{
	return sfg_fail(err, offset, reason, -EINVAL);
}

/*
 * DWARF uses all ones, as wide as its offsets. .eh_frame uses 0: an FDE cannot
 * point at its own field.
 */
static bool is_cie(const struct walker *w, const struct record *r, bool wide)
{
	if (!w->t->debug_frame)
		return r->id == 0;
	return r->id == (wide ? UINT64_MAX : UINT32_MAX);
}

/*
 * Returns 1 for a record, 0 at the end. A length of all ones precedes a 64-bit
 * length (DWARF 5, section 7.4). A length of 0 ends .eh_frame, as crtend.o does
 * after all inputs, unless an index lists more; in .debug_frame it is filling.
 * Each step takes at least 4 bytes.
 */
static int next_record(struct walker *w, struct record *r, bool *cie)
{
	struct cursor *c = &w->c;
	uint64_t length;
	bool wide;

	do {
		r->offset = c->pos;
		if (!cursor_left(c))
			return 0;
		length = cursor_u32(c);
		wide = length == UINT32_MAX;
		if (wide)
			length = cursor_u64(c);
		if (!c->bad && !length && !w->t->debug_frame &&
		    c->pos > w->t->listed)
			return 0;
	} while (!c->bad && !length);
	/* a record has to end inside the section */
	if (c->bad || length > cursor_left(c))
		return fail_cfi(w->err, r->offset, "CFI record is truncated");
	cursor_init(&r->body, c->data, c->pos, c->pos + length,
		    c->big_endian);
	r->id_pos = c->pos;
	/* in .eh_frame the id has 4 bytes even after a 64-bit length */
	if (wide && w->t->debug_frame)
		r->id = cursor_u64(&r->body);
	else
		r->id = cursor_u32(&r->body);
	if (r->body.bad)
		return fail_cfi(w->err, r->offset, "CFI record is too short");
	c->pos += length;
	*cie = is_cie(w, r, wide);
	return 1;
}

/* False: its length is unknown. */
static bool skip_pointer(const struct cfi_table *t, struct cursor *c,
			 unsigned int encoding)
{
	uint64_t ignored;

	if (encoding == DW_EH_PE_omit)
		return true;
	if (!sfg_cfi_known_format(encoding))
		return false;
	sfg_cfi_read_pointer(t, c, encoding, &ignored);
	return true;
}

/*
 * After a personality pointer of unknown length, accept only letters without
 * data. Of the others we need only 'R'.
 */
static bool read_letter_alone(struct cfi_cie *cie, uint8_t letter)
{
	if (letter == 'R')
		cie->refused = SFG_R_ENCODING;
	return letter == 'R' || letter == 'P' || letter == 'L';
}

/* Reads one letter after the 'z'; false: unknown letter. */
static bool read_augmentation_letter(const struct cfi_table *t,
				     struct cfi_cie *cie, struct cursor *c,
				     uint8_t letter, bool *lost)
{
	if (*lost && read_letter_alone(cie, letter))
		return true;
	switch (letter) {
	case 'R':
		cie->pointer_encoding = cursor_u8(c);
		return true;
	case 'P':
		*lost = !skip_pointer(t, c, cursor_u8(c));
		return true;
	case 'L':
		cursor_u8(c);
		return true;
	case 'S':	/* sigreturn trampolines: pc follows no call */
		cie->fde_flags |= SFJIT_FUNCTION_SIGNAL;
		return true;
	case 'B':	/* AArch64: the B key signs return addresses */
		cie->fde_flags |= SFJIT_FUNCTION_PAUTH_KEY_B;
		return true;
	case 'G':	/* AArch64: memory tagging of the stack */
		return true;
	}
	return false;
}

/*
 * The length after 'z' would let us skip unknown letters, but one of them may
 * change how addresses or rules of FDEs are encoded.
 */
static void read_augmentation(const struct cfi_table *t, struct cfi_cie *cie,
			      struct cursor *body, const uint8_t *letters)
{
	bool lost = false;
	struct cursor data;
	uint64_t len;

	if (*letters != 'z') {
		if (*letters)
			cie->refused = SFG_R_AUGMENTATION;
		return;
	}
	cie->augmentation_data = 1;
	len = cursor_uleb(body);
	data = *body;
	if (!cursor_take(body, len))
		return;
	data.end = body->pos;
	for (letters++; *letters; letters++)
		if (!read_augmentation_letter(t, cie, &data, *letters, &lost)) {
			cie->refused = SFG_R_AUGMENTATION;
			return;
		}
	body->bad |= data.bad;
}

/* Returns the letters, which end inside the record. */
static const uint8_t *read_letters(struct cursor *c)
{
	const uint8_t *letters = c->data + c->pos;

	while (cursor_u8(c))
		;
	return c->bad ? (const uint8_t *)"" : letters;
}

/* .eh_frame has 1; DWARF 2 has 1, DWARF 3 has 3, and DWARF 4 and 5 have 4. */
static bool known_version(unsigned int version)
{
	return version == 1 || version == 3 || version == 4;
}

static void read_cie_body(const struct cfi_table *t, struct cfi_cie *cie,
			  struct cursor *c)
{
	unsigned int version = cursor_u8(c);
	const uint8_t *letters = read_letters(c);

	if (!known_version(version)) {
		cie->refused = SFG_R_AUGMENTATION;
		return;
	}
	/* versions before 'z' put the address of an exception table here */
	if (letters[0] == 'e' && letters[1] == 'h') {
		cursor_u64(c);
		letters += 2;
	}
	/* version 4: address size and segment selector size */
	if (version == 4 && (cursor_u8(c) != 8 || cursor_u8(c) != 0))
		cie->refused = SFG_R_AUGMENTATION;
	cie->code_align = cursor_uleb(c);
	cie->data_align = cursor_sleb(c);
	/* a byte until DWARF 3 made it a LEB128 */
	cie->ra_column = version == 1 ? cursor_u8(c) : cursor_uleb(c);
	read_augmentation(t, cie, c, letters);
}

static int read_cie(struct walker *w, struct record *r, struct cfi_cie *cie)
{
	const struct cfi_table *t = w->t;

	*cie = (struct cfi_cie) { .offset = r->offset };
	read_cie_body(t, cie, &r->body);
	if (r->body.bad)
		return fail_cfi(w->err, r->offset, "CIE is truncated");
	if (!cie->refused && !sfg_cfi_known_format(cie->pointer_encoding))
		cie->refused = SFG_R_ENCODING;
	cie->program = r->body.pos;
	cie->program_end = r->body.end;
	if (!cie->refused && cie->ra_column != t->arch->ra)
		cie->refused = SFG_R_RA_COLUMN;
	return 0;
}

/* Initial instructions run once; each FDE starts from a copy of that state. */
static int add_cie(struct walker *w, struct record *r)
{
	struct cfi_table *t = w->t;
	struct cfi_cie *cie;
	int ret;

	if (!grow_array(&t->cies, &t->max_cies, t->nr_cies, sizeof(*cie)))
		return sfg_fail(w->err, r->offset, "out of memory", -ENOMEM);
	cie = &t->cies[t->nr_cies++];
	ret = read_cie(w, r, cie);
	return ret || cie->refused ? ret : sfg_cfi_run_cie(t, cie, w->err);
}

/* CIEs come in the order of their offsets, so the array is sorted. */
static size_t find_cie(const struct cfi_table *t, uint64_t offset)
{
	size_t lo = 0, hi = t->nr_cies, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->cies[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < t->nr_cies && t->cies[lo].offset == offset)
		return lo;
	return SIZE_MAX;
}

/* DWARF counts from the section's start, .eh_frame back from the field. */
static size_t cie_of(const struct walker *w, const struct record *r)
{
	return find_cie(w->t, w->t->debug_frame ? r->id : r->id_pos - r->id);
}

/* Counts a function whose start address is unknown. */
static void refuse_fde(struct cfi_table *t, enum sfg_reason reason)
{
	t->nr_fdes--;
	t->refused_fdes[reason]++;
}

static int read_fde_body(struct walker *w, struct record *r,
			 struct cfi_fde *fde)
{
	struct cfi_table *t = w->t;
	const struct cfi_cie *cie = &t->cies[fde->cie];
	struct cursor *c = &r->body;
	enum sfg_reason reason;

	reason = sfg_cfi_read_pointer(t, c, cie->pointer_encoding, &fde->start);
	/* in the pointer's format, but a plain number */
	fde->size = sfg_cfi_read_value(c, cie->pointer_encoding);
	if (cie->augmentation_data)
		cursor_take(c, cursor_uleb(c));
	if (c->bad)
		return fail_cfi(w->err, r->offset, "FDE is truncated");
	fde->program = c->pos;
	fde->program_end = c->end;
	if (reason)
		refuse_fde(t, reason);
	return 0;
}

static int add_fde(struct walker *w, struct record *r)
{
	struct cfi_table *t = w->t;
	size_t cie = cie_of(w, r);
	struct cfi_fde *fde;

	/* an FDE has to name a CIE of this section */
	if (cie == SIZE_MAX)
		return fail_cfi(w->err, r->offset, "FDE names no CIE");
	if (!grow_array(&t->fdes, &t->max_fdes, t->nr_fdes, sizeof(*fde)))
		return sfg_fail(w->err, r->offset, "out of memory", -ENOMEM);
	fde = &t->fdes[t->nr_fdes++];
	fde->cie = cie;
	fde->offset = r->offset;
	/* after an unknown augmentation no field can be found */
	if (t->cies[cie].refused == SFG_R_AUGMENTATION ||
	    t->cies[cie].refused == SFG_R_ENCODING) {
		refuse_fde(t, t->cies[cie].refused);
		return 0;
	}
	return read_fde_body(w, r, fde);
}

static int walk(struct walker *w, bool cies)
{
	struct record r;
	bool cie = false;
	int ret;

	w->c.pos = 0;
	for (;;) {
		ret = next_record(w, &r, &cie);
		if (ret <= 0)
			break;
		if (cie != cies)
			continue;
		ret = cie ? add_cie(w, &r) : add_fde(w, &r);
		if (ret)
			break;
	}
	return ret;
}

/*
 * qsort() is not stable: order FDEs of equal address by offset, so that output
 * depends on the input alone.
 */
static int compare_fdes(const void *x, const void *y)
{
	const struct cfi_fde *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/*
 * FDEs are already sorted unless functions have parts in other sections
 * (.text.unlikely) or a linker moved them.
 */
static void sort_fdes(struct cfi_table *t)
{
	size_t i;

	for (i = 1; i < t->nr_fdes; i++)
		if (compare_fdes(&t->fdes[i - 1], &t->fdes[i]) > 0)
			break;
	if (i < t->nr_fdes)
		qsort(t->fdes, t->nr_fdes, sizeof(*t->fdes), compare_fdes);
}

int sfg_cfi_start_table(struct cfi_table *t, const struct sfg_input *in,
			struct sfg_error *err)
{
	memset(t, 0, sizeof(*t));
	t->arch = sfg_any_arch(in->abi);
	if (!t->arch)
		return sfg_fail(err, 0, "no ABI of this number", -ENOTSUP);
	if (in->flags & ~SFG_INPUT_ALL)
		return fail_cfi(err, 0, "unknown flags");
	if (in->cfi.len > UINT32_MAX)
		return sfg_fail(err, 0, "CFI section is over 4 GiB", -E2BIG);
	t->third = in->flags & SFG_INPUT_PACKED && t->arch->third;
	t->jit = in->flags & SFG_INPUT_JIT;
	t->other = t->third ? t->arch->third : NO_REG;
	t->debug_frame = in->flags & SFG_INPUT_DEBUG_FRAME;
	t->data = in->cfi.data;
	t->len = in->cfi.len;
	t->addr = in->cfi.addr;
	t->relocated = in->relocated;
	t->nr_relocated = in->nr_relocated;
	t->listed = in->cfi_listed;
	t->bases = in->flags & SFG_INPUT_BASES;
	t->text_base = in->text_base;
	t->data_base = in->data_base;
	t->addends = in->flags & SFG_INPUT_ADDENDS;
	/* enough for any real file, and linear in hostile ones */
	t->budget = 65536 + 64 * (uint64_t)in->cfi.len;
	return 0;
}

/*
 * Reads CIEs first, then FDEs: a CIE need not precede its FDEs. Offsets into
 * the section have 32 bits in rules and FDEs.
 */
int sfg_cfi_read_records(struct cfi_table *t, struct sfg_error *err)
{
	struct walker w = {
		.t = t,
		.err = err,
	};
	int ret;

	cursor_init(&w.c, t->data, 0, t->len, t->arch->big_endian);
	ret = walk(&w, true);
	if (!ret)
		ret = walk(&w, false);
	if (ret) {
		sfg_cfi_free_table(t);
		return ret;
	}
	t->len = w.c.pos;
	sort_fdes(t);
	return 0;
}

int sfg_cfi_read_table(struct cfi_table *t, const struct sfg_input *in,
		       struct sfg_error *err)
{
	int ret = sfg_cfi_start_table(t, in, err);

	return ret ? ret : sfg_cfi_read_records(t, err);
}

/* Usual records have less than 100 bytes: no field of them takes long. */
#define SHORT_RECORD	4096

static bool read_short_record(struct walker *w, uint64_t offset,
			      struct record *r, bool wants_cie)
{
	const struct cfi_table *t = w->t;
	bool cie;

	if (offset >= t->len)
		return false;
	cursor_init(&w->c, t->data, offset, t->len, t->arch->big_endian);
	return next_record(w, r, &cie) > 0 && cie == wants_cie &&
	       r->body.end - offset <= SHORT_RECORD;
}

bool sfg_cfi_read_fde(const struct cfi_table *t, uint64_t offset,
		      struct cfi_cie *cie, struct cfi_fde *fde)
{
	struct cfi_table one = *t;
	struct walker w = { .t = &one };
	struct record r, of_cie;

	if (!read_short_record(&w, offset, &r, false) ||
	    !read_short_record(&w, r.id_pos - r.id, &of_cie, true) ||
	    read_cie(&w, &of_cie, cie))
		return false;
	one.cies = cie;
	one.fdes = fde;
	one.nr_cies = one.max_fdes = 1;
	one.nr_fdes = 0;
	return !add_fde(&w, &r) && one.nr_fdes;
}

/* Relocations distinguish address 0 in an object file from no address. */
bool sfg_cfi_is_discarded(const struct cfi_table *t, const struct cfi_fde *fde)
{
	return t->debug_frame && !t->relocated && !fde->start;
}

void sfg_cfi_free_table(struct cfi_table *t)
{
	free(t->cies);
	free(t->fdes);
	t->cies = NULL;
	t->fdes = NULL;
	t->nr_cies = t->max_cies = 0;
	t->nr_fdes = t->max_fdes = 0;
}
