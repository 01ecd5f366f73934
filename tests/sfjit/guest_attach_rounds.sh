#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage, in the guest: guest_attach_rounds.sh ROUNDS
#
# Attaches to a program that checks itself, and detaches, so many times, while
# others use all CPUs and perf walks its stacks.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/sfjit/attached.sh
. "$top/tests/sfjit/attached.sh"
rounds=$1

# says PATTERN WINDOWS COMMAND: checks status, output, and existence of windows.
says() {
	"$sfjit" "$3" "$pid" >"$tmp/said" 2>&1 || return 1
	has=$(windows "$pid")
	# shellcheck disable=SC2254 # a pattern
	case "$(cat "$tmp/said"): $has" in
	$1": $2") ;;
	*) return 1 ;;
	esac
}

start "$tmp/target" "$O/tests/sfjit/programs/attach-target"
target=$pid
snapshot "$target" >"$tmp/before"
threads=$(find "/proc/$target/task" -mindepth 1 -maxdepth 1 | wc -l)
says "$target: *" "*" attach
want=$has
is "windows: program, libc, ld.so, vDSO, at least" yes \
	"$([ "${want:-0}" -ge 4 ] && echo yes)"
is "detached" "0 0" "$(says "$target: *" 0 detach; echo $? "$has")"

load=
for _ in $(seq "$(nproc)"); do
	sh -c 'while :; do :; done' 7>&- &
	load="$load $!"
done
perf record -e cpu-clock -F 200 --call-graph=fp -o "$tmp/perf.data" \
	-p "$target" >"$tmp/perf" 2>&1 7>&- &
perf=$!

# The load slows down the process, but only makes this script wait.
renice -n -15 $$ >/dev/null
# Every tenth time, replace what is attached first, and take samples.
bad=
for round in $(seq "$rounds"); do
	says "$target: $want windows, *" "$want" attach &&
		{ [ $((round % 10)) != 0 ] ||
			{ spins && says "$target: $want windows, *" "$want" \
				attach; }; } &&
		says "$target: removed $want windows, *" 0 detach ||
		bad="$bad $round: $(cat "$tmp/said"), $has windows"
	[ $((round % 100)) != 0 ] || echo "$round rounds"
done
is "$rounds times attached and detached, of $threads threads" "" "$bad"

# shellcheck disable=SC2086 # words
kill $load
kill "$perf"
wait "$perf"
snapshot "$target" >"$tmp/after"
same "mappings and files" "$tmp/before" "$tmp/after"
is "no thread more or less" "$threads" \
	"$(find "/proc/$target/task" -mindepth 1 -maxdepth 1 | wc -l)"
echo >"$tmp/input"
wait "$target"
is "the process ends as it wants" 0 $?
is "all threads worked, and nothing was wrong" "11 0" \
	"$(awk 'NF > 2 && $2 > 0 { n++; wrong += $3; print >"/dev/stderr" }
		END { print n, wrong + 0 }' "$tmp/target" 2>"$tmp/work")"
cat "$tmp/work"

# Without windows the caller of its loop is not found.
perf script --no-inline -i "$tmp/perf.data" -F ip,sym 2>>"$tmp/perf" |
	python3 -B "$top/tests/lib/perfscript.py" ip,sym >"$tmp/stacks"
is "stacks were walked through windows meanwhile" yes \
	"$(awk '$1 == "rseq_round" && $2 == "work" { n++ }
		END { print (n >= rounds / 10 ? "yes" : n + 0 " of " NR) }' \
		rounds="$rounds" "$tmp/stacks")"
finish
