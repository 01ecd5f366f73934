#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# tests/list has each test of the tree once, and tools/check does what it says,
# tried with a copy of tools/ and tests that are made up.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# What the made-up tests run with is said for each.
unset SFJIT_STRICT SFJIT_KERNEL SFJIT_TEST_TIMEOUT SFJIT_PLAN SFJIT_RESULTS

# Scripts that other tests and guests run are named otherwise.
tests_of_the_tree() {
	find tests -name '*.sh' -perm -100 ! -name 'guest_*' ! -path '*/programs/*'
	make -pRrq O=build tests | sed -n 's/^TEST_PROGRAMS := //p' |
		tr ' ' '\n' | grep . || :
}
tools/check --commands | sort -u >"$tmp/commands"
tests_of_the_tree | sort >"$tmp/tree"
is "programs are among the tests" yes \
	"$(grep -qx build/tests/libsfjit/pool "$tmp/tree" && echo yes)"
is "each test is in tests/list" "" "$(comm -13 "$tmp/commands" "$tmp/tree")"
is "each script of tests/list is there" "" \
	"$(grep -v '^build/' "$tmp/commands" | while read -r command; do
		[ -x "$command" ] || echo "$command"
	done)"
is "no test twice" "" "$(tools/check --list | cut -d ' ' -f 1 | sort | uniq -d)"
is "each size is known" "all ask day full " "$(tools/check --list |
	awk '{ print $2 }' | sort -u | tr '\n' ' ')"
is "each need has a rule" "" "$(tools/check --needs |
	xargs make -s -r -f tools/needs.mk PLAN=y 2>&1 | grep 'No rule')"
is "each ignored path is there" "" "$(sed -n 's/^ignore//p' tests/list |
	tr ' ' '\n' | grep . | sort -u | while read -r path; do
		git ls-files --error-unmatch -- "${path#:!}" >/dev/null 2>&1 ||
			echo "$path"
	done)"

# foreign SIZE: packages that no test of that size may ask for.
foreign() {
	# shellcheck disable=SC2046 # words
	make -s -r -f tools/needs.mk PLAN=y $(tools/check --needs "$1") |
		cut -d '|' -f 4 | tr ' ' '\n' | sort -u |
		grep -x -e "gcc-.*" -e chromium | tr '\n' ' '
}
is "every day needs no foreign compiler and no browser" "" "$(foreign day)"

fake=$tmp/fake
mkdir -p "$fake/tests/lib" "$fake/kernel-patches" "$tmp/cache"
touch "$fake/kernel-patches/series"
cp -R tools "$fake/"
cp tests/lib/run tests/lib/not-made tests/lib/Report.pm "$fake/tests/lib/"
# script NAME: from stdin
script() {
	mkdir -p "$(dirname "$fake/tests/$1.sh")"
	{ echo '#!/bin/sh'; cat; } >"$fake/tests/$1.sh"
	chmod +x "$fake/tests/$1.sh"
}
echo 'echo "ok 1"; echo "ok 2"; echo 1..2; echo "# $*"' | script a/good
echo 'echo "1..1"; echo "not ok 1 - one"; echo "# broken"; exit 1' | script a/bad
echo 'echo "1..0 # SKIP no such thing"' | script a/skips
# shellcheck disable=SC2016 # the script's
echo 'echo 1..1; [ "$SFJIT_KERNEL" = "$1" ] && echo "ok 1"' | script b/kernel
# Its child is to end with it.
echo "sleep 54321 & wait" | script b/sleeps
# What the group ignores does not matter to it, what it reads does.
echo 'echo 1..1; cat tests/c/data && echo "ok 1"' | script c/reads
echo data >"$fake/tests/c/data"
echo other >"$fake/tests/c/other"
# A dependency that the group's line `ignore' forgets.
echo 'echo 1..1; cat tests/c/other && echo "ok 1"' | script c/forgets
# shellcheck disable=SC2016 # the script's
echo 'echo 1..1; ! [ -e "$FLAG" ] && echo "ok 1"' | script d/unstable
cat >"$fake/tests/list" <<'TABLE'
group a made up
ignore tests/c
a/good		day	-	1	-	tests/a/good.sh some words
a/bad		ask	-	1	-
a/lost		ask	-	1	-	tests/a/lost
a/skips		ask	-	1	-
group b another one
b/kernel	all	none,other 9	made	tests/b/kernel.sh none
b/sleeps	ask	-	1	-
b/builds	ask	-	1	slow	tests/a/good.sh
b/waits		ask	-	5	broken	tests/a/good.sh
b/unknown	ask	-	1	nonsense tests/a/good.sh
group c reads files
ignore tests/c :!tests/c/data
ignore :!tests/c/*.sh
c/reads		all	-	1	-
c/forgets	ask	-	1	-
group d may fail
d/unstable	ask	-	1	-
TABLE
cat >"$fake/tools/needs.mk" <<'RULES'
ifdef PLAN
do = @echo "$@||||$@"
else
do = @$1 && : >$(DONE)/$@
endif
.PHONY: made broken slow prove kernel-none kernel-other
prove: ; $(call do,true)
made: ; $(call do,touch made)
broken: ; $(call do,false)
slow: ; $(call do,sh tests/b/sleeps.sh)
kernel-none: made ; $(call do,test -e made)
kernel-other: ; $(call do,true)
RULES
git init -q "$fake"
printf 'build\nmade\n' >"$fake/.gitignore"

# check ARGUMENT...: the results that tools/check prints, without times.
check() {
	O=build XDG_CACHE_HOME=$tmp/cache "$fake/tools/check" "$@" \
		>"$tmp/out" 2>"$tmp/err" && status=0 || status=$?
	tail -n 1 "$tmp/out"
	echo "status $status"
}
# said PATTERN: how many different lines of the last check
said() {
	cat "$tmp/out" "$tmp/err" | sed 's/^[ |]*//' | sort -u | grep -c -e "$1" || :
}

