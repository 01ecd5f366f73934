// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Converts CFI to rows, function by function, and rows to the section. */
#include <stdlib.h>

#include "cfi.h"
#include "go.h"

/* The largest power of two that fits a block size of one byte. */
#define MAX_PERIOD	128

struct converter {
	struct cfi_sink sink;
	struct cfi_table tables[2];	/* .eh_frame, .debug_frame */
	size_t next[2];			/* FDEs of them */
	struct cfi_table *table;	/* of the function at hand */
	const struct cfi_piece *piece, *piece_end;	/* of this function */
	const struct cfi_fde **group;	/* overlap, one after the other */
	size_t nr_group, max_group;
	uint64_t covered_to;		/* end of the group */
	uint64_t eh_frame_to;		/* of all functions of .eh_frame */
	const struct sfg_input *in;
	struct sfg_builder rows;
	struct sfg_summary *sum;
	struct sfg_bare bare;
	size_t gap_text;	/* range of text that the last gap was in */
	uint64_t fde_end;	/* of all FDEs so far, used or not */
	uint8_t fde_flags;
	uint32_t affected;	/* bit n: reason n, of this function */
};

static void count_bytes(struct converter *cv, enum sfg_reason reason,
			uint64_t bytes)
{
	cv->sum->bytes[reason] += bytes;
	cv->affected |= 1u << reason;
}

static int emit_refused(struct converter *cv, uint64_t lo, uint64_t hi,
			enum sfg_reason reason)
{
	count_bytes(cv, reason, hi - lo);
	return sfg_add_hole(&cv->rows, lo, hi);
}

/*
 * PCMASK counts (pc - start of the FDE) modulo the block size: the
 * specification's formula omits the subtraction, its readers do not. Rows count
 * from 'lo', so 'lo' need not be a multiple of the period.
 */
static int add_repeat(struct converter *cv, uint64_t lo, uint64_t hi,
		      unsigned int period, const struct sfjit_row *rows,
		      unsigned int nr)
{
	unsigned int i;
	int ret = 0;

	if (nr > 1 && hi - lo > period) {
		sfg_close_range(&cv->rows);
		return sfg_add_repeat(&cv->rows, lo, hi, cv->fde_flags,
				      period, rows, nr);
	}
	for (i = 0; i < nr && lo + rows[i].start < hi && !ret; i++) {
		uint64_t end = i + 1 < nr ? lo + rows[i + 1].start : hi;

		ret = sfg_add_row(&cv->rows, lo + rows[i].start,
				  end < hi ? end : hi, cv->fde_flags,
				  &rows[i]);
	}
	return ret;
}

/*
 * Code whose rule depends on the pc modulo a power of two. A branch in an
 * expression may raise the period meanwhile, but not above MAX_PERIOD, the size
 * of 'rows'. The work is that for one block, for any length of code.
 */
static int emit_repeat(struct converter *cv, uint64_t lo, uint64_t hi,
		       const struct cfi_state *state, unsigned int period)
{
	struct sfjit_row rows[MAX_PERIOD];
	enum sfg_reason reason;
	unsigned int i, nr = 0;

	for (i = 0; i < period; i++) {
		reason = sfg_cfi_make_row(cv->table, state, lo + i, &rows[nr],
					  &period);
		if (reason)
			return emit_refused(cv, lo, hi, reason);
		rows[nr].start = i;
		if (!nr || !sfg_rows_equal(&rows[nr], &rows[nr - 1]))
			nr++;
	}
	count_bytes(cv, SFG_COVERED, hi - lo);
	return add_repeat(cv, lo, hi, period, rows, nr);
}

