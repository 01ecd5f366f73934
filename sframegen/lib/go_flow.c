// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdlib.h>

#include "go_flow.h"

#define WORD		8

/* Facts that still change then are not used. */
#define PASSES_MOST	8

#define NO_INSN		UINT32_MAX

/* A number that is not known is no clone(), which the runtime calls by itself. */
static bool loses_stack(const struct code_machine *m,
			const struct code_insn *insn, int64_t *number)
{
	bool loses = insn->calls_system && *number >= 0 &&
		     !m->keeps_stack(*number);

	sfg_code_number(m, insn, number);
	return loses;
}

/* ---- Against the table -------------------------------------------------- */

/* How far up it moves the stack pointer; false: that is not known. */
static bool moves_sp(const struct code_insn *insn, int sp, int64_t *by)
{
	const struct code_op *op;

	*by = 0;
	for (op = insn->ops; op < insn->ops + insn->nr_ops; op++) {
		if (op->kind == CODE_LOSE || op->mask >> sp & 1 ||
		    (op->dst == sp && op->kind == CODE_LOAD) ||
		    (op->dst == sp && op->kind == CODE_SET && op->src != sp))
			return false;
		if (op->dst == sp && op->kind == CODE_SET)
			*by += op->imm;
	}
	return true;
}

/*
 * Whether what is next in memory surely follows. Go puts a nop after a call that
 * does not return, so that the return address is in the function.
 */
static bool surely_goes_on(const struct code_insn *insn, bool before)
{
	if (insn->pads)
		return before;
	return insn->next == CODE_FALLS || insn->next == CODE_JUMPS_IF;
}

struct go_scan sfg_go_scan(const struct go_text *text, const struct sfg_go *go,
			   const struct go_function *f)
{
	struct go_deltas deltas = { .go = go, .f = f };
	struct go_scan scan = { .deltas_hold = true };
	struct go_delta d = { 0, f->start, 0 };
	struct code_insn insn;
	int64_t number = -1, by = 0, depth = 0;
	bool follows = true;
	uint32_t at = 0;

	while (at < text->size) {
		if (f->start + at >= d.hi && !sfg_go_next_delta(&deltas, &d))
			break;
		/* A change is between two instructions. */
		if (!text->m->decode(text->text, text->size, at, &insn) ||
		    f->start + at >= d.hi || (follows && d.delta != depth)) {
			scan.deltas_hold = false;
			scan.changes_fp = true;
			break;
		}
		if (!moves_sp(&insn, text->m->sp, &by) ||
		    loses_stack(text->m, &insn, &number))
			scan.deltas_hold = false;
		scan.changes_fp |= sfg_code_changes(&insn, text->m->fp);
		depth = d.delta - by;
		follows = surely_goes_on(&insn, follows);
		at += insn.length;
	}
	return scan;
}

/* ---- Flow --------------------------------------------------------------- */

struct step {
	uint32_t at;
	struct code_insn insn;
	struct code_facts in;
};

struct flow {
	const struct go_text *text;
	struct step *steps;
	uint32_t nr;
	uint32_t *step_at;	/* of each byte; NO_INSN: none begins there */
	bool again;		/* facts have changed that were used before */
};

static uint32_t count_insns(const struct go_text *text)
{
	struct code_insn insn;
	uint32_t at, nr = 0;

	for (at = 0; at < text->size; at += insn.length, nr++)
		if (!text->m->decode(text->text, text->size, at, &insn))
			break;
	return nr;
}

static int read_insns(struct flow *f)
{
	const struct go_text *t = f->text;
	uint32_t at = 0, i;

	f->nr = count_insns(t);
	f->steps = calloc((size_t)f->nr + 1, sizeof(*f->steps));
	f->step_at = malloc((size_t)t->size * sizeof(*f->step_at));
	if (!f->steps || !f->step_at)
		return -ENOMEM;
	memset(f->step_at, 0xff, (size_t)t->size * sizeof(*f->step_at));
	for (i = 0; i < f->nr; i++) {
		f->steps[i].at = at;
		f->steps[i].in.slot_base = CODE_NO_REG;
		f->step_at[at] = i;
		t->m->decode(t->text, t->size, at, &f->steps[i].insn);
		at += f->steps[i].insn.length;
	}
	return 0;
}

