# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""bench-limits-figures.py DIR: checks hostile.json and windows.json there."""
import re
import sys

from measured import load, malformed, table
from tap import check, finish

SFRAME_H = 'kernel-patches/linux/kernel/unwind/sframe.h'
CHAIN = 127		# addresses of perf's longest callchain by default
HOSTILE = {'command', 'worst_instructions', 'legal_instructions', 'ratio',
           'budget_reads', 'bound_instructions', 'worst_case', 'legal_cases',
           'cases', 'units', 'limit_us', 'limited_ns', 'limit_bound_ns',
           'limited_legal', 'deferred_worst_instructions',
           'deferred_legal_instructions', 'figures'}
INTERVAL = 32		# reads between two looks at the budget
SHORT_STEP = 40		# reads of the steps by which it is measured
WINDOWS = {'command', 'time', 'memory', 'node_bytes_max', 'escaped_bytes_max',
           'figures'}
PRESENT = [0, 1, 1000, 65535]
REGISTERED = {('up', 1), ('up', 1000), ('up', 65536), ('mixed', 65536),
              ('thinned', 32768), ('forked', 65536)}
CALLS = ('register', 'unregister', 'replace', 'munmap', 'munmap_without',
         'fork', 'page')


def complete(directory, item, command, keys):
    content = load(directory, item, command)
    check(item + ' has its fields', set(content) == keys,
          sorted(set(content) ^ keys))
    wrong = malformed(content)
    check(item + ' has figures for the report',
          content['figures'] and not wrong, wrong)
    text = table(directory, item)
    check(item + ' makes its tables', text.count('.. list-table::') == 2, text)
    return content


def budget_of_source():
    """That of a walk of 127 frames, perf's default."""
    macros = {}
    with open(SFRAME_H, encoding='utf-8') as file:
        for line in file.read().replace('\\\n', ' ').splitlines():
            match = re.match(r'#define\s+(\w+)\s+(.*?)\s*(/\*.*)?$', line)
            if match:
                macros[match[1]] = match[2]
    text = '127 * SFRAME_FRAME_BUDGET'
    while re.search(r'[A-Z]', text):
        text = re.sub(r'[A-Z]\w*', lambda name: macros[name[0]], text)
    if not re.fullmatch(r'[0-9()*+ -]+', text):
        raise ValueError('budget: ' + text)
    return eval(text)


def hostile(result):
    worst, legal = result['worst_instructions'], result['legal_instructions']
    check('worst callchain: the ratio is that of the two',
          abs(result['ratio'] * legal - worst) < legal / 1000, result['ratio'])
    check('worst callchain: within the bound',
          worst <= result['bound_instructions'], result['bound_instructions'])
    check('worst callchain: no case is more expensive',
          max(case['instructions'] for case in result['cases']) == worst,
          result['cases'])
    budget = budget_of_source()
    check('budget: that of the source', budget - SHORT_STEP <
          result['budget_reads'] <= budget + INTERVAL, result['budget_reads'])
    # The record may be of the default of before.
    check('deadline: the default', result['limit_us'] in (50, 250),
          result['limit_us'])
    check('deadline: a hostile walk would take longer',
          worst > 1000 * result['limit_us'], worst)
    check('deadline: no walk takes longer but by an interval of reads',
          result['limited_ns'] <= result['limit_bound_ns'],
          (result['limited_ns'], result['limit_bound_ns']))
    lost = [case for case in result['legal_cases'] if case['frames'] != CHAIN]
    check('legal callchains are complete', not lost, lost)


def memory(rows):
    found = {(row['order'], row['windows']) for row in rows}
    check('windows: memory of each order', found == REGISTERED,
          sorted(found ^ REGISTERED))
    for row in rows:
        name = 'windows: %d registered, order %s' % (row['windows'],
                                                     row['order'])
        check(name + ': nodes are there', row['node_bytes'] > 0, row)
        check(name + ': descriptors are charged',
              row['charged_bytes'] >= row['descriptor_bytes'] > 0, row)


def windows(result):
    present = [row['windows'] for row in result['time']]
    check('windows: calls at each number', present == PRESENT, present)
    for row in result['time']:
        missing = [call for call in CALLS if not row.get(call, 0) > 0]
        check('windows: calls with %d present' % row['windows'], not missing,
              missing)
    memory(result['memory'])
    many = [row for row in result['memory'] if row['windows'] >= 1000]
    for row in many:
        check('windows: %d, order %s: nothing escapes the charge' %
              (row['windows'], row['order']), row['charged_bytes'] >=
              row['descriptor_bytes'] + row['node_bytes'] / 1.1, row)


def main():
    directory = sys.argv[1]
    hostile(complete(directory, 'hostile', 'bench/run hostile', HOSTILE))
    windows(complete(directory, 'windows', 'bench/run windows', WINDOWS))
    finish()


main()
