# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# Names of all functions; none is inlined, as the calls of node.graph would be.
record node "$mode" node --perf-basic-prof --interpreted-frames-native-stack \
	--max-inlined-bytecode-size=0 "$dir/node.js" "$out/node.$mode.truth" \
	"$seconds"
