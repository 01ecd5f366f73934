# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: hugo
mkdir -p content layouts/_default
echo 'title = "work"' >hugo.toml
echo '{{ .Content }}{{ range .Site.RegularPages }}{{ .Title }} {{ end }}' >layouts/_default/single.html
cp layouts/_default/single.html layouts/_default/list.html
for i in $(seq 12); do
	{ echo "---"; echo "title: page $i"; echo "---"; echo "# One *two* $i"; seq 100 | sed 's/^/- item **/; s/$/**/'; } >content/p$i.md
done
run env GOMAXPROCS=1 hugo --quiet --destination out
run sh -c 'cat out/p*/index.html | cksum'
