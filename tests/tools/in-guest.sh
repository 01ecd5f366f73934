#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What tests/in-guest takes for a failure, with programs of our own for tests.

# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"

mkdir -p "$tmp/build/tests/kernel/selftests" "$tmp/bin"
sed "s|/dev/kmsg|$tmp/kmsg|" tests/in-guest >"$tmp/in-guest"
cat >"$tmp/bin/insmod" <<'END'
#!/bin/sh
case $1 in good.ko) ;; *) exit 3 ;; esac
END
chmod +x "$tmp/bin/insmod" "$tmp/in-guest"
PATH=$tmp/bin:$PATH
cd "$tmp" || exit

# says NAME WANT WHAT... <PROGRAM: WANT is the lines that are cases of the
# program, ./test or a selftest, and the status.
says() {
	name=$1 want=$2
	shift 2
	{
		echo '#!/bin/sh'
		cat
	} >"$tmp/test"
	chmod +x test
	cp test build/tests/kernel/selftests/test
	is "$name" "$want" "$(./in-guest "$@" 2>/dev/null |
		grep -E '^(ok|not ok|skip)'; ./in-guest "$@" >out 2>&1; echo $?)"
}

says "command: cases" "ok - a
skip - b: why
0" ./test <<'END'
echo ok - a; echo skip - b: why
END
says "command: no case" "not ok - ./test: no case
1" ./test <<'END'
echo OK
END
says "command: a failure is counted once" "ok - a
not ok - b: why
1" ./test <<'END'
echo ok - a; echo not ok - b: why; exit 1
END
says "command: status without a failure" "ok - a
not ok - ./test: exit status 1
1" ./test <<'END'
echo ok - a; exit 1
END
says "command: all is skipped" "skip - test: why
not ok - ./test: exit status 77
1" ./test <<'END'
echo skip - test: why; exit 77
END
says "command: dies" "ok - a
not ok - ./test: exit status 139
1" ./test <<'END'
echo ok - a; kill -SEGV $$
END

says "selftest: cases" "ok - test: a
skip - test: b: why
0" test <<'END'
echo TAP version 13; echo 1..2; echo ok 1 a; echo ok 2 b '# SKIP why'
END
says "selftest: a failure" "not ok - test: a: see above
1" test <<'END'
echo 1..1; echo not ok 1 a; exit 1
END
for status in 0 4; do
	says "selftest: no case and status $status" "not ok - test: no case
1" test <<END
exit $status
END
done
says "selftest: status 1 before the first case" "not ok - test: exit status 1
1" test <<'END'
echo TAP version 13; exit 1
END
says "selftest: all cases are skipped" "skip - test: a: why
0" test <<'END'
echo 1..1; echo ok 1 a '# SKIP why'; exit 4
END
says "selftest: skipped as a whole" "skip - test: why
0" test <<'END'
echo 1..0 '# SKIP why'; exit 4
END
says "selftest: fewer cases than planned" "ok - test: a
not ok - test: 1 cases of 2
1" test <<'END'
echo 1..2; echo ok 1 a
END

says "module" "ok - insmod good.ko
not ok - insmod bad.ko: status 3
1" good.ko bad.ko </dev/null
says "all tests run" "not ok - a
ok - insmod good.ko
1" ./test good.ko <<'END'
echo not ok - a
END
says "up to the first failure" "not ok - a
1" --first-failure ./test good.ko <<'END'
echo not ok - a
END
is "the kernel's log names the test" "sfjit test: ./test" "$(cat kmsg)"
finish
