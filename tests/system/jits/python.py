# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Functions, callbacks of sort() and sub(), exceptions, generators, threads."""
import json
import re
import sys
import threading
import time
import zlib


def stamp(what):
    now = time.monotonic_ns()
    with open(sys.argv[1], 'a', encoding='ascii') as file:
        file.write('%s %d.%09d\n' % (what, now // 10**9, now % 10**9))
    return now


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def below(n):
    if not n:
        raise ValueError('out')
    below(n - 1)


def numbers(n):
    for i in range(n):
        yield i * 7919 % 1009


class Pair:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value > other.value


def work():
    fib(12)
    sorted(Pair(i) for i in numbers(100))
    try:
        below(20)
    except ValueError as error:
        str(error)
    json.loads(json.dumps([{'b': [1, 2.5, 'c']}] * 40))
    re.sub('[aeiou]+', lambda m: m[0].upper(), 'a stack of frames ' * 40)
    zlib.decompress(zlib.compress(b'frames' * 2000))


def until(end):
    while time.monotonic_ns() < end:
        work()


last = stamp('begin') + int(sys.argv[2]) * 10**9
thread = threading.Thread(target=until, args=(last,))
thread.start()
until(last)
thread.join()
stamp('end')
