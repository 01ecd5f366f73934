# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""check_flamegraph.py PAGE TEMPLATE: the page is the template with the stacks that
perf script -F comm,pid,ip,sym prints (stdin), each as often.
"""
import json
import os
import sys
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'lib')]
sys.dont_write_bytecode = True

import perfscript
from tap import check, finish

DATA = '<plaintext id="data">\n'


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read().partition(DATA)


def printed(lines):
    """Of perf script: (process, function, ..., leaf), and how often."""
    return Counter(
        ('%s (%d)' % (sample.comm, sample.pid),
         *(frame.name for frame in reversed(sample.frames)))
        for sample in perfscript.samples(lines, 'comm,pid,ip,sym'))


def in_tree(node, path=()):
    """The same of perf's tree."""
    stacks = Counter({path: node['v']} if node['v'] else {})
    for callee in node['c']:
        stacks += in_tree(callee, path + (callee['n'],))
    return stacks


def differences(got, want):
    return {stack: (got[stack], want[stack])
            for stack in [*got, *want] if got[stack] != want[stack]}


def main(page, template):
    around, _, data = read(page)
    check('flame graph: the page is the template', around == read(template)[0],
          'it is not')
    tree, options = (json.loads(line)[0] for line in data.splitlines())
    got, want = in_tree(tree), printed(sys.stdin)
    wrong = differences(got, want)
    check('flame graph: has the stacks of the recording, and no others',
          got and not wrong, '%d of %d: %r' % (len(wrong), len(want),
                                               list(wrong.items())[:2]))
    check('flame graph: says where it is from',
          'perf version : ' in options['context'], options)
    finish()


main(*sys.argv[1:])
