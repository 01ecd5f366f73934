# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""What the programs bench/*-figures share."""
import json
import sys


def figure(name, value, unit, peer, peer_value, aim=None):
    """One of "figures", for bench/report; bench/json says what it is."""
    return {'name': name, 'value': value, 'unit': unit, 'peer': peer,
            'peer_value': peer_value,
            'ratio': float('%.4g' % (value / peer_value)), 'aim': aim}


def list_table(rows):
    """Lines of a table of reStructuredText; the first row is its head."""
    yield '.. list-table::'
    yield '   :header-rows: 1'
    yield ''
    for row in rows:
        for mark, cell in zip('*' + ' ' * len(row), row):
            yield ('   %s - %s' % (mark, cell)).rstrip()
    yield ''


def main(usage, result_of, table):
    """JSON of the lines of stdin, or with --table FILE the text about it."""
    if sys.argv[1:2] == ['--table'] and len(sys.argv) == 3:
        with open(sys.argv[2], encoding='utf-8') as file:
            print('\n'.join(table(json.load(file))))
        return
    if len(sys.argv) > 1:
        sys.exit(usage)
    json.dump(result_of(sys.stdin), sys.stdout, indent=1)
    print()
