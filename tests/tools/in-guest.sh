#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What tests/in-guest prints and takes for a failure, with programs of our own
# for tests.  What else is one: tests/tools/report.sh.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

mkdir -p "$tmp/build/tests/kernel/selftests" "$tmp/bin" "$tmp/tests"
ln -s "$top/tests/lib" "$tmp/tests/lib"
sed "s|/dev/kmsg|$tmp/kmsg|; s|/sys/kernel/debug|$tmp|" tests/in-guest \
	>"$tmp/in-guest"
cat >"$tmp/bin/insmod" <<'END'
#!/bin/sh
case $1 in good.ko) ;; *) exit 3 ;; esac
END
chmod +x "$tmp/bin/insmod" "$tmp/in-guest"
PATH=$tmp/bin:$PATH
cd "$tmp" || exit

# says NAME WANT WHAT... <PROGRAM: WANT is the lines but for the first, and the
# status, of the program, ./test or a selftest.
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
		sed '1{ /^# Subtest: /d; }'; ./in-guest "$@" >out 2>&1; echo $?)"
}

says "command: cases" "    ok 1 - a
    ok 2 - b # SKIP why
    1..2
ok 1 - ./test
1..1
0" ./test <<'END'
echo ok 1 - a; echo 'ok 2 - b # SKIP why'; echo 1..2
END
is "its name, before them" "# Subtest: ./test" "$(head -n 1 out)"
says "command: what it says on standard error" "    a
    ok 1 - a
    1..1
ok 1 - ./test
1..1
0" ./test <<'END'
echo a >&2; echo ok 1 - a; echo 1..1
END
says "command: says nothing" "    no output
ok 1 - ./test
1..1
0" ./test </dev/null
says "command: a failure is counted once" "    ok 1 - a
    not ok 2 - b
    # why
    1..2
not ok 1 - ./test
# exit status 1
1..1
1" ./test <<'END'
echo ok 1 - a; echo not ok 2 - b; echo '# why'; echo 1..2; exit 1
END
says "command: status without a failure" "    ok 1 - a
    1..1
not ok 1 - ./test
# exit status 1
1..1
1" ./test <<'END'
echo ok 1 - a; echo 1..1; exit 1
END
says "command: all is skipped" "    1..0 # SKIP why
ok 1 - ./test
1..1
0" ./test <<'END'
echo '1..0 # SKIP why'
END
says "command: all is skipped, and status 77" "    1..0 # SKIP why
not ok 1 - ./test
# exit status 77
1..1
1" ./test <<'END'
echo '1..0 # SKIP why'; exit 77
END
says "command: dies" "    ok 1 - a
not ok 1 - ./test
# exit status 141
1..1
1" ./test <<'END'
echo ok 1 - a; kill -PIPE $$
END
says "selftest: cases" "    TAP version 13
    1..2
    ok 1 a
    ok 2 b # SKIP why
ok 1 - test
1..1
0" test <<'END'
echo TAP version 13; echo 1..2; echo ok 1 a; echo ok 2 b '# SKIP why'
END
says "selftest: a failure" "    1..1
    not ok 1 a
not ok 1 - test
# exit status 1
1..1
1" test <<'END'
echo 1..1; echo not ok 1 a; exit 1
END
says "selftest: status 1 before the first case" "    TAP version 13
not ok 1 - test
# exit status 1
1..1
1" test <<'END'
echo TAP version 13; exit 1
END
says "selftest: all cases are skipped" "    1..1
    ok 1 a # SKIP why
ok 1 - test
1..1
0" test <<'END'
echo 1..1; echo ok 1 a '# SKIP why'; exit 4
END
says "selftest: skipped as a whole" "    1..0 # SKIP why
ok 1 - test
1..1
0" test <<'END'
echo 1..0 '# SKIP why'; exit 4
END

# suite NAME RESULT: as KUnit leaves it
suite() {
	mkdir -p "kunit/$1"
	cat >"kunit/$1/results" <<END
KTAP version 1
1..1
    KTAP version 1
    # Subtest: $1
    1..1
    $2 1 case
$2 1 $1
END
}
suite sframe_section ok
suite sframe_step "not ok"
rm -rf kunit/sframe_registry
suite sframe_place ok
of_machine="1..5
1"
[ "$(uname -m)" != x86_64 ] || of_machine="# Subtest: sframe_text
    the kernel has no such suite
not ok 6 - sframe_text
# exit status 1
1..6
1"
says "kunit: passed, failed, missing" "    KTAP version 1
    1..1
        KTAP version 1
        # Subtest: sframe_section
        1..1
        ok 1 case
    ok 1 sframe_section
ok 1 - sframe_section
# Subtest: sframe_step
    KTAP version 1
    1..1
        KTAP version 1
        # Subtest: sframe_step
        1..1
        not ok 1 case
    not ok 1 sframe_step
not ok 2 - sframe_step
# exit status 1
# Subtest: sframe_registry
    the kernel has no such suite
not ok 3 - sframe_registry
# exit status 1
# Subtest: sframe_place
    KTAP version 1
    1..1
        KTAP version 1
        # Subtest: sframe_place
        1..1
        ok 1 case
    ok 1 sframe_place
ok 4 - sframe_place
# Subtest: sframe_walk
    the kernel has no such suite
not ok 5 - sframe_walk
# exit status 1
$of_machine" kunit </dev/null
is "kunit: each is run" "run run" \
	"$(cat kunit/sframe_section/run kunit/sframe_step/run | xargs)"

says "module" "ok 1 - insmod good.ko
not ok 2 - insmod bad.ko
# exit status 3
1..2
1" good.ko bad.ko </dev/null
says "all tests run" "    not ok 1 - a
    1..1
not ok 1 - ./test
# exit status 1
ok 2 - insmod good.ko
1..2
1" ./test good.ko <<'END'
echo not ok 1 - a; echo 1..1
END
says "up to the first failure" "    ok 1 - a
    not ok 2 - b
not ok 1 - ./test
# exit status 1
1..1
1" --first-failure ./test good.ko <<'END'
echo ok 1 - a; echo not ok 2 - b; sleep 0.2; echo ok 3 - c; echo 1..3
END
says "up to the first failure of a suite" "    KTAP version 1
    1..1
        KTAP version 1
        # Subtest: sframe_section
        1..1
        ok 1 case
    ok 1 sframe_section
ok 1 - sframe_section
# Subtest: sframe_step
    KTAP version 1
    1..1
        KTAP version 1
        # Subtest: sframe_step
        1..1
        not ok 1 case
not ok 2 - sframe_step
# exit status 1
1..2
1" --first-failure kunit </dev/null
./in-guest ./test >/dev/null
is "the kernel's log names the test" "sfjit test: ./test" "$(cat kmsg)"
finish
