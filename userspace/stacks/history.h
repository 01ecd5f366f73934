/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What lay where, and when: pieces of addresses and time. Whoever maps, unmaps
 * or overwrites memory paints a range from a time on; what was there is over
 * then, and what was painted for a later time stays on top. So the order of
 * calls does not matter, but for paint of the same time: there the last wins.
 *
 * Where and when there is no piece, nothing lay there.
 */
#ifndef SFJIT_STACKS_HISTORY_H
#define SFJIT_STACKS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define FOREVER	UINT64_MAX

struct origin;

struct piece {
	uint64_t start, end;		/* addresses */
	uint64_t from, until;		/* times */
	struct origin *origin;		/* counted; NULL: nothing lies here */
	uint64_t base;			/* address of offset 0 of the origin */

	/* of history.c */
	struct history *history;
	struct piece *left, *right;	/* by start, from and serial */
	uint64_t serial;
	uint32_t priority;
	uint64_t max_end, max_until;	/* of this one and those below it */
	LIST_ENTRY(piece) passing;	/* what settling may free */
};

LIST_HEAD(pieces, piece);

/* State that all histories of a tracker share. */
struct histories {
	struct pieces passing;
	uint64_t nr_passing;
	uint64_t nr;			/* pieces */
	uint64_t changes;		/* since which pieces may be others */
};

struct history {
	struct piece *root;
	struct histories *all;
};

/* The paint; each piece holds one more reference to the origin. */
struct paint {
	uint64_t start, end;
	uint64_t time;
	struct origin *origin;
	uint64_t base;
	bool under;		/* what has the same time stays on top */
};

/*
 * -ENOMEM, or -ENOSPC at SFJIT_STACKS_MAX_MAPPINGS pieces: what lies in the
 * range, and when, is not known any more.
 */
int history_paint(struct history *history, const struct paint *paint);

static inline bool piece_is_there(const struct piece *p, uint64_t time)
{
	return p->from <= time && time < p->until;
}

/* NULL: nothing. */
const struct piece *history_find(const struct history *history, uint64_t addr,
				 uint64_t time);

/*
 * Where and when something in the range of the paint begins or ends, after its
 * time and before 'until', paints nothing in 'over', unless 'ignored' says that
 * it does not matter.
 */
int history_erase_under(const struct history *history,
			const struct paint *paint, uint64_t until,
			bool (*ignored)(const struct origin *origin),
			struct history *over);

/*
 * Paints in 'to' what is there at a time, from when it was there. After a
 * failure a part is missing.
 */
int history_copy(const struct history *history, uint64_t time,
		 struct history *to);

/* Moves to 'to' what began at a time or later. */
int history_move(struct history *history, uint64_t time, struct history *to);

void history_clear(struct history *history);

/* Forgets what was over before a time. */
void history_settle(struct histories *all, uint64_t time);

#endif /* SFJIT_STACKS_HISTORY_H */
