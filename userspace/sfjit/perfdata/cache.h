/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Files of a recording: perf record keeps copies by build-id.
 */
#ifndef SFJIT_PERFDATA_CACHE_H
#define SFJIT_PERFDATA_CACHE_H

#include "perfdata.h"

/*
 * For struct sfjit_stacks_options. The argument is struct perfdata_options.
 * Opens the file, or perf's copy.
 */
int cache_open(void *arg, pid_t pid,
	       const struct sfjit_stacks_mapping *mapping);

#endif /* SFJIT_PERFDATA_CACHE_H */
