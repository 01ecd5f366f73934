# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: ffmpeg
run ffmpeg -v error -threads 1 -f lavfi -i testsrc2=size=320x180:rate=25:duration=0.3 -c:v libx264 -preset medium -threads 1 -f mp4 -y out.mp4
run ffmpeg -v error -threads 1 -i out.mp4 -f rawvideo -vf scale=160:90 -y out.raw
run cksum out.raw
