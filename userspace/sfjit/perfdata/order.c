// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Places of the input in the order of time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "order.h"

void order_free(struct order *order)
{
	free(order->list);
}

int order_add(struct order *order, uint64_t time, uint64_t offset)
{
	struct ordered *list = grow(order->list, order->nr, &order->room,
				    sizeof(*list));

	if (!list)
		return -ENOMEM;
	order->list = list;
	order->list[order->nr++] = (struct ordered){ time, offset };
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

void order_sort(struct order *order)
{
	if (!order->nr)
		return;
	order->nr -= order->first;
	memmove(order->list, order->list + order->first,
		order->nr * sizeof(*order->list));
	order->first = 0;
	qsort(order->list, order->nr, sizeof(*order->list), compare);
}

bool order_take(struct order *order, uint64_t until, struct ordered *next)
{
	if (order->first == order->nr || order->list[order->first].time > until)
		return false;
	*next = order->list[order->first++];
	return true;
}
