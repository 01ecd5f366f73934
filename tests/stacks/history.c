// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: what lies where and when, against a list of all events.
 *
 * Events and questions come in no order of time, as from the rings of many
 * CPUs.
 * The model looks through all events for the last one that an address and time
 * have seen.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"
#include "origin.h"
#include "process.h"

#define ADDRESSES	24
#define TIMES		64
#define ORIGINS		8
#define MAX_EVENTS	160
#define ROUNDS		300

enum event_kind { PAINT, FORK };

struct event {
	enum event_kind kind;
	pid_t pid, parent;
	enum process_layer layer;
	uint64_t time, start, end;
	struct origin *origin;
};

static struct event events[MAX_EVENTS];
static size_t nr_events;
static struct origin *origins[ORIGINS];
static unsigned int seed;

static unsigned int any(unsigned int n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % n;
}

/* The fork that made whom the number means at a time; NULL: none did. */
static const struct event *made(pid_t pid, uint64_t time)
{
	const struct event *e, *last = NULL;

	for (e = events; e < events + nr_events; e++)
		if (e->kind == FORK && e->pid == pid && e->time <= time &&
		    (!last || e->time >= last->time))
			last = e;
	return last;
}

/* What is mapped or unmapped erases generated code: here all is of files. */
static bool concerns(const struct event *e, enum process_layer layer)
{
	return e->layer == layer || layer == PROCESS_CODE;
}

static struct origin *model(pid_t pid, enum process_layer layer, uint64_t addr,
			    uint64_t time)
{
	const struct event *birth = made(pid, time);
	const struct event *e, *last = NULL;

	for (e = events; e < events + nr_events; e++)
		if (e->kind == PAINT && e->pid == pid && concerns(e, layer) &&
		    e->time <= time && (!birth || e->time >= birth->time) &&
		    addr >= e->start && addr < e->end &&
		    (!last || e->time >= last->time))
			last = e;
	if (last)
		return last->layer == layer ? last->origin : NULL;
	if (!birth || !birth->parent)
		return NULL;
	return model(birth->parent, layer, addr, birth->time);
}

static struct origin *asked(struct processes *all, pid_t pid,
			    enum process_layer layer, uint64_t addr,
			    uint64_t time)
{
	struct process *p = process_find(all, pid, time);
	const struct piece *piece;

	if (!p)
		return NULL;
	piece = history_find(&p->layers[layer], addr, time);
	return piece ? piece->origin : NULL;
}

/*
 * Forks have odd times, paint has even ones. A number is never its own
 * ancestor's.
 */
static struct event random_event(uint64_t settled, bool in_order,
				 uint64_t *now)
{
	struct event e = { .kind = any(8) ? PAINT : FORK };

	*now = (*now < settled ? settled : *now) + any(2);
	e.time = in_order ? *now : settled + any(TIMES);
	e.time = (e.time & ~1ULL) + (e.kind == FORK) + 2;
	e.pid = 1 + any(4);
	if (e.kind == FORK) {
		e.parent = any(e.pid);
		return e;
	}
	e.layer = any(PROCESS_LAYERS);
	e.start = any(ADDRESSES);
	e.end = e.start + 1 + any(ADDRESSES - e.start);
	e.origin = any(3) ? origins[any(ORIGINS)] : NULL;
	return e;
}

/* Twice, or after its own child. */
static bool is_forbidden(const struct event *new)
{
	const struct event *e;

	for (e = events; e < events + nr_events; e++)
		if (e->kind == FORK &&
		    ((e->pid == new->pid && e->time == new->time) ||
		     (e->parent == new->pid && e->time >= new->time)))
			return true;
	return false;
}

static void apply(struct processes *all, const struct event *e)
{
	struct paint paint = {
		.start = e->start, .end = e->end, .time = e->time,
		.origin = e->origin,
	};
	struct process *p;

	if (e->kind == FORK) {
		MUST(!process_fork(all, e->pid, e->parent, e->time));
		return;
	}
	p = process_get(all, e->pid, e->time);
	MUST(p && !(e->layer == PROCESS_MAPS ? process_map(p, &paint) :
					       process_generate(p, &paint)));
}

