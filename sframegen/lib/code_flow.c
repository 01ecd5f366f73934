// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Splits code into blocks of instructions, and propagates facts along jumps.
 *
 * Instructions are decoded in address order, from each address that a jump, a
 * call or the caller names. After data, decoding may start in the middle of an
 * instruction; a processor never executes what we find there up to the first
 * instruction that both readings share.
 *
 * Facts of a block change a bounded number of times: each is lost once and gets
 * stronger once, so time is linear in the text. A block has a bounded number of
 * instructions, which bounds memory.
 */
#include <stdlib.h>

#include "code_facts.h"

#define MAX_INSNS	1024	/* of a block */
#define NONE		UINT32_MAX

enum {
	IS_INSN = 1, IS_LEADER = 2, IS_ENTRY = 4, IS_PADDING = 8,
	ENDS_PADDING = 16,
};

struct block {
	uint32_t start, end;
	uint32_t fall, jump;	/* blocks, or NONE */
	uint32_t callee;	/* of a call within this code */
	uint32_t first_pred, nr_preds;
	uint8_t next;		/* of the last instruction */
	bool tail;		/* leads to another function */
	bool queued;
	bool open;		/* not all successors are known */
	struct code_facts in, out;
};

struct flow {
	const struct code_machine *m;
	const struct code_text *code;
	uint32_t size;
	uint8_t *marks;		/* IS_*, of each byte */
	struct block *blocks;
	uint32_t nr;
	uint32_t *preds;
	uint32_t *todo;
	uint32_t nr_todo;
	struct code_insn *insns;	/* of one block */
	struct code_facts *backs;
	uint32_t *at;
	struct code_sink *sink;
	uint32_t seen;		/* instructions before this were visited */
};

/* ---- Instructions ------------------------------------------------------ */

static bool decode_at(const struct flow *f, uint32_t at, struct code_insn *insn)
{
	return f->m->decode(f->code->text, f->size, at, insn);
}

static void mark_target(struct flow *f, const struct code_insn *insn)
{
	if (insn->to < 0)
		return;
	f->marks[insn->to] |= IS_LEADER;
	if (insn->next == CODE_CALLS)
		f->marks[insn->to] |= IS_ENTRY;
}

/* Padding is executed only if a jump leads there. */
static uint32_t skip_padding(const struct flow *f, uint32_t at)
{
	struct code_insn insn;

	while (at < f->size && !(f->marks[at] & IS_LEADER) &&
	       decode_at(f, at, &insn) && insn.pads) {
		at += insn.length;
		f->marks[at - 1] |= ENDS_PADDING;
	}
	return at < f->size ? at : f->size;
}

/* Padding after a call that does not return is never executed either. */
static void mark_padding(struct flow *f, uint32_t at)
{
	struct code_insn insn;

	while (at < f->size && decode_at(f, at, &insn) && insn.pads) {
		f->marks[at] |= IS_PADDING;
		at += insn.length;
		f->marks[at - 1] |= ENDS_PADDING;
	}
}

/* Zeros fill gaps between sections. */
static uint32_t skip_data(const struct flow *f, uint32_t at)
{
	size_t zeros = sfg_leading_zeros(f->code->text + at, f->size - at);

	return at + (zeros ? zeros : 1);
}

/* Decodes from 'at' up to a non-instruction or decoded code. */
static uint32_t sweep_code(struct flow *f, uint32_t at)
{
	struct code_insn insn;

	if (at < f->size)
		f->marks[at] |= IS_LEADER;
	while (at < f->size && !(f->marks[at] & IS_INSN)) {
		if (!decode_at(f, at, &insn))
			return skip_data(f, at);
		f->marks[at] |= IS_INSN;
		mark_target(f, &insn);
		at += insn.length;
		if (insn.next != CODE_FALLS && !sfg_code_goes_on(&insn))
			at = skip_padding(f, at);
		else if (insn.next == CODE_CALLS)
			mark_padding(f, at);
		if (at < f->size && insn.next != CODE_FALLS)
			f->marks[at] |= IS_LEADER;
	}
	return at;
}

/*
 * Decodes in address order, then from targets that were passed over: if a jump
 * leads into the middle of code, it has two readings.
 */
static void find_insns(struct flow *f)
{
	uint32_t at = 0, i;

	while (at < f->size)
		at = sweep_code(f, skip_padding(f, at));
	for (i = 0; i < f->size; i++)
		if ((f->marks[i] & (IS_LEADER | IS_INSN)) == IS_LEADER)
			sweep_code(f, i);
}

