// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdlib.h>

#include "cgo.h"

extern long weigh(int n);

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

long sum_weights(int n)
{
	int values[500], i, j;
	long sum = 0;

	for (j = 0; j < n; j++) {
		for (i = 0; i < 500; i++)
			values[i] = (i * 7919 + j) % 503;
		qsort(values, 500, sizeof(values[0]), by_value);
		sum += weigh(values[j % 500]);
	}
	return sum;
}
