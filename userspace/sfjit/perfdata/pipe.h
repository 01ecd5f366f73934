/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What a perf.data file has beside its events, as the records of a pipe.
 */
#ifndef SFJIT_PERFDATA_PIPE_H
#define SFJIT_PERFDATA_PIPE_H

#include "layout.h"

/*
 * As of what is converted. The events follow. A section that is larger than a
 * record is left out.
 */
int pipe_write(const struct layout *layout, struct input *input,
	       struct output *output, struct trouble *trouble);

#endif /* SFJIT_PERFDATA_PIPE_H */
