#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: bench/guest/peers.py PROGRAM...

In a guest that counts instructions, with sfjit.ko loaded: profiles each PROGRAM,
which always does the same work, with each profiler. Prints lines "PROGRAM WAY
WHAT VALUE":

command		its words
program		CPU time of PROGRAM in ns, which includes taking the samples; of
		WAY none: without a profiler
recorder	CPU time of the profiler while it records
start		the same if it records the program true
samples, lost, bytes	of the recording
convert, convert-memory	CPU time and KiB at most, to make call chains of copies
fold, fold-memory	the same, to make the lines that a flame graph is drawn from

The first lines are "version NAME VALUE" of the kernel and the packages. bpftrace
counts equal stacks in the kernel and has nothing to fold. Leaves the stacks of each
WAY in build/guest-out/peers/PROGRAM.WAY as perf prints them, and in root beside them
the files that the stacks are in.
"""
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.append(sys.path[0] + '/../../tests/lib')

import perfscript
from stacks import SFJIT, cost, lost, samples, say

TOP = os.getcwd()
OUT = TOP + '/build/guest-out/peers'
WORK = '/tmp/peers'
FIELDS = 'comm,ip,dso,dsoff'
EVENT = ['-e', 'cpu-clock:u', '-F', '999']
PERF = ['perf', 'record', '-q']
number = itertools.count()
RUN = [SFJIT, 'run', '--java', '--']
# Name, recorder, and what starts the program.
RECORDINGS = (
    ('fp', [*PERF, '-g'], []),
    ('windows', [*PERF, '-g'], RUN),
    ('dwarf8', [*PERF, '--call-graph=dwarf,8192'], []),
    ('dwarf64', [*PERF, '--call-graph=dwarf,65528'], []),
    ('record', [SFJIT, 'record', '--quiet'], []),
)
BPF = 'profile:hz:999 /pid == cpid/ { @[ustack(raw)] = count(); }'
CONVERTERS = (
    ('perf', ['perf', 'inject', '--convert-callchain']),
    ('elfutils', ['build/tests/system/perf/dwflst', 'inject', '-q']),
    ('sfjit', [SFJIT, 'inject', '-q']),
)
# The cgroup counts the CPU time of the program alone.
ENTER = 'echo $$ >$0/cgroup.procs; exec "$@"'
# bpftrace takes no quotes in its command.
SCRIPT = WORK + '/script'
POSTGRES = '/usr/lib/postgresql/17/bin/postgres'
AS_POSTGRES = ['setpriv', '--reuid=postgres', '--regid=postgres',
               '--clear-groups', 'env', 'HOME=/var/lib/postgresql']


def python3():
    return ['python3', 'bench/guest/python.py', 'plain', '20']


def cc1():
    path, = (os.path.join(directory, 'cc1') for directory, _, files in
             os.walk('/usr/libexec/gcc') if 'cc1' in files)
    return [path, '-quiet', '-fpreprocessed', '-O2',
            'build/tests/bench/source/code_flow.i', '-o', '/dev/null']


def cppcheck():
    return ['cppcheck', '-q', *('build/tests/bench/source/%s.i' % source
                              for source in ('pack', 'split', 'layout'))]


def postgres():
    data, queries = WORK + '/data', WORK + '/queries'
    os.makedirs(data)
    shutil.chown(data, 'postgres', 'postgres')
    subprocess.run([*AS_POSTGRES, os.path.dirname(POSTGRES) + '/initdb', '-D',
                    data, '-A', 'trust', '--no-sync', '--locale=C'],
                   check=True, stdout=subprocess.DEVNULL)
    with open('bench/guest/programs/postgres.sql', encoding='utf-8') as file:
        lines = [line for line in file if not line.startswith('--')]
    with open(queries, 'w', encoding='utf-8') as file:
        file.writelines(line.replace('jit_above_cost = 0', 'jit = off').replace(
            '4000', '40000') for line in lines)
    return [*AS_POSTGRES, 'sh', '-c', 'exec "$@" <' + queries, 'sh', POSTGRES,
            '--single', '-j', '-D', data, 'postgres']


def javac():
    path = WORK + '/Work.java'
    with open(TOP + '/bench/guest/programs/java.sh', encoding='utf-8') as file:
        source = re.search(r"<<'END'\n(.*?)^END$", file.read(), re.M | re.S)[1]
    with open(path, 'w', encoding='utf-8') as file:
        file.write(source)
    return ['javac', '-d', WORK, path]


PACKAGES = r'(linux-perf|bpftrace|python3\.\d+|cpp-\d+|cppcheck|postgresql-\d+|' \
    r'openjdk-\d+-jdk-headless|libc6) '
PROGRAMS = {make.__name__: make
            for make in (python3, cc1, cppcheck, postgres, javac)}


def run(recorder, command, is_script=False):
    """CPU time of the command, and of what records it."""
    directory = '/sys/fs/cgroup/peers-%d' % next(number)
    os.mkdir(directory)
    words = ['sh', '-c', ENTER, directory, *command]
    if is_script:
        with open(SCRIPT, 'w', encoding='utf-8') as file:
            print('exec', shlex.join(words), file=file)
        words = ['-c', '/bin/sh ' + SCRIPT]
    whole, _ = cost(*recorder, *words)
    with open(directory + '/cpu.stat', encoding='ascii') as file:
        program = int(re.search(r'usage_usec (\d+)', file.read())[1]) * 1000
    return program, whole - program


def start_of(recorder, start, is_script=False):
    """Of the second run: the first reads files into memory."""
    return [run(recorder, [*start, 'true'], is_script)
            for _ in range(2)][1][1]


def mappings(data):
    """Of a recording whose addresses those of the next runs are."""
    text = output('perf', 'script', '--no-inline', '--show-mmap-events', '-i',
                  data, '-F', 'ip')
    return [(int(start, 16), int(size, 16), int(offset, 16), path)
            for start, size, offset, path in re.findall(
                r'MMAP2? .*\[(0x\w+)\((0x\w+)\) @ (\w+) .*x\w (/.*)$', text,
                re.M)]


def place(address, maps):
    for start, size, offset, path in maps:
        if start <= address < start + size:
            return '%s+0x%x' % (path, address - start + offset)
    return '[unknown]'


def bpf_stacks(text, maps):
    """The stacks of bpftrace, each as often as it was sampled, as perf's."""
    for stack, times in re.findall(r'^@\[\n?(.*?)\]: (\d+)$', text,
                                   re.M | re.S):
        lines = ['\t%s (%s)\n' % (word, place(int(word, 16), maps))
                 for word in stack.split()]
        yield from ['bpftrace\n' + ''.join(lines) + '\n'] * int(times)