/* The runtime looks at return addresses; they stay where they are. */
static void allow_reads(struct code_insn *insn, const struct code_facts *facts)
{
	struct code_op *op;
	int64_t at;

	for (op = insn->ops; op < insn->ops + insn->nr_ops; op++) {
		if (op->kind != CODE_LOAD || op->src < 0 ||
		    !(facts->cfa >> op->src & 1))
			continue;
		at = (int64_t)op->imm - facts->off[op->src];
		if (at > -2 * WORD && at < 0)
			*op = (struct code_op) {
				.kind = CODE_CLOBBER, .dst = CODE_NO_REG,
				.src = CODE_NO_REG, .mask = 1u << op->dst,
			};
	}
}

/* Go's functions preserve the frame pointer, and no other register. */
static void pass_call(const struct code_machine *m, struct code_facts *facts)
{
	const uint32_t kept = 1u << m->sp | 1u << m->fp;

	facts->cfa &= kept;
	facts->fp &= kept;
}

static void execute(const struct flow *f, const struct step *step,
		    struct code_facts *facts, int64_t *number)
{
	const struct code_machine *m = f->text->m;
	struct code_insn insn = step->insn;

	if (loses_stack(m, &insn, number)) {
		facts->dead = true;
		facts->cfa = facts->fp = 0;
		return;
	}
	allow_reads(&insn, facts);
	sfg_facts_forward(facts, m, &insn);
	if (insn.next == CODE_CALLS)
		pass_call(m, facts);
}

static void lead_to(struct flow *f, uint32_t from, uint32_t to,
		    const struct code_facts *facts)
{
	if (to < f->nr &&
	    sfg_facts_meet(&f->steps[to].in, facts, f->text->m) && to <= from)
		f->again = true;
}

static void jump(struct flow *f, uint32_t from, const struct code_facts *facts)
{
	const struct code_insn *insn = &f->steps[from].insn;

	if (insn->to >= 0 && insn->next != CODE_CALLS &&
	    insn->to < f->text->size)
		lead_to(f, from, f->step_at[insn->to], facts);
}

static void pass(struct flow *f)
{
	struct code_facts facts;
	int64_t number = -1;
	uint32_t i;

	f->again = false;
	for (i = 0; i < f->nr; i++) {
		if (f->steps[i].in.level == CODE_OPEN)
			continue;
		facts = f->steps[i].in;
		execute(f, &f->steps[i], &facts, &number);
		jump(f, i, &facts);
		if (sfg_code_goes_on(&f->steps[i].insn))
			lead_to(f, i, i + 1, &facts);
	}
}

static int settle(struct flow *f, struct go_flow_sink *sink)
{
	const struct code_machine *m = f->text->m;
	unsigned int passes = 0;
	uint32_t i;
	int ret = 0;

	sfg_facts_at_entry(&f->steps[0].in, m);
	do
		pass(f);
	while (f->again && ++passes < PASSES_MOST);
	for (i = 0; i < f->nr && !f->again && !ret; i++)
		if (f->steps[i].in.level != CODE_OPEN && !f->steps[i].in.dead)
			ret = sink->insn(sink, f->steps[i].at,
					 f->steps[i].at +
					 f->steps[i].insn.length,
					 &f->steps[i].in);
	return ret;
}

int sfg_go_flow(const struct go_text *text, struct go_flow_sink *sink)
{
	struct flow f = { .text = text };
	int ret = read_insns(&f);

	if (!ret && f.nr)
		ret = settle(&f, sink);
	free(f.steps);
	free(f.step_at);
	return ret;
}
