# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: desktop
# packages: gjs
run gjs -c 'let m = new Map(); for (let i = 0; i < 60000; i++) m.set(i * 7919 % 60013, "v" + i);
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
print(fib(25), m.size, [...m.values()].sort()[777]);'
