// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * code-rows ELF [LEAST]: all of the code, as if it had neither CFI nor symbols.
 *
 * At each address that has a row by CFI, what is derived from the instructions has
 * to say the same. Both may name other registers or words, as of two that have the
 * same value: where what the CFI names is known from the instructions, it is
 * compared, and else counted as 'other'. Prints how many bytes there are, the same,
 * other, wrong, and without derived rows; and the first LEAST addresses of wrong
 * ones. Exit status 1: there are wrong ones.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "code_facts.h"
#include "commands.h"
#include "object.h"

#define SP	7
#define FP	6

/* For each byte of a section 1 + the index of what is known there, or 0. */
struct derived {
	struct code_sink sink;
	uint32_t *at;
	struct code_facts *facts;
	size_t nr, max;
};

struct totals {
	uint64_t bytes, same, other, wrong, none;
	uint64_t functions;	/* with a wrong row */
	long show;
	bool go;		/* the file has a table of Go's functions */
};

/* The sink is the first member. */
static int keep(struct code_sink *sink, uint32_t start, uint32_t end,
		const struct code_facts *facts)
{
	struct derived *d = (struct derived *)sink;

	if (d->nr == d->max) {
		d->max = d->max ? 2 * d->max : 4096;
		d->facts = realloc(d->facts, d->max * sizeof(*d->facts));
		if (!d->facts)
			return -ENOMEM;
	}
	d->facts[d->nr++] = *facts;
	for (; start < end; start++)
		d->at[start] = d->nr;
	return 0;
}

enum verdict { SAME, OTHER, WRONG };

static enum verdict judge_cfa(const struct code_facts *facts,
			      const struct sfjit_rule *cfa)
{
	if (!cfa->deref && cfa->reg < CODE_NR_REGS &&
	    facts->cfa >> cfa->reg & 1)
		return facts->off[cfa->reg] == cfa->offset ? SAME : WRONG;
	if (cfa->deref && facts->slot_base == cfa->reg &&
	    facts->slot_at == cfa->offset)
		return facts->slot_add == cfa->addend ? SAME : WRONG;
	return OTHER;
}

/* CFI may name a word that was popped, as long as nothing overwrites it. */
static bool is_popped(const struct code_facts *facts, int32_t at)
{
	return facts->cfa >> SP & 1 && at < -facts->off[SP];
}

static bool fp_is_same(const struct code_facts *facts,
		       const struct sfjit_rule *fp)
{
	if (fp->base == SFJIT_BASE_NONE)
		return facts->fp >> FP & 1;
	if (fp->base != SFJIT_BASE_CFA)
		return true;
	return facts->fp_at == fp->offset ||
	       (!facts->fp_at && is_popped(facts, fp->offset));
}

static enum verdict judge(const struct code_facts *facts,
			  const struct sfjit_row *row, bool go)
{
	enum verdict cfa = judge_cfa(facts, &row->cfa);

	/* Go's runtime calls it the end; the instructions go on. */
	if (row->flags & SFJIT_ROW_OUTERMOST)
		return go ? OTHER : WRONG;
	if (cfa != SAME || fp_is_same(facts, &row->fp))
		return cfa;
	/* It was loaded from where it is saved. */
	return go && !facts->fp_at && facts->fp >> FP & 1 ? OTHER : WRONG;
}

static void show(const struct derived *d, const struct sfjit_row *cfi,
		 uint64_t addr, uint32_t known)
{
	char theirs[ROW_TEXT_MAX], ours[ROW_TEXT_MAX] = "nothing";
	struct sfjit_row row;

	format_row(SFRAME_ABI_AMD64_LE, cfi, theirs);
	if (sfg_facts_row(&d->facts[known - 1], &sfg_code_x86, &row))
		format_row(SFRAME_ABI_AMD64_LE, &row, ours);
	printf("0x%" PRIx64 ": CFI: %s; derived: %s\n", addr, theirs, ours);
}

