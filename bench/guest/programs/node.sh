# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: nodejs
cat >work.js <<'END'
const rows = Array.from({length: 1500}, (_, i) => ({key: (i * 7919) % 3001, text: 'row ' + i}));
let total = 0;
for (let round = 0; round < 2; round++) {
	const text = JSON.stringify(rows.sort((a, b) => (a.key * (round + 1)) % 97 - b.key));
	total += JSON.parse(text).filter(row => /1\d*7/.test(row.text)).length;
}
console.log(total, require('zlib').gzipSync(JSON.stringify(rows)).length);
END
run node --single-threaded work.js
