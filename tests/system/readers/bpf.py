#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""In the guest: BPF programs, and probes of the kernel, read the stacks of
program.py."""
import re
import signal
import subprocess

from reading import TRACING, Program, no_probes, probe
from tap import finish
from recording import KERNEL, check_events, check_trace

GETPPID = 'syscalls/sys_enter_getppid'
KPROBE = 'p:sfjit/kernel __x64_sys_getppid'
SCRIPT = '''
BEGIN { printf("ready\\n"); }
tracepoint:%(getppid)s /pid == %(pid)d/ { @tracepoint[ustack(raw)] = count(); }
kprobe:__x64_sys_getppid /pid == %(pid)d/ { @kprobe[ustack(raw)] = count(); }
uprobe:%(uprobe)s /pid == %(pid)d/ { @uprobe[ustack(raw)] = count(); }
profile:hz:499 /pid == %(pid)d/ { @profile[ustack(raw)] = count(); }
software:page-faults:1 /pid == %(pid)d/ { @fault[ustack(raw)] = count(); }
'''
COUNT = re.compile(r'^@(\w+)\[((?:\n *[0-9a-f]+)*)\n*\]: (\d+)$', re.M)


def event_id(name):
    with open('%sevents/%s/id' % (TRACING, name), encoding='ascii') as file:
        return file.read().strip()


def add_probes(program):
    probe('p:sfjit/entry ' + program.in_file('getppid'))
    probe(KPROBE)


def check_helpers(program, name, target, kind, config):
    """In place of addresses there may be an errno. PERF_CONTEXT_USER, which
    comes first if the event has a callchain, is left out."""
    with subprocess.Popen(
            ['build/tests/system/readers/bpf_stacks', str(program.pid), kind, config],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as bpf:
        assert bpf.stdout.readline() == 'ready\n'
        program.run()
        said = list(map(str.split, bpf.communicate()[0].splitlines()))
    for helper in 'get_stack', 'get_stackid':
        stacks = [[int(word, 0) for word in words] for first, *words in said
                  if first == helper]
        program.judge('bpf_%s(), %s' % (helper, name), [
            [ip for ip in stack if ip < KERNEL] for stack in stacks], target)


def check_bpf(sfjit):
    for name, target, kind, config in (
            ('perf event', 'memfrob', 'clock', '997'),
            ('perf event with a callchain', 'memfrob', 'callchain', '997'),
            ('page fault', 'memfrob', 'fault', '1'),
            ('tracepoint', 'getppid', 'tracepoint', GETPPID),
            ('raw tracepoint', 'getppid', 'raw', 'sys_enter'),
            ('uprobe', 'getppid', 'probe', 'sfjit/entry'),
            ('kprobe', 'getppid', 'probe', 'sfjit/kernel')):
        program = Program(sfjit)
        add_probes(program)
        check_helpers(program, name, target, kind,
                      event_id(config) if '/' in config else config)
        no_probes()


def check_perf(sfjit, mode):
    program = Program(sfjit)
    add_probes(program)
    check_events(program, mode, (
        ('kprobe', 'sfjit:kernel', 'getppid'),
        ('tracepoint of a system call', GETPPID.replace('/', ':'), 'getppid')))
    no_probes()


def check_bpftrace(sfjit):
    program = Program(sfjit)
    script = SCRIPT % {'pid': program.pid, 'getppid': GETPPID.replace('/', ':'),
                       'uprobe': program.in_file('getppid')}
    with subprocess.Popen(['bpftrace', '-e', script], text=True,
                          stdout=subprocess.PIPE) as bpftrace:
        while bpftrace.stdout.readline() != 'ready\n':
            assert bpftrace.poll() is None
        program.run()
        bpftrace.send_signal(signal.SIGINT)
        said = bpftrace.communicate()[0]
    for name, target in (('tracepoint', 'getppid'), ('kprobe', 'getppid'),
                         ('uprobe', 'getppid'), ('profile', 'memfrob'),
                         ('fault', 'memfrob')):
        stacks = []
        for event, frames, count in COUNT.findall(said):
            if event == name:
                stacks += [[int(ip, 16) for ip in frames.split()]] * int(count)
        program.judge('bpftrace ' + name, stacks, target)


for sfjit in False, True:
    check_bpf(sfjit)
    check_perf(sfjit, 'fp')
    check_trace(sfjit, '-e', 'getppid')
    check_bpftrace(sfjit)
check_perf(True, 'fp,defer')
finish()
