# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
#
# Judges stacks that perf script has written to $samples; sourced behind
# tests/preload/lib.sh.

samples=$tmp/samples

# summary COMM START END CHAIN: of the user stacks of COMM whose innermost
# frames include END, prints for each process "PID stacks N complete N exact N".
# CHAIN: names from END outwards, separated by spaces.
summary() {
	awk -v comm="$1" -v after="$2" -v end="$3" -v chain="$4" '
	BEGIN { RS = ""; FS = "\n"; nr = split(chain, want, " ") }
	{
		split($1, head, " ")
		if (head[1] != comm || head[3] + 0 < after + 0)
			next
		found = 0
		for (i = 2; i <= NF; i++) {
			split($i, part, " ")
			if (part[2] == end) {
				found = i
				break
			}
		}
		if (!found)
			next
		pid = head[2]
		total[pid]++
		good = 1
		for (j = 1; j <= nr; j++) {
			split($(found + j), part, " ")
			if (part[2] != want[j])
				good = 0
		}
		exact[pid] += good
		split($NF, part, " ")
		complete[pid] += part[2] == "_start"
		if ((!good || part[2] != "_start") && shown++ < 2)
			print $0 "\n" > "/dev/stderr"
	}
	END {
		for (pid in total)
			printf "%s stacks %d complete %d exact %d\n", pid,
				total[pid], complete[pid], exact[pid]
	}' "$samples"
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