/* ---- Blocks ------------------------------------------------------------ */

static uint32_t find_flow_block(const struct flow *f, int64_t at)
{
	uint32_t lo = 0, hi = f->nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->blocks[mid].start < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->nr && f->blocks[lo].start == at ? lo : NONE;
}

/* If the number of a system call is unknown, so is the stack. */
static void mind_system(const struct flow *f, struct code_insn *insn,
			int64_t *number)
{
	if (insn->calls_system && !f->m->keeps_stack(*number)) {
		insn->nr_ops = 1;
		insn->ops[0] = (struct code_op) { .kind = CODE_LOSE };
	}
	sfg_code_number(f->m, insn, number);
}

/* Decodes up to the next leader; returns the number of instructions. */
static unsigned int read_block(struct flow *f, uint32_t start, uint32_t *end)
{
	int64_t number = -1;
	unsigned int n = 0;
	uint32_t at = start;

	do {
		if (!decode_at(f, at, &f->insns[n]))
			break;
		mind_system(f, &f->insns[n], &number);
		f->at[n] = at;
		at += f->insns[n++].length;
	} while (sfg_code_goes_on(&f->insns[n - 1]) && n < MAX_INSNS &&
		 at < f->size && !(f->marks[at] & IS_LEADER));
	*end = at;
	return n;
}

/* If a block is full, another begins. */
static int count_blocks(struct flow *f)
{
	uint32_t at, end;

	for (at = 0; at < f->size; at++) {
		if ((f->marks[at] & (IS_LEADER | IS_INSN)) !=
		    (IS_LEADER | IS_INSN))
			continue;
		f->nr++;
		if (read_block(f, at, &end) == MAX_INSNS && end < f->size &&
		    f->marks[end] & IS_INSN)
			f->marks[end] |= IS_LEADER;
	}
	f->blocks = calloc((size_t)f->nr + 1, sizeof(*f->blocks));
	return f->blocks ? 0 : -ENOMEM;
}

static void make_blocks(struct flow *f)
{
	struct block *b = f->blocks;
	uint32_t at;

	for (at = 0; at < f->size; at++)
		if ((f->marks[at] & (IS_LEADER | IS_INSN)) ==
		    (IS_LEADER | IS_INSN))
			b++->start = at;
}

static bool is_entry(const struct flow *f, int64_t at)
{
	return f->marks[at] & IS_ENTRY;
}

