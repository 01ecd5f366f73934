# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: clang lld libc6-dev
clang -O1 -g -c "$here/static.c" -o static.o
for _ in 1 2 3; do
	run ld.lld --threads=1 -static -o static static.o --start-group \
		/usr/lib/x86_64-linux-gnu/crt1.o \
		/usr/lib/x86_64-linux-gnu/libc.a --end-group \
		--unresolved-symbols=ignore-all
done
