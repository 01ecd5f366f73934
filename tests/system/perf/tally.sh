# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Sourced by tests that judge stacks, a line each.

# tally PATTERN: how many lines of stdin match, and how many do not.
tally() {
	awk -v want="$1" '$0 ~ want { good++; next } { bad++; last = $0 }
		END { print good + 0, bad + 0, last }'
}
