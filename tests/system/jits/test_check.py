# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""test_check.py DIRECTORY: what check.py says of known figures."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib')]
sys.dont_write_bytecode = True

from tap import check_each, finish

DIRECTORY = sys.argv[1]
CUT, SILENT = 'cut in libc.so.6', 'silently wrong: another caller in libc.so.6'
UNKNOWN = ('uncertain above generated code',
           'not judged: stack copy too short',
           'not judged: libdw does not take libnode.so.115')
WRONG = 'cut and wrong: another caller in libc.so.6'
FALSE = 'cut where call frame information is false: libgcc_s.so.1'
ENDS = 'cut where call frame information ends: generated code'
LEAST = 'prog\t1\t99\t99\t0.5\n'
SUMS, SAMPLES = 'each is exact or has a reason', 'samples'
EXACT = 'at least 99.0 % are exact, or end where call frame information is false'
SHORTER = 'no stack is shorter than by plain frame pointers'
FAILS = 'the oracle fails for at most 1 %'
ASTRAY = 'at most 1 % end there'


def write(name, text):
    path = '%s/%s' % (DIRECTORY, name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return path


def figures(samples, complete, exact, **lost):
    names = {'cut': CUT, 'false': FALSE, 'ends': ENDS, 'silent': SILENT,
             'unknown': UNKNOWN[0], 'short': UNKNOWN[1], 'file': UNKNOWN[2],
             'wrong': WRONG}
    return {'samples': samples, 'complete': complete, 'exact': exact,
            'lost': {names[key]: n for key, n in lost.items()}}


BEFORE = figures(100, 0, 0, cut=100)
GOOD = figures(100, 100, 100)


def wrong(item, before=BEFORE):
    """The cases that fail of a program whose figures with fp are @item."""
    result = {'prog': {'before': before, 'fp': item, 'defer': GOOD}}
    said = subprocess.run(
        [sys.executable, '-B', HERE + '/check.py',
         write('result', json.dumps(result)), write('least', LEAST), 'prog'],
        text=True, stdout=subprocess.PIPE)
    found = [line.split(': ')[1] for line in said.stdout.splitlines()
             if line.startswith('not ok ')]
    if said.returncode != bool(found) or 'ok 1 - ' not in said.stdout:
        raise AssertionError(said)
    return found


def equal(got, want):
    if got != want:
        raise AssertionError('%r, not %r' % (got, want))


def test_all_exact():
    equal(wrong(GOOD), [])


def test_what_nobody_can_judge_may_be_complete():
    equal(wrong(figures(300, 300, 110, unknown=190)), [])


def test_where_the_oracle_fails():
    equal(wrong(figures(300, 300, 297, short=3)), [])
    equal(wrong(figures(300, 300, 296, short=4)), [FAILS])
    equal(wrong(figures(300, 300, 296, file=4)), [FAILS])
    equal(wrong(figures(300, 300, 110, unknown=187, short=3)), [])


def test_what_nobody_can_judge_may_be_cut():
    equal(wrong(figures(300, 110, 110, unknown=190)), [])
    equal(wrong(figures(300, 200, 110, unknown=190)), [])


def test_what_is_cut_is_not_complete():
    equal(wrong(figures(300, 300, 299, cut=1)), [SUMS])
    equal(wrong(figures(300, 300, 210, unknown=89, cut=1)), [SUMS])
    equal(wrong(figures(300, 299, 210, unknown=89, cut=1)), [])


def test_what_is_exact_is_complete():
    equal(wrong(figures(300, 299, 300)), [SUMS])
    equal(wrong(figures(300, 109, 110, unknown=190)), [SUMS])


def test_what_is_silently_wrong_is_complete():
    equal(wrong(figures(1000, 1000, 999, silent=1)), [])
    equal(wrong(figures(1000, 999, 999, silent=1)), [SUMS])


def test_each_has_a_reason():
    equal(wrong(figures(300, 300, 299)), [SUMS])


def test_shares_are_of_what_is_judged():
    equal(wrong(figures(1000, 1000, 99, unknown=900, silent=1)),
          ['at most 0.5 % are silently wrong'])
    equal(wrong(figures(1000, 98, 98, unknown=900, cut=2)), [EXACT])
    equal(wrong(GOOD, figures(1000, 2, 2, unknown=900, cut=98)),
          ['without sfjit at most 1.0 % are exact'])


def test_where_call_frame_information_is_false():
    equal(wrong(figures(1000, 990, 990, false=10)), [])
    equal(wrong(figures(1000, 980, 980, false=10, cut=10)), [])
    equal(wrong(figures(1000, 979, 979, false=10, cut=11)), [EXACT])
    equal(wrong(figures(1000, 989, 989, false=11)), [ASTRAY])
    equal(wrong(GOOD, figures(1000, 10, 10, false=500, cut=490)), [])


def test_where_it_ends_is_not_where_it_is_false():
    equal(wrong(figures(1000, 989, 989, ends=11)), [EXACT])


def test_each_call_is_seen():
    equal(wrong(dict(GOOD, unseen=[])), [])
    equal(wrong(dict(GOOD, unseen=['b < a'])),
          ['each call that has to be is among them'])
    equal(wrong(GOOD, dict(BEFORE, unseen=['b < a'])), [])


def test_what_is_wrong_may_be_cut():
    equal(wrong(figures(1000, 995, 995, wrong=5)), [])
    equal(wrong(figures(1000, 994, 994, wrong=6)),
          ['at most 0.5 % are cut and wrong'])


def test_none_is_shorter():
    equal(wrong(dict(GOOD, shorter=0)), [])
    equal(wrong(dict(GOOD, shorter=1)), [SHORTER])
    equal(wrong(GOOD, dict(BEFORE, shorter=1)),
          ['without sfjit none is shorter than by plain frame pointers'])


def test_too_few_are_judged():
    equal(wrong(figures(1000, 1000, 99, unknown=901)), [SAMPLES])


check_each('jits check:', list(globals().items()))
finish()
