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
    complete, lost, samples = Counter(), {}, Counter()
    for line in lines:
        mode, whole, reason = line.split('\t')
        samples[mode] += 1
        complete[mode] += whole == '1'
        counter = lost.setdefault(mode, Counter())
        if reason != '-':
            counter[reason] += 1
    return {mode: {
        'samples': samples[mode], 'complete': complete[mode],
        'exact': samples[mode] - sum(lost[mode].values()),
        'lost': dict(lost[mode].most_common()),
    } for mode in samples}


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
