# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""A case for each figure of a result.json: promised with sfjit, lost without.

Usage: test_figures.py RESULT [MACHINE]
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', '..', 'tools', 'demo.d'),
                os.path.join(HERE, '..', '..', 'lib')]

from tap import check, finish
from sfdemo import report

LEAST_SAMPLES = 500
# Largest values without sfjit.
LOST = {
    'c-trampolines': {'complete': 0.05, 'exact': 0.05, 'direct_caller': 0.2,
                      'windows': 0},
    'python': {'complete': 0.05, 'python_functions_per_sample': 1.0},
    'python-defer': {'complete': 0.05, 'python_functions_per_sample': 1.0},
}
# Programs have frame records there: stacks are not cut. Those of c-trampolines
# are after the first kind that takes the frame pointer.
LOST_OF = {
    'aarch64': {'c-trampolines': dict(LOST['c-trampolines'], complete=0.2)},
}


def case(good, name, value, wanted):
    check('demo ' + name, good, '%s, not %s' % (value, wanted))


def check_promised(name, figures, promised):
    for key, least in promised.items():
        value = figures[key]
        case(value is not None and value >= least, '%s: %s' % (name, key),
             value, 'at least %s' % least)


def check_assisted(workload, modes):
    check_promised(workload + ' assisted', modes.get('assisted'),
                   report.PROMISED_ASSISTED.get(workload, {}))
    if 'assisted' in modes:
        for key, most in report.MOST_ASSISTED.items():
            value = modes['assisted'][key]
            case(value <= most, '%s assisted: %s' % (workload, key), value,
                 'at most %s' % most)


def check_lost(before, workload, lost):
    for key, most in lost.items():
        value = before[key]
        case(value is not None and value <= most,
             '%s: %s is lost without sfjit' % (workload, key), value,
             'at most %s' % most)


def check_all(result, machine):
    for workload, promised in report.PROMISED.items():
        before, after = (result[workload][mode] for mode in report.MODES)
        for mode in report.modes(workload):
            nr = result[workload][mode]['samples']
            case(nr >= LEAST_SAMPLES, '%s %s: samples' % (
                workload, mode), nr, 'at least %d' % LEAST_SAMPLES)
        check_promised(workload, after, promised)
        check_assisted(workload, result[workload])
        check_lost(before, workload,
                   LOST_OF.get(machine, LOST).get(workload, {}))


def main(path, machine=''):
    with open(path, encoding='utf-8') as file:
        check_all(json.load(file), machine)
    finish()


if __name__ == '__main__':
    main(*sys.argv[1:])
