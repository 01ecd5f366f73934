// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* What the kernel's chain of a sample has of the true stack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "oracle.h"

#define PERF_LENGTH	127	/* kernel.perf_event_max_stack */

static struct truth truth;

static const char *where(const struct process *process, uint64_t ip)
{
	const struct map *map = map_of(process, ip);

	if (!map)
		return "outside all code";
	if (map->path[0] == '[' && strncmp(map->path, "[anon", 5))
		return map->path;
	if (map->path[0] != '/' || !strncmp(map->path, "//anon", 6) ||
	    !strncmp(map->path, "/memfd:", 7))
		return "generated code";
	return strrchr(map->path, '/') + 1;
}

static bool is_complete(const struct sample *sample, struct process *process)
{
	Dwfl *dwfl = dwfl_of(process);
	bool outermost = false;
	uint64_t last;

	if (!sample->nr)
		return false;
	last = sample->ip[sample->nr - 1];
	if (dwfl)
		has_rules(dwfl, last - (sample->nr > 1), &outermost);
	return outermost || (truth.ending == OUTERMOST &&
			     last == truth.frames[truth.nr - 1].ip);
}

/* As perf walks without windows; it checks nothing. */
static unsigned int plain_walk(const struct sample *sample,
			       struct frame *frames)
{
	uint64_t fp = sample->regs[REG_BP], next, ip;
	unsigned int nr = 0;

	while (nr < PERF_LENGTH - 1 && read_stack(sample, fp, &next) &&
	       read_stack(sample, fp + 8, &ip)) {
		frames[nr++] = (struct frame) { .ip = ip, .sp = fp + 16 };
		fp = next;
	}
	return nr;
}

static bool is_true(const struct frame *frame)
{
	unsigned int i;

	for (i = 0; i < truth.nr; i++)
		if (truth.frames[i].sp == frame->sp &&
		    truth.frames[i].ip == frame->ip)
			return true;
	return false;
}

/* A frame further up than the truth goes: known if it calls the one below. */
static bool is_called(struct process *process, const struct frame *frame,
		      uint64_t below)
{
	return truth.ending != OUTERMOST &&
	       frame->sp > truth.frames[truth.nr - 1].sp &&
	       is_direct_call(process, frame->ip, below);
}

/* The true frames that a walk by frame pointer finds and the chain has not. */
static unsigned int nr_lacking(const struct sample *sample,
			       struct process *process)
{
	static struct frame plain[PERF_LENGTH];
	unsigned int nr = plain_walk(sample, plain), i, lacking = 0;
	uint64_t at = 0, found;

	if (sample->nr >= PERF_LENGTH || truth.ending == NO_FILE)
		return 0;
	for (i = 0; i < nr; i++) {
		if (!is_true(&plain[i]) &&
		    !is_called(process, &plain[i], i ? plain[i - 1].ip :
			       sample->regs[REG_IP]))
			continue;
		for (found = at; found < sample->nr; found++)
			if (sample->ip[found] == plain[i].ip)
				break;
		if (found < sample->nr)
			at = found + 1;
		else
			lacking++;
	}
	return lacking;
}

/* How far the two are the same, and whether a frame may be missing in both. */
struct match {
	uint64_t nr;		/* of the chain */
	unsigned int nr_true;
	bool gap;
};

static uint64_t find_address(const struct sample *sample, uint64_t from,
			     uint64_t ip)
{
	while (from < sample->nr && sample->ip[from] != ip)
		from++;
	return from;
}

static struct match compare(const struct sample *sample)
{
	struct match match = {};
	const struct frame *frame;
	uint64_t at;

	while (match.nr < sample->nr && match.nr_true < truth.nr) {
		frame = &truth.frames[match.nr_true];
		/* The kernel may know what is in a gap. */
		at = frame->gap ? find_address(sample, match.nr, frame->ip) :
			match.nr;
		if (at == sample->nr || sample->ip[at] != frame->ip)
			break;
		match.gap |= frame->gap;
		match.nr = at + 1;
		match.nr_true++;
	}
	return match;
}

