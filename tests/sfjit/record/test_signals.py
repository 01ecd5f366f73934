# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: test_signals.py SFJIT DIRECTORY

Recordings that end by a signal: what was recorded is kept.
"""
import array
import fcntl
import json
import re
import signal
import struct
import termios
import time

# pylint: disable=wildcard-import,unused-wildcard-import
from recorder import *  # noqa: F403
# pylint: disable=wrong-import-order
from tap import check, check_each, finish
from recording import mmap2

LARGE = samples(20000)
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def end(process):
    """Status and standard error."""
    said = process.communicate()[1]
    return process.returncode, said.decode()


def begin_recording(mode='wait', *words, **options):
    """Until perf waits, which has sent the first part; perf's number."""
    begin(mode, out=OLD)
    process = start('record', '--quiet', '-o', 'out', *words, **options)
    return process, int(ready())


def test_each_signal():
    """It is the exit status; perf writes the rest."""
    for number in ENDS:
        for words in (['true'], ['-p', '1'], ['-a']):
            process, _ = begin_recording('wait', *words)
            process.send_signal(number)
            same(end(process), (128 + number, ''))
            same(files(), {'out': RECORDED, 'out.old': OLD})


def test_perf_does_not_die_of_them():
    """A terminal sends these to all its processes."""
    for number in (signal.SIGHUP, signal.SIGQUIT):
        process, perf = begin_recording()
        os.kill(perf, number)
        process.send_signal(number)
        same(end(process), (128 + number, ''))
        same(files(), {'out': RECORDED, 'out.old': OLD})


def test_two_signals():
    """The second one comes before perf has ended."""
    for one, two in ((signal.SIGINT, signal.SIGINT),
                     (signal.SIGTERM, signal.SIGINT),
                     (signal.SIGHUP, signal.SIGTERM)):
        process, _ = begin_recording('twice')
        process.send_signal(one)
        same(ready(), 'again')
        process.send_signal(two)
        same(end(process), (128 + one, ''))
        same(files(), {'out': RECORDED, 'out.old': OLD})


def ignoring(*numbers):
    def ignore():
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
    return ignore


def test_ignored_signals_stay_ignored():
    """As nohup does; perf takes the other two."""
    process, _ = begin_recording(preexec_fn=ignoring(*ENDS))
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGQUIT)
    process.send_signal(signal.SIGINT)
    same(end(process), (128 + signal.SIGINT, ''))
    same(files(), {'out': RECORDED, 'out.old': OLD})
    begin()
    script = 'grep SigIgn /proc/self/status'
    for ignored in ((), (signal.SIGHUP,), (signal.SIGQUIT,),
                    (signal.SIGHUP, signal.SIGQUIT)):
        out = record('sh', '-c', script, preexec_fn=ignoring(*ignored))[1]
        same(int(out.split()[1], 16), sum(1 << n - 1 for n in ignored))


def test_perf_is_killed():
    """Of which perf could not write the rest."""
    process, perf = begin_recording()
    os.kill(perf, signal.SIGKILL)
    same(end(process), (137, 'sfjit: perf record was ended by signal 9 '
                        '(Killed)\n'))
    same(files(), {'out': FILE, 'out.old': OLD})


def test_perf_is_killed_in_a_record():
    begin('wait', first=FIRST + REST[:-3], out=OLD)
    process = start('record', '--quiet', '-o', 'out', 'true')
    os.kill(int(ready()), signal.SIGKILL)
    same(end(process), (
        137, 'sfjit: the recording is cut off at offset 0x%x: what comes '
        'before is used\nsfjit: perf record was ended by signal 9 (Killed)\n' %
        (len(FIRST) + len(REST) - 3)))
    same(files(), {'out': make_file([ATTR], [samples(10), REST[:-len(ROUND)]],
                                    False), 'out.old': OLD})


def test_it_is_killed_itself():
    """What was there stays, and what was written is beside it."""
    process, perf = begin_recording()
    process.kill()
    process.wait()
    os.kill(perf, signal.SIGKILL)
    same(end(process)[0], -signal.SIGKILL)
    found = files()
    same((sorted(name[:7] for name in found), found['out']),
         (['.sfjit-', 'out'], OLD))


