// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Pieces are in a treap by start and time, in which each knows the highest end
 * below it, of addresses and of times. At each address, one piece ends in time
 * where the next one begins.
 */
#include <errno.h>
#include <grow.h>
#include <stdlib.h>

#include "history.h"
#include "origin.h"

/* The tree. */

static bool is_before(const struct piece *a, const struct piece *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	return a->from != b->from ? a->from < b->from : a->serial < b->serial;
}

static void take_highest(struct piece *p, const struct piece *below)
{
	if (!below)
		return;
	if (below->max_end > p->max_end)
		p->max_end = below->max_end;
	if (below->max_until > p->max_until)
		p->max_until = below->max_until;
}

static void update(struct piece *p)
{
	p->max_end = p->end;
	p->max_until = p->until;
	take_highest(p, p->left);
	take_highest(p, p->right);
}

/* Those before 'at' to *left, the others to *right. */
static void split(struct piece *tree, const struct piece *at,
		  struct piece **left, struct piece **right)
{
	if (!tree) {
		*left = NULL;
		*right = NULL;
	} else if (is_before(tree, at)) {
		split(tree->right, at, &tree->right, right);
		*left = tree;
		update(tree);
	} else {
		split(tree->left, at, left, &tree->left);
		*right = tree;
		update(tree);
	}
}

static struct piece *merge_trees(struct piece *left, struct piece *right)
{
	if (!left || !right)
		return left ? left : right;
	if (left->priority > right->priority) {
		left->right = merge_trees(left->right, right);
		update(left);
		return left;
	}
	right->left = merge_trees(left, right->left);
	update(right);
	return right;
}

static void insert_below(struct piece **tree, struct piece *p)
{
	if (*tree && (*tree)->priority >= p->priority) {
		insert_below(is_before(p, *tree) ? &(*tree)->left :
						   &(*tree)->right, p);
		update(*tree);
		return;
	}
	split(*tree, p, &p->left, &p->right);
	*tree = p;
	update(p);
}

static void remove_below(struct piece **tree, struct piece *p)
{
	if (*tree == p) {
		*tree = merge_trees(p->left, p->right);
		return;
	}
	remove_below(is_before(p, *tree) ? &(*tree)->left : &(*tree)->right,
		     p);
	update(*tree);
}

/* Pieces. */

static bool may_pass(const struct piece *p)
{
	return !p->origin || p->until != FOREVER;
}

static void insert_piece(struct piece *p)
{
	struct histories *all = p->history->all;

	all->changes++;
	insert_below(&p->history->root, p);
	if (may_pass(p)) {
		LIST_INSERT_HEAD(&all->passing, p, passing);
		all->nr_passing++;
	}
}

static void leave_passing(struct piece *p)
{
	if (may_pass(p)) {
		LIST_REMOVE(p, passing);
		p->history->all->nr_passing--;
	}
}

static void take_out(struct piece *p)
{
	p->history->all->changes++;
	remove_below(&p->history->root, p);
	leave_passing(p);
}

static void end_piece(struct piece *p, uint64_t until)
{
	take_out(p);
	p->until = until;
	insert_piece(p);
}

static void free_piece(struct piece *p)
{
	p->history->all->nr--;
	origin_put(p->origin);
	free(p);
}

/* Whoever chooses the addresses in a file must not choose the tree's shape. */
static uint32_t next_priority(uint64_t serial)
{
	serial ^= serial >> 31;
	serial *= 0x9e3779b97f4a7c15;
	serial ^= serial >> 29;
	serial *= 0xbf58476d1ce4e5b9;
	return serial >> 32;
}

static int new_piece(struct history *history, const struct paint *paint,
		     struct piece **new)
{
	static _Thread_local uint64_t serial;
	struct piece *p;

	/* A file can say in a few bytes that a large process was forked. */
	if (history->all->nr >= SFJIT_STACKS_MAX_MAPPINGS)
		return -ENOSPC;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->start = paint->start;
	p->end = paint->end;
	p->from = paint->time;
	p->until = FOREVER;
	p->origin = origin_get(paint->origin);
	p->base = paint->base;
	p->history = history;
	p->serial = ++serial;
	p->priority = next_priority(serial);
	history->all->nr++;
	*new = p;
	return 0;
}

