# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""crypto-figures.py DIR: checks the crypto.json that bench/run left there."""
import sys

from measured import load, report, table
from tap import check, finish

ALGORITHMS = ('rsa2048', 'ecdsap256', 'sha256', 'chacha20')
# Functions with an addend take most of their time.
ASSEMBLY = ('rsa2048', 'sha256')
SAMPLES = 100


def assembly(name, without, with_addends):
    check(name + ': most are in functions with an addend',
          2 * with_addends['assembly'] > with_addends['samples'],
          with_addends)
    check(name + ': these stacks end there without addends',
          without['assembly_exact'] < 0.1 * without['assembly'], without)
    check(name + ': they are exact with them',
          with_addends['assembly_exact'] >= 0.99 * with_addends['assembly'],
          with_addends)


def algorithm(name, by_format):
    without, with_addends = by_format['plain'], by_format['addend']
    check(name + ': samples', with_addends['samples'] >= SAMPLES and
          without['samples'] >= SAMPLES, by_format)
    if name in ASSEMBLY:
        assembly(name, without, with_addends)
    # bn_mul_mont has no rows: more of a short run than of a long one is in it.
    check(name + ': so are all, but for a few',
          with_addends['exact'] >= 0.97 * with_addends['samples'],
          with_addends)
    check(name + ': no stack down to _start lacks a function',
          with_addends['exact'] == with_addends['complete'] and
          without['exact'] == without['complete'], by_format)


def main():
    directory = sys.argv[1]
    result = load(directory, 'crypto', 'bench/run crypto')
    check('algorithms', tuple(result['algorithms']) == ALGORITHMS,
          list(result['algorithms']))
    for name, by_format in result['algorithms'].items():
        algorithm(name, by_format)
    missing = [figure['name'] for figure in result['figures']
               if '| %s |' % figure['name'] not in report(directory)]
    check('bench/report has each figure', not missing, missing)
    check('the table of Documentation/addend.rst has two rows for each',
          table(directory, 'crypto').count('   * - ') ==
          1 + 2 * len(ALGORITHMS), table(directory, 'crypto'))
    finish()


main()
