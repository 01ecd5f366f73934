# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
#
# tools/check --changed: runs the everyday tests, and of each group of
# tests/list those of size `all', unless the group passed on this machine with
# the same inputs in the last seven days.  Sourced by tools/check.
#
# The inputs of a group are the tree without the paths in its lines `ignore' and
# the lines of other tests in tests/list; the packages and the processor of this
# machine; the needs in the cache; and the variables SFJIT_*.  The tests run in a
# copy of that tree with nothing built, so a test that needs an ignored path fails.
# $verdicts/GROUP-KEY has a line "passed DATE CASES" or "failed DATE" for each
# run.  A group that did both with the same inputs is unstable, and fails.

verdicts=$cache/verdicts

# No group ignores these, which run the tests.
always=':!kernel-patches/series :!tests/in-guest :!tests/lib :!tests/list'

# tree_of GROUP: git's tree of its inputs that are here, committed or not.
tree_of() {
	_index=$(git rev-parse --git-path index)
	[ ! -e "$_index" ] || cp "$_index" "$results/index"
	(
		export GIT_INDEX_FILE="$results/index"
		git add -A
		_ignored=$(ignored_by "$1")
		set -f
		# shellcheck disable=SC2086 # words
		[ -z "$_ignored" ] || git rm -r -q --cached \
			--ignore-unmatch -- $_ignored $always
		_list=$(list_of "$1" | git hash-object -w --stdin)
		git update-index --add --cacheinfo "100644,$_list,tests/list"
		git write-tree
	)
}

# list_of GROUP: its part of tests/list, as far as it runs here.
list_of() {
	awk -v group="$1" '$1 == "group" { here = $2 == group }
		here && ($1 == "group" || $2 == "all")' "$list"
}

groups_with() {
	listed | awk -v size="$1" '$3 == size { print $1 }' | uniq
}

ignored_by() {
	awk -v group="$1" '$1 == "group" { here = $2 == group }
		here && $1 == "ignore" { $1 = ""; print }' "$list"
}

# Two runs of the same inputs may differ in nothing that is listed here.
environment_of() {
	dpkg-query -W
	uname -r
	sed -n '/^model name\|^flags/p' /proc/cpuinfo | sort -u
	env | grep '^SFJIT_' | sort
	# An entry of the cache that was made anew has another inode.
	make_needs PLAN=y "$@" | cut -d '|' -f 5 | while read -r _entry; do
		find "$cache" -maxdepth 1 -name "$_entry-*" ! -name '*.tmp' \
			-printf '%f %i\n'
	done | sort -u
}

# key GROUP TREE
key() {
	chosen all "$1" >"$results/group"
	# shellcheck disable=SC2046 # words
	{
		echo "$2"
		environment_of $(needs_of "$results/group")
	} | hash16
}

check_changed() {
	mkdir -p "$verdicts"
	find "$verdicts" -type f -mtime +6 -delete
	for _group in $(groups_with all); do
		_tree=$(tree_of "$_group")
		echo "$_group $_tree"
	done >"$results/groups"
	chosen day >"$results/day"
	plan_changed
	echo "every day:"
	run_tests "$results/day" || :
	while read -r _group _tree <&5; do
		check_group "$_group" "$_tree"
	done 5<"$results/groups"
}

# The packages of all groups are installed first: they are inputs of each.
plan_changed() {
	cp "$results/day" "$results/todo"
	while read -r _group _tree; do
		has_passed "$(verdict_file "$_group" "$_tree")" ||
			chosen all "$_group" >>"$results/todo"
	done <"$results/groups"
	# shellcheck disable=SC2046 # words
	plan "$(seconds_of "$results/todo")" $(needs_of "$results/todo")
}

# verdict_file GROUP TREE
verdict_file() {
	echo "$verdicts/$1-$(key "$1" "$2")"
}

# verdict FILE: of the runs in it, in one word.
verdict() {
	cut -d ' ' -f 1 "$1" 2>/dev/null | sort -u | tr -d '\n'
}

has_passed() {
	[ "$(verdict "$1")" = passed ]
}

# check_group GROUP TREE
check_group() {
	_file=$(verdict_file "$1" "$2")
	if has_passed "$_file"; then
		echo "reused: $(last_pass "$1" "$_file")"
		return
	fi
	_view=$O/views/$1
	rm -rf "$_view"
	mkdir -p "$_view" "$results/$1"
	git archive "$2" | tar -x -C "$_view"
	echo "$1:"
	in_group 0 env O=build \
		"$_view/tools/check" --rest="$results/$1" "$1" || :
	keep_verdict "$1" "$(verdict_file "$1" "$2")"
	cp "$results/$1"/* "$counts/"
}

# last_pass GROUP FILE: "CASES cases of GROUP, passed DATE"
last_pass() {
	awk -v group="$1" '{ date = $2; cases = $3 }
		END { print cases " cases of " group ", passed " date }' "$2"
}

# keep_verdict GROUP FILE: after its run, when the cache has what it needs.
keep_verdict() {
	_sum=$(cat "$results/$1"/* | awk '
		{ passed += $1; failed += $2 }
		END { print (failed || !passed ? "failed" : "passed"), passed + 0 }')
	echo "${_sum% *} $(date +%F) ${_sum#* }" >>"$2"
	case $(verdict "$2") in
	passed)
		rm -rf "$O/views/$1" ;;
	failedpassed)
		echo "$1: unstable: failed and passed with the same inputs," \
			"see $2"
		echo 0 1 0 0 >"$results/$1/$1.unstable" ;;
	esac
}
