// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "origin.h"
#include "process.h"

/* An entry of the tree of pids: the latest process with that pid. */
struct number {
	pid_t pid;
	struct process *latest;
};

static int compare(const void *x, const void *y)
{
	const struct number *a = x, *b = y;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

void processes_init(struct processes *processes)
{
	memset(processes, 0, sizeof(*processes));
	LIST_INIT(&processes->all);
	LIST_INIT(&processes->histories.passing);
}

static struct number *find_known_number(struct processes *processes, pid_t pid)
{
	struct number key = { .pid = pid };
	struct number **found = tfind(&key, &processes->by_pid, compare);

	return found ? *found : NULL;
}

static struct number *make_number(struct processes *processes, pid_t pid)
{
	struct number *number = find_known_number(processes, pid);

	if (number)
		return number;
	number = calloc(1, sizeof(*number));
	if (!number)
		return NULL;
	number->pid = pid;
	if (!tsearch(number, &processes->by_pid, compare)) {
		free(number);
		return NULL;
	}
	return number;
}

static void drop_number(struct processes *processes, struct number *number)
{
	tdelete(number, &processes->by_pid, compare);
	free(number);
}

/* Behind those that started earlier, or at the same time. */
static void link_process(struct number *number, struct process *new)
{
	struct process **at = &number->latest;

	while (*at && (*at)->start > new->start)
		at = &(*at)->before;
	new->before = *at;
	*at = new;
}

static struct process *new_process(struct processes *processes, pid_t pid,
				   uint64_t start)
{
	struct number *number = make_number(processes, pid);
	struct process *new = number ? calloc(1, sizeof(*new)) : NULL;
	unsigned int i;

	if (!new) {
		if (number && !number->latest)
			drop_number(processes, number);
		return NULL;
	}
	new->pid = pid;
	new->start = start;
	new->end = FOREVER;
	new->threads = 1;
	for (i = 0; i < PROCESS_LAYERS; i++)
		new->layers[i].all = &processes->histories;
	LIST_INIT(&new->children);
	LIST_INSERT_HEAD(&processes->all, new, all);
	link_process(number, new);
	processes->nr++;
	return new;
}

static void unlink_process(struct processes *processes, struct process *old)
{
	struct number *number = find_known_number(processes, old->pid);
	struct process **at = &number->latest;

	while (*at != old)
		at = &(*at)->before;
	*at = old->before;
	if (!number->latest)
		drop_number(processes, number);
}

static void drop_parent(struct process *process)
{
	if (process->parent)
		LIST_REMOVE(process, sibling);
	process->parent = NULL;
}

static void free_process(struct processes *processes, struct process *old)
{
	struct process *child;
	unsigned int i;

	while ((child = LIST_FIRST(&old->children)))
		drop_parent(child);
	drop_parent(old);
	unlink_process(processes, old);
	LIST_REMOVE(old, all);
	for (i = 0; i < PROCESS_LAYERS; i++)
		history_clear(&old->layers[i]);
	free(old);
	processes->nr--;
}

void processes_clear(struct processes *processes)
{
	struct process *process;

	while ((process = LIST_FIRST(&processes->all)))
		free_process(processes, process);
}

struct process *process_find(struct processes *processes, pid_t pid,
			     uint64_t time)
{
	struct number *number = find_known_number(processes, pid);
	struct process *p = number ? number->latest : NULL;

	while (p && p->start > time)
		p = p->before;
	return p;
}

struct process *process_get(struct processes *processes, pid_t pid,
			    uint64_t time)
{
	struct process *p = process_find(processes, pid, time);

	return p ? p : new_process(processes, pid, 0);
}

/* Forking. */

static int inherit(struct process *child, struct process *parent)
{
	unsigned int i;
	int ret = 0;

	LIST_INSERT_HEAD(&parent->children, child, sibling);
	child->ancestors[0] = parent->pid;
	for (i = 1; i < PROCESS_ANCESTORS; i++)
		child->ancestors[i] = parent->ancestors[i - 1];
	child->parent = parent;
	for (i = 0; i < PROCESS_LAYERS && !ret; i++)
		ret = history_copy(&parent->layers[i], child->start,
				   &child->layers[i]);
	return ret;
}

static bool leaves_code(const struct origin *origin)
{
	return origin && origin->kind == ORIGIN_MEMORY;
}

/* What was mapped since then was mapped first, when there was no code. */
static int erase_inherited_code(struct process *child)
{
	struct paint all = { .end = UINT64_MAX, .time = child->start - 1 };

	if (!child->start || !child->layers[PROCESS_CODE].root)
		return 0;
	return history_erase_under(&child->layers[PROCESS_MAPS], &all, FOREVER,
				   leaves_code, &child->layers[PROCESS_CODE]);
}

/* Events of the child may have come before that of its making. */
static int take_over(struct process *child)
{
	struct process *before = child->before;
	unsigned int i;
	int ret = 0;

	if (!before)
		return 0;
	if (before->end == FOREVER)
		before->end = child->start;
	for (i = 0; i < PROCESS_LAYERS && !ret; i++)
		ret = history_move(&before->layers[i], child->start,
				   &child->layers[i]);
	return ret ? ret : erase_inherited_code(child);
}

int process_fork(struct processes *processes, pid_t pid, pid_t parent,
		 uint64_t time)
{
	struct process *from = NULL, *child;
	int ret = 0;

	/* what it had by then may come later */
	if (parent) {
		from = process_get(processes, parent, time);
		if (!from)
			return -ENOMEM;
	}
	child = new_process(processes, pid, time);
	if (!child)
		return -ENOMEM;
	if (from)
		ret = inherit(child, from);
	return ret ? ret : take_over(child);
}

/* Its exit may have come first. */
void process_thread(struct process *process, pid_t tid)
{
	if (tid == process->pid)
		return;
	process->threads++;
	process->end = FOREVER;
}

void process_exit(struct process *process, uint64_t time)
{
	if (process->threads && !--process->threads && !process->lasting)
		process->end = time;
}

/* The next of a process and its descendants; children before siblings. */
static struct process *next_relative(const struct process *root,
				     struct process *p, bool children)
{
	struct process *next = children ? LIST_FIRST(&p->children) : NULL;

	while (!next && p != root) {
		next = LIST_NEXT(p, sibling);
		p = p->parent;
	}
	return next;
}

static int paint_relatives(struct process *process, const struct paint *paint,
			   process_paint_fn *one)
{
	struct process *p = process;
	bool has_it = true;
	int ret = 0;

	while (p && !ret) {
		if (has_it)
			ret = one(p, paint);
		p = next_relative(process, p, has_it);
		has_it = p && p->start > paint->time;
	}
	return ret;
}

/* Most processes have no code for which it matters. */
static int map_one(struct process *process, const struct paint *paint)
{
	struct history *code = &process->layers[PROCESS_CODE];
	struct paint nothing = *paint;
	int ret = history_paint(&process->layers[PROCESS_MAPS], paint);

	if (ret || leaves_code(paint->origin) || !code->root)
		return ret;
	nothing.origin = NULL;
	return history_paint(code, &nothing);
}

/* Apply mappings in order; before the fork they are the parent's. */
static int generate_one(struct process *process, const struct paint *paint)
{
	struct history *code = &process->layers[PROCESS_CODE];
	int ret = history_paint(code, paint);
	uint64_t until = FOREVER;

	while (process && until > paint->time && !ret) {
		ret = history_erase_under(&process->layers[PROCESS_MAPS],
					  paint, until, leaves_code, code);
		until = process->start;
		process = process->parent;
	}
	return ret;
}

int process_map(struct process *process, const struct paint *paint)
{
	return paint_relatives(process, paint, map_one);
}

int process_generate(struct process *process, const struct paint *paint)
{
	return paint_relatives(process, paint, generate_one);
}

const struct piece *process_piece(const struct process *process, uint64_t addr,
				  uint64_t time)
{
	const struct piece *p;

	p = history_find(&process->layers[PROCESS_CODE], addr, time);
	return p ? p : history_find(&process->layers[PROCESS_MAPS], addr,
				    time);
}

/* A child's own history before it was made is that of its parent. */
void processes_settle(struct processes *processes, uint64_t time)
{
	struct process *p, *next;

	for (p = LIST_FIRST(&processes->all); p; p = next) {
		next = LIST_NEXT(p, all);
		if (p->start <= time)
			drop_parent(p);
		if (p->end <= time)
			free_process(processes, p);
	}
	history_settle(&processes->histories, time);
}
