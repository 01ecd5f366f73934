# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034
#
# For the tests of sfjit run; sourced. Each test gets its own directory and
# cache. "register" makes the module do all of its work on any kernel.

top=$(cd "$(dirname "$0")/../.." && pwd)
[ -e "$top/Makefile" ] || top=$(dirname "$top")
sfjit=$top/build/bin/sfjit
preload=$top/build/lib/libsfjit-preload.so
run=$top/build/tests/run
failed=0

unset LD_PRELOAD SFJIT_VERBOSE SFJIT_LOG
work=$(mktemp -d)
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
export XDG_CACHE_HOME="$work/cache"
mkdir -m 700 "$work/cache"
tables=$XDG_CACHE_HOME/sfjit/tables
log=$work/log

ok() {
	echo "ok - $1"
}

not_ok() {
	echo "not ok - $1: $2"
	failed=1
}

skip() {
	echo "skip - $1: $2"
}

# is NAME WANT GOT
is() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "wanted '$2', got '$3'"
	fi
}

# like NAME PATTERN GOT
like() {
	# shellcheck disable=SC2254 # a pattern
	case $3 in
	$2) ok "$1" ;;
	*) not_ok "$1" "wanted '$2', got '$3'" ;;
	esac
}

# Runs under sfjit with a fresh log, without its own messages.
register() {
	rm -f "$log"
	"$sfjit" run -o "$log" -- "$@" 2>"$work/stderr"
}

# Prints what the log says of the module whose file name matches.
logged() {
	sed -n "s|^sfjit: [0-9]* [0-9.]* \([a-z]* [^ ]*$1.*\)|\1|p" "$log"
}

# The table of a program or library of build/tests/run in the cache.
table_of() {
	printf '%s/%s.sframe\n' "$tables" \
		"$(printf %s "$1" | sha1sum | cut -d' ' -f1)"
}

finish() {
	exit "$failed"
}
