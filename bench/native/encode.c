// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * encode MILLISECONDS: the template patch and the encoder against libsframe.
 *
 * Calls each in short runs for that long; the fastest run counts. Prints lines
 * for bench/json. Checks first that both sides produce the same bytes.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sfjit_trampoline.h>
#include <sframegen.h>

#include "encode.h"

#define WINDOW_SIZE	0x10000
#define ROWS		3
#define FUNCTION_SIZE	128
#define SHORTEST_RUN	20000.0		/* ns */

static double budget_ns;

/* Functions at @text, described by a section at @section. */
struct work {
	size_t nr;
	struct sfjit_function *fdes;
	struct sfjit_row *rows;
	struct peer_function *functions;
	struct peer_row *peer_rows;
	uint64_t section;
	unsigned char *buf;
	size_t len, used;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double run(void (*call)(struct work *), struct work *work, long calls)
{
	double start = now();
	long i;

	for (i = 0; i < calls; i++)
		call(work);
	return now() - start;
}

/* Nanoseconds per call in the fastest run. */
static double fastest(void (*call)(struct work *), struct work *work)
{
	double end = now() + budget_ns, best = 0, ns;
	long calls = 1;

	while (run(call, work, calls) < SHORTEST_RUN)
		calls *= 2;
	do {
		ns = run(call, work, calls) / calls;
		if (!best || ns < best)
			best = ns;
	} while (now() < end);
	return best;
}

static void *allocate(size_t nr, size_t size)
{
	void *data = calloc(nr, size);

	if (!data)
		err(1, "calloc");
	return data;
}

static void report(const char *name, double ns, double peer_ns,
		   const char *aim)
{
	printf("%s\t%.1f\tns\tlibsframe\t%.1f\t%s\n", name, ns, peer_ns, aim);
}

/* What a user of the template does for a pool window with rbp. */

static unsigned char patched[sizeof(sfjit_tramp_rbp_sframe)];

static __attribute__((noinline)) void patch(struct work *work)
{
	int64_t start = (int64_t)(work->fdes[0].addr - work->section) -
			SFJIT_TRAMP_RBP_SFRAME_START_OFF;
	uint32_t size = WINDOW_SIZE;

	memcpy(patched, sfjit_tramp_rbp_sframe, sizeof(patched));
	memcpy(patched + SFJIT_TRAMP_RBP_SFRAME_START_OFF, &start,
	       sizeof(start));
	memcpy(patched + SFJIT_TRAMP_RBP_SFRAME_SIZE_OFF, &size, sizeof(size));
	__asm__ volatile("" ::: "memory");
}

static void peer(struct work *work)
{
	if (!peer_encode(work->functions, work->nr, NULL, 0))
		errx(1, "libsframe refuses");
}

static void same_bytes(const char *name, const void *ours, size_t size,
		       struct work *work)
{
	unsigned char *theirs = allocate(1, size);
	size_t peer_size = peer_encode(work->functions, work->nr, theirs,
				       size);

