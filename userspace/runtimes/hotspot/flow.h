/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Make rows for code without call frame information from its instructions.
 *
 * The analysis follows jumps from each entry, whose state is known by
 * convention, and tracks where the caller's stack pointer, return address and
 * frame pointer are. An instruction with an uncertain state gets no row, so
 * stacks end there.
 */
#ifndef SFJIT_FLOW_H
#define SFJIT_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfjit/rows.h>

/* The state at an entry. */
enum flow_kind {
	FLOW_NOTHING,
	/* Called: the return address is at the stack pointer. */
	FLOW_CALLED,
	/* Like FLOW_CALLED, but may replace the end of the caller's frame. */
	FLOW_ADAPTER,
	/* A frame of flow_code.frame bytes, the caller's rbp at CFA - 16. */
	FLOW_FRAME,
	/* Jumped to in a frame; the code stores that address as its RA. */
	FLOW_JUMPED,
	/* Jumped to in a frame, with that address in rdx. */
	FLOW_JUMPED_RDX,
	/* Called; r13 is the CFA, which may differ from the stack pointer. */
	FLOW_SENDER,
	/* rbp is a frame with the CFA at rbp - 8, the RA at rbp + 8. */
	FLOW_SENDER_FRAME,
	/* rbp is CFA - 16; the stack pointer is unknown. */
	FLOW_FP_FRAME,
};

struct flow_entry {
	uint32_t	at;
	enum flow_kind	kind;
};

/**
 * struct flow_code - input of flow_rows()
 * @text:	instructions
 * @size:	bytes of @text
 * @frame:	for FLOW_FRAME: bytes from the stack pointer to the CFA
 * @entries:	entry points
 * @nr_entries:	number of entries
 * @rest:	the state of code that no entry reaches, for example by a table of
 *		addresses; FLOW_NOTHING: it gets no rows
 * @rest_from:	where such code may begin
 * @stubs_from:	from here on, unreached code that loads rbx and jumps away is
 *		called
 * @inner_calls: calls inside the code enter a part that uses its frame
 * @returned_to: an address that callees return to without a call before it; the
 *		byte before gets its rules, since unwinders look that up. 0: none
 * @lead:	bytes before @text that get the rules of its first byte
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

/* A row without a CFA base: no rules from here on. */
struct flow_rows {
	struct sfjit_row	*rows;
	size_t			nr;
};

/**
 * flow_rows - make the rows of code; offsets include the lead
 * @code:	the code
 * @rows:	set; free @rows->rows
 *
 * Return: 0 or -ENOMEM.
 */
int flow_rows(const struct flow_code *code, struct flow_rows *rows);

#endif /* SFJIT_FLOW_H */
