# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Stacks against those that libdw finds with the registers and the copy of the
stack of the same sample: what tests/system/jits/oracle.c says, as judge.figures().
"""
import os
import subprocess
from collections import Counter


class OracleError(Exception):
    pass


def figures(lines):
    """By fp or defer: what result.json has of these lines."""
    items = {}
    for line in lines:
        mode, *words = line.split('\t')
        if len(words) != 3:
            continue
        whole, lacking, reason = words
        item = items.setdefault(mode, {
            'samples': 0, 'complete': 0, 'exact': 0, 'shorter': 0,
            'lost': Counter()})
        item['samples'] += 1
        item['complete'] += whole == '1'
        item['shorter'] += lacking != '0'
        if reason == '-':
            item['exact'] += 1
        else:
            item['lost'][reason] += 1
    return {mode: {**item, 'lost': dict(item['lost'].most_common())}
            for mode, item in items.items()}


def run(recording, root, truth):
    build = os.environ.get('O', 'build')
    end = truth.end if truth.end is not None else 2 ** 63
    if os.path.exists(recording + '.gz'):
        subprocess.run(['gzip', '-d', recording + '.gz'], check=True)
    done = subprocess.run(
        [build + '/tests/system/jits/oracle', recording, root, str(truth.begin),
         str(end)], text=True, stdout=subprocess.PIPE)
    if done.returncode:
        raise OracleError('%s: oracle: status %d' % (
            recording, done.returncode))
    return figures(done.stdout.splitlines())
