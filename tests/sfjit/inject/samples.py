# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: samples.py DIRECTORY: small recordings, of all kinds of records"""
import os
import sys

# pylint: disable=wildcard-import,unused-wildcard-import
from recording import *  # noqa: F403


def attrs():
    kind = IP | TID | TIME | CPU | IDENTIFIER
    return [Attr(kind | DWARF | CALLCHAIN | READ | BRANCH_STACK | WEIGHT,
                 size=96, ids=(1,), read_format=8, branch_type=1 << 17,
                 stack=24),
            Attr(kind | RAW, size=96, ids=(2,), kind=2, config=77),
            Attr(kind | CALLCHAIN, size=96, ids=(3,))]


def records(both):
    one, two, three = both
    return [
        mmap2(one, 1, 0x401000, 0x4000, '/bin/a', inode=5),
        mmap(one, 1, 0x501000, 0x4000, '/bin/b'),
        task(one, FORK, 2, 2, 1, time=10, id=1),
        comm(one, 2, 'a', misc=1 << 13, time=11, id=1),
        sample(one, id=1, pid=2, time=20, kernel=[CONTEXT_KERNEL, 1 << 63]),
        ROUND,
        sample(two, id=2, pid=2, time=15,
               raw=halves(77, 5) + words(11, 0x501000, 0x1000) + bytes(4)),
        sample(three, id=3, pid=2, time=16, kernel=[CONTEXT_KERNEL, 1 << 63],
               old_user=[CONTEXT_USER, 0x401005, 0x402006]),
        sample(three, id=3, pid=2, time=17, old_user=[CONTEXT_DEFERRED, 9]),
        event(three, CALLCHAIN_DEFERRED, words(9, 2, 0x401005, 0x402006),
              id=3, pid=2, time=18),
        task(one, EXIT, 2, 2, 1, time=30, id=1), ROUND]


def write(name, data):
    with open(os.path.join(sys.argv[1], name), 'wb') as file:
        file.write(data)


def before(items):
    return [item[0] if isinstance(item, tuple) else item for item in items]


def main():
    both = attrs()
    tracing = tracing_data(77)
    tracing = tracing.ljust(-(-len(tracing) // 8) * 8, b'\0')
    ids = build_id('/bin/a', b'\1' * 20)
    write('file', make_file(both, before(records(both)), False, features={
        F_TRACING_DATA: tracing, F_BUILD_ID: ids, F_ARCH: ARCH,
        F_EVENT_DESC: event_desc(both, False)}))
    write('pipe', make_pipe(both, [
        record(HEADER_FEATURE, words(F_EVENT_DESC) + event_desc(both, False)),
        record(HEADER_FEATURE, words(F_ARCH) + ARCH),
        record(TRACING_DATA, halves(len(tracing))) + tracing, ids,
        *before(records(both))], False))
    zstd = Zstd()
    write('compressed', make_file(both, [
        *before(records(both))[:3], zstd.record(b''.join(
            before(records(both))[3:8])), ROUND,
        zstd.record(b''.join(before(records(both))[8:]), COMPRESSED2)], False,
            features={F_COMPRESSED: halves(1, 1, 1, 2, 4096)}))


try:
    main()
except OSError as problem:
    print('# compressed recordings: %s' % problem)
