# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""In the guest: program.py with windows or without, and what readers saw of
its stacks. A stack is a list of addresses, the innermost first."""
import json
import os
import subprocess
import sys

sys.path.append(sys.path[0] + '/../../lib')

from tap import check

SFJIT = ['build/bin/sfjit', 'run', '--']
CALLS = 40              # as in program.py
LARGEST = 64            # bytes of a function that it calls
TRACING = '/sys/kernel/tracing/'
IS_GETPPID = 'id == 110'
PATCHED = sys.argv[1:] != ['unpatched']


class Program:
    def __init__(self, sfjit, *reader):
        command = [*reader, *(SFJIT if sfjit else []), 'python3',
                   sys.path[0] + '/program.py']
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.windows = sfjit and PATCHED
        said = json.loads(self.process.stdout.readline())
        self.callers, self.targets = said['callers'], said['targets']

    def run(self):
        """The stack after the calls is the same for all of them."""
        said = json.loads(self.process.communicate('\n')[0])
        assert self.process.returncode == 0
        assert said['callers'] == self.callers

    def in_file(self, target):
        """FILE:OFFSET of a function, as probes want it."""
        address = self.targets[target]
        with open('/proc/%d/maps' % self.pid, encoding='utf-8') as maps:
            for span, _, offset, *_, path in map(str.split, maps):
                start, end = (int(part, 16) for part in span.split('-'))
                if start <= address < end:
                    return '%s:0x%x' % (path,
                                        address - start + int(offset, 16))
        raise LookupError(target)

    def judge(self, name, stacks, target):
        """Those that begin in the target, which has no frame of its own."""
        start = self.targets[target]
        self.judge_callers(name, [
            stack[1:] for stack in stacks
            if stack and start <= stack[0] < start + LARGEST])

    def judge_callers(self, name, stacks):
        judge(name, stacks, self.callers, self.windows)


def judge(name, stacks, wanted, windows, are_read=True):
    """All are exact; but none without windows, or where they are not read."""
    others = [stack for stack in stacks if stack != wanted]
    exact = len(stacks) - len(others)
    name += '' if windows else ', no windows'
    if windows and are_read:
        name, good = '%s: all %d are exact' % (name, len(stacks)), not others
    else:
        name, good = '%s: none of %d is exact' % (name, len(stacks)), not exact
    check(name, good and len(stacks) >= CALLS, '%d exact, others: %s, wanted: '
          '%s' % (exact, show(others[:1]), show([wanted])))


def show(stacks):
    return ' '.join(frame if isinstance(frame, str) else '%x' % frame
                    for stack in stacks for frame in stack)


def write(path, text, flags=os.O_TRUNC):
    file = os.open(TRACING + path, os.O_WRONLY | flags)
    os.write(file, text.encode())
    os.close(file)


def probe(definition):
    write('dynamic_events', definition, os.O_APPEND)


def no_probes():
    write('dynamic_events', '\n')
