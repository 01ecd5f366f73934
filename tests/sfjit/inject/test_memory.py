# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: test_memory.py SFJIT

What sfjit inject keeps of a pipe does not grow with what comes through it: of each
round there is a process that begins, has files and samples, and ends.
"""
import array
import fcntl
import os
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../lib'))
# pylint: disable=wrong-import-position
from tap import check, finish  # noqa: E402
from recording import (  # noqa: E402
    COMMON, EXIT, FORK, ROUND, Attr, make_pipe, mmap2, sample, task)

SFJIT = sys.argv[1]
FEW, MANY = 20, 400
SAMPLES, FILES = 30, 8
# Some pages: what libc's heap happens to have left.
GROWTH_KIB = 256
BASE = 0x7f0000000000


def one_round(attr, number):
    """As perf writes it of a process of its own."""
    pid, start = 1000 + number, 1000 * (number + 1)
    inode = os.stat(SFJIT).st_ino
    records = [task(attr, FORK, pid, pid, 1, time=start)]
    records += [mmap2(attr, pid, BASE + (i << 32), 1 << 20, SFJIT,
                      inode=inode, time=start + 1) for i in range(FILES)]
    records += [sample(attr, BASE + 0x5000, [BASE + 0x6000 + i] * 400, pid=pid,
                       tid=pid, ip=BASE, time=start + 2 + i)[0]
                for i in range(SAMPLES)]
    return records + [task(attr, EXIT, pid, pid, 1, time=start + 900), ROUND]


def status_of(pid, field):
    with open('/proc/%d/status' % pid, encoding='utf-8') as file:
        return next(line.split()[1] for line in file
                    if line.startswith(field))


def wait_until_read(pipe, pid):
    """And until it waits for more."""
    waiting = array.array('i', [1])
    while waiting[0] or status_of(pid, 'State:') != 'S':
        time.sleep(0.05)
        fcntl.ioctl(pipe, termios.FIONREAD, waiting)


def peak(rounds):
    """KiB at most; of this program alone, while it waits for more."""
    attr = Attr(COMMON, stack=3200)
    with subprocess.Popen([SFJIT, 'inject', '-q', '-i', '-', '-o', '-'],
                          stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as inject:
        inject.stdin.write(make_pipe([attr], [], False))
        for number in range(rounds):
            inject.stdin.write(b''.join(one_round(attr, number)))
        inject.stdin.flush()
        wait_until_read(inject.stdin, inject.pid)
        found = int(status_of(inject.pid, 'VmHWM:'))
        inject.stdin.close()
    check('%d rounds are converted' % rounds, not inject.returncode,
          inject.returncode)
    return found


few, many = peak(FEW), peak(MANY)
print('# %d KiB for %d rounds, %d KiB for %d' % (few, FEW, many, MANY))
check('memory does not grow with the rounds', many - few < GROWTH_KIB,
      '%d KiB for %d, %d KiB for %d' % (few, FEW, many, MANY))
# Whether that could be seen: what comes is so much more.
check('a round is larger than what may be kept of all',
      (MANY - FEW) * SAMPLES * 3200 >> 10 > 100 * GROWTH_KIB, '')
finish()
