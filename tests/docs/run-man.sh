#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit.1, sfjit-attach.1, sfjit-explain.1, sfjit-inject.1 and
# sfjit-record.1 have no formatting errors and name every option, and no other one;
# sfjit --help names every command.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
page=$top/Documentation/man/sfjit.1
attach=$top/Documentation/man/sfjit-attach.1
explain=$top/Documentation/man/sfjit-explain.1
inject=$top/Documentation/man/sfjit-inject.1
record=$top/Documentation/man/sfjit-record.1

if command -v mandoc >/dev/null; then
	is "mandoc" "" "$(mandoc -Tlint -W warning "$page" "$attach" "$explain" \
		"$inject" "$record")"
else
	skip "mandoc" "not installed"
fi
{
	"$sfjit" --help
	"$sfjit" run --help
	"$sfjit" ps --help
	"$sfjit" daemon --help
	"$sfjit" doctor --help
	"$sfjit" cache --help
} | grep -v call-graph | grep -oE -- '--[a-z]+' | sort -u >"$tmp/options"
sed -n '/^\.SS Options/,/^\.SS Output of/s/\\//gp' "$page" |
	grep -oE -- '--[a-z]+' | sort -u >"$tmp/documented"
is "options" "$(cat "$tmp/options")" "$(cat "$tmp/documented")"

options() { grep -oE -- '(^|[ ,])--[a-z]+' | tr -d ' ,' | sort -u; }
is "options of sfjit attach" "$("$sfjit" attach --help | options)" \
	"$(sed -n '/^\.SS Options/,/^\.SS What/s/\\//gp' "$attach" | options)"
is "options of sfjit detach" --help "$("$sfjit" detach --help | options)"

# Of what is said when sfjit attach fails, lines that are tags. N is a number.
cat userspace/sfjit/attach/refusal.c userspace/sfjit/attach/attach.c \
	userspace/sfjit/attach/session.c | sed '/^#/d' | tr '\n\t' '  ' |
	tr ';' '\n' | grep -E 'refusal_print\(|failed = |checked\(' |
	sed 's/"  *"//g; s/%l*d/N/g' | grep -o '"[^"]*"' | tr -d '"' |
	grep -v '^%s' | sort -u >"$tmp/messages"
is "messages of sfjit attach: some are known" 2 "$(grep -cxE \
	'is a thread of process N|madvise\(\)' "$tmp/messages")"
is "messages of sfjit attach: each is in the page" "" \
	"$(while read -r message; do
		grep -qxF -e ".B $message" -e ".B $message: ERROR" \
			-e ".B $message: No space left on device" "$attach" ||
			echo "$message"
	done <"$tmp/messages")"
is "options of sfjit explain" \
	"$("$sfjit" explain --help | options)" \
	"$(sed -n '/^\.SH OPTIONS/,/^\.SH Output/s/\\//gp' "$explain" | options)"
is "options of sfjit inject" \
	"$("$sfjit" inject --help | grep -v call-graph | options)" \
	"$(sed -n '/^\.SH OPTIONS/,/^\.SH Gen/s/\\//gp' "$inject" | options)"
is "options of sfjit record" \
	"$("$sfjit" record --help | grep -v call-graph | options)" \
	"$(sed -n '/^\.SS Options/,/^\.SH EXIT/s/\\//gp' "$record" | options)"

is "commands: each has a synopsis" "" "$("$sfjit" --help |
	sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | while read -r command; do
	sed 's/\\//g' "$page" "$explain" "$inject" "$record" |
		grep -q "^\.SY \"sfjit $command" || echo "$command"
done)"

# The lines that are documented are those that are written.
"$sfjit" run -o "$log" -- "$run/hello" >"$tmp/out" 2>"$tmp/err"
for form in "registered NAME windows=N rows=N bytes=N source=S ms=N" \
	"ready modules=N kernel=yes"; do
	is "form of '$form' in the page" 1 "$(grep -c " $form\$" "$page")"
	pattern=$(echo "$form" | sed 's/NAME/[^ ]*/; s/=[A-Z]/=[a-z0-9.]*/g
		s/=yes/=[a-z]*/')
	like "form of '$form' in the log" "[1-9]*" \
		"$(grep -c "^sfjit: [0-9]* [0-9]*\.[0-9]\{9\} $pattern\$" "$log")"
done
finish
