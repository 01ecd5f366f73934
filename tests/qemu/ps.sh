#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit ps on the patched kernel, compared with /proc; and on the
# unpatched one, where it says so.

cd "$(dirname "$0")/../.." || exit 1
rc=0
tools/guest --name=ps -- sh tests/unit/run/guest_ps.sh || rc=1
said=$(tools/guest --kernel=unpatched --name=ps-unpatched -- \
	sh -c 'build/bin/sfjit ps $$; build/bin/sfjit ps' 2>&1)
case $said in
"sfjit: "[1-9]*": this kernel has no /proc/PID/sframe
sfjit: /proc: this kernel has no /proc/PID/sframe"*)
	echo "ok - kernel without windows" ;;
*)
	echo "not ok - kernel without windows: $said"
	rc=1 ;;
esac
exit $rc
