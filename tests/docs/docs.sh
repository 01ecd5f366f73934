#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What the documents say of the tree is true: paths, commands, options, names,
# constants. Generated documents and blocks are what their sources say.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
docs="README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md $(echo Documentation/*.rst)"

# verdict NAME: fails with the lines of $tmp/bad, if there are any.
verdict() {
	if [ -s "$tmp/bad" ]; then
		while read -r line; do
			not_ok "$1" "$line"
		done <"$tmp/bad"
	else
		ok "$1"
	fi
	: >"$tmp/bad"
}

bad() { printf '%s\n' "$*" >>"$tmp/bad"; }

# words REGEX: where in the documents it is found, as "file word".
words() {
	# shellcheck disable=SC2086
	grep -oE -e "$1" $docs | sed 's/:/ /' | sort -u
}

: >"$tmp/bad"

# Paths of the tree, and what a build makes. NAME stands for any.
parts='tools|arch|sframegen|userspace|kernel-patches|tests|bench'
words "(^|[^[:alnum:]_/.-])(($parts|Documentation|LICENSES|\.ci)/[[:alnum:]_./-]*|build/(bin|lib|gen)/[[:alnum:]_.-]+)" |
	sed 's/ [^[:alnum:].]*/ /; s/[.]*$//' | sort -u >"$tmp/paths"
while read -r file path; do
	case $path in
	*NAME*) continue ;;
	build/*)
		[ -d "$O/bin" ] || continue
		path=$O/${path#build/} ;;
	esac
	[ -e "$path" ] || bad "$file names $path, which is not there"
done <"$tmp/paths"
verdict "paths"

# Links of Markdown and of reStructuredText.
words '\]\([^)# ]*\)|<[[:alnum:]_./-]+\.(rst|md)>' |
	sed 's/ \](/ /; s/ </ /; s/[)>]$//' >"$tmp/links"
while read -r file link; do
	[ -e "$(dirname "$file")/$link" ] || bad "$file links to $link"
done <"$tmp/links"
verdict "links"

# make TARGET, at the start of a line or of a code span.
words '(^ *|`)make [a-z][a-z-]*' | sed 's/ .*make / /' >"$tmp/targets"
while read -r file target; do
	grep -qs "^$target:" Makefile ./*/*.mk ./*/*/*.mk ./*/*/*/*.mk ||
		bad "$file has make $target"
done <"$tmp/targets"
verdict "make targets"

# tools/PROGRAM --option, build/bin/PROGRAM --option
words '(tools|build/bin)/[a-z]+( [a-z]+)? --[a-z]+' >"$tmp/options"
while read -r file program rest; do
	option=${rest##* }
	case $program in
	tools/*) grep -qse "$option" "$program" "$program.d/record-and-analyse" ;;
	*) [ ! -x "$O/${program#build/}" ] ||
		"$O/${program#build/}" --help 2>&1 | grep -qe "$option" ;;
	esac || bad "$file has $program $option"
done <"$tmp/options"
verdict "options"

# tools/check GROUP or TEST
words 'tools/check( [a-z][[:alnum:]_/-]*)+' | while read -r file _ tests; do
	for test in $tests; do
		grep -qE "^group $test |^$test " tests/list ||
			bad "$file has tools/check $test"
	done
done
verdict "groups and tests"

# Names of C, of the kernel's configuration, and of the environment.
words '(sfjit|sfg)_[a-z_]+\(|[A-Z][A-Z0-9_]*SFRAME_[A-Z0-9_]+|SF(JIT|RAME)_[A-Z0-9_]+' |
	sed 's/($//; / \(HAVE_\)*\(PERF\|UNWIND_USER\)_/d' >"$tmp/names"
while read -r file name; do
	grep -rqw -e "$name" userspace sframegen tools tests/kernel/race tests/kernel/selftests tests/system/guest \
		kernel-patches/linux/include kernel-patches/linux/kernel || bad "$file names $name"
done <"$tmp/names"
words '(HAVE_)?(UNWIND_USER|PERF|PROC)_SFRAME(_CALLCHAIN)?' >"$tmp/options"
while read -r file name; do
	grep -q "^[+]config $name\$" kernel-patches/*/*/edit.patch ||
		bad "$file names the option $name"
done <"$tmp/options"
verdict "names"

# constant FILE TEXT SOURCE DEFINITION
constant() {
	grep -qF "$2" "$1" || bad "$1 does not say '$2' any more"
	grep -qE "$4" "$3" || bad "$1 says '$2', $3 does not"
}
unwind=kernel-patches/linux/kernel/unwind
constant userspace/include/sfjit.h "always have 4096 of these" \
	sframegen/lib/packed.c 'FOR_ANY_INPUT[[:space:]]+4096$'
constant userspace/include/sfjit.h "for each function and row 64 more" \
	sframegen/lib/packed.c 'BUCKETS_PER_ROW[[:space:]]+64$'
