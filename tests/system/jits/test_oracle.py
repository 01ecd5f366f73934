# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""test_oracle.py ORACLE SAMPLE DIRECTORY: what the oracle says of known chains.

SAMPLE is sample.c, built. DIRECTORY is for scratch.
"""
import copy
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
MMAP2, SAMPLE_TYPE, CALLCHAIN_DEFERRED, WINDOWS, COUNTS = 10, 9, 22, 1000, 1002
USER, DEFERRED = 2, 0x10000
CONTEXT_USER, CONTEXT_USER_DEFERRED = 2 ** 64 - 512, 2 ** 64 - 640
PID, TID, TIME = 70, 71, 1000
PROT_READ_EXEC, PROT_WRITE = 5, 2
HEADER = struct.Struct('<IIQQQQQQ')
PT_LOAD, PT_GNU_STACK, PAGE = 1, 0x6474e551, 4096
# Places of registers, as the recorder takes them.
BP, SP, IP = 6, 7, 8


def equal(got, want):
    if got != want:
        raise AssertionError('%r, not %r' % (got, want))


class Taken:
    """What sample.c printed."""

    def __init__(self, *arguments):
        said = subprocess.run([SAMPLE, *arguments], check=True, text=True,
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
            elif what == 'map':
                self.maps.append(rest)
            else:
                setattr(self, what, int(rest, 16))

    def word(self, address):
        at = address - self.regs[SP]
        return struct.unpack_from('<Q', self.stack, at)[0] \
            if 0 <= at <= len(self.stack) - 8 else None

    def records(self):
        """What return addresses a frame pointer leads to."""
        found, frame = [], self.regs[BP]
        while self.word(frame) is not None and \
                self.word(frame + 8) is not None:
            found.append(self.word(frame + 8))
            frame = self.word(frame)
        return found

    def true_records(self):
        return [address for address in self.records() if address in self.chain]

    def at_entry(self):
        """Of the innermost function: rbp is still that of its caller."""
        other = copy.copy(self)
        other.regs = list(self.regs)
        other.regs[SP] = self.regs[BP] + 8
        other.regs[BP] = self.word(self.regs[BP])
        other.regs[IP] = self.entry
        other.stack = self.stack[other.regs[SP] - self.regs[SP]:]
        other.chain = [self.entry] + self.chain[1:]
        return other

    def in_leaf(self):
        """In a function that the innermost one calls, which has no frame."""
        other = copy.copy(self)
        other.regs = list(self.regs)
        other.regs[SP] -= 8
        other.regs[IP] = self.leaf
        other.stack = struct.pack('<Q', self.after) + self.stack
        other.chain = [self.leaf, self.after] + self.chain[1:]
        return other


taken = Taken()
# A function in between has no call frame information.
bare, by_pointer = Taken('bare'), Taken('pointer')
BARE = 2                # its place in the chain


def record(kind, misc, body):
    return RECORD.pack(kind, misc, len(body)) + body


def behind(time):
    """What all records but samples end with."""
    return struct.pack('<IIQ', PID, TID, time)


def map_record(start, length, offset, path, prot=PROT_READ_EXEC):
    name = path.encode() + b'\0'
    return record(MMAP2, USER, struct.pack(
        '<IIQQQIIQQII', PID, TID, start, length, offset, 0, 0, 0, 0,
        prot, 2) +
        name.ljust(len(name) + 7 & ~7, b'\0') + behind(1))


def executable(sample):
    """(start, length, offset, path) of each mapping."""
    for line in sample.maps:
        span, rights, offset, _, _, *path = line.split()
        if 'x' in rights and path:
            start, end = (int(part, 16) for part in span.split('-'))
            yield start, end - start, int(offset, 16), path[0]


def map_records(sample, generated=None, without=None):
    """@generated: a file whose code seems to be generated."""
    return [map_record(*place, '//anon' if generated and generated in path
                       else path)
            for *place, path in executable(sample)
            if not without or without not in path]


def sample_record(chain, sample, stack=None, misc=USER, time=TIME):
    stack = sample.stack if stack is None else stack
    chain = [CONTEXT_USER] + chain
    return record(SAMPLE_TYPE, misc, struct.pack(
        '<IIQQ', PID, TID, time, len(chain)) +
        struct.pack('<%dQ' % len(chain), *chain) +
        struct.pack('<Q20Q', 2, *sample.regs) +
        struct.pack('<Q', len(stack)) + stack +
        struct.pack('<Q', len(stack)))


def ask(records, root='/'):
    """Lines of samples, and those of counts."""
    path = os.path.join(SCRATCH, 'test.rec')
    with open(path, 'wb') as file:
        file.write(b''.join(records))
    done = subprocess.run([ORACLE, path, root, '500', '2000'], text=True,
                          check=True, stdout=subprocess.PIPE)
    lines = done.stdout.splitlines()
    samples = [line for line in lines if line.count('\t') == 3]
    return samples, lines[len(samples):]


def verdict(chain, sample=taken, stack=None, generated=None):
    """Whether it is complete; how many frames it lacks; what is wrong."""
    lines, counts = ask(map_records(sample, generated) +
                        [sample_record(chain, sample, stack)])
    equal((len(lines), counts), (1, ['uncounted\t0']))
    mode, complete, lacking, reason = lines[0].split('\t')
    equal(mode, 'fp')
    return complete == '1', int(lacking), reason


NAME = os.path.basename(SAMPLE)
FILE = next(one for one in executable(taken)
            if os.path.samefile(one[3], SAMPLE))


ANOTHER = 'another caller in ' + NAME
TOPMOST = 'another caller of the topmost function in ' + NAME
ENDS = 'cut where call frame information ends: ' + NAME
UNCERTAIN = 'uncertain above ' + NAME
EXACT = True, 0, '-'


def without(chain, *places):
    return [ip for i, ip in enumerate(chain) if i not in places]


def nr_true(sample):
    """As many as a walk by frame pointer finds."""
    found = len(sample.true_records())
    equal(found >= 3, True)
    return found


def test_known_chain_is_exact():
    equal(len(taken.chain) >= 6, True)
    equal(verdict(taken.chain), EXACT)


def test_each_missing_caller_is_found():
    for i in range(1, len(taken.chain) - 1):
        lacking = int(taken.chain[i] in taken.true_records())
        equal((i, *verdict(without(taken.chain, i)))[:3], (i, True, lacking))
        equal((i, verdict(without(taken.chain, i))[2].split(':')[0]),
              (i, 'silently wrong'))


def test_another_caller_is_named_by_the_last_right_frame():
    chain = list(taken.chain)
    chain[2] += 1
    equal(verdict(chain), (True, 1, 'silently wrong: ' + ANOTHER))


def test_a_frame_too_many():
    chain = taken.chain[:3] + [taken.chain[3]] + taken.chain[3:]
    equal(verdict(chain), (True, 0, 'silently wrong: ' + ANOTHER))
    equal(verdict(taken.chain + [0x1b00000000]),
          (False, 0, 'cut and wrong: ' + ANOTHER))


def test_cut():
    equal(verdict(taken.chain[:2]),
          (False, nr_true(taken) - 1, 'cut in ' + NAME))
    equal(verdict([]), (False, nr_true(taken), 'cut: no frame'))


def test_cut_after_all_that_a_frame_pointer_finds():
    last = taken.chain.index(taken.true_records()[-1])
    equal(verdict(taken.chain[:last + 1])[:2], (False, 0))


def test_cut_and_wrong():
    equal(verdict(taken.chain[:2] + [0x1234]),
          (False, nr_true(taken) - 1, 'cut and wrong: ' + ANOTHER))


def test_caller_that_a_frame_pointer_misses():
    sample = taken.at_entry()
    equal(verdict(sample.chain, sample), EXACT)
    equal(verdict(without(sample.chain, 1), sample),
          (True, 0, 'silently wrong: ' + TOPMOST))
    equal(verdict(sample.chain[:1], sample),
          (False, nr_true(taken) - 1, 'cut in ' + NAME))


def test_what_a_false_frame_pointer_finds_is_not_wanted():
    """The C library has no frame pointers: main() saves anything."""
    sample, frame = copy.copy(taken), taken.regs[BP]
    while sample.word(sample.word(frame)) is not None:
        frame = sample.word(frame)
    at, end = (address - sample.regs[SP]
               for address in (frame, sample.regs[SP] + len(sample.stack)))
    sample.stack = sample.stack[:at] + struct.pack(
        '<Q', sample.regs[SP] + end) + sample.stack[at + 8:] + struct.pack(
            '<QQ', 0, sample.chain[2])
    equal(len(sample.records()), len(taken.records()) + 1)
    equal(verdict(sample.chain[:1], sample)[1], nr_true(taken))


def test_copy_of_the_stack_too_short():
    short = 'not judged: stack copy too short'
    equal(verdict(taken.chain, stack=taken.stack[:64]), (True, 0, short))
    equal(verdict(taken.chain[:1], stack=taken.stack[:64]), (False, 0, short))


def test_caller_without_information_that_calls_by_name():
    """The frame record leads to it, and its call to the function below."""
    equal(verdict(bare.chain, bare), EXACT)
    equal(verdict(without(bare.chain, BARE + 1), bare),
          (True, 1, 'silently wrong: ' + ANOTHER))


def test_caller_without_information_by_pointer():
    """There may have been one more without a frame record."""
    equal(verdict(by_pointer.chain, by_pointer), (True, 0, UNCERTAIN))


def test_cut_where_information_ends():
    equal(verdict(bare.chain[:BARE + 1], bare),
          (False, nr_true(bare) - BARE, ENDS))


def test_no_code_above_what_has_no_information():
    equal(verdict(bare.chain[:BARE + 1] + [0x1b00000000], bare),
          (False, nr_true(bare) - BARE, 'cut and wrong: ' + ANOTHER))
    # In the middle of a function, but not after a call.
    equal(verdict(bare.chain[:BARE + 1] + [bare.chain[BARE + 1] - 1], bare),
          (False, nr_true(bare) - BARE, 'cut and wrong: ' + ANOTHER))


def test_code_that_a_program_may_have_changed():
    """What the file has there is not what was executed."""
    chain = bare.chain[:BARE + 1] + [bare.chain[BARE + 1] - 1]
    lines, _ = ask([map_record(*one, PROT_READ_EXEC | PROT_WRITE)
                    for one in executable(bare)] + [sample_record(chain, bare)])
    equal(lines, ['fp\t0\t%d\t%s' % (nr_true(bare) - BARE, ENDS)])


def test_leaf_without_information():
    """Its caller's call names it."""
    sample = taken.in_leaf()
    equal(verdict(sample.chain, sample), EXACT)


