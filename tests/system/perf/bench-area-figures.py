# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""bench-area-figures.py DIR: checks the area.json that bench/run left there."""
import sys

from measured import load, malformed, report, table
from tap import check, finish

WHERE = ('apart', 'anywhere', 'turns')
THREADS = ['1', '2', '4', '8', '16']
SIZES = ('100', '1000', '10000')
SAME = 1.1		# of a change, in areas of any size
LEAST = 10		# times as much for REPLACE, without gathering changes


def threads(times):
    check('threads: each way', tuple(times) == WHERE, list(times))
    for where, values in times.items():
        check('threads: ' + where, list(values) == THREADS and
              all(value > 0 for value in values.values()), values)


def changes(costs):
    check('changes: sizes', tuple(costs) == SIZES, list(costs))
    for size, values in costs.items():
        check('%s functions: the call is a part of REPLACE' % size,
              0 < values['call'] < values['replace'], values)
        check('%s functions: a change of the area is cheaper' % size,
              LEAST * values['area'] < values['replace'], values)
        check('%s functions: and cheaper than the call alone' % size,
              values['area'] < values['call'], values)
    areas = [values['area'] for values in costs.values()]
    check('a change of an area costs the same in any',
          max(areas) <= SAME * min(areas), areas)


def main():
    directory = sys.argv[1]
    content = load(directory, 'area', 'bench/run area')
    check('figures for the report', not malformed(content),
          malformed(content))
    threads(content['threads'])
    changes(content['changes'])
    text = report(directory)
    missing = [figure['name'] for figure in content['figures']
               if '| %s |' % figure['name'] not in text]
    check('bench/report has each figure', not missing, missing)
    text = table(directory, 'area')
    check('a row for each way and for each size', text.count('   * - ') ==
          2 + len(WHERE) + len(SIZES), text)
    finish()


main()
