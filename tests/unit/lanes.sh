#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# tests/lanes has each test of the tree once, and tools/check does what it says:
# tried with a copy of tools/ and tests that are made up.

set -eu
cd "$(dirname "$0")/../.."
# What the tests made up below are run with is said for each.
unset SFJIT_STRICT SFJIT_KERNEL SFJIT_TEST_TIMEOUT
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

# is NAME WANT GOT
is() {
	if [ "$2" = "$3" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1: wanted '$2', got '$3'"
		failed=1
	fi
}

commands() {
	sed '/^#/d; /^lane /d; /^more /d; /^$/d' tests/lanes |
		awk '{ print $5 }' | sort -u
}

# What is run by other tests, and in guests, is not executable or has no .sh.
tests_of_the_tree() {
	find tests -mindepth 2 -maxdepth 2 -name '*.sh' -perm -100
	make -pRrq O=build tests | sed -n 's/^TESTS := //p' | tr ' ' '\n' |
		grep '^build/tests/unit/' || :
}
commands >"$tmp/commands"
tests_of_the_tree | sort >"$tmp/tree"
is "programs are among them" yes \
	"$(grep -qx build/tests/unit/lib-pool "$tmp/tree" && echo yes)"
is "each test is in tests/lanes" "" "$(comm -13 "$tmp/commands" "$tmp/tree")"
is "each command is there" "" "$(grep -v '^build/' "$tmp/commands" |
	while read -r command; do
		[ -x "$command" ] || echo "$command"
	done)"
is "each program has a rule" "" "$(sed -n 's|^build/.*/||p' "$tmp/commands" |
	while read -r name; do
		grep -qw -e "$name" tests/*/*.mk || echo "$name"
	done)"
is "no name twice in a lane" "" "$(tools/check --list | cut -d ' ' -f 1 |
	sort | uniq -d)"

# plan TABLE: whether tools/needs has the words of a table's tests.
plan() {
	awk -v needs=tools/needs -v show=packages -f tools/plan.awk \
		tools/needs "$1" 2>&1 || echo "status $?"
}
tools/check --list >"$tmp/list"
is "each need is known" "" "$(plan "$tmp/list" | grep -e 'no word' -e status)"
echo 'fake/test - 1 compiler,nonsense true' >"$tmp/list"
is "an unknown need is noticed" "tools/needs has no word 'nonsense'
status 2" "$(plan "$tmp/list")"
echo 'fake/test nonsense 1 - true' >"$tmp/list"
is "an unknown kernel is noticed" "tools/needs has no word 'kernel-nonsense'
status 2" "$(plan "$tmp/list")"

tools/check --list >"$tmp/list"
is "what needs root is made first" \
	"all: need-rootfs need-rootfs_arm64 need-rootfs_riscv64 need-rootfs_s390x" \
	"$(awk -v needs=tools/needs -v show=makefile -f tools/plan.awk \
		tools/needs "$tmp/list" | head -n 1 | cut -d ' ' -f 1-5)"

# Packages that no test of these lanes may ask for.
foreign() {
	tools/check --list | grep -e "^$1/" >"$tmp/list"
	plan "$tmp/list" | tr ' ' '\n' |
		grep -e qemu -e chromium -e mmdebstrap -e clang -e bison |
		uniq | tr '\n' ' '
}
is "unit needs no guest, browser, clang or kernel" "" "$(foreign unit)"
is "diff needs none either" "" "$(foreign diff)"
is "qemu does need guests" \
	"bison mmdebstrap qemu-system-x86 qemu-system-arm qemu-system-misc " \
	"$(foreign qemu)"

fake=$tmp/fake
mkdir -p "$fake/tests" "$tmp/cache"
cp -R tools "$fake/"
script() {
	cat >"$fake/tests/$1"
	chmod +x "$fake/tests/$1"
}
echo 'echo "ok - one"; echo "ok - two"; echo "$*"' | script good
# A failure comes with the last eight lines before it, but not with those of
# the case before.
echo 'echo other; echo "ok - none"; seq 9; echo "not ok - one: broken"' |
	script bad
echo 'echo "skip - one: no such thing"; exit 77' | script skips
echo 'echo "skip - one: only root can make it"; exit 77' | script root
# shellcheck disable=SC2016 # the script's
echo 'echo "$SFJIT_KERNEL"; [ "$SFJIT_KERNEL" = "$1" ]' | script kernel
# Its child is to end with it.
echo "sleep 54321 & wait" | script sleeps
cat >"$fake/tests/lanes" <<'TABLE'
lane first made up
good	-	1	-	tests/good some words
skips	-	1	-	tests/skips
root	-	1	-	tests/root
lane second made up
bad	-	1	-	tests/bad
lost	-	1	-	tests/lost
more third made up
kernel	none,other 9	made	tests/kernel none
sleeps	-	1	-	tests/sleeps
builds	-	1	slow	tests/good
waits	-	5	broken	tests/good
begins	-	1	~broken	tests/good
unknown	-	1	nonsense tests/good
TABLE
cat >"$fake/tools/needs" <<'TABLE'
need made
command touch made
need broken
command false
need slow
command tests/sleeps
need kernel-none
after made
command test -e made
need kernel-other
TABLE

# check ARGUMENT...: what tools/check prints, without times and places.
check() {
	O=build XDG_CACHE_HOME=$tmp/cache "$fake/tools/check" "$@" \
		>"$tmp/out" 2>"$tmp/err" && status=0 || status=$?
	sed -e 's/ ([0-9:]*)$//' -e 's/^    see .*/    see/' "$tmp/out" |
		LC_ALL=C sort
	echo "status $status"
}

