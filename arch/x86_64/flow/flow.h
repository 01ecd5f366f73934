/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Rows for code that has no call frame information, from its instructions.
 *
 * From each entry, whose state is known by convention, the instructions are
 * followed along jumps, and where stack pointer, return address and frame
 * pointer of the caller are is kept for each. What is not certain is left out:
 * an instruction without a row ends a stack.
 */
#ifndef SFJIT_FLOW_H
#define SFJIT_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfjit/rows.h>

/* What is known at an entry. */
enum flow_kind {
	FLOW_NOTHING,
	/* It was called: the return address is at the stack pointer. */
	FLOW_CALLED,
	/* As FLOW_CALLED, but a new frame may replace the caller's end. */
	FLOW_ADAPTER,
	/* A frame of flow_code.frame bytes, the caller's rbp at CFA - 16. */
	FLOW_FRAME,
	/* Jumped to in a frame; its address is still to be stored as RA. */
	FLOW_JUMPED,
	/* Jumped to in a frame, with its address in rdx. */
	FLOW_JUMPED_RDX,
	/* Called; r13 is the CFA, which the stack pointer need not tell. */
	FLOW_SENDER,
	/* rbp has a frame with the CFA at rbp - 8, the RA at rbp + 8. */
	FLOW_SENDER_FRAME,
	/* rbp is CFA - 16, and nothing is known of the stack pointer. */
	FLOW_FP_FRAME,
};

struct flow_entry {
	uint32_t	at;
	enum flow_kind	kind;
};

/**
 * struct flow_code - what flow_rows() takes
 * @text:	instructions
 * @size:	bytes of them
 * @frame:	for FLOW_FRAME: bytes from the stack pointer to the CFA
 * @entries:	where code is entered
 * @nr_entries:	how many
 * @rest:	the state at code that no entry leads to, as by a table of
 *		addresses; FLOW_NOTHING: it has no rows
 * @rest_from:	where such code may begin
 * @stubs_from:	from here on, unreached code that loads rbx and jumps away
 *		is called
 * @inner_calls: a call inside the code is of a part that uses its frame
 * @returned_to: where callees return to that were not called in front of it;
 *		the byte there has its rules, as they are looked up by it. 0: none
 * @lead:	bytes in front of @text that have the rules of its first
 */
struct flow_code {
	const uint8_t		*text;
	uint32_t		size;
	uint32_t		frame;
	const struct flow_entry	*entries;
	size_t			nr_entries;
	enum flow_kind		rest;
	uint32_t		rest_from;
	uint32_t		stubs_from;
	uint32_t		returned_to;
	uint32_t		lead;
	bool			inner_calls;
};

/* A row whose CFA has no base: no rules from here on. */
struct flow_rows {
	struct sfjit_row	*rows;
	size_t			nr;
};

/**
 * flow_rows - make the rows of code; offsets are from the first byte with lead
 * @code:	the code
 * @rows:	set; free @rows->rows
 *
 * Return: 0, or -ENOMEM.
 */
int flow_rows(const struct flow_code *code, struct flow_rows *rows);

#endif /* SFJIT_FLOW_H */
