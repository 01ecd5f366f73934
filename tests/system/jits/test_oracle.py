# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""test_oracle.py ORACLE SAMPLE DIRECTORY: what the oracle says of known chains.

SAMPLE is sample.c, built. DIRECTORY is for scratch.
"""
import os
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', '..', 'tools', 'jits.d'),
                os.path.join(HERE, '..', '..', 'lib')]
sys.dont_write_bytecode = True

from tap import check_each, finish
from sfjits import oracle

ORACLE, SAMPLE, SCRATCH = sys.argv[1:]
RECORD = struct.Struct('<IIQ')
MMAP2, SAMPLE_TYPE, CALLCHAIN_DEFERRED = 10, 9, 22
USER, DEFERRED = 2, 0x10000
CONTEXT_USER, CONTEXT_USER_DEFERRED = 2 ** 64 - 512, 2 ** 64 - 640
PID, TID, TIME = 70, 71, 1000
PROT_READ_EXEC = 5
REG_IP = 8
HEADER = struct.Struct('<IIQQQQQQ')
PT_LOAD, PT_GNU_STACK, PAGE = 1, 0x6474e551, 4096


def equal(got, want):
    if got != want:
        raise AssertionError('%r, not %r' % (got, want))


class Taken:
    """What sample.c printed."""

    def __init__(self):
        said = subprocess.run([SAMPLE], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        self.regs, self.chain, self.maps = [], [], []
        for line in said.splitlines():
            what, _, rest = line.partition(' ')
            if what == 'reg':
                self.regs.append(int(rest, 16))
            elif what == 'ip':
                self.chain.append(int(rest, 16))
            elif what == 'stack':
                self.stack = bytes.fromhex(rest)
            else:
                self.maps.append(rest)


taken = Taken()


def record(kind, misc, body):
    return RECORD.pack(kind, misc, len(body)) + body


def behind(time):
    """What all records but samples end with."""
    return struct.pack('<IIQ', PID, TID, time)


def map_record(start, length, offset, path):
    name = path.encode() + b'\0'
    return record(MMAP2, USER, struct.pack(
        '<IIQQQIIQQII', PID, TID, start, length, offset, 0, 0, 0, 0,
        PROT_READ_EXEC, 2) +
        name.ljust(len(name) + 7 & ~7, b'\0') + behind(1))


def executable():
    """(start, length, offset, path) of each mapping."""
    for line in taken.maps:
        span, rights, offset, _, _, *path = line.split()
        if 'x' in rights and path:
            start, end = (int(part, 16) for part in span.split('-'))
            yield start, end - start, int(offset, 16), path[0]


def map_records(without=None):
    return [map_record(*one) for one in executable()
            if not without or without not in one[-1]]


def sample_record(chain, stack, misc=USER, time=TIME, regs=None):
    chain = [CONTEXT_USER] + chain
    return record(SAMPLE_TYPE, misc, struct.pack(
        '<IIQQ', PID, TID, time, len(chain)) +
        struct.pack('<%dQ' % len(chain), *chain) +
        struct.pack('<Q20Q', 2, *(taken.regs if regs is None else regs)) +
        struct.pack('<Q', len(stack)) + stack +
        struct.pack('<Q', len(stack)))


def ask(records, root='/'):
    path = os.path.join(SCRATCH, 'test.rec')
    with open(path, 'wb') as file:
        file.write(b''.join(records))
    done = subprocess.run([ORACLE, path, root, '500', '2000'], text=True,
                          check=True, stdout=subprocess.PIPE)
    return done.stdout.splitlines()


def verdict(chain, stack=None, without=None):
    lines = ask(list(map_records(without)) +
                [sample_record(chain, taken.stack if stack is None else
                               stack)])
    equal(len(lines), 1)
    mode, complete, reason = lines[0].split('\t')
    equal(mode, 'fp')
    return complete == '1', reason


NAME = os.path.basename(SAMPLE)
FILE = next(one for one in executable() if os.path.samefile(one[3], SAMPLE))


def test_known_chain_is_exact():
    equal(len(taken.chain) >= 6, True)
    equal(verdict(taken.chain), (True, '-'))


def test_each_missing_caller_is_found():
    for i in range(1, len(taken.chain) - 1):
        complete, reason = verdict(taken.chain[:i] + taken.chain[i + 1:])
        equal((i, complete, reason.split(':')[0]),
              (i, True, 'silently wrong'))


def test_another_caller_is_named_by_the_last_right_frame():
    chain = list(taken.chain)
    chain[2] += 1
    equal(verdict(chain),
          (True, 'silently wrong: another caller in ' + NAME))


def test_a_frame_too_many():
    chain = taken.chain[:3] + [taken.chain[3]] + taken.chain[3:]
    equal(verdict(chain)[1], 'silently wrong: another caller in ' + NAME)
    equal(verdict(taken.chain + [0x1b00000000]),
          (False, 'cut and wrong: another caller in ' + NAME))


def test_cut():
    equal(verdict(taken.chain[:2]), (False, 'cut in ' + NAME))
    equal(verdict([]), (False, 'cut: no frame'))


def test_cut_and_wrong():
    equal(verdict(taken.chain[:2] + [0x1234]),
          (False, 'cut and wrong: another caller in ' + NAME))


def test_copy_of_the_stack_too_short():
    short = 'not judged: stack copy too short'
    equal(verdict(taken.chain, taken.stack[:64]), (True, short))
    equal(verdict(taken.chain[:1], taken.stack[:64]), (False, short))


def test_no_call_frame_information():
    complete, reason = verdict(taken.chain, without='libc')
    equal((complete, reason), (True, 'not judged behind outside all code'))
    at = next(i for i, ip in enumerate(taken.chain)
              if ip >> 40 != taken.chain[0] >> 40)
    equal(verdict(taken.chain[:at + 1], without='libc'),
          (False, 'cut where call frame information ends: outside all code'))


def test_deferred():
    cookie = 17
    chain = struct.pack('<%dQ' % len(taken.chain), *taken.chain)
    lines = ask(list(map_records()) + [
        sample_record([CONTEXT_USER_DEFERRED, cookie], taken.stack,
                      USER | DEFERRED),
        record(CALLCHAIN_DEFERRED, USER, struct.pack(
            '<QQ', cookie, len(taken.chain)) + chain + behind(TIME + 1))])
    equal(lines, ['defer\t1\t-'])


def test_other_deferred_chain():
    lines = ask(list(map_records()) + [
        sample_record([CONTEXT_USER_DEFERRED, 17], taken.stack,
                      USER | DEFERRED),
        record(CALLCHAIN_DEFERRED, USER,
               struct.pack('<QQ', 18, 0) + behind(TIME + 1))])
    equal(lines, ['defer\t0\tnot judged: its chain never came'])


def test_each_deferred_chain_that_never_comes_is_counted():
    lines = ask(list(map_records()) + [
        sample_record([CONTEXT_USER_DEFERRED, cookie], taken.stack,
                      USER | DEFERRED) for cookie in (17, 18, 19)])
    equal(lines, ['defer\t0\tnot judged: its chain never came'] * 3)


def test_no_copy_of_the_stack():
    equal(verdict(taken.chain, b''),
          (False, 'not judged: no registers, or no stack'))


def test_file_that_libdw_does_not_take():
    _, _, offset, path = next(one for one in executable()
                              if 'libc' in one[3])
    regs = list(taken.regs)
    regs[REG_IP] = FILE[0] + FILE[1]
    reason = 'not judged: libdw does not take ' + os.path.basename(path)
    for chain in ([regs[REG_IP]], [regs[REG_IP], 0x1234]):
        lines = ask([map_record(*FILE),
                     map_record(regs[REG_IP], PAGE, offset, path),
                     sample_record(chain, taken.stack, regs=regs)])
        equal(lines, ['fp\t0\t' + reason])


def test_pieces_of_a_segment():
    start, length, offset, path = FILE
    pieces = [map_record(start + at, PAGE, offset + at, path)
              for at in range(0, length, PAGE)]
    equal(len(pieces) >= 2, True)
    equal(ask(list(map_records(NAME)) + pieces +
              [sample_record(taken.chain, taken.stack)]), ['fp\t1\t-'])


def with_segment(root, far):
    """
    FILE below @root, with a second executable segment, of the bytes after the
    first, at the address @far in another page; returns its mapping.
    """
    with open(SAMPLE, 'rb') as file:
        data = bytearray(file.read())
    table, = struct.unpack_from('<Q', data, 0x20)
    size, nr = struct.unpack_from('<HH', data, 0x36)
    headers = range(table, table + size * nr, size)
    start, length, first, path = FILE
    for at in headers:
        kind, flags, offset, address, _, in_file, *_ = HEADER.unpack_from(
            data, at)
        if (kind, flags) == (PT_LOAD, PROT_READ_EXEC):
            end, bias = offset + in_file, start - (address - address % PAGE)
    for at in headers:
        if HEADER.unpack_from(data, at)[0] == PT_GNU_STACK:
            HEADER.pack_into(data, at, PT_LOAD, PROT_READ_EXEC, end,
                             far + end % PAGE, 0, 8, 8, PAGE)
    os.makedirs(root + os.path.dirname(path))
    with open(root + path, 'wb') as file:
        file.write(data)
    equal(first < end - end % PAGE < first + length, True)
    return bias + far, PAGE, end - end % PAGE, path


def test_second_executable_segment():
    root = os.path.join(SCRATCH, 'root')
    second = with_segment(root, 0x10000)
    for _, _, _, path in executable():
        if os.path.isfile(path) and not os.path.exists(root + path):
            os.makedirs(root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, root + path)
    records = list(map_records())
    taken_sample = sample_record(taken.chain, taken.stack)
    equal(ask(records + [taken_sample], root), ['fp\t1\t-'])
    equal(ask(records + [map_record(*second), taken_sample], root), ['fp\t1\t-'])
    # The page is in both segments, but there are no rules for its second address.
    start, _, offset, _ = second
    at = next(ip - FILE[0] + FILE[2] for ip in taken.chain
              if offset <= ip - FILE[0] + FILE[2] < offset + PAGE)
    regs = list(taken.regs)
    regs[REG_IP] = start + at - offset
    equal(ask(records + [map_record(*second), sample_record(
        [regs[REG_IP]], taken.stack, regs=regs)], root),
          ['fp\t0\tcut where call frame information ends: ' + NAME])


def test_times():
    records = list(map_records())
    for time in (499, 500, 2000, 2001):
        records.append(sample_record(taken.chain, taken.stack, time=time))
    equal(ask(records), ['fp\t1\t-'] * 2)


def test_figures():
    lines = ['fp\t1\t-', 'fp\t1\tsilently wrong: x', 'fp\t0\tcut in y',
             'defer\t1\t-']
    equal(oracle.figures(lines), {
        'fp': {'samples': 3, 'complete': 2, 'exact': 1,
               'lost': {'silently wrong: x': 1, 'cut in y': 1}},
        'defer': {'samples': 1, 'complete': 1, 'exact': 1, 'lost': {}}})


check_each('oracle:', list(globals().items()))
finish()
