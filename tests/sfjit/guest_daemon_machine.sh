#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In a guest of AArch64 or s390x: sfjit daemon and programs with known calls, on
# AArch64 also with signed return addresses.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sfjit/daemon-lib.sh
. "$top/tests/sfjit/daemon-lib.sh"
# shellcheck source=tests/sfjit/signed.sh
. "$top/tests/sfjit/signed.sh"
sfjit=$O/tests/sfjit/programs/daemon
none=$O/tests/sfjit/programs/signed-none

record "$none"
of_leaf "$data" >"$tmp/stacks"
works "without a daemon there are samples" [ -s "$tmp/stacks" ]
is "without a daemon no stack is the known one" 0 \
	"$(grep -c "^$known\$" "$tmp/stacks")"

start_daemon
await 1 "$(ldd "$none" | awk '/libc\.so/ { print $3 }' | xargs readlink -f)" "$none"
for program in "$O"/tests/sfjit/programs/signed-*; do
	await 1 "$(readlink -f "$program")" "$program"
	record "$program"
	of_leaf "$data" >"$tmp/stacks"
	all_known "${program##*/signed-}" "$tmp/stacks"
done
stop_daemon
finish
