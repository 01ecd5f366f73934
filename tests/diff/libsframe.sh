#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: libsframe finds the same row at each boundary of our sections.

# shellcheck source=tests/diff/common
. "$(dirname "$0")/common"

[ -x "$programs/libsframe-rows" ] || skip "built without libsframe"
files=$(trixie_files)
[ -n "$files" ] ||
	skip "no files of Debian 13 (SFJIT_TRIXIE or tools/rootfs elf)"
for file in $files; do
	name=$(basename "$file")
	if ! "$bin" --elf "$file" -o "$tmp/section" >"$tmp/out" 2>&1; then
		not_ok "$name: conversion" "$(cat "$tmp/out")"
	elif "$programs/libsframe-rows" "$tmp/section" >"$tmp/out"; then
		ok "$name: $(cat "$tmp/out")"
	else
		not_ok "$name" "$(tail -n 4 "$tmp/out" | tr '\n' ' ')"
	fi
done
exit $failed
