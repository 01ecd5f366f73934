# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# Of no image: a program that fails, for jits.sh.
record broken "$mode" false
