// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: hostile [-q]
 *
 * Instructions of the most expensive callchain that hostile tables can cause
 * in an NMI, found by search, and of the most expensive that sframegen's can.
 * Prints lines
 *	legal NAME VALUE FRAMES	tables of sframegen
 *	budget VALUE		reads and rows of the longest walk of short steps
 *	unit NAME VALUE		of one, in each step of a callchain
 *	case WHAT VALUE		the most expensive with one parameter set to this
 *	worst WHAT VALUE	the most expensive of all
 *	limit US		kernel.sframe_walk_us of what follows
 *	limited WHAT VALUE	the same as case
 *	limited-legal NAME VALUE FRAMES	the same as legal
 *	deferred NAME VALUE FRAMES	the same, deferred, four times as deep
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include <sfjit/sframe.h>

#include "legal.h"
#include "made.h"
#include "measure.h"
#include "probe.h"

/* Steps of a full callchain, including the trigger's. */
#define STEPS		STACK_PERF
#define MAX_SIGNALS	8
#define MAX_VALUES	24

/* A deferred callchain has as many words as a page, without its header. */
#define DEFER_STEPS	508
#define SAMPLES		5

/* With the walk's own windows, the maximum number. */
#define NR_OTHERS	65533

/* A step counts this besides probes and rows: SFRAME_STACK_READS. */
#define STACK_READS	2

/* More probes and rows than the budget of a full callchain. */
#define MANY_PROBES	22
#define MANY_ROWS	16

/* kernel.sframe_walk_us: one that no walk reaches, and the default. */
#define NO_LIMIT	1000000
#define USUAL_LIMIT	50

/* Parameters. The search changes one at a time. */
enum what {
	PROBES, ROWS, KIND, START_SIZE, WORD_SIZE, TAIL, MASK, SIGNALS,
	END, PLACE, NR_WHAT
};

enum end { END_FULL, END_FAULT, NR_ENDS };

/* In place of a number of rows: as many as a full callchain has budget for. */
#define ROWS_SHARE	0
#define ROWS_MORE	-1	/* one more */

/*
 * Numbers of texts. Other windows get the even ones after these, so that each
 * odd one is a place in the tree.
 */
enum place { PLACE_ALONE, PLACE_SIGNAL, FIRST_PLACE };

struct choice {
	const char *name;
	int nr;
	int values[MAX_VALUES];
};

static struct choice choices[NR_WHAT] = {
	[PROBES] = { "probes", 9, { 1, 2, 3, 5, 9, 14, 15, 20, 25 } },
	[ROWS] = {
		"rows", 17, { ROWS_SHARE, ROWS_MORE, 1, 8, 16, 20, 22, 23, 24,
			      25, 26, 27, 28, 29, 30, 48, 64 }
	},
	[KIND] = { "kind", 6, { 0, 1, 2, 3, 4, 5 } },
	[START_SIZE] = { "start-size", 3, { 0, 1, 2 } },
	[WORD_SIZE] = { "word-size", 3, { 0, 1, 2 } },
	[TAIL] = {
		"tail", 6, { 0, 1, 9, 64, 300, 700 }
	},
	[MASK] = { "mask", 2, { 0, 1 } },
	[SIGNALS] = { "signals", 2, { 0, MAX_SIGNALS } },
	[END] = { "end", NR_ENDS, { END_FULL, END_FAULT } },
	[PLACE] = { "place", 1, { PLACE_ALONE } },
};

struct point {
	int value[NR_WHAT];
	uint64_t cost;
};

static struct stack stack;
static uint64_t empty;
static int budget;

static uint64_t walk_cost(void)
{
	return probe_cost(&stack) - empty;
}

static int nr_rows(const struct point *point)
{
	int rows = point->value[ROWS];

	if (rows > 0)
		return rows;
	rows = budget / STEPS - STACK_READS - point->value[PROBES] - rows;
	if (rows < 1)
		return 1;
	return rows < MADE_MAX_ROWS ? rows : MADE_MAX_ROWS;
}

static void enter_point(const struct point *point)
{
	const int *v = point->value;
	const struct made_table table = {
		.probes = v[PROBES],
		.rows = nr_rows(point),
		.kind = v[KIND],
		.start_size = v[START_SIZE],
		.word_size = v[WORD_SIZE],
		.tail = v[TAIL],
		.mask = v[MASK],
	};

	made_register(&table, v[PLACE]);
	probe_place(made_text(v[PLACE]) + MADE_CALL - 1);
}

static void leave_point(const struct point *point)
{
	made_unregister(point->value[PLACE]);
}

static void begin_stack(void)
{
	stack_init(&stack);
	*stack.words = (uintptr_t)(stack.words + 4);
	stack_begin_row(&stack, 32, -16);
}

