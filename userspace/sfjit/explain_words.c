// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Ends of stacks in words. */
#include <stdbool.h>
#include <stddef.h>

#include "explain.h"

#define BIT(n)		(1u << (n))
#define ANYWHERE	(BIT(PERFDATA_NR_PLACES) - 1)
#define GENERATED	(BIT(PERFDATA_CODE) | BIT(PERFDATA_MEMORY))

/* Of what was recorded */
#define COPY		BIT(0)
#define CHAIN		BIT(1)
#define LAUNCHED	BIT(2)
#define ANY		(COPY | CHAIN | LAUNCHED)

/* The first that fits. */
static const struct {
	unsigned int why, recorded, places;
	const char *text;
} remedies[] = {
	{ SFJIT_STACKS_TRUNCATED, ANY, ANYWHERE,
	  "record with --stack=32768 or, at most, 65528; perf's own is "
	  "--call-graph=dwarf,32768" },
	{ SFJIT_STACKS_NO_MAPPING, COPY, ANYWHERE,
	  "record the program from its start; if perf lost events, with "
	  "-m 16M" },
	{ SFJIT_STACKS_NO_MAPPING, ANY, ANYWHERE,
	  "the walk followed a bogus frame pointer: use sfjit record or sfjit "
	  "run" },
	{ SFJIT_STACKS_NO_FILE, ANY, ANYWHERE,
	  "explain it where it was recorded, before the file is replaced" },
	{ SFJIT_STACKS_NO_TABLE, ANY, BIT(PERFDATA_FILE),
	  "build the file with -fasynchronous-unwind-tables" },
	{ SFJIT_STACKS_NO_TABLE, ANY, ANYWHERE,
	  "generated code: its compiler has to keep frame pointers, or to "
	  "describe it" },
	{ SFJIT_STACKS_NO_RULE, ANY, GENERATED,
	  "the compiler's description of this code has a gap" },
	{ SFJIT_STACKS_NO_RULE, ANY, ANYWHERE,
	  "assembly without .cfi directives: add them, or build without it" },
	{ SFJIT_STACKS_NO_REGISTER, ANY, ANYWHERE,
	  "record all registers: without --user-regs" },
	{ SFJIT_STACKS_NOT_SUPPORTED, ANY, ANYWHERE,
	  "none: 32-bit code, or a rule that sfjit does not know" },
	{ SFJIT_STACKS_DAMAGED, ANY, GENERATED,
	  "generated code: start its compiler so that it writes a jitdump, "
	  "perf with -k mono" },
	{ SFJIT_STACKS_DAMAGED, ANY, ANYWHERE,
	  "none: the stack was changed, or the call frame information is "
	  "wrong" },
	{ SFJIT_STACKS_LIMIT, COPY, ANYWHERE,
	  "none: more than 1,024 frames, or very long call frame "
	  "information" },
	{ SFJIT_STACKS_LIMIT, ANY, ANYWHERE,
	  "sysctl kernel.perf_event_max_stack=1024" },
	{ SFJIT_STACKS_OTHER_STACK, ANY, ANYWHERE,
	  "none: the kernel copies the stack of the stack pointer alone; sfjit "
	  "run follows it on a kernel with windows" },
	{ SFJIT_STACKS_STOPPED, LAUNCHED, ANYWHERE,
	  "sfjit doctor shows whether the kernel has windows, sfjit run "
	  "--reasons why walks end" },
	{ SFJIT_STACKS_STOPPED, ANY, ANYWHERE,
	  "sfjit record on any kernel; sfjit run on one with windows" },
	{ PERFDATA_NOT_DEFERRED, ANY, ANYWHERE,
	  "none: the thread did not return to user space, or perf lost the "
	  "event" },
};

static unsigned int recorded(const struct perfdata_end *end)
{
	if (!end->chain)
		return COPY;
	return end->launched ? LAUNCHED : CHAIN;
}

const char *explain_remedy(const struct perfdata_end *end)
{
	size_t i;

	for (i = 0; i < sizeof(remedies) / sizeof(*remedies); i++)
		if (remedies[i].why == end->why &&
		    remedies[i].recorded & recorded(end) &&
		    remedies[i].places & BIT(end->place))
			return remedies[i].text;
	return "none";
}

const char *explain_why(const struct perfdata_end *end)
{
	if (end->why == PERFDATA_NOT_DEFERRED)
		return "the deferred part is missing";
	if (end->why == SFJIT_STACKS_STOPPED)
		return "its call frame information was not used";
	if (end->why == SFJIT_STACKS_NO_MAPPING &&
	    end->place != PERFDATA_NOWHERE)
		return "nothing is known of its caller's address";
	return sfjit_stacks_end_text(end->why);
}

const char *explain_module(const struct perfdata_end *end)
{
	switch (end->place) {
	case PERFDATA_FILE:
		return end->module ? end->module : "[other files]";
	case PERFDATA_CODE:
		return "[jitdump]";
	case PERFDATA_MEMORY:
		return "[generated code]";
	default:
		return "[unknown]";
	}
}
