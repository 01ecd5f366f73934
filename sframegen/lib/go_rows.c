// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Rows of Go's functions on x86-64.
 *
 * The table has the depth of the stack at each address. The frame pointer is not in
 * it. Go's assembler saves it right below the return address, either by push as the
 * first change of the stack pointer (from Go 1.21 on), or by mov right after that
 * (from Go 1.7 on). A compiled function that does neither leaves it alone.
 *
 * Assembly may do anything with both. Its instructions are compared with the table,
 * and where it changes stacks they alone tell the rows.
 */
#include <stdlib.h>

#include "go.h"
#include "go_flow.h"

#define WORD		8
#define SAVED_AT	(-2 * WORD)	/* from the CFA */

/* Of one function that is decoded; and of one in which facts flow. */
#define LONGEST		(4U << 20)
#define LONGEST_FLOW	(256U << 10)

/* A stack is never as deep: rows have signed 32 bits. */
#define DEEPEST		(1 << 30)

enum kind {
	PLAIN,
	OUTERMOST,	/* where stacks begin */
	RETURNS_FROM_SIGNAL,
	INJECTED,	/* a handler makes it called by what it interrupted */
	LEAVES_STACK,	/* changes stacks, and never comes back */
};

/*
 * Functions of the runtime that stacks need, by name: the numbers that records have
 * for them change from version to version.
 */
static const struct {
	const char *name;
	uint8_t kind;
} special[] = {
	{ "_rt0_amd64", OUTERMOST },
	{ "_rt0_amd64_linux", OUTERMOST },
	{ "runtime.rt0_go", OUTERMOST },
	{ "runtime.mstart", OUTERMOST },
	{ "runtime.goexit", OUTERMOST },
	{ "runtime.sigreturn", RETURNS_FROM_SIGNAL },
	{ "runtime.sigreturn__sigaction", RETURNS_FROM_SIGNAL },
	{ "runtime.asyncPreempt", INJECTED },
	{ "runtime.debugCallV1", INJECTED },
	{ "runtime.debugCallV2", INJECTED },
	{ "runtime.sigpanic", INJECTED },
	{ "runtime.sigpanic0", INJECTED },
	{ "runtime.mcall", LEAVES_STACK },
	{ "runtime.morestack", LEAVES_STACK },
};

/* The library has no function of the C library but for memory. */
static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static enum kind kind_of(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(special); i++)
		if (is_same(name, special[i].name))
			return special[i].kind;
	return PLAIN;
}

struct go_rows {
	const struct sfg_go *go;
	const struct go_function *f;
	const struct go_code *code;
	struct go_sink *sink;
	bool exact;
	/* Where the caller's frame pointer has been saved; 0: nowhere. */
	uint64_t saved_from;
};

static struct go_deltas deltas_of(const struct go_rows *r)
{
	return (struct go_deltas) { .go = r->go, .f = r->f };
}

static int add_go_range(const struct go_rows *r, uint64_t lo, uint64_t hi,
			const struct sfjit_row *row)
{
	return lo < hi ? r->sink->row(r->sink, lo, hi, r->exact, row) : 0;
}

/* False: no row can say it. */
static bool row_of(int32_t delta, bool saved, struct sfjit_row *row)
{
	if (delta < 0 || delta >= DEEPEST || delta % WORD)
		return false;
	*row = (struct sfjit_row) {
		.cfa = SFJIT_REG(SFJIT_X86_64_SP, delta + WORD),
	};
	if (saved)
		row->fp = sfjit_rule_saved(SAVED_AT);
	return true;
}

/* ---- Compiled functions ------------------------------------------------- */

static bool begins_with(const uint8_t *p, size_t len, const void *bytes,
			size_t nr)
{
	return len >= nr && !memcmp(p, bytes, nr);
}

/* mov %rbp,disp(%rsp): its length, or 0. */
static size_t stores_fp(const uint8_t *p, size_t len, int32_t disp)
{
	const uint8_t far[] = { 0x48, 0x89, 0xac, 0x24, disp, disp >> 8,
				disp >> 16, disp >> 24 };
	const uint8_t near[] = { 0x48, 0x89, 0x6c, 0x24, disp };
	const uint8_t here[] = { 0x48, 0x89, 0x2c, 0x24 };

	if (!disp && begins_with(p, len, here, sizeof(here)))
		return sizeof(here);
	if (disp == (int8_t)disp && begins_with(p, len, near, sizeof(near)))
		return sizeof(near);
	return begins_with(p, len, far, sizeof(far)) ? sizeof(far) : 0;
}