static int emit_part(struct converter *cv, uint64_t lo, uint64_t hi,
		     const struct cfi_state *state, enum sfg_reason reason)
{
	unsigned int period = 0;
	struct sfjit_row row;

	if (!reason)
		reason = sfg_cfi_make_row(cv->table, state, lo, &row, &period);
	if (reason)
		return emit_refused(cv, lo, hi, reason);
	if (period)
		return emit_repeat(cv, lo, hi, state, period);
	count_bytes(cv, SFG_COVERED, hi - lo);
	return sfg_add_row(&cv->rows, lo, hi, cv->fde_flags, &row);
}

/* The sink is the converter's first member. Pieces come in address order. */
static int emit_stretch(struct cfi_sink *sink, uint64_t lo, uint64_t hi,
			const struct cfi_state *state, enum sfg_reason refused)
{
	struct converter *cv = (struct converter *)sink;
	uint64_t from, to;
	int ret = 0;

	for (; cv->piece != cv->piece_end && !ret; cv->piece++) {
		from = cv->piece->lo > lo ? cv->piece->lo : lo;
		to = cv->piece->hi < hi ? cv->piece->hi : hi;
		if (from < to)
			ret = emit_part(cv, from, to, state, refused);
		if (cv->piece->hi > hi)
			break;
		/* the code after it belongs to another function */
		sfg_close_range(&cv->rows);
	}
	return ret;
}

static bool in_text(const struct sfg_input *in, uint64_t start, uint64_t size)
{
	if (!in->nr_text)
		return start + size >= start;
	return sfg_range_of(in->text, in->nr_text, start, size);
}

static bool in_code(const struct sfg_input *in, uint64_t start, uint64_t size)
{
	return in_text(in, start, size) &&
	       (!in->nr_code ||
		sfg_range_of(in->code, in->nr_code, start, size));
}

/*
 * Linkers leave discarded functions in .debug_frame at address 0, where a
 * library has its headers or first function.
 */
static bool is_in_place(const struct converter *cv, const struct cfi_fde *fde)
{
	if (!cv->table->debug_frame)
		return in_text(cv->in, fde->start, fde->size);
	return in_code(cv->in, fde->start, fde->size) &&
	       !sfg_cfi_is_discarded(cv->table, fde);
}

static enum sfg_reason check_text_range(const struct converter *cv,
					const struct cfi_fde *fde)
{
	if (!fde->size)
		return SFG_R_EMPTY;
	return is_in_place(cv, fde) ? SFG_COVERED : SFG_R_OUTSIDE;
}

/* Facts about a function with the signal mark. */
struct looked_at {
	struct cfi_sink sink;
	bool is_called, is_other;
};

/* Whether a call or the function itself puts the return address there. */
static bool is_called(const struct cfi_rule *ra)
{
	return ra->kind == CFI_UNSPECIFIED || ra->kind == CFI_SAME_VALUE ||
	       ra->kind == CFI_UNDEFINED ||
	       (ra->kind == CFI_OFFSET && ra->offset < 0);
}

/* The sink is the first member. */
static int look_at(struct cfi_sink *sink, uint64_t lo, uint64_t hi,
		   const struct cfi_state *state, enum sfg_reason refused)
{
	struct looked_at *seen = (struct looked_at *)sink;

	if (!refused && is_called(&state->ra))
		seen->is_called = true;
	else
		seen->is_other = true;
	return 0;
}

/*
 * The signal mark says that the caller's address is exact. This holds for the
 * code that handlers return to, which the kernel knows. Functions that are
 * called (OCaml's assembly marks such) are converted as they are.
 */
static bool is_trampoline(const struct converter *cv, const struct cfi_fde *fde)
{
	struct looked_at seen = { .sink.emit = look_at };

	return sfg_cfi_run_fde(cv->table, fde, &seen.sink, NULL) ||
	       seen.is_other || !seen.is_called;
}

static int emit_signal(struct converter *cv)
{
	int ret = 0;

	for (; cv->piece != cv->piece_end && !ret; cv->piece++) {
		count_bytes(cv, SFG_COVERED, cv->piece->hi - cv->piece->lo);
		ret = sfg_add_signal(&cv->rows, cv->piece->lo, cv->piece->hi,
				     cv->fde_flags);
	}
	return ret;
}