def test_leaf_whose_caller_a_frame_pointer_misses():
    sample = taken.in_leaf()
    equal(verdict(without(sample.chain, 1), sample), (True, 0, UNCERTAIN))


def test_leaf_that_ends_the_stack():
    """All that a frame pointer finds is true, and lost."""
    sample = taken.in_leaf()
    equal(verdict(sample.chain[:1], sample), (False, nr_true(taken), ENDS))


def test_generated_code_that_nothing_leads_on_from():
    """rbp is anything there."""
    sample = copy.copy(taken)
    sample.regs = list(taken.regs)
    sample.regs[BP] = 0
    equal(verdict(taken.chain[:1], sample, generated=NAME),
          (False, 0, 'cut where call frame information ends: generated code'))
    equal(verdict(taken.chain[:2], sample, generated=NAME),
          (False, 0, 'uncertain above generated code'))


def test_deferred():
    cookie = 17
    chain = struct.pack('<%dQ' % len(taken.chain), *taken.chain)
    lines, _ = ask(map_records(taken) + [
        sample_record([CONTEXT_USER_DEFERRED, cookie], taken,
                      misc=USER | DEFERRED),
        record(CALLCHAIN_DEFERRED, USER, struct.pack(
            '<QQ', cookie, len(taken.chain)) + chain + behind(TIME + 1))])
    equal(lines, ['defer\t1\t0\t-'])


