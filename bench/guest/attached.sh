# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154 # what programs.sh exports
#
# Under the recorder: starts a server, attaches to it and lets it work, as
# programs.sh says.  /tmp/attached gets when the work began and ended, in ns.

set -eu

now() {
	read -r up _ </proc/uptime
	echo "${up%.*}${up#*.}0000000"
}

sh -c "exec $START" >/tmp/server.out 2>&1 &
server=$!
export server
until sh -c "$READY" >/dev/null 2>&1; do
	kill -0 $server || { cat /tmp/server.out >&2; exit 1; }
	sleep 0.1
done
[ "$mode" = plain ] || "$sfjit" attach $server >&2
begin=$(now)
status=0
sh -c "$WORK" || status=$?
echo "$begin $(now)" >/tmp/attached
kill $server 2>/dev/null || :
wait $server || :
exit $status
