# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: test_late.py SFJIT DIRECTORY

Programs that write the description of their code late, as CPython does.
"""
import re
import struct

# pylint: disable=wildcard-import,unused-wildcard-import
from recorder import *  # noqa: F403
from recording import (COMMON, EXIT, SAMPLE, SAMPLE_ID_ALL,
                       USE_CLOCKID, USER, comm, halves, jit_header, jit_load,
                       jit_unwinding, mmap2, record as record_of, task, words)
# pylint: disable=wrong-import-order
from tap import check_each, finish

CODE, CALLER, OTHER, STACK = 0x100000, 0x200000, 0x300000, 0x7f0000001000
DUMP = os.path.join(DIR, 'jit-1.dump')
LATER = os.path.join(DIR, 'later')
COPIED = Attr(COMMON, regs=0b111 << 6, flags=SAMPLE_ID_ALL | USE_CLOCKID,
              clockid=1)
CHAINS = Attr(IP | TID | TIME | CALLCHAIN, regs=0, stack=0,
              flags=SAMPLE_ID_ALL | USE_CLOCKID, clockid=1)
# More than the pipe has room for: what comes before is read when it is written.
FILLER = [ROUND, comm(COPIED, 9, 'x' * 60000, time=1), ROUND] * 10


def unwinding(start, size, cfa):
    """.eh_frame: the CFA is so many bytes above the stack pointer."""
    cie = struct.pack('<IB3sBBBBB', 0, 1, b'zR\0', 1, 0x78, 16, 1, 0) + bytes(
        [0x0c, 7, cfa, 0x80 | 16, 1])
    cie += bytes(-(len(cie) + 4) % 8)
    fde = struct.pack('<IQQB', len(cie) + 8, start, size, 0)
    fde += bytes(-(len(fde) + 4) % 8)
    return b''.join(halves(len(part)) + part for part in (cie, fde)) + halves(0)


def described(*codes):
    """Frames of 24 bytes, and their return addresses."""
    return b''.join(jit_unwinding(10, unwinding(start, 64, 32)) +
                    jit_load(10, start, 64, index)
                    for index, start in enumerate(codes, 1))


def sampled(ip, time, *, pid=1, room=128):
    """By the table its caller is CALLER, whose caller is 0x55; by the frame
    pointer the caller is 0x66."""
    stack = words(0, 0, 0, CALLER + 9, 0, 0, 0, 0x55, 0, 0, 0x66)
    return record_of(SAMPLE, words(ip) + halves(pid, pid) + words(
        time, 2, STACK + 72, STACK, ip, room) + stack.ljust(room, b'\0') + words(
            len(stack)), USER)


def converted(ip, time, *chain, pid=1):
    return record_of(SAMPLE, words(ip) + halves(pid, pid) + words(
        time, 1 + len(chain), CONTEXT_USER, *chain), USER)


FIRST_CODE = [CODE + 8, CALLER + 8, 0x54]
BY_POINTER = [CODE + 8, 0x65]


def mapped(*codes, pid=1):
    return [mmap2(COPIED, pid, 0x9000, 4096, DUMP, time=2)] + [
        mmap2(COPIED, pid, code, 4096, '//anon', time=2) for code in codes]


def late(before, more, rest, *words_, begins=jit_header()):
    """Samples are read; then the file grows by more, and then comes the rest."""
    begin(first=make_pipe([COPIED], before + FILLER, False),
          rest=b''.join(rest))
    with open(DUMP, 'wb') as file:
        file.write(begins)
    with open(LATER, 'wb') as file:
        file.write(more)
    status, _, said = run('record', *words_, '-o', 'out', 'sh', '-c',
                          'cat %s >>%s' % (LATER, DUMP))
    same(status, 0)
    return said


def wrote(before, rest):
    got, want = get('out'), make_file([CHAINS], before + FILLER + rest, True)
    where = next((i for i, both in enumerate(zip(got, want))
                  if both[0] != both[1]), None)
    assert got == want, '%d bytes, wanted %d; byte %s: %r, wanted %r' % (
        len(got), len(want), where, got[(where or 0) // 8 * 8:][:32],
        want[(where or 0) // 8 * 8:][:32])


def test_the_file_grows():
    """Records stay in their order."""
    maps = mapped(CODE, CALLER)
    after = comm(COPIED, 7, 'new', time=21)
    late([*maps, sampled(CODE + 8, 20, room=4096), after], described(
        CODE, CALLER), [ROUND, comm(COPIED, 8, 'late', time=30), ROUND,
                        sampled(CODE + 8, 40)], '--quiet')
    wrote([*maps, converted(CODE + 8, 20, *FIRST_CODE), after],
          [ROUND, comm(COPIED, 8, 'late', time=30), ROUND,
           converted(CODE + 8, 40, *FIRST_CODE)])


def test_the_program_ends():
    """Its exit comes after a sample whose code has no description."""
    maps = mapped(CODE, CALLER, OTHER)
    ended = task(COPIED, EXIT, 1, 1, 0, time=30)
    sample_of = [sampled(CODE + 8, 20), sampled(OTHER + 8, 21)]
    said = late([*maps, *sample_of], described(CODE, CALLER),
                [ended, ROUND, ROUND, sampled(0x5000, 50, pid=2), ROUND])
    wrote([*maps, converted(CODE + 8, 20, *FIRST_CODE),
           converted(OTHER + 8, 21, OTHER + 8, 0x65)],
          [ended, ROUND, ROUND, converted(0x5000, 50, 0x5000, pid=2), ROUND])
    same(re.findall(r'sfjit: 3 samples.*lost', said),
         ['sfjit: 3 samples, 0 complete (0.00 %), 0 lost'])
    same(re.findall('stacks end: (.*)', said),
         ['3 nothing is known of the address'])


def test_the_header_is_late_too():
    """The first 4 KiB of a program are in its memory."""
    maps = mapped(CODE, CALLER)
    for begins in b'', jit_header()[:39]:
        late([*maps, sampled(CODE + 8, 20)],
             jit_header()[len(begins):] + described(CODE, CALLER), [ROUND],
             '--quiet', begins=begins)
        wrote([*maps, converted(CODE + 8, 20, *FIRST_CODE)], [ROUND])


def test_it_is_no_jitdump():
    maps = mapped(CODE, CALLER)
    for more, said in ((b'', 'not a jitdump'),
                       (bytes(40), 'not a jitdump of version 1')):
        same(late([*maps, sampled(CODE + 8, 20)], more, [ROUND], '--quiet',
                  begins=b''), 'sfjit: %s: %s\n' % (DUMP, said))
        wrote([*maps, converted(CODE + 8, 20, *BY_POINTER)], [ROUND])


def test_one_half_is_described():
    """Then it waits for the other."""
    maps = mapped(CODE, CALLER)
    late([*maps, sampled(CODE + 8, 20)], described(CALLER),
         [ROUND], '--quiet', begins=jit_header() + described(CODE))
    wrote([*maps, converted(CODE + 8, 20, *FIRST_CODE)], [ROUND])


def test_it_is_never_described():
    maps = mapped(CODE, CALLER)
    late([*maps, sampled(CODE + 8, 20)], b'', [ROUND], '--quiet')
    wrote([*maps, converted(CODE + 8, 20, *BY_POINTER)], [ROUND])


def test_without_a_jitdump_nothing_waits():
    maps = mapped(CODE, CALLER)[1:]
    late([*maps, sampled(CODE + 8, 20)], described(CODE, CALLER), [ROUND],
         '--quiet')
    wrote([*maps, converted(CODE + 8, 20, *BY_POINTER)], [ROUND])


def test_the_address_has_other_code_by_then():
    """A sample is of its own time."""
    maps = mapped(CODE, CALLER)
    new = mmap2(COPIED, 1, CODE, 4096, '/no/such/file', time=30)
    late([*maps, sampled(CODE + 8, 20)], described(CODE, CALLER),
         [new, ROUND, comm(COPIED, 8, 'late', time=40), ROUND, ROUND],
         '--quiet')
    wrote([*maps, converted(CODE + 8, 20, *FIRST_CODE)],
          [new, ROUND, comm(COPIED, 8, 'late', time=40), ROUND, ROUND])


def test_many_wait():
    """The oldest are written as they are."""
    maps = mapped(CODE, CALLER)
    stack = words(0, 0, 0, CALLER + 9, 0, 0, 0, 0x55, 0, 0, 0x66)
    large = [record_of(SAMPLE, words(CODE + 8) + halves(1, 1) + words(
        20, 2, STACK + 72, STACK, CODE + 8, 65000) + stack.ljust(
            65000, b'\0') + words(65000), USER)]
    count = (256 << 20) // 65000 + 100
    said = late([*maps, *large * count], described(CODE, CALLER), [ROUND])
    hasty = int(re.findall('sfjit: (.*) samples in generated code could not '
                           'wait for its description: more than 256 MiB did\n',
                           said)[0])
    assert 100 <= hasty < 200, hasty
    wrote([*maps, *[converted(CODE + 8, 20, *BY_POINTER)] * hasty,
           *[converted(CODE + 8, 20, *FIRST_CODE)] * (count - hasty)],
          [ROUND])


check_each('late', list(globals().items()))
finish()
