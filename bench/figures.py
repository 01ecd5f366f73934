# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""What the programs share that make or show JSON of measured lines.

The JSON names its "command", and has "figures" for bench/report:

name, value, unit	what was measured
peer, peer_value	what it is compared with, measured in the same run
ratio			value / peer_value
aim			"value" or "ratio", one of <= < = >= >, and a number or
			1/number

What there is not is null.
"""
import json
import sys


def number(text):
    value = float(text)
    return int(value) if value.is_integer() else value


def ratio(value, peer_value):
    return float('%.4g' % (value / peer_value))


def figure(name, value, unit, peer=None, peer_value=None, aim=None):
    return {'name': name, 'value': value, 'unit': unit, 'peer': peer,
            'peer_value': peer_value,
            'ratio': ratio(value, peer_value) if peer_value else None,
            'aim': aim}


def find(figures, name, peer=''):
    """The figure of this name whose peer begins like this."""
    return next(f for f in figures if f['name'] == name and
                (f['peer'] or '').startswith(peer))


def csv_table(widths, rows):
    """A table of reStructuredText; the first row is its head."""
    lines = ['.. csv-table::', '   :header-rows: 1', '   :widths: ' + widths,
             '']
    for row in rows:
        lines.append('   ' + ','.join('"%s"' % cell.replace('"', '""')
                                      for cell in row))
    return '\n'.join(lines) + '\n'


def list_table(rows):
    """Lines of a table of reStructuredText; the first row is its head."""
    yield '.. list-table::'
    yield '   :header-rows: 1'
    yield ''
    for row in rows:
        for mark, cell in zip('*' + ' ' * len(row), row):
            yield ('   %s - %s' % (mark, cell)).rstrip()
    yield ''


def write(command, results):
    json.dump({'command': command, **results}, sys.stdout, indent=1)
    print()


def main(usage, command, results_of, table=None):
    """JSON of the lines of stdin, or with --table FILE the text about it."""
    if table and sys.argv[1:2] == ['--table'] and len(sys.argv) == 3:
        with open(sys.argv[2], encoding='utf-8') as file:
            print('\n'.join(table(json.load(file))))
        return
    if len(sys.argv) > 1:
        sys.exit(usage)
    write(command, results_of(sys.stdin))
