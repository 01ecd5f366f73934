#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# On a kernel without the series every selftest is skipped, none fails.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

tests/kernel/selftests/build >&2 || exit
rc=0
# shellcheck disable=SC2046 # names without blanks
tools/guest --rootfs=none --kernel=unpatched --name=unpatched -- \
	tests/in-guest $(tests/kernel/selftests/selftests) >"$tmp/cases" ||
	rc=$?
is "the guest ends well" 0 $rc
# They are no cases of this test.
sed 's/^/# /' "$tmp/cases"
grep -E '^    (ok|not ok|1\.\.0) ' "$tmp/cases" >"$tmp/all"
grep -Ev '# SKIP .*CONFIG_UNWIND_(USER_SFRAME|ASSIST)' "$tmp/all" >"$tmp/others"
skipped=$(($(wc -l <"$tmp/all") - $(wc -l <"$tmp/others")))
if [ $skipped -gt 300 ] && ! [ -s "$tmp/others" ]; then
	ok "selftests: $skipped skipped"
else
	not_ok selftests "$skipped skipped, others: $(tail -n 1 "$tmp/others")"
fi
finish
