// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What /proc/PID/sframe says, during changes and between them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "race.h"

#define MAX_TEXT	(256 * 1024)

/* ---- reading ------------------------------------------------------------- */

static const char *read_all(char *text, const char *path, size_t piece)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t pos = 0;
	ssize_t ret = 1;

	if (fd < 0)
		return "cannot be opened";
	while (ret > 0 && pos + piece < MAX_TEXT) {
		ret = read(fd, text + pos, piece);
		pos += ret > 0 ? ret : 0;
	}
	close(fd);
	text[pos] = 0;
	return ret < 0 ? "cannot be read" : ret ? "does not end" : NULL;
}

static bool parse_line(struct listing *listing, const char *line)
{
	struct window *window = &listing->lines[listing->nr];
	char format[8];

	if (listing->nr == MAX_LINES ||
	    sscanf(line, "%lx-%lx %lx %lx %lx %7s 0\n", &window->start,
		   &window->end, &window->key, &window->section,
		   &window->length, format) != 6)
		return false;
	window->packed = !strcmp(format, "packed");
	listing->nr++;
	return window->packed || !strcmp(format, "sframe");
}

static const char *parse(struct listing *listing, const char *text)
{
	const char *line = text;

	listing->nr = 0;
	while (line && *line && strncmp(line, "windows ", 8)) {
		if (!parse_line(listing, line))
			return "has a line that is none";
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line || sscanf(line, "windows %u\n", &listing->told) != 1)
		return "does not tell the number of windows";
	return strstr(line, "\nlast ") ? NULL : "has no counters";
}

/* No window is shown twice, none overlaps another. */
static const char *in_order(const struct listing *listing)
{
	unsigned int i;

	for (i = 0; i < listing->nr; i++)
		if (listing->lines[i].start >= listing->lines[i].end ||
		    (i && listing->lines[i].start < listing->lines[i - 1].end))
			return "is not in order";
	return NULL;
}

const char *listing_read(struct listing *listing, const char *path,
			 size_t piece)
{
	char *text = sft_map(MAX_TEXT, SFT_RW);
	const char *wrong;

	if (!text)
		return "has no memory here";
	wrong = read_all(text, path, piece);
	if (!wrong)
		wrong = parse(listing, text);
	if (!wrong)
		wrong = in_order(listing);
	munmap(text, MAX_TEXT);
	return wrong;
}

static const struct window *find(const struct listing *listing,
				 unsigned long start)
{
	unsigned int low = 0, high = listing->nr, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (listing->lines[mid].start < start)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == listing->nr || listing->lines[low].start != start)
		return NULL;
	return &listing->lines[low];
}

static bool shows(const struct listing *listing, const struct window *window)
{
	const struct window *found = find(listing, window->start);

	return found && window_same(found, window);
}

const char *listing_kept(const struct listing *listing)
{
	unsigned int i;

	for (i = 0; i < NR_KEPT; i++)
		if (!shows(listing, &area.kept[i]))
			return "lacks a window that is there";
	for (i = 0; i < swap_always(); i++)
		if (!find(listing, swap_start(i)))
			return "lacks a window that was replaced";
	return NULL;
}

void *reader_run(void *arg)
{
	static struct listing listing;
	uint64_t rng = rng_start(700);
	const char *wrong;

	while (!race_over()) {
		wrong = listing_read(&listing, "/proc/self/sframe",
				     1 + rng_below(&rng, 200));
		check_that(&checks[CHECK_PROC_SELF], !wrong, "%s", wrong);
		if (wrong)
			continue;
		wrong = listing_kept(&listing);
		check_that(&checks[CHECK_KEPT], !wrong, "%s", wrong);
	}
	return NULL;
}

/* ---- quiet points -------------------------------------------------------- */

static bool lies_in(const struct window *window, unsigned long start,
		    unsigned long size)
{
	return window->start >= start && window->end <= start + size;
}

static bool is_churned(const struct window *window)
{
	unsigned long nr = (window->start - area.slots) / SLOT_STRIDE;

	return window_same(window,
			   &area.churned[nr / NR_SLOTS][nr % NR_SLOTS]) ||
	       window_same(window, &area.kept[nr]);
}

static bool is_known(const struct window *window)
{
	if (lies_in(window, area.slots, NR_KEPT * SLOT_STRIDE))
		return is_churned(window);
	if (lies_in(window, area.crowd, CROWD_PAGES * SFT_PAGE))
		return window->key == crowd_key(CROWD_KEYS - 1) ||
		       window->key < CROWD_KEYS - 1;
	if (lies_in(window, area.ruin, RUIN_PAGES * SFT_PAGE))
		return window->key - ruin_key(0) < RUIN_KEYS;
	return window_same(window, &area.left) || swap_owns(window);
}

/* How many windows there must be, and be known, beside those in the ruin. */
static unsigned int nr_expected(void)
{
	unsigned int i, nr = NR_KEPT + 1 + swap_windows();

	for (i = 0; i < NR_KEPT; i++)
		nr += !!area.churned[i / NR_SLOTS][i % NR_SLOTS].section;
	for (i = 0; i < CROWD_KEYS; i++)
		nr += area.crowd_keys[i];
	return nr;
}

static bool crowd_is(const struct listing *listing)
{
	long keys[CROWD_KEYS] = { 0 };
	const struct window *window;

	for (window = listing->lines; window < listing->lines + listing->nr;
	     window++)
		if (lies_in(window, area.crowd, CROWD_PAGES * SFT_PAGE))
			keys[window->key == crowd_key(CROWD_KEYS - 1) ?
			     CROWD_KEYS - 1 : window->key]++;
	return !memcmp(keys, area.crowd_keys, sizeof(keys));
}

static unsigned int nr_ruin(const struct listing *listing)
{
	unsigned int i, nr = 0;

	for (i = 0; i < listing->nr; i++)
		nr += lies_in(&listing->lines[i], area.ruin,
			      RUIN_PAGES * SFT_PAGE);
	return nr;
}

static bool quiet_that(bool ok, const char *what, unsigned long value)
{
	return check_that(&checks[CHECK_QUIET], ok, "%s (%lu)", what, value);
}

void quiet_check(void)
{
	static struct listing listing;
	const char *wrong = listing_read(&listing, "/proc/self/sframe", 4096);
	unsigned int i;

	if (!quiet_that(!wrong, wrong ? wrong : "", 0))
		return;
	for (i = 0; i < listing.nr; i++)
		if (!quiet_that(is_known(&listing.lines[i]), "unknown window",
				listing.lines[i].start))
			return;
	wrong = listing_kept(&listing);
	quiet_that(!wrong, wrong ? wrong : "", 0);
	quiet_that(crowd_is(&listing), "successes and windows of a key", 0);
	quiet_that(listing.nr == nr_expected() + nr_ruin(&listing),
		   "windows in /proc", listing.nr);
	quiet_that(listing.nr == listing.told, "windows told", listing.told);
	quiet_that(listing.nr == (unsigned int)sft_windows(),
		   "windows by prctl", sft_windows());
}
