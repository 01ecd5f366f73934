# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Stacks of a process that sfjit was attached to are as good as promised of one
that sfjit has started.

Usage: test_attached.py RECORDINGS
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', '..', 'tools', 'demo.d'),
                os.path.join(HERE, '..', '..', 'lib')]

import perfscript
from tap import finish
from sfdemo import metrics, report, truth
from test_figures import LEAST_SAMPLES, check_promised


def figures(recordings):
    walk = metrics.Walk(metrics.Modules(recordings + '/root'))
    base = recordings + '/python.attached'
    return metrics.measure(
        perfscript.read(base + '.txt'), truth.Truth(base + '.truth'), walk,
        metrics.Python(walk), os.path.getsize(base + '.data'))[0]


def main(recordings):
    check_promised('python attached', figures(recordings),
                   dict(report.PROMISED['python'], samples=LEAST_SAMPLES))
    finish()


if __name__ == '__main__':
    main(sys.argv[1])
