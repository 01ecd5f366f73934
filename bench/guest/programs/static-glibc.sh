# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: gcc libc6-dev
! once || gcc -O2 -static -o /tmp/work-glibc "$here/static.c" >&2
attach_waiting work-glibc "/tmp/work-glibc 30"
