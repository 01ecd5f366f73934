/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Go's table of functions, between go_table.c and go_rows.c. */
#ifndef SFRAMEGEN_GO_H
#define SFRAMEGEN_GO_H

#include "core.h"

/*
 * @start, @end: of the code, up to the next function, with what fills the gap
 * @name:	ends with a zero inside the table; "" if it has none
 * @deltas:	of the stack pointer, offset in the table; 0: none
 * @is_compiled: and not assembly; false if the table does not tell
 * @writes_sp:	assembly that moves the stack pointer in other ways than the
 *		deltas know; true if the table does not tell
 */
struct go_function {
	uint64_t start, end;
	const char *name;
	size_t deltas;
	bool is_compiled, writes_sp;
};

/* False: the table is damaged there, or there is no code. */
bool sfg_go_function(const struct sfg_go *go, uint32_t index,
		     struct go_function *f);
/* The last function at or below an address; false: none has it. */
bool sfg_go_find(const struct sfg_go *go, uint64_t addr, uint32_t *index);

/* The bytes [lo, hi) of a function where the stack pointer is so far down. */
struct go_delta {
	uint64_t lo, hi;
	int32_t delta;
};

/* Walks over them; starts with zeros, but for 'go' and 'f'. */
struct go_deltas {
	const struct sfg_go *go;
	const struct go_function *f;
	size_t at;
	uint64_t pc;
	int32_t value;
};

/* False: there are no more, or the rest is damaged. */
bool sfg_go_next_delta(struct go_deltas *d, struct go_delta *delta);

/*
 * Rows of a function, in order of address. 'row' NULL: it is where a signal handler
 * returns to. Addresses that are left out have none. 'exact': the caller's address
 * is that of the next instruction, which follows no call.
 */
struct go_sink {
	int (*row)(struct go_sink *sink, uint64_t lo, uint64_t hi, bool exact,
		   const struct sfjit_row *row);
};

/* Bytes of code, SFG_READ_MAX at most; NULL: they cannot be read. */
struct go_code {
	const uint8_t *(*read)(const struct go_code *code, uint64_t addr,
			       size_t len);
	const struct sfg_input *in;
	const struct sfg_image *range;
};

/* -ENOMEM, or what the sink returned. */
int sfg_go_rows(const struct sfg_go *go, const struct go_function *f,
		const struct go_code *code, struct go_sink *sink);

/* go.c: functions whose code is all in [lo, hi) of a range. */
int sfg_add_go(const struct sfg_input *in, const struct sfg_image *range,
	       uint64_t lo, uint64_t hi, struct sfg_builder *rows,
	       struct sfg_summary *sum);

#endif /* SFRAMEGEN_GO_H */
