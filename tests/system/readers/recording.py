# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""In the guest: stacks of program.py by perf."""
import collections
import os
import re
import subprocess

from reading import Program, judge
from perfscript import KERNEL, samples

DATA = '/tmp/perf.data'
FIELDS = 'event,ip,sym'
REPORT = '/tmp/perf.trace'
NAMES = ['getppid', 'ffi_call', '_PyEval_EvalFrameDefault',
         'PyObject_Vectorcall', '_PyEval_EvalFrameDefault', 'PyEval_EvalCode',
         'Py_RunMain', 'Py_BytesMain', '__libc_start_main', '_start']


def record(program, mode, events):
    """perf answers when its events are on."""
    control_read, control = os.pipe()
    answer, answer_write = os.pipe()
    with subprocess.Popen(
            ['perf', 'record', '-q', '-o', DATA, '-p', str(program.pid),
             '-D', '-1', '--control=fd:%d,%d' % (control_read, answer_write),
             '--call-graph=' + mode, *events],
            pass_fds=(control_read, answer_write),
            stderr=subprocess.DEVNULL) as perf:
        os.close(control_read)
        os.close(answer_write)
        os.write(control, b'enable\n')
        said = os.read(answer, 4)
        program.run()
    os.close(control)
    os.close(answer)
    assert said == b'ack\n' and perf.returncode == 0, (said, perf.returncode)


def recorded():
    """Stacks by the event, as it was given to perf."""
    said = subprocess.run(
        ['perf', 'script', '--no-inline', '-i', DATA, '-F', FIELDS],
        check=True, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL).stdout
    found = collections.defaultdict(list)
    for sample in samples(said, FIELDS):
        if sample.frames:
            found[sample.event].append([frame.ip for frame in sample.frames
                                        if frame.ip < KERNEL])
    return found


def check_events(program, mode, events):
    """NAME, EVENT, FUNCTION if any, and arguments of perf, for each."""
    arguments = []
    for _, event, _, *options in events:
        arguments += ['-e', event, *options]
    record(program, mode, arguments)
    found = recorded()
    for name, event, target, *_ in events:
        if target:
            program.judge('perf, %s, %s' % (name, mode), found[event],
                          target)
    return found


def check_trace(sfjit, *event):
    """perf trace prints names, and something else for other frames. It does not
    sort events of several CPUs: it would miss files that were mapped before."""
    program = Program(sfjit, 'taskset', '1', 'perf', 'trace', *event,
                      '--call-graph=fp', '-o', REPORT)
    program.run()
    with open(REPORT, encoding='utf-8') as file:
        blocks = re.split(r'^ .* (?:getppid|raw_syscalls:sys_enter)\(.*$',
                          file.read(), flags=re.M)[1:]
    stacks = [[line.split()[0] for line in block.splitlines()
               if line and '([kernel.' not in line] for block in blocks]
    judge('perf trace ' + ' '.join(event[:2]),
          [summary(stack) for stack in stacks],
          ['%d frames' % (len(program.callers) + 1), *NAMES], program.windows)


def summary(stack):
    return ['%d frames' % len(stack)] + [name for name in stack
                                         if name[0] != '[']
