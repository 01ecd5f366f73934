# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: evict.py PID PATTERN

Has the kernel take the pages of what a process maps of these files, as it does
when memory is short. Prints how many kilobytes are left in memory.
"""
import ctypes
import os
import re
import sys
import time

PROCESS_MADVISE, MADV_PAGEOUT = 440, 21

libc = ctypes.CDLL(None, use_errno=True)


class Range(ctypes.Structure):
    _fields_ = [('start', ctypes.c_size_t), ('length', ctypes.c_size_t)]


def mappings(pid, pattern):
    """(start, length, kilobytes in memory) of each"""
    start = None
    with open('/proc/%d/smaps' % pid, encoding='utf-8') as smaps:
        for line in smaps:
            head = re.match(r'([0-9a-f]+)-([0-9a-f]+) (.*)', line)
            if head:
                start, end = (int(head[n], 16) for n in (1, 2))
                found = re.search(pattern, head[3])
            elif found and line.startswith('Rss:'):
                yield start, end - start, int(line.split()[1])


def evict(fd, start, length):
    one = Range(start, length)
    if libc.syscall(PROCESS_MADVISE, fd, ctypes.byref(one), ctypes.c_size_t(1),
                    MADV_PAGEOUT, 0) < 0:
        sys.exit('process_madvise: ' + os.strerror(ctypes.get_errno()))


def main():
    pid, pattern = int(sys.argv[1]), sys.argv[2]
    fd = os.pidfd_open(pid)
    # A new page may be in a list of its CPU, where it stays for a while.
    for _ in range(6000):
        for start, length, _ in mappings(pid, pattern):
            evict(fd, start, length)
        left = sum(rss for _, _, rss in mappings(pid, pattern))
        if not left:
            break
        time.sleep(0.1)
    print(left)


main()
