/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What goes of the code in a jitdump: the file beside it.
 */
#ifndef SFJIT_PERFDATA_RETIRED_H
#define SFJIT_PERFDATA_RETIRED_H

#include <jitdump-format.h>
#include <stdbool.h>

struct retired;

/*
 * That of the jitdump with this path and header; *@retired is NULL if there is
 * none, or that of another process. Returns 0, or -ENOMEM.
 */
int retired_open(const char *path, const struct jitdump_header *header,
		 struct retired **retired);

/* NULL is none. */
void retired_close(struct retired *retired);

/* The next one up to a time; false: it is later, or not there yet. */
bool retired_take(struct retired *retired, uint64_t until,
		  struct jitdump_retired *next);

#endif /* SFJIT_PERFDATA_RETIRED_H */
