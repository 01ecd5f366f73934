# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh

for _ in 1 2 3; do cat /usr/bin/sqlite3; done >data
xz -T2 -6 -k -f data
xz -d -c data.xz | zstd -T2 -12 -q -f -o data.zst
zstd -t -q data.zst
