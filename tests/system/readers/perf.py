#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""In the guest: perf and ftrace read the stacks of program.py. With
`unpatched': the kernel has no windows."""
import re
import sys

from reading import (IS_GETPPID, LARGEST, PATCHED, TRACING, Program, judge,
                     no_probes, probe, write)
from tap import finish
from recording import check_events, check_trace


def check_perf(sfjit, mode):
    program = Program(sfjit)
    probe('p:sfjit/entry ' + program.in_file('getppid'))
    probe('r:sfjit/back ' + program.in_file('getppid'))
    found = check_events(program, mode, (
        ('clock', 'cpu-clock/freq=997/', 'memfrob'),
        ('page fault', 'page-faults/period=1/', 'memfrob'),
        ('context switch', 'context-switches/period=1/', 'syscall'),
        ('tracepoint of the scheduler', 'sched:sched_switch', 'syscall'),
        ('tracepoint of system calls', 'raw_syscalls:sys_enter', 'getppid',
         '--filter', IS_GETPPID),
        ('breakpoint', 'mem:0x%x:x' % program.targets['getppid'], 'getppid'),
        ('probe', 'sfjit:entry', 'getppid'),
        ('return probe', 'sfjit:back', None),
    ))
    no_probes()
    # Documented: deferred, it is walked from the trampoline by frame pointer.
    judge('perf, return probe, ' + mode, found['sfjit:back'], program.callers,
          program.windows, mode == 'fp')


def check_ftrace(sfjit):
    """Documented: by frame pointer, also where there are windows."""
    program = Program(sfjit)
    write('trace', '\n')
    write('options/userstacktrace', '1')
    write('events/raw_syscalls/sys_enter/filter', IS_GETPPID)
    write('set_event_pid', str(program.pid))
    write('events/raw_syscalls/sys_enter/enable', '1')
    program.run()
    write('events/raw_syscalls/sys_enter/enable', '0')
    write('options/userstacktrace', '0')
    with open(TRACING + 'trace', encoding='utf-8') as file:
        blocks = file.read().split('<user stack trace>')[1:]
    stacks = [[int(ip, 16) for ip in re.findall('=> +<([0-9a-f]+)>', block)]
              for block in blocks]
    start = program.targets['getppid']
    judge('ftrace', [stack[1:] for stack in stacks
                     if start <= stack[0] < start + LARGEST],
          program.callers, program.windows, False)


if PATCHED:
    check_perf(False, 'fp')
    check_perf(True, 'fp,defer')
check_perf(True, 'fp')
check_trace(True, '-e', 'raw_syscalls:sys_enter', '--filter', IS_GETPPID)
check_ftrace(True)
finish()