size_t sfg_find_address(const uint64_t *list, size_t nr, uint64_t value)
{
	size_t lo = 0, hi = nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (list[mid] < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool is_in(const uint64_t *list, size_t nr, uint64_t value)
{
	size_t at = sfg_find_address(list, nr, value);

	return at < nr && list[at] == value;
}

#define LINK_SIZE	16	/* of an entry of a linkage table */

/*
 * Returns the word with the target of a linkage table entry, or 0. @at and the
 * result are offsets into @text.
 */
static int64_t word_of_link(const struct flow *f, const uint8_t *text,
			    uint32_t size, int64_t at)
{
	struct code_insn insn;

	while (at >= 0 && at < size && f->m->decode(text, size, at, &insn)) {
		if (insn.next == CODE_TAIL)
			return insn.word;
		if (!insn.pads && !insn.lands)
			break;
		at += insn.length;
	}
	return 0;
}

static const uint8_t *read_link(const struct code_text *code, int64_t at)
{
	const struct sfg_input *in = code->in;
	const uint64_t addr = code->addr + at;
	const struct sfg_image *text =
		in ? sfg_range_of(in->text, in->nr_text, addr, LINK_SIZE) :
		     NULL;

	return text ? sfg_text_at(in, text, addr, LINK_SIZE) : NULL;
}

/* The same for a call; linkers put the table into its own section. */
static int64_t word_of_call(const struct flow *f, const struct code_insn *insn)
{
	const uint8_t *entry;
	int64_t word;

	if (insn->word || !insn->far)
		return insn->word ? insn->word :
		       word_of_link(f, f->code->text, f->size, insn->to);
	entry = read_link(f->code, insn->far);
	word = entry ? word_of_link(f, entry, LINK_SIZE, 0) : 0;
	return word ? word + insn->far : 0;
}

/*
 * Exception landing pads and function starts. Functions that return twice also
 * land after their call.
 */
static bool is_landing(const struct flow *f, uint32_t at)
{
	struct code_insn insn;

	while (at < f->size && decode_at(f, at, &insn) && insn.pads)
		at += insn.length;
	return at < f->size && decode_at(f, at, &insn) && insn.lands;
}

/*
 * A call within this code returns if its callee does. Another one may not
 * return; if it is known not to, the block ends the path.
 */
static void link_call(struct flow *f, struct block *b,
		      const struct code_insn *insn)
{
	int64_t word = word_of_call(f, insn);

	if (is_landing(f, b->end))
		b->next = CODE_STOPS;
	else if (word && is_in(f->code->no_return, f->code->nr_no_return,
			       f->code->addr + word))
		b->next = CODE_STOPS;
	else if (!word && insn->to >= 0)
		b->callee = find_flow_block(f, insn->to);
}

/* A jump to a function leaves this one; so does falling into one. */
static void link_block(struct flow *f, struct block *b)
{
	unsigned int n = read_block(f, b->start, &b->end);
	const struct code_insn *last = n ? &f->insns[n - 1] : NULL;

	b->fall = b->jump = b->callee = NONE;
	b->next = n ? last->next : CODE_STOPS;
	b->in.slot_base = b->out.slot_base = CODE_NO_REG;
	if (!n)
		return;
	b->tail = b->next == CODE_TAIL ||
		  ((b->next == CODE_JUMPS || b->next == CODE_JUMPS_IF) &&
		   (last->to < 0 || is_entry(f, last->to)));
	if (b->next != CODE_CALLS && last->to >= 0 && !is_entry(f, last->to))
		b->jump = find_flow_block(f, last->to);
	if (b->next == CODE_CALLS)
		link_call(f, b, last);
	if (!sfg_code_goes_on(last) || b->end >= f->size ||
	    b->next == CODE_STOPS)
		return;
	if (!is_entry(f, b->end))
		b->fall = find_flow_block(f, b->end);
	else
		b->tail |= b->next != CODE_CALLS;
}

static void add_pred(struct flow *f, uint32_t to, uint32_t from)
{
	struct block *b = to == NONE ? NULL : &f->blocks[to];

	if (b)
		f->preds[b->first_pred + b->nr_preds++] = from;
}

static int link_blocks(struct flow *f)
{
	uint32_t i, nr = 0;

	f->preds = malloc((3 * (size_t)f->nr + 1) * sizeof(*f->preds));
	f->todo = malloc(((size_t)f->nr + 1) * sizeof(*f->todo));
	if (!f->preds || !f->todo)
		return -ENOMEM;
	for (i = 0; i < f->nr; i++) {
		link_block(f, &f->blocks[i]);
		if (f->blocks[i].fall != NONE)
			f->blocks[f->blocks[i].fall].nr_preds++;
		if (f->blocks[i].jump != NONE)
			f->blocks[f->blocks[i].jump].nr_preds++;
		if (f->blocks[i].callee != NONE)
			f->blocks[f->blocks[i].callee].nr_preds++;
	}
	for (i = 0; i < f->nr; i++) {
		f->blocks[i].first_pred = nr;
		nr += f->blocks[i].nr_preds;
		f->blocks[i].nr_preds = 0;
	}
	for (i = 0; i < f->nr; i++) {
		add_pred(f, f->blocks[i].fall, i);
		add_pred(f, f->blocks[i].jump, i);
		add_pred(f, f->blocks[i].callee, i);
	}
	return 0;
}

/* ---- Flow -------------------------------------------------------------- */

static void enqueue(struct flow *f, uint32_t block)
{
	if (f->blocks[block].queued)
		return;
	f->blocks[block].queued = true;
	f->todo[f->nr_todo++] = block;
}

static struct block *dequeue(struct flow *f)
{
	struct block *b = &f->blocks[f->todo[--f->nr_todo]];

	b->queued = false;
	return b;
}

static void lead_to(struct flow *f, uint32_t block,
		    const struct code_facts *facts)
{
	if (block != NONE &&
	    sfg_facts_meet(&f->blocks[block].in, facts, f->m))
		enqueue(f, block);
}

/* Whether a callee returns: a return must be reachable. */
static uint8_t return_level(const struct flow *f, const struct block *b)
{
	if (b->next != CODE_CALLS)
		return CODE_STRONG;
	return b->callee == NONE ? CODE_WEAK : f->blocks[b->callee].out.level;
}

/* Facts at the end of a block, from its successors. */
static struct code_facts end_of(const struct flow *f, const struct block *b)
{
	struct code_facts facts = { .slot_base = CODE_NO_REG }, entry;

	if (b->next == CODE_RETURNS || b->tail) {
		sfg_facts_at_entry(&entry, f->m);
		if (b->tail)
			entry.level = CODE_LIKELY;
		facts = entry;
	}
	if (b->fall != NONE) {
		entry = f->blocks[b->fall].out;
		if (return_level(f, b) < entry.level)
			entry.level = return_level(f, b);
		sfg_facts_unite(&facts, &entry);
	}
	if (b->jump != NONE)
		sfg_facts_unite(&facts, &f->blocks[b->jump].out);
	if (b->open && facts.level > CODE_WEAK)
		facts.level = CODE_WEAK;
	return facts;
}

/* 'out' of a block holds what must be true at its start. */
static void flow_backward(struct flow *f)
{
	struct code_facts facts;
	struct block *b;
	unsigned int i;
	uint32_t end, k;

	for (k = 0; k < f->nr; k++)
		enqueue(f, k);
	while (f->nr_todo) {
		b = dequeue(f);
		facts = end_of(f, b);
		if (facts.level == CODE_OPEN)
			continue;
		for (i = read_block(f, b->start, &end); i-- > 0; )
			sfg_facts_backward(&facts, f->m, &f->insns[i]);
		if (!sfg_facts_unite(&b->out, &facts))
			continue;
		for (k = 0; k < b->nr_preds; k++)
			enqueue(f, f->preds[b->first_pred + k]);
	}
}

static bool leads_to_open(const struct flow *f, const struct block *b)
{
	return (b->fall != NONE && f->blocks[b->fall].open) ||
	       (b->jump != NONE && f->blocks[b->jump].open);
}

/* If a successor is unknown, facts from the others are weak. */
static void flow_open(struct flow *f)
{
	struct block *b;
	uint32_t i, k;

	for (i = 0; i < f->nr; i++) {
		f->blocks[i].open = f->blocks[i].out.level == CODE_OPEN;
		enqueue(f, i);
	}
	while (f->nr_todo) {
		b = dequeue(f);
		if (!b->open && leads_to_open(f, b))
			b->open = true;
		if (!b->open)
			continue;
		if (b->out.level > CODE_WEAK)
			b->out.level = CODE_WEAK;
		for (k = 0; k < b->nr_preds; k++)
			if (!f->blocks[f->preds[b->first_pred + k]].open)
				enqueue(f, f->preds[b->first_pred + k]);
	}
}

/* The first change of the stack pointer, or 0. */
static int32_t first_step(struct flow *f, const struct block *b)
{
	uint32_t end;
	unsigned int n = read_block(f, b->start, &end), i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < f->insns[i].nr_ops; j++)
			if (f->insns[i].ops[j].kind == CODE_SET &&
			    f->insns[i].ops[j].dst == f->m->sp)
				return f->insns[i].ops[j].imm;
	return 0;
}

/*
 * Whether code sets up a frame, as functions do early, past at most @depth
 * jumps.
 */
static bool makes_frame(struct flow *f, uint32_t block, unsigned int depth)
{
	const struct block *b = block == NONE ? NULL : &f->blocks[block];
	int32_t step = b ? first_step(f, b) : 0;

	if (!b || step || !depth || b->next == CODE_CALLS)
		return step < 0;
	return makes_frame(f, b->fall, depth - 1) ||
	       makes_frame(f, b->jump, depth - 1);
}

/*
 * A function start: code that needs the facts of an entry, is aligned after
 * padding, and is not fallen into. A landing pad may be aligned by chance but
 * has no padding before it. A switch case has; if it leads to a call that does
 * not return, a function may seem to follow, but a case sets up no frame.
 */
static bool is_like_entry(struct flow *f, const struct block *b)
{
	const struct code_facts *out = &b->out;

	return (!b->start || f->marks[b->start - 1] & ENDS_PADDING) &&
	       !((f->code->addr + b->start) % f->m->align) &&
	       !b->nr_preds && !out->dead &&
	       out->level != CODE_OPEN && out->cfa >> f->m->sp & 1 &&
	       out->off[f->m->sp] == 8 && out->fp >> f->m->fp & 1 &&
	       !out->fp_at && !out->fp_clash &&
	       (out->level > CODE_WEAK || makes_frame(f, b - f->blocks, 2));
}

/*
 * Starts from entries, and from code whose backward facts contradict each
 * other: the return it reaches is really a jump.
 */
static void start_forward(struct flow *f)
{
	struct block *b;
	uint32_t i;

	for (i = 0; i < f->nr; i++) {
		b = &f->blocks[i];
		if (is_entry(f, b->start) || is_like_entry(f, b)) {
			sfg_facts_at_entry(&b->in, f->m);
		} else if (b->out.dead && b->next != CODE_CALLS) {
			b->in.level = CODE_STRONG;
			b->in.dead = true;
		} else {
			continue;
		}
		enqueue(f, i);
	}
}

static void flow_forward(struct flow *f)
{
	struct code_facts facts;
	struct block *b;
	unsigned int n, i;
	uint32_t end;

	start_forward(f);
	while (f->nr_todo) {
		b = dequeue(f);
		n = read_block(f, b->start, &end);
		facts = b->in;
		for (i = 0; i < n; i++)
			sfg_facts_forward(&facts, f->m, &f->insns[i]);
		lead_to(f, b->jump, &facts);
		if (return_level(f, b) < facts.level)
			facts.level = return_level(f, b);
		if (facts.level != CODE_OPEN)
			lead_to(f, b->fall, &facts);
	}
}

/* ---- Results ------------------------------------------------------------- */

/* If two instructions share bytes, we do not know which is real. */
static bool has_other_reading(struct flow *f, uint32_t start, uint32_t end)
{
	bool inside = start < f->seen;
	uint32_t at;

	for (at = start + 1; at < end; at++)
		inside |= f->marks[at] & IS_INSN;
	if (f->seen < end)
		f->seen = end;
	return inside;
}

static int tell(struct flow *f, uint32_t start, uint32_t end,
		const struct code_facts *forward,
		const struct code_facts *backward)
{
	struct code_facts facts;

	if (has_other_reading(f, start, end) || f->marks[start] & IS_PADDING ||
	    !sfg_facts_settle(&facts, forward, backward, f->m))
		return 0;
	return f->sink->insn(f->sink, start, end, &facts);
}

static int tell_block(struct flow *f, const struct block *b)
{
	struct code_facts facts = end_of(f, b);
	unsigned int i, n;
	uint32_t end;
	int ret = 0;

	n = read_block(f, b->start, &end);
	for (i = n; i-- > 0; ) {
		sfg_facts_backward(&facts, f->m, &f->insns[i]);
		f->backs[i] = facts;
	}
	facts = b->in;
	for (i = 0; i < n && !ret; i++) {
		ret = tell(f, f->at[i], f->at[i] + f->insns[i].length, &facts,
			   &f->backs[i]);
		sfg_facts_forward(&facts, f->m, &f->insns[i]);
	}
	return ret;
}

static int tell_all(struct flow *f)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < f->nr && !ret; i++)
		ret = tell_block(f, &f->blocks[i]);
	return ret;
}