static int emit_too_long(struct converter *cv)
{
	int ret = 0;

	for (; cv->piece != cv->piece_end && !ret; cv->piece++)
		ret = emit_refused(cv, cv->piece->lo, cv->piece->hi,
				   SFG_R_OFFSET);
	return ret;
}

/*
 * func_size has 32 bits. Do not join ranges of several functions here, even if
 * rows are equal: --verify and --template need each function alone, and
 * sfg_layout() joins.
 */
static int convert_code(struct converter *cv, const struct cfi_fde *fde,
			struct sfg_error *err)
{
	const struct cfi_cie *cie = &cv->table->cies[fde->cie];
	int ret;

	cv->fde_flags = cie->fde_flags;
	sfg_close_range(&cv->rows);
	if (fde->size > UINT32_MAX)
		ret = emit_too_long(cv);
	else if (cie->fde_flags & SFJIT_FUNCTION_SIGNAL &&
		 is_trampoline(cv, fde))
		ret = emit_signal(cv);
	else
		return sfg_cfi_run_fde(cv->table, fde, &cv->sink, err);
	return ret ? sfg_fail(err, fde->offset, "out of memory", ret) : 0;
}

static void count_function(struct converter *cv)
{
	if (cv->affected == 1u << SFG_COVERED)
		cv->sum->covered_functions++;
	for (; cv->affected; cv->affected &= cv->affected - 1)
		cv->sum->affected[__builtin_ctz(cv->affected)]++;
}

static const struct cfi_fde *peek(const struct converter *cv, unsigned int i)
{
	const struct cfi_table *t = &cv->tables[i];

	return cv->next[i] < t->nr_fdes ? &t->fdes[cv->next[i]] : NULL;
}

static const struct cfi_fde *take_fde(struct converter *cv, unsigned int i)
{
	cv->table = &cv->tables[i];
	cv->next[i]++;
	return &cv->table->fdes[cv->next[i] - 1];
}

/*
 * Whether .eh_frame, whose next FDE is given, omits this code of .debug_frame.
 */
static bool is_left_out(const struct converter *cv, const struct cfi_fde *fde,
			const struct cfi_fde *next)
{
	return !check_text_range(cv, fde) && fde->start >= cv->eh_frame_to &&
	       (!next || next->start - fde->start >= fde->size);
}

/* Returns the next one by address, or NULL. */
static const struct cfi_fde *next_fde(struct converter *cv)
{
	const struct cfi_fde *next = peek(cv, 0), *fde = peek(cv, 1);

	for (; fde && (!next || fde->start < next->start); fde = peek(cv, 1)) {
		take_fde(cv, 1);
		if (!is_left_out(cv, fde, next))
			continue;
		cv->sum->debug_functions++;
		cv->sum->debug_bytes += fde->size;
		return fde;
	}
	return next ? take_fde(cv, 0) : NULL;
}

/* func_size has 32 bits. */
static int add_called(struct converter *cv, uint64_t lo, uint64_t hi)
{
	struct sfjit_row row;
	uint64_t end;
	int ret = sfg_entry_row(cv->in->abi, &row);

	sfg_close_range(&cv->rows);
	cv->sum->called_bytes += hi - lo;
	for (; lo < hi && !ret; lo = end) {
		end = hi - lo > UINT32_MAX ? lo + UINT32_MAX : hi;
		ret = sfg_add_row(&cv->rows, lo, end, 0, &row);
		sfg_close_range(&cv->rows);
	}
	return ret;
}

