/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef CGO_H
#define CGO_H

/* Sums, in C, the results of the Go function weigh() for each number. */
long sum_weights(int n);

#endif
