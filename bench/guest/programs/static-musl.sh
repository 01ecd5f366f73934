# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: gcc musl-tools
! once || musl-gcc -O2 -static -o /tmp/work-musl-s "$here/static.c" >&2
attach_waiting work-musl-s "/tmp/work-musl-s 30"
