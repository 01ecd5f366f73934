# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: bash
run bash -c 'fib() { if (($1 < 2)); then r=$1; else fib $(($1 - 1)); local a=$r
	fib $(($1 - 2)); r=$((a + r)); fi; }; for j in 1 2 3; do fib 9; done; echo $r
	for ((i = 0; i < 1000; i++)); do x=${x:0:9}$i; [[ $x =~ 9(.)9 ]]; done; echo $x
	for i in 1 2 3 4 5; do (echo sub $i) | cat; done'
