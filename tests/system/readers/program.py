# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Calls functions of libc that have no frame of their own, for all who read
stacks. Prints, before that and behind it, what the C compiler's unwinder says
is behind such a call; waits for a line in between."""
import ctypes
import json
import mmap

CALLS = 40
SLEEPS = 50             # some may be over before the task leaves its CPU
TICKS = 600             # time alone may pass without any, on a loaded machine
DEEPEST = 127
NANOSLEEP = 35          # the system call

libc = ctypes.CDLL(None)
callers = (ctypes.c_void_p * DEEPEST)()
text = (ctypes.c_char * 65536)()
millisecond = (ctypes.c_long * 2)(0, 1000000)
pages = mmap.mmap(-1, CALLS * mmap.PAGESIZE)


def function(name):
    """Calls of all of them take the same way through ctypes."""
    found = libc[name]
    found.argtypes = ctypes.c_void_p, ctypes.c_long, ctypes.c_long
    found.restype = ctypes.c_long
    return found


TARGETS = 'getppid', 'memfrob', 'syscall'
backtrace = function('backtrace')
getppid, memfrob, syscall = map(function, TARGETS)


def show():
    print(json.dumps({
        'callers': [address for address in callers if address],
        'targets': {name: ctypes.cast(libc[name], ctypes.c_void_p).value
                    for name in TARGETS}}), flush=True)


def ticks():
    """Timer interrupts of all CPUs; those of an event that samples, too."""
    with open('/proc/interrupts', encoding='ascii') as file:
        timer = next(line for line in file if 'LOC:' in line)
    return sum(int(word) for word in timer.split() if word.isdigit())


def steps():
    """The first calls let the interpreter adapt itself."""
    for _ in range(100):
        yield backtrace, callers, DEEPEST, 0
    show()
    input()
    for _ in range(CALLS):
        yield getppid, 0, 0, 0
    for _ in range(SLEEPS):
        yield syscall, NANOSLEEP, ctypes.addressof(millisecond), 0
    first = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    for page in range(first, first + len(pages), mmap.PAGESIZE):
        yield memfrob, page, 1, 0
    end = ticks() + TICKS
    while ticks() < end:
        for _ in range(20):
            yield memfrob, text, len(text), 0
    ctypes.memset(callers, 0, ctypes.sizeof(callers))
    yield backtrace, callers, DEEPEST, 0
    show()


def call(step):
    target, *arguments = step
    return target(*arguments)


max(map(call, steps()))         # in C, between Python and Python
