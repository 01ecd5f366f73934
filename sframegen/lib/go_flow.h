/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Functions of Go whose instructions have to tell. Each is alone: its bounds are
 * known, so that code after a call is of the same function.
 */
#ifndef SFRAMEGEN_GO_FLOW_H
#define SFRAMEGEN_GO_FLOW_H

#include "code_facts.h"
#include "go.h"

struct go_text {
	const struct code_machine *m;
	const uint8_t *text;
	uint32_t size;
};

/* @deltas_hold: each instruction moves the stack pointer as the table says */
struct go_scan {
	bool deltas_hold, changes_fp;
};

struct go_scan sfg_go_scan(const struct go_text *text, const struct sfg_go *go,
			   const struct go_function *f);

/* Called for each instruction that has facts, in order. */
struct go_flow_sink {
	int (*insn)(struct go_flow_sink *sink, uint32_t start, uint32_t end,
		    const struct code_facts *facts);
};

/* -ENOMEM, or what the sink returned. */
int sfg_go_flow(const struct go_text *text, struct go_flow_sink *sink);

#endif /* SFRAMEGEN_GO_FLOW_H */
