#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the example prints its result and leaves its name in the perf
# map; its instructions end where its rows say.

cd "$(dirname "$0")/../.." || exit 1
O=${O:-build}
failed=0

check() {
	if [ "$2" = "$3" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1: $3, expected $2"
		failed=1
	fi
}

out=$(mktemp) || exit 1
"$O/examples/hello_jit" >"$out" 2>&1 &
pid=$!
wait $pid
check "exit status" 0 $?
check "output" 41 "$(cat "$out")"
check "name" "c hello::plus_one" "$(cut -d' ' -f2- "/tmp/perf-$pid.map")"
rm -f "$out" "/tmp/perf-$pid.map"

# The rows of the example are those that its instructions make.
bytes=$(sed -n '/ code\[\]/,/};/s/^\t\(\(0x.., *\)*0x..\),.*/\1/p' \
	userspace/examples/hello_jit.c | tr -d ',')
bin=$(mktemp) || exit 1
for byte in $bytes; do
	# shellcheck disable=SC2059
	printf "\\$(printf %o "$byte")"
done >"$bin"
rows=$(objdump -D -b binary -m i386:x86-64 --no-show-raw-insn "$bin" |
	awk '/^ *[0-9a-f]+:/ { sub(/:/, "", $1); print $1, $2 }' |
	while read -r address mnemonic; do
		[ -z "$after" ] || echo "$((0x$address)) $cfa"
		after=
		case $mnemonic in
		push) cfa=$((${cfa:-8} + 8)) after=1 ;;
		pop) cfa=$((${cfa:-8} - 8)) after=1 ;;
		esac
	done)
rm -f "$bin"
check "rows" "0 8
$rows" "$(sed -n 's/^\t{ \([0-9]*\), 0, SP(\([0-9]*\)), .*/\1 \2/p' \
	userspace/examples/hello_jit.c)"
exit $failed
