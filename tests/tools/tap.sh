#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The libraries of tests/lib print the same TAP in each language, and a test that
# ends early or has no case fails.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# The programs lie in a tree of their own, where $0 leads to its top.
mkdir -p "$tmp/tree/kernel-patches" "$tmp/tree/tests"
ln -s "$top/tests/lib" "$tmp/tree/tests/lib"
touch "$tmp/tree/kernel-patches/series"
cd "$tmp/tree" || exit 1

# program LANGUAGE TEXT: what runs it is in $program
program() {
	case $1 in
	sh)
		program="sh tap-test.sh"
		printf '. "%s/tests/lib/tap.sh"\n%s\n' "$top" "$2" \
			>tap-test.sh ;;
	python)
		program="python3 -B tap-test.py"
		printf 'import sys\nsys.path.append("%s/tests/lib")\n' "$top" \
			>tap-test.py
		printf 'import os\nfrom tap import *\n%s\n' "$2" >>tap-test.py ;;
	C)
		program=./tap-test
		{
			printf '#include <stdlib.h>\n#include <sys/wait.h>\n'
			printf '#include <unistd.h>\n#include "tap.h"\n'
			printf 'int main(void)\n{\n%s\n}\n' "$2"
		} >tap-test.c
		"${CC:-cc}" -I"$top/tests/lib" -o tap-test tap-test.c \
			"$top/tests/lib/tap.c" || exit ;;
	esac
}

# says NAME WANT LANGUAGE TEXT: WANT is its lines and its status
says() {
	program "$3" "$4"
	# shellcheck disable=SC2086 # words
	is "$3: $1" "$2" "$($program </dev/null 2>/dev/null; echo $?)"
}

early="not ok 1 - tap-test
# ended before its last case"
none="not ok 1 - tap-test
# no case
1..1
1"

says "a case that holds" "ok 1 - a
1..1
0" sh 'is a 1 1; finish'
says "a case that does not" "ok 1 - a
not ok 2 - b
# wanted '1', got '2'
1..2
1" sh 'ok a; is b 1 2; finish'
says "a pattern" "not ok 1 - a
# wanted 'x*', got 'yx'
1..1
1" sh 'like a "x*" yx; finish'
says "files that differ" "not ok 1 - a
# 1c1
# < 1
# ---
# > 2
1..1
1" sh 'echo 1 >one; echo 2 >two; same a one two; finish'
says "a command that fails" "not ok 1 - a
# status 3: why
1..1
1" sh 'works a sh -c "echo why; exit 3"; finish'
says "a case that is skipped" "ok 1 - a
ok 2 - b # SKIP why
1..2
0" sh 'ok a; skip b why; finish'
says "names that TAP would read" 'ok 1 - a \# SKIP \\\\ b
ok 2 - a b # SKIP \#why
1..2
0' sh 'ok "a # SKIP \\\\ b"; skip "a
b" "#why"; finish'
says "all is skipped" "1..0 # SKIP why
0" sh 'skip_all why'
says "the rest is skipped" "ok 1 - a
ok 2 - tap-test # SKIP why
1..2
0" sh 'ok a; skip_all why'
says "cases of subshells" "ok 1 - a
not ok 2 - b
# why
ok 3 - c
1..3
1" sh '(ok a); (not_ok b why; true); ok c; finish'
says "no case" "$none" sh 'finish'
says "an early end" "ok 1 - a
not ok 2 - tap-test
# ended with status 0 before its last case
1" sh 'ok a; exit 0'
says "a command that is not there" "not ok 1 - tap-test
# ended with status 127 before its last case
1" sh 'set -e; no-such-command; ok a; finish'

# also_says NAME ok|STATUS LINES PROGRAM: of a subtest
also_says() {
	case $2 in
	ok) verdict="ok 1 - sh program" rc=0 ;;
	*) verdict="not ok 1 - sh program
# exit status $2" rc=1 ;;
	esac
	says "$1" "# Subtest: sh program
$3$verdict
1..1
$rc" sh "echo '$4' >program; also sh ./program; finish"
}
also_says "cases of a program that holds" ok "    ok 1 - x
    1..1
" "echo ok 1 - x; echo 1..1"
also_says "cases of a program that fails" 1 "    not ok 1 - x
    1..1
" "echo not ok 1 - x; echo 1..1; exit 1"
also_says "a case that fails in a program that does not" 0 "    not ok 1 - x
    1..1
" "echo not ok 1 - x; echo 1..1"
also_says "a program that dies without a word" 139 "    no output
" "kill -SEGV \$\$"
also_says "cases of a program that is skipped" ok "    ok 1 - x # SKIP y
    1..1