is "every day" "2 passed, 0 failed, 0 skipped
status 0" "$(check)"
is "a test has its arguments" "# some words" \
	"$(tail -n 1 "$fake/build/logs/a-good.log")"
is "a group: all its tests" "2 passed, 2 failed, 1 skipped
status 1" "$(check a)"
is "a test and its group: once each" "2 passed, 2 failed, 1 skipped
status 1" "$(check a/good a)"
is "a failure" "0 passed, 1 failed, 0 skipped
status 1" "$(check a/bad)"
is "its reason is printed" 1 "$(said '^broken')"
is "a test that is not there" "0 passed, 1 failed, 0 skipped
status 1" "$(check a/lost)"
is "the kernel, and a need of it" "1 passed, 0 failed, 0 skipped
status 0" "$(check b/kernel)"
is "a need that fails" "0 passed, 1 failed, 0 skipped
status 1" "$(check b/waits)"
is "it is named" 1 "$(said '^not ok 1 - broken could not be made')"
is "a need that does not exist: before anything runs" \
	"0 passed, 1 failed, 0 skipped
status 1" "$(check b/unknown a/good)"
is "an unknown group" "status 2" "$(check e | tail -n 1)"
is "an unknown option" "status 2" "$(check --nonsense | tail -n 1)"

is "--changed: the tests of every day and of all groups" \
	"4 passed, 0 failed, 0 skipped
status 0" "$(check --changed)"
is "again: what passed is reused" "2 passed, 0 failed, 0 skipped
status 0" "$(check --changed)"
is "each reused group is named" 2 "$(said '^reused: 1 cases of [bc], passed')"
sed -i '/^b\/unknown/s/nonsense/other/' "$fake/tests/list"
is "after a change of a test that does not run then" "2 passed, 0 failed, 0 skipped
status 0" "$(check --changed)"
echo more >>"$fake/tests/c/other"
check --changed >/dev/null
is "after a change that one group ignores, it is reused" 1 "$(said '^reused')"
is "and it is that one" 1 "$(said '^reused: 1 cases of c,')"
echo more >>"$fake/tests/c/data"
is "after a change that it does not ignore, it runs" \
	"4 passed, 0 failed, 0 skipped
status 0" "$(check --changed)"
SFJIT_MADE_UP=1
export SFJIT_MADE_UP
is "with another variable, too" "4 passed, 0 failed, 0 skipped
status 0" "$(check --changed)"
unset SFJIT_MADE_UP
touch -d '8 days ago' "$tmp"/cache/sfjit/verdicts/*
is "after a week, too" "4 passed, 0 failed, 0 skipped
status 0" "$(check --changed)"
sed -i '/^c\/forgets/s/ask/all/' "$fake/tests/list"
is "a test that reads what its group ignores fails" \
	"3 passed, 1 failed, 0 skipped
status 1" "$(check --changed)"
is "a group that failed runs again" "3 passed, 1 failed, 0 skipped
status 1" "$(check --changed)"
sed -i '/^c\/forgets/s/all/ask/' "$fake/tests/list"
sed -i '/^d\/unstable/s/ask/all/' "$fake/tests/list"
FLAG=$tmp/flag
export FLAG
touch "$FLAG"
is "a group fails" "2 passed, 1 failed, 0 skipped
status 1" "$(check --changed)"
rm "$FLAG"
is "and passes with the same inputs: it counts as failed" \
	"3 passed, 1 failed, 0 skipped
status 1" "$(check --changed)"
is "and is called unstable" 1 "$(said '^d: unstable: failed and passed with')"

# asleep: how many processes of the fake tree there are that sleep.
asleep() {
	find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$fake" 2>/dev/null |
		sed 's/cwd$/cmdline/' | xargs -r cat 2>/dev/null | tr '\0' ' ' |
		grep -o 'sleep 54321' | wc -l
}
# until_asleep COUNT: waits for them ten minutes at most
until_asleep() {
	for _ in $(seq 3000); do
		[ "$(asleep)" != "$1" ] || break
		sleep 0.2
	done
	asleep
}
O=build XDG_CACHE_HOME=$tmp/cache "$fake/tools/check" b/sleeps \
	>"$tmp/out" 2>&1 &
is "a test that takes long" 1 "$(until_asleep 1)"
kill $!
wait $! && status=0 || status=$?
is "a signal ends tools/check" 1 "$status"
is "and with it what it runs" 0 "$(until_asleep 0)"
O=build XDG_CACHE_HOME=$tmp/cache "$fake/tools/check" b/builds \
	>"$tmp/out" 2>&1 &
is "a need that takes long" 1 "$(until_asleep 1)"
kill $!
wait $! || :
is "a signal ends it, too" 0 "$(until_asleep 0)"

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

# shellcheck disable=SC2016 # make's
printf '$(O)/one.o:\n\t$(CC) -g -c one.c -o $@\n' >"$fake/Makefile"
echo 'int one;' >"$fake/one.c"
cp -R "$fake" "$tmp/copy"
for tree in "$fake" "$tmp/copy"; do
	O=build XDG_CACHE_HOME=$tmp/cache "$tree/tools/make" -s build/one.o
done
is "a copy of the tree need not compile again" 1 \
	"$(CCACHE_DIR=$tmp/cache/sfjit/ccache ccache --print-stats |
		sed -n 's/^direct_cache_hit.//p')"
finish
