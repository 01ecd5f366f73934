/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Files of a recording: perf record keeps copies by build-id.
 */
#ifndef SFJIT_PERFDATA_CACHE_H
#define SFJIT_PERFDATA_CACHE_H

#include <sfjit-stacks.h>

/*
 * For struct sfjit_stacks_options. The argument is the directory of perf's
 * copies, or NULL. Opens the file, or a copy.
 */
int cache_open(void *dir, pid_t pid,
	       const struct sfjit_stacks_mapping *mapping);

#endif /* SFJIT_PERFDATA_CACHE_H */