def test_other_deferred_chain():
    lines, _ = ask(map_records(taken) + [
        sample_record([CONTEXT_USER_DEFERRED, 17], taken,
                      misc=USER | DEFERRED),
        record(CALLCHAIN_DEFERRED, USER,
               struct.pack('<QQ', 18, 0) + behind(TIME + 1))])
    equal(lines, ['defer\t0\t0\tnot judged: its chain never came'])


def test_each_deferred_chain_that_never_comes_is_counted():
    lines, _ = ask(map_records(taken) + [
        sample_record([CONTEXT_USER_DEFERRED, cookie], taken,
                      misc=USER | DEFERRED) for cookie in (17, 18, 19)])
    equal(lines, ['defer\t0\t0\tnot judged: its chain never came'] * 3)


def test_no_copy_of_the_stack():
    equal(verdict(taken.chain, stack=b''),
          (False, 0, 'not judged: no registers, or no stack'))


def test_file_that_libdw_does_not_take():
    _, _, offset, path = next(one for one in executable(taken)
                              if 'libc' in one[3])
    sample = copy.copy(taken)
    sample.regs = list(taken.regs)
    sample.regs[IP] = FILE[0] + FILE[1]
    reason = 'not judged: libdw does not take ' + os.path.basename(path)
    for chain in ([sample.regs[IP]], [sample.regs[IP], 0x1234]):
        lines, _ = ask([map_record(*FILE),
                     map_record(sample.regs[IP], PAGE, offset, path),
                     sample_record(chain, sample)])
        equal(lines, ['fp\t0\t0\t' + reason])


