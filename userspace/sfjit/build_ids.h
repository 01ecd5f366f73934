/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Build-ids of what is mapped while sfjit record runs, and copies of these files
 * in perf's build-id cache.
 */
#ifndef SFJIT_RUN_BUILD_IDS_H
#define SFJIT_RUN_BUILD_IDS_H

#include "perfdata.h"

/* Files that are noted. */
#define BUILD_IDS_MOST	(1U << 16)

enum build_ids_want {
	BUILD_IDS_NONE,
	BUILD_IDS_ONLY,		/* and no copies */
	BUILD_IDS_COPIES,	/* of the files in which stacks are */
	BUILD_IDS_ALL,		/* of all files */
};

struct build_ids;

/* @cache: perf's directory. NULL: no memory, or none are wanted. */
struct build_ids *build_ids_begin(enum build_ids_want want, const char *cache);

/* For struct perfdata_options. */
const struct perfdata_files *build_ids_files(const struct build_ids *ids);

/*
 * The recording is complete: add the copies that are still missing. @kernel: the
 * kernel's symbols, too. A line on standard error says what is missing.
 */
void build_ids_copy(struct build_ids *ids, bool kernel);

void build_ids_end(struct build_ids *ids);

#endif /* SFJIT_RUN_BUILD_IDS_H */
