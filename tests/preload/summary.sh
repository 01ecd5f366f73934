# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
#
# Judges stacks that perf script has written to $samples; sourced after
# tests/preload/lib.sh.

samples=$tmp/samples

# summary COMM END CHAIN [OPTION...]: see summary.py
summary() {
	_comm=$1 _end=$2 _chain=$3
	shift 3
	python3 -B "$top/tests/preload/summary.py" "$_comm" "$_end" "$_chain" \
		"$samples" "$@"
}

# prefork_stacks NAME: those of $tmp/sum and $tmp/bad are of four processes, and
# all are exact and complete.
prefork_stacks() {
	is "$1: parent and 3 workers" 4 "$(wc -l <"$tmp/sum")"
	while read -r pid _ stacks _ complete _ exact; do
		if [ "$stacks" -gt 20 ] && [ "$complete" = "$stacks" ] &&
			[ "$exact" = "$stacks" ]; then
			ok "$1: all $stacks stacks of a process"
		else
			not_ok "$1: all stacks of $pid" \
				"$stacks, $complete complete, $exact exact:
$(head -n 30 "$tmp/bad")"
		fi
	done <"$tmp/sum"
}
