// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "walk.h"

#define NO_REGISTER	0xff

/*
 * Bytes of call frame information that a sample may take: a millisecond. Two
 * hundred frames without a row take no more, and a thousand with one.
 */
#define BUDGET		(SFG_FRAME_BUDGET / 4)

/* Go's runtime ends programs whose stack would become larger. */
#define MAX_GO_STACK	1000000000

/* Results, by a hash: a later one replaces an earlier one. */
#define NR_ROWS		(1u << 14)
#define NR_PLACES	(1u << 12)
#define NR_INSNS	(1u << 10)

struct known_row {
	uint64_t table;			/* its serial; 0: empty */
	uint64_t addr;
	int error;			/* there is none: of sfg_find_cfi_row() */
	bool is_go, exact;		/* of sfg_find_go_row() */
	struct sfjit_row row;
};

/* The piece that is at an address, unless there were changes. */
struct known_place {
	const struct process *process;
	uint64_t addr, changes;
	const struct piece *piece;
};

/* A row from instructions, at an address without CFI. */
struct known_insn {
	uint64_t table, addr;
	int64_t sp;			/* less the frame pointer */
	bool called;
	int error;
	struct sfjit_row row;
};

static size_t hash_place(uint64_t a, uint64_t b, size_t nr)
{
	return ((a ^ b << 32) * 0x9e3779b97f4a7c15 >> 40) & (nr - 1);
}

/* Registers. */

int walk_init(struct walk *walk, unsigned int abi)
{
	unsigned int reg;
	int bit;

	memset(walk, 0, sizeof(*walk));
	memset(walk->register_of, NO_REGISTER, sizeof(walk->register_of));
	walk->abi = abi;
	walk->pc_bit = sfg_perf_pc(abi);
	if (walk->pc_bit < 0)
		return walk->pc_bit;
	for (reg = 0; reg < 32; reg++) {
		bit = sfg_perf_register(abi, reg);
		if (bit >= 0)
			walk->register_of[bit] = reg;
	}
	walk->sp = sfg_stack_pointer(abi);
	walk->rows = calloc(NR_ROWS, sizeof(*walk->rows));
	walk->places = calloc(NR_PLACES, sizeof(*walk->places));
	walk->insns = calloc(NR_INSNS, sizeof(*walk->insns));
	if (walk->rows && walk->places && walk->insns)
		return 0;
	walk_clear(walk);
	return -ENOMEM;
}

void walk_clear(struct walk *walk)
{
	free(walk->rows);
	free(walk->places);
	free(walk->insns);
	code_clear(&walk->code);
}

uint64_t walk_registers(const struct walk *walk)
{
	uint64_t mask = 1ULL << walk->pc_bit;
	unsigned int bit;

	for (bit = 0; bit < 64; bit++)
		if (walk->register_of[bit] != NO_REGISTER)
			mask |= 1ULL << bit;
	return mask;
}

static bool has_register(const struct sfg_frame *frame, unsigned int reg)
{
	return frame->known >> reg & 1;
}

static int read_registers(const struct walk *walk,
			  const struct sfjit_stacks_sample *sample,
			  struct sfg_frame *frame)
{
	const uint64_t *value = sample->registers;
	bool has_pc = false;
	uint8_t reg;
	int bit;

	for (bit = 0; bit < 64; bit++) {
		if (!(sample->mask >> bit & 1))
			continue;
		if (bit == walk->pc_bit) {
			frame->pc = *value;
			has_pc = true;
		}
		reg = walk->register_of[bit];
		if (reg != NO_REGISTER) {
			frame->reg[reg] = *value;
			frame->known |= 1u << reg;
		}
		value++;
	}
	return has_pc && has_register(frame, walk->sp) ? 0 : -EINVAL;
}

/* The copy of the stack. */

static bool read_stack(void *arg, uint64_t addr, uint64_t *word)
{
	struct walk *walk = arg;
	uint64_t offset = addr - walk->stack_start;

	/* The whole word is in the copy. */
	if (offset < walk->stack_length &&
	    walk->stack_length - offset >= sizeof(*word)) {
		memcpy(word, walk->stack + offset, sizeof(*word));
		return true;
	}
	walk->missed = addr;
	walk->has_missed = true;
	return false;
}

/*
 * Below the stack pointer there is nothing that a frame could have saved. Go runs C
 * and its own runtime on other stacks than functions of Go, and returns there.
 */
