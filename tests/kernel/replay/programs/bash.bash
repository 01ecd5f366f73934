# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# Six seconds of functions, expansions, patterns, traps and subshells.
fib() {
	if (($1 < 2)); then
		r=$1
	else
		local a
		fib $(($1 - 1))
		a=$r
		fib $(($1 - 2))
		((r += a))
	fi
}
trap 'hits=$((hits + 1)); fib 6' USR1
while ((SECONDS < 7)); do
	fib 9
	s=
	for ((i = 0; i < 300; i++)); do
		s=${s:0:60}$((i * 7919 % 1009))
		[[ $s =~ ([0-9]+)5 ]] && t=${BASH_REMATCH[1]//1/x}
		case $t in *9?[3-7]*) u=${t%%9*} ;; esac
	done
	declare -A map
	for w in {a..z}{a..d}; do map[$w]=${w^^}; done
	printf -v line '%s,' "${map[@]}"
	IFS=, read -ra parts <<<"$line"
	v=$(for p in "${parts[@]}"; do echo "$p"; done | { while read -r x; do y=$x; done; echo "$y"; })
	kill -USR1 $$
done
