# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# The cases of a test, one line each, as tools/run-test counts them:
#
#   ok - NAME             it holds
#   not ok - NAME: WHY    it does not
#   skip - NAME: WHY      it cannot be tried here
#
# A script sources this first, and ends with `finish'.  The exit status is 0, 1
# if a case failed, 77 if the whole test was skipped.  A test that ends before
# `finish', or without a case, has failed.  In a subshell a failure must reach
# the status by `exit $failed'.
#
# Sets $top, the top of the tree and the working directory; $O, the absolute
# path of what is built; $tmp, a directory that is removed at the end.
# tests/lib/case.h and tests/lib/case.py are the same for C and Python.

cd "$(dirname "$0")" || exit 1
while ! [ -e kernel-patches/series ]; do
	cd .. || exit 1
done
top=$PWD
case ${O:=build} in
/*) ;;
*) O=$top/$O ;;
esac
tmp=$(mktemp -d) || exit 1
test=$(basename "$0" .sh)
cases=0 failed=0 ended=
trap 'end $?' EXIT
trap 'exit 130' INT TERM HUP

end() {
	chmod -R u+rwx "$tmp"
	rm -rf "$tmp"
	[ -z "$ended" ] || return 0
	not_ok "$test" "ended with status $1 before its last case"
	exit 1
}

finish() {
	[ $cases != 0 ] || not_ok "$test" "no case"
	ended=yes
	exit $failed
}

ok() {
	echo "ok - $1"
	cases=$((cases + 1))
}

not_ok() {
	echo "not ok - $1: $2"
	cases=$((cases + 1)) failed=1
}

skip() {
	echo "skip - $1: $2"
	cases=$((cases + 1))
}

# skip_all WHY: the whole test
skip_all() {
	skip "$test" "$1"
	ended=yes
	exit 77
}

# is NAME WANT GOT
is() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "wanted '$2', got '$3'"
	fi
}

# like NAME PATTERN GOT
like() {
	# shellcheck disable=SC2254 # a pattern
	case $3 in
	$2) ok "$1" ;;
	*) not_ok "$1" "wanted '$2', got '$3'" ;;
	esac
}

# same NAME WANT GOT: two files
same() {
	if cmp -s "$2" "$3"; then
		ok "$1"
	else
		not_ok "$1" "$(diff "$2" "$3" 2>&1 | head -n 5)"
	fi
}

# works NAME COMMAND...: with status 0; what it prints is in $tmp/said
works() {
	_name=$1 _rc=0
	shift
	"$@" >"$tmp/said" 2>&1 || _rc=$?
	if [ $_rc = 0 ]; then
		ok "$_name"
	else
		not_ok "$_name" "status $_rc: $(head -n 3 "$tmp/said")"
	fi
}

# also COMMAND...: prints cases of its own
also() {
	{
		_rc=0
		"$@" || _rc=$?
		echo $_rc >"$tmp/status"
	} | tee "$tmp/also"
	_rc=$(cat "$tmp/status")
	cases=$((cases + 1))
	case $_rc:$(grep -Eo '^(ok|not ok|skip)( |$)' "$tmp/also" | sort -u) in
	0: | 77:) not_ok "$test" "$1: no case" ;;
	0:*not* | 1:*not* | 77:*not*) failed=1 ;;
	0:* | 77:*skip*) ;;
	*) not_ok "$test" "$1: exit status $_rc" ;;
	esac
}
