# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: frame-pointers
# packages: -
# shellcheck source=bench/guest/frame-pointers.sh
. "$here/../frame-pointers.sh"
PATH=$fp/bin:$PATH
# shellcheck source=bench/guest/programs/luajit.sh
. "$here/luajit.sh"
