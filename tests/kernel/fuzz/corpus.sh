#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Each corpus is what its own inputs make, and a damaged one is refused.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

inputs() { tests/kernel/fuzz/inputs "$@" 2>&1; }

# names DIRECTORY: as its content says.
names() {
	(cd "$1" && sha1sum -- *) | awk '$1 == $2 { print $1 }'
}

for corpus in tests/kernel/fuzz/corpus/*.hex; do
	name=$(basename "$corpus" .hex)
	inputs unpack "$corpus" "$tmp/$name"
	is "$name: a file for each line" "$(grep -c '^[^#]' "$corpus")" \
		"$(names "$tmp/$name" | wc -l)"
	inputs pack "$tmp/$name.hex" "$tmp/$name"
	same "$name: unpacked and packed" "$corpus" "$tmp/$name.hex"
done

dir=$tmp/dir good=$tmp/good
mkdir "$dir"
printf abc >"$dir/one"
printf 'ab\n' >"$dir/two"
printf abc >"$dir/again"
printf '' >"$tmp/empty"
inputs pack "$good" "$dir" "$tmp/empty"
is "sorted, each once, the empty one too" ",61620a,616263," \
	"$(grep -v '^#' "$good" | tr '\n' ,)"
inputs unpack "$good" "$dir"
is "files of before are gone" "3 3" \
	"$(names "$dir" | wc -l) $(find "$dir" -type f | wc -l)"

# refused NAME LINE WHY CORPUS: what was unpacked before stays
refused() {
	# shellcheck disable=SC2059 # octal escapes
	printf "$4" >"$tmp/bad"
	is "$1" "$tmp/bad:$2: $3
1" "$(inputs unpack "$tmp/bad" "$dir" || echo $?)"
	is "$1: nothing is changed" 3 "$(names "$dir" | wc -l)"
}

bytes="not lower-case hexadecimal of whole bytes"
refused "a letter that is no digit" 3 "$bytes" '# head\n61\n6z\n'
refused "half a byte" 1 "$bytes" '616\n'
refused "a capital" 1 "$bytes" '6A\n'
refused "a space" 1 "$bytes" '61 62\n'
refused "a comment between inputs" 2 "$bytes" '61\n# behind\n'
refused "a letter that is not ASCII" 2 "$bytes" '61\n\303\244\n'
refused "not sorted" 2 "not sorted, or twice" '62\n61\n'
refused "one input twice" 2 "not sorted, or twice" '61\n61\n'
refused "an empty line at the end" 2 "not sorted, or twice" '61\n\n'
refused "cut off" 2 "the line has no end" '61\n62'
is "no such file" "[Errno 2] No such file or directory: '$tmp/none'
1" "$(inputs unpack "$tmp/none" "$dir" || echo $?)"
finish
