# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""page_output.py OUTPUT: what tools/jits leaves of three programs, made up.

Two have stacks for the page; python was judged by the oracle, and has none.
"""
import json
import os
import sys

KERNEL = '7.3.0-sfjit'
LOST = 'silently wrong: no edge beta < main & <b>'
RESULT = {
    'python': {mode: {'samples': 0, 'complete': 0, 'exact': 0, 'lost': {}}
               for mode in ('before', 'fp', 'defer')},
    'node': {
        'before': {'samples': 8, 'complete': 0, 'exact': 0,
                   'lost': {'cut in libc.so.6': 8}},
        'fp': {'samples': 8, 'complete': 7, 'exact': 6,
               'lost': {LOST: 1, 'cut in generated code': 1}},
        'defer': {'samples': 4, 'complete': 4, 'exact': 4, 'lost': {}},
    },
    'lli': {
        'before': {'samples': 3, 'complete': 3, 'exact': 1,
                   'lost': {'silently wrong: no edge a < b': 2}},
        'fp': {'samples': 2, 'complete': 2, 'exact': 2, 'lost': {}},
        'defer': {'samples': 2, 'complete': 2, 'exact': 2, 'lost': {}},
    },
}


def leaf(name, samples, kind):
    return {'n': name, 'v': samples, 'k': kind}


def tree(root, *children):
    nr = sum(child['v'] for child in children)
    return {'n': 'all user samples', 'v': nr, 'k': 'g', 'c': [
        {'n': root, 'v': nr, 'k': 'g', 'c': list(children)}]}


def shown(name, before, after):
    return {'trees': {'before': before, 'after': after, 'defer': after},
            'commands': {mode: 'perf record %s <%s>' % (mode, name)
                         for mode in ('before', 'fp', 'defer')},
            'kernel': KERNEL}


SHOWN = {
    'node': shown('node', tree('cut stacks: callers unknown',
                               leaf('[libc.so.6+0x1]', 8, 'l')),
                  tree('complete stacks', leaf('JS:beta', 7, 'p'),
                       leaf('</script>', 1, 'l'))),
    'lli': shown('lli', tree('complete stacks', leaf('main', 3, 'w')),
                 tree('complete stacks', leaf('jit::a', 2, 'p'))),
}


def write(path, value):
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(value, file)


def main(output):
    os.makedirs(output, exist_ok=True)
    write(output + '/result.json', RESULT)
    for name, value in SHOWN.items():
        write('%s/%s.json' % (output, name), value)


if __name__ == '__main__':
    main(*sys.argv[1:])
