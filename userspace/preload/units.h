/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What JITs publish: units of call frame information, and the windows that are
 * made of them.
 *
 * One thread at a time, with an arena.
 */
#ifndef SFJIT_PRELOAD_UNITS_H
#define SFJIT_PRELOAD_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sframegen.h>

enum unit_source {
	UNIT_FRAMES,		/* __register_frame() */
	UNIT_GDB,		/* the GDB JIT interface */
};

/* Key and source name a unit; its group is what it is removed by. */
struct unit_cfi {
	uintptr_t key, group;
	enum unit_source source;
	struct sfg_image cfi;		/* in the arena */
	unsigned int flags;		/* SFG_INPUT_* */
	uint64_t text_base, data_base;
};

struct unit_result {
	unsigned int windows, refused;
	bool waits;		/* some of its text is not executable yet */
	uint32_t rows;
	size_t bytes;
};

/* From now on results have the number of rows: all are decoded for it. */
void units_count_rows(void);

/*
 * Makes a table and registers what is executable. The same frames again, before
 * they were removed, have to be removed as often. On failure *reason is a
 * constant string.
 */
int units_add(const struct unit_cfi *cfi, struct unit_result *result,
	      const char **reason);

/* The state of the units of a group. */
struct units_removed {
	unsigned int gone, kept;
};

/*
 * A JIT may free the CFI of code that it still runs. The CFI stays true while
 * the code has no writable mapping. If the calls that made it executable also
 * tell us when that changes, keep such a unit until units_executable().
 */
struct units_removed units_remove(enum unit_source source, uintptr_t group);

typedef void units_tell(uintptr_t key, enum unit_source source,
			const struct unit_result *result);

/*
 * Some wait for their text to become executable, or are kept. Any thread may
 * ask: if not, what is executable by then gets its windows; if so, it has to
 * say what has become executable.
 */
bool units_waiting(void);
/*
 * Text there has become executable, of whatever it is now. Registers what
 * waited, drops what was kept, and tells of each unit.
 */
void units_executable(uintptr_t start, uintptr_t end, units_tell *tell);
/* It was not seen which. */
void units_missed(units_tell *tell);
/*
 * Called once for each event, to try all waiting units again. The number of
 * events bounds the time.
 */
bool units_due(void);
void units_retry(units_tell *tell);

/* Any thread may ask. */
bool units_any(void);
/*
 * Memory is about to be mapped over these addresses, and the kernel drops the
 * windows there. They come back where the same bytes become executable.
 */
void units_replace(uintptr_t start, uintptr_t end);

#endif /* SFJIT_PRELOAD_UNITS_H */