sframe_rst=kernel-patches/linux/Documentation/userspace-api/sframe.rst
threats=Documentation/threat-model.rst
constant userspace/include/sfjit/area.h "in steps of 1 KiB for each" \
	userspace/libsfjit/growing_memory.c 'CHUNK[[:space:]]+1024u$'
constant userspace/include/sfjit/area.h "free again for each 4 KiB" \
	userspace/libsfjit/growing_table.h 'SFJIT_ZONE_SIZE[[:space:]]+4096u$'
constant $threats "2^24 FDEs" \
	$unwind/sframe.h 'SFRAME_MAX_FDES[[:space:]]+BIT\(24\)'
constant $threats "2 looks at a window in a step" \
	$unwind/sframe.c 'tries = 0; tries < 2;'
for doc in $threats $sframe_rst; do
	constant "$doc" "250 microseconds" \
		$unwind/sframe_registry.c 'sysctl_sframe_walk_us .*= 250;'
done
constant $threats "96 reads between looks at the clock" \
	$unwind/sframe.h 'SFRAME_INTERVAL[[:space:]]+96$'
constant $threats "4 ranges of a walk" \
	kernel-patches/7-packed/packed/edit.patch 'SFRAME_KEPT_RANGES[[:space:]]+3$'
constant $threats "64 pages brought in for a step" \
	kernel-patches/1-core/step/edit.patch 'UNWIND_USER_MAX_FAULTS[[:space:]]+64$'
constant $threats "65,536 windows of an address space" \
	$unwind/sframe_registry.c 'sysctl_max_sframe_windows .*= 65536;'
constant $threats "stack of 16 values" sframegen/lib/cfi_expr.c \
	'STACK_MAX[[:space:]]+16$'
for text in "to 4 GiB" "4 GiB of a file"; do
	constant $threats "$text" sframegen/cmd/object.h \
		'MAX_READ[[:space:]]+\(4ULL << 30\)'
done
constant Documentation/man/sframegen.1 "more than 4 GiB" \
	sframegen/cmd/object.h 'MAX_READ[[:space:]]+\(4ULL << 30\)'
constant $threats "1,048,576 entries" userspace/sfjit/ps.h \
	'PS_MOST[[:space:]]+\(1U << 20\)'
constant $threats "256 MiB are" userspace/sfjit/ps_process.c \
	'MOST_BYTES[[:space:]]+\(256L << 20\)'
assist_h=userspace/include/sfjit-assist.h
constant $assist_h "16 runtimes" $assist_h 'ASSIST_RUNTIMES[[:space:]]+16$'
constant $assist_h "510 frames" $assist_h 'ASSIST_FRAMES[[:space:]]+510$'
constant $assist_h "65,536 names" $assist_h 'ASSIST_NAMES[[:space:]]+65536$'
constant $assist_h "(1024) bytes" $assist_h 'ASSIST_NAME_BYTES[[:space:]]+1024$'
stacks=Documentation/stacks.rst
constant $stacks "1,024 frames at most" userspace/include/sfjit-stacks.h \
	'SFJIT_STACKS_MAX_FRAMES[[:space:]]+1024$'
constant $stacks "up to 4,194,304 mappings" userspace/include/sfjit-stacks.h \
	'SFJIT_STACKS_MAX_MAPPINGS[[:space:]]+\(1u << 22\)'

# value NAME FILE...: of a constant that other constants of there make up.
value() {
	_text=$(sed -n "s/^#define $1[[:space:]][[:space:]]*//p" "$2" | sed 's,/\*.*,,')
	for _name in $(echo "$_text" | grep -oE '[A-Z_]{3,}'); do
		_text=$(echo "$_text" | sed "s/$_name/($(value "$_name" "$2"))/")
	done
	# shellcheck disable=SC2004 # dash evaluates only what it expands
	echo "$(($_text))"
}

