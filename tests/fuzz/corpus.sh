#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Each corpus is what its own inputs make, and a damaged one is refused.

set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

# same NAME GOT WANT
same() {
	if [ "$2" = "$3" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1: $2, not $3"
		failed=1
	fi
}

inputs() { tests/fuzz/inputs "$@" 2>&1; }

# names DIRECTORY: as its content says.
names() {
	(cd "$1" && sha1sum -- *) | awk '$1 == $2 { print $1 }'
}

for corpus in tests/fuzz/corpus/*.hex; do
	name=$(basename "$corpus" .hex)
	inputs unpack "$corpus" "$tmp/$name"
	same "$name: a file for each line" "$(names "$tmp/$name" | wc -l)" \
		"$(grep -c '^[^#]' "$corpus")"
	inputs pack "$tmp/$name.hex" "$tmp/$name"
	cmp "$corpus" "$tmp/$name.hex" || :
	same "$name: unpacked and packed" \
		"$(sha256sum <"$tmp/$name.hex")" "$(sha256sum <"$corpus")"
done

dir=$tmp/dir good=$tmp/good
mkdir "$dir"
printf abc >"$dir/one"
printf 'ab\n' >"$dir/two"
printf abc >"$dir/again"
printf '' >"$tmp/empty"
inputs pack "$good" "$dir" "$tmp/empty"
same "sorted, each once, the empty one too" \
	"$(grep -v '^#' "$good" | tr '\n' ,)" ",61620a,616263,"
inputs unpack "$good" "$dir"
same "files of before are gone" "$(names "$dir" | wc -l) $(find "$dir" -type f |
	wc -l)" "3 3"

# refused NAME LINE WHY: the corpus on stdin; what was unpacked before stays.
refused() {
	cat >"$tmp/bad"
	same "$1" "$(inputs unpack "$tmp/bad" "$dir" || echo $?)" \
		"$tmp/bad:$2: $3
1"
	same "$1: nothing is changed" "$(names "$dir" | wc -l)" 3
}

bytes="not lower-case hexadecimal of whole bytes"
printf '# head\n61\n6z\n' | refused "a letter that is no digit" 3 "$bytes"
printf '616\n' | refused "half a byte" 1 "$bytes"
printf '6A\n' | refused "a capital" 1 "$bytes"
printf '61 62\n' | refused "a space" 1 "$bytes"
printf '61\n# behind\n' | refused "a comment between inputs" 2 "$bytes"
printf '61\n\303\244\n' | refused "a letter that is not ASCII" 2 "$bytes"
printf '62\n61\n' | refused "not sorted" 2 "not sorted, or twice"
printf '61\n61\n' | refused "one input twice" 2 "not sorted, or twice"
printf '61\n\n' | refused "an empty line at the end" 2 "not sorted, or twice"
printf '61\n62' | refused "cut off" 2 "the line has no end"
same "no such file" "$(inputs unpack "$tmp/none" "$dir" || echo $?)" \
	"[Errno 2] No such file or directory: '$tmp/none'
1"
exit $failed