static enum sfjit_stacks_reason why_missed(const struct walk *walk)
{
	if (walk->in_go && walk->missed - walk->stack_start >= MAX_GO_STACK)
		return SFJIT_STACKS_OTHER_STACK;
	return walk->missed >= walk->stack_start ? SFJIT_STACKS_TRUNCATED :
						   SFJIT_STACKS_DAMAGED;
}

static enum sfjit_stacks_reason why_error(const struct walk *walk, int error)
{
	switch (error) {
	case -ENOTSUP:
		return SFJIT_STACKS_NOT_SUPPORTED;
	case -E2BIG:
		return SFJIT_STACKS_LIMIT;
	case -EINVAL:
		return SFJIT_STACKS_DAMAGED;
	case -EIO:
		return SFJIT_STACKS_NO_RULE;
	}
	if (walk->has_missed)
		return why_missed(walk);
	return SFJIT_STACKS_NO_REGISTER;
}

/* Steps. */

static struct user user_of(const struct walk *walk, const struct piece *p)
{
	return (struct user) {
		walk->process, p->start, p->end - p->start, p->start - p->base,
	};
}

/* Go's table goes before its .debug_frame, which does not have the frame pointer. */
static bool is_go(struct table *table, uint64_t addr)
{
	struct sfg_image function;

	return table->go && !table_has_eh_frame(table, addr) &&
	       !sfg_go_function_at(table->go, addr, &function);
}

/* ENODATA means elsewhere that a word of the stack is missing. */
static int find_go_row(struct walk *walk, const struct piece *p, uint64_t addr,
		       struct known_row *known)
{
	struct user user = user_of(walk, p);
	int ret = code_find_go_row(&walk->code, p->origin, &user, addr,
				   &known->row, &known->exact);

	return ret && ret != -ENOMEM ? -EIO : ret;
}

static struct known_row *find_walk_row(struct walk *walk, const struct piece *p,
				       struct table *table, uint64_t addr,
				       uint64_t *budget)
{
	struct known_row *known;

	known = &walk->rows[hash_place(addr, table->serial, NR_ROWS)];
	if (known->table == table->serial && known->addr == addr)
		return known;
	known->exact = false;
	known->is_go = is_go(table, addr);
	if (known->is_go)
		known->error = find_go_row(walk, p, addr, known);
	else
		known->error = table_find_row(table, addr, budget,
					      &known->row);
	/* what is left of a budget or of memory is not a property of the address */
	known->table = known->error == -E2BIG || known->error == -ENOMEM ?
		       0 : table->serial;
	known->addr = addr;
	return known;
}

static int step_by_row(struct walk *walk, const struct known_row *known,
		       struct sfg_frame *frame)
{
	int ret;

	walk->in_go = known->is_go;
	ret = sfg_step_row(walk->abi, &known->row, frame);
	if (!ret && known->exact)
		frame->called = false;
	return ret;
}

/*
 * A row does not tell the caller's other registers. Where they turn out to be
 * needed, 'full' finds them all; Go's functions do not keep any.
 */
static int step_by_table(struct walk *walk, const struct piece *p,
			 struct table *table, uint64_t bias, bool full,
			 struct sfg_frame *frame)
{
	uint64_t addr = frame->pc - frame->called - bias;
	struct known_row *known;

	walk->in_go = false;
	if (!full || is_go(table, addr)) {
		known = find_walk_row(walk, p, table, addr, &frame->budget);
		if (!known->error)
			return step_by_row(walk, known, frame);
		if (known->is_go)
			return known->error;
	}
	return table_step(table, bias, frame);
}

/* 0: there is a caller; 1: there is none; or an error. */
static enum sfjit_stacks_reason end_of_step(const struct walk *walk, int ret)
{
	if (!ret)
		return SFJIT_STACKS_STOPPED;
	return ret == 1 ? SFJIT_STACKS_OUTERMOST : why_error(walk, ret);
}

static enum sfjit_stacks_reason step_by_fp(struct walk *walk,
					   struct sfg_frame *frame)
{
	walk->has_missed = false;
	return end_of_step(walk, sfg_step_fp(walk->abi, frame));
}

/* The table of a piece, and the address in it; NULL: *end says why. */
static struct table *find_table_of_piece(const struct walk *walk,
					 const struct piece *p, uint64_t ip,
					 uint64_t *addr,
					 enum sfjit_stacks_reason *end)
{
	struct user user = user_of(walk, p);
	struct table *table = p->origin->table;

