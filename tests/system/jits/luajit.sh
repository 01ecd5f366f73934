# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
record luajit "$mode" luajit "$dir/luajit.lua" "$out/luajit.$mode.truth" \
	"$seconds"
