# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""test_oracle.py ORACLE SAMPLE DIRECTORY: what the oracle says of known chains.

SAMPLE is sample.c, built. DIRECTORY is for scratch.
"""
import os
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


def map_records(without=None):
    for line in taken.maps:
        span, rights, offset, _, inode, *path = line.split()
        if 'x' not in rights or not path or \
                without and without in path[0]:
            continue
        start, end = (int(part, 16) for part in span.split('-'))
        name = path[0].encode() + b'\0'
        yield record(MMAP2, USER, struct.pack(
            '<IIQQQIIQQII', PID, TID, start, end - start, int(offset, 16), 0,
            0, int(inode), 0, PROT_READ_EXEC, 2) +
            name.ljust(len(name) + 7 & ~7, b'\0') + behind(1))


def sample_record(chain, stack, misc=USER, time=TIME):
    chain = [CONTEXT_USER] + chain
    return record(SAMPLE_TYPE, misc, struct.pack(
        '<IIQQ', PID, TID, time, len(chain)) +
        struct.pack('<%dQ' % len(chain), *chain) +
        struct.pack('<Q20Q', 2, *taken.regs) +
        struct.pack('<Q', len(stack)) + stack +
        struct.pack('<Q', len(stack)))


def ask(records):
    path = os.path.join(SCRATCH, 'test.rec')
    with open(path, 'wb') as file:
        file.write(b''.join(records))
    done = subprocess.run([ORACLE, path, '/', '500', '2000'], text=True,
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
    equal(lines, [])


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
