# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
record node-native "$mode" node "$dir/node.js" \
	"$out/node-native.$mode.truth" "$seconds"
