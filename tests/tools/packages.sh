#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: debian/ says what the tree says: names of the library, version,
# licences. tests/system/guest/packages.sh builds the packages.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# The version map, as dpkg-gensymbols writes symbols.
symbols() {
	awk '/^[A-Z]/ { version = $1; print version "@" version }
		/^\t[a-z].*;$/ { sub(/;/, ""); print $1 "@" version }' "$1"
}
for map in userspace/*/lib*.map; do
	library=$(basename "$map" .map)
	symbols "$map" | sort >"$tmp/map"
	sed -n 's/^ \([^ ]*\) .*/\1/p' "debian/${library}0.symbols" |
		sort >"$tmp/symbols"
	same "$library: symbols are those of the version map" "$tmp/map" \
		"$tmp/symbols"
	like "$library: and not none" "[1-9][0-9]" "$(wc -l <"$tmp/symbols")"
	is "$library: package and soname have the same number" \
		"$library.so.0 ${library}0 #MINVER#" \
		"$(head -n 1 "debian/${library}0.symbols")"
done

version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
is "version of the packages" "$("$O/bin/sfjit" --version | cut -d ' ' -f 2)" \
	"$version"

# Paths of debian/copyright but for "*", which is MIT; a star is for any path.
sed -n '/^Files:/,/^Copyright/s/^\(Files:\)* *//p' debian/copyright |
	grep -v -x -e '\*' -e 'Copyright.*' -e '' >"$tmp/patterns"

# others: files with another licence that match no pattern
others() {
	grep -rIl --exclude-dir=.git --exclude-dir=build \
		'^[^A-Za-z]*SPDX-License-Identifier: [^M]' . | cut -c 3- |
		while read -r file; do
			grep -m 1 SPDX-License "$file" | grep -q ': MIT' &&
				continue
			while read -r pattern; do
				# shellcheck disable=SC2254 # a pattern
				case $file in $pattern) continue 2 ;; esac
			done <"$tmp/patterns"
			echo "$file"
		done
}
is "each file of another licence is in debian/copyright" "" "$(others)"
sed -i '/^tests.kernel.module/d' "$tmp/patterns"
like "a file that is missing there is found" "*tests/kernel/module/*" "$(others)"
finish