/* Visits text in [cv->fde_end, to), which has no FDE. Call in address order. */
static int add_gaps(struct converter *cv, uint64_t to)
{
	const struct sfg_input *in = cv->in;
	const struct sfg_image *text;
	uint64_t lo, hi;
	int ret = 0;

	for (; cv->gap_text < in->nr_text && !ret; cv->gap_text++) {
		text = &in->text[cv->gap_text];
		lo = text->addr > cv->fde_end ? text->addr : cv->fde_end;
		hi = text->addr + text->len < to ? text->addr + text->len : to;
		if (lo < hi)
			ret = add_called(cv, lo, hi);
		if (text->addr + text->len > to)
			break;
	}
	return ret;
}

static int analyse(struct converter *cv, const struct sfg_image *code,
		   uint64_t lo, uint64_t hi)
{
	if (lo >= hi || !(cv->in->flags & SFG_INPUT_CODE))
		return 0;
	return sfg_add_derived(cv->in, code, lo, hi, &cv->rows,
			       &cv->sum->derived_bytes);
}

/* Go's code is between two addresses. */
static int analyse_gap(struct converter *cv, const struct sfg_image *code,
		       uint64_t lo, uint64_t hi)
{
	const struct sfg_go *go = cv->in->go;
	uint64_t from, to;
	int ret;

	if (!go || hi <= go->text || lo >= go->text_end)
		return analyse(cv, code, lo, hi);
	from = lo > go->text ? lo : go->text;
	to = hi < go->text_end ? hi : go->text_end;
	ret = analyse(cv, code, lo, from);
	if (!ret)
		ret = sfg_add_go(cv->in, code, from, to, &cv->rows, cv->sum);
	return ret ? ret : analyse(cv, code, to, hi);
}

/* The same for code. */
static int analyse_gaps(struct converter *cv, uint64_t to)
{
	const struct sfg_bare *bare = &cv->bare;
	const struct sfg_image *code;
	uint64_t lo, hi;
	int ret = 0;

	for (; cv->gap_text < bare->nr_code && !ret; cv->gap_text++) {
		code = &bare->code[cv->gap_text];
		lo = code->addr > cv->fde_end ? code->addr : cv->fde_end;
		hi = code->addr + code->len < to ? code->addr + code->len : to;
		if (lo < hi)
			ret = analyse_gap(cv, code, lo, hi);
		if (code->addr + code->len > to)
			break;
	}
	return ret;
}

/* An FDE that was misread or not read may cover any of the text. */
static bool gaps_are_known(const struct converter *cv)
{
	unsigned int i;

	for (i = 0; i < SFG_R_MAX; i++)
		if (cv->tables[0].refused_fdes[i])
			return false;
	return true;
}

static int fill_gaps(struct converter *cv, uint64_t to)
{
	if (!gaps_are_known(cv))
		return 0;
	if (cv->in->flags & SFG_INPUT_CALLED)
		return add_gaps(cv, to);
	return cv->in->flags & SFG_INPUT_CODE || cv->in->go ?
	       analyse_gaps(cv, to) : 0;
}

static int pass_gaps(struct converter *cv, const struct cfi_fde *fde)
{
	int ret = fill_gaps(cv, fde ? fde->start : UINT64_MAX);

	if (fde && fde->start + fde->size > cv->fde_end)
		cv->fde_end = fde->start + fde->size;
	/* an FDE that wraps around covers all that follows */
	if (fde && fde->start + fde->size < fde->start)
		cv->fde_end = UINT64_MAX;
	return ret;
}

static struct cfi_table *table_of(struct converter *cv,
				  const struct cfi_fde *fde)
{
	const struct cfi_table *t = &cv->tables[1];

	return &cv->tables[t->nr_fdes && fde >= t->fdes &&
			   fde < t->fdes + t->nr_fdes];
}

