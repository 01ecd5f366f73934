# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: make
# shellcheck disable=SC2016 # for make
{
	echo 'all: $(foreach i,$(shell seq 80),t$i)'
	for i in $(seq 80); do
		echo "t$i: t$((i / 2)) ; @: \$(sort \$(patsubst %,x%,\$(wildcard $top/tests/*)))"
	done
	echo 't0: ; @echo done $(words $(shell seq 500))'
} >Makefile
run make -s
