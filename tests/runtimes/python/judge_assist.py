# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Judges the stacks of assist_calls.py, by names.

Usage: judge_assist.py SCRIPT COUNTS

A stack is exact if each function is called by one that calls it, up to the first.
It is wrong if it is neither exact nor without functions. Those without are no more
than questions that the kernel has counted as not answered. Stacks of the handler are
counted apart. Samples of the time when the program ran count: an interpreter that
begins is not asked yet.
"""
import sys

sys.path.append(sys.path[0] + '/../../lib')

import perfscript
from tap import check, finish

PROGRAM = 'assist_calls.py'
CALLERS = {
    'leaf': ('inlined', 'key', 'Made.__init__', 'Made.__del__', 'fails',
             'caught', 'waits'),
    'inlined': ('descend', 'items'), 'descend': ('descend', 'one_round'),
    'key': ('by_c',), 'by_c': ('one_round',),
    'items': ('generated',), 'generated': ('one_round',),
    # Where a function ends what it held is dropped, which is its caller's.
    'Made.__init__': ('made', 'ends'), 'Made.__del__': ('made', 'one_round'),
    'made': ('one_round',), 'ends': ('one_round',),
    'fails': ('caught',), 'caught': ('one_round',),
    'waits': ('awaits',), 'awaits': ('run_coroutine',),
    'run_coroutine': ('one_round',), 'one_round': ('worker',),
    'worker': ('main', 'Thread.run'), 'write_counts': ('worker',),
    'main': ('<module>',), '<module>': (None,),
    'Thread.run': ('Thread._bootstrap_inner',),
    'Thread._bootstrap_inner': ('Thread._bootstrap',),
    'Thread._bootstrap': (None,),
    # All others of threading: to start, to wait and to end.
    'threading': ('threading', 'main', 'Thread._bootstrap_inner'),
}
LOOP = '_PyEval_EvalFrameDefault'


def stacks(path):
    """[(name, file)], the innermost first, of each sample"""
    for sample in perfscript.read(path, 'tid,ip,sym,dso'):
        yield [(frame.name, frame.dso or '') for frame in sample.frames]


def functions(stack):
    """Those of Python, without the launcher's."""
    names = []
    for symbol, _ in stack:
        name, _, file = symbol.removeprefix('py::').partition(':')
        if not symbol.startswith('py::'):
            continue
        if file.endswith('/' + PROGRAM):
            names.append(name)
        elif file.endswith('/threading.py'):
            names.append(name if name in CALLERS else 'threading')
    return names


def in_handler(stack):
    for symbol, file in stack:
        if symbol.startswith(LOOP):
            return False
        if '_evaluator.' in file or 'libsfjit' in file:
            return True
    return False


def is_exact(names):
    for callee, caller in zip(names, names[1:] + [None]):
        if caller not in CALLERS.get(callee, ()):
            return False
    return bool(names)


def of_rounds(found):
    """From the first to the last sample that has the program's loop."""
    places = [i for i, stack in enumerate(found)
              if 'worker' in functions(stack)]
    return found[places[0]:places[-1] + 1] if places else []


class Counts:
    def __init__(self):
        self.all = self.exact = self.handler = self.native = 0
        self.wrong = []
        self.seen = set()

    def take(self, stack):
        names = functions(stack)
        self.all += 1
        if in_handler(stack):
            self.handler += 1
        elif is_exact(names):
            self.exact += 1
            self.seen.update(names)
        elif not names:
            self.native += 1
        else:
            self.wrong.append(names)


def not_answered(path):
    """How often the kernel's walk was given out instead, but for the handler."""
    nr = 0
    with open(path, encoding='ascii') as file:
        for line in file:
            name, number = line.split()
            if name not in ('signal', 'asked', 'answered', 'busy'):
                nr += int(number)
    return nr


def main(path, counts_path):
    counts = Counts()
    for stack in of_rounds(list(stacks(path))):
        counts.take(stack)
    outside = counts.all - counts.handler
    missed = not_answered(counts_path)
    text = '%d samples, %d exact, %d without functions (%d not answered), ' \
        '%d wrong, %d in the handler' % (
            counts.all, counts.exact, counts.native, missed,
            len(counts.wrong), counts.handler)
    check('enough samples', counts.all >= 1500, text)
    check('all that were answered have functions', counts.native <= missed, text)
    check('exact: 99.5 %', counts.exact * 1000 >= outside * 995, text)
    check('none is wrong', not counts.wrong, '%r' % counts.wrong[:5])
    check('at most 5 % in the handler', counts.handler * 20 <= counts.all, text)
    missing = set(CALLERS) - counts.seen - {'threading', 'write_counts'}
    check('each function is seen', not missing, '%r' % sorted(missing))
    print('# ' + text)
    finish()


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])
