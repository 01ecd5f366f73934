# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""locked.py SFJIT HELLO TABLE GOOD STOP: others make the table of HELLO.

One of them has the lock beside the tables, and puts the file GOOD in the place of
TABLE, or dies, or is stopped in the middle by the library STOP.
"""
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib')]
sys.dont_write_bytecode = True

from tap import check_each, finish

SFJIT, HELLO, TABLE, GOOD, STOP = sys.argv[1:]
LOCK = os.path.join(os.path.dirname(TABLE), '..', 'lock')
LOG = GOOD + '.log'


def start(log=LOG, **environment):
    if os.path.exists(log):
        os.remove(log)
    return subprocess.Popen([SFJIT, 'run', '-o', log, '--', HELLO], text=True,
                            env=dict(os.environ, **environment),
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def has_lock_open(pid):
    try:
        names = [os.readlink('/proc/%d/fd/%s' % (pid, fd))
                 for fd in os.listdir('/proc/%d/fd' % pid)]
    except OSError:
        return False
    return os.path.realpath(LOCK) in names


def source(child, log=LOG):
    said, _ = child.communicate()
    with open(log, encoding='utf-8') as file:
        found = re.findall('/hello .*source=([a-z]*)', file.read())
    return child.returncode, said, found


def while_locked(then):
    os.path.exists(TABLE) and os.remove(TABLE)
    with open(LOCK, 'r+b') as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        child = start()
        while not has_lock_open(child.pid) and child.poll() is None:
            pass
        running = child.poll() is None
        then()
    return running, source(child)


def equal(got, want):
    if got != want:
        raise AssertionError('%r, not %r' % (got, want))


def test_made_by_another():
    equal(while_locked(lambda: shutil.copy(GOOD, TABLE)),
          (True, (0, 'hello\n', ['cache'])))


def test_another_dies():
    equal(while_locked(lambda: None), (True, (0, 'hello\n', ['converted'])))


def wait_for_lock(child):
    while not has_lock_open(child.pid):
        equal(child.poll(), None)


def together(where, then):
    """Four start while a fifth one is stopped; returns what they do after that."""
    os.remove(TABLE)
    first = start(LOG + '.first', LD_PRELOAD=STOP, STOP_AT=where)
    os.waitid(os.P_PID, first.pid, os.WSTOPPED)
    wait_for_lock(first)
    logs = [LOG + '.%d' % i for i in range(4)]
    others = [start(log) for log in logs]
    for child in others:
        wait_for_lock(child)
    equal(os.path.exists(TABLE), False)
    then(first)
    found = [source(child, log) for child, log in zip(others, logs)]
    first.send_signal(signal.SIGCONT)
    first.communicate()
    equal([result[:2] for result in found], [(0, 'hello\n')] * 4)
    with open(TABLE, 'rb') as table, open(GOOD, 'rb') as good:
        equal(table.read() == good.read(), True)
    return sorted(result[2] for result in found), first.returncode


def kill(child):
    child.kill()


def go_on(child):
    child.send_signal(signal.SIGCONT)


ONE = [['cache']] * 3 + [['converted']]


def test_the_first_is_killed_before_it_converts():
    equal(together('lock', kill), (ONE, -signal.SIGKILL))


def test_the_first_is_killed_before_its_file_has_a_name():
    equal(together('rename', kill), (ONE, -signal.SIGKILL))


def test_the_first_goes_on():
    equal(together('lock', go_on), ([['cache']] * 4, 0))


def test_the_first_stays_stopped():
    equal(together('lock', lambda child: None), (ONE, 0))


def test_fork_in_another_thread():
    """The child does not take files for those that a thread had open."""
    programs = os.path.dirname(HELLO)
    command = [SFJIT, 'run', '-o', LOG, '--',
               os.path.join(programs, 'fork_scan'),
               os.path.join(programs, 'plugin1.so'),
               os.path.join(programs, 'plugin2.so')]
    # All tables but that of the first library.
    subprocess.run(command[:5] + [os.path.join(programs, 'loader'), 'keep',
                                  command[-1]], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    subprocess.run(command[:6], stderr=subprocess.DEVNULL, check=False)
    with open(LOCK, 'r+b') as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        # A child that waits for a lock for ever ends, too.
        child = subprocess.Popen(['timeout', '600'] + command, text=True,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
        said = child.stdout.readline()
    said += child.communicate()[0]
    equal((said, child.returncode), ('forked\n0 closed\n', 0))


def test_lock_that_is_none():
    os.remove(TABLE)
    os.remove(LOCK)
    os.mkfifo(LOCK)
    equal(source(start()), (0, 'hello\n', ['converted']))
    os.remove(LOCK)
    os.symlink('/etc/passwd', LOCK)
    os.remove(TABLE)
    equal(source(start()), (0, 'hello\n', ['converted']))
    os.remove(LOCK)
    os.remove(TABLE)
    equal(source(start()), (0, 'hello\n', ['converted']))


check_each('a table that is being made:', list(globals().items()))
finish()
