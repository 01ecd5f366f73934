# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: r-base-core
run Rscript --vanilla -e 'set.seed(1); fib <- function(n) if (n < 2) n else fib(n - 1) + fib(n - 2)
print(fib(14)); x <- matrix(sin(1:10000), 100); print(round(sum(solve(x + diag(100) * 100)), 6))
d <- data.frame(g = rep(1:50, 40), v = sin(1:2000)); print(head(aggregate(v ~ g, d, mean), 3))'
