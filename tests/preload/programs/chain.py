# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""chain.py SECONDS: calls functions, says that it is ready, and calls them so
long."""
import sys
import time


def leaf(n):
    return sum(i * i % 7 for i in range(n))


class Worker:
    def step(self, n):
        return [leaf(i) for i in (n, n)]


def outer(seconds):
    worker = Worker()
    # All of its own is there then.
    for _ in range(100):
        worker.step(200)
    print('ready', flush=True)
    until = time.process_time() + seconds
    while time.process_time() < until:
        worker.step(200)


outer(float(sys.argv[1]))
