// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
// The calls of node.graph: a cycle, a callback of sort(), exceptions, a worker.
'use strict';
const fs = require('fs');
const { Worker, isMainThread, workerData } = require('worker_threads');

let sum = 0;

function epsilon(n) {
	for (let i = 0; i < 300; i++)
		sum = (sum * 31 + i + n) | 0;
	return sum;
}

function delta(n) {
	return epsilon(n) + epsilon(n + 1);
}

function eta(a) {
	for (let i = 0; i < 20; i++)
		sum = (sum ^ a) + i | 0;
	return a;
}

function compare(a, b) {
	return eta(a) - eta(b);
}

function alpha(n) {
	return beta(n - 1) + 1;
}

function beta(n) {
	if (n % 4 === 0)
		[5, 3, 8, 1, n].sort(compare);
	return gamma(n - 1) + 1;
}

function gamma(n) {
	if (n === -7)
		throw new Error('out');
	if (n <= 0)
		return delta(n);
	delta(n);
	return alpha(n - 1) + 1;
}

function main(end) {
	while (process.hrtime.bigint() < end)
		try {
			alpha(12);
			alpha(-5);
		} catch (error) {
			sum += error.message.length;
		}
}

function worker(end) {
	main(end);
}

function stamp(what) {
	const now = process.hrtime.bigint();

	fs.appendFileSync(process.argv[2], what + ' ' + now / 1000000000n + '.' +
		String(now % 1000000000n).padStart(9, '0') + '\n');
	return now;
}

if (isMainThread) {
	const end = stamp('begin') + BigInt(process.argv[3]) * 1000000000n;

	new Worker(__filename, { argv: process.argv.slice(2), workerData: end });
	main(end);
	stamp('end');
} else {
	worker(workerData);
}
