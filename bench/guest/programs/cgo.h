/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef CGO_H
#define CGO_H

/* Sums, by C, what the Go function weigh() says of each number. */
long sum_weights(int n);

#endif
