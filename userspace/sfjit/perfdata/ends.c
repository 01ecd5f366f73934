// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Ends of stacks: counted, and in lines. */
#include <errno.h>
#include <grow.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ends.h"

void ends_free(struct ends *ends)
{
	size_t i;

	for (i = 0; i < ends->nr; i++)
		free((char *)ends->list[i].module);
	free(ends->list);
	table_free(&ends->by_hash);
}

static int compare_modules(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !a - !b;
}

/* The end, without its number of samples. */
static int compare_ends(const struct perfdata_end *a,
			const struct perfdata_end *b)
{
	if (a->chain != b->chain)
		return a->chain - b->chain;
	if (a->why != b->why)
		return a->why < b->why ? -1 : 1;
	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	if (a->launched != b->launched)
		return a->launched - b->launched;
	return compare_modules(a->module, b->module);
}

static uint64_t hash_end(const struct perfdata_end *end)
{
	uint64_t hash = (end->why * PERFDATA_NR_PLACES + end->place) * 4 +
			end->chain * 2 + end->launched;
	const char *at;

	for (at = end->module ? end->module : ""; *at; at++)
		hash = hash * 31 + (unsigned char)*at;
	return hash;
}

/* NULL: it is not there, and would be by this key. */
static struct perfdata_end *find_end(const struct ends *ends,
				     const struct perfdata_end *end,
				     uint64_t *key)
{
	const uint64_t *place;

	for (*key = hash_end(end); (place = table_find(&ends->by_hash, *key));
	     ++*key)
		if (!compare_ends(&ends->list[*place], end))
			return &ends->list[*place];
	return NULL;
}

static int append_end(struct ends *ends, const struct perfdata_end *end,
		      uint64_t key)
{
	struct perfdata_end own = *end;
	uint64_t *place;

	if (!grow_array(&ends->list, &ends->max, ends->nr, sizeof(*ends->list)))
		return -ENOMEM;
	own.module = end->module ? strdup(end->module) : NULL;
	if (end->module && !own.module)
		return -ENOMEM;
	place = table_add(&ends->by_hash, key);
	if (!place) {
		free((char *)own.module);
		return -ENOMEM;
	}
	*place = ends->nr;
	ends->list[ends->nr] = own;
	return ends->nr++;
}

int ends_add(struct ends *ends, const struct perfdata_end *end)
{
	struct perfdata_end other = *end, *known;
	uint64_t key;

	known = find_end(ends, end, &key);
	if (!known && end->module && ends->nr >= PERFDATA_ENDS_MOST) {
		other.module = NULL;
		return ends_add(ends, &other);
	}
	if (!known)
		return append_end(ends, end, key);
	known->samples += end->samples;
	return known - ends->list;
}

static int by_samples(const void *x, const void *y)
{
	const struct perfdata_end *a = x, *b = y;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return compare_ends(a, b);
}

void ends_take(struct ends *ends, struct perfdata_ends *result)
{
	size_t nr = ends->nr;

	if (nr)
		qsort(ends->list, nr, sizeof(*ends->list), by_samples);
	while (nr && !ends->list[nr - 1].samples)
		free((char *)ends->list[--nr].module);
	result->list = ends->list;
	result->nr = nr;
	table_free(&ends->by_hash);
	*ends = (struct ends){ };
}

void perfdata_ends_free(struct perfdata_ends *result)
{
	struct ends ends = { .list = result->list, .nr = result->nr };

	ends_free(&ends);
}

/*
 * Ends in lines: a head, the recording, the counts, without those at the end that
 * are 0, and of each end its samples, why, place, and module, which is the rest of
 * the line.
 */

#define HEAD		"sfjit ends 1\n"
#define OTHERS		"/"	/* no name: several */
#define LINE_MOST	8192

/* ---- Written ---------------------------------------------------------- */

static void put_module(const struct perfdata_end *end, FILE *out)
{
	const char *at = end->module ? end->module : OTHERS;

	for (; end->place == PERFDATA_FILE && *at; at++)
		putc(*at == '\n' ? '\r' : *at, out);
	putc('\n', out);
}

int perfdata_ends_write(const struct perfdata_ends *ends, uint64_t bytes,
			const struct timespec *changed, FILE *out)
{
	size_t i;

	fprintf(out, HEAD "of %" PRIu64 " %lld %ld\n", bytes,
		(long long)changed->tv_sec, changed->tv_nsec);
	fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64, ends->samples,
		ends->without, ends->complete);
	if (ends->lost || ends->by_code)
		fprintf(out, " %" PRIu64, ends->lost);
	if (ends->by_code)
		fprintf(out, " %" PRIu64, ends->by_code);
	putc('\n', out);
	for (i = 0; i < ends->nr; i++) {
		fprintf(out, "%" PRIu64 " %u %u ", ends->list[i].samples,
			ends->list[i].why, ends->list[i].place);
		put_module(&ends->list[i], out);
	}
	return ferror(out) ? EOF : 0;
}

