// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
// Eight seconds of parsing, patterns, exceptions, compression, hashes.
const zlib = require('zlib');
const crypto = require('crypto');
const vm = require('vm');

const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2);
const below = (n) => { if (!n) throw new Error('out'); below(n - 1); };
const end = Date.now() + 8000;
let turn = 0;

function work() {
	fib(14);
	JSON.parse(JSON.stringify({ a: Array(100).fill({ b: [1, 2.5, 'c'] }) }));
	'a stack of frames '.repeat(60).replace(/[aeiou]+/g, (m) => m.toUpperCase());
	for (let i = 0; i < 20; i++)
		try { below(10); } catch (e) { String(e.stack); }
	Array.from({ length: 500 }, (_, i) => i * 7919 % 1009).sort((a, b) => b - a);
	zlib.inflateSync(zlib.deflateSync(Buffer.alloc(20000, 'frames')));
	crypto.createHash('sha256').update('x'.repeat(20000)).digest('hex');
	vm.runInNewContext('let s' + turn + ' = 0; for (let i = 0; i < 99; i++) s' + turn++ + ' += i;');
	new Map(Object.entries({ a: 1n ** 200n, b: 3n ** 500n }));
	if (Date.now() < end)
		setImmediate(work);
}
work();
