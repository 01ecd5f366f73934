#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What tests/lib/run and tests/lib/Report.pm count of a test and print of it, and
# which test is run once more.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
export O="$tmp/build" SFJIT_PLAN="$tmp/plan" SFJIT_RESULTS="$tmp/results"
# What the tests made up below are run with is said for each.
unset SFJIT_STRICT SFJIT_KERNEL SFJIT_TEST_TIMEOUT
mkdir "$tmp/results"

# program NAME <PROGRAM: a test, and its line of the plan
program() {
	{
		echo '#!/bin/sh'
		echo "echo >>$tmp/runs"
		cat
	} >"$tmp/$1"
	chmod +x "$tmp/$1"
	echo "$1 ${2:--} 1 $tmp/$1 some words" >>"$tmp/plan"
}

# report NAME...: what is printed, without times and places, and the status
report() {
	: >"$tmp/runs"
	rc=0
	PERL5LIB=tests/lib prove --formatter Report --exec tests/lib/run -j2 \
		"$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
	sed "s/ ([0-9:]*)//; s|$tmp|TMP|" "$tmp/out"
	echo "status $rc"
}

# counts NAME "PASSED FAILED SKIPPED" <PROGRAM: and whether prove says the same
counts() {
	rm -f "$tmp/plan"
	program a/test
	report a/test >"$tmp/report"
	is "$1: cases" "$2" "$(cut -d ' ' -f 1-3 "$tmp/results/a-test")"
	want=1
	case $2 in *" 0 "*) want=0 ;; esac
	is "$1: status" $want $rc
	is "$1: last line" "$(echo "$2" | sed \
		's/\(.*\) \(.*\) \(.*\)/\1 passed, \2 failed, \3 skipped/')" \
		"$(tail -n 1 "$tmp/out")"
}
mkdir "$tmp/a" "$tmp/b"

# At one depth
counts 'cases' '1 1 1' <<'END'
echo 'ok 1 - one'; echo 'not ok 2 - two'; echo 'ok 3 - three # SKIP why'
echo 1..3
exit 1
END
counts 'all passed' '2 0 0' <<'END'
echo 1..2; echo 'ok 1 - one'; echo 'ok 2 - two'
END
counts 'a failure with status 0' '0 1 0' <<'END'
echo 'not ok 1 - two'; echo 1..1
END
counts 'another status' '1 1 0' <<'END'
echo 'ok 1 - one'; echo 1..1; exit 3
END
counts 'ended by a signal' '1 1 0' <<'END'
echo 'ok 1 - one'; echo 1..1; kill -KILL $$
END
counts 'fewer than planned' '1 1 0' <<'END'
echo 1..2; echo 'ok 1 - one'
END
counts 'more than planned' '2 1 0' <<'END'
echo 1..1; echo 'ok 1 - one'; echo 'ok 2 - two'
END
counts 'a number twice' '2 1 0' <<'END'
echo 1..2; echo 'ok 1 - one'; echo 'ok 1 - two'
END
counts 'ended early' '1 1 0' <<'END'
echo 'ok 1 - one'
END
counts 'no case' '0 1 0' </dev/null
counts 'no case, planned' '0 1 0' <<'END'
echo 1..0
END
counts 'skipped as a whole' '0 0 1' <<'END'
echo '1..0 # SKIP no such thing'
END
counts 'what is to be done counts as failed' '0 1 0' <<'END'
echo 'not ok 1 - one # TODO later'; echo 1..1
END
counts 'names with a number sign' '2 0 0' <<'END'
echo 'ok 1 - one \# SKIP two'; echo 'ok 2 - issue # 3'; echo 1..2
END
counts 'other lines' '1 0 0' <<'END'
echo '    not ok: text that is indented'; echo okay; echo 'ok 1 - one'
echo '# not ok'; echo 1..1
END

