# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# The output of sframegen --dump, said as readelf --sframe says it.

BEGIN {
	split("rax rdx rcx rbx rsi rdi", names)
	for (i in names)
		number[names[i]] = "r" (i - 1)
}

function base(text, name, rest) {
	match(text, /^[A-Za-z0-9]+/)
	name = substr(text, 1, RLENGTH)
	rest = substr(text, RLENGTH + 1)
	return (name in number ? number[name] : name) (rest ? rest : "+0")
}

function rule(text) {
	if (text !~ /^\[/)
		return base(text)
	text = base(substr(text, 2, length(text) - 2))
	if (text ~ /^CFA/)
		return "c" substr(text, 4)
	return "(" text ")"
}

/^FDE/ {
	split($3, range, "-")
	printf "func %s %s%s\n", range[1], range[2],
		/FLEX/ ? " F" : /signal/ ? " S" : ""
	flex = /FLEX/
}

/^  0x/ {
	sub(/:$/, "", $1)
	if (/RA undefined/) {
		print $1, "RA undefined"
		next
	}
	fp = "u"
	ra = "f"
	for (i = 2; i <= NF; i++) {
		split($i, part, "=")
		if (part[1] == "CFA")
			cfa = rule(part[2])
		else if (part[1] == "FP")
			fp = rule(part[2])
		else
			ra = rule(part[2])
	}
	if (flex && ra == "f" && fp != "u")
		ra = "U"
	print $1, cfa, fp, ra
}
