# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Shared by the scripts of tools/ and by tests/lib/run, which source it first.
# Progress goes to stderr, so that a script's stdout is only its result.

set -eu
# Make's own variables must not reach the make of another tree.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CDPATH
export LC_ALL=C.UTF-8 PATH="$PATH:/usr/sbin:/sbin"
umask 022

top=$(cd "$(dirname "$0")" && pwd)
while ! [ -e "$top/kernel-patches/series" ]; do
	top=${top%/*}
	[ -n "$top" ] || exit 1
done
O=${O:-build}
case $O in /*) ;; *) O=$top/$O ;; esac
logs=$O/logs
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sfjit
jobs=${JOBS:-$(nproc)}

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# Sixteen hex digits of what is on stdin.
hash16() { sha256sum | cut -c1-16; }

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# "'a' 'b c' ": words that the shell reads back as they are.
quote() {
	for _word; do
		printf "'"
		printf '%s' "$_word" | sed "s/'/'\\\\''/g"
		printf "' "
	done
}

# The only place which knows how a time looks.
as_time() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }
elapsed() { as_time $(($(date +%s) - $1)); }

# Whether a line may be written again: on a terminal, by one step at a time.
one_line() { [ -t 2 ] && [ -z "${SFJIT_SIDE_BY_SIDE:-}" ]; }

# ticker PID TEXT: shows that PID is still busy, each second on the same line,
# or in a line every 30 s.
ticker() {
	_begin=$(date +%s) _n=0
	while sleep 1 && kill -0 "$1" 2>/dev/null; do
		_n=$((_n + 1))
		if one_line; then
			printf '\r  %s ... %s ' "$2" "$(elapsed "$_begin")" >&2
		elif [ $((_n % 30)) = 0 ]; then
			say "  $2 ... $(elapsed "$_begin")"
		fi
	done
}

# step NAME TEXT COMMAND...: runs a long COMMAND (or function) with its output
# in logs/NAME.log.  Failure ends the script.  Never call it where `set -e' is
# off (in a condition): COMMAND would run on after an error.
step() {
	_log=$logs/$1.log _text=$2
	shift 2
	mkdir -p "$logs"
	_began=$(date +%s)
	# Its sleep lives on for a second, and no lock may.
	ticker $$ "$_text" 6>&- 7>&- 8>&- 9>&- &
	_ticker=$!
	set +e
	(set -e; "$@") >"$_log" 2>&1 </dev/null
	_rc=$?
	set -e
	kill "$_ticker" 2>/dev/null || :
	wait "$_ticker" 2>/dev/null || :
	! one_line || printf '\r\033[K' >&2
	[ $_rc = 0 ] || step_failed "$_rc"
	say "  $_text: done ($(elapsed "$_began"))"
}

step_failed() {
	tail -n 25 "$_log" | sed 's/^/    | /' >&2
	die "$_text: failed (status $1), see $_log"
}

# cached NAME KEY TEXT BUILDER: makes $entry, the directory NAME-KEY of the
# cache; if missing, BUILDER DIR fills a temporary one, which is renamed when
# complete.  Two runs at once: one builds, the other waits.
cached() {
	entry=$cache/$1-$2
	touch -c "$entry"
	[ ! -d "$entry" ] || return 0
	mkdir -p "$cache"
	exec 9>"$cache/.$1.lock"
	flock -n 9 || { say "  waiting for another run: $3"; flock 9; }
	if [ ! -d "$entry" ]; then
		rm -rf "$entry.tmp"
		mkdir "$entry.tmp"
		step "$1" "$3" "$4" "$entry.tmp"
		mv "$entry.tmp" "$entry"
	fi
	exec 9>&-
}

# drop_old NAME: of the directories NAME-KEY, $entry and the four used before it
# are enough.  Another run may be about to open what was used in the last hour,
# and the one that has the lock makes the next entry, and drops then.
drop_old() {
	touch "$entry"
	exec 9>"$cache/.$1.lock"
	! flock -n 9 ||
		find "$cache" -maxdepth 1 -name "$1-*" ! -name '*.tmp' \
			-printf '%T@ %p\n' | sort -rn | tail -n +6 |
			cut -d ' ' -f 2- | while read -r _old; do
			find "$_old" -maxdepth 0 -mmin +60 -exec rm -rf '{}' +
		done
	exec 9>&-
}

# in_group [OPTION...] SECONDS COMMAND...: runs COMMAND by timeout(1), in a process
# group of its own: whatever Ctrl-C or a signal to this script ends, it ends, too,
# and first.  Its end is that of the processes that it leaves.  Sets traps.
in_group() {
	timeout "$@" &
	_group=$!
	trap end_group INT TERM HUP
	_rc=0
	wait "$_group" || _rc=$?
	kill -- "-$_group" 2>/dev/null || :
	trap 'exit 130' INT TERM HUP
	return $_rc
}

# A second signal must not end the wait for what the first one ended.
end_group() {
	trap '' INT TERM HUP
	kill "$_group" 2>/dev/null || :
	wait "$_group" || :
	exit 130
}
