# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: python.py HOW RUNS

Small programs of the kinds that pyperformance has. Prints lines "HOW NAME
NANOSECONDS": the least time of the processor that one takes, of so many runs
after one that is not counted. A guest that counts instructions has one each
nanosecond. With HOW "sfjit", installs the trampolines first; with "assist", can be
asked for its functions, and by turns "cannot".
"""

import json
import re
import sys
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def calls():
    fib(17)


def queens():
    def place(row, columns, up, down):
        if row == 6:
            return 1
        return sum(place(row + 1, columns | {c}, up | {c + row},
                         down | {c - row})
                   for c in range(6) if c not in columns
                   and c + row not in up and c - row not in down)
    assert place(0, frozenset(), frozenset(), frozenset()) == 4


class Task:
    def __init__(self, work):
        self.work, self.done = work, 0

    def step(self):
        self.done += 1
        return self.done < self.work


class Scheduler:
    def __init__(self, tasks):
        self.tasks = tasks

    def run(self):
        while self.tasks:
            self.tasks = [task for task in self.tasks if task.step()]


def objects():
    Scheduler([Task(n) for n in range(1, 80)]).run()


def generators():
    def tree(n):
        if n:
            yield from tree(n - 1)
            yield n
            yield from tree(n - 1)
    assert sum(tree(9)) == 1013


def floats():
    x, y, vx, vy = 1.0, 0.0, 0.0, 1.0
    for _ in range(4000):
        r = (x * x + y * y) ** -1.5
        vx, vy = vx - x * r * 0.001, vy - y * r * 0.001
        x, y = x + vx * 0.001, y + vy * 0.001


def documents():
    value = {'name': 'x' * 20, 'list': list(range(50)), 'map': {'a': None}}
    for _ in range(60):
        assert json.loads(json.dumps(value)) == value


def patterns():
    text = 'GET /a/b?c=1 HTTP/1.1 host=example.org ' * 20
    for _ in range(8):
        re.sub(r'(\w+)=([\w.]+)', lambda m: m[2] + m[1], text)


def sorting():
    values = [n * 7919 % 1000 for n in range(1000)]
    for _ in range(3):
        sorted(values, key=lambda value: -value)


PROGRAMS = calls, queens, objects, generators, floats, documents, patterns, \
    sorting


def taken(program):
    start = time.thread_time_ns()
    program()
    return time.thread_time_ns() - start


def say_least(how, program, times):
    print(how, program.__name__, min(times[1:]), flush=True)


def alone(how, runs):
    if how == 'sfjit':
        import sfjit
        sfjit.install()
    for program in PROGRAMS:
        say_least(how, program, [taken(program) for _ in range(runs + 1)])


def by_turns(runs):
    import _sample
    import sfjit
    sfjit.assist()
    for program in PROGRAMS:
        times = {'assist': [], 'cannot': []}
        for _ in range(runs + 1):
            for how, can in ('cannot', False), ('assist', True):
                _sample.ask(can)
                times[how].append(taken(program))
        for how in times:
            say_least(how, program, times[how])


def main():
    how, runs = sys.argv[1], int(sys.argv[2])
    if how == 'assist':
        by_turns(runs)
    else:
        alone(how, runs)


main()
