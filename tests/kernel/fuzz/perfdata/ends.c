// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Any bytes as saved ends of stacks, with and without a head. If they are
 * read, they add up, are in order, and stay the same after writing them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "perfdata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD	"sfjit ends 1\nof 5 3 4\n"
#define BYTES	5

static const struct timespec changed = { 3, 4 };

static int read_from(void *text, size_t length, struct perfdata_ends *ends)
{
	FILE *file = fmemopen(text, length, "r");
	int ret;

	REQUIRE(file);
	ret = perfdata_ends_read(ends, BYTES, &changed, file);
	fclose(file);
	return ret;
}

static void require_good(const struct perfdata_ends *ends)
{
	uint64_t sum = ends->without + ends->complete;
	const struct perfdata_end *end;
	size_t i;

	REQUIRE(!ends->chains);
	for (i = 0; i < ends->nr; i++) {
		end = &ends->list[i];
		REQUIRE(end->samples && !end->chain && !end->launched);
		REQUIRE(end->why < SFJIT_STACKS_NR_ENDS);
		REQUIRE(end->why != SFJIT_STACKS_OUTERMOST);
		REQUIRE(end->place < PERFDATA_NR_PLACES);
		REQUIRE(!end->module || end->place == PERFDATA_FILE);
		REQUIRE(!i || end->samples <= end[-1].samples);
		sum += end->samples;
	}
	REQUIRE(sum == ends->samples);
}

static void require_equal(const struct perfdata_end *a,
			  const struct perfdata_end *b)
{
	REQUIRE(a->samples == b->samples && a->why == b->why &&
		a->place == b->place && !a->module == !b->module);
	REQUIRE(!a->module || !strcmp(a->module, b->module));
}

static void require_written(const struct perfdata_ends *ends)
{
	struct perfdata_ends again;
	size_t length, i;
	char *text;
	FILE *file = open_memstream(&text, &length);

	REQUIRE(file && !perfdata_ends_write(ends, BYTES, &changed, file));
	REQUIRE(!fclose(file));
	REQUIRE(!read_from(text, length, &again));
	REQUIRE(again.nr == ends->nr && again.samples == ends->samples &&
		again.without == ends->without &&
		again.complete == ends->complete);
	for (i = 0; i < ends->nr; i++)
		require_equal(&ends->list[i], &again.list[i]);
	perfdata_ends_free(&again);
	free(text);
}

/* The n-th allocation fails: nothing is read, and nothing is left. */
static void require_no_memory(void *text, size_t length)
{
	struct perfdata_ends ends;
	unsigned int nth = 1;
	int ret;

	do {
		fail_allocation(nth++);
		ret = read_from(text, length, &ends);
		REQUIRE(!ret || (ret == -ENOMEM && allocation_failed()));
	} while (ret);
	fail_allocation(0);
	perfdata_ends_free(&ends);
}

static void check(void *text, size_t length)
{
	struct perfdata_ends ends;
	int ret = read_from(text, length, &ends);

	REQUIRE(!ret || ret == -EBADMSG || ret == -ESTALE);
	if (ret)
		return;
	require_good(&ends);
	require_written(&ends);
	if (ends.nr < 8)
		require_no_memory(text, length);
	perfdata_ends_free(&ends);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(sizeof(HEAD) + size);

	REQUIRE(text);
	memcpy(text, HEAD, sizeof(HEAD) - 1);
	memcpy(text + sizeof(HEAD) - 1, data, size);
	check(text, sizeof(HEAD) - 1 + size);
	if (size)
		check(text + sizeof(HEAD) - 1, size);
	free(text);
	return 0;
}
