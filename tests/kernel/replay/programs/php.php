<?php
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# Six seconds of arrays, patterns, closures, exceptions and JSON.

function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }

function raise_below($depth) {
	if (!$depth)
		throw new Exception('out');
	raise_below($depth - 1);
}

$end = time() + 6;
while (time() < $end) {
	fib(14);
	$numbers = array_map(fn($i) => ($i * 7919) % 1009, range(1, 500));
	usort($numbers, fn($a, $b) => array_sum([$b]) <=> array_sum([$a]));
	preg_replace_callback('/[aeiou]+/', fn($m) => strtoupper($m[0]), str_repeat('a stack of frames ', 60));
	json_decode(json_encode(['a' => array_fill(0, 60, [1, 2.5, ['b' => 'c']])]), true);
	for ($i = 0; $i < 50; $i++)
		try { raise_below(10); } catch (Exception $e) { $e->getTraceAsString(); }
	unserialize(serialize($numbers));
	hash('sha256', str_repeat('frames', 3000));
	sprintf('%s %05d %.4f', md5(implode(',', $numbers)), 7, 1 / 3);
	eval('$x = array_filter(range(1, 50), function ($v) { return $v & 1; });');
}
