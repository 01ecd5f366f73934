# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""bench-live-figures.py DIR: checks the live.json that bench/run left there."""
import sys

from measured import load, report, table
from tap import check, finish

SIZES = ('1', '100', '1000', '10000')
COSTS = ('publish_instructions', 'replace_instructions',
         'register_unregister_instructions', 'replace_call_instructions',
         'window_instructions', 'step_instructions', 'fixed_step_instructions')
RATIOS = {'replace_ratio': 'replace_instructions',
          'register_unregister_ratio': 'register_unregister_instructions'}


def positive(name, values, keys):
    missing = [key for key in keys if not values.get(key, 0) > 0]
    check(name + ': each figure is there', not missing, missing)
    return not missing


def ratios(name, values):
    publish = values['publish_instructions']
    wrong = [key for key, peer in RATIOS.items()
             if abs(values[key] * values[peer] - publish) > publish / 1000]
    check(name + ': ratios are those of the figures', not wrong, wrong)


def size(number, values):
    name = 'window of %s functions' % number
    if not positive(name, values, COSTS):
        return
    ratios(name, values)
    # The first function of an area touches pages of its table.
    if number == '1':
        return
    # The least that a producer can pay who makes no table anew.
    floor = min(values['replace_call_instructions'],
                values['register_unregister_instructions'])
    check(name + ': publishing is cheaper than the cheapest call',
          values['publish_instructions'] < floor, values)


def reported(directory, figures):
    text = report(directory)
    missing = [figure['name'] for figure in figures
               if '| %s |' % figure['name'] not in text]
    check('bench/report has each figure', not missing, missing)


def tabled(directory):
    text = table(directory, 'live')
    check('the table of Documentation/numbers.rst has a row for each size',
          text.count('   * - ') == 1 + len(SIZES), text)


def main():
    directory = sys.argv[1]
    result = load(directory, 'live', 'bench/run live')
    positive('time of this machine', result, ('publish_ns', 'system_call_ns'))
    check('sizes', tuple(result['by_functions']) == SIZES,
          list(result['by_functions']))
    for number, values in result['by_functions'].items():
        size(number, values)
    check('the figures are those of a window of 1,000 functions',
          result['functions'] == 1000 and
          {key: result[key] for key in result['by_functions']['1000']} ==
          result['by_functions']['1000'], result)
    reported(directory, result['figures'])
    tabled(directory)
    finish()


main()
