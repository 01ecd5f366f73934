# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""judge.py NAME STACKS LEAST MOST: of the samples in STACKS, of perf script, at
least LEAST percent are exact, and at most MOST; see tools/jits.d. With a LEAST, no
stack ends but where a function is bound when it is called for the first time, whose
CFA starts from rbx. The files are those of this machine.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib'),
                os.path.join(HERE, '../../../tools/jits.d'),
                os.path.join(HERE, '../../../tools/demo.d')]
sys.dont_write_bytecode = True

import perfscript
from tap import check, finish
from sfdemo import metrics
from sfjits import judge, native

SAMPLES = 100
MAY_BE_LOST = {'cut in ld-linux-x86-64.so.2'}


def main(name, path, least, most):
    modules = metrics.Modules('/')
    decide = judge.Judge(metrics.Walk(modules), native.Native(modules), None)
    stacks = [perfscript.user_frames(sample)
              for sample in perfscript.read(path)]
    item, _ = judge.figures(decide, stacks)
    check(f'{name}: samples', item['samples'] >= SAMPLES, item)
    exact = 100 * item['exact'] / max(item['samples'], 1)
    print(f'# {name}: {exact:.2f} % of {item["samples"]} stacks exact')
    check(f'{name}: exact stacks', least <= exact <= most, item)
    if least:
        check(f'{name}: no other is lost', item['lost'].keys() <= MAY_BE_LOST,
              item)


main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
finish()
