# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""bench-figures.py DIR: checks the JSON that bench/run left there."""
import re
import sys

from measured import load, malformed, report
from tap import check, finish

KINDS = {'arg': 58, 'slot': 58, 'rbp': 59}
FILES = ('python3.13', 'libc.so.6', 'libcrypto.so.3')


def figures_of(directory, item):
    content = load(directory, item, 'bench/run ' + item)
    for figure in malformed(content):
        check(item + ' figure', False, figure)
    return {figure['name']: figure for figure in content['figures']}


def names(item, figures, promised):
    check(item + ' has the promised figures', set(figures) == set(promised),
          sorted(set(figures) ^ set(promised)))
    return set(figures) == set(promised)


def sizes(figures):
    promised = {'SFrame of a 64 KiB window, sfjit_tramp_' + kind: size
                for kind, size in KINDS.items()}
    if not names('sizes', figures, promised):
        return
    for name, size in promised.items():
        check('%s: %d bytes' % (name, size), figures[name]['value'] == size,
              figures[name]['value'])
        # One index entry and attributes for each of the 4,096 copies at least.
        check(name + ': the assembler has a copy for each slot',
              figures[name]['peer_value'] > 4096 * 21,
              figures[name]['peer_value'])


def encode(figures):
    promised = ['section of a pool window (template patch)']
    for functions in ('1 function', '1000 functions', '10000 functions'):
        name = 'section of %s of 3 rows' % functions
        promised += [name, name + ', size asked first']
    if names('encode', figures, promised):
        check('encode has a time of libsframe for each',
              all(f['peer'] == 'libsframe' and f['peer_value'] > 0
                  for f in figures.values()), figures)


def convert(figures):
    promised = []
    for file in FILES:
        promised += ['%s, size at --max-rows %d' % (file, cap)
                     for cap in (4, 8, 16, 32, 64)]
        promised += [file + ', most rows of an FDE', file + ', packed table',
                     file + ', conversion', file + ', conversion, packed']
    if not names('convert', figures, promised):
        return
    for file in FILES:
        ratio = figures[file + ', size at --max-rows 16']['ratio']
        packed = figures[file + ', packed table']['ratio']
        rows = figures[file + ', most rows of an FDE']['value']
        check(file + ': ratio at most 0.75', 0 < ratio <= 0.75, ratio)
        check(file + ': packed at most 0.5', 0 < packed <= 0.5, packed)
        check(file + ': at most 16 rows', rows <= 16, rows)


def reported(directory, figures):
    text = report(directory)
    rows = re.findall(r'^\| (.*?) \|.*\| `bench/run \w+` \|$', text, re.M)
    check('bench/report has each figure with its command',
          sorted(rows) == sorted(figures), text)


def main():
    directory = sys.argv[1]
    items = {item: figures_of(directory, item)
             for item in ('sizes', 'encode', 'convert')}
    sizes(items['sizes'])
    encode(items['encode'])
    convert(items['convert'])
    reported(directory, [name for item in items.values() for name in item])
    finish()


main()