#define PUSH_FP		0x55
#define LONGEST_STORE	8

/* At the first address where the stack is deeper than at the entry. */
static uint64_t save_at(const struct go_rows *r, const struct go_delta *d)
{
	uint64_t end = r->f->end, from = d->lo - 1;
	size_t len = end - from < 1 + LONGEST_STORE ? end - from :
						      1 + LONGEST_STORE;
	const uint8_t *p = r->code->read(r->code, from, len);
	size_t n;

	if (!p)
		return 0;
	if (d->delta == WORD && *p == PUSH_FP)
		return d->lo;
	n = stores_fp(p + 1, len - 1, d->delta - WORD);
	return n ? d->lo + n : 0;
}

/* False: the function makes a frame, and does not save the frame pointer there. */
static bool find_save(struct go_rows *r)
{
	struct go_deltas deltas = deltas_of(r);
	struct go_delta d;

	r->saved_from = 0;
	while (sfg_go_next_delta(&deltas, &d)) {
		if (!d.delta)
			continue;
		if (d.delta > 0 && d.lo > r->f->start)
			r->saved_from = save_at(r, &d);
		return r->saved_from;
	}
	return true;
}

static int add_delta(const struct go_rows *r, const struct go_delta *d)
{
	bool saves = d->delta && r->saved_from;
	uint64_t saved = d->lo;
	struct sfjit_row row;
	int ret;

	if (saves && r->saved_from > d->lo)
		saved = r->saved_from < d->hi ? r->saved_from : d->hi;
	if (!row_of(d->delta, false, &row))
		return 0;
	if (!saves)
		return add_go_range(r, d->lo, d->hi, &row);
	ret = add_go_range(r, d->lo, saved, &row);
	row_of(d->delta, true, &row);
	return ret ? ret : add_go_range(r, saved, d->hi, &row);
}

static int add_deltas(const struct go_rows *r)
{
	struct go_deltas deltas = deltas_of(r);
	struct go_delta d;
	int ret = 0;

	while (!ret && sfg_go_next_delta(&deltas, &d))
		ret = add_delta(r, &d);
	return ret;
}

/* ---- Assembly ----------------------------------------------------------- */

static uint32_t size_of(const struct go_rows *r)
{
	uint64_t size = r->f->end - r->f->start;

	return size < LONGEST ? size : 0;
}

static uint8_t *read_function(const struct go_rows *r, uint32_t size)
{
	uint8_t *text = malloc(size);
	const uint8_t *p;
	uint32_t at, n;

	for (at = 0; text && at < size; at += n) {
		n = size - at < SFG_READ_MAX ? size - at : SFG_READ_MAX;
		p = r->code->read(r->code, r->f->start + at, n);
		if (p)
			memcpy(text + at, p, n);
		else
			memset(text + at, 0, n);
	}
	return text;
}

struct flow_rows {
	struct go_flow_sink sink;
	const struct go_rows *r;
	enum kind kind;
	bool deltas_hold;
	struct go_deltas deltas;
	struct go_delta d;	/* at the last address */
};

static bool delta_at(struct flow_rows *flow, uint64_t addr)
{
	while (addr >= flow->d.hi)
		if (!sfg_go_next_delta(&flow->deltas, &flow->d))
			return false;
	return addr >= flow->d.lo;
}

/* Where both know the stack pointer, they agree. */
static bool agree(struct flow_rows *flow, uint64_t addr,
		  const struct code_facts *facts)
{
	return !flow->deltas_hold || !(facts->cfa >> SFJIT_X86_64_SP & 1) ||
	       !delta_at(flow, addr) ||
	       facts->off[SFJIT_X86_64_SP] == (int64_t)flow->d.delta + WORD;
}