def told(name):
    """Where the header says that events are: offset and bytes."""
    return struct.unpack_from('<2Q', get(name), 40)


def temporary():
    return [name for name in os.listdir(WORK) if name.startswith('.sfjit-')]


def test_it_is_killed_itself_after_more():
    """The file is a recording of what the header tells."""
    begin('wait', first=FIRST + LARGE + REST, out=OLD)
    process = start('record', '--quiet', '-o', 'out', 'true')
    perf = int(ready())
    name, = temporary()
    while os.path.getsize(os.path.join(WORK, name)) < 1 << 18:
        time.sleep(0.01)
    process.kill()
    os.kill(perf, signal.SIGKILL)
    same(end(process)[0], -signal.SIGKILL)
    offset, size = told(name)
    same(size > 1 << 16, True)
    records = samples(10) + LARGE
    same(get(name)[:offset + size], make_file([ATTR], [records[:size]], False))
    out = run('explain', '--json', name)
    same((out[0], out[2]), (0, ''))
    one = len(sample(ATTR, pid=1, old_user=[CONTEXT_USER, 0])[0])
    same(json.loads(out[1])['samples'], (size - len(ROUND)) // one)
    same((size - len(ROUND)) % one, 0)


def test_before_perf_has_written():
    begin('wait', first=b'', rest=b'', out=OLD)
    process = start('record', '--quiet', '-o', 'out', 'true')
    ready()
    process.send_signal(signal.SIGTERM)
    same(end(process), (143, ''))
    same(files(), {'out': OLD})


def test_to_a_fifo():
    begin('wait')
    os.mkfifo(os.path.join(WORK, 'fifo'))
    process = start('record', '--quiet', '-o', 'fifo', 'true')
    with open(os.path.join(WORK, 'fifo'), 'rb') as file:
        ready()
        process.send_signal(signal.SIGTERM)
        same(file.read(), WHOLE)
    same(end(process), (143, ''))
    same(files(), {'fifo': 'p'})


# ---- sfjit inject ------------------------------------------------------

def catches(process, number):
    with open('/proc/%d/status' % process.pid, encoding='utf-8') as file:
        caught = re.search(r'^SigCgt:\t(\w+)$', file.read(), re.M)[1]
    return int(caught, 16) >> number - 1 & 1


def wait_until_caught(process, number):
    while not catches(process, number):
        time.sleep(0.01)


def bytes_in(pipe):
    size = array.array('i', [0])
    fcntl.ioctl(pipe, termios.FIONREAD, size)
    return size[0]


def test_inject_of_a_pipe():
    """What was read is nowhere else: it is kept."""
    for number in ENDS[1:]:
        begin(out=OLD)
        with start('inject', '-q', '-i', '-', '-o', 'out',
                   stdin=subprocess.PIPE) as process:
            process.stdin.write(FIRST)
            process.stdin.flush()
            wait_until_caught(process, number)
            while bytes_in(process.stdin):
                time.sleep(0.01)
            process.send_signal(number)
            process.wait()
        same(process.returncode, 128 + number)
        same(files(), {'out': FIRST})


def test_inject_of_a_file():
    """It says so much that it waits for who reads that."""
    lost = b''.join(mmap2(ATTR, 1, i << 12, 4096, '/none/jit-%d.dump' % i,
                          time=1) for i in range(1, 5000))
    data = make_file([ATTR], [lost, samples(3)], False)
    for number in ENDS:
        for there in ({}, {'out': OLD}):
            begin(data=data, **there)
            with start('inject', '-i', 'data', '-o', 'out') as process:
                process.stderr.read(1)
                same(sorted(name[:7] for name in files()), sorted(
                    ['.sfjit-', 'data', *there]))
                process.send_signal(number)
                process.wait()
            same(process.returncode, -number)
            same(files(), dict(there, data=data))


check_each('record', list(globals().items()))
check('all tests', True, '')
finish()