# Subtests
counts 'subtest' '2 0 1' <<'END'
echo '# Subtest: inner'; echo '    ok 1 - one'
echo '    ok 2 - two # SKIP why'; echo '    1..2'; echo 'ok 1 - inner'
echo 'ok 2 - three'; echo 1..2
END
counts 'subtest: a failure of which its line does not say' '1 1 0' <<'END'
echo '# Subtest: inner'; echo '    ok 1 - one'; echo '    not ok 2 - two'
echo '    1..2'; echo 'ok 1 - inner'; echo 1..1
END
counts 'subtest: its line alone says that it failed' '1 1 0' <<'END'
echo '# Subtest: inner'; echo '    ok 1 - one'; echo '    1..1'
echo 'not ok 1 - inner'; echo 1..1
END
counts 'subtest: a failure and its line are one' '0 1 0' <<'END'
echo '# Subtest: inner'; echo '    not ok 1 - one'; echo '    1..1'
echo 'not ok 1 - inner'; echo 1..1; exit 1
END
counts 'subtest: another plan' '1 1 0' <<'END'
echo '# Subtest: inner'; echo '    ok 1 - one'; echo '    1..2'
echo 'ok 1 - inner'; echo 1..1
END
counts 'subtest: no plan' '1 1 0' <<'END'
echo '# Subtest: inner'; echo '    ok 1 - one'; echo 'ok 1 - inner'; echo 1..1
END
counts 'subtest: no case' '0 1 0' <<'END'
echo '# Subtest: inner'; echo '    text'; echo 'ok 1 - inner'; echo 1..1
END
counts 'subtest: skipped' '0 0 1' <<'END'
echo '# Subtest: inner'; echo '    1..0 # SKIP why'; echo 'ok 1 - inner'
echo 1..1
END
counts 'subtest: it does not end' '2 1 0' <<'END'
echo 'ok 1 - one'; echo '# Subtest: inner'; echo '    ok 1 - two'
echo '    1..1'; echo 1..1
exit 1
END
counts 'subtest: of a subtest, a failure' '0 1 0' <<'END'
echo '# Subtest: outer'; echo '    # Subtest: inner'
echo '        not ok 1 - one'; echo '        1..1'; echo '    ok 1 - inner'
echo '    1..1'; echo 'ok 1 - outer'; echo 1..1
END
counts 'subtest: of kselftest' '1 0 1' <<'END'
echo '# Subtest: abi_test'; echo '    text'; echo '    TAP version 13'
echo '    1..2'
echo '    # Starting 2 tests from 1 test cases.'
echo '    #  RUN           abi.one ...'; echo '    #            OK  abi.one'
echo '    ok 1 abi.one'; echo '    ok 2 abi.two # SKIP no such thing'
echo '    # Totals: pass:1 fail:0 xfail:0 xpass:0 skip:1 error:0'
echo 'ok 1 - abi_test'; echo 1..1
END

ktap() {
	cat <<'END'
cat <<'KTAP' | sed "$edit"
# Subtest: suite
    KTAP version 1
    1..1
        KTAP version 1
        # Subtest: suite
        # module: suite
        1..3
        ok 1 first
            KTAP version 1
            # Subtest: second
            ok 1 eins
            ok 2 zwei
        # second: pass:2 fail:0 skip:0 total:2
        ok 2 second
        ok 3 third # SKIP why
    # suite: pass:2 fail:0 skip:1 total:3
    # Totals: pass:3 fail:0 skip:1 total:4
    ok 1 suite
ok 1 - suite
1..1
KTAP
END
}
ktap | counts 'KUnit' '3 0 1'
{ echo 'edit="s/ok 2 zwei/not &/"'; ktap; } |
	counts 'KUnit: a parameter fails' '2 1 1'
{ echo 'edit="s/ok 1 first/not &/"'; ktap; } | counts 'KUnit: a case fails' '2 1 1'
{ echo 'edit="/ok 1 first/d"'; ktap; } | counts 'KUnit: a case is missing' '2 3 1'

# Strict
SFJIT_STRICT=1 counts 'strict: a skip' '0 1 0' <<'END'
echo 'ok 1 - one # SKIP no such thing'; echo 1..1
END
SFJIT_STRICT=1 counts 'strict: a skip without a reason' '0 1 0' <<'END'
echo 'ok 1 - one # SKIP'; echo 1..1
END
SFJIT_STRICT=1 counts 'strict: a skip that is allowed' '0 0 1' <<'END'
echo 'ok 1 - one # SKIP only root can make it'; echo 1..1
END
SFJIT_STRICT=1 counts 'strict: not by the name' '0 1 0' <<'END'
echo 'ok 1 - only root can make it # SKIP why'; echo 1..1
END
SFJIT_STRICT=1 counts 'strict: as a whole' '0 1 0' <<'END'
echo '1..0 # SKIP no such thing'
END
SFJIT_STRICT=1 counts 'strict: as a whole, allowed' '0 0 1' <<'END'
echo '1..0 # SKIP only root can make it'
END
SFJIT_STRICT=1 counts 'strict: in a subtest' '1 1 0' <<'END'
echo '# Subtest: inner'; echo '    ok 1 - one'
echo '    ok 2 - two # SKIP no such thing'; echo '    1..2'
echo 'ok 1 - inner'; echo 1..1
END
SFJIT_STRICT=1 counts 'strict: a subtest' '0 1 0' <<'END'
echo '# Subtest: inner'; echo '    1..0 # SKIP no such thing'
echo 'ok 1 - inner'; echo 1..1
END

# What is printed
rm -f "$tmp/plan"
program a/good <<'END'
echo 'ok 1 - one'; echo 'ok 2 - two # SKIP no such thing'
echo 'ok 3 - three # SKIP only root can make it'; echo "$*"
echo 'ok 4 - four # SKIP no such thing'; echo 'ok 5 - five # SKIP why'; echo 1..5
END
is "some skips" "ok   a/good   1 passed, 4 skipped
     skipped two, 1 more: no such thing
     skipped five: why
