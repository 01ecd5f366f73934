// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * --verify: compares the assembler's .sframe with the CFI of the same object.
 * Both become lists of spans by address, and a sweep names each difference.
 */
#include <grow.h>
#include <inttypes.h>
#include <stdlib.h>

#include "commands.h"
#include "object.h"

enum span_kind { SPAN_NOTHING, SPAN_ROW, SPAN_SIGNAL, SPAN_REPEAT, SPAN_BAD };

struct span {
	uint64_t lo, hi;
	enum span_kind kind;
	const char *bad;	/* SPAN_BAD: what is wrong */
	struct sfjit_row row;
};

struct spans {
	struct span *span;
	size_t nr, max;
};

struct verifier {
	struct object *f;
	unsigned int flags;	/* SFG_INPUT_* */
	struct spans theirs, ours;
	size_t compared, differences;
	size_t nowhere;		/* functions of .sframe without an address */
	uint64_t our_nowhere;	/* those of the CFI */
};

static int push(struct spans *s, const struct span *span)
{
	if (!grow_array(&s->span, &s->max, s->nr, sizeof(*s->span)))
		return -ENOMEM;
	s->span[s->nr++] = *span;
	return 0;
}

/*
 * gas writes rows for a signal frame if it can, else none. We do not convert
 * its CFI here, so compare only the mark.
 */
static struct span span_of_fde(const struct sfjit_function *fde)
{
	return (struct span) {
		.lo = fde->addr, .hi = fde->addr + fde->size,
		.kind = fde->flags & SFJIT_FUNCTION_SIGNAL ? SPAN_SIGNAL :
			fde->repeat ? SPAN_REPEAT : SPAN_ROW,
	};
}

/*
 * A row holds up to the next one, the last one up to the function's end. A row
 * not at 0 ends the span before it: the first row of an FDE must be at 0.
 */
static int push_row(struct spans *s, struct span *span,
		    const struct sfjit_function *fde,
		    const struct sfjit_row *row)
{
	if (row->start)
		s->span[s->nr - 1].hi = fde->addr + row->start;
	span->lo = fde->addr + row->start;
	span->row = *row;
	return push(s, span);
}

static int add_derived(struct spans *s, const struct sfjit_function *fde)
{
	struct span span = span_of_fde(fde);
	uint32_t i;
	int ret = 0;

	if (span.kind != SPAN_ROW)
		return push(s, &span);
	for (i = 0; i < fde->nr_rows && !ret; i++)
		ret = push_row(s, &span, fde, &fde->rows[i]);
	return ret;
}

/* A function that cannot be read differs as a whole. */
static int push_bad(struct spans *s, size_t first,
		    const struct sfjit_function *fde, const char *reason)
{
	struct span span = span_of_fde(fde);

	s->nr = first;
	span.kind = SPAN_BAD;
	span.bad = reason;
	return push(s, &span);
}

static int add_read(struct spans *s, struct sfg_row_reader *r)
{
	struct span span = span_of_fde(&r->fde);
	size_t first = s->nr;
	struct sfg_error err;
	struct sfjit_row row;
	int ret = 0;

	if (span.kind != SPAN_ROW)
		return push(s, &span);
	if (!r->left)
		return push_bad(s, first, &r->fde, "FDE without rows");
	while (r->left && !ret) {
		if (sfg_read_row(r, &row, &err))
			return push_bad(s, first, &r->fde, err.reason);
		if (s->nr == first && row.start)
			return push_bad(s, first, &r->fde, "no row at 0");
		ret = push_row(s, &span, &r->fde, &row);
	}
	return ret;
}

static int compare_spans(const void *x, const void *y)
{
	const struct span *a = x, *b = y;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (a->hi > b->hi) - (a->hi < b->hi);
}

static int refuse_theirs(struct verifier *v, const struct sfg_error *err,
			 int code)
{
	return object_error(v->f, v->f->sframe.file_offset + err->offset, code,
			    "%s", err->reason);
}

/*
 * Assemblers write FDEs in source order; the linker sorts them. Do not call
 * sfg_check_section(): it stops at the first damage, which here is one
 * difference among others.
 */
static int read_theirs(struct verifier *v, struct sfg_section *s)
{
	uint64_t rows = sfg_max_rows(s);
	struct sfg_row_reader r;
	struct sfg_error err;
	uint32_t i;
	int ret;

	for (i = 0; i < s->header.num_fdes; i++) {
		ret = sfg_read_fde(s, i, &r, &err);
		if (!ret && r.left > rows) {
			err.offset = r.pos;
			err.reason = "rows are shared beyond reason";
			ret = -EINVAL;
		}
		if (ret)
			return refuse_theirs(v, &err, ret);
		rows -= r.left;
		if (!object_knows_fde(&v->f->sframe, s, i)) {
			v->nowhere++;
			continue;
		}
		if (add_read(&v->theirs, &r))
			return path_error(v->f->path, -ENOMEM);
	}
	if (v->theirs.nr)
		qsort(v->theirs.span, v->theirs.nr,
		      sizeof(*v->theirs.span), compare_spans);
	return 0;
}

