#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The libraries of tests/lib say the same in each language, and a test that ends
# early or has no case fails.

# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"

# The programs lie in a tree of their own, where $0 leads to its top.
mkdir -p "$tmp/tree/kernel-patches"
touch "$tmp/tree/kernel-patches/series"
cd "$tmp/tree" || exit 1

# program LANGUAGE TEXT: what runs it is in $program
program() {
	case $1 in
	sh)
		program="sh case-test.sh"
		printf '. "%s/tests/lib/case.sh"\n%s\n' "$top" "$2" \
			>case-test.sh ;;
	python)
		program="python3 -B case-test.py"
		printf 'import sys\nsys.path.append("%s/tests/lib")\n' "$top" \
			>case-test.py
		printf 'from case import *\n%s\n' "$2" >>case-test.py ;;
	C)
		program=./case-test
		printf '#include <stdlib.h>\n#include "case.h"\n' >case-test.c
		printf 'int main(void)\n{\n%s\n}\n' "$2" >>case-test.c
		"${CC:-cc}" -I"$top/tests/lib" -o case-test case-test.c \
			"$top/tests/lib/case.c" || exit ;;
	esac
}

# says NAME WANT LANGUAGE TEXT: WANT is its lines and its status
says() {
	program "$3" "$4"
	# shellcheck disable=SC2086 # words
	is "$3: $1" "$2" "$($program </dev/null 2>/dev/null; echo $?)"
}

early="not ok - case-test: ended before its last case"
none="not ok - case-test: no case
1"

says "a case that holds" "ok - a
0" sh 'is a 1 1; finish'
says "a case that does not" "ok - a
not ok - b: wanted '1', got '2'
1" sh 'ok a; is b 1 2; finish'
says "a pattern" "not ok - a: wanted 'x*', got 'yx'
1" sh 'like a "x*" yx; finish'
says "files that differ" "not ok - a: 1c1
< 1
---
> 2
1" sh 'echo 1 >one; echo 2 >two; same a one two; finish'
says "a command that fails" "not ok - a: status 3: why
1" sh 'works a sh -c "echo why; exit 3"; finish'
says "a case that is skipped" "ok - a
skip - b: why
0" sh 'ok a; skip b why; finish'
says "all is skipped" "skip - case-test: why
77" sh 'skip_all why'
says "no case" "$none" sh 'finish'
says "an early end" "ok - a
not ok - case-test: ended with status 0 before its last case
1" sh 'ok a; exit 0'
says "a command that is not there" "not ok - case-test: ended with status 127 \
before its last case
1" sh 'set -e; no-such-command; ok a; finish'
says "cases of a program that fails" "not ok - x: y
1" sh 'also sh -c "echo not ok - x: y; exit 1"; finish'
says "cases of a program that dies" "not ok - case-test: sh: exit status 139
1" sh 'also sh -c "kill -SEGV \$\$"; finish'
says "cases of a program that holds" "ok - x
0" sh 'set -e; also echo ok - x; finish'
says "cases of a program that is skipped" "skip - x: y
0" sh 'also sh -c "echo skip - x: y; exit 77"; finish'
says "a program without a case" "x
not ok - case-test: echo: no case
1" sh 'also echo x; finish'
says "a program without a case that says it is skipped" \
	"not ok - case-test: sh: no case
1" sh 'also sh -c "exit 77"; finish'
says "a program that is skipped behind a case that holds" "ok - x
not ok - case-test: sh: exit status 77
1" sh 'also sh -c "echo ok - x; exit 77"; finish'
says "a program that fails without a case that does" "ok - x
not ok - case-test: sh: exit status 1
1" sh 'also sh -c "echo ok - x; exit 1"; finish'
says "a case that fails in a program that does not" "not ok - x: y
1" sh 'also echo "not ok - x: y"; finish'

if command -v python3 >/dev/null; then
	says "a case that holds" "ok - a
0" python 'check("a", 1, 2); finish()'
	says "a case that does not" "ok - a
not ok - b: one | two
1" python 'check("a", 1, 2); check("b", 0, "one\ntwo"); finish()'
	says "a case that is skipped" "skip - a: why
0" python 'skip("a", "why"); finish()'
	says "no case" "$none" python 'finish()'
	says "an early end" "ok - a
$early
1" python 'check("a", 1, 2)'
	says "an exception" "$early
1" python 'check("a", 1, 2 / 0); finish()'
	says "cases that raise" "not ok - the a: ZeroDivisionError: division by zero
ok - the b
1" python 'check_each("the", [("test_b", str), ("test_a", lambda: 1 / 0)])
finish()'
else
	skip "python" "python3 is not installed"
fi

says "a case that holds" "ok - a
0" C 'IS("a", 1, 1); return finish();'
says "a case that does not" "ok - a
not ok - b: 2 + 1 is 3, expected 1
1" C 'TRUE("a", 1); IS("b", 2 + 1, 1); return finish();'
says "what must hold" "not ok - case-test.c: 5: 0: Success
1" C 'MUST(0); IS("a", 1, 1); return finish();'
says "a case that is skipped" "skip - a: why
0" C 'skip("a", "why"); return finish();'
says "all is skipped" "skip - a: why
77" C 'return skip_all("a", "why");'
says "no case" "$none" C 'return finish();'
says "an early end" "ok - a
$early
1" C 'TRUE("a", 1); exit(0);'
says "a program beside the test" "0" C 'not_the_test(); return 0;'
says "a program that dies" "ok - a
134" C 'TRUE("a", 1); abort();'
finish