/* Converts the parts of the function that no other one hides. */
static int convert_function(struct converter *cv, const struct cfi_fde *fde,
			    const struct cfi_piece *pieces, size_t nr,
			    struct sfg_error *err)
{
	uint64_t bytes = 0;
	int ret = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		bytes += pieces[i].hi - pieces[i].lo;
	if (bytes != fde->size)
		count_bytes(cv, SFG_R_OVERLAP, fde->size - bytes);
	cv->sum->code_bytes += bytes;
	cv->piece = pieces;
	cv->piece_end = pieces + nr;
	cv->table = table_of(cv, fde);
	if (nr)
		ret = convert_code(cv, fde, err);
	count_function(cv);
	return ret;
}

static int compare_pieces(const void *x, const void *y)
{
	const struct cfi_piece *a = x, *b = y;

	if (a->fde != b->fde)
		return a->fde < b->fde ? -1 : 1;
	return (a->lo > b->lo) - (a->lo < b->lo);
}

static int convert_overlapping(struct converter *cv, struct sfg_error *err)
{
	struct cfi_piece *pieces;
	size_t nr, i, at = 0, n;
	int ret = sfg_cfi_pieces(cv->group, cv->nr_group, &pieces, &nr);

	if (ret)
		return sfg_fail(err, cv->group[0]->offset, "out of memory",
				ret);
	qsort(pieces, nr, sizeof(*pieces), compare_pieces);
	for (i = 0; i < cv->nr_group && !ret; i++) {
		for (n = 0; at + n < nr && pieces[at + n].fde == i; n++)
			;
		ret = convert_function(cv, cv->group[i], pieces + at, n, err);
		at += n;
	}
	free(pieces);
	return ret;
}

/* Later functions cannot overlap the group. */
static int convert_group(struct converter *cv, struct sfg_error *err)
{
	const struct cfi_fde *fde;
	struct cfi_piece whole;
	int ret = 0;

	if (cv->nr_group == 1) {
		fde = cv->group[0];
		whole = (struct cfi_piece) {
			.lo = fde->start, .hi = fde->start + fde->size,
		};
		ret = convert_function(cv, fde, &whole, 1, err);
	} else if (cv->nr_group) {
		ret = convert_overlapping(cv, err);
	}
	cv->nr_group = 0;
	return ret;
}

static int add_to_group(struct converter *cv, const struct cfi_fde *fde)
{
	uint64_t end = fde->start + fde->size;

	if (!grow_array(&cv->group, &cv->max_group, cv->nr_group,
			sizeof(*cv->group)))
		return -ENOMEM;
	cv->group[cv->nr_group++] = fde;
	if (cv->table == &cv->tables[0] && end > cv->eh_frame_to)
		cv->eh_frame_to = end;
	if (end > cv->covered_to)
		cv->covered_to = end;
	return 0;
}

/* 'fde' is the next one; it may cover no code here. */
static int pass_function(struct converter *cv, const struct cfi_fde *fde,
			 struct sfg_error *err)
{
	enum sfg_reason reason = check_text_range(cv, fde);
	int ret = 0;

	if (reason) {
		count_bytes(cv, reason, fde->size);
		count_function(cv);
		return 0;
	}
	cv->sum->bare_bytes += sfg_count_bare(&cv->bare, cv->covered_to,
					      fde->start);
	ret = add_to_group(cv, fde);
	return ret ? sfg_fail(err, fde->offset, "out of memory", ret) : 0;
}

static int convert_functions(struct converter *cv, struct sfg_error *err)
{
	struct cfi_table *table;
	const struct cfi_fde *fde;
	int ret = 0;

	do {
		fde = next_fde(cv);
		table = cv->table;
		if (!fde || fde->start >= cv->covered_to)
			ret = convert_group(cv, err);
		if (ret)
			return ret;
		ret = pass_gaps(cv, fde);
		if (ret)
			return sfg_fail(err, 0, "out of memory", ret);
		cv->table = table;
		if (fde)
			ret = pass_function(cv, fde, err);
	} while (fde && !ret);
	cv->sum->bare_bytes += sfg_count_bare(&cv->bare, cv->covered_to,
					      UINT64_MAX);
	return ret;
}

