# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Demo workload: a small log analyser that uses the standard library.

Usage: workload.py STAMP-FILE SECONDS

Access logs are made up, parsed with re, kept in sqlite3 with functions written
in Python, reported as json and packed with zlib, by three threads, for SECONDS.
Nothing here knows about trampolines or profilers but stamp(), which tells the
analysis when all has been done once and when it ends: shared libraries have been
loaded, and registered, by then, and functions of them been bound, which the
dynamic linker does in code that no row of SFrame describes.
"""
import json
import random
import re
import sqlite3
import sys
import threading
import time
import zlib

LINE = re.compile(
    r'(?P<host>[\w.]+) - (?P<user>\S+) \[(?P<when>[^\]]+)\] '
    r'"(?P<verb>[A-Z]+) (?P<path>[^" ]+)" (?P<status>\d{3}) (?P<size>\d+)')
NUMBER = re.compile(r'\d+')
PATHS = ['/', '/login', '/item/17', '/item/4711/edit', '/search?q=trampoline',
         '/static/site.css', '/api/v1/users/42/orders/7']


def stamp(path, what):
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    with open(path, 'a') as out:
        out.write('%s %d.%09d\n' % (what, *divmod(now, 10 ** 9)))


def make_line(rng):
    return '%s.example - %s [%02d/Nov/2026] "%s %s" %d %d' % (
        rng.choice('abcdefgh'), rng.choice(('-', 'ann', 'bob')),
        rng.randint(1, 30), rng.choice(('GET', 'POST')), rng.choice(PATHS),
        rng.choice((200, 200, 200, 304, 404, 500)), rng.randint(0, 90000))


def generalise(path):
    return NUMBER.sub(lambda match: '<%d>' % len(match.group()), path)


def parse(lines):
    for line in lines:
        match = LINE.match(line)
        if match:
            fields = match.groupdict()
            fields['path'] = generalise(fields['path'])
            yield fields


def weight(status, size):
    """Called by SQLite for each row."""
    return size // 10 if status >= 400 else size


class Spread:
    """Aggregate for SQLite: largest less smallest."""

    def __init__(self):
        self.low, self.high = sys.maxsize, 0

    def step(self, value):
        self.low = min(self.low, value)
        self.high = max(self.high, value)

    def finalize(self):
        return self.high - self.low


def open_store():
    store = sqlite3.connect(':memory:')
    store.create_function('weight', 2, weight)
    store.create_aggregate('spread', 1, Spread)
    store.execute('CREATE TABLE hit (host, path, status INTEGER, size INTEGER)')
    return store


def fill(store, records):
    store.execute('DELETE FROM hit')
    store.executemany(
        'INSERT INTO hit VALUES (?, ?, ?, ?)',
        ((r['host'], r['path'], int(r['status']), int(r['size']))
         for r in records))


def summary(store):
    rows = store.execute(
        'SELECT path, count(*), sum(weight(status, size)), spread(size) '
        'FROM hit GROUP BY path')
    return {path: {'hits': hits, 'weight': total, 'spread': spread}
            for path, hits, total, spread in rows}


def nest(value, depth):
    """A tree of one node per level, as reports of reports are."""
    return value if depth == 0 else {'part': nest(value, depth - 1)}


class Encoder(json.JSONEncoder):
    def default(self, o):
        return sorted(o, key=lambda item: str(item))


def report(result, lines):
    users = {line.split(' ', 3)[2] for line in lines}
    tree = nest({'paths': result, 'users': users}, 4)
    text = json.dumps(tree, cls=Encoder, indent=1, sort_keys=True)
    return json.loads(text, object_hook=lambda d: d), text


def pack(text):
    data = text.encode()
    packed = zlib.compress(data, 6)
    if zlib.decompress(packed) != data:
        raise ValueError('zlib')
    return zlib.crc32(packed)


def one_round(store, rng):
    lines = [make_line(rng) for _ in range(60)]
    fill(store, parse(lines))
    tree, text = report(summary(store), lines)
    return pack(text + '\n'.join(lines))


def worker(seed, seconds, results):
    rng = random.Random(seed)
    store = open_store()
    deadline = time.monotonic() + seconds
    rounds = 0
    while not rounds or time.monotonic() < deadline:
        one_round(store, rng)
        rounds += 1
    results.append(rounds)


def run(seconds):
    """For so long, but at least once each."""
    results = []
    threads = [threading.Thread(target=worker, args=(n, seconds, results))
               for n in range(2)]
    for thread in threads:
        thread.start()
    worker(2, seconds, results)
    for thread in threads:
        thread.join()
    return sum(results)


def main():
    run(0)
    stamp(sys.argv[1], 'begin')
    rounds = run(float(sys.argv[2]))
    stamp(sys.argv[1], 'end')
    print('%d rounds' % rounds)


if __name__ == '__main__':
    main()