is "one test, and no other" "  first-good: 2 passed, 0 failed, 0 skipped
2 passed, 0 failed, 0 skipped
status 0" "$(check first/good)"
is "its arguments" "some words" "$(tail -n 1 "$fake/build/logs/first-good.log")"
is "a test and its lane: each once" "    skipped: skip - one: no such thing
    skipped: skip - one: only root can make it
  first-good: 2 passed, 0 failed, 0 skipped
  first-root: 0 passed, 0 failed, 1 skipped
  first-skips: 0 passed, 0 failed, 1 skipped
2 passed, 0 failed, 2 skipped
status 0" "$(check first/good first)"
is "strict: a skip fails, an allowed one does not" \
	"    failed: skip - one: no such thing
    see
    skipped: skip - one: only root can make it
  first-good: 2 passed, 0 failed, 0 skipped
  first-root: 0 passed, 0 failed, 1 skipped
  first-skips: 0 passed, 1 failed, 0 skipped
2 passed, 1 failed, 1 skipped
status 1" "$(SFJIT_STRICT=1 check first)"
is "a failure" "    failed: not ok - one: broken
    said: 2
    said: 3
    said: 4
    said: 5
    said: 6
    said: 7
    said: 8
    said: 9
    see
  second-bad: 1 passed, 1 failed, 0 skipped
1 passed, 1 failed, 0 skipped
status 1" "$(check second/bad)"
is "a test that is not there" "  second-lost: 0 passed, 1 failed, 0 skipped
0 passed, 1 failed, 0 skipped
status 1" "$(check second/lost | grep -v -e 'failed: exit' \
	-e '^    said: ' -e '^    see')"
is "by default the lane on request does not run" "first second" \
	"$(check | sed -n 's/^  \([a-z]*\)-.*/\1/p' | uniq | tr '\n' ' ' |
	sed 's/ $//')"
is "an unknown lane" "status 2
check: no fourth; there is first second third" \
	"$(check fourth; cat "$tmp/err")"
is "an unknown test" "status 2
check: no second/good; there is second/bad second/lost" \
	"$(check first/good second/good; cat "$tmp/err")"
is "an unknown option" "status 2" "$(check --nonsense)"
is "the kernel, and a need of it" "  third-kernel: 1 passed, 0 failed, 0 skipped
1 passed, 0 failed, 0 skipped
status 0" "$(check third/kernel)"
is "a need that is not there: before anything" "0 passed, 1 failed, 0 skipped
status 1
tools/needs has no word 'nonsense'" "$(check third/unknown; cat "$tmp/err")"
is "a need that fails" "  third-waits: not run
0 passed, 1 failed, 0 skipped
status 1" "$(check third/waits)"
is "a test that it does not matter to" \
	"  third-begins: 2 passed, 0 failed, 0 skipped
2 passed, 0 failed, 0 skipped
status 0" "$(check third/begins)"

# As tools/demo has it: words without a test.
echo made >"$tmp/list"
awk -v needs="$fake/tools/needs" -v show=makefile -f tools/plan.awk \
	"$fake/tools/needs" "$tmp/list" >"$tmp/plan.mk"
rm -f "$fake/made"
(cd "$fake" && make -s -f "$tmp/plan.mk") >"$tmp/out" 2>&1 || :
is "a need without a test is made" made "$(cd "$fake" && echo mad*)"

# asleep: how many processes of the fake tree there are that sleep.
asleep() {
	find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$fake" 2>/dev/null |
		sed 's/cwd$/cmdline/' | xargs -r cat 2>/dev/null | tr '\0' ' ' |
		grep -o 'sleep 54321' | wc -l
}

# until_asleep COUNT: for ten minutes
until_asleep() {
	for _ in $(seq 3000); do
		[ "$(asleep)" != "$1" ] || break
		sleep 0.2
	done
	asleep
}
O=build XDG_CACHE_HOME=$tmp/cache "$fake/tools/check" third/sleeps \
	third/builds >"$tmp/out" 2>&1 &
is "a test and a need that take long" 2 "$(until_asleep 2)"
kill $!
wait $! && status=0 || status=$?
is "a signal ends tools/check" 1 "$status"
is "and with it what it runs" 0 "$(until_asleep 0)"

# A make of another one at the same time would find the directory.
cat >"$fake/Makefile" <<'MAKEFILE'
$(O)/one $(O)/other:
	mkdir $(O)/busy
	sleep 0.5
	rmdir $(O)/busy
	echo made >$@
MAKEFILE
O=$tmp/o "$fake/tools/make" -s build/one 2>/dev/null &
O=$tmp/o "$fake/tools/make" -s build/other 2>/dev/null || :
wait $! || :
is "one make at a time, in the directory asked for" "made made " \
	"$(cat "$tmp/o/one" "$tmp/o/other" 2>&1 | tr '\n' ' ')"
is "times" "  first-good M:SS
first: M:SS" "$(check --times first/good |
	sed -n 's/^\( *first.*\) [0-9]*:[0-9][0-9]$/\1 M:SS/p')"
exit $failed
