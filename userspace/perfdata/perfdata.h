/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Recordings of perf, whose samples get call chains in place of registers and
 * copies of stacks. All else is as it was, byte for byte and in its order.
 */
#ifndef SFJIT_PERFDATA_PERFDATA_H
#define SFJIT_PERFDATA_PERFDATA_H

#include <sfjit-stacks.h>

#include "trouble.h"

/**
 * struct perfdata_options - what is converted
 * @in:		descriptor of a file, or of what perf record -o - writes
 * @out:	of anything. What is no empty file gets what perf pipes, too
 * @copies:	NULL, or the directory where perf record keeps files by build-id
 * @say:	is told what is worth knowing, in a line, in which names of the
 *		recording may have any characters
 * @progress:	NULL, or called at times: bytes that were read, and how many
 *		there are; 0: that is not known
 * @arg:	for both
 */
struct perfdata_options {
	int in, out;
	const char *copies;
	void (*say)(void *arg, const char *line);
	void (*progress)(void *arg, uint64_t done, uint64_t size);
	void *arg;
};

/**
 * struct perfdata_result - what was converted
 * @samples:	in all
 * @converted:	those that had registers and stacks
 * @read:	bytes
 * @written:	bytes
 * @stacks:	what the tracker had at the end
 */
struct perfdata_result {
	uint64_t samples, converted, read, written;
	struct sfjit_stacks_stats stacks;
};

/*
 * 0, or a negative errno, and why, in a line as for @say. What was written
 * until then is no recording.
 */
int perfdata_inject(const struct perfdata_options *options,
		    struct perfdata_result *result, struct trouble *trouble);

#endif /* SFJIT_PERFDATA_PERFDATA_H */
