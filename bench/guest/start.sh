#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: start.sh WHERE RUNS START
#
# With the program START: programs that end at once, without and with sfjit run,
# with tables in the cache; and in the guest with an empty cache, or for
# programs without tables. Prints lines "WHERE NAME HOW NANOSECONDS".

set -eu
where=$1 runs=$2 start=$3
cd "$(dirname "$0")/../.."
export XDG_CACHE_HOME="${TMPDIR:-/tmp}/start-cache"
mkdir -p "$XDG_CACHE_HOME"
sfjit=${O:-build}/bin/sfjit

both() {
	_name=$1
	shift
	"$start" "$where $_name plain" "$runs" "$@"
	"$start" "$where $_name sfjit" "$runs" "$sfjit" run -- "$@"
}

# Each run makes the tables; each finds those in /tmp.
# shellcheck disable=SC2016 # the variables are of the inner shell
uncached() {
	"$start" "$where $_name first" 1 sh -c \
		'XDG_CACHE_HOME=$XDG_CACHE_HOME/$START_RUN exec "$@"' sh \
		"$sfjit" run -- "$@"
	"$start" "$where $_name homeless" "$runs" sh -c \
		'unset HOME XDG_CACHE_HOME; exec "$@"' sh "$sfjit" run -- "$@"
}

# A command of this name may be a script that searches for the program.
both python3 "$(python3 -c 'import sys; print(sys.executable)')" -I -c pass
both true /bin/true
[ "$where" != guest ] || uncached /bin/true