/* Only .eh_frame: functions of .debug_frame count only if they fill a hole. */
static void count_unplaced(struct converter *cv)
{
	const struct cfi_table *t = &cv->tables[0];
	unsigned int i;

	cv->sum->functions = t->nr_fdes + cv->sum->debug_functions;
	for (i = 0; i < SFG_R_MAX; i++) {
		cv->sum->affected[i] += t->refused_fdes[i];
		cv->sum->functions += t->refused_fdes[i];
	}
}

/* Ranges must be sorted and disjoint for the binary search. */
static bool is_sorted(const struct sfg_image *ranges, size_t nr)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (ranges[i].addr < end ||
		    ranges[i].addr + ranges[i].len < ranges[i].addr)
			return false;
		end = ranges[i].addr + ranges[i].len;
	}
	return true;
}

static void start_bare(struct converter *cv)
{
	const struct sfg_input *in = cv->in;

	cv->bare = (struct sfg_bare) {
		.arch = sfg_any_arch(in->abi), .in = in,
		.code = in->nr_code ? in->code : in->text,
		.nr_code = in->nr_code ? in->nr_code : in->nr_text,
	};
}

/* The .debug_frame that Go writes does not tell where the frame pointer is. */
static void drop_go(struct cfi_table *t, const struct sfg_go *go)
{
	size_t i, nr = 0;

	if (!go || !t->debug_frame)
		return;
	for (i = 0; i < t->nr_fdes; i++)
		if (t->fdes[i].start < go->text ||
		    t->fdes[i].start >= go->text_end)
			t->fdes[nr++] = t->fdes[i];
	t->nr_fdes = nr;
}

static int read_tables(struct converter *cv, bool debug_frame,
		       struct sfg_error *err)
{
	const struct sfg_input debug = {
		.abi = cv->in->abi,
		.flags = cv->in->flags | SFG_INPUT_DEBUG_FRAME,
		.cfi = cv->in->debug_frame,
	};
	int ret = sfg_cfi_read_table(&cv->tables[0], cv->in, err);

	if (!ret && debug_frame) {
		ret = sfg_cfi_read_table(&cv->tables[1], &debug, err);
		if (ret)
			sfg_cfi_free_table(&cv->tables[0]);
	}
	if (!ret) {
		drop_go(&cv->tables[0], cv->in->go);
		drop_go(&cv->tables[1], cv->in->go);
	}
	return ret;
}

/* Leaves the holes in the builder. */
static int derive_from(const struct sfg_input *in, bool debug_frame,
		       struct sfg_builder *rows, struct sfg_fdes *fdes,
		       struct sfg_summary *sum, struct sfg_error *err)
{
	struct converter cv = {
		.sink.emit = emit_stretch, .in = in, .sum = sum,
	};
	int ret;

	memset(sum, 0, sizeof(*sum));
	ret = read_tables(&cv, debug_frame, err);
	if (ret)
		return ret;
	sum->cfi_bytes = cv.tables[0].len;
	start_bare(&cv);
	ret = convert_functions(&cv, err);
	count_unplaced(&cv);
	if (!ret) {
		ret = sfg_builder_fdes(&cv.rows, fdes);
		if (ret)
			sfg_fail(err, 0, "out of memory", ret);
	}
	free(cv.group);
	*rows = cv.rows;
	if (ret)
		sfg_free_builder(rows);
	sfg_cfi_free_table(&cv.tables[0]);
	sfg_cfi_free_table(&cv.tables[1]);
	return ret;
}

/*
 * Does not fill in the summary's figures about the output. If only an input
 * with .debug_frame fails, blame .debug_frame.
 */
static int derive(const struct sfg_input *in, struct sfg_builder *rows,
		  struct sfg_fdes *fdes, struct sfg_summary *sum,
		  struct sfg_error *err)
{
	struct sfg_error debug_err;
	int ret;

