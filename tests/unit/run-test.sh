#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What tools/run-test counts of a test.

# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"
export O="$tmp/build"

# counts NAME "PASSED FAILED SKIPPED": of the test on stdin.
counts() {
	{
		echo '#!/bin/sh'
		cat
	} >"$tmp/test"
	chmod +x "$tmp/test"
	SFJIT_STRICT=0 tools/run-test "$tmp" unit/one - "$tmp/test" >"$tmp/out"
	is "$1: cases" "$2" "$(cut -d ' ' -f 1-3 "$tmp/unit-one.count")"
}

counts 'cases' '1 1 1' <<'END'
echo 'ok - one'
echo 'not ok - two'
echo 'skip three'
END
counts 'status 0' '1 0 0' </dev/null
counts 'status 3' '0 1 0' <<'END'
exit 3
END
counts 'status 77' '0 0 1' <<'END'
exit 77
END
finish