	if (peer_size != size)
		errx(1, "%s: %zu bytes, libsframe makes %zu", name, size,
		     peer_size);
	if (memcmp(ours, theirs, size))
		errx(1, "%s: not what libsframe makes", name);
	free(theirs);
}

static void bench_patch(void)
{
	static const struct peer_row rows[ROWS] = {
		{ .start = 0, .nr_words = 1, .words = { 8 } },
		{ .start = 5, .nr_words = 2, .words = { 16, -16 } },
		{ .start = 11, .nr_words = 1, .words = { 8 } },
	};
	struct sfjit_function fde = {
		.addr = 0x7f0000000000, .size = WINDOW_SIZE,
	};
	struct peer_function function = {
		.size = WINDOW_SIZE, .nr_rows = ROWS, .rows = rows,
		.rep_size = SFJIT_TRAMP_RBP_SLOT_SIZE,
	};
	struct work work = {
		.nr = 1, .fdes = &fde, .functions = &function,
		.section = fde.addr + WINDOW_SIZE,
	};

	function.start = fde.addr - (work.section +
				     SFJIT_TRAMP_RBP_SFRAME_START_OFF);
	patch(&work);
	same_bytes("template", patched, sizeof(patched), &work);
	report("section of a pool window (template patch)",
	       fastest(patch, &work), fastest(peer, &work), "ratio <= 1/100");
}

/* The general encoder, into a buffer large enough for any rows. */

static void encode(struct work *work)
{
	if (sfg_write_section(SFRAME_ABI_AMD64_LE, work->fdes, work->nr,
			      work->section, work->buf, work->len,
			      &work->used, NULL))
		errx(1, "section cannot be written");
}

/* Into a buffer of the exact size. */
static void encode_exactly(struct work *work)
{
	size_t size, used;
	void *data;

	if (sfg_section_size(SFRAME_ABI_AMD64_LE, work->fdes, work->nr, &size,
			     NULL))
		errx(1, "rows are refused");
	data = malloc(size);
	if (!data || sfg_write_section(SFRAME_ABI_AMD64_LE, work->fdes,
				       work->nr, work->section, data, size,
				       &used, NULL))
		errx(1, "section cannot be written");
	free(data);
}

/* push %rbp; then a frame of a size that no neighbour has. */
static void fill_rows(struct sfjit_row *rows, struct peer_row *peer_rows,
		      size_t index)
{
	int8_t frame = 24 + index % 12 * 8;
	const struct sfjit_rule sp = SFJIT_REG(SFJIT_X86_64_SP, 8);
	const struct sfjit_rule fp = SFJIT_SAVED(-16);
	unsigned int i;

	rows[0] = (struct sfjit_row){ .start = 0, .cfa = sp };
	rows[1] = (struct sfjit_row){ .start = 1, .cfa = sp, .fp = fp };
	rows[2] = (struct sfjit_row){ .start = 9, .cfa = sp, .fp = fp };
	rows[1].cfa.offset = 16;
	rows[2].cfa.offset = frame;
	for (i = 0; i < ROWS; i++)
		peer_rows[i] = (struct peer_row){
			.start = rows[i].start,
			.nr_words = rows[i].fp.base ? 2 : 1,
			.words = { rows[i].cfa.offset, rows[i].fp.offset },
		};
}

static void fill_function(struct work *work, size_t i)
{
	struct sfjit_function *fde = &work->fdes[i];
	uint64_t entry = work->section + sizeof(struct sframe_header) +
			 i * sizeof(struct sframe_fde);

	fill_rows(&work->rows[i * ROWS], &work->peer_rows[i * ROWS], i);
	fde->addr = 0x7f0000000000 + i * FUNCTION_SIZE;
	fde->size = FUNCTION_SIZE;
	fde->nr_rows = ROWS;
	fde->rows = &work->rows[i * ROWS];
	work->functions[i] = (struct peer_function){
		.start = fde->addr - entry, .size = fde->size,
		.nr_rows = ROWS, .rows = &work->peer_rows[i * ROWS],
	};
}

static void bench_functions(size_t nr)
{
	struct work work = {
		.nr = nr,
		.fdes = allocate(nr, sizeof(*work.fdes)),
		.rows = allocate(nr * ROWS, sizeof(*work.rows)),
		.functions = allocate(nr, sizeof(*work.functions)),
		.peer_rows = allocate(nr * ROWS, sizeof(*work.peer_rows)),
		.section = 0x7f0010000000,
		.len = SFG_SECTION_MAX(nr, nr * ROWS),
	};
	char name[64];
	double peer_ns;
	size_t i;

	work.buf = allocate(1, work.len);
	for (i = 0; i < nr; i++)
		fill_function(&work, i);
	snprintf(name, sizeof(name), "section of %zu function%s of %d rows",
		 nr, nr == 1 ? "" : "s", ROWS);
	encode(&work);
	same_bytes(name, work.buf, work.used, &work);
	peer_ns = fastest(peer, &work);
	report(name, fastest(encode, &work), peer_ns, "ratio <= 1/10");
	strcat(name, ", size asked first");
	report(name, fastest(encode_exactly, &work), peer_ns, "");
	free(work.buf);
	free(work.fdes);
	free(work.rows);
	free(work.functions);
	free(work.peer_rows);
}

int main(int argc, char **argv)
{
	budget_ns = (argc == 2 ? atof(argv[1]) : 0) * 1e6;
	if (budget_ns <= 0)
		errx(2, "usage: encode MILLISECONDS");
	bench_patch();
	bench_functions(1);
	bench_functions(1000);
	bench_functions(10000);
	return 0;
}
