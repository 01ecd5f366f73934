# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: frame-pointers
# packages: -
. "$here/../frame-pointers.sh"
PATH=$fp/bin:$PATH
. "$here/luajit.sh"