	*addr = ip;
	if (p->origin->kind == ORIGIN_FILE)
		table = files_table(p->origin, &user);
	if (!table) {
		*end = p->origin->why;
		return NULL;
	}
	*end = SFJIT_STACKS_NO_RULE;
	if (p->origin->kind == ORIGIN_FILE &&
	    !table_address(table, ip - p->base, addr))
		return NULL;
	return table;
}

/*
 * Pieces of one layer are apart. So what is there at one time is there as long
 * as the piece is, unless another layer may lie above it.
 */
static bool holds(const struct walk *walk, const struct known_place *known,
		  uint64_t addr)
{
	const struct process *process = walk->process;

	return known->process == process && known->addr == addr &&
	       known->changes == process->layers[0].all->changes &&
	       piece_is_there(known->piece, walk->time) &&
	       (known->piece->history == &process->layers[PROCESS_CODE] ||
		!process->layers[PROCESS_CODE].root);
}

static const struct piece *find_section_piece(struct walk *walk, uint64_t addr)
{
	const struct process *process = walk->process;
	struct known_place *known;
	const struct piece *p;

	known = &walk->places[hash_place(addr, (uintptr_t)process, NR_PLACES)];
	if (holds(walk, known, addr))
		return known->piece;
	p = process_piece(process, addr, walk->time);
	if (p)
		*known = (struct known_place) {
			process, addr, process->layers[0].all->changes, p,
		};
	return p;
}

/* V8's builtins, which node contains, have no FDE and keep frame pointers. */
static const struct known_insn *look_at_code(struct walk *walk,
					     const struct piece *p,
					     const struct sfg_frame *frame,
					     int64_t sp)
{
	uint64_t table = p->origin->table->serial, addr = frame->pc - p->base;
	struct user user = user_of(walk, p);
	struct known_insn *known;

	known = &walk->insns[hash_place(addr ^ sp, table, NR_INSNS)];
	if (known->table == table && known->addr == addr && known->sp == sp &&
	    known->called == frame->called)
		return known;
	*known = (struct known_insn) {
		.table = table, .addr = addr, .sp = sp,
		.called = frame->called,
	};
	known->error = code_find_row(&walk->code, walk->abi, p->origin, &user,
				     addr, sp, frame->called, &known->row);
	return known;
}

/* The row is a guess: it is wrong if the caller is not mapped. */
static enum sfjit_stacks_reason step_by_code(struct walk *walk,
					     const struct piece *p,
					     struct sfg_frame *frame,
					     unsigned int *flags)
{
	int fp = sfg_frame_pointer(walk->abi);
	const struct known_insn *known;
	struct sfg_frame caller = *frame;
	enum sfjit_stacks_reason end;

	if (p->origin->kind != ORIGIN_FILE || fp < 0 ||
	    !has_register(frame, fp) || !has_register(frame, walk->sp))
		return SFJIT_STACKS_NO_RULE;
	known = look_at_code(walk, p, frame,
			     frame->reg[walk->sp] - frame->reg[fp]);
	if (known->error)
		return SFJIT_STACKS_NO_RULE;
	walk->has_missed = false;
	end = end_of_step(walk, sfg_step_row(walk->abi, &known->row, &caller));
	if (end == SFJIT_STACKS_STOPPED && caller.pc &&
	    !find_section_piece(walk, caller.pc - 1))
		return SFJIT_STACKS_NO_RULE;
	*frame = caller;
	*flags = SFJIT_STACKS_BY_CODE;
	return end;
}

static enum sfjit_stacks_reason step_by_origin(struct walk *walk,
					       const struct piece *p, bool full,
					       struct sfg_frame *frame,
					       unsigned int *flags)
{
	uint64_t ip = frame->pc - frame->called, addr;
	enum sfjit_stacks_reason end;
	struct table *table = find_table_of_piece(walk, p, ip, &addr, &end);
	int ret;

	if (!table)
		return end;
	walk->has_missed = false;
	ret = step_by_table(walk, p, table, ip - addr, full, frame);
	if (ret != -ENOENT)
		return end_of_step(walk, ret);
	if (table_is_entry(table, addr))
		return SFJIT_STACKS_OUTERMOST;
	return step_by_code(walk, p, frame, flags);
}

/* Undescribed generated code mostly keeps frame pointers. */
static bool keeps_fp(const struct origin *origin)
{
	return origin->kind == ORIGIN_MEMORY || origin->frame_pointer;
}

