# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""bench-native-figures.py DIR: checks native.json there."""
import sys

from measured import load, malformed, table
from tap import check, finish

CHAIN = 127		# addresses of perf's longest callchain by default
INTERVAL = 96		# reads between two looks at the clock
PROBES = 25
# Reads of a step through a table besides those of the search: size and rows of
# the function, its attributes, start and info of its row at once, CFA, return
# address.
STEP_READS = 5
STEPS = 32		# in one access section, without a window
# Entry, number of changes, these by eights, id, two for the rule, two words of the
# stack: fewer where a bucket has one rule.
PACKED_READS = 5, 14
PACKED = 'pool', 'libc-packed', 'python-packed'
PACKED_STEPS = INTERVAL // 5
ALWAYS_WHOLE = ('fp', 'fp-page', 'fp-pages', 'fp-far', 'beside', 'pool',
                'libc-packed', 'python-packed', 'libc', 'python', 'legal',
                'index', 'worst-1')
WALKS = set(ALWAYS_WHOLE) | {'worst-8', 'worst-64'}
TOPMOST_READS = 2
LIMITS = ['5', '10', '20', '30', '40', '50']


def whole(walks):
    for name in ALWAYS_WHOLE:
        check(name + ': the whole callchain is there',
              walks[name]['frames'] == CHAIN, walks[name])


def reads(name, walk, least, most):
    """A topmost frame outside of windows is looked at for a call, too."""
    steps = CHAIN - 1
    check('%s: %d to %d reads a step' % (name, least, most),
          least * steps <= walk['reads'] <= most * (steps + 1) + TOPMOST_READS,
          walk)


def sections(name, walk):
    """One for each step, and one for each time that the clock was read."""
    check(name + ': one access section a step',
          CHAIN - 1 <= walk['sections'] <=
          CHAIN + walk['reads'] // (INTERVAL - 1), walk)


def shared_sections(name, walk, steps):
    """One for so many steps, and for what follows them by itself."""
    check(name + ': steps share an access section',
          (CHAIN - 1) // steps <= walk['sections'] <=
          2 * (CHAIN - 1) // steps + 2, walk)


def memory(walks):
    for name, walk in walks.items():
        check(name + ': pages, lines and reads in this order',
              0 < walk['pages'] <= walk['lines'] <= 2 * walk['reads'], walk)
    far = walks['fp-far']
    check('fp-far: two pages a frame', far['pages'] == 2 * (CHAIN - 1), far)


def main():
    directory = sys.argv[1]
    content = load(directory, 'native', 'bench/run native')
    check('figures for the report', not malformed(content),
          malformed(content))
    walks = content['walks']
    check('walks', set(walks) == WALKS, sorted(walks))
    check('limits', list(content['limits']) == LIMITS, content['limits'])
    whole(walks)
    reads('beside', walks['beside'], 2, 2)
    for name in PACKED:
        reads(name, walks[name], *PACKED_READS)
    reads('index', walks['index'], STEP_READS + PROBES - 2,
          STEP_READS + PROBES + 2)
    shared_sections('beside', walks['beside'], STEPS)
    for name in PACKED:
        shared_sections(name, walks[name], PACKED_STEPS)
    for name in ('libc', 'python', 'legal', 'index'):
        sections(name, walks[name])
    text = table(directory, 'native')
    check('two tables for the document', text.count('.. list-table::') == 2,
          text)
    finish()


main()
