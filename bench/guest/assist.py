# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: python3 -m sfjit --assist assist.py SAMPLES

What a sample of Python costs by which the kernel asks for functions. Prints lines
"HOW FUNCTIONS NATIVE ASKED WALKED": functions that call each other HOW, how many
of them the answer has and how many frames the kernel's walk, and the medians of
instructions of so many samples, asked and not asked.
"""
import sys

import _sample

DEPTHS = 0, 8, 24, 64, 120


def median_cost(samples):
    _sample.open(False)
    costs = []
    for _ in range(samples):
        costs.append(_sample.take())
    _sample.close()
    return sorted(costs)[samples // 2]


def length():
    _sample.open(True)
    _sample.take()
    return _sample.close()


def measure(samples):
    before = _sample.answered()
    _sample.ask(True)
    asked, answer = median_cost(samples), length()
    answered = _sample.answered() - before
    _sample.ask(False)
    walked, native = median_cost(samples), length()
    if answered != samples + 1 or answer <= native:
        sys.exit(f'{answered} answers to {samples + 1} samples: '
                 f'{answer} frames, the walk has {native}')
    return answer - native, native, asked, walked


def call(depth, samples):
    return call(depth - 1, samples) if depth else measure(samples)


def call_by_c(arguments):
    depth, samples = arguments
    if not depth:
        return measure(samples)
    return next(map(call_by_c, [(depth - 1, samples)]))


def main(samples):
    # Code changes while it is new.
    for _ in range(8):
        call(130, 1)
        call_by_c((40, 1))
    for depth in DEPTHS:
        print('python', *call(depth, samples), flush=True)
    for depth in DEPTHS[:3]:
        print('c', *call_by_c((depth, samples)), flush=True)


main(int(sys.argv[1]))
