/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Places of the input in the order of time; those of the same time in that of
 * the input. One that is all zero is empty.
 */
#ifndef SFJIT_PERFDATA_ORDER_H
#define SFJIT_PERFDATA_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ordered {
	uint64_t time, offset;
};

struct order {
	struct ordered *list;
	size_t first, nr, room;
};

void order_free(struct order *order);

/* 0, or -ENOMEM. */
int order_add(struct order *order, uint64_t time, uint64_t offset);

/* Before the first is taken. */
void order_sort(struct order *order);
/* The next one up to a time; false: there is none. */
bool order_take(struct order *order, uint64_t until, struct ordered *next);

#endif /* SFJIT_PERFDATA_ORDER_H */