/* Whether no frame from there on can be one. */
static bool are_impossible(const struct sample *sample,
			   const struct process *process, uint64_t from)
{
	for (; from < sample->nr; from++)
		if (!is_return_address(process, sample->ip[from]))
			return true;
	return false;
}

/* Why a chain ends that is equal to the truth up to there. */
static void print_end(const struct process *process, unsigned int nr)
{
	const char *place = where(process, truth.frames[nr - 1].ip);

	if (nr < truth.nr && !truth.frames[nr].searched)
		printf("cut in %s\n", place);
	else if (nr < truth.nr || truth.ending == NO_CFI)
		printf("cut where call frame information ends: %s\n", place);
	else if (truth.ending == TRUNCATED)
		printf("not judged: stack copy too short\n");
	else if (truth.ending == NO_FILE)
		printf("not judged: libdw does not take %s\n", place);
	else
		printf("cut where libdw fails: %s\n", place);
}

/* The chain ends first. */
static void print_cut(const struct sample *sample,
		      const struct process *process, const struct match *match)
{
	if (sample->nr >= PERF_LENGTH)
		printf("cut: longer than perf records\n");
	else if (!sample->nr)
		printf("cut: no frame\n");
	else
		print_end(process, match->nr_true);
}

static void print_wrong(const struct sample *sample,
			const struct process *process, uint64_t at,
			bool complete)
{
	printf("%s: another caller %s %s\n",
	       complete ? "silently wrong" : "cut and wrong",
	       at < 2 ? "of the topmost function in" : "in",
	       where(process, sample->ip[at ? at - 1 : 0]));
}

/* The chain goes on with something else than the truth, or the truth ends. */
static void print_other(const struct sample *sample,
			const struct process *process,
			const struct match *match, bool complete)
{
	bool ends = match->nr_true == truth.nr && truth.ending != OUTERMOST;
	bool gap = match->nr_true < truth.nr &&
		   truth.frames[match->nr_true].gap;

	if (ends && (truth.ending == TRUNCATED || truth.ending == NO_FILE))
		print_end(process, truth.nr);
	else if ((!ends && !gap) || (gap && complete) ||
		 are_impossible(sample, process, match->nr))
		print_wrong(sample, process, match->nr, complete);
	else if (gap)
		print_cut(sample, process, match);
	else
		printf("uncertain above %s\n",
		       where(process, truth.frames[truth.nr - 1].ip));
}

static const char *first_gap(const struct process *process)
{
	unsigned int i = 1;

	while (i < truth.nr && !truth.frames[i].gap)
		i++;
	return where(process, truth.frames[i - 1].ip);
}

static void print_reason(const struct sample *sample,
			 const struct process *process,
			 const struct match *match, bool complete)
{
	if (match->nr < sample->nr)
		print_other(sample, process, match, complete);
	else if (match->nr_true < truth.nr || truth.ending != OUTERMOST)
		print_cut(sample, process, match);
	else
		printf("uncertain above %s\n", first_gap(process));
}

static void note_cut(struct process *process, uint64_t time)
{
	if (!(process->nr_cuts & (process->nr_cuts - 1)))
		process->cuts = reallocarray(process->cuts,
					     2 * process->nr_cuts + 1,
					     sizeof(*process->cuts));
	if (!process->cuts)
		abort();
	process->cuts[process->nr_cuts++] = time;
}

static bool is_exact(const struct sample *sample, const struct match *match)
{
	return truth.ending == OUTERMOST && match->nr == sample->nr &&
	       match->nr_true == truth.nr && !match->gap;
}

void judge(const struct sample *sample, struct process *process, bool early)
{
	struct match match;
	bool complete;

	find_truth(sample, process, &truth);
	complete = is_complete(sample, process);
	match = compare(sample);
	/* What perf leaves out the kernel does not count. */
	if (!complete && !early && sample->nr < PERF_LENGTH)
		note_cut(process, sample->time);
	printf("%s\t%d\t%u\t", sample->deferred ? "defer" : "fp", complete,
	       early ? 0 : nr_lacking(sample, process));
	if (is_exact(sample, &match)) {
		printf("-\n");
		return;
	}
	printf("%s", early ? "early " : "");
	print_reason(sample, process, &match, complete);
}
