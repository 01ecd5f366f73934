# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Stacks of a process that sfjit was attached to are as good as promised of one
that sfjit has started.

Usage: test_attached.py RECORDINGS
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'tools', 'demo.d'),
                os.path.join(HERE, '..', 'lib')]

from case import check, finish
from sfdemo import metrics, perftext, report, truth

LEAST_SAMPLES = 500


def figures(recordings):
    walk = metrics.Walk(metrics.Modules(recordings + '/root'))
    base = recordings + '/python.attached'
    return metrics.measure(
        perftext.read(base + '.txt'), truth.Truth(base + '.truth'), walk,
        metrics.Python(walk), os.path.getsize(base + '.data'))[0]


def main(recordings):
    got = figures(recordings)
    promised = dict(report.PROMISED['python'], samples=LEAST_SAMPLES)
    for key, least in promised.items():
        check('demo python attached: %s' % key,
              got[key] is not None and got[key] >= least,
              '%s, not at least %s' % (got[key], least))
    finish()


if __name__ == '__main__':
    main(sys.argv[1])