/* Looking. */

static const struct piece *find_live_piece(const struct piece *p, uint64_t addr,
					   uint64_t time)
{
	const struct piece *found;

	while (p && p->max_end > addr && p->max_until > time) {
		found = find_live_piece(p->left, addr, time);
		if (found || p->start > addr)
			return found;
		if (addr < p->end && piece_is_there(p, time))
			return p;
		p = p->right;
	}
	return NULL;
}

const struct piece *history_find(const struct history *history, uint64_t addr,
				 uint64_t time)
{
	const struct piece *p = find_live_piece(history->root, addr, time);

	return p && p->origin ? p : NULL;
}

/* Some pieces, to be changed one by one while the tree changes. */
struct piece_list {
	struct piece **piece;
	size_t nr, max;
};

static bool add_listed_piece(struct piece_list *list, struct piece *p)
{
	if (!grow_array(&list->piece, &list->max, list->nr,
			sizeof(*list->piece)))
		return false;
	list->piece[list->nr++] = p;
	return true;
}

/* All with an address in the range that were not over by then. */
static bool overlapping(struct piece *p, uint64_t start, uint64_t end,
			uint64_t time, struct piece_list *list)
{
	if (!p || p->max_end <= start || p->max_until <= time)
		return true;
	if (!overlapping(p->left, start, end, time, list))
		return false;
	if (p->start >= end)
		return true;
	if (p->end > start && p->until > time && !add_listed_piece(list, p))
		return false;
	return overlapping(p->right, start, end, time, list);
}

/* Painting. */

/* What makes the same piece again. */
static struct paint paint_of(const struct piece *p)
{
	return (struct paint) {
		.start = p->start, .end = p->end, .time = p->from,
		.origin = p->origin, .base = p->base,
	};
}

/* The part from an address on becomes a piece of its own. */
static int cut(struct piece *p, uint64_t addr)
{
	struct paint paint = paint_of(p);
	struct piece *rest;
	int ret;

	paint.start = addr;
	ret = new_piece(p->history, &paint, &rest);
	if (ret)
		return ret;
	rest->until = p->until;
	take_out(p);
	p->end = addr;
	insert_piece(p);
	insert_piece(rest);
	return 0;
}

/* No piece that matters is both inside and outside of the range any more. */
static int cut_at_edges(struct history *history, const struct paint *paint)
{
	const uint64_t edge[] = { paint->start, paint->end };
	struct piece_list list = { 0 };
	size_t i, j;
	int ret = 0;

	for (i = 0; i < 2 && !ret; i++) {
		list.nr = 0;
		if (!overlapping(history->root, edge[i], edge[i] + 1,
				 paint->time, &list))
			ret = -ENOMEM;
		for (j = 0; j < list.nr && !ret; j++)
			if (list.piece[j]->start < edge[i])
				ret = cut(list.piece[j], edge[i]);
	}
	free(list.piece);
	return ret;
}

/* Ends what is there at the time; puts what came later into 'later'. */
static bool end_those_before(struct piece_list *inside,
			     const struct paint *paint,
			     struct piece_list *later)
{
	uint64_t time = paint->time;
	struct piece *p;
	size_t i;

	for (i = 0; i < inside->nr; i++) {
		p = inside->piece[i];
		if (p->from > time || (p->from == time && paint->under)) {
			if (!add_listed_piece(later, p))
				return false;
		} else if (p->from == time) {
			take_out(p);
			free_piece(p);
		} else {
			end_piece(p, time);
		}
	}
	return true;
}

static int compare_from(const void *x, const void *y)
{
	const struct piece *a = *(struct piece **)x, *b = *(struct piece **)y;

	return a->from != b->from ? (a->from > b->from) - (a->from < b->from) :
				    (a->serial > b->serial) -
				    (a->serial < b->serial);
}

/*
 * At one time pieces do not overlap. So those that came later, painted again in
 * the order of time, end each other where they did.
 */