# says FILE NUMBER TEXT: with commas for thousands.
says() {
	_number=$(echo "$2" | sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta')
	[ -n "$2" ] || bad "no number for $1:$3"
	tr -s '\n ' '  ' <"$1" | grep -qF "$_number$3" ||
		bad "$1 does not say '$_number$3'"
}
frame=$(value SFRAME_FRAME_BUDGET $unwind/sframe.h)
least=$(sed -n 's/^#define SFRAME_MIN_FRAMES[[:space:]]*\([0-9]*\)U$/\1/p' \
	$unwind/sframe.h)
nofault=$((frame * least))
faults=$((frame * 510 + 65535))
signals=$(value UNWIND_USER_MAX_SIGNALS $unwind/signal.h)
says $threats "$frame" " reads and rows of a frame"
says $threats "$nofault" " reads and rows of a walk in a"
says $threats "$faults" " reads and rows of a deferred"
says $threats "$signals" " signal frames of a walk"
says $threats "$signals" " times in a walk"
says $sframe_rst "$frame" " reads of sections, rows and stack for each frame"
says $sframe_rst "$nofault" " reads for the $least frames"
says $sframe_rst "$faults" ": 510 frames"
says $sframe_rst "$signals" " times in a walk"
says Documentation/jit-guide.rst "$signals" " signal frames on one stack"
constant Documentation/userspace.rst "at most 16 rows in an FDE" \
	sframegen/include/sframegen.h 'SFG_MAX_ROWS[[:space:]]+16$'
constant Documentation/man/sfjit.1 "stretches of 64 KiB" \
	userspace/preload/table.c 'GAP[[:space:]]+\(64UL << 10\)'
verdict "constants"

# The guide explains each reason the kernel gives, and no other.
sed -n 's/^\t\[SFRAME_REASON_[A-Z_]*\].*= "\(.*\)",/\1/p' \
	$unwind/sframe_seq.c | grep -vx none | sort >"$tmp/reasons"
sed -n '/^reason  /,/^The address is/s/^\([a-z_]*_[a-z]*\|budget\|changed\|deadline\|signal\)[, ].*/\1/p
	/^reason  /,/^The address is/s/^\([a-z_]*_[a-z]*\)$/\1/p' \
	Documentation/jit-guide.rst | sort -u >"$tmp/explained"
# same_reasons WHERE: those in $tmp/explained.
same_reasons() {
	diff "$tmp/reasons" "$tmp/explained" |
		sed -n "s/^</$1 does not explain/p
			s/^>/no such reason in $1:/p" >>"$tmp/bad"
}
same_reasons jit-guide.rst
sed -n '/^=====* *=====*$/,$s/^\([a-z_]\{2,\}\)  .*/\1/p' $sframe_rst |
	sort >"$tmp/explained"
same_reasons sframe.rst
sed -n 's/^\t{ "\([a-z_]*\)", ".*/\1/p' userspace/sfjit/reasons.c |
	sort >"$tmp/explained"
same_reasons "sfjit ps"
verdict "reasons"

# The checks that were taken out: each reason is an answer of one of them, or
# named in the threat model as one that has none; and no other.
mutation=Documentation/figures/mutation.json
sed -n 's/^\t\(SFRAME_REASON_[A-Z_]*\).*/\1/p' \
	$unwind/reason.h |
	grep -vx SFRAME_REASON_NONE | sort >"$tmp/enum"
sed -n 's/^  "reason": "\(SFRAME_REASON_[A-Z_]*\)",$/\1/p' $mutation |
	sort -u >"$tmp/answers"
grep -oE 'SFRAME_REASON_[A-Z_]+' $threats | sort -u >"$tmp/without"
comm -12 "$tmp/answers" "$tmp/without" |
	sed 's/$/ is said to have no check/' >>"$tmp/bad"
sort "$tmp/answers" "$tmp/without" | uniq | diff "$tmp/enum" - |
	sed -n 's/^</no check answers/p; s/^>/no such reason:/p' >>"$tmp/bad"
verdict "reasons of the table of checks"

# A measured number in the text of README.md, outside of what is generated,
# has a command of the tree in its paragraph.
# shellcheck disable=SC2016 # Markdown's
sed '/^<!-- [a-z]* -->$/,/^<!-- end/d; /^```/,/^```/d' README.md |
	awk -v RS= '/[0-9][0-9.,]* ?(%|x |times |ms|us|ns|seconds|minutes|[KMG]i?B|bytes|frames|samples|instructions)/ &&
		!/`(tools|bench|build\/bin)\// { gsub(/\n/, " "); print }' \
	>"$tmp/bad"
verdict "numbers in README.md have their command"

# Lines that integrations take.
tests/system/patterns/lines | while read -r line; do
	tr -s ' ' <Documentation/jit-guide.rst |
		grep -qxF "$(echo "$line" | tr -s ' ')" ||
		bad "jit-guide.rst does not have the line '$line'"
done
verdict "lines of integrations"

# kernel/module/packages runs those of module.rst.
is "README.md: the commands of module.rst" \
	"$(sed -n '/^Use$/,/^Without/s/^    //p' Documentation/module.rst)" \
	"$(sed -n '/^Windows for plain perf/,/^`tools/s/^    //p' README.md)"

# shellcheck disable=SC2086
grep -nE '/(root|home|work)/|—|[Ii]ssue #?[0-9]' $docs >"$tmp/bad"
verdict "no path of a machine"

if command -v python3 >/dev/null; then
	is "sources of the long run of the fuzzers" "$(tests/kernel/fuzz/long --source)" \
		"$(sed -n 's/.*"source_sha256": "\(.*\)",/\1/p' \
			Documentation/figures/fuzz.json)"
	also python3 -B Documentation/figures/update --check
else
	skip "sources, generated documents and blocks" "python3 is not installed"
fi

if python3 -c 'import docutils.core' 2>/dev/null; then
	for file in $docs; do
		case $file in *.rst) ;; *) continue ;; esac
		python3 -B -c 'import sys, docutils.core as core
core.publish_file(source_path=sys.argv[1], destination_path="/dev/null",
	settings_overrides={"report_level": 1, "halt_level": 5})' \
			"$file" >>"$tmp/bad" 2>&1
	done
	verdict "reStructuredText"
else
	skip "reStructuredText" "python3-docutils is not installed"
fi
finish
