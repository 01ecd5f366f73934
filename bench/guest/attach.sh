#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: attach.sh WHERE RUNS ATTACH [DETACH]
#
# Runs the commands, each a word, RUNS times, with the process id appended, to
# attach to a process and detach from it; and once before with an empty cache.
# The process is a python3 that computes, after loading modules until it has
# MAPPINGS mappings of code. Prints the output of the commands, each line after
# WHERE; and "WHERE mappings NR".

set -eu
where=$1 runs=$2 attach=$3 detach=${4:-}
MAPPINGS=34
cd "$(dirname "$0")/../.."
XDG_CACHE_HOME=$(mktemp -d "${TMPDIR:-/tmp}/attach-cache.XXXXXX")
export XDG_CACHE_HOME

{ LD_PRELOAD='' exec python3 -I - "$MAPPINGS" "$XDG_CACHE_HOME/ready" <<'END'
import glob
import os
import sys
import sysconfig

def mappings():
    with open('/proc/self/maps', encoding='utf-8') as file:
        return sum(line.split()[1] == 'r-xp' for line in file)

directory = sysconfig.get_path('stdlib') + '/lib-dynload/*.so'
for path in sorted(glob.glob(directory)):
    if mappings() >= int(sys.argv[1]):
        break
    try:
        __import__(os.path.basename(path).split('.')[0])
    except ImportError:
        pass
with open(sys.argv[2] + '.new', 'w', encoding='utf-8') as file:
    print(mappings(), file=file)
os.rename(sys.argv[2] + '.new', sys.argv[2])
while True:
    sum(i * i for i in range(1000))
END
} &
pid=$!
trap 'kill "$pid"; rm -rf "$XDG_CACHE_HOME"' EXIT
while ! [ -e "$XDG_CACHE_HOME/ready" ]; do
	kill -0 "$pid"
	sleep 0.1
done

# The first run makes the tables.
i=0
while [ $i -le "$runs" ]; do
	for command in "$attach" ${detach:+"$detach"}; do
		$command "$pid" >"$XDG_CACHE_HOME/said"
		[ $i = 0 ] || sed "s/^/$where /" "$XDG_CACHE_HOME/said"
	done
	i=$((i + 1))
done
echo "$where mappings $(cat "$XDG_CACHE_HOME/ready")"