/* ---- Driver ------------------------------------------------------------ */

/* A gap is small as a rule, and an instruction has a byte. */
static int allocate(struct flow *f)
{
	const size_t most = f->size < MAX_INSNS ? f->size : MAX_INSNS;

	f->marks = calloc((size_t)f->size + 1, 1);
	f->insns = malloc(most * sizeof(*f->insns));
	f->backs = malloc(most * sizeof(*f->backs));
	f->at = malloc(most * sizeof(*f->at));
	return f->marks && f->insns && f->backs && f->at ? 0 : -ENOMEM;
}

static void release(struct flow *f)
{
	free(f->marks);
	free(f->insns);
	free(f->backs);
	free(f->at);
	free(f->blocks);
	free(f->preds);
	free(f->todo);
}

static int follow_code(struct flow *f)
{
	int ret;

	find_insns(f);
	ret = count_blocks(f);
	if (ret)
		return ret;
	make_blocks(f);
	ret = link_blocks(f);
	if (ret)
		return ret;
	flow_backward(f);
	flow_open(f);
	flow_forward(f);
	return tell_all(f);
}

int sfg_code_follow(const struct code_machine *m, const struct code_text *text,
		    struct code_sink *sink)
{
	struct flow f = {
		.m = m, .code = text, .size = text->size, .sink = sink,
	};
	size_t i;
	int ret = allocate(&f);

	for (i = 0; !ret && i < text->nr_entries; i++)
		f.marks[text->entries[i] - text->addr] |= IS_LEADER | IS_ENTRY;
	if (!ret)
		ret = follow_code(&f);
	release(&f);
	return ret;
}
