# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# The cases of a test, in TAP for prove(1):
#
#   ok 1 - NAME               the case passed
#   not ok 2 - NAME           it failed
#   # WHY
#   ok 3 - NAME # SKIP WHY    it cannot run here
#   1..3
#
# A script sources this first, and ends with `finish', which prints the last
# line.  The exit status is 1 if a case failed.  A test that ends before
# `finish', or without a case, has failed.  Subshells count in the same file.
#
# Sets $top, the top of the tree and the working directory; $O, the absolute
# path of the build; $tmp, a directory that is removed at the end.
# tests/lib/tap.h and tests/lib/tap.py are the same for C and Python.

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
echo 0 0 >"$tmp/.cases"
failed=0 ended=
trap 'end $?' EXIT
trap 'exit 130' INT TERM HUP

end() {
	if [ -z "$ended" ]; then
		not_ok "$test" "ended with status $1 before its last case"
	fi
	chmod -R u+rwx "$tmp"
	rm -rf "$tmp"
	[ -n "$ended" ] || exit 1
}

finish() {
	read -r _cases _failed <"$tmp/.cases"
	if [ "$_cases" = 0 ]; then
		not_ok "$test" "no case"
		_cases=1
	fi
	echo "1..$_cases"
	ended=yes
	[ "$_failed" = 0 ] || failed=1
	exit $failed
}

# tap_text TEXT: escapes `#' and newlines, which are syntax in TAP.
tap_text() {
	case $1 in
	*[#\\]* | *"
"*) printf '%s' "$1" | tr '\n' ' ' | sed 's/[\\#]/\\&/g' ;;
	*) printf '%s' "$1" ;;
	esac
}

# tap_case FAILED WORD TEXT: counts a case and prints its line.
tap_case() {
	read -r _cases _failed <"$tmp/.cases"
	_cases=$((_cases + 1))
	echo "$_cases $((_failed + $1))" >"$tmp/.cases"
	printf '%s %s - %s\n' "$2" "$_cases" "$3"
}

ok() {
	tap_case 0 ok "$(tap_text "$1")"
}

not_ok() {
	tap_case 1 "not ok" "$(tap_text "$1")"
	failed=1
	printf '%s\n' "$2" | sed 's/^/# /'
}

skip() {
	tap_case 0 ok "$(tap_text "$1") # SKIP $(tap_text "$2")"
}

# skip_all WHY: the whole test
skip_all() {
	read -r _cases _failed <"$tmp/.cases"
	if [ "$_cases" != 0 ]; then
		skip "$test" "$1"
		finish
	fi
	printf '1..0 # SKIP %s\n' "$(tap_text "$1")"
	ended=yes
	exit 0
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

# works NAME COMMAND...: exits with status 0; its output is in $tmp/said
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

# also COMMAND...: a program that prints TAP, as a subtest; see $tmp/also
also() {
	_name=
	for _word; do
		case $_word in
		-* | *=* | env | python3 | "$tmp") ;;
		*) _name="$_name${_name:+ }${_word##*/}" ;;
		esac
	done
	printf '# Subtest: %s\n' "$_name"
	if {
		_rc=0
		"$@" || _rc=$?
		echo $_rc >"$tmp/.status"
	} | tee "$tmp/also" | awk -f "$top/tests/lib/subtest.awk" &&
		[ "$(cat "$tmp/.status")" = 0 ]; then
		ok "$_name"
	else
		tap_case 1 "not ok" "$(tap_text "$_name")"
		failed=1
		echo "# exit status $(cat "$tmp/.status")"
	fi
}

# until_enough "SECONDS..." ENOUGH COMMAND...: runs COMMAND with the first $seconds,
# then with the others until ENOUGH holds, since other programs may use all CPU
# time.  Returns the status of COMMAND.
until_enough() {
	_list=$1 _enough=$2
	shift 2
	# shellcheck disable=SC2034 # COMMAND's
	for seconds in $_list; do
		"$@" || return
		! $_enough || break
	done
}
