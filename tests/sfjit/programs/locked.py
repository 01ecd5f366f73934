# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""locked.py SFJIT HELLO TABLE GOOD: the table of HELLO is being made by another.

That one has the lock beside the tables, and puts the file GOOD in the place of
TABLE, or dies, or does neither.
"""
import fcntl
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib')]
sys.dont_write_bytecode = True

from tap import check_each, finish

SFJIT, HELLO, TABLE, GOOD = sys.argv[1:]
LOCK = os.path.join(os.path.dirname(TABLE), '..', 'lock')
LOG = GOOD + '.log'


def start():
    if os.path.exists(LOG):
        os.remove(LOG)
    return subprocess.Popen([SFJIT, 'run', '-o', LOG, '--', HELLO], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def has_lock_open(pid):
    try:
        names = [os.readlink('/proc/%d/fd/%s' % (pid, fd))
                 for fd in os.listdir('/proc/%d/fd' % pid)]
    except OSError:
        return False
    return os.path.realpath(LOCK) in names


def source(child):
    said, _ = child.communicate()
    with open(LOG, encoding='utf-8') as file:
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


def test_another_is_stopped():
    os.remove(TABLE)
    with open(LOCK, 'r+b') as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        equal(source(start()), (0, 'hello\n', ['converted']))


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
