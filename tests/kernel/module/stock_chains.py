# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""A stack of python3 by the windows of the module, and by DWARF."""
import re
import subprocess

EVENT = 'syscalls:sys_enter_getppid'
CALLS = 'import os\ndef f(n): f(n - 1) if n else os.getppid()\n'


def chains(command, *options):
    """Of the samples: addresses in files by perf 6.1, in memory by newer ones."""
    data = '/tmp/stock.data'
    subprocess.run(['perf', 'record', '-q', '-o', data, *options, '--', *command],
                   check=True)
    text = subprocess.run(
        ['perf', 'script', '--no-inline', '-i', data, '-F', 'event,ip'],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    return [[int(word, 16) for word in re.findall(r'^\s+([0-9a-f]+)\s*$',
                                                  sample, re.M)]
            for sample in text.split('\n\n') if sample.strip()]


def once(run):
    """A stack in a child of python3 that the command RUN starts: by frame pointers
    or windows and by DWARF, of the same system call."""
    return chains([*run, 'python3', '-c',
                   CALLS + 'os.wait() if os.fork() else f(5)'],
                  '-e', f'{EVENT}/call-graph=fp/',
                  '-e', f'{EVENT}/call-graph=dwarf,stack-size=65528/')


def twice(run):
    """The same for perf 6.1, which has no callers by DWARF in a child, after a
    second exec, or if the event says the kind."""
    python = ['python3', '-c', CALLS + 'f(5)']
    return (chains([*run, *python], '-e', EVENT, '--call-graph=fp') +
            chains(python, '-e', EVENT, '--call-graph=dwarf,65528'))


def same(one, other):
    """The same calls; DWARF's addresses are one byte before ours."""
    if len(one) < 15 or len(one) != len(other) or one[0] != other[0]:
        return False
    differences = {a - b for a, b in zip(one[1:], other[1:])}
    return differences in ({1}, {-1})
