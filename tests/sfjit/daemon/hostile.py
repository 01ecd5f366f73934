# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: hostile.py DIRECTORY GOOD OTHER LIBC

Attacks sfjit daemon as an ordinary user can: makes files in DIRECTORY from the
programs GOOD and OTHER, maps them as text, changes them while they are mapped, prints
a line when all are, and ends at the end of its input.
"""
import ctypes
import mmap
import os
import re
import struct
import sys

PAGE = mmap.PAGESIZE
ROUNDS = 300
KEEP_SIZE, PUNCH_HOLE = 1, 2


def read(path):
    with open(path, 'rb') as file:
        return bytearray(file.read())


def map_text(file):
    return mmap.mmap(file.fileno(), PAGE, flags=mmap.MAP_PRIVATE,
                     prot=mmap.PROT_READ | mmap.PROT_EXEC)


def mapped(path, data, length=None):
    """A file with this data, mapped until the end of the process."""
    with open(path, 'wb') as file:
        file.write(data)
        if length:
            file.truncate(length)
    with open(path, 'rb') as file:
        return map_text(file)


def build_id(data):
    """Where it begins."""
    note = struct.pack('=III4s', 4, 20, 3, b'GNU')
    return data.index(note) + len(note)


def with_build_id(data, of):
    mine, its = build_id(data), build_id(of)
    return data[:mine] + of[its:its + 20] + data[mine + 20:]


def with_large_parts(data):
    """Segments and sections are as long as 1/4 of the file shall be."""
    data = data[:]
    for table, number, size, lengths in ((32, 56, 56, (32, 40)),
                                         (40, 60, 64, (32,))):
        at, = struct.unpack_from('=Q', data, table)
        count, = struct.unpack_from('=H', data, number)
        for i in range(count):
            for length in lengths:
                struct.pack_into('=Q', data, at + i * size + length, 1 << 38)
    return data


def rewrite(path, contents):
    """Maps it with each of the contents in turn, which it has at that time."""
    held = []
    with open(path, 'w+b') as file:
        for i in range(ROUNDS):
            file.seek(0)
            file.write(contents[i % len(contents)])
            file.truncate()
            file.flush()
            held.append(map_text(file))
            del held[:-2]
    return held


def punch(path, data):
    """All of it becomes zeros, page by page, while it is mapped."""
    text = mapped(path, data)
    fallocate = ctypes.CDLL(None, use_errno=True).fallocate64
    fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64,
                          ctypes.c_int64]
    with open(path, 'r+b') as file:
        for at in range(0, len(data), PAGE):
            if fallocate(file.fileno(), KEEP_SIZE | PUNCH_HOLE, at, PAGE):
                raise OSError(ctypes.get_errno(), path)
            map_text(file).close()
    return text


def main(directory, good, other, libc):
    os.chdir(directory)
    good, other, libc = map(read, (good, other, libc))
    class32 = good[:4] + b'\1' + good[5:]
    held = [
        mapped('cut', good[:PAGE]),
        mapped('class32', class32),
        mapped('sparse', good, 1 << 40),
        mapped('large', with_large_parts(good), 1 << 40),
        mapped('zeros', b'\x7fELF', 1 << 40),
        mapped('libcs-id', with_build_id(good, libc)),
        rewrite('rewritten', (good, other, good[:PAGE])),
        punch('holes', other),
    ]
    print(len(held), flush=True)
    sys.stdin.read()


main(*sys.argv[1:])