/* The first address and time for which the two differ. */
static bool agree(struct processes *all, uint64_t from, uint64_t to,
		  char *why, size_t size)
{
	uint64_t addr, time;
	unsigned int layer;
	pid_t pid;

	for (pid = 1; pid < 5; pid++)
		for (layer = 0; layer < PROCESS_LAYERS; layer++)
			for (time = from; time < to; time++)
				for (addr = 0; addr < ADDRESSES; addr++) {
					if (asked(all, pid, layer, addr,
						  time) ==
					    model(pid, layer, addr, time))
						continue;
					snprintf(why, size,
						 "pid %d layer %u address %d time %d, %zu events",
						 pid, layer, (int)addr,
						 (int)time, nr_events);
					return false;
				}
	return true;
}

static bool round_agrees(unsigned int number, char *why, size_t size)
{
	struct processes all;
	uint64_t settled = 0, now = 0;
	struct event e;
	bool good = true, in_order = number % 4 == 0;
	size_t nr = 1 + number % MAX_EVENTS;

	seed = number;
	nr_events = 0;
	processes_init(&all);
	while (nr_events < nr && good) {
		e = random_event(settled, in_order, &now);
		if (e.kind == FORK && is_forbidden(&e))
			continue;
		events[nr_events++] = e;
		apply(&all, &e);
		if (!any(40)) {
			good = agree(&all, settled, settled + TIMES + 4, why,
				     size);
			settled += any(TIMES / 4);
			processes_settle(&all, settled);
		}
	}
	if (good)
		good = agree(&all, settled, settled + TIMES + 4, why, size);
	processes_clear(&all);
	if (good && (all.nr || all.histories.nr || all.histories.nr_passing)) {
		snprintf(why, size, "something is left");
		good = false;
	}
	return good;
}

static void test_agree(void)
{
	char why[200] = "";
	unsigned int i;
	bool good = true;

	for (i = 0; i < ROUNDS && good; i++)
		good = round_agrees(i, why, sizeof(why));
	result(good, "as the list of all events says", "round %u: %s", i - 1,
	       why);
}

/* What is over is freed, and what was never there. */
static void test_memory(void)
{
	struct paint paint = { .start = 10, .end = 20 };
	struct processes all;
	struct process *p;
	unsigned int i;

	processes_init(&all);
	for (i = 0; i < 1000; i++) {
		paint.time = i;
		paint.origin = i % 2 ? NULL : origins[0];
		p = process_get(&all, 1, i);
		MUST(p && !process_map(p, &paint));
	}
	IS("before settling", all.histories.nr, 1000);
	processes_settle(&all, 998);
	IS("one piece and its end are left", all.histories.nr, 2);
	processes_settle(&all, 999);
	IS("nothing is left", all.histories.nr, 0);
	process_exit(p, 1000);
	processes_settle(&all, 999);
	IS("the process is there before its end", all.nr, 1);
	processes_settle(&all, 1000);
	IS("and not after it", all.nr, 0);
	IS("origins are counted", origins[0]->refs, 1);
}

/* A fork of a large process takes a few bytes in a file. */
static void test_limit(void)
{
	struct paint paint = { .time = 1, .origin = origins[0] };
	struct processes all;
	struct process *p;
	unsigned int i;
	int ret = 0;

	processes_init(&all);
	p = process_get(&all, 1, 1);
	MUST(p);
	for (i = 0; i < 65536; i++) {
		paint.start = 2 * i;
		paint.end = 2 * i + 1;
		MUST(!process_map(p, &paint));
	}
	for (i = 0; i < 100 && !ret; i++)
		ret = process_fork(&all, 2 + i, 1, 2);
	IS("forks up to the limit", ret, -ENOSPC);
	IS("so many mappings", all.histories.nr, SFJIT_STACKS_MAX_MAPPINGS);
	processes_clear(&all);
	IS("all are freed", all.histories.nr, 0);
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < ORIGINS; i++) {
		origins[i] = origin_of_code(NULL, false);
		MUST(origins[i]);
	}
	test_agree();
	test_memory();
	test_limit();
	for (i = 0; i < ORIGINS; i++)
		origin_put(origins[i]);
	return finish();
}