	if (!is_sorted(in->text, in->nr_text) ||
	    !is_sorted(in->code, in->nr_code))
		return sfg_fail(err, 0, "text ranges are not sorted", -EINVAL);
	if (in->debug_frame.data && in->flags & SFG_INPUT_CALLED)
		return sfg_fail(err, 0, "gaps are those of one section",
				-EINVAL);
	if (!in->debug_frame.data)
		return derive_from(in, false, rows, fdes, sum, err);
	if (!derive_from(in, true, rows, fdes, sum, &debug_err))
		return 0;
	ret = derive_from(in, false, rows, fdes, sum, err);
	sum->debug_frame_error = debug_err;
	return ret;
}

int sfg_derive(const struct sfg_input *in, struct sfg_fdes *fdes,
	       struct sfg_summary *summary, struct sfg_error *err)
{
	struct sfg_builder rows;
	struct sfg_summary sum;
	int ret = derive(in, &rows, fdes, &sum, err);

	if (ret)
		return ret;
	sfg_free_builder(&rows);
	if (summary)
		*summary = sum;
	return 0;
}

static int fail_output(struct sfg_error *err, int code)
{
	return sfg_fail(err, 0, code == -E2BIG ? "section is over 4 GiB" :
			"out of memory", code);
}

static int make_output(const struct sfg_input *in, const struct sfg_fdes *fdes,
		       struct sfg_output *out, struct sfg_summary *sum,
		       struct sfg_error *err)
{
	int ret;

	if (in->flags & SFG_INPUT_PACKED) {
		sum->fdes = fdes->nr;
		return sfg_write_packed(in->abi, fdes->fdes, fdes->nr, out,
					err);
	}
	ret = sfg_pack(sfg_arch_by_abi(in->abi), fdes, in->section_addr, out,
		       sum);
	return ret ? fail_output(err, ret) : 0;
}

int sfg_convert(const struct sfg_input *in, struct sfg_output *out,
		struct sfg_summary *summary, struct sfg_error *err)
{
	struct sfg_builder rows;
	struct sfg_summary sum;
	struct sfg_fdes fdes;
	int ret;

	ret = derive(in, &rows, &fdes, &sum, err);
	if (ret)
		return ret;
	if (!sfg_abi_has_sframe(in->abi)) {
		sfg_free_builder(&rows);
		sfg_free_fdes(&fdes);
		return sfg_fail(err, 0, "SFrame has no ABI number for it",
				-ENOTSUP);
	}
	if (in->amend)
		ret = in->amend(in, &fdes);
	if (!ret)
		ret = sfg_layout(sfg_arch_by_abi(in->abi), in, rows.holes,
				 rows.nr_holes, &fdes, &sum);
	sfg_free_builder(&rows);
	ret = ret ? fail_output(err, ret) :
		    make_output(in, &fdes, out, &sum, err);
	sfg_free_fdes(&fdes);
	if (ret)
		return ret;
	if (summary)
		*summary = sum;
	return 0;
}

int sfg_list_functions(const struct sfg_input *in, struct sfg_image **list,
		       size_t *nr, struct sfg_error *err)
{
	const struct cfi_fde *fde;
	struct sfg_image *ranges;
	struct cfi_table table;
	size_t i, n = 0;
	int ret;

	ret = sfg_cfi_read_table(&table, in, err);
	if (ret)
		return ret;
	ranges = malloc((table.nr_fdes + 1) * sizeof(*ranges));
	for (i = 0; ranges && i < table.nr_fdes; i++) {
		fde = &table.fdes[i];
		if (fde->size)
			ranges[n++] = (struct sfg_image) {
				.addr = fde->start, .len = fde->size,
			};
	}
	sfg_cfi_free_table(&table);
	if (!ranges)
		return sfg_fail(err, 0, "out of memory", -ENOMEM);
	*list = ranges;
	*nr = n;
	return 0;
}
