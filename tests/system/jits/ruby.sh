# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
record ruby "$mode" ruby "$dir/ruby.rb" "$out/ruby.$mode.truth" "$seconds"
