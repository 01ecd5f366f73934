# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""test_programs.py DIRECTORY: the table of bench/programs, of known lines."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, '../../..')
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib')]
sys.dont_write_bytecode = True

from tap import check_each, finish

FIGURES = os.path.join(TOP, 'bench/programs-figures')
DIRECTORY = sys.argv[1]


def sample(name, mode, number, *words):
    return '\t'.join(['sample', name, mode, str(number), *words])


# One of each class, in hundredths.
LINES = [
    sample('prog', 'sfjit', 50, 'fp', '1', '0', '-'),
    sample('prog', 'sfjit', 20, 'fp', '0', '2', 'cut in libc.so.6'),
    sample('prog', 'sfjit', 10, 'fp', '1', '0', 'silently wrong: x'),
    sample('prog', 'sfjit', 8, 'fp', '0', '0', 'cut and wrong: x'),
    sample('prog', 'sfjit', 6, 'fp', '1', '0', 'uncertain above x'),
    sample('prog', 'sfjit', 4, 'fp', '0', '0', 'not judged: x'),
    sample('prog', 'sfjit', 2, 'fp', '0', '0', 'early cut in x'),
    sample('prog', 'sfjit', 7, 'defer', '1', '0', '-'),
    sample('prog', 'sfjit', 1, 'counted', 'no_fde', '17'),
    sample('prog', 'sfjit', 1, 'uncounted', '3'),
    sample('prog', 'sfjit', 2, 'uncounted', '1'),
    sample('prog', 'plain', 9, 'fp', '0', '0', 'cut in prog'),
    'same\tprog\t1', 'failed\tother\tsfjit',
]
ROW = ['prog', '100', '66.0', '50.0', '20.0', '18.0', '6.0', '4.0', '2.0',
       '20.0', '5', 'yes']


def json_of(name, lines):
    path = os.path.join(DIRECTORY, name)
    with open(path, 'w', encoding='utf-8') as file:
        subprocess.run([FIGURES], input=''.join(line + '\n' for line in lines),
                       text=True, check=True, stdout=file)
    return path


def table(*paths):
    """The words of each line, but its reasons."""
    said = subprocess.run([FIGURES, '--text', *paths], text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    return [line.split() for line in said.splitlines()]


def equal(got, want):
    if got != want:
        raise AssertionError('%r, not %r' % (got, want))


def test_each_class():
    _, failed, row = table(json_of('now', LINES))
    equal(row[:len(ROW)], ROW)
    equal(' '.join(row[len(ROW):]), 'cut in libc.so.6 20.0 %; '
          'silently wrong: x 10.0 %')
    equal((failed[0], ' '.join(failed[-2:])), ('other', 'failed, sfjit'))


def test_modes_and_counts():
    with open(json_of('now', LINES), encoding='utf-8') as file:
        program = json.load(file)['programs']['prog']
    equal(program['sfjit']['counted'], {'no_fde': 17})
    equal(program['sfjit']['defer']['exact'], 7)
    equal(program['plain']['fp']['lost'], {'cut in prog': 9})


def test_another_behaviour():
    _, row = table(json_of('now', LINES[:-2] + ['same\tprog\t0']))
    equal(row[len(ROW) - 1], 'NO')


def test_before_and_after():
    before = [line.replace('\t50\tfp', '\t150\tfp') for line in LINES]
    _, _, row = table(json_of('now', LINES), json_of('before', before))
    equal(row[:5], ['prog', '200>100', '83.0>66.0', '75.0>50.0', '10.0>20.0'])
    equal(row[len(ROW) - 2:len(ROW)], ['5', 'yes'])


def test_what_frame_pointers_lose():
    lines = LINES[:-1] + [
        sample('prog', 'plain', 30, 'fp', '1', '0', '-'),
        sample('prog', 'plain', 11, 'fp', '1', '0', 'silently wrong: another '
               'caller of the topmost function in prog')]
    said = subprocess.run([FIGURES, '--frame-pointers', json_of('now', lines)],
                          text=True, check=True, stdout=subprocess.PIPE).stdout
    cells = [line.split('- ', 1)[1] for line in said.splitlines() if '- ' in line]
    equal(cells[10:], ['prog', '50', '60.0 %', '22.0 %', '18.0 %', '66.0 %',
                       '50.0 %', '6.0 %', '18.0 %', '20.0 %'])


check_each('programs:', list(globals().items()))
finish()
