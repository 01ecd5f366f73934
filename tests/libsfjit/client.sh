#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the header-only client, as installed: by each compiler and
# standard, alone, and run.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

works "make install" tools/make -s PREFIX=/opt/sf LIBDIR=/opt/sf/lib \
	DESTDIR="$tmp/root" install-libsfjit
[ $failed = 0 ] || finish
include=$tmp/root/opt/sf/include
echo '#include <sfjit/client.h>' >"$tmp/alone.c"
gcc -c -o "$tmp/tap.o" tests/lib/tap.c

# try COMPILER LANGUAGE STANDARD
try() {
	if ! command -v "$1" >/dev/null; then
		skip "$1" "$1 is not installed"
		return
	fi
	works "$1 -std=$3: alone" "$1" -x "$2" -std="$3" -pedantic -Wall \
		-Wextra -Werror -fsyntax-only -I"$include" "$tmp/alone.c"
	works "$1 -std=$3" "$1" -x "$2" -std="$3" -Itests/lib -I"$include" \
		-D_GNU_SOURCE -c -o "$tmp/client.o" tests/libsfjit/client.c
	works "$1 -std=$3: linked" gcc -o "$tmp/client" "$tmp/client.o" \
		"$tmp/tap.o"
	is "$1 -std=$3: runs" "" "$("$tmp/client" 2>&1 | grep -v -e '^ok' -e '^1\.\.')"
}

for standard in c99 c11 c2x; do
	try gcc c $standard
	try clang c $standard
done
for standard in c++11 c++20; do
	try g++ c++ $standard
	try clang++ c++ $standard
done
finish