static bool flow_row(struct flow_rows *flow, uint64_t addr,
		     const struct code_facts *facts, struct sfjit_row *row)
{
	const struct code_machine *m = sfg_code_machine(flow->r->go->abi);

	if (flow->kind == LEAVES_STACK && !(facts->cfa >> m->sp & 1)) {
		*row = (struct sfjit_row) { .flags = SFJIT_ROW_OUTERMOST };
		return true;
	}
	return agree(flow, addr, facts) && sfg_facts_row(facts, m, row) &&
	       sfg_row_fits(sfg_any_arch(flow->r->go->abi), row) &&
	       (!row->cfa.addend ||
		flow->r->code->in->flags & SFG_INPUT_ADDENDS);
}

/* The sink is the first member. */
static int add_insn(struct go_flow_sink *sink, uint32_t start, uint32_t end,
		    const struct code_facts *facts)
{
	struct flow_rows *flow = (struct flow_rows *)sink;
	const struct go_rows *r = flow->r;
	uint64_t addr = r->f->start + start;
	struct sfjit_row row;

	return flow_row(flow, addr, facts, &row) ?
	       add_go_range(r, addr, r->f->start + end, &row) : 0;
}

static int add_flow(const struct go_rows *r, const struct go_text *text,
		    enum kind kind, bool deltas_hold)
{
	struct flow_rows flow = {
		.sink.insn = add_insn, .r = r, .kind = kind,
		.deltas_hold = deltas_hold, .deltas = deltas_of(r),
	};

	return text->size < LONGEST_FLOW ? sfg_go_flow(text, &flow.sink) : 0;
}

/*
 * Around assembly with a frame, Go's assembler saves the frame pointer and
 * restores it before each return, as its compiler does. Go before 1.21 saves it
 * by mov. A push may be the author's own.
 */
static bool is_saved_by_mov(const struct go_rows *r)
{
	struct go_deltas deltas = deltas_of(r);
	struct go_delta d;

	while (r->saved_from && sfg_go_next_delta(&deltas, &d))
		if (d.delta)
			return r->saved_from > d.lo;
	return false;
}

static int assembly_rows(struct go_rows *r, enum kind kind)
{
	struct go_text text = { .size = size_of(r) };
	struct go_scan scan;
	uint8_t *bytes;
	int ret;

	bytes = text.size ? read_function(r, text.size) : NULL;
	if (!bytes)
		return text.size ? -ENOMEM : 0;
	text.text = bytes;
	text.m = sfg_code_machine(r->go->abi);
	scan = sfg_go_scan(&text, r->go, r->f);
	r->saved_from = 0;
	if (scan.changes_fp)
		find_save(r);
	if (kind != LEAVES_STACK && scan.deltas_hold &&
	    (!scan.changes_fp || is_saved_by_mov(r)))
		ret = add_deltas(r);
	else
		ret = add_flow(r, &text, kind, scan.deltas_hold);
	free(bytes);
	return ret;
}

/* ---- The runtime's own -------------------------------------------------- */

/* mov $15,%rax, or %eax; syscall */
static int signal_row(const struct go_rows *r)
{
	static const uint8_t wide[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5 };
	static const uint8_t narrow[] = { 0xb8, 15, 0, 0, 0, 0x0f, 5 };
	size_t len = size_of(r) < sizeof(wide) ? size_of(r) : sizeof(wide);
	const uint8_t *p = r->code->read(r->code, r->f->start, len);

	if (!p || (!begins_with(p, len, wide, sizeof(wide)) &&
		   !begins_with(p, len, narrow, sizeof(narrow))))
		return 0;
	return add_go_range(r, r->f->start, r->f->end, NULL);
}

int sfg_go_rows(const struct sfg_go *go, const struct go_function *f,
		const struct go_code *code, struct go_sink *sink)
{
	enum kind kind = kind_of(f->name);
	struct go_rows r = {
		.go = go, .f = f, .code = code, .sink = sink,
		.exact = kind == INJECTED,
	};

	if (kind == OUTERMOST)
		return add_go_range(&r, f->start, f->end, &(struct sfjit_row) {
			.flags = SFJIT_ROW_OUTERMOST });
	if (kind == RETURNS_FROM_SIGNAL)
		return signal_row(&r);
	if (f->is_compiled && !f->writes_sp && find_save(&r))
		return add_deltas(&r);
	return assembly_rows(&r, kind);
}