def test_pieces_of_a_segment():
    start, length, offset, path = FILE
    pieces = [map_record(start + at, PAGE, offset + at, path)
              for at in range(0, length, PAGE)]
    equal(len(pieces) >= 2, True)
    equal(ask(map_records(taken, without=NAME) + pieces +
              [sample_record(taken.chain, taken)])[0], ['fp\t1\t0\t-'])


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
    for _, _, _, path in executable(taken):
        if os.path.isfile(path) and not os.path.exists(root + path):
            os.makedirs(root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, root + path)
    records = map_records(taken)
    taken_sample = sample_record(taken.chain, taken)
    equal(ask(records + [taken_sample], root)[0], ['fp\t1\t0\t-'])
    equal(ask(records + [map_record(*second), taken_sample], root)[0],
          ['fp\t1\t0\t-'])
    # The page is in both segments, but there are no rules for its second address.
    start, _, offset, _ = second
    at = next(ip - FILE[0] + FILE[2] for ip in taken.chain
              if offset <= ip - FILE[0] + FILE[2] < offset + PAGE)
    sample = copy.copy(taken)
    sample.regs = list(taken.regs)
    sample.regs[IP] = start + at - offset
    equal(ask(records + [map_record(*second), sample_record(
        [sample.regs[IP]], sample)], root)[0],
          ['fp\t0\t%d\t%s' % (nr_true(taken), ENDS)])


def test_times():
    records = map_records(taken)
    for time in (499, 500, 2000, 2001):
        records.append(sample_record(taken.chain, taken, time=time))
    equal(ask(records)[0], ['fp\t1\t0\t-'] * 2)


def counts(time, *lines):
    return record(COUNTS, 0, struct.pack('<QQ', PID, time) +
                  ''.join('%s\n' % line for line in lines).encode())


def windows(since):
    return record(WINDOWS, 0, struct.pack('<QQQ', PID, since, 0) + b'1-2 3\n')


def test_before_there_are_windows():
    """Whether such a stack is cut is no matter of counts."""
    chain = taken.chain[:2]
    records = map_records(taken) + [
        sample_record(chain, taken, time=time) for time in (999, 1000)]
    equal(ask(records + [windows(1000), windows(1500), counts(1400)]), (
        ['fp\t0\t0\tearly cut in ' + NAME,
         'fp\t0\t%d\tcut in %s' % (nr_true(taken) - 1, NAME)],
        ['uncounted\t1']))


def test_no_counts_without_windows():
    equal(ask(map_records(taken) + [
        sample_record(taken.chain[:2], taken), counts(1400)])[1],
          ['uncounted\t0'])


def test_counted_ends():
    """Of the three that are cut one is later than the counts."""
    records = map_records(taken) + [windows(900)]
    for time in (1000, 1001, 1500):
        records.append(sample_record(taken.chain[:2], taken, time=time))
    records.append(sample_record(taken.chain, taken, time=1002))
    for number, missing in ((2, 0), (1, 1)):
        equal(ask(records + [counts(1400, 'windows 3', 'no_fde %d' % number,
                                    'budget 0')])[1],
              ['counted\tno_fde\t%d' % number, 'uncounted\t%d' % missing])


def test_figures():
    lines = ['fp\t1\t0\t-', 'fp\t1\t0\tsilently wrong: x',
             'fp\t0\t2\tcut in y', 'defer\t1\t0\t-',
             'counted\tno_fde\t1', 'uncounted\t0']
    equal(oracle.figures(lines), {
        'fp': {'samples': 3, 'complete': 2, 'exact': 1, 'shorter': 1,
               'lost': {'silently wrong: x': 1, 'cut in y': 1}},
        'defer': {'samples': 1, 'complete': 1, 'exact': 1, 'shorter': 0,
                  'lost': {}}})


check_each('oracle:', list(globals().items()))
finish()
