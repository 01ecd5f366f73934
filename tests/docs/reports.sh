#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the reproducer of each bug report in Documentation/reports prints
# what the report says. A version that prints what is expected is a skip.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

fixed="this version prints what is expected"
AS=$(tools/binutils as) || AS=
READELF=$(tools/binutils readelf) || READELF=
OBJDUMP=$(tools/binutils objdump) || OBJDUMP=
LUAJIT=$(tools/luajit) || LUAJIT=
export AS READELF OBJDUMP LUAJIT LC_ALL=C

# block TITLE FILE: the first indented block below the title
block() {
	awk -v title="$1" '
		/^=+$/ { in_part = last == title }
		{ last = $0 }
		!in_part || done { next }
		/^    / { print substr($0, 5); begun = 1; next }
		/^$/ { if (begun) print; next }
		begun { done = 1 }' "$2" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

debugs() { gdb -nx -batch -ex run true 2>"$tmp/err" | grep -q 'exited normally'; }

# missing NAME: why the reproducer cannot run here
missing() {
	case $1 in
	gas-* | libsframe-*)
		[ -n "$AS" ] || echo "no gas that writes SFrame V3 here" ;;
	elfutils-*)
		[ "$(uname -m)" = x86_64 ] &&
			echo '#include <elfutils/libdwfl.h>' |
			cc -E - >"$tmp/err" 2>&1 ||
			echo "no libdw for x86-64 here" ;;
	luajit-*)
		[ -n "$LUAJIT" ] || echo "no luajit here" ;;
	libgcc-*)
		[ "$(uname -m)" = x86_64 ] || echo "no x86-64 here" ;;
	ocaml-*)
		command -v "${OCAMLOPT:-ocamlopt}" >"$tmp/err" && debugs ||
			echo "ocamlopt is not installed, or gdb cannot run here" ;;
	openssl-*)
		[ "$(uname -m)" = x86_64 ] && debugs &&
			command -v openssl >"$tmp/err" ||
			echo "openssl is not installed, or gdb cannot run here" ;;
	perf-*)
		perf record -q -e cpu-clock -o "$tmp/data" true 2>"$tmp/err" ||
			echo "perf cannot record here" ;;
	*)
		echo "tests/docs/reports.sh does not know this report" ;;
	esac
}

for file in Documentation/reports/*.txt; do
	name=$(basename "$file" .txt)
	for part in To Summary Versions; do
		grep -q "^$part: *[^ ]" "$file" || not_ok "$name" "no $part:"
	done
	for part in Cause "Suggested fix"; do
		grep -A 1 "^$part\$" "$file" | grep -q '^==' ||
			not_ok "$name" "no part '$part'"
	done
	block Reproducer "$file" >"$tmp/run"
	block Actual "$file" >"$tmp/actual"
	block Expected "$file" >"$tmp/expected"
	if ! [ -s "$tmp/run" ] || ! [ -s "$tmp/actual" ] ||
		cmp -s "$tmp/actual" "$tmp/expected"; then
		not_ok "$name" "no reproducer, or no difference"
		continue
	fi
	why=$(missing "$name")
	if [ -n "$why" ]; then
		skip "$name" "$why"
		continue
	fi
	mkdir "$tmp/$name"
	(cd "$tmp/$name" && sh "$tmp/run") >"$tmp/out" 2>"$tmp/err"
	if cmp -s "$tmp/out" "$tmp/actual"; then
		ok "$name"
	elif cmp -s "$tmp/out" "$tmp/expected"; then
		skip "$name" "$fixed"
	else
		not_ok "$name" "$(diff "$tmp/actual" "$tmp/out"; cat "$tmp/err")"
	fi
done
finish
