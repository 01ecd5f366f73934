/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Rows from instructions, for code without CFI.
 *
 * A machine says what each instruction does to registers and stack, in the few
 * operations below. code_facts.c follows them in both directions, code_flow.c
 * along jumps.
 */
#ifndef SFRAMEGEN_CODE_FACTS_H
#define SFRAMEGEN_CODE_FACTS_H

#include "core.h"

#define CODE_NR_REGS	16	/* of which something is known */
#define CODE_NO_REG	-1

enum code_op_kind {
	CODE_SET,	/* dst = src + imm */
	CODE_LOAD,	/* dst = the word at src + imm */
	CODE_STORE,	/* the word at dst + imm = src, or CODE_NO_REG: unknown */
	CODE_TOUCH,	/* memory at dst + imm is read, or written in part */
	CODE_CLOBBER,	/* the registers of mask */
	CODE_CALL,	/* the same, by a call */
	CODE_LOSE,	/* anything: nothing is known */
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
	CODE_CALLS,	/* to 'to', or to what is not known */
	CODE_RETURNS,
	CODE_TAIL,	/* jumps to another function, which is not known */
	CODE_STOPS,	/* jumps, but where to is not known; or never goes on */
	CODE_NOTHING,	/* nothing that code for user space has */
};

/*
 * @to: of a jump or call, from the start of the code; -1: none
 * @far: the same of a call that leads out of the code; 0: none
 * @word: of CODE_TAIL and a call: the address is in the word there, from the start
 *	of the code; 0: it is elsewhere
 * @pads: does nothing, as what fills gaps
 * @lands: code is entered here from elsewhere, if it is behind a call
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

/* DWARF numbers; @preserved: registers that calls preserve. */
struct code_machine {
	bool (*decode)(const uint8_t *text, size_t size, size_t at,
		       struct code_insn *insn);
	/* A system call behind which the stack is the same. */
	bool (*keeps_stack)(int64_t number);
	uint8_t align;		/* of functions */
	uint8_t number;		/* register with that of a system call */
	uint8_t sp, fp;
	uint32_t preserved;
};

extern const struct code_machine sfg_code_x86;

/*
 * NULL: its instructions are not known. Not in the table of machines, so that only
 * callers link the decoder.
 */
static inline const struct code_machine *sfg_code_machine(unsigned int abi)
{
	return abi == SFRAME_ABI_AMD64_LE ? &sfg_code_x86 : NULL;
}

/*
 * How much is known. Weak facts hold only if calls return: after one that never
 * does there may be other code. Likely ones hold if a jump to a function is its
 * call.
 */
enum { CODE_OPEN, CODE_WEAK, CODE_LIKELY, CODE_STRONG };

/**
 * struct code_facts - what is known at an instruction
 * @off:	for the registers in @cfa: the CFA is register + off
 * @cfa:	bit n: register n tells the CFA
 * @clash:	bit n: ways disagree about it, for good
 * @fp:		bit n: register n is the caller's frame pointer
 * @fp_at:	it is saved at CFA + this; 0: nowhere
 * @slot_base:	the CFA is the word at this register + @slot_at, plus
 *		@slot_add; CODE_NO_REG: no such word is known
 * @level:	CODE_OPEN: nothing was found yet
 * @dead:	what was found contradicts itself
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

void sfg_facts_at_entry(struct code_facts *f, const struct code_machine *m);
void sfg_facts_forward(struct code_facts *f, const struct code_machine *m,
		       const struct code_insn *insn);
void sfg_facts_backward(struct code_facts *f, const struct code_machine *m,
			const struct code_insn *insn);
/* Both return whether 'to' has changed. */
bool sfg_facts_meet(struct code_facts *to, const struct code_facts *from,
		    const struct code_machine *m);
bool sfg_facts_unite(struct code_facts *to, const struct code_facts *from);
/* What both say together; false: it is not certain. */
bool sfg_facts_settle(struct code_facts *facts,
		      const struct code_facts *forward,
		      const struct code_facts *backward,
		      const struct code_machine *m);
/* false: they do not say where the caller is. */
bool sfg_facts_row(const struct code_facts *facts,
		   const struct code_machine *m, struct sfjit_row *row);

/*
 * Called for each instruction that is certain, in order of address. It returns
 * an error to end the analysis, or 0.
 */
struct code_sink {
	int (*insn)(struct code_sink *sink, uint32_t start, uint32_t end,
		    const struct code_facts *facts);
};

/*
 * @addr:	of the text
 * @entries:	sorted addresses in it at which functions are known to begin
 * @no_return:	sorted addresses of words, as of a linkage table, that have the
 *		addresses of functions which do not return
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

/* Index of the first of a sorted list that is at or above a value, or @nr. */
size_t sfg_find_address(const uint64_t *list, size_t nr, uint64_t value);

/* -ENOMEM, or what the sink returned. */
int sfg_code_follow(const struct code_machine *m, const struct code_text *text,
		    struct code_sink *sink);

#endif /* SFRAMEGEN_CODE_FACTS_H */
