# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2086,SC2154
# image: frame-pointers
# packages: gcc libc6-dev
# shellcheck source=bench/guest/frame-pointers.sh
. "$here/../frame-pointers.sh"
! once || gcc $fp_flags -o /tmp/fp-c "$here/static.c"
run /tmp/fp-c 30
