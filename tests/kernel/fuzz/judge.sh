# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Sourced after tests/lib/tap.sh by tests that run fuzz targets.
# shellcheck disable=SC2154 # which has $tmp

# judge NAME COMMAND...: its last line says what it did.
judge() {
	_name=$1
	shift
	if "$@" >"$tmp/log" 2>&1; then
		ok "$_name: $(tail -n 1 "$tmp/log")"
	else
		not_ok "$_name" "$(grep -m 1 -E 'finding|ERROR|runtime' \
			"$tmp/log" || tail -n 1 "$tmp/log")"
	fi
}