1 passed, 0 failed, 4 skipped
status 0" "$(report a/good)"
is "arguments" "some words" "$(sed -n 4p "$O/logs/a-good.log")"
program b/bad <<'END'
echo other; echo 'ok 1 - none'; seq 9; echo 'not ok 2 - \#one'; echo '# why'
echo 1..2; exit 1
END
is "failures, and groups" "FAIL b/bad    1 passed, 1 failed, exit status 1
     not ok #one
       2
       3
       4
       5
       6
       7
       8
       9
       why
     see TMP/build/logs/b-bad.log, which ends with
     | 3
     | 4
     | 5
     | 6
     | 7
     | 8
     | 9
     | not ok 2 - \\#one
     | # why
     | 1..2
b: 1 passed, 1 failed, 0 skipped
a: 1 passed, 0 failed, 4 skipped
2 passed, 1 failed, 4 skipped
status 1" "$(report b/bad a/good | grep -v -e '^ok ' -e '^     skipped ')"
program b/deep <<'END'
echo '# Subtest: outer'; echo '    # Subtest: inner'
echo '        not ok 1 - one'; echo '        # why'; echo '        1..1'
echo '    ok 1 - inner'; echo '    1..1'; echo 'ok 1 - outer'; echo 1..1
END
is "a failure in a subtest" "     not ok outer: inner: one
       why" "$(report b/deep | sed -n 2,3p)"
program b/kselftest <<'END'
echo '# Subtest: abi_test'; echo '    TAP version 13'; echo '    1..2'
echo '    #  RUN           abi.one ...'; echo '    #            OK  abi.one'
echo '    ok 1 abi.one'; echo '    #  RUN           abi.two ...'
echo '    # abi_test.c:1:two:Expected 1 == 2'; echo '    not ok 2 abi.two'
echo '    #  RUN           abi.three ...'
echo 'not ok 1 - abi_test'; echo 1..1; exit 1
END
is "why a case of kselftest failed" "     not ok abi_test: abi.two
       #  RUN           abi.two ...
       # abi_test.c:1:two:Expected 1 == 2" "$(report b/kselftest | sed -n 2,4p)"
is "a test without a plan" "FAIL b/none   1 failed, exit status 2
     not ok b/none
       no case" "$(report b/none | head -n 3)"

# How it is run
# shellcheck disable=SC2016 # the program's
echo 'echo "ok 1 - $SFJIT_KERNEL"; echo 1..1' | program a/kernel one,two
report a/kernel >/dev/null
is "its kernel" "ok 1 - one" "$(head -n 1 "$O/logs/a-kernel.log")"
# shellcheck disable=SC2016
echo 'echo "ok 1 - $SFJIT_KERNEL"; echo 1..1' | program a/patched patched
SFJIT_KERNEL=build/bzImage report a/patched >/dev/null
is "the patched kernel is another" "ok 1 - build/bzImage" \
	"$(head -n 1 "$O/logs/a-patched.log")"
mkdir -p "$O/tests"
cp "$tmp/a/kernel" "$O/tests/built"
echo "a/built - 1 build/tests/built" >>"$tmp/plan"
is "build/ is \$O" "ok   a/built   1 passed" "$(report a/built | head -n 1)"

# asleep NUMBER: how many processes of this test sleep so long.
long=$((100000 + $$))
asleep() {
	cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' |
		grep -o "[s]leep $long$1 " | wc -l
}
# left NUMBER: the same, when they have had ten minutes to end.
left() {
	for _ in $(seq 6000); do
		[ "$(asleep "$1")" != 0 ] || break
		sleep 0.1
	done
	asleep "$1"
}
program a/hangs <<END
echo 'ok 1 - one'
sleep ${long}1 &
sleep ${long}1
END
is "one that hangs" "FAIL a/hangs   1 passed, 1 failed, exit status 124
     not ok a/hangs
       No plan found in TAP output" \
	"$(SFJIT_TEST_TIMEOUT=1 report a/hangs | head -n 3)"
is "one that hangs: its log" "# ended after 1 s" \
	"$(tail -n 1 "$O/logs/a-hangs.log")"
is "one that hangs: its children end" 0 "$(left 1)"
program a/leaves <<END
sleep ${long}2 &
echo 'ok 1 - one'; echo 1..1
END
report a/leaves >/dev/null
is "processes that a test leaves end" 0 "$(left 2)"

program a/sleeps <<END
echo 'ok 1 - one'; sleep ${long}3; echo 1..1
END
# shellcheck disable=SC2016 # the shell's
setsid sh -c 'echo $$ >"$0"/pid; PERL5LIB=tests/lib exec prove \
	--formatter Report --exec tests/lib/run a/sleeps b/bad' "$tmp" \
	>"$tmp/out" 2>"$tmp/err" &
until [ "$(asleep 3)" = 1 ]; do
	sleep 0.1
done
kill -- "-$(cat "$tmp/pid")"
rc=0
wait $! || rc=$?
is "interrupted: status" 1 $rc
is "interrupted: tests that did not end failed" \
	"a: 0 passed, 1 failed, 0 skipped
b: 0 passed, 1 failed, 0 skipped
0 passed, 2 failed, 0 skipped" "$(tail -n 3 "$tmp/out")"
is "interrupted: its children end" 0 "$(left 3)"
finish