/* ---- Read ------------------------------------------------------------- */

static bool read_number(char **at, char after, uint64_t most, uint64_t *value)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*value = strtoull(*at, &end, 10);
	if (errno || *end != after || *value > most)
		return false;
	*at = end + 1;
	return true;
}

/* 1; 0 at the end; -EBADMSG: it has none, is too long, or has a 0 in it. */
static int read_line(FILE *in, char line[LINE_MOST])
{
	if (!fgets(line, LINE_MOST, in))
		return feof(in) ? 0 : -EBADMSG;
	return strchr(line, '\n') ? 1 : -EBADMSG;
}

static int read_recording(uint64_t bytes, const struct timespec *changed,
			  FILE *in, char line[LINE_MOST])
{
	char of[120];

	snprintf(of, sizeof(of), "of %" PRIu64 " %lld %ld\n", bytes,
		 (long long)changed->tv_sec, changed->tv_nsec);
	if (read_line(in, line) != 1 || strcmp(line, HEAD) ||
	    read_line(in, line) != 1)
		return -EBADMSG;
	return strcmp(line, of) ? -ESTALE : 0;
}

/* Their sum does not overflow. */
#define SAMPLES_MOST	(UINT64_MAX >> 16)
#define LINES_MOST	(PERFDATA_ENDS_MOST + \
			 SFJIT_STACKS_NR_ENDS * PERFDATA_NR_PLACES)

static int read_end(struct ends *ends, char *line, uint64_t *samples)
{
	struct perfdata_end end = { };
	uint64_t why, place;

	if (!read_number(&line, ' ', SAMPLES_MOST, &end.samples) ||
	    !read_number(&line, ' ', SFJIT_STACKS_NR_ENDS - 1, &why) ||
	    !read_number(&line, ' ', PERFDATA_NR_PLACES - 1, &place) ||
	    why == SFJIT_STACKS_OUTERMOST)
		return -EBADMSG;
	line[strcspn(line, "\n")] = '\0';
	end.why = why;
	end.place = place;
	if (place == PERFDATA_FILE && strcmp(line, OTHERS))
		end.module = line;
	*samples += end.samples;
	return ends_add(ends, &end) < 0 ? -ENOMEM : 0;
}

/* The rest of the file. */
static int read_list(struct ends *ends, FILE *in, char line[LINE_MOST],
		     uint64_t *samples)
{
	size_t nr;
	int ret;

	for (nr = 0; nr <= LINES_MOST; nr++) {
		ret = read_line(in, line);
		if (ret != 1)
			return ret;
		ret = read_end(ends, line, samples);
		if (ret)
			return ret;
	}
	return -EBADMSG;
}

static int read_end_lines(struct perfdata_ends *result, struct ends *ends,
			  FILE *in, char line[LINE_MOST])
{
	uint64_t samples;
	char *at = line;
	int ret;

	if (read_line(in, line) != 1 ||
	    !read_number(&at, ' ', SAMPLES_MOST, &result->samples) ||
	    !read_number(&at, ' ', SAMPLES_MOST, &result->without) ||
	    (!read_number(&at, '\n', SAMPLES_MOST, &result->complete) &&
	     (!read_number(&at, ' ', SAMPLES_MOST, &result->complete) ||
	      (!read_number(&at, '\n', SAMPLES_MOST, &result->lost) &&
	       (!read_number(&at, ' ', SAMPLES_MOST, &result->lost) ||
		!read_number(&at, '\n', SAMPLES_MOST, &result->by_code))))))
		return -EBADMSG;
	samples = result->without + result->complete;
	ret = read_list(ends, in, line, &samples);
	return !ret && samples != result->samples ? -EBADMSG : ret;
}

int perfdata_ends_read(struct perfdata_ends *result, uint64_t bytes,
		       const struct timespec *changed, FILE *in)
{
	char line[LINE_MOST];
	struct ends ends = { };
	int ret = read_recording(bytes, changed, in, line);

	*result = (struct perfdata_ends){ };
	if (!ret)
		ret = read_end_lines(result, &ends, in, line);
	if (!ret)
		ends_take(&ends, result);
	ends_free(&ends);
	return ret;
}
