# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""What bench/run leaves in a directory, for the tests of it."""
import json
import os
import subprocess
import sys

sys.path.append(sys.path[0] + '/../../lib')

from tap import check

FIELDS = {'name', 'value', 'unit', 'peer', 'peer_value', 'ratio', 'aim'}


def path_of(directory, item):
    return os.path.join(directory, item + '.json')


def load(directory, item, command):
    with open(path_of(directory, item), encoding='utf-8') as file:
        content = json.load(file)
    check(item + ' names its command', content['command'] == command,
          content['command'])
    return content


def malformed(content):
    return [figure for figure in content['figures']
            if set(figure) != FIELDS or not figure['value'] > 0]


def output(*command):
    return subprocess.run(command, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def report(directory):
    return output('bench/report', directory)


def table(directory, item):
    return output('bench/%s-figures' % item, '--table',
                  path_of(directory, item))
