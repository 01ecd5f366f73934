# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: pypy3
run pypy3 -c 'd = {}
for i in range(60000): d[i * 7919 % 100003] = str(i)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(18), len(d), sorted(d.values())[777])'
