# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""A stack of python3 by the windows of the module, and by DWARF."""
import re
import subprocess

CALLS = 'import os\ndef f(n): f(n - 1) if n else os.getppid()\n'
ITSELF = CALLS + 'f(5)'
CHILD = CALLS + 'os.wait() if os.fork() else f(5)'


def chain(command, kind):
    """The chain of the system call, as addresses in files."""
    data = '/tmp/stock.data'
    subprocess.run(['perf', 'record', '-q', '-o', data,
                    '-e', 'syscalls:sys_enter_getppid', f'--call-graph={kind}',
                    '--', *command], check=True)
    text = subprocess.run(
        ['perf', 'script', '--no-inline', '-i', data, '-F', 'event,ip'],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    return [int(word, 16) for word in re.findall(r'^\s+([0-9a-f]+)\s*$', text,
                                                 re.M)]


def chains(run, program):
    """By frame pointers or windows, of a program of python3 that the command RUN
    starts; and by DWARF, without RUN: perf 6.1 has no callers then, as after a fork."""
    python = ['python3', '-c', program]
    return chain([*run, *python], 'fp'), chain(python, 'dwarf,65528')


def same(one, other):
    """The same calls; DWARF's addresses are one byte before ours."""
    if len(one) < 15 or len(one) != len(other) or one[0] != other[0]:
        return False
    differences = {a - b for a, b in zip(one[1:], other[1:])}
    return differences in ({1}, {-1})
