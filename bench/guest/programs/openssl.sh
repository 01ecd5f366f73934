# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: openssl
head -c 3000000 /dev/zero >zeros
run openssl dgst -sha256 zeros
run openssl dgst -sha3-256 zeros
run openssl enc -chacha20 -K 00 -iv 00 -in zeros -out enciphered
