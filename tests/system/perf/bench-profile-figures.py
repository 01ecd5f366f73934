# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""bench-profile-figures.py DIR: checks profile.json there."""
import sys

from measured import load, malformed, table
from tap import check, finish

MODES = ['none', 'fp', 'dwarf', 'windows', 'default', 'cc1-none', 'cc1']
PREFIX = 'python3 under sfjit run, 999 Hz: '
NAMES = ('instructions per frame', 'whole sample, per frame',
         'whole sample, beside fp', 'whole sample, beside dwarf',
         'frames of a stack')
CC1 = 'cc1 under sfjit run, 999 Hz: instructions per frame'
SAMPLES = 500		# of a second, at least
COPY = 8192 // 8	# words of the stack that dwarf copies


def whole(mode):
    return mode['instructions'] / mode['samples']


def main():
    content = load(sys.argv[1], 'profile', 'bench/run profile')
    wrong = malformed(content)
    check('figures for the report', not wrong, wrong)
    names = [figure['name'] for figure in content['figures']]
    promised = [PREFIX + name for name in NAMES] + [CC1]
    check('the promised figures', sorted(names) == sorted(promised), names)
    modes = content['modes']
    check('modes', list(modes) == MODES, list(modes))
    few = [name for name, mode in modes.items() if mode['samples'] < SAMPLES]
    check('samples of each', not few, modes)
    check('a callchain through windows has more frames',
          modes['windows']['frames'] / modes['windows']['samples'] >
          5 * modes['fp']['frames'] / modes['fp']['samples'], modes)
    check('a callchain costs something',
          whole(modes['none']) < whole(modes['fp']), modes)
    check('the copy of the stack costs its words',
          whole(modes['dwarf']) > whole(modes['none']) + COPY, modes)
    check('the default deadline cuts no sample', content['cut'] == 0,
          content['cut'])
    text = table(sys.argv[1], 'profile')
    check('a table for the document',
          text.count('.. list-table::') == 1, text)
    finish()


main()
