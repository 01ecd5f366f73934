# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: ripgrep
run rg -j1 --sort path -c 'struct|static' "$top/kernel-patches" "$top/userspace"
run rg -j1 --sort path -c '(\w+)_(\w+)_(read|next)\b' "$top"
