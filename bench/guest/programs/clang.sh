# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: clang libc6-dev
run clang -O2 -c -I "$top/tests/lib" "$top/tests/lib/tap.c" -o tap.o
run clang -O2 -c "$here/static.c" -o static.o
