#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: under sfjit run, call frame information that a JIT publishes gets
# windows when its text is executable, and loses them when it is removed, or
# when the text changes.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

# Actions, one word each: "+N" for N windows, "wN" for N and more later, "-"
# removed, "k" kept although its frames are removed, "!" refused.
steps() {
	sed -n 's/^sfjit: [0-9]* [0-9.]* \([a-z]*\) jit:[0-9a-f]*:* *\(.*\)/\1 \2/p' \
		"$log" | awk '
		$1 == "registered" || $1 == "waits" {
			n = $2
			sub(/.*=/, "", n)
			printf "%s%s ", / waits=yes/ ? "w" : "+", n
		}
		$1 == "removed" { printf "- " }
		$1 == "kept" { printf "k " }
		$1 == "skipped" { printf "! " }'
}

also register "$run/jit" publish
is "each way to publish" \
	"+1 - w0 +1 k w0 +1 k - +1 - w0 +1 k +1 - w0 +1 k - w0 +1 - \
w0 +1 - +1 +1 +1 +1 - +1 +1 k - +1 - +1 - +1 - \
w0 +1 k w0 +1 - w0 +1 +1 - - w0 - w1 +2 k - +2 - +2 - +1 - +1 - \
+1 - +1 - +1 +1 - +1 +1 - +1 +1 - +1 - +1 - +1 - +1 - +1 - +1 - - \
+1 +1 - w0 w0 +1 k - +1 +1 - ! ! ! ! ! +1 +1 " \
	"$(steps)"
for function in /jit:__jit_debug_register_code :_dl_debug_state; do
	like "calls of $function are noticed" "follows *$function" \
		"$(logged "$function")"
done
is "sources" "frames gdb " "$(sed -n 's/.* registered jit:.* source=\([a-z]*\) .*/\1/p' \
	"$log" | sort -u | tr '\n' ' ')"
also register "$run/jit-mistakes" publish-mistakes
like "mistakes" "+1 +1 - +1 +1 - +1 +1 - ! ! *" "$(steps)"
like "a reason" "*jit:*: the frames leave mapped memory (errno 22)" \
	"$(grep ' skipped jit:' "$log" | head -n 1)"

register "$run/jit" publish-many >"$tmp/out"
# Kept windows may be removed later.
is "200 units, and 2000 in two threads: windows, removed or kept" "2200 2200" \
	"$(grep -c ' registered jit:' "$log") $(awk '
		$4 == "registered" { there[$5]++ }
		$4 == "removed" || $4 == "kept" {
			gone += !!there[$5]
			there[$5] = 0
		}
		END { print gone }' "$log")"

# A library whose JIT describes nothing and uses the frame pointer for data.
for library in libpcre2-8.so plugin-maps.so; do
	register "$run/loader" keep "$run/$library" >"$tmp/out"
	is "$library: maps memory" 8 "$(cat "$tmp/out")"
	grep -c ' ends jit:[0-9a-f]*000$' "$log" >>"$tmp/ends"
done
is "stacks end in what PCRE2 maps for code, and in no other" "2 0" \
	"$(tr '\n' ' ' <"$tmp/ends" | sed 's/ $//')"

# The same in a program, for which ld.so has no name.
for program in mono-sgen mono-other; do
	cp "$run/maps" "$tmp/$program"
	register "$tmp/$program" >"$tmp/out"
	is "$program: maps memory" 8 "$(cat "$tmp/out")"
	grep -c ' ends jit:[0-9a-f]*000$' "$log" >>"$tmp/ends-program"
done
is "stacks end in what Mono maps, and no other program" "2 0" \
	"$(tr '\n' ' ' <"$tmp/ends-program" | sed 's/ $//')"

# Erlang keeps frame pointers if it is asked to.
cp "$run/maps" "$tmp/beam.smp"
register "$tmp/beam.smp" -- -JPperfect >"$tmp/out"
is "Erlang: stacks end in its code" 2 \
	"$(grep -c ' ends jit:[0-9a-f]*000$' "$log")"
register "$tmp/beam.smp" -JPperf true >"$tmp/out"
is "with +JPperf they do not" 0 "$(grep -c ' ends jit:' "$log")"
finish