def record_bpf(name, command, way, start, maps):
    out = WORK + '/stacks'
    recorder = ['bpftrace', '-q', '-o', out, '-e', BPF]
    begun = start_of(recorder, start, True)
    program, added = run(recorder, [*start, *command], True)
    with open(out, encoding='ascii') as file:
        stacks = list(bpf_stacks(file.read(), maps))
    for what, value in (('program', program), ('recorder', added),
                        ('start', begun), ('samples', len(stacks)),
                        ('bytes', os.stat(out).st_size)):
        say(name, way, what, value)
    keep_stacks(''.join(stacks), name + '.' + way)


def keep_file(path):
    to = OUT + '/root' + path
    if not os.path.isfile(path) or os.path.exists(to):
        return
    with open(path, 'rb') as file:
        if file.read(4) != b'\x7fELF':
            return
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copyfile(path, to)


def output(*command):
    return subprocess.run(command, check=True, text=True,
                          errors='surrogateescape', stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def keep_stacks(text, name):
    with open(OUT + '/' + name, 'w', encoding='utf-8',
              errors='surrogateescape') as file:
        file.write(text)
    for sample in perfscript.samples(text, FIELDS):
        for frame in sample.frames:
            if (frame.dso or '').startswith('/'):
                keep_file(frame.dso)


def fold(name, way, data):
    time, memory = cost('perf', 'script', '--no-inline', '-s',
                        '/usr/lib/perf-core/scripts/python/stackcollapse.py',
                        '-i', data)
    say(name, way, 'fold', time)
    say(name, way, 'fold-memory', memory)
    keep_stacks(output('perf', 'script', '--no-inline', '-i', data, '-F',
                       FIELDS), name + '.' + way)


def convert(name, recording, data):
    for who, command in CONVERTERS:
        way, out = recording + '-' + who, data + '.out'
        time, memory = cost(*command, '-i', data, '-o', out)
        say(name, way, 'convert', time)
        say(name, way, 'convert-memory', memory)
        fold(name, way, out)
        os.unlink(out)


def record(name, command, way, recorder, start):
    data = WORK + '/data.perf'
    recorder = [*recorder, *EVENT, '-o', data, '--']
    begun = start_of(recorder, start)
    program, added = run(recorder, [*start, *command])
    for what, value in (('program', program), ('recorder', added),
                        ('start', begun),
                        ('samples', samples(data)), ('lost', lost(data)),
                        ('bytes', os.stat(data).st_size)):
        say(name, way, what, value)
    fold(name, way, data)
    if way.startswith('dwarf'):
        convert(name, way, data)
    maps = mappings(data)
    os.unlink(data)
    return maps


def measure(name):
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK, mode=0o755)
    command = PROGRAMS[name]()
    say(name, 'none', 'command', *command)
    # Files in memory, tables and perf's copies of files are there from now on.
    cost(*PERF, *EVENT, '-o', '/dev/null', '--', *RUN, *command)
    say(name, 'none', 'program', run([], command)[0])
    for way, recorder, start in RECORDINGS:
        maps = record(name, command, way, recorder, start)
        if '-g' in recorder and shutil.which('bpftrace'):
            record_bpf(name, command, 'bpf-' + way, start, maps)


def say_versions():
    say('version', 'kernel', os.uname().release)
    installed = output('dpkg-query', '-W', '-f', '${Package} ${Version}\n')
    for line in installed.splitlines():
        if re.match(PACKAGES, line):
            say('version', line)


def main():
    os.makedirs(OUT)
    say_versions()
    os.environ['PYTHONHASHSEED'] = '0'
    with open('/proc/sys/kernel/randomize_va_space', 'w') as file:
        file.write('0')
    os.chmod('/dev/sfjit', 0o666)
    with open('/proc/sys/kernel/sframe_walk_us', 'w') as file:
        file.write('1000000')
    for name in sys.argv[1:]:
        measure(name)


main()