/* SFJIT_STACKS_STOPPED: not yet, there is a caller. */
static enum sfjit_stacks_reason step_walk(struct walk *walk, bool full,
					  struct sfg_frame *frame,
					  unsigned int *flags)
{
	const struct piece *p;

	p = find_section_piece(walk, frame->pc - frame->called);
	*flags = 0;
	if (!p)
		return SFJIT_STACKS_NO_MAPPING;
	if (!keeps_fp(p->origin))
		return step_by_origin(walk, p, full, frame, flags);
	*flags = SFJIT_STACKS_BY_FRAME_POINTER;
	return step_by_fp(walk, frame);
}

/*
 * Stacks grow down: but for a signal handler, which may have one of its own,
 * the caller's is not below.
 */
static bool goes_down(const struct walk *walk, const struct sfg_frame *frame,
		      uint64_t sp)
{
	return frame->called && has_register(frame, walk->sp) &&
	       frame->reg[walk->sp] < sp;
}

static void add_frame(struct walk *walk, const struct sfg_frame *frame,
		      unsigned int flags)
{
	if (walk->nr && !frame->called)
		flags |= SFJIT_STACKS_AFTER_SIGNAL;
	walk->frames[walk->nr++] = (struct sfjit_stacks_frame) {
		.ip = frame->pc, .flags = flags,
	};
}

static enum sfjit_stacks_reason walk_frames(struct walk *walk, bool full,
					    struct sfg_frame *frame)
{
	enum sfjit_stacks_reason end;
	unsigned int flags = 0;
	uint64_t sp;

	walk->nr = 0;
	while (walk->nr < SFJIT_STACKS_MAX_FRAMES) {
		add_frame(walk, frame, flags);
		sp = frame->reg[walk->sp];
		end = step_walk(walk, full, frame, &flags);
		if (end != SFJIT_STACKS_STOPPED)
			return end;
		if (goes_down(walk, frame, sp))
			return SFJIT_STACKS_DAMAGED;
		/* what starts a thread may push this for its caller */
		if (!frame->pc)
			return SFJIT_STACKS_OUTERMOST;
	}
	return SFJIT_STACKS_LIMIT;
}

int walk_sample(struct walk *walk, const struct process *process, uint64_t time,
		const struct sfjit_stacks_sample *sample)
{
	struct sfg_frame start = {
		.budget = BUDGET, .read = read_stack, .arg = walk,
	};
	struct sfg_frame frame;
	int ret = read_registers(walk, sample, &start);

	if (ret)
		return ret;
	walk->process = process;
	walk->time = time;
	walk->stack = sample->stack;
	walk->stack_start = start.reg[walk->sp];
	walk->stack_length = sample->stack_length;
	frame = start;
	if (process) {
		walk->end = walk_frames(walk, false, &frame);
	} else {
		walk->nr = 0;
		add_frame(walk, &frame, 0);
		walk->end = SFJIT_STACKS_NO_MAPPING;
	}
	if (walk->end == SFJIT_STACKS_NO_REGISTER) {
		frame = start;
		walk->end = walk_frames(walk, true, &frame);
	}
	return 0;
}

static bool read_nothing(void *arg, uint64_t addr, uint64_t *word)
{
	return false;
}

/* Signal frames, and others that have no row, are known to be steps. */
static enum sfjit_stacks_reason look_at_rules(struct walk *walk,
					      const struct piece *p,
					      struct table *table,
					      uint64_t addr)
{
	struct sfg_frame frame = {
		.pc = addr, .budget = BUDGET, .read = read_nothing,
	};

	switch (step_by_table(walk, p, table, 0, true, &frame)) {
	case 1:
		return SFJIT_STACKS_OUTERMOST;
	case -ENOENT:
		return table_is_entry(table, addr) ? SFJIT_STACKS_OUTERMOST :
						     SFJIT_STACKS_NO_RULE;
	case -EIO:
		return SFJIT_STACKS_NO_RULE;
	}
	return SFJIT_STACKS_STOPPED;
}

enum sfjit_stacks_reason walk_look(struct walk *walk,
				   const struct process *process, uint64_t time,
				   uint64_t addr)
{
	enum sfjit_stacks_reason end = SFJIT_STACKS_NO_MAPPING;
	const struct piece *p = NULL;
	struct table *table;

	walk->process = process;
	walk->time = time;
	if (process)
		p = find_section_piece(walk, addr);
	table = p ? find_table_of_piece(walk, p, addr, &addr, &end) : NULL;
	return table ? look_at_rules(walk, p, table, addr) : end;
}
