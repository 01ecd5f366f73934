# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034
#
# For the tests of sfjit run; source it after tests/lib/tap.sh. Each test gets
# its own cache. "register" makes the module do all of its work on any kernel.

sfjit=$O/bin/sfjit
preload=$O/lib/sfjit/libsfjit-preload.so
run=$O/tests/preload/programs

unset LD_PRELOAD SFJIT_VERBOSE SFJIT_LOG
export XDG_CACHE_HOME="$tmp/cache"
mkdir -m 700 "$tmp/cache"
tables=$XDG_CACHE_HOME/sfjit/tables
log=$tmp/log

# Runs under sfjit with a fresh log, without its own messages.
register() {
	rm -f "$log"
	"$sfjit" run ${reasons:+-r "$reasons"} -o "$log" -- "$@" 2>"$tmp/stderr"
}

# Prints the lines of the log about the module whose file name matches.
logged() {
	sed -n "s|^sfjit: [0-9]* [0-9.]* \([a-z]* [^ ]*$1.*\)|\1|p" "$log"
}

# The table of a program or library of build/tests/preload/programs in the cache.
table_of() {
	printf '%s/%s.packed\n' "$tables" \
		"$(printf %s "$1" | sha1sum | cut -d' ' -f1)"
}
