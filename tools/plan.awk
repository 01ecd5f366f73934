# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Reads tools/needs, then the lines of tests/lanes that are to run, LANE/TEST
# for TEST, and the words that are needed anyhow, one on a line.  Prints what
# -v show= says:
#   packages   their names
#   costs      "SECONDS WORD MIB" of each need and "SECONDS - 0" of each test
#   memory     GiB
#   makefile   rules by which each test runs behind what it needs; root
#              filesystems are begun first, then kernels, then the longest
#              tests.  -v results=DIRECTORY
# A word that tools/needs does not have ends it with status 2.

FILENAME == needs && $1 == "need" {
	word = $2
	words[nr_words++] = word
	after[word] = ""
	next
}
FILENAME == needs {
	if ($1 == "after")
		after[word] = rest()
	else if ($1 == "packages")
		packages[word] = packages[word] " " rest()
	else if ($1 == "make" || $1 == "command")
		made[word] = 1
	else if ($1 == "costs")
		costs[word] = $2 " " word " " $3
	else if ($1 == "memory")
		memory[word] = $2
	next
}
NF == 1 {
	want($1)
	alone = alone " need-" $1
	next
}
{
	names[nr_tests++] = $1
	seconds[$1] = $3
	needed[$1] = needs_of($2, $4)
	want_all(needed[$1])
	command[$1] = $1 " " $2
	for (i = 5; i <= NF; i++)
		command[$1] = command[$1] " " $i
}
END {
	if (bad)
		exit 2
	if (show == "packages")
		print_packages()
	else if (show == "costs")
		print_costs()
	else if (show == "memory")
		print_memory()
	else
		print_makefile()
}

function rest(    text) {
	text = $0
	sub(/^[^ \t]*[ \t]*/, "", text)
	return text
}

function needs_of(kernels, list) {
	gsub(/,/, " kernel-", kernels)
	gsub(/,/, " ", list)
	return (kernels == "-" ? "" : "kernel-" kernels " ") list
}

# want WORD: with what it rests on.  A word with ~ wants nothing.
function want(word) {
	if (word == "-" || word ~ /^~/ || word in wanted)
		return
	if (!(word in after)) {
		print "tools/needs has no word '" word "'" >"/dev/stderr"
		bad = 1
		return
	}
	wanted[word] = 1
	want_all(after[word])
}

function want_all(list,    part, n, i) {
	n = split(list, part)
	for (i = 1; i <= n; i++)
		want(part[i])
}

function print_packages(    w) {
	for (w = 0; w < nr_words; w++)
		if (words[w] in wanted)
			print packages[words[w]]
}

function print_costs(    w, t) {
	for (w = 0; w < nr_words; w++)
		if (words[w] in wanted && words[w] in costs)
			print costs[words[w]]
	for (t = 0; t < nr_tests; t++)
		print seconds[names[t]], "-", 0
}

function print_memory(    w, most) {
	most = 1
	for (w in memory)
		if (w in wanted && memory[w] > most)
			most = memory[w]
	print most
}

# targets LIST: those that are made at all.
function targets(list,    part, n, i, word, text) {
	n = split(list, part)
	for (i = 1; i <= n; i++) {
		word = part[i]
		sub(/^~/, "", word)
		if (word in wanted)
			text = text " need-" word
	}
	return text
}

# Make begins with what stands first: what needs root, while sudo remembers the
# password. It comes back to what has to wait when it has been through all, so
# words that only stand for packages are not to make anybody wait.
function order(    w, t, longest, text) {
	for (w = 0; w < nr_words; w++)
		if (words[w] ~ /^rootfs/ && words[w] in wanted)
			text = text " need-" words[w]
	for (w = 0; w < nr_words; w++)
		if (words[w] ~ /^kernel-/ && words[w] in wanted)
			text = text " need-" words[w]
	text = text alone
	for (;;) {
		longest = ""
		for (t = 0; t < nr_tests; t++)
			if (!(names[t] in done) && (longest == "" ||
			    seconds[names[t]] + 0 > seconds[longest] + 0))
				longest = names[t]
		if (longest == "")
			return text
		done[longest] = 1
		text = text " " longest
	}
}

function print_makefile(    w, t) {
	print "all:" order()
	print ".PHONY: all"
	for (w = 0; w < nr_words; w++)
		if (words[w] in wanted) {
			print "need-" words[w] ":" targets(after[words[w]])
			if (words[w] in made)
				print "\t@tools/need " words[w]
		}
	for (t = 0; t < nr_tests; t++) {
		print names[t] ":" targets(needed[names[t]])
		print "\t@tools/run-test " results " " command[names[t]]
	}
}
