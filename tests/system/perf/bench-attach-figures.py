# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""bench-attach-figures.py DIR: checks the attach.json of bench/run."""
import sys

from measured import load, malformed, report
from tap import check, finish

MAPPINGS = 34
WHAT = 'python3 stopped by sfjit attach, '
NAMES = [WHAT + 'median of 5', WHAT + 'slowest', WHAT + 'fastest',
         'python3 stopped by sfjit attach beside two busy programs for each CPU, '
         'median', 'python3 stopped for nothing, median', WHAT + 'in a guest']
# mmap(), memfd_create(), mmap(), madvise(), close(), munmap()
OTHER_CALLS = 6


def process(name, values):
    check(name + ': mappings', values['mappings'] == MAPPINGS, values)
    # The vDSO has one, and so has each other mapping of code.
    check(name + ': a window for each, at least',
          values['windows'] >= MAPPINGS - 1, values)
    check(name + ': tables', values['bytes'] > 500000, values)


def main():
    directory = sys.argv[1]
    result = load(directory, 'attach', 'bench/run attach')
    figures = result['figures']
    check('the promised figures', [f['name'] for f in figures] == NAMES,
          figures)
    check('each has a value', not malformed(result), malformed(result))
    for name in ('guest', 'here'):
        process(name, result['processes'][name])
    here = result['processes']['here']
    check('here: a call for each window, and some for memory',
          here['calls'] == here['windows'] + OTHER_CALLS, here)
    median, slowest, fastest, *_, guest = figures
    check('times are in their order', fastest['value'] <= median['value'] <=
          slowest['value'], figures)
    check('the guest counts both', 100000 < guest['peer_value'] <
          guest['value'], guest)
    text = report(directory)
    missing = [name for name in NAMES if '| %s |' % name not in text]
    check('bench/report has each figure', not missing, missing)
    finish()


main()