static void build_stack(const struct point *point, size_t depth)
{
	uint64_t ip = made_text(point->value[PLACE]) + MADE_CALL;
	int i;

	begin_stack();
	for (i = 0; i < point->value[SIGNALS]; i++)
		stack_add_signal(&stack, made_text(PLACE_SIGNAL) + 1);
	while (stack.depth < depth - 1)
		stack_add_stored(&stack, ip);
	if (point->value[END] == END_FAULT)
		stack_end_unreadable(&stack, ip);
	else
		stack_add_stored(&stack, ip);
}

static void measure(struct point *point)
{
	enter_point(point);
	build_stack(point, STEPS - (point->value[END] == END_FAULT));
	point->cost = walk_cost();
	leave_point(point);
}

/* Sets one parameter to its most expensive value and keeps the others. */
static int improve(struct point *best, enum what what)
{
	struct point point = *best;
	int i, better = 0;

	for (i = 0; i < choices[what].nr; i++) {
		point.value[what] = choices[what].values[i];
		measure(&point);
		if (point.cost > best->cost) {
			*best = point;
			better = 1;
		}
	}
	return better;
}

static void climb(struct point *best)
{
	int what, better;

	measure(best);
	do {
		better = 0;
		for (what = 0; what < NR_WHAT; what++)
			better |= improve(best, what);
	} while (better);
}

/* Starts from several points, since a climb may end in a local maximum. */
static struct point search(int quick)
{
	struct point best = { .cost = 0 }, point;
	int i, rows;

	for (i = 0; i < choices[PROBES].nr; i += quick ? 4 : 2) {
		for (rows = ROWS_MORE; rows <= ROWS_SHARE; rows++) {
			point = (struct point){
				.value[PROBES] = choices[PROBES].values[i],
				.value[ROWS] = rows,
			};
			climb(&point);
			if (point.cost > best.cost)
				best = point;
		}
	}
	return best;
}

static void print_point(const struct point *point)
{
	int i;

	printf("worst ");
	for (i = 0; i < NR_WHAT; i++)
		printf("%s%s=%d", i ? "," : "", choices[i].name,
		       i == ROWS ? nr_rows(point) : point->value[i]);
	printf(" %" PRIu64 "\n", point->cost);
}

/*
 * Prints the effect of each value of each parameter on the most expensive walk.
 */
static void print_cases(const char *word, const struct point *worst)
{
	struct point point;
	int what, i;

	for (what = 0; what < NR_WHAT; what++) {
		for (i = 0; i < choices[what].nr; i++) {
			point = *worst;
			point.value[what] = choices[what].values[i];
			measure(&point);
			printf("%s %s=%d %" PRIu64 "\n", word,
			       choices[what].name,
			       what == ROWS ? nr_rows(&point) :
			       point.value[what], point.cost);
		}
	}
}

static size_t frames_found(void)
{
	uint64_t chain[STACK_PERF + 1];

	return probe_chain(&stack, chain, ARRAY_SIZE(chain));
}

/* Walks up to the step that exceeds the budget. */
static int measure_budget(void)
{
	const struct point point = {
		.value = {
			[PROBES] = MANY_PROBES, [ROWS] = MANY_ROWS,
		},
	};
	size_t steps;

	enter_point(&point);
	build_stack(&point, STEPS);
	steps = frames_found() - 1;
	leave_point(&point);
	if (steps == STEPS)
		die("no end of the budget");
	return steps * (MANY_PROBES + MANY_ROWS + STACK_READS);
}

static void print_legal(const char *word, const struct legal_kind *kind)
{
	uint64_t chain[STACK_PERF + 1];
	size_t nr;

	legal_enter(kind);
	legal_build(&stack, STACK_PERF, 1);
	nr = probe_chain(&stack, chain, ARRAY_SIZE(chain));
	if (!nr || memcmp(chain + 1, stack.chain, (nr - 1) * sizeof(*chain)))
		die("legal table %s: wrong addresses", kind->name);
	printf("%s %s %" PRIu64 " %zu\n", word, kind->name, walk_cost(), nr);
	legal_leave();
}

/* The cost of one more unit in each step of a full callchain. */
static void print_unit(const char *name, struct point point, enum what what,
		       int more)
{
	uint64_t less;

	measure(&point);
	less = point.cost;
	point.value[what] += more;
	measure(&point);
	printf("unit %s %.1f\n", name,
	       (double)(point.cost - less) / STEPS / more);
}

static void print_row_unit(int start_size, int word_size, enum made_kind kind)
{
	const struct point point = { .value = {
		[PROBES] = 1, [ROWS] = 2, [START_SIZE] = start_size,
		[WORD_SIZE] = word_size, [KIND] = kind,
	} };
	char name[64];

	snprintf(name, sizeof(name), "row,start-size=%d,word-size=%d,kind=%d",
		 start_size, word_size, kind);
	print_unit(name, point, ROWS, 12);
}

static void print_step_unit(const char *name, int place)
{
	struct point point = {
		.value = {
			[PROBES] = 1, [ROWS] = 1, [PLACE] = place,
		},
	};

	measure(&point);
	printf("unit %s %.1f\n", name, (double)point.cost / STEPS);
}

