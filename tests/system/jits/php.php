<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
// Functions, callbacks of usort() and preg_replace_callback(), exceptions.
[, $file, $seconds] = $argv;

function stamp($what)
{
	global $file;
	[$sec, $nsec] = hrtime();
	file_put_contents($file, sprintf("%s %d.%09d\n", $what, $sec, $nsec),
		FILE_APPEND);
}

function fib($n)
{
	return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

function below($n)
{
	if (!$n)
		throw new Exception('out');
	below($n - 1);
}

function numbers($n)
{
	for ($i = 0; $i < $n; $i++)
		yield $i * 7919 % 1009;
}

function work()
{
	fib(14);
	$list = iterator_to_array(numbers(300));
	usort($list, fn($a, $b) => $b <=> $a);
	try {
		below(20);
	} catch (Exception $e) {
		$e->getTraceAsString();
	}
	json_decode(json_encode(array_fill(0, 40, ['b' => [1, 2.5, 'c']])));
	preg_replace_callback('/[aeiou]+/', fn($m) => strtoupper($m[0]),
		str_repeat('a stack of frames ', 40));
	hash('sha256', str_repeat('x', 20000));
	unserialize(serialize($list));
	array_map('fib', [5, 6, 7]);
}

stamp('begin');
$last = hrtime(true) + $seconds * 1000000000;
while (hrtime(true) < $last)
	work();
stamp('end');