static int open_theirs(struct verifier *v)
{
	const struct sfg_image *image = &v->f->sframe.image;
	struct sfg_section s;
	struct sfg_error err;
	int ret = sfg_open_section(&s, image->data, image->len, image->addr,
				   &err);

	return ret ? refuse_theirs(v, &err, ret) : read_theirs(v, &s);
}

static int derive_ours(struct verifier *v)
{
	struct sfg_input in = object_input(v->f);
	struct sfg_summary sum;
	struct sfg_fdes fdes;
	struct sfg_error err;
	size_t i;
	int ret;

	in.flags |= v->flags;
	ret = sfg_derive(&in, &fdes, &sum, &err);
	if (ret)
		return object_error(v->f, object_cfi_offset(v->f, err.offset),
				    ret, "%s", err.reason);
	for (i = 0; i < fdes.nr && !ret; i++)
		ret = add_derived(&v->ours, &fdes.fdes[i]);
	sfg_free_fdes(&fdes);
	v->our_nowhere = sum.affected[SFG_R_ADDRESS];
	return ret ? path_error(v->f->path, ret) : 0;
}

static const struct span nothing = { .kind = SPAN_NOTHING };

static bool same(const struct span *a, const struct span *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind != SPAN_ROW || sfg_rows_equal(&a->row, &b->row);
}

/* Reasons are string constants of this program, shorter than ROW_TEXT_MAX. */
static void describe(const struct verifier *v, const struct span *span,
		     char *text)
{
	static const char *const kinds[] = {
		[SPAN_NOTHING] = "nothing", [SPAN_SIGNAL] = "signal frame",
		[SPAN_REPEAT] = "repeating rows",
	};

	if (span->kind == SPAN_ROW)
		format_row(v->f->abi, &span->row, text);
	else
		strcpy(text, span->kind == SPAN_BAD ? span->bad :
						      kinds[span->kind]);
}

static void print_difference(struct verifier *v, uint64_t lo,
			     const struct span *theirs,
			     const struct span *ours)
{
	const struct object_symbol *fn = object_find_function(v->f, lo);
	char their_text[ROW_TEXT_MAX], our_text[ROW_TEXT_MAX];

	describe(v, theirs, their_text);
	describe(v, ours, our_text);
	print_name(stdout, v->f->path);
	fputs(": ", stdout);
	print_name(stdout, fn ? fn->name : "");
	printf("+0x%" PRIx64 ": .sframe: %s; CFI: %s\n",
	       lo - (fn ? fn->addr : 0), their_text, our_text);
	v->differences++;
}

/*
 * Returns the span at an address; *index moves up with it, so a sweep visits
 * each span once.
 */
static const struct span *span_at(const struct spans *s, size_t *index,
				  uint64_t addr)
{
	while (*index < s->nr && s->span[*index].hi <= addr)
		++*index;
	if (*index == s->nr || s->span[*index].lo > addr)
		return &nothing;
	return &s->span[*index];
}

static uint64_t next_change(const struct spans *s, size_t index, uint64_t addr)
{
	if (index == s->nr)
		return UINT64_MAX;
	return s->span[index].lo > addr ? s->span[index].lo :
					  s->span[index].hi;
}

/* Neither list has a border between two steps. Report a pair of spans once. */
static void sweep_spans(struct verifier *v)
{
	const struct span *last_theirs = NULL, *last_ours = NULL;
	const struct span *theirs, *ours;
	size_t i = 0, k = 0;
	uint64_t addr = 0, a, b;

	while (i < v->theirs.nr || k < v->ours.nr) {
		theirs = span_at(&v->theirs, &i, addr);
		ours = span_at(&v->ours, &k, addr);
		v->compared += ours != &nothing || theirs != &nothing;
		if (!same(theirs, ours) &&
		    (theirs != last_theirs || ours != last_ours))
			print_difference(v, addr, theirs, ours);
		last_theirs = theirs;
		last_ours = ours;
		a = next_change(&v->theirs, i, addr);
		b = next_change(&v->ours, k, addr);
		addr = a < b ? a : b;
	}
}

/* Such as copies of inline functions that `ld -r` dropped. */
static void print_nowhere(const struct verifier *v)
{
	if (!v->nowhere && !v->our_nowhere)
		return;
	print_name(stdout, v->f->path);
	printf(": not compared, as no relocation resolves their address: %zu"
	       " functions of .sframe, %" PRIu64 " of the CFI\n", v->nowhere,
	       v->our_nowhere);
}

static int compare_file(struct verifier *v)
{
	int ret;

	ret = open_theirs(v);
	if (!ret)
		ret = derive_ours(v);
	if (ret)
		return ret;
	sweep_spans(v);
	print_name(stdout, v->f->path);
	printf(": %zu rows compared, %zu differences\n", v->compared,
	       v->differences);
	print_nowhere(v);
	return v->differences != 0;
}

int command_verify(const struct options *opts)
{
	struct object f;
	struct verifier v = { .f = &f, .flags = opts->flags };
	int ret = object_open(&f, opts->input);

	if (!ret)
		ret = object_read_cfi(&f);
	if (!ret)
		ret = object_read_sframe(&f);
	if (!ret)
		ret = object_read_symbols(&f);
	if (!ret)
		ret = compare_file(&v);
	free(v.theirs.span);
	free(v.ours.span);
	object_close(&f);
	return ret;
}
