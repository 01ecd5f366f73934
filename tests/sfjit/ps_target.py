# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""A program with a window of its own, that waits to be looked at."""
import ctypes
import mmap
import struct
import sys

REGISTER = 0x53464a31
PACKED = 4
PAGE = mmap.PAGESIZE

memory = mmap.mmap(-1, 2 * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                   mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
# Header of a packed table for no code: version 1, AMD64, one rule.
memory[PAGE:PAGE + 32] = struct.pack('<HBBBBHQIIQ', 0x5053, 1, 3, 0, 0, 1, 0,
                                     0, 0, 0)
opts = ctypes.create_string_buffer(
    struct.pack('<IIQQIIQ', 40, 0, start, 256, PACKED, 0, 0))
prctl = ctypes.CDLL(None, use_errno=True).prctl
prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
if prctl(REGISTER, 7, start + PAGE, 200, ctypes.addressof(opts)):
    sys.exit('prctl: errno %d' % ctypes.get_errno())


def wait():
    print('%x' % start, flush=True)
    sys.stdin.read()


wait()
