# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""check.py RESULT LEAST NAME...: what tools/jits found against `least'."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib')]
sys.dont_write_bytecode = True

from tap import check, finish

MODES = ('before', 'fp', 'defer')
SILENT = 'silently wrong'
# Cut, with frames that are none of the stack's.
WRONG = 'cut and wrong'
# The oracle has no truth for these, whether they are complete or not: there is code
# without call frame information, or the oracle itself has failed.
FAILED = 'not judged'
UNKNOWN = FAILED, 'uncertain'
FAILED_MOST = 1
# Whoever follows call frame information is led astray there: such a stack ends
# as it should. More of them than programs go on in handlers are something else.
FALSE = 'cut where call frame information is false'
FALSE_MOST = 1
SAMPLES = 100


def read_least(path):
    """NAME -> the percentages of its line."""
    with open(path, encoding='utf-8') as file:
        lines = [line.partition('#')[0].split() for line in file]
    return {line[0]: [float(word) for word in line[1:]]
            for line in lines if line}


def percent(part, whole):
    return 100 * part / whole if whole else 0


def lost(item, kind):
    return sum(n for reason, n in item['lost'].items()
               if reason.startswith(kind))


def judged(item):
    return item['samples'] - lost(item, UNKNOWN)


def adds_up(item):
    """Each is exact or has a reason, and complete ones are not cut."""
    known = item['exact'] + lost(item, SILENT)
    return item['exact'] + sum(item['lost'].values()) == item['samples'] and \
        known <= item['complete'] <= known + lost(item, UNKNOWN)


def program(name, result, least):
    before, fp, defer, wrong = least
    for mode in MODES:
        item = result[mode]
        check(f'{name}, {mode}: samples', judged(item) >= SAMPLES, item)
        check(f'{name}, {mode}: each is exact or has a reason', adds_up(item),
              item)
        check(f'{name}, {mode}: the oracle fails for at most {FAILED_MOST} %',
              percent(lost(item, FAILED), item['samples']) <= FAILED_MOST,
              item)
    item = result['before']
    check(f'{name}: without sfjit none is shorter than by plain frame pointers',
          not item.get('shorter'), item)
    check(f'{name}: without sfjit at most {before} % are exact',
          percent(item['exact'], judged(item)) <= before, item)
    for mode, exact in (('fp', fp), ('defer', defer)):
        item = result[mode]
        false = lost(item, FALSE)
        check(f'{name}, {mode}: at least {exact} % are exact, or end where '
              'call frame information is false',
              percent(item['exact'] + false, judged(item)) >= exact, item)
        check(f'{name}, {mode}: at most {FALSE_MOST} % end there',
              percent(false, judged(item)) <= FALSE_MOST, item)
        check(f'{name}, {mode}: at most {wrong} % are silently wrong',
              percent(lost(item, SILENT), judged(item)) <= wrong, item)
        check(f'{name}, {mode}: no stack is shorter than by plain frame '
              'pointers', not item.get('shorter'), item)
        check(f'{name}, {mode}: at most {wrong} % are cut and wrong',
              percent(lost(item, WRONG), judged(item)) <= wrong, item)
        # What an oracle judges has no graph.
        check(f'{name}, {mode}: each call that has to be is among them',
              not item.get('unseen'), item)


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        result = json.load(file)
    least = read_least(sys.argv[2])
    for name in sys.argv[3:]:
        check(f'{name}: has been recorded', name in result, list(result))
        if name in result:
            program(name, result[name], least[name])
    finish()


main()
