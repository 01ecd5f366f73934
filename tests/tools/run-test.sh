#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What tools/run-test counts of a test, and which test it runs once more.

# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"
export O="$tmp/build"

# counts NAME "PASSED FAILED SKIPPED" RUNS: of the test on stdin.
counts() {
	{
		echo '#!/bin/sh'
		echo "echo >>$tmp/runs"
		cat
	} >"$tmp/test"
	chmod +x "$tmp/test"
	: >"$tmp/runs"
	SFJIT_STRICT=0 tools/run-test "$tmp" unit/one - "$tmp/test" >"$tmp/out"
	is "$1: cases" "$2" "$(cut -d ' ' -f 1-3 "$tmp/unit-one.count")"
	is "$1: runs" "$3" "$(wc -l <"$tmp/runs")"
}

stale=$(sed -n 's/^guest_stale="\(.*\)"$/\1/p' tools/lib.sh)

counts 'cases' '1 1 1' 1 <<'END'
echo 'ok - one'
echo 'not ok - two'
echo 'skip three'
END
counts 'status 0' '1 0 0' 1 </dev/null
counts 'status 3' '0 1 0' 1 <<'END'
exit 3
END
counts 'status 77' '0 0 1' 1 <<'END'
exit 77
END
counts 'QEMU spoiled the first run' '2 0 0' 2 <<END
[ "\$(wc -l <"$tmp/runs")" = 1 ] || { echo ok; echo ok; exit 0; }
echo 'ok - before'
echo 'guest: $stale, see log'
echo 'not ok - status 96'
exit 1
END
like 'QEMU spoiled the first run: said' "*2 passed*, the second time: $stale" \
	"$(cat "$tmp/out")"
counts 'QEMU spoils each run' '0 1 0' 2 <<END
echo 'guest: $stale, see log'
exit 96
END
counts 'failed, and speaks of it' '0 1 0' 1 <<END
echo "# guest: $stale"
exit 1
END
counts 'passed in spite of it' '1 0 0' 1 <<END
echo 'guest: $stale, see log'
END
finish
