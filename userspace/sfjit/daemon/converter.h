/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The process that reads a file, which any user may have made, and converts it.
 */
#ifndef SFJIT_DAEMON_CONVERTER_H
#define SFJIT_DAEMON_CONVERTER_H

#include <stddef.h>
#include <stdint.h>

#include "fileset.h"

/* Exit statuses of the converter. */
enum {
	CONVERTED,
	CONVERTER_FAILED,
	CONVERTER_SKIPS,	/* no program or library of this machine */
};

/* Its result, at the start of memory that it shares with its parent. */
struct converted {
	uint32_t nr;
	struct {
		uint64_t offset, length;	/* in that memory */
		uint64_t bias;			/* see file_tables_add() */
	} tables[TABLES_MOST];
};

/*
 * Takes over the descriptor: closes all others but standard error, gives up all
 * rights, converts, and exits.
 */
_Noreturn void converter_run(int fd, const char *path, struct converted *out,
			     size_t size, int seconds);

#endif /* SFJIT_DAEMON_CONVERTER_H */
