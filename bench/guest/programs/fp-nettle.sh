# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: frame-pointers
# packages: libnettle8t64
# shellcheck source=bench/guest/frame-pointers.sh
. "$here/../frame-pointers.sh"
head -c 3000000 /dev/zero >zeros
run "$fp/bin/nettle-hash" --algorithm=sha256 zeros
run "$fp/bin/nettle-hash" --algorithm=sha3_256 zeros
run "$fp/bin/nettle-hash" --algorithm=md5 zeros
