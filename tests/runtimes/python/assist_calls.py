# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Calls that judge_assist.py knows. Usage: assist_calls.py SECONDS [COUNTS]

Between two functions there may be C: sorted(), a generator's next(), a class. What
the kernel has counted of each thread is appended to the file COUNTS.
"""
import sys
import threading
import time


def leaf(n):
    total = 0
    for i in range(40):
        total += i * n
    return total


def inlined(n):
    return leaf(n) + leaf(n + 1)


def descend(n):
    return inlined(n) if n == 0 else descend(n - 1)


def key(item):
    return leaf(item)


def by_c():
    return sorted(range(6), key=key)


def items():
    for n in range(6):
        yield inlined(n)


def generated():
    return sum(items())


class Made:
    def __init__(self):
        self.value = leaf(2)

    def __del__(self):
        leaf(3)


def made():
    return Made().value


def ends():
    value = Made()
    return value.value


def fails():
    leaf(1)
    raise KeyError


def caught():
    try:
        fails()
    except KeyError:
        return leaf(4)


async def waits():
    return leaf(5)


async def awaits():
    return await waits()


def run_coroutine():
    try:
        awaits().send(None)
    except StopIteration as stop:
        return stop.value


def one_round():
    descend(3)
    by_c()
    generated()
    made()
    ends()
    caught()
    run_coroutine()


def worker(end):
    one_round()
    while time.monotonic() < end:
        one_round()
    if len(sys.argv) > 2:
        write_counts(sys.argv[2])


def write_counts(path):
    with open('/proc/thread-self/unwind_assist', encoding='ascii') as counts, \
            open(path, 'a', encoding='ascii') as out:
        out.write(counts.read())


def main():
    end = time.monotonic() + float(sys.argv[1])
    thread = threading.Thread(target=worker, args=(end,))
    thread.start()
    worker(end)
    thread.join()
    print('done')


if __name__ == '__main__':
    main()
