# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""invariant.py NAME plain|sfjit <LINES: of the oracle, for one recording.

Plain stacks are those that frame pointers find, so the oracle's own walk must not
find more. With sfjit all that can be judged are right, once a process has its
windows, and each that ends early is counted.
"""
import os
import sys
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib')]
sys.dont_write_bytecode = True

from tap import check, finish

SAMPLES = 100
UNJUDGED_MOST = 1       # percent


def main(name, how):
    lines = [line.rstrip('\n').split('\t') for line in sys.stdin]
    samples = [words for words in lines if len(words) == 4]
    uncounted = [words[1] for words in lines if words[0] == 'uncounted']
    for mode in 'fp', 'defer':
        mine = [words[1:] for words in samples if words[0] == mode]
        reasons = Counter(words[2] for words in mine)
        wrong = {reason: number for reason, number in reasons.items()
                 if reason.startswith(('silently wrong', 'cut and wrong'))}
        unjudged = sum(number for reason, number in reasons.items()
                       if reason.startswith('not judged'))
        check(f'{name}, {mode}: samples', len(mine) >= SAMPLES, reasons)
        check(f'{name}, {mode}: none is shorter than by plain frame pointers',
              all(words[1] == '0' for words in mine), reasons)
        check(f'{name}, {mode}: at most {UNJUDGED_MOST} % cannot be judged',
              100 * unjudged <= UNJUDGED_MOST * len(mine), reasons)
        if how == 'sfjit':
            check(f'{name}, {mode}: none is wrong', not wrong, reasons)
            exact = reasons['-']
            check(f'{name}, {mode}: some are exact', exact, reasons)
    if how == 'sfjit':
        check(f'{name}: the kernel counts all that end early',
              uncounted == ['0'], lines)


main(*sys.argv[1:])
finish()