/* The last step faults instead of reading its last word. */
static void print_fault(void)
{
	struct point point = {
		.value = {
			[PROBES] = 1, [ROWS] = 1, [KIND] = MADE_FLEX_ALL,
		},
	};
	uint64_t without;

	measure(&point);
	without = point.cost;
	point.value[END] = END_FAULT;
	measure(&point);
	printf("unit fault %" PRIu64 "\n", point.cost - without);
}

static void print_units(void)
{
	const struct point point = {
		.value = { [PROBES] = 1, [ROWS] = 1 },
	};
	int start_size, word_size;

	print_step_unit("step", PLACE_ALONE);
	print_fault();
	print_unit("probe", point, PROBES, 10);
	for (start_size = 0; start_size < 3; start_size++) {
		for (word_size = 0; word_size < 3; word_size++) {
			print_row_unit(start_size, word_size, MADE_CFA);
			print_row_unit(start_size, word_size, MADE_FLEX_ALL);
		}
	}
}

static void measure_empty(void)
{
	struct event event;

	begin_stack();
	event_open_probe(&event, EVENT_NO_CHAIN, 0);
	empty = probe_cost(&stack);
	event_close(&event);
}

/* Uses places all over a tree of the maximum size. */
static void search_places(struct point *best, size_t nr)
{
	struct choice *place = &choices[PLACE];
	size_t i;

	for (i = 0; i < nr; i++)
		made_register_other(FIRST_PLACE + 2 * i);
	place->nr = MAX_VALUES;
	for (i = 0; i < MAX_VALUES; i++)
		place->values[i] = FIRST_PLACE + 1 +
				   2 * (i * (nr - 1) / (MAX_VALUES - 1));
	climb(best);
}

/* The median: a timer interrupt hits fewer than half of the samples. */
static uint64_t trigger_cost(enum event_mode mode)
{
	uint64_t costs[SAMPLES];
	struct event event;
	size_t i;

	event_open(&event, mode, 0);
	for (i = 0; i < SAMPLES; i++)
		costs[i] = stack_trigger(&stack);
	event_close(&event);
	return median(costs, SAMPLES);
}

static size_t deferred_frames(void)
{
	uint64_t chain[STACK_MAX];

	return stack_chain(&stack, EVENT_DEFERRED, chain, ARRAY_SIZE(chain));
}

static void print_deferred(const char *name)
{
	uint64_t cost = trigger_cost(EVENT_DEFERRED) -
			trigger_cost(EVENT_NO_CHAIN);

	printf("deferred %s %" PRIu64 " %zu\n", name, cost,
	       deferred_frames());
}

/* Such walks take page faults, so interrupts are on. */
static void measure_deferred(const struct point *worst)
{
	struct point point = *worst;
	const struct legal_kind *kind = legal_kinds;

	point.value[END] = END_FULL;
	enter_point(&point);
	build_stack(&point, DEFER_STEPS);
	print_deferred("worst");
	leave_point(&point);

	for (; kind < legal_kinds + LEGAL_NR_KINDS; kind++) {
		legal_enter(kind);
		legal_build(&stack, DEFER_STEPS, 0);
		print_deferred(kind->name);
		legal_leave();
	}
}

static void set_limit(unsigned int us)
{
	FILE *file = fopen("/proc/sys/kernel/sframe_walk_us", "we");

	if (!file || fprintf(file, "%u\n", us) < 0 || fclose(file))
		die("cannot set kernel.sframe_walk_us: %m");
}

static void measure_limited(const struct point *worst)
{
	int i;

	set_limit(USUAL_LIMIT);
	printf("limit %d\n", USUAL_LIMIT);
	for (i = 0; i < LEGAL_NR_KINDS; i++)
		print_legal("limited-legal", &legal_kinds[i]);
	print_cases("limited", worst);
	set_limit(NO_LIMIT);
}

static void measure_walks(int quick)
{
	struct point worst;
	int i;

	for (i = 0; i < LEGAL_NR_KINDS; i++)
		print_legal("legal", &legal_kinds[i]);
	print_units();
	worst = search(quick);
	search_places(&worst, NR_OTHERS / (quick ? 16 : 1));
	print_step_unit("step-crowded", worst.value[PLACE]);
	print_cases("case", &worst);
	print_point(&worst);
	measure_limited(&worst);
	measure_deferred(&worst);
}

int main(int argc, char **argv)
{
	int quick = argc == 2 && !strcmp(argv[1], "-q");
	struct event event;

	if (argc != 1 + quick)
		die("usage: hostile [-q]");
	check_icount();
	probe_open();
	made_map(FIRST_PLACE + 2 * NR_OTHERS, 1);
	made_register_signal(PLACE_SIGNAL);
	measure_empty();
	set_limit(NO_LIMIT);
	budget = measure_budget();
	printf("budget %d\n", budget);

	event_open_probe(&event, EVENT_AT_ONCE, 0);
	measure_walks(quick);
	event_close(&event);
	return 0;
}
