# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""bench-stacks-figures.py DIR: checks stacks.json there."""
import sys

from measured import load, malformed, table
from tap import check, finish

KEYS = {'command', 'recordings', 'parts', 'lost', 'figures'}
# bench/stacks with BENCH_QUICK, and who starts the others
PROCESSES = {'one': 1, 'cold': 3, 'many': 5}
LEAST_SAMPLES = 20      # of a process
# What a ratio to perf is at most, and to elfutils. Most of the cost of so few
# samples is to read files once.
UNWINDING, ELFUTILS, WHOLE, MEMORY = 1 / 4, 1, 1 / 4, 1 / 2
RECORDER, WRITTEN = 1, 1 / 10


def sizes(recordings):
    found = {name: one['processes'] for name, one in recordings.items()}
    check('recordings of so many processes', found == PROCESSES, found)
    for name, one in recordings.items():
        check(name + ': samples of each process',
              one['samples'] >= LEAST_SAMPLES * one['processes'], one)


def parts(of_all):
    for who, one in of_all.items():
        check(who + ': a sample costs something, a process more, the start '
              'most', 0 < one['sample'] < one['process'] < one['once'], one)
    for part, cost in of_all['perf'].items():
        check(part + ': of perf more than twice as much',
              cost > 2 * of_all['sfjit'][part], of_all)


def most(figure):
    if figure['peer'].startswith('elfutils'):
        return ELFUTILS
    for words, ratio in (('unwinding', UNWINDING), ('end to end', WHOLE),
                         (': memory', MEMORY), ('adds', RECORDER),
                         ('written', WRITTEN)):
        if words in figure['name']:
            return ratio
    return None


def ratios(figures):
    for figure in figures:
        limit = most(figure)
        if limit:
            check('%s, beside %s: at most %.3f' % (
                figure['name'], figure['peer'], limit),
                  figure['ratio'] <= limit, figure)


def losses(result):
    for name, one in result['recordings'].items():
        check(name + ': no sample is lost', one['lost'] == 0, one)
    lost = result['lost']
    check('sfjit record loses no more than perf record',
          0 <= lost['sfjit'] <= lost['perf'], lost)
    taken = next(one for one in result['figures']
                 if one['name'] == 'sfjit record: samples')
    check('sfjit record takes as many samples', taken['ratio'] > 0.97, taken)


def main():
    directory = sys.argv[1]
    result = load(directory, 'stacks', 'bench/run stacks')
    check('fields', set(result) == KEYS, sorted(set(result) ^ KEYS))
    check('figures for the report', not malformed(result), malformed(result))
    sizes(result['recordings'])
    parts(result['parts'])
    ratios(result['figures'])
    losses(result)
    text = table(directory, 'stacks')
    check('two tables for the document', text.count('.. list-table::') == 2,
          text)
    finish()


main()
