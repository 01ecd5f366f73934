# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# readelf --sframe, as far as to-readelf.awk says the same.

function hex(text, n, i) {
	n = 0
	text = tolower(text)
	sub(/^0x/, "", text)
	for (i = 1; i <= length(text); i++)
		n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}

/func idx/ {
	gsub(/,/, "")
	printf "func %s 0x%x%s\n", $6, hex($6) + $9,
		/"F"/ ? " F" : /"S"/ ? " S" : ""
}

/^    [0-9a-f]+ / {
	sub(/^0+/, "", $1)
	$1 = "0x" ($1 == "" ? "0" : $1)
	$1 = $1
	print
}
