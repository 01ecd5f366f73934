#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: bench/guest/stacks.py SECONDS PROCESSES MANY

In a guest that counts instructions: what it takes to make call chains of
copies of stacks, of one Python program, of PROCESSES one after the other, of
MANY that live at once, and while one is recorded. Prints lines "RECORDING WHAT
WHO VALUE": nanoseconds of the processor, KiB of memory, bytes, samples,
processes.
"""
import os
import re
import struct
import subprocess
import sys

SFJIT = 'build/bin/sfjit'
SPENT = 'build/tests/bench/spent'
RATE = 499
# A program as the demo's: interpreter, C code that calls back, libc.
WORK = '''
import json, sys, time
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    json.loads(json.dumps({'a': [1] * 50, 'b': {'c': sorted(range(100))}},
                          default=str))
'''
# One after the other: each has its own mappings.
IN_TURN = '''
import subprocess, sys
for _ in range(int(sys.argv[1])):
    subprocess.run([sys.executable, '-c', sys.argv[2], sys.argv[3]])
'''
# The same, and none ends before the last has done its work. More than one at a
# time would keep perf from its buffers.
AT_ONCE = '''
import subprocess, sys
wait = sys.argv[2] + "print(flush=True); sys.stdin.read()"
children = []
for _ in range(int(sys.argv[1])):
    children.append(subprocess.Popen(
        [sys.executable, '-c', wait, sys.argv[3]], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE))
    children[-1].stdout.read(1)
for child in children:
    child.stdin.close()
for child in children:
    child.wait()
'''
LOST, LOST_SAMPLES = 2, 13      # PERF_RECORD_*, by <linux/perf_event.h>
PIPE_HEADER = 16                # what was piped begins with so many bytes


def cost(*command):
    """Nanoseconds of the processor, KiB of memory at most."""
    subprocess.run([SPENT, '/tmp/spent', *command], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open('/tmp/spent', encoding='ascii') as file:
        return tuple(map(int, file.read().split()))


def record(path, command):
    subprocess.run(['perf', 'record', '-q', '-F', str(RATE), '-o', path,
                    '--call-graph=dwarf', '--'] + command, check=True)


def samples(path):
    text = subprocess.run(['perf', 'report', '-i', path, '--stats'],
                          capture_output=True, text=True).stdout
    return sum(map(int, re.findall(r'SAMPLE events:\s+(\d+)', text)[:1]))


def lost(path):
    """Samples of which the recording says that they are not in it."""
    with open(path, 'rb') as file:
        data = file.read()
    header, = struct.unpack_from('<Q', data, 8)
    at, end, found = PIPE_HEADER, len(data), 0
    if header != PIPE_HEADER:
        at, length = struct.unpack_from('<2Q', data, 40)
        end = at + length
    while at < end:
        kind, _, size = struct.unpack_from('<IHH', data, at)
        if kind == LOST:
            found += struct.unpack_from('<Q', data, at + 16)[0]
        elif kind == LOST_SAMPLES:
            found += struct.unpack_from('<Q', data, at + 8)[0]
        at += size
    return found


def say(*words):
    print(*words, flush=True)


def convert(name, path, processes):
    """What each takes for one file, beside a copy of it."""
    out = path + '.out'
    say(name, 'samples', '-', samples(path))
    say(name, 'processes', '-', processes)
    say(name, 'lost', '-', lost(path))
    for what, who, *command in (
            ('copy', 'cp', 'cp', path, out),
            ('copy', 'perf', 'perf', 'inject', '-i', path, '-o', out),
            ('convert', 'perf', 'perf', 'inject', '--convert-callchain', '-i',
             path, '-o', out),
            ('convert', 'elfutils', 'build/tests/system/perf/dwflst', 'inject', '-q',
             '-i', path, '-o', out),
            ('convert', 'sfjit', SFJIT, 'inject', '-q', '-i', path, '-o',
             out)):
        # the file is in the page cache, and each writes a new one
        if os.path.exists(out):
            os.unlink(out)
        time, memory = cost(*command)
        say(name, what, who, time)
        say(name, what + '-memory', who, memory)
        say(name, what + '-bytes', who, os.stat(out).st_size)
    os.unlink(out)


def live(seconds):
    """While it is recorded: what that adds to the program."""
    work = ['python3', '-c', WORK, str(seconds)]
    plain = cost(*work)[0]
    for who, command in (
            ('perf', ['perf', 'record', '-q', '--call-graph=dwarf']),
            ('sfjit', [SFJIT, 'record', '--quiet'])):
        path = '/tmp/live-' + who
        time = cost(*command, '-F', str(RATE), '-o', path, '--', *work)[0]
        say('live', 'record', who, time - plain)
        say('live', 'bytes', who, os.stat(path).st_size)
        say('live', 'samples', who, samples(path))
        say('live', 'lost', who, lost(path))


def main():
    seconds, processes, many = sys.argv[1:]
    record('/tmp/one', ['python3', '-c', WORK, seconds])
    convert('one', '/tmp/one', 1)
    for name, program, nr in (('cold', IN_TURN, processes),
                              ('many', AT_ONCE, many)):
        record('/tmp/' + name, ['python3', '-c', program, nr, WORK, '0.04'])
        convert(name, '/tmp/' + name, int(nr) + 1)
    live(seconds)


if __name__ == '__main__':
    main()
