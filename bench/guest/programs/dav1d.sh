# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: ffmpeg dav1d
! once || ffmpeg -v error -f lavfi -i testsrc2=size=320x180:rate=25:duration=0.4 -c:v libsvtav1 -preset 10 -y /tmp/dav1d.ivf >&2
run dav1d -q --threads 1 -i /tmp/dav1d.ivf --muxer md5 -o -
run dav1d -q --threads 1 -i /tmp/dav1d.ivf --muxer md5 -o -
