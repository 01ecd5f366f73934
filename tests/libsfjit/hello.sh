#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the examples print their results and leave their names in the
# perf map; their instructions end where their rows say.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# run EXAMPLE OUTPUT NAME: NAME is the end of the line in the perf map
run() {
	out=$tmp/out
	SFJIT_DEBUG=abort "$O/examples/$1" >"$out" 2>&1 &
	pid=$!
	wait $pid
	is "$1: exit status" 0 $?
	is "$1: output" "$2" "$(cat "$out")"
	is "$1: name" "$3" "$(cut -d' ' -f2- "/tmp/perf-$pid.map")"
	rm "/tmp/perf-$pid.map"
}

# The rows that the instructions of an example make.
rows_of_code() {
	bytes=$(sed -n '/ code\[\]/,/};/s/^\t\(\(0x.., *\)*0x..\),.*/\1/p' \
		"$1" | tr -d ',')
	bin=$tmp/bin
	for byte in $bytes; do
		# shellcheck disable=SC2059
		printf "\\$(printf %o "$byte")"
	done >"$bin"
	echo "0 8"
	objdump -D -b binary -m i386:x86-64 --no-show-raw-insn "$bin" |
		awk '/^ *[0-9a-f]+:/ { sub(/:/, "", $1); print $1, $2 }' |
		while read -r address mnemonic; do
			[ -z "$after" ] || echo "$((0x$address)) $cfa"
			after=
			case $mnemonic in
			push) cfa=$((${cfa:-8} + 8)) after=1 ;;
			pop) cfa=$((${cfa:-8} - 8)) after=1 ;;
			esac
		done
}

# Debug output would be lost if the variable were read later than at load time.
cat >"$tmp/wrong.c" <<END
#include <sfjit.h>
int main(void)
{
	return -sfjit_unregister(1);
}
END
gcc -Iuserspace/include -Isframegen/include -o "$tmp/wrong" "$tmp/wrong.c" \
	"$O/lib/libsfjit.a" -pthread
"$tmp/wrong" 2>"$tmp/said"
is "a mistake without SFJIT_DEBUG" "0 " "$? $(cat "$tmp/said")"
SFJIT_DEBUG=1 "$tmp/wrong" 2>"$tmp/said"
is "a mistake with SFJIT_DEBUG=1" \
	"2 libsfjit: no window 0x1 to unregister" "$? $(cat "$tmp/said")"
# The shell that runs it reports the signal, too.
{ SFJIT_DEBUG=abort sh -c 'exec "$0" 2>"$1"' "$tmp/wrong" "$tmp/said"
} 2>/dev/null
is "a mistake with SFJIT_DEBUG=abort" \
	"134 libsfjit: no window 0x1 to unregister" "$? $(cat "$tmp/said")"

run hello_jit 41 "c hello::plus_one"
run area_jit "1039
1000 functions, 5 rules" "a area::last"
run eh_frame_jit 41 "c object::plus_one"
run rows_jit "41 0" "20 rows::plus_one"
run text_jit "41 61" "f text::loose"

# Without assisted unwinding it runs all the same.
"$O/examples/asked_loop" 2 >"$tmp/out" 2>&1
is "asked_loop: exit status" 0 $?
is "asked_loop: nothing, but that it is not asked" "" \
	"$(grep -v '^cannot enable assists: ' "$tmp/out")"
for source in userspace/examples/hello_jit.c userspace/examples/area_jit.c; do
	is "$(basename "$source"): rows" "$(rows_of_code "$source")" "$(
		sed -n 's/^\t{ \([0-9]*\), 0, SP(\([0-9]*\)), .*/\1 \2/p' \
			"$source")"
done
finish