static bool judge_byte(struct totals *t, const struct derived *d,
		       const struct sfjit_row *row, uint64_t addr,
		       uint32_t known)
{
	struct sfjit_row derived;
	enum verdict verdict;

	t->bytes++;
	if (!known || !sfg_facts_row(&d->facts[known - 1], &sfg_code_x86,
				     &derived)) {
		t->none++;
		return true;
	}
	verdict = judge(&d->facts[known - 1], row, t->go);
	t->same += verdict == SAME;
	t->other += verdict == OTHER;
	t->wrong += verdict == WRONG;
	if (verdict == WRONG && t->show-- > 0)
		show(d, row, addr, known);
	return verdict != WRONG;
}

static void judge_function(struct totals *t, const struct derived *d,
			   const struct sfjit_function *f, uint64_t base)
{
	const struct sfjit_row *row = f->rows;
	bool good = true;
	uint32_t i;

	for (i = 0; i < f->size; i++) {
		while (row + 1 < f->rows + f->nr_rows && row[1].start <= i)
			row++;
		good &= judge_byte(t, d, row, f->addr + i,
				   d->at[f->addr + i - base]);
	}
	t->functions += !good;
}

static uint8_t *read_section(const struct sfg_input *in,
			     const struct sfg_image *code)
{
	uint8_t *text = malloc(code->len);
	size_t at, n;
	const void *p;

	for (at = 0; text && at < code->len; at += n) {
		n = code->len - at < SFG_READ_MAX ? code->len - at :
						    SFG_READ_MAX;
		p = in->read_text(in->read_arg, code->addr + at, n);
		if (p)
			memcpy(text + at, p, n);
	}
	return text;
}

static int judge_section(struct totals *t, const struct sfg_input *in,
			 const struct sfg_image *code,
			 const struct sfg_fdes *fdes)
{
	struct derived d = {
		.sink.insn = keep, .at = calloc(code->len, sizeof(*d.at)),
	};
	uint8_t *text = read_section(in, code);
	const struct code_text all = {
		.text = text, .size = code->len, .addr = code->addr,
		.no_return = in->no_return, .nr_no_return = in->nr_no_return,
		.in = in,
	};
	const struct sfjit_function *f = fdes->fdes;
	int ret = d.at && text ? 0 : -ENOMEM;

	if (!ret)
		ret = sfg_code_follow(&sfg_code_x86, &all, &d.sink);
	for (; !ret && f < fdes->fdes + fdes->nr; f++)
		if (f->addr >= code->addr && f->nr_rows && !f->repeat &&
		    f->addr - code->addr + f->size <= code->len)
			judge_function(t, &d, f, code->addr);
	free(d.at);
	free(d.facts);
	free(text);
	return ret;
}

static int judge_file(struct totals *t, struct object *f)
{
	struct sfg_input in = object_input(f);
	struct sfg_summary sum;
	struct sfg_fdes fdes;
	struct sfg_error err;
	size_t i;
	int ret;

	in.flags |= SFG_INPUT_ADDENDS;
	ret = sfg_derive(&in, &fdes, &sum, &err);
	if (ret)
		return ret;
	for (i = 0; i < in.nr_code && !ret; i++)
		ret = judge_section(t, &in, &in.code[i], &fdes);
	sfg_free_fdes(&fdes);
	return ret;
}

int main(int argc, char **argv)
{
	struct totals t = { .show = argc > 2 ? atol(argv[2]) : 3 };
	struct object f;
	int ret;

	if (argc < 2)
		return 2;
	ret = object_open(&f, argv[1]);
	if (!ret)
		ret = object_read_go(&f);
	if (!ret)
		ret = object_read_cfi(&f);
	if (!ret)
		ret = object_read_entries(&f);
	t.go = f.has_go;
	if (!ret)
		ret = judge_file(&t, &f);
	object_close(&f);
	printf("%" PRIu64 " bytes with CFI, %" PRIu64 " the same, %" PRIu64
	       " other, %" PRIu64 " without, %" PRIu64 " wrong in %" PRIu64
	       " functions\n", t.bytes, t.same, t.other, t.none, t.wrong,
	       t.functions);
	return ret ? 2 : t.wrong != 0;
}
