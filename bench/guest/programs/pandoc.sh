# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: pandoc
run pandoc -f rst -t html "$top/Documentation/profiling.rst" -o out.html
run cksum out.html
