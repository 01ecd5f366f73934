#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: order.py FILE...

Description: what litmus tests of weak memory say never happens does not, by
every order in which an Arm processor may do it; it does with each of their
orders taken out; and the code has those orders.

A model of Armv8 for programs of few words: memory is one, as stores are seen by
all others at once, and a processor does what it likes in any order but for

* accesses of the same variable,
* a store with release semantics, which is after all before it,
* a load with acquire semantics, which is before all after it,
* fences, of loads (also before stores after it), of stores, and of both,
* an address that a load tells.

No thread reads what itself has stored, so that nothing is said of that.

A comment `code: FILE: FUNCTION: ONE..OTHER' says that the function has both, one
behind the other.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, '..', '..', '..')
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib')]

from tap import check, finish

STATEMENTS = (
    ('store', r'WRITE_ONCE\(\*(\w+), (\w+)\);'),
    ('release', r'smp_store_release\((\w+), (\w+)\);'),
    ('load', r'(\w+) = READ_ONCE\(\*(\w+)\);'),
    ('acquire', r'(\w+) = smp_load_acquire\((\w+)\);'),
    ('fence', r'smp_(rmb|wmb|mb)\(\);'),
    ('', r'int \**\w+;'))
ORDERS = {'release': 'store', 'acquire': 'load', 'fence': None}
STORES = ('store', 'release')
LOADS = ('load', 'acquire')


class Litmus:
    """Initial memory, statements of each thread, and what never happens."""

    def __init__(self, text):
        self.code = re.findall(r'^ \* code: (.*)$', text, re.M)
        text = re.sub(r'\(\*.*?\*\)', '', text, flags=re.S)
        self.memory = dict(re.findall(r'(\w+)=&?(\w+);', text))
        self.threads = [self.statements(body) for body in
                        re.findall(r'^P\d\(.*?\)\n\{\n(.*?)^\}', text,
                                   re.M | re.S)]
        never = re.search(r'^exists (.*)', text, re.M | re.S)[1]
        never = re.sub(r'(\d):(\w+)=(\w+)',
                       r'(regs[\1].get("\2") == "\3")', never)
        self.never = compile(never.replace('/\\', 'and').replace('\\/', 'or'),
                             'exists', 'eval')

    @staticmethod
    def statements(body):
        result = []
        for line in filter(None, map(str.strip, body.splitlines())):
            for kind, pattern in STATEMENTS:
                match = re.fullmatch(pattern, line)
                if match:
                    break
            else:
                raise ValueError(f'not known: {line}')
            if kind:
                result.append((kind, *match.groups()))
        return result

    def weaker(self):
        """(what was taken out, all threads without it), for each order."""
        for nr, thread in enumerate(self.threads):
            for at, (kind, *rest) in enumerate(thread):
                if kind not in ORDERS:
                    continue
                plain = [(ORDERS[kind], *rest)] if ORDERS[kind] else []
                threads = list(self.threads)
                threads[nr] = thread[:at] + plain + thread[at + 1:]
                yield f'{kind} {rest[0]} of P{nr}', threads

    def happens(self, threads):
        return any(eval(self.never, {'regs': regs})
                   for regs in outcomes(threads, self.memory))


def variable(statement):
    """What is accessed; a register if that tells it."""
    return statement[1] if statement[0] in STORES else statement[2]


def fenced(thread, first, second):
    """Does a fence between the two order them?"""
    before, after = thread[first][0], thread[second][0]
    for kind, *rest in thread[first + 1:second]:
        if kind == 'fence' and (
                rest[0] == 'mb' or
                (rest[0] == 'rmb' and before in LOADS) or
                (rest[0] == 'wmb' and before in STORES and after in STORES)):
            return True
    return False


def ordered(thread, first, second):
    one, two = thread[first], thread[second]
    if one[0] == 'acquire' or two[0] == 'release':
        return True
    if variable(one) == variable(two):
        return True
    if one[0] in LOADS and one[1] == variable(two):
        return True
    return fenced(thread, first, second)


def before(thread):
    """Of each access, those that have to be done before it."""
    accesses = [i for i, one in enumerate(thread) if one[0] != 'fence']
    return {i: frozenset(j for j in accesses if j < i and ordered(thread, j, i))
            for i in accesses}


def do(statement, memory, regs):
    """Memory and registers after it."""
    if statement[0] in STORES:
        _, to, value = statement
        return {**memory, to: value}, regs
    _, register, name = statement
    name = regs.get(name, name)
    return memory, {**regs, register: memory.get(name, '0')}


def outcomes(threads, memory):
    """Registers of all threads, at each end."""
    needs = [before(thread) for thread in threads]
    start = (tuple(frozenset() for _ in threads), memory,
             tuple({} for _ in threads))
    left, seen = [start], set()
    while left:
        done, memory, regs = state = left.pop()
        if repr(state) in seen:
            continue
        seen.add(repr(state))
        ended = True
        for nr, thread in enumerate(threads):
            for at, first in needs[nr].items():
                if at in done[nr]:
                    continue
                ended = False
                if not first <= done[nr]:
                    continue
                new, mine = do(thread[at], memory, regs[nr])
                left.append((done[:nr] + (done[nr] | {at},) + done[nr + 1:],
                             new, regs[:nr] + (mine,) + regs[nr + 1:]))
        if ended:
            yield regs


def body_of(path, function):
    """The function's text, or an empty one."""
    with open(os.path.join(TOP, path), encoding='utf-8') as file:
        text = file.read()
    match = re.search(rf'^[^\s#].*?\b{function}\([^;]*?\)\n\{{\n(.*?)^\}}', text,
                      re.M | re.S)
    return match[1] if match else ''


def in_order(text, parts):
    at = 0
    for part in parts:
        at = text.find(part, at) + 1
        if not at:
            return False
    return True


def check_file(path):
    name = os.path.basename(path).removesuffix('.litmus')
    with open(path, encoding='utf-8') as file:
        litmus = Litmus(file.read())
    check(f'{name} never happens', not litmus.happens(litmus.threads),
          'it does')
    for what, threads in litmus.weaker():
        check(f'{name} happens without {what}', litmus.happens(threads),
              'it does not: nothing needs that order')
    for line in litmus.code:
        source, function, parts = line.split(': ', 2)
        text = re.sub(r'\s+', ' ', body_of(source, function))
        check(f'{name}: {function} has {parts}',
              in_order(text, parts.split('..')), f'not in {source}')


def main():
    for path in sys.argv[1:]:
        check_file(path)
    finish()


if __name__ == '__main__':
    main()
