// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reasons.h"
#include "util.h"

/* The meaning of the reasons in /proc/PID/sframe, for readers of profiles. */

static const struct {
	const char *name, *words;
} reasons[] = {
	{ "section_fault", "part of the table was not in memory" },
	{ "stack_fault", "part of the stack was not in memory, or a row is "
			 "wrong" },
	{ "no_fde", "the table has a gap there" },
	{ "no_row", "the table has no row for it" },
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

const char *reasons_explain(const char *reason)
{
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (!strcmp(reasons[i].name, reason))
			return reasons[i].words;
	return NULL;
}

/*
 * The file of sfjit run --reasons: for each process "process PID COMMAND",
 * "REASON N" and "last REASON PLACE".
 */

static struct followed_reason *find_reason(struct followed *followed,
					   const char *name)
{
	struct followed_reason *r = followed->reasons;

	for (; r < followed->reasons + followed->nr; r++)
		if (!strcmp(r->name, name))
			return r;
	return NULL;
}

static int add_to_reason(struct followed *followed, const char *name,
			 uint64_t count)
{
	struct followed_reason *r = find_reason(followed, name);

	if (r) {
		r->count += count;
		return 0;
	}
	if (followed->nr == PS_REASONS)
		return -EPROTO;
	r = &followed->reasons[followed->nr++];
	*r = (struct followed_reason) { .count = count };
	strcpy(r->name, name);
	return 0;
}

static int set_last(struct followed *followed, const char *name,
		    const char *place)
{
	struct followed_reason *r = find_reason(followed, name);

	if (!r)
		return -EPROTO;
	free(r->last);
	r->last = check_alloc(strdup(place));
	return 0;
}

static int parse_reasons_line(struct followed *followed, char *line)
{
	char name[PS_WORD];
	uint64_t count;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "process %*d%n", &at) == 0 && at) {
		followed->processes++;
		return 0;
	}
	if (sscanf(line, "last %31s %n", name, &at) == 1 && at && line[at])
		return set_last(followed, name, line + at);
	if (followed->processes &&
	    sscanf(line, "%31[a-z_]%*1[ ]%" SCNu64, name, &count) == 2)
		return add_to_reason(followed, name, count);
	return -EPROTO;
}

static int most_first(const void *a, const void *b)
{
	const struct followed_reason *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

int reasons_read(struct followed *followed, const char *name)
{
	FILE *file = fopen(name, "re");
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	*followed = (struct followed) { .nr = 0 };
	if (!file)
		return -errno;
	followed->reasons = check_alloc(calloc(PS_REASONS,
					       sizeof(*followed->reasons)));
	while (!ret && getline(&line, &size, file) > 0)
		ret = parse_reasons_line(followed, line);
	if (!ret && ferror(file))
		ret = -errno;
	free(line);
	fclose(file);
	qsort(followed->reasons, followed->nr, sizeof(*followed->reasons),
	      most_first);
	return ret;
}

void reasons_free(struct followed *followed)
{
	size_t i;

	for (i = 0; i < followed->nr; i++)
		free(followed->reasons[i].last);
	free(followed->reasons);
	*followed = (struct followed) { .nr = 0 };
}
