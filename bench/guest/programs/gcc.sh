# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: gcc libc6-dev
run gcc -O2 -c -I "$top/tests/lib" "$top/tests/lib/tap.c" -o tap.o
run gcc -O2 -g -c "$here/static.c" -o static.o
