// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * What perf is told of the length of samples, and the rate that it then allows
 * for the whole machine: hostile tables must not push it lower than frame
 * pointers can. Lengths are instructions, in a guest that counts them, so the
 * deadline is set in proportion: to half of what frame pointers take, as its
 * default is on a real machine.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tap.h"
#include "made.h"
#include "measure.h"
#include "probe.h"

#define SYSCTL		"/proc/sys/kernel/"
#define LENGTH		"/sys/module/sample_took/parameters/length"
#define RATE		SYSCTL "perf_event_max_sample_rate"
#define FULL_RATE	100000

/* A longer callchain in place of cold memory. */
#define DEPTH		508

/* What a walk may take after its deadline: reads, the step, a page fault. */
#define INTERVAL	32
#define READ_MAX	100
#define LAST_STEP_MAX	1500

#define NO_LIMIT	1000000

struct hostile {
	const char *name;
	struct made_table table;
};

static const struct hostile hostile[] = {
	{ "index", {
		.probes = MADE_MAX_PROBES, .rows = 1, .kind = MADE_FLEX_CFA,
	} },
	{ "rows", {
		.probes = 1, .rows = MADE_MAX_ROWS, .kind = MADE_FLEX_ALL,
	} },
	{ "index and rows", {
		.probes = MADE_MAX_PROBES, .rows = MADE_MAX_ROWS,
		.kind = MADE_FLEX_ALL,
	} },
};

static struct stack stack;

static void write_number(const char *path, uint64_t number)
{
	FILE *file = fopen(path, "we");

	if (!file || fprintf(file, "%" PRIu64 "\n", number) < 0 || fclose(file))
		die("%s: %m", path);
}

static uint64_t read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	uint64_t number;

	if (!file || fscanf(file, "%" SCNu64, &number) != 1)
		die("%s: %m", path);
	fclose(file);
	return number;
}

/* The rate that perf allows when all samples are as long as this. */
static uint64_t rate_of(uint64_t ns)
{
	write_number(LENGTH, 0);
	write_number(RATE, FULL_RATE);
	write_number(LENGTH, ns);
	return read_number(RATE);
}

static uint64_t sample_ns(enum event_mode mode)
{
	struct event event;
	uint64_t ns;

	event_open_probe(&event, mode, 0);
	ns = probe_cost(&stack);
	event_close(&event);
	return ns;
}

static uint64_t frame_pointers_ns(void)
{
	stack_init(&stack);
	while (stack.depth < DEPTH - 1)
		stack_add_fp(&stack, (uintptr_t)bench_trigger_insn);
	stack_end(&stack, (uintptr_t)bench_trigger_insn);
	return sample_ns(EVENT_AT_ONCE);
}

static uint64_t hostile_ns(const struct hostile *one, unsigned int us)
{
	uint64_t ns;

	write_number(SYSCTL "sframe_walk_us", us);
	made_register(&one->table, 0);
	stack_init(&stack);
	*stack.words = (uintptr_t)(stack.words + 4);
	stack_begin_row(&stack, 32, -16);
	probe_place(made_text(0) + MADE_CALL - 1);
	while (stack.depth < DEPTH)
		stack_add_stored(&stack, made_text(0) + MADE_CALL);
	ns = sample_ns(EVENT_AT_ONCE);
	made_unregister(0);
	return ns;
}

static void check_hostile(const struct hostile *one, uint64_t allowed,
			  unsigned int us, uint64_t fp_rate)
{
	uint64_t without = hostile_ns(one, NO_LIMIT), ns = hostile_ns(one, us);
	uint64_t rate = rate_of(ns), without_rate = rate_of(without);
	char name[64];

	snprintf(name, sizeof(name), "%s: without a deadline the rate is lower",
		 one->name);
	result(without_rate < fp_rate, name, "%" PRIu64 " ns, %" PRIu64,
	       without, without_rate);
	snprintf(name, sizeof(name), "%s: no longer than the deadline allows",
		 one->name);
	result(ns <= allowed, name, "%" PRIu64 " ns, %" PRIu64 " allowed", ns,
	       allowed);
	snprintf(name, sizeof(name), "%s: the rate is not lower", one->name);
	result(rate >= fp_rate, name, "%" PRIu64 ", by frame pointer %" PRIu64,
	       rate, fp_rate);
}

int main(void)
{
	uint64_t fp, fp_rate, empty;
	unsigned int us;
	size_t i;

	check_icount();
	probe_open();
	made_map(1, 1);
	write_number(SYSCTL "perf_event_max_stack", DEPTH);

	fp = frame_pointers_ns();
	empty = sample_ns(EVENT_NO_CHAIN);
	us = fp / 2 / 1000;
	fp_rate = rate_of(fp);
	result(fp_rate < FULL_RATE, "long samples lower the rate",
	       "%" PRIu64 " ns, %" PRIu64, fp, fp_rate);
	for (i = 0; i < ARRAY_SIZE(hostile); i++)
		check_hostile(&hostile[i], empty + us * 1000 +
			      INTERVAL * READ_MAX + LAST_STEP_MAX, us, fp_rate);
	return finish();
}