" "echo \"ok 1 - x # SKIP y\"; echo 1..1"
also_says "a program that fails without a case that does" 77 "    ok 1 - x
    1..1
" "echo ok 1 - x; echo 1..1; exit 77"
# tests/lib/Report.pm judges the rest.
also_says "a program without a case" ok "    x
" "echo x"
# shellcheck disable=SC2016 # the program's
says "the name of a subtest" "# Subtest: sh program tree x
0" sh 'echo >program
also env A=b/c sh -u ./program "$tmp" "$tmp/tree" /a/x >said; head -n 1 said
ended=yes'

# shellcheck disable=SC2016 # the program's
says "until there is enough" "1
2
ok 1 - a
1..1
0" sh 'enough() { [ "$seconds" = 2 ]; }
try() { echo "$seconds"; }
until_enough "1 2 3" enough try
is a 0 $?; finish'
# shellcheck disable=SC2016
says "until it fails" "ok 1 - a
1..1
0" sh 'try() { return "$seconds"; }
until_enough "0 5 6" false try
is a 5 $?; finish'

if command -v python3 >/dev/null; then
	says "a case that holds" "ok 1 - a
1..1
0" python 'check("a", 1, 2); finish()'
	says "a case that does not" "ok 1 - a
not ok 2 - b
# one
# two
1..2
1" python 'check("a", 1, 2); check("b", 0, "one\ntwo"); finish()'
	says "a case that is skipped" "ok 1 - a # SKIP why
1..1
0" python 'skip("a", "why"); finish()'
	says "names that TAP would read" 'ok 1 - a \# SKIP \\ b
ok 2 - a | b # SKIP \#why
1..2
0' python 'check("a # SKIP \\ b", 1, ""); skip("a\nb", "#why"); finish()'
	says "no case" "$none" python 'finish()'
	says "an early end" "ok 1 - a
not ok 2 - tap-test
# ended before its last case
1" python 'check("a", 1, 2)'
	says "an exception" "$early
1" python 'check("a", 1, 2 / 0); finish()'
	says "cases that raise" "not ok 1 - the a
# ZeroDivisionError: division by zero
ok 2 - the b
1..2
1" python 'check_each("the", [("test_b", str), ("test_a", lambda: 1 / 0)])
finish()'
	says "cases of a child" "not ok 1 - a
# why
ok 2 - b
1..2
1" python '
if not os.fork():
    check("a", 0, "why")
    os._exit(0)
os.wait()
check("b", 1, "")
finish()'
else
	skip "python" "python3 is not installed"
fi

says "a case that holds" "ok 1 - a
1..1
0" C 'IS("a", 1, 1); return finish();'
says "a case that does not" "ok 1 - a
not ok 2 - b
# 2 + 1 is 3, expected 1
1..2
1" C 'TRUE("a", 1); IS("b", 2 + 1, 1); return finish();'
says "what must hold" "not ok 1 - tap-test.c
# 7: 0: Success
1" C 'MUST(0); IS("a", 1, 1); return finish();'
says "a case that is skipped" "ok 1 - a # SKIP why
1..1
0" C 'skip("a", "why"); return finish();'
says "names that TAP would read" 'ok 1 - a \# SKIP \\ b
ok 2 - a b # SKIP \#why
1..2
0' C 'TRUE("a # SKIP \\ b", 1); skip("a\nb", "#why"); return finish();'
says "all is skipped" "1..0 # SKIP why
0" C 'return skip_all("a", "why");'
says "the rest is skipped" "ok 1 - a
ok 2 - b # SKIP why
1..2
0" C 'TRUE("a", 1); return skip_all("b", "why");'
says "no case" "$none" C 'return finish();'
says "an early end" "ok 1 - a
not ok 2 - tap-test
# ended before its last case
1" C 'TRUE("a", 1); exit(0);'
says "a program beside the test" "0" C 'not_the_test(); return 0;'
says "a program that dies" "ok 1 - a
134" C 'TRUE("a", 1); abort();'
says "cases of a child" "not ok 1 - a
# 0 is 0, expected 1
ok 2 - b
1..2
1" C 'if (!fork()) { TRUE("a", 0); _exit(0); }
wait(NULL); TRUE("b", 1); return finish();'
says "a child that finishes" "not ok 1 - a
# 0 is 0, expected 1
ok 2 - 1
ok 3 - 0
1..3
1" C 'int status; TRUE("a", 0);
if (!fork()) { not_the_test(); TRUE("1", 1); exit(finish()); }
wait(&status); IS("0", status, 0); return finish();'
finish
