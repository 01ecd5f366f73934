# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

"""Six seconds of strings, regular expressions, classes, threads, signals."""
import decimal
import json
import re
import signal
import threading
import time
import zlib

END = time.monotonic() + 6


class Tree:
    def __init__(self, depth):
        self.kids = [Tree(depth - 1) for _ in range(2)] if depth else []

    def __len__(self):
        return 1 + sum(len(kid) for kid in self.kids)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def deep(n):
    return sorted(range(300), key=lambda x: -x)[0] if not n else deep(n - 1)


def work():
    fib(12)
    deep(40)
    len(Tree(6))
    json.loads(json.dumps({'a': [1, 2.5, {'b': 'c' * 30}] * 40}))
    re.sub('[aeiou]+', lambda m: m.group(0) * 2, 'a frame of a stack' * 30)
    zlib.decompress(zlib.compress(b'stack frames' * 4000))
    decimal.getcontext().prec = 60
    sum((decimal.Decimal(i).sqrt() for i in range(60)), decimal.Decimal(0))
    '|'.join(str(x) for x in range(2000)).split('|')
    {i: str(i) for i in range(2000)}


def until_end():
    while time.monotonic() < END:
        work()


signal.signal(signal.SIGALRM, lambda *_: fib(16))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
thread = threading.Thread(target=until_end)
thread.start()
until_end()
thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
