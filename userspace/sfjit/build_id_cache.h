/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * perf's build-id cache. In its directory are DIR/NAME/BUILD-ID/elf, and
 * DIR/.build-id/XX/REST, a link to the directory of that file.
 */
#ifndef SFJIT_RUN_BUILD_ID_CACHE_H
#define SFJIT_RUN_BUILD_ID_CACHE_H

#include "perfdata.h"

/*
 * Adds a file by a hard link. 0, also if it is there; -errno: it may be
 * possible to copy it.
 */
int build_id_cache_link(const char *dir, const struct perfdata_build_id *id,
			int fd);

int build_id_cache_copy(const char *dir, const struct perfdata_build_id *id,
			int fd);

#endif /* SFJIT_RUN_BUILD_ID_CACHE_H */
