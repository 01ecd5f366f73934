// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Read the counts of windows and refused steps from /proc/self/sframe.
 */
#include <stdio.h>

#include "sframe_test.h"

/* Parse a line after "windows"; the lines before it list single windows. */
static int read_line(struct sft_stats *stats, const char *line)
{
	struct sft_reason *reason = &stats->reasons[stats->nr];

	if (sscanf(line, "last %15s %llx", stats->last_reason,
		   &stats->last_ip) == 2)
		return 0;
	if (stats->nr == SFT_MAX_REASONS ||
	    sscanf(line, "%15s %llu", reason->name, &reason->refused) != 2)
		return -EPROTO;
	stats->nr++;
	return 0;
}

static int read_file(struct sft_stats *stats, FILE *file)
{
	bool found = false;
	char line[128];
	int ret = 0;

	while (!ret && fgets(line, sizeof(line), file)) {
		if (found)
			ret = read_line(stats, line);
		else
			found = sscanf(line, "windows %u %lu",
				       &stats->windows, &stats->bytes) == 2;
	}
	if (!ret && !stats->last_reason[0])
		return -EPROTO;
	return ret;
}

int sft_stats(struct sft_stats *stats)
{
	FILE *file = fopen("/proc/self/sframe", "re");
	int ret;

	memset(stats, 0, sizeof(*stats));
	if (!file)
		return -errno;
	ret = read_file(stats, file);
	fclose(file);
	return ret;
}

int sft_windows(void)
{
	struct sft_stats stats;
	int ret = sft_stats(&stats);

	return ret ? ret : (int)stats.windows;
}

__u64 sft_count(const struct sft_stats *stats, const char *reason)
{
	unsigned int i;

	for (i = 0; i < stats->nr; i++)
		if (!strcmp(stats->reasons[i].name, reason))
			return stats->reasons[i].refused;
	return UINT64_MAX;
}

__u64 sft_refused(const char *reason)
{
	struct sft_stats stats;

	return sft_stats(&stats) ? UINT64_MAX : sft_count(&stats, reason);
}

__u64 sft_all_refused(void)
{
	struct sft_stats stats;
	unsigned int i;
	__u64 sum = 0;

	if (sft_stats(&stats))
		return UINT64_MAX;
	for (i = 0; i < stats.nr; i++)
		sum += stats.reasons[i].refused;
	return sum;
}

bool sft_only_for(const struct sft_stats *before,
		  const struct sft_stats *after, const char *reason, __u64 nr)
{
	const __u64 now = sft_count(after, reason);
	unsigned int i;
	bool only;

	only = now != UINT64_MAX && now == sft_count(before, reason) + nr;
	for (i = 0; i < after->nr; i++)
		if (strcmp(after->reasons[i].name, reason))
			only &= after->reasons[i].refused ==
				before->reasons[i].refused;
	return only;
}
