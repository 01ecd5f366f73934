# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
record perl "$mode" perl "$dir/perl.pl" "$out/perl.$mode.truth" "$seconds"
