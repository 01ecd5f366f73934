# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""files.py ROOT [RECORD...]: copies what the oracle unwinds by, in the guest.

The files whose code is mapped in the recordings of tests/kernel/replay/recorder, and
the vDSO, which all processes have.
"""
import os
import shutil
import struct
import sys

RECORD = struct.Struct('<IIQ')
MMAP2 = 10
PROT_EXEC = 4
VDSO = '[vdso]'


def mapped(path):
    with open(path, 'rb') as file:
        while head := file.read(RECORD.size):
            kind, _, size = RECORD.unpack(head)
            if kind != MMAP2:
                file.seek(size, os.SEEK_CUR)
                continue
            body = file.read(size)
            if struct.unpack_from('<I', body, 56)[0] & PROT_EXEC:
                yield os.fsdecode(body[64:].split(b'\0')[0])


def copy_vdso(root):
    with open('/proc/self/maps', encoding='utf-8') as maps:
        line = next(line for line in maps if line.rstrip().endswith(VDSO))
    start, end = (int(part, 16) for part in line.split()[0].split('-'))
    with open('/proc/self/mem', 'rb') as memory:
        memory.seek(start)
        code = memory.read(end - start)
    with open(os.path.join(root, VDSO), 'wb') as file:
        file.write(code)


def main(root, *recordings):
    os.makedirs(root, exist_ok=True)
    copy_vdso(root)
    for path in {path for name in recordings for path in mapped(name)}:
        if path.startswith('/') and os.path.isfile(path):
            os.makedirs(root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, root + path)


main(*sys.argv[1:])
