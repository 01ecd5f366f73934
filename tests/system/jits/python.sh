# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
record python "$mode" python3 "$dir/python.py" "$out/python.$mode.truth" \
	"$seconds"
