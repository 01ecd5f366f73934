#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: a program cannot tell that sfjit run started it, except by its
# environment and its address space.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

# unchanged NAME COMMAND...: the program 'state' writes the same with and
# without. register() has its standard error in a file.
unchanged() {
	name=$1
	shift
	"$@" "$tmp/state" a 'b c' '' 2>"$tmp/stderr"
	mv "$tmp/state" "$tmp/before"
	register "$@" "$tmp/state" a 'b c' ''
	if grep -q ' ready ' "$log"; then
		same "$name" "$tmp/before" "$tmp/state"
	else
		not_ok "$name" "the module did not work: $(cat "$tmp/stderr")"
	fi
}

unchanged "arguments, environment, descriptors, signals, limits" "$run/state"
unchanged "again, with a warm cache" "$run/state"
export LC_ALL=C.UTF-8 LANG=xx_YY EMPTY=
unchanged "another environment" "$run/state"
(umask 077; cd / && unchanged "umask and directory" "$run/state") || failed=1

# Closed descriptors must stay closed. The program opens its file.
closed() {
	"$@" "$tmp/state" <&- >&- 2>&-
}
closed "$run/state"
mv "$tmp/state" "$tmp/before"
rm -f "$log"
closed "$sfjit" run -o "$log" -- "$run/state"
grep -v ^argument "$tmp/before" >"$tmp/want"
grep -v ^argument "$tmp/state" >"$tmp/got"
same "closed standard descriptors" "$tmp/want" "$tmp/got"

# ends NAME: ends like without sfjit run
ends() {
	for status in 0 1 77 255; do
		register "$run/hello" $status >"$tmp/out"
		is "$1exit status $status" $status $?
	done
	is "$1standard output" hello "$(register "$run/hello")"
	is "$1standard input" "some input" "$(echo some input | register cat)"
	for signal in TERM KILL SEGV; do
		is "$1death by SIG$signal" \
			"$(sh -c "kill -$signal \$\$" 2>/dev/null; echo $?)" \
			"$(register sh -c "kill -$signal \$\$"; echo $?)"
	done 2>/dev/null
}
ends ""

# Programs whose tracer waits for their end.
reasons=$tmp/reasons
unchanged "followed" "$run/state"
ends "followed: "
is "followed: a signal that is handled" "caught" "$(register sh -c \
	'trap "echo caught" USR1; kill -USR1 $$; true' | xargs)"
is "followed: children" "one two" "$(register sh -c \
	'(echo one) & wait; sh -c "echo two"' | xargs)"
is "followed: nobody else waits" "" "$(register sh -c 'sleep 0.1 &
	ps -o comm= --ppid $$ | grep -vx "sleep\|ps\|sh\|grep"')"
is "followed twice" "125 sfjit: $reasons: Operation not permitted" \
	"$(register "$sfjit" run -r "$reasons" -- true; echo $? \
		"$(tail -n 1 "$tmp/stderr")")"
echo old >"$tmp/kept"
is "followed twice: another file is as it was" "125 old" \
	"$(register "$sfjit" run -r "$tmp/kept" -- true; echo $? \
		"$(cat "$tmp/kept")")"
unset reasons
echo old >"$tmp/kept"
is "followed: a file is written anew" "0 0" "$("$sfjit" run -r "$tmp/kept" -- \
	true 2>"$tmp/stderr"; echo $? "$(grep -c old "$tmp/kept")")"
is "followed: a device stays one" "0 c" "$("$sfjit" run -r /dev/null -- true \
	2>"$tmp/stderr"; echo $? "$(stat -c %A /dev/null | cut -c 1)")"

# The program's output stays its own, even if both use standard error.
"$sfjit" run -v -- sh -c 'echo mine >&2' 2>"$tmp/stderr"
is "standard error" mine "$(grep -v ^sfjit: "$tmp/stderr")"

is "LD_PRELOAD is set" "$preload" \
	"$(register printenv LD_PRELOAD)"
export LD_PRELOAD="$run/plugin1.so"
is "LD_PRELOAD is kept" "$run/plugin1.so:$preload" \
	"$(register printenv LD_PRELOAD)"
is "LD_PRELOAD names us once" "$run/plugin1.so:$preload" \
	"$(register "$sfjit" run -- printenv LD_PRELOAD)"
register "$run/hello" >"$tmp/out"
like "a library that is preloaded as well" "registered *" "$(logged plugin1)"
unset LD_PRELOAD

# For programs with AddressSanitizer.
unset ASAN_OPTIONS
is "ASAN_OPTIONS is set" verify_asan_link_order=0 \
	"$(register printenv ASAN_OPTIONS)"
export ASAN_OPTIONS=exitcode=3
is "ASAN_OPTIONS is kept" exitcode=3:verify_asan_link_order=0 \
	"$(register "$sfjit" run -- printenv ASAN_OPTIONS)"
export ASAN_OPTIONS=verify_asan_link_order=1
is "ASAN_OPTIONS has the last word" verify_asan_link_order=1 \
	"$(register printenv ASAN_OPTIONS)"
unset ASAN_OPTIONS

# Also under sfjit run: children, and the programs that they start.
register sh -c "sh -c '$run/hello; $run/hello'" >"$tmp/out"
is "children" 2 "$(logged /hello | grep -c ^registered)"

# A limit on file sizes must not kill: neither cache nor log can be written.
rm -rf "$XDG_CACHE_HOME/sfjit"
is "file size limit" "hello 0" \
	"$(ulimit -f 0 && register "$run/hello" | tr '\n' ' '; echo 0)"
is "file size limit: no table in the cache" "" \
	"$(find "$XDG_CACHE_HOME" -name '*.packed*')"
# A closed reader of standard error must not kill either.
{
	"$sfjit" run -v -- "$run/hello" 12 >/dev/null
	echo $? >"$tmp/status"
} 2>&1 | true
is "standard error is a closed pipe" 12 "$(cat "$tmp/status")"
is "few descriptors" hello \
	"$(register sh -c "ulimit -n 4; exec $run/hello")"
is "little memory" hello \
	"$(register prlimit --as=20000000 "$run/hello")"

register "$run/user-tls" >"$tmp/out"
is "static TLS of a start-up library" "$("$run/user-tls")" "$(cat "$tmp/out")"
finish
