/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Derives rows from instructions, for code without CFI.
 *
 * Each machine describes what an instruction does to registers and stack by the
 * few operations below. code_facts.c propagates facts over them in both
 * directions, code_flow.c along jumps.
 */
#ifndef SFRAMEGEN_CODE_FACTS_H
#define SFRAMEGEN_CODE_FACTS_H

#include "core.h"

#define CODE_NR_REGS	16	/* tracked */
#define CODE_NO_REG	-1

enum code_op_kind {
	CODE_SET,	/* dst = src + imm */
	CODE_LOAD,	/* dst = the word at src + imm */
	CODE_STORE,	/* word at dst + imm = src; CODE_NO_REG: unknown */
	CODE_TOUCH,	/* memory at dst + imm is read, or written in part */
	CODE_CLOBBER,	/* the registers of mask */
	CODE_CALL,	/* the same, by a call */
	CODE_LOSE,	/* anything: all facts are lost */
};

struct code_op {
	uint8_t kind;
	int8_t dst, src;
	int32_t imm;
	uint32_t mask;
};

#define CODE_MAX_OPS	3

enum code_next {
	CODE_FALLS,
	CODE_JUMPS_IF,
	CODE_JUMPS,
	CODE_CALLS,	/* 'to', or an unknown function */
	CODE_RETURNS,
	CODE_TAIL,	/* jumps to another, unknown function */
	CODE_STOPS,	/* jumps to an unknown place, or never continues */
	CODE_NOTHING,	/* not in user space code */
};

/*
 * @to: target of a jump or call, from the start of the code; -1: none
 * @far: target of a call that leads out of the code; 0: none
 * @word: for CODE_TAIL and calls: where the word with the address is, from the
 *	start of the code; 0: elsewhere
 * @pads: a no-op that fills gaps
 * @lands: code is entered here from elsewhere, if a call precedes it
 */
struct code_insn {
	uint8_t length;
	uint8_t next;
	uint8_t nr_ops;
	bool pads, lands;
	bool calls_system;
	int64_t number;		/* of a system call, that it sets; -1: none */
	int64_t to, far, word;
	struct code_op ops[CODE_MAX_OPS];
};

/* DWARF numbers; @preserved: callee-saved registers */
struct code_machine {
	bool (*decode)(const uint8_t *text, size_t size, size_t at,
		       struct code_insn *insn);
	/* Whether the stack is unchanged after a system call. */
	bool (*keeps_stack)(int64_t number);
	uint8_t align;		/* alignment of functions */
	uint8_t number;		/* register of system call numbers */
	uint8_t sp, fp;
	uint32_t preserved;
};

extern const struct code_machine sfg_code_x86;

/*
 * NULL: unknown instructions. Not part of the table of machines, so that only
 * callers link the decoder.
 */
static inline const struct code_machine *sfg_code_machine(unsigned int abi)
{
	return abi == SFRAME_ABI_AMD64_LE ? &sfg_code_x86 : NULL;
}

/*
 * How certain facts are. Weak ones assume that calls return: after one that
 * never does there may be other code. Likely ones assume that a jump to a
 * function is its tail call.
 */
enum { CODE_OPEN, CODE_WEAK, CODE_LIKELY, CODE_STRONG };

/**
 * struct code_facts - what is known at an instruction
 * @off:	for the registers in @cfa: the CFA is register + off
 * @cfa:	bit n: register n tells the CFA
 * @clash:	bit n: paths disagree about it
 * @fp:		bit n: register n is the caller's frame pointer
 * @fp_at:	it is saved at CFA + this; 0: nowhere
 * @slot_base:	the CFA is the word at this register + @slot_at, plus
 *		@slot_add; CODE_NO_REG: no such word is known
 * @level:	CODE_OPEN: no fact found yet
 * @dead:	facts contradict each other
 */
struct code_facts {
	int32_t off[CODE_NR_REGS];
	uint32_t cfa, clash, fp;
	int32_t fp_at;
	int8_t slot_base;
	uint8_t level;
	bool dead, fp_clash, slot_clash;
	int32_t slot_at, slot_add;
};

/* Whether the next instruction in memory may follow. */
bool sfg_code_goes_on(const struct code_insn *insn);
/* Whether the instruction writes the register. */
bool sfg_code_changes(const struct code_insn *insn, int reg);
/* *number: of the next system call, after the instruction; -1: unknown */
void sfg_code_number(const struct code_machine *m, const struct code_insn *insn,
		     int64_t *number);

void sfg_facts_at_entry(struct code_facts *f, const struct code_machine *m);
void sfg_facts_forward(struct code_facts *f, const struct code_machine *m,
		       const struct code_insn *insn);
void sfg_facts_backward(struct code_facts *f, const struct code_machine *m,
			const struct code_insn *insn);
/* Both return whether 'to' changed. */
bool sfg_facts_meet(struct code_facts *to, const struct code_facts *from,
		    const struct code_machine *m);
bool sfg_facts_unite(struct code_facts *to, const struct code_facts *from);
/* Combines both; false: uncertain. */
bool sfg_facts_settle(struct code_facts *facts,
		      const struct code_facts *forward,
		      const struct code_facts *backward,
		      const struct code_machine *m);
/* false: the facts do not tell where the caller is. */
bool sfg_facts_row(const struct code_facts *facts,
		   const struct code_machine *m, struct sfjit_row *row);

/*
 * Called for each certain instruction, in address order. Returns an error to
 * stop the analysis, or 0.
 */
struct code_sink {
	int (*insn)(struct code_sink *sink, uint32_t start, uint32_t end,
		    const struct code_facts *facts);
};

/*
 * @addr:	of the text
 * @entries:	sorted addresses of known function starts in it
 * @no_return:	sorted addresses of words, such as those of a linkage table,
 *		that hold addresses of noreturn functions
 * @in:		NULL, or the text with code elsewhere
 */
struct code_text {
	const uint8_t *text;
	uint32_t size;
	uint64_t addr;
	const uint64_t *entries;
	size_t nr_entries;
	const uint64_t *no_return;
	size_t nr_no_return;
	const struct sfg_input *in;
};

/* Returns the index of the first list entry at or above a value, or @nr. */
size_t sfg_find_address(const uint64_t *list, size_t nr, uint64_t value);

/* Returns -ENOMEM, or what the sink returned. */
int sfg_code_follow(const struct code_machine *m, const struct code_text *text,
		    struct code_sink *sink);

#endif /* SFRAMEGEN_CODE_FACTS_H */
