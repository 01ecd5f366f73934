# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""bench-peers-figures.py DIR: checks peers.json and the page there."""
import os
import sys

from measured import load, malformed, output, path_of, table
from tap import check, finish

KEYS = {'command', 'versions', 'programs', 'figures'}
COPIES = [size + who for size in ('dwarf8', 'dwarf64')
          for who in ('', '-perf', '-elfutils', '-sfjit')]
WAYS = {'fp', 'windows', 'record', *COPIES}
SAMPLES = 500           # of each recording, at least
# Shares of complete stacks. sfjit run takes samples before there are windows.
NONE, ALL, WINDOWS = 0.01, 1, 0.98
STACK = {'dwarf8': 8192, 'dwarf64': 65528}


def shares(ways):
    check('without frame pointers no stack is complete',
          ways['fp']['complete'] < NONE, ways['fp'])
    check('with windows stacks are complete and exact',
          ways['windows']['exact'] > WINDOWS, ways['windows'])
    for way in 'dwarf64', 'record':
        check(way + ': all stacks are complete, and exact',
              (ways[way]['complete'], ways[way]['exact']) == (ALL, ALL),
              ways[way])
    for size in STACK:
        found = {way: [ways[way][what] for what in
                       ('frames', 'complete', 'exact')]
                 for way in COPIES if way.split('-')[0] == size}
        check(size + ': perf, elfutils and sfjit find the same stacks',
              len(set(map(tuple, found.values()))) == 1, found)


def costs(program, ways):
    for way in WAYS - {way for way in COPIES if '-' in way}:
        one = ways[way]
        check(way + ': samples, and none is lost',
              one['samples'] >= SAMPLES and one['lost'] == 0, one)
        check(way + ': recording adds to the program, and not a tenth',
              1 < one['program'] / program['none'] < 1.1, one)
    for size, length in STACK.items():
        one = ways[size]
        check(size + ': the recording has the copies',
              0.9 < one['bytes'] / one['samples'] / length < 1.2, one)
        perf, other, ours = (ways['%s-%s' % (size, who)]['convert']
                             for who in ('perf', 'elfutils', 'sfjit'))
        check(size + ': sfjit inject takes least, perf most',
              ours < other < perf, (ours, other, perf))
    small = ways['record']
    check('sfjit record writes a tenth of the copies of 8 KiB, at most',
          10 * small['bytes'] < ways['dwarf8']['bytes'], small)


def page(directory):
    text = output('cat', os.path.join(directory, 'index.html'))
    check('the page has the figures and a link to them',
          'href="peers.json"' in text and 'bench/run peers' in text and
          text.count('<table>') == 5, text.count('<table>'))
    measured = os.stat(path_of(directory, 'peers')).st_mtime_ns
    os.unlink(os.path.join(directory, 'index.html'))
    output('bench/page', directory)
    again = output('cat', os.path.join(directory, 'index.html'))
    check('the page is made again', again == text, again)
    check('nothing is measured for it', measured == os.stat(
        path_of(directory, 'peers')).st_mtime_ns, measured)


def main():
    directory = sys.argv[1]
    result = load(directory, 'peers', 'bench/run peers')
    check('fields', set(result) == KEYS, sorted(set(result) ^ KEYS))
    check('one program', list(result['programs']) == ['python3'],
          list(result['programs']))
    check('versions of what takes part', {'kernel', 'linux-perf', 'QEMU'} <=
          set(result['versions']), result['versions'])
    check('figures for the report', not malformed(result), malformed(result))
    program = result['programs']['python3']
    check('ways', set(program['ways']) == WAYS,
          sorted(set(program['ways']) ^ WAYS))
    shares(program['ways'])
    costs(program, program['ways'])
    text = table(directory, 'peers')
    check('two tables for the document',
          text.count('.. csv-table::') == 2, text)
    page(directory)
    finish()


main()