static int paint_again(struct history *history, struct piece_list *later)
{
	struct paint paint;
	struct piece *p;
	size_t i;
	int ret = 0;

	qsort(later->piece, later->nr, sizeof(*later->piece), compare_from);
	for (i = 0; i < later->nr; i++)
		take_out(later->piece[i]);
	for (i = 0; i < later->nr; i++) {
		p = later->piece[i];
		paint = paint_of(p);
		if (!ret)
			ret = history_paint(history, &paint);
		free_piece(p);
	}
	return ret;
}

static int paint_inside(struct history *history, const struct paint *paint,
			struct piece *new)
{
	struct piece_list inside = { 0 }, later = { 0 };
	int ret = -ENOMEM;

	if (overlapping(history->root, paint->start, paint->end, paint->time,
			&inside) &&
	    end_those_before(&inside, paint, &later)) {
		insert_piece(new);
		ret = later.nr ? paint_again(history, &later) : 0;
	} else {
		free_piece(new);
	}
	free(inside.piece);
	free(later.piece);
	return ret;
}

int history_paint(struct history *history, const struct paint *paint)
{
	struct piece *new;
	int ret = new_piece(history, paint, &new);

	if (ret)
		return ret;
	ret = cut_at_edges(history, paint);
	if (ret) {
		free_piece(new);
		return ret;
	}
	return paint_inside(history, paint, new);
}

static int erase_under(const struct piece_list *list, const struct paint *paint,
		       uint64_t until, bool (*ignored)(const struct origin *),
		       struct history *over)
{
	struct paint nothing = { .under = true };
	const struct piece *p;
	size_t i;
	int ret = 0;

	for (i = 0; i < list->nr && !ret; i++) {
		p = list->piece[i];
		if (p->from <= paint->time || p->from >= until ||
		    ignored(p->origin))
			continue;
		nothing.start = p->start > paint->start ? p->start :
							  paint->start;
		nothing.end = p->end < paint->end ? p->end : paint->end;
		nothing.time = p->from;
		ret = history_paint(over, &nothing);
	}
	return ret;
}

int history_erase_under(const struct history *history,
			const struct paint *paint, uint64_t until,
			bool (*ignored)(const struct origin *origin),
			struct history *over)
{
	struct piece_list list = { 0 };
	int ret = -ENOMEM;

	if (overlapping(history->root, paint->start, paint->end, paint->time,
			&list))
		ret = erase_under(&list, paint, until, ignored, over);
	free(list.piece);
	return ret;
}

/* Whole histories. */

static int copy_piece(const struct piece *p, uint64_t time, struct history *to)
{
	struct paint paint;
	int ret;

	if (!p)
		return 0;
	ret = copy_piece(p->left, time, to);
	paint = paint_of(p);
	if (!ret && piece_is_there(p, time))
		ret = history_paint(to, &paint);
	return ret ? ret : copy_piece(p->right, time, to);
}

int history_copy(const struct history *history, uint64_t time,
		 struct history *to)
{
	return copy_piece(history->root, time, to);
}

int history_move(struct history *history, uint64_t time, struct history *to)
{
	struct piece_list all = { 0 }, later = { 0 };
	int ret = -ENOMEM;
	size_t i;

	if (overlapping(history->root, 0, UINT64_MAX, time, &all)) {
		ret = 0;
		for (i = 0; i < all.nr && !ret; i++)
			if (all.piece[i]->from >= time &&
			    !add_listed_piece(&later, all.piece[i]))
				ret = -ENOMEM;
	}
	if (!ret && later.nr)
		ret = paint_again(to, &later);
	free(all.piece);
	free(later.piece);
	return ret;
}

static void clear(struct piece *p)
{
	if (!p)
		return;
	clear(p->left);
	clear(p->right);
	leave_passing(p);
	p->history->all->changes++;
	free_piece(p);
}

void history_clear(struct history *history)
{
	clear(history->root);
	history->root = NULL;
}

void history_settle(struct histories *all, uint64_t time)
{
	struct piece *p, *next;

	for (p = LIST_FIRST(&all->passing); p; p = next) {
		next = LIST_NEXT(p, passing);
		if (p->until <= time || (!p->origin && p->from <= time)) {
			take_out(p);
			free_piece(p);
		}
	}
}
