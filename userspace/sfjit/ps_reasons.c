// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The meaning of the reasons in /proc/PID/sframe, for readers of profiles. */
#include <string.h>

#include "ps.h"

static const struct {
	const char *name, *words;
} reasons[] = {
	{ "section_fault", "part of the table was not in memory" },
	{ "stack_fault", "part of the stack was not in memory, or a row is "
			 "wrong" },
	{ "no_fde", "the table has a gap there" },
	{ "no_row", "the function has no row for its beginning" },
	{ "fde_order", "functions are not sorted, or changed while read" },
	{ "fde_range", "a function is not inside of the window" },
	{ "fde_type", "the kernel does not know this kind of function" },
	{ "fre_offset", "rows would be outside of the table" },
	{ "rep_size", "rows that repeat after 0 bytes" },
	{ "row_order", "rows are not sorted" },
	{ "row_words", "a row with too many words, or too few" },
	{ "row_rule", "a row that the format does not allow" },
	{ "row_register", "the caller's stack pointer is in a register that "
			  "is not known there" },
	{ "cfa_order", "the stack would not go up: a wrong row" },
	{ "cfa_align", "the stack would not be aligned: a wrong row" },
	{ "budget", "the walk exceeded its budget of table reads" },
	{ "changed", "the window was replaced or removed twice meanwhile" },
	{ "signal", "not the frame of a signal, or too many of them" },
	{ "return_address", "a row or frame pointer led to a word that is no "
			    "return address" },
	{ "return_probe", "a return probe that the kernel does not find" },
	{ "deadline", "a walk took longer than kernel.sframe_walk_us" },
	{ "no_caller", "the return address is 0: the first function of a "
		       "coroutine" },
	{ "frame_pointer", "no window covers the address, and the frame pointer "
			   "leads to no frame" },
};

const char *ps_explain(const char *reason)
{
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (!strcmp(reasons[i].name, reason))
			return reasons[i].words;
	return NULL;
}
