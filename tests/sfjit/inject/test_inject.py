# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: test_inject.py PROGRAM DIRECTORY

sfjit inject, with a tracker that takes the frames from the samples, against
recordings whose converted form is known byte for byte.
"""
import itertools
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../lib'))
# pylint: disable=wrong-import-position,wildcard-import,unused-wildcard-import
from tap import check, check_each, finish, skip  # noqa: E402
from recording import *  # noqa: E402,F403

PROGRAM, DIR = sys.argv[1:]
IN, OUT, LOG = (os.path.join(DIR, name) for name in ('in', 'out', 'log'))
BITS = [bit for i in range(25) if (bit := 1 << i) not in
        (REGS_USER, STACK_USER, AUX, WEIGHT_STRUCT)]


def run(data, *, pipe=False):
    """Status, what it said, what it wrote, and what the tracker was told."""
    for path in (OUT, LOG):
        if os.path.exists(path):
            os.remove(path)
    with open(IN, 'wb') as file:
        file.write(data)
    environment = dict(os.environ, TRACKER_LOG=LOG)
    arguments = [PROGRAM, 'inject', '-q', '-i', '-' if pipe else IN,
                 '-o', '-' if pipe else OUT]
    done = subprocess.run(arguments, input=data if pipe else None,
                          capture_output=True, env=environment, check=False)
    written = done.stdout
    if not pipe and os.path.exists(OUT):
        with open(OUT, 'rb') as file:
            written = file.read()
    log = ''
    if os.path.exists(LOG):
        with open(LOG, encoding='utf-8') as file:
            log = file.read()
    return done.returncode, done.stderr.decode(), written, log


def equal(got, want):
    """Bytes, of which the first that is other is told."""
    if got == want:
        return
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b),
              min(len(got), len(want)))
    raise AssertionError('at 0x%x of 0x%x, 0x%x: %s, wanted %s' % (
        at, len(got), len(want), got[at:at + 16].hex(),
        want[at:at + 16].hex()))


def converts(before, after, *, pipe=False):
    status, said, written, log = run(before, pipe=pipe)
    assert (status, said) == (0, ''), (status, said)
    equal(written, after)
    return log


def refused(data, why, *, pipe=False):
    status, said, written, _ = run(data, pipe=pipe)
    name = '-' if pipe else IN
    assert status == 1, (status, said, why)
    assert said == 'sfjit: %s: %s\n' % (name, why), said
    assert pipe or not written, 'a part was written'


def both(attrs, records, **arguments):
    """A file of (BEFORE, AFTER) or BYTES, converted."""
    return converts(make_file(attrs, before_of(records), False, **arguments),
                    make_file(attrs, after_of(records), True, **arguments))


def piped(attrs, records):
    return converts(make_pipe(attrs, before_of(records), False),
                    make_pipe(attrs, after_of(records), True), pipe=True)


# ---- Samples -----------------------------------------------------------

def some_attr(kind, rng):
    return Attr(kind, read_format=rng.randrange(32),
                branch_type=rng.choice([0, 1 << 17, 1 << 19, 5 << 17]),
                flags=rng.choice([0, 1 << 40 | EXCLUDE_CALLCHAIN_USER]) |
                SAMPLE_ID_ALL,
                regs=rng.choice([1 << 8, 0x1ff, 0xff0fff]))


def one_sample_type(kind, rng):
    attr = some_attr(kind, rng)
    values = {'kernel': rng.choice([[], [CONTEXT_KERNEL, 1 << 63, 3]]),
              'old_user': rng.choice([[], [CONTEXT_USER, 0x77, 0x78]]),
              'pid': 11, 'tid': 12, 'time': 13, 'id': 14}
    if not kind & CALLCHAIN:
        values['kernel'] = values['old_user'] = []
    both([attr], [sample(attr, **values), ROUND, sample(attr, **values)])
    piped([attr], [sample(attr, **values)])


def test_each_field_alone_and_missing():
    rng = random.Random(1)
    everything = sum(BITS)
    for bit in BITS + [WEIGHT_STRUCT]:
        one_sample_type(DWARF | bit, rng)
        one_sample_type(COMMON | bit, rng)
        one_sample_type(DWARF | (everything & ~bit), rng)


def test_fields_by_chance():
    rng = random.Random(2)
    for _ in range(80):
        one_sample_type(DWARF | (rng.getrandbits(24) & sum(BITS)), rng)


def test_samples_without_stacks_stay():
    for missing in (REGS_USER, STACK_USER, DWARF):
        attr = Attr(COMMON & ~missing)
        both([attr], [sample(attr, pid=1)])


def test_return_addresses_and_interrupted_ones():
    attr = Attr(COMMON)
    pair = sample(attr, 0x1000, [0x2000, EXACT | 0x3000, 0x4000, 0], pid=1)
    assert words(4 + 1, CONTEXT_USER, 0x1000, 0x1fff, 0x3000, 0x3fff) in \
        pair[1]
    both([attr], [pair])


def test_as_much_of_the_stack_as_was_copied():
    attr = Attr(COMMON, stack=64)
    for copied in (0, 8, 16, 64):
        both([attr], [sample(attr, stack=range(1, 9), copied=copied)])
    both([attr], [sample(attr, stack=range(1, 9), copied=1 << 40)])


def test_no_stack_at_all():
    attr = Attr(COMMON, stack=0)
    both([attr], [sample(attr, stack=[])])


def test_kernel_threads_and_other_registers():
    attr = Attr(COMMON | CALLCHAIN)
    kernel = [CONTEXT_KERNEL, 1 << 63]
    both([attr], [sample(attr, abi=0, kernel=kernel, misc=1),
                  sample(attr, abi=1, ip=0x5555),
                  sample(attr, abi=1, kernel=kernel, misc=1)])


def test_registers_that_are_none():
    attr = Attr(COMMON, regs=0)
    both([attr], [sample(attr, ip=0x5555)])


def test_more_frames_than_a_record_has_room_for():
    attr = Attr(COMMON, stack=0)
    stack = range(1, 2000)
    before = sample(attr, stack=stack)[0]  # SFJIT_STACKS_MAX_FRAMES
    wanted = sample(Attr(COMMON, stack=0), stack=range(1, 1024))[1]
    converts(make_file([attr], [before], False),
             make_file([attr], [wanted], True))


def test_a_record_that_has_no_room_for_a_frame():
    attr = Attr(IP | TID | RAW | DWARF, stack=0)
    raw = bytes(0xfff8 - 8 - 16 - 4 - 16)
    pair = sample(attr, raw=raw, abi=0, stack=[], most=0)
    assert len(pair[0]) == len(pair[1]) == 0xfff8
    both([attr], [pair])


# ---- Files -------------------------------------------------------------

def two_attrs(**arguments):
    kind = COMMON | IDENTIFIER | CPU
    return [Attr(kind, ids=(100, 101), **arguments),
            Attr(kind & ~DWARF | PERIOD, ids=(200,), **arguments)]


def two_events(attrs):
    return [sample(attrs[0], id=100, pid=1), sample(attrs[1], id=200, pid=1),
            sample(attrs[0], id=101, pid=1),
            comm(attrs[1], 1, 'name', id=200, time=5),
            record(LOST, words(100, 1) + sample_id(attrs[0], {'id': 100})),
            sample(attrs[1], id=200, pid=1)]


def test_all_sizes_of_attributes():
    for size in (64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 4096):
        attrs = two_attrs(size=size)
        if size < 96:
            attrs[0].regs = attrs[0].stack = 0
        events = two_events(attrs)
        both(attrs, events)
        piped(attrs, events)


def test_attribute_that_does_not_say_its_size():
    attr = Attr(IP | TID, size=64)
    raw = make_file([attr], [sample(attr)[0]], False)
    at = raw.index(attr.raw(False)) + 4
    raw = raw[:at] + halves(0) + raw[at + 4:]
    converts(raw, raw)


def features(attrs):
    return {
        F_TRACING_DATA: b'\x17\x08\x44tracing',
        F_BUILD_ID: build_id('/bin/a', b'\1' * 20),
        F_HOSTNAME: string('host'), F_ARCH: ARCH,
        F_EVENT_DESC: lambda converted: event_desc(attrs, converted),
        30: b'', 200: b'of the future',
    }


def test_sections_move_and_attributes_change():
    for after, header_size in itertools.product((False, True), (104,)):
        attrs = two_attrs()
        both(attrs, two_events(attrs), features=features(attrs), after=after,
             header_size=header_size, tail=b'after all')


def test_descriptions_with_room_behind_attributes():
    attrs = two_attrs(size=112)
    both(attrs, two_events(attrs), features={
        F_EVENT_DESC: lambda converted: event_desc(attrs, converted, 144)})


def test_header_without_features():
    attrs = two_attrs()
    both(attrs, two_events(attrs), header_size=72)


def test_nothing_to_convert_is_the_same():
    attrs = [Attr(COMMON & ~DWARF)]
    data = make_file(attrs, [sample(attrs[0])[0]] * 3, False,
                     features=features(attrs))
    converts(data, data)


def test_records_of_perf_itself_stay():
    attrs = two_attrs()
    others = [record(kind, b'something') for kind in
              (69, 72, 73, 75, 78, 79, FINISHED_INIT, 84, 4000)]
    both(attrs, others + two_events(attrs) + [ROUND] + others)


def test_pipe_has_features_as_records():
    attrs = two_attrs()
    records = [(record(HEADER_FEATURE, words(F_EVENT_DESC) +
                       event_desc(attrs, False)),
                record(HEADER_FEATURE, words(F_EVENT_DESC) +
                       event_desc(attrs, True))),
               record(HEADER_FEATURE, words(F_ARCH) + ARCH),
               record(HEADER_FEATURE, words(1 << 40) + b'what'),
               record(HEADER_FEATURE, words(32)),
               record(HEADER_FEATURE, words(F_COMPRESSED)),
               record(TRACING_DATA, halves(24)) + b'\x17\x08\x44tracing' +
               bytes(14)]
    piped(attrs, records + two_events(attrs))


def to_pipe(attrs, records, **arguments):
    """What comes of a file, on a pipe."""
    with open(IN, 'wb') as file:
        file.write(make_file(attrs, before_of(records), False, **arguments))
    done = subprocess.run([PROGRAM, 'inject', '-q', '-i', IN, '-o', '-'],
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b''), done
    return done.stdout


def before_of(records):
    return [item[0] if isinstance(item, tuple) else item for item in records]


def after_of(records):
    return [item[1] if isinstance(item, tuple) else item for item in records]


def test_file_to_a_pipe():
    attrs = two_attrs()
    tracing = b'\x17\x08\x44tracing'
    ids = build_id('/bin/a', b'\1' * 20) + build_id('/b', b'\2' * 20)
    bare = b'\0' * 4 + ids[4:]
    large = bytes(0xfff8 - 16)
    sections = [
        record(TRACING_DATA, halves(16)) + tracing.ljust(16, b'\0'), ids,
        *[record(HEADER_FEATURE, words(number) + content) for
          number, content in ((F_HOSTNAME, string('host')), (F_ARCH, ARCH),
                              (F_EVENT_DESC, event_desc(attrs, True)),
                              (31, large))]]
    events = two_events(attrs)
    equal(to_pipe(attrs, events, features={
        **features(attrs), F_TRACING_DATA: tracing, F_BUILD_ID: bare,
        31: large, 32: large + b'\0', 200: b''}),
          make_pipe(attrs, sections + after_of(events), True))


def test_more_ids_than_a_pipe_has_room_for():
    room = (0xfff8 - 8 - 128) // 8
    attrs = [Attr(COMMON | IDENTIFIER, ids=range(1, room + 1))]
    equal(to_pipe(attrs, [ROUND]), make_pipe(attrs, [ROUND], True))
    attrs[0].ids = range(1, room + 2)
    with open(IN, 'wb') as file:
        file.write(make_file(attrs, [ROUND], False))
    done = subprocess.run([PROGRAM, 'inject', '-q', '-i', IN, '-o', '-'],
                          capture_output=True, check=False)
    assert done.returncode == 1 and done.stderr.endswith(
        b': an event with %d ids, which has no room in a pipe\n' %
        (room + 1)), done.stderr


def test_attribute_among_the_events_of_a_file():
    attrs = two_attrs()
    other = Attr(COMMON, ids=(1,))
    both(attrs, [*two_events(attrs), (
        record(HEADER_ATTR, other.with_ids(False)),
        record(HEADER_ATTR, other.with_ids(True))), *two_events(attrs)])


def test_pipe_in_a_file():
    attrs = two_attrs()
    events = two_events(attrs)
    converts(make_pipe(attrs, before_of(events), False),
             make_pipe(attrs, after_of(events), True))


def test_one_event_needs_no_id():
    attr = Attr(COMMON, ids=(1, 2, 3))
    both([attr], [sample(attr), mmap2(attr, 1, 0, 4096, '/a')])


# ---- What the tracker is told ------------------------------------------

def lines(log, *words_):
    return [line for line in log.splitlines()
            if not words_ or line.split()[0] in words_]


def test_mappings():
    attr = Attr(COMMON)
    log = both([attr], [
        mmap2(attr, 5, 0x1000, 0x2000, '/a', offset=0x3000, inode=77, time=1),
        mmap2(attr, 5, 0x1000, 0x2000, '/b', build_id=b'\xab' * 20, time=2),
        mmap2(attr, 5, 0x1000, 0x2000, '/c', build_id=b'\xcd' * 8, time=3),
        mmap2(attr, 5, 0x1000, 0x2000, '/data', prot=1, time=4),
        mmap(attr, 6, 0x4000, 0x1000, '/d', time=5),
        mmap(attr, 6, 0x4000, 0x1000, '/e', misc=USER | 1 << 13, time=6),
        mmap(attr, -1 & 0xffffffff, 1 << 63, 0x1000, '[kernel]', misc=1),
        mmap2(attr, 5, 0x1000, 0, '/empty', time=7),
        mmap2(attr, 7, 0x1000, 0x1000, '/guest', misc=5, time=8),
        mmap2(attr, 8, 0x1000, 0x1000, '/old', prot=0, flags=0, time=9),
        mmap2(attr, 8, 0x1000, 0x1000, '/old data', prot=0, flags=0,
              misc=USER | 1 << 13, time=10),
        mmap2(attr, 8, 0x1000, 0x1000, '/guard', prot=0, time=11),
    ])
    assert lines(log, 'mmap') == [
        'mmap 5 1 1000 2000 3000 /a 1  77',
        'mmap 5 2 1000 2000 0 /b 1 %s 0' % ('ab' * 20),
        'mmap 5 3 1000 2000 0 /c 1 %s 0' % ('cd' * 8),
        'mmap 5 4 1000 2000 0 /data 0  0',
        'mmap 6 5 4000 1000 0 /d 1  0',
        'mmap 6 6 4000 1000 0 /e 0  0',
        'mmap 8 9 1000 1000 0 /old 1  0',
        'mmap 8 10 1000 1000 0 /old data 0  0',
        'mmap 8 11 1000 1000 0 /guard 0  0'], log


def test_processes():
    attr = Attr(COMMON)
    log = both([attr], [
        task(attr, FORK, 8, 8, 1, misc=1 << 13),
        task(attr, FORK, 8, 9, 8, misc=1 << 13),
        task(attr, FORK, 10, 10, 8, time=20),
        task(attr, FORK, 10, 11, 10, time=21),
        comm(attr, 10, 'name', time=22),
        comm(attr, 10, 'new', misc=1 << 13, time=23),
        task(attr, EXIT, 10, 11, 10, time=24),
    ])
    assert lines(log, 'fork', 'exec', 'exit') == [
        'fork 8 8 0 0', 'fork 8 9 8 0', 'fork 10 10 8 20', 'fork 10 11 10 21',
        'exec 10 23', 'exit 10 11 24'], log


def test_build_ids_of_the_recording():
    attr = Attr(COMMON)
    ids = build_id('/a', b'\1' * 20) + build_id('/b', b'\2' * 8) + \
        build_id('/guest', b'\3' * 20, misc=5) + build_id('/a', b'\4' * 16)
    records = [mmap2(attr, 1, 0x1000, 0x1000, '/a', time=1),
               mmap(attr, 1, 0x2000, 0x1000, '/b', time=2),
               mmap2(attr, 1, 0x1000, 0x1000, '/guest', time=3),
               mmap2(attr, 1, 0x1000, 0x1000, '/a', build_id=b'\5' * 20,
                     time=4)]
    wanted = ['04' * 16, '02' * 8, '', '05' * 20]
    for log in (both([attr], records, features={F_BUILD_ID: ids}),
                piped([attr], [ids, *records])):
        assert [line.split(' ')[8] for line in lines(log, 'mmap')] == wanted, \
            log


def munmap(attr, addr, length, time, **values):
    raw = halves(77, 5) + words(11, addr, length) + bytes(4)
    return sample(attr, raw=raw, pid=5, time=time, **values)


def test_munmap_by_tracepoint():
    kind = COMMON | IDENTIFIER
    attrs = [Attr(kind, ids=(1,)),
             Attr(kind & ~DWARF | RAW, kind=2, config=77, ids=(2,)),
             Attr(kind & ~DWARF | RAW, kind=2, config=7, ids=(3,))]
    records = [munmap(attrs[1], 0x5000, 0x1000, 50, id=2),
               munmap(attrs[2], 0x6000, 0x1000, 51, id=3),
               munmap(attrs[1], 0x7000, 0x1001, 52, id=2),
               sample(attrs[0], id=1, time=53)]
    wanted = ['munmap 5 50 5000 1000', 'munmap 5 52 7000 2000']
    data = tracing_data(77)
    log = both(attrs, records, features={F_TRACING_DATA: data})
    assert lines(log, 'munmap') == wanted, log
    padded = data.ljust(-(-len(data) // 8) * 8, b'\0')
    tracing = record(TRACING_DATA, halves(len(padded))) + padded
    log = piped(attrs, [tracing, *records])
    assert lines(log, 'munmap') == wanted, log
    log = both(attrs, records)
    assert not lines(log, 'munmap'), log
    for data in (tracing_data(77, 8, 1 << 20), tracing_data(77, size=4),
                 tracing_data(77, name='other'), tracing_data(77)[:-300]):
        log = both(attrs, records, features={F_TRACING_DATA: data})
        assert not lines(log, 'munmap'), log


# ---- Order -------------------------------------------------------------

def told(log):
    return [' '.join(line.split()[:3]) for line in
            lines(log, 'mmap', 'fork', 'frames')]


def test_what_other_buffers_say_of_earlier():
    """The second buffer's mapping is read after the sample that needs it."""
    attr = Attr(COMMON)
    log = both([attr], [
        sample(attr, pid=1, time=100), ROUND,
        mmap2(attr, 1, 0, 4096, '/a', time=90), ROUND])
    assert told(log) == ['mmap 1 90', 'frames 1 100'], log


def test_a_child_before_it_was_made():
    attr = Attr(COMMON)
    log = both([attr], [
        mmap2(attr, 2, 0, 4096, '/a', time=95),
        sample(attr, pid=2, time=96), ROUND,
        task(attr, FORK, 2, 2, 1, time=90),
        mmap2(attr, 1, 0, 4096, '/b', time=99), ROUND,
        sample(attr, pid=1, time=120), ROUND])
    assert told(log) == ['fork 2 2', 'mmap 2 95', 'frames 2 96', 'mmap 1 99',
                         'frames 1 120'], log


def test_what_is_later_waits():
    attr = Attr(COMMON)
    log = both([attr], [
        sample(attr, pid=1, time=100), ROUND,
        mmap2(attr, 1, 0, 4096, '/late', time=300),
        mmap2(attr, 1, 0, 4096, '/a', time=50), ROUND,
        mmap2(attr, 1, 0, 4096, '/b', time=250), ROUND])
    assert told(log) == ['mmap 1 50', 'frames 1 100', 'mmap 1 250',
                         'mmap 1 300'], log


def test_what_perf_found_was_before_all():
    attr = Attr(COMMON)
    log = both([attr], [
        mmap2(attr, 1, 0, 4096, '/b', time=10),
        mmap2(attr, 1, 0, 4096, '/a', time=0),
        mmap2(attr, 1, 0, 4096, '/c', time=(1 << 64) - 1),
        sample(attr, pid=1, time=20)])
    assert told(log) == ['mmap 1 0', 'mmap 1 0', 'mmap 1 10',
                         'frames 1 20'], log


def settled(log):
    return [line.split()[1] if line[0] == 's' else 'x' for line in
            lines(log, 'settle', 'frames')]


def test_settles_behind_what_waits():
    attr = Attr(COMMON)
    log = both([attr], [
        sample(attr, pid=1, time=100), sample(attr, pid=1, time=200), ROUND,
        sample(attr, pid=1, time=150), sample(attr, pid=1, time=300), ROUND,
        sample(attr, pid=1, time=260), sample(attr, pid=1, time=400), ROUND,
        sample(attr, pid=1, time=350), ROUND])
    assert settled(log) == [
        '0', 'x', 'x', '150', 'x', 'x', '260', 'x', 'x', '350', 'x',
        '400'], settled(log)


def test_without_times_the_order_is_that_of_the_file():
    for attr in (Attr(COMMON & ~TIME), Attr(COMMON, flags=0)):
        log = both([attr], [
            mmap2(attr, 1, 0, 4096, '/a', time=7), sample(attr, pid=1, time=9),
            mmap2(attr, 1, 0, 4096, '/b', time=5), ROUND,
            sample(attr, pid=1, time=4)])
        assert told(log) == ['mmap 1 1', 'mmap 1 3', 'frames 1 2',
                             'frames 1 5'], log


def test_without_rounds_there_is_a_bound():
    """Two times 64 MiB: what is later than that is not known."""
    attr = Attr(COMMON, stack=65000)
    filler = sample(attr, pid=9, time=100, stack=[0])
    many = (64 << 20) // len(filler[0]) + 1
    early = mmap2(attr, 1, 0, 4096, '/a', time=1)
    first = sample(attr, pid=1, time=100)
    log = both([attr], [first] + [filler] * (2 * many - 10) + [early])
    assert told(log)[:2] == ['mmap 1 1', 'frames 1 100'], told(log)[:2]
    log = both([attr], [first] + [filler] * (2 * many + 10) + [early])
    assert told(log)[0] == 'frames 1 100', told(log)[0]


# ---- Generated code ----------------------------------------------------

DUMP = os.path.join(DIR, 'jit-1.dump')
RETIRED = os.path.join(DIR, 'jit-1.retired')
MONOTONIC = {'flags': SAMPLE_ID_ALL | USE_CLOCKID, 'clockid': 1}


def marked(attr, *records, time=5):
    return [mmap2(attr, 1, 0x9000, 4096, DUMP, time=time), *records]


def dumped(content, records, attr, said='', retired=None):
    """What the tracker is told of the code."""
    with open(DUMP, 'wb') as file:
        file.write(content)
    if os.path.exists(RETIRED):
        os.remove(RETIRED)
    if retired is not None:
        with open(RETIRED, 'wb') as file:
            file.write(retired)
    status, text, written, log = run(
        make_file([attr], before_of(records), False))
    assert (status, text) == (0, said), (status, text)
    equal(written, make_file([attr], after_of(records), True))
    return lines(log, 'load', 'unload', 'frames')


def test_code_with_and_without_a_description():
    attr = Attr(COMMON, **MONOTONIC)
    content = jit_header() + jit_unwinding(10, b'first') + \
        jit_load(10, 0x1000, 5) + jit_load(11, 0x2000, 16) + \
        jit_record(2, 12, bytes(16)) + jit_record(3, 13, b'') + \
        jit_unwinding(14, b'second') + jit_load(14, 0x3000, 17)
    assert dumped(content, marked(attr), attr) == [
        'load 1 10 1000 5 first 1008', 'unload 1 11 2000 10',
        'load 1 14 3000 11 second 3018']


def test_code_that_moves():
    attr = Attr(COMMON, **MONOTONIC)
    content = jit_header() + jit_unwinding(10, b'a') + \
        jit_load(10, 0x1000, 8, 7) + jit_unwinding(11, b'b') + \
        jit_load(11, 0x2000, 8, 8) + jit_load(12, 0x3000, 8, 9) + \
        jit_move(20, 0x1000, 0x4000, 8, 7) + \
        jit_move(21, 0x4000, 0x5000, 8, 7) + \
        jit_move(22, 0x3000, 0x6000, 8, 9) + \
        jit_load(23, 0x7000, 8, 8) + jit_move(24, 0x7000, 0x8000, 8, 8)
    assert dumped(content, marked(attr), attr)[3:] == [
        'unload 1 20 1000 8', 'load 1 20 4000 8 a 4008',
        'unload 1 21 4000 8', 'load 1 21 5000 8 a 5008',
        'unload 1 22 3000 8', 'unload 1 22 6000 8',
        'unload 1 23 7000 8', 'unload 1 24 7000 8', 'unload 1 24 8000 8']


def test_code_is_read_as_far_as_the_recording_is():
    attr = Attr(COMMON, **MONOTONIC)
    late = 200000000
    content = jit_header() + jit_load(10, 0x1000, 8) + \
        jit_load(late + 10, 0x2000, 8) + jit_load(5 * late, 0x3000, 8)
    records = marked(attr, sample(attr, pid=1, time=20), ROUND, ROUND,
                     sample(attr, pid=1, time=late + 20), ROUND)
    assert dumped(content, records, attr) == [
        'unload 1 10 1000 8', 'frames 1 20',
        'unload 1 %d 2000 8' % (late + 10), 'frames 1 %d' % (late + 20),
        'unload 1 %d 3000 8' % (5 * late)]


def test_code_of_a_process_that_ended_in_its_first_round():
    """It is read once more, and not to its end."""
    attr = Attr(COMMON, **MONOTONIC)
    content = jit_header() + jit_load(10, 0x1000, 8) + jit_load(
        1 << 40, 0x2000, 8)
    for end in (task(attr, EXIT, 1, 1, 1, time=30),
                comm(attr, 1, 'new', misc=1 << 13, time=30)):
        records = marked(attr, end, ROUND, ROUND)
        assert dumped(content, records, attr) == ['unload 1 10 1000 8']
    records = marked(attr, task(attr, EXIT, 1, 2, 1, time=30), ROUND, ROUND)
    assert len(dumped(content, records, attr)) == 2


def test_code_that_is_retired():
    """Told in the order of time, and of one time before what comes."""
    attr = Attr(COMMON, **MONOTONIC)
    content = jit_header() + jit_load(10, 0x1000, 8) + jit_unwinding(
        20, b'a') + jit_load(20, 0x1000, 16) + jit_load(30, 0x2000, 8)
    retired = jit_header() + jit_retired(
        (15, 0x1000, 8), (20, 0x3000, 1), (25, 0x1000, 16),
        (40, 0x2000, 1 << 63))
    wanted = ['unload 1 10 1000 8', 'unload 1 15 1000 8',
              'unload 1 20 3000 1', 'load 1 20 1000 10 a 1010',
              'unload 1 25 1000 10', 'unload 1 30 2000 8',
              'unload 1 40 2000 8000000000000000']
    assert dumped(content, marked(attr), attr, retired=retired) == wanted
    for length in range(len(retired) + 1):
        whole = (length - 40) // 24
        told_of = dumped(content, marked(attr), attr,
                         retired=retired[:length])
        assert len(told_of) == 3 + max(whole, 0), (length, told_of)


def test_many_that_are_retired():
    attr = Attr(COMMON, **MONOTONIC)
    content = jit_header() + b''.join(
        jit_load(2 * i, i << 12, 8) for i in range(1, 1000))
    retired = jit_header() + jit_retired(
        *((2 * i + 1, i << 12, 8) for i in range(1, 1000)))
    assert dumped(content, marked(attr), attr, retired=retired) == [
        'unload 1 %d %x 8' % (i, i // 2 << 12) for i in range(2, 2000)]


def test_what_is_retired_is_read_as_far_as_the_recording_is():
    attr = Attr(COMMON, **MONOTONIC)
    late = 200000000
    records = marked(attr, sample(attr, pid=1, time=20), ROUND, ROUND,
                     sample(attr, pid=1, time=late + 20), ROUND)
    for content in (jit_header(), jit_header() + jit_load(1 << 40, 7, 7)):
        found = dumped(content, records, attr, retired=jit_header() +
                       jit_retired((10, 0x1000, 8), (late + 10, 0x2000, 8),
                                   (5 * late, 0x3000, 8)))
        assert found[:5] == [
            'unload 1 10 1000 8', 'frames 1 20',
            'unload 1 %d 2000 8' % (late + 10), 'frames 1 %d' % (late + 20),
            'unload 1 %d 3000 8' % (5 * late)], found


def test_what_another_process_has_retired():
    """It had the number before: there is a header for each."""
    attr = Attr(COMMON, **MONOTONIC)
    content = jit_header() + jit_load(10, 0x1000, 8)
    records = jit_retired((15, 0x1000, 8))
    for other in (jit_header(pid=2), jit_header(time=7),
                  jit_header(version=2), bytes(40), b''):
        assert len(dumped(content, marked(attr), attr,
                          retired=other + records)) == 1, other
    os.remove(RETIRED)
    os.mkdir(RETIRED)
    _, said, _, log = run(make_file([attr], marked(attr), False))
    os.rmdir(RETIRED)
    assert (said, len(lines(log, 'unload'))) == ('', 1), said


def test_nothing_is_retired_by_another_clock():
    attr = Attr(COMMON)
    content = jit_header() + jit_load(10, 0x1000, 8)
    assert dumped(content, marked(attr), attr, 'sfjit: %s: its times are not '
                  'those of the recording, which takes perf record -k mono: '
                  'all its code counts from the beginning\n' % DUMP,
                  retired=jit_header() + jit_retired((15, 0x1000, 8))) == [
                      'unload 1 5 1000 8']


def test_what_is_retired_of_code_that_perf_has_named():
    """perf inject --jit puts a file for each record in the marker's place."""
    attr = Attr(COMMON, **MONOTONIC)
    content = jit_header() + jit_load(10, 0x1000, 8)
    retired = jit_header() + jit_retired((15, 0x1000, 8))

    def named(name, **more):
        found = dumped(content, [mmap2(attr, 1, 0x1000, 64, os.path.join(
            DIR, name), time=5) for _ in range(2)], attr, **more)
        with open(LOG, encoding='utf-8') as file:
            return len(lines(file.read(), 'mmap')), len(found)

    assert named('jitted-1-0.so', retired=retired) == (0, 2)
    assert named('jitted-1-0.so') == (2, 0)
    assert named('jitted-1-0.so', retired=retired[1:]) == (2, 0)
    for name in ('jitted-2-0.so', 'jitted-1-0.soo', 'jitted-1-0', 'jitted-1-',
                 'jit-1-0.so', 'jitted-x-0.so'):
        assert named(name, retired=retired) == (2, 0), name
    content = bytes(100)
    assert named('jitted-1-0.so', retired=retired) == (2, 0)


def test_clocks_that_differ():
    content = jit_header() + jit_load(10, 0x1000, 8) + jit_load(
        99, 0x2000, 8)
    why = 'sfjit: %s: its times are not those of the recording, which takes ' \
        'perf record -k mono: all its code counts from the beginning\n' % DUMP
    wanted = ['unload 1 5 1000 8', 'unload 1 5 2000 8']
    attr = Attr(COMMON)
    again = mmap2(attr, 2, 0x9000, 4096, DUMP, time=5)
    assert dumped(content, marked(attr), attr, why) == wanted
    assert len(dumped(content, marked(attr, again), attr, why)) == 4
    for other in ({'clockid': 4}, {'flags': SAMPLE_ID_ALL}):
        attr = Attr(COMMON, **dict(MONOTONIC, **other))
        assert dumped(content, marked(attr), attr, why) == wanted
    attr = Attr(COMMON & ~TIME, **MONOTONIC)
    assert dumped(content, marked(attr), attr, why)[0] == 'unload 1 1 1000 8'


CYCLES = 'sfjit: %s: its times are cycles, which takes perf record without ' \
    '-k: all its code counts from the beginning\n' % DUMP


def test_times_in_cycles():
    """10 + 5 for each 4, by what the recording says of the processor."""
    attr = Attr(COMMON)
    content = jit_header(flags=1) + jit_load(8, 0x1000, 8) + jit_unwinding(
        11, b'a') + jit_load(11, 0x2000, 8) + jit_move(15, 0x1000, 0x3000, 8)
    wanted = ['unload 1 20 1000 8', 'load 1 23 2000 8 a 2008',
              'unload 1 28 1000 8', 'load 1 28 3000 8 a 3008']
    # What perf wrote before 5.10, what it does, and what will be longer.
    for length in (24, 32, 40, 48, 64):
        conv = time_conv(2, 5, 10)[:8 + length].ljust(8 + length, b'\0')
        conv = record(79, conv[8:])
        found = dumped(content, [conv, *marked(attr)], attr)
        assert found == wanted, (length, found)
    retired = jit_header(flags=1) + jit_retired((9, 0x2000, 8))
    assert dumped(content, [conv, *marked(attr)], attr,
                  retired=retired) == wanted


def test_cycles_of_a_narrow_counter():
    """Of 8 bits, which had 0x1f0 when the recording began."""
    attr = Attr(COMMON)
    content = jit_header(flags=1) + jit_load(0xf8, 0x1000, 8) + \
        jit_load(0x04, 0x2000, 8)
    for narrow, wanted in ((1, (0x1f8, 0x204)), (0, (0xf8, 0x04))):
        conv = time_conv(0, 3, 7, 0x1f0, 0xff, narrow)
        assert dumped(content, [conv, *marked(attr)], attr) == [
            'unload 1 %d %x 8' % (7 + 3 * wanted[i], 0x1000 * (i + 1))
            for i in range(2)], narrow


def test_cycles_as_large_as_they_get():
    """Products of the whole have more than 64 bits."""
    attr = Attr(COMMON)
    cycles, shift, mult, zero = 3 << 60 | 12345, 31, 700000001, 1 << 50
    wanted = zero + (cycles * mult >> shift)
    content = jit_header(flags=1) + jit_load(cycles, 0x1000, 8)
    conv = time_conv(shift, mult, zero)
    assert dumped(content, [conv, *marked(attr)], attr) == [
        'unload 1 %d 1000 8' % wanted]


def test_cycles_are_read_as_far_as_the_recording_is():
    attr = Attr(COMMON)
    late = 200000000
    content = jit_header(flags=1) + jit_load(late, 0x1000, 8) + \
        jit_load(5 * late, 0x2000, 8)
    records = [time_conv(0, 1, 10)] + marked(
        attr, sample(attr, pid=1, time=late), ROUND, ROUND,
        sample(attr, pid=1, time=2 * late), ROUND)
    assert dumped(content, records, attr) == [
        'unload 1 %d 1000 8' % (late + 10), 'frames 1 %d' % late,
        'frames 1 %d' % (2 * late), 'unload 1 %d 2000 8' % (5 * late + 10)]


def test_cycles_that_cannot_be_converted():
    content = jit_header(flags=1) + jit_load(8, 0x1000, 8)
    wanted = ['unload 1 5 1000 8']
    attr = Attr(COMMON)
    good = time_conv(2, 5, 10)
    for conv in ([], [time_conv(64, 5, 10)], [time_conv(2, 0, 10)],
                 [record(79, good[8:31])], [record(79, b'something')]):
        assert dumped(content, conv + marked(attr), attr, CYCLES) == wanted
    for other in (MONOTONIC, dict(MONOTONIC, clockid=4)):
        attr = Attr(COMMON, **other)
        assert dumped(content, [good, *marked(attr)], attr, CYCLES) == wanted
    # A record that says nothing does not take back what another has said.
    attr = Attr(COMMON)
    assert dumped(content, [good, time_conv(64, 5, 10), *marked(attr)],
                  attr) == ['unload 1 20 1000 8']


def test_jitdumps_that_are_none():
    attr = Attr(COMMON, **MONOTONIC)

    def none(content, why):
        assert not dumped(content, marked(attr), attr, 'sfjit: %s: %s\n' %
                          (DUMP, why))

    none(b'', 'not a jitdump')
    none(jit_header(magic=0x5444694a) + bytes(99),
         'not a jitdump of version 1')
    none(jit_header(magic=0x4454694a), 'of a machine of the other byte order')
    none(jit_header(version=2), 'not a jitdump of version 1')
    none(jit_header() + halves(0, 55) + words(1) + bytes(100),
         'damaged, the rest of it is not used')
    none(jit_header() + halves(9, 15) + words(1),
         'damaged, the rest of it is not used')
    os.remove(DUMP)
    os.mkdir(DUMP)
    _, said, _, _ = run(make_file([attr], marked(attr), False))
    os.rmdir(DUMP)
    assert said == 'sfjit: %s: not a file\n' % DUMP, said
    _, said, _, _ = run(make_file([attr], marked(attr), False))
    assert said == 'sfjit: %s: No such file or directory\n' % DUMP, said


def test_names_are_not_for_the_terminal():
    attr = Attr(COMMON)
    path = '/\x1b[2J\n/jit-1.dump'
    _, said, _, _ = run(make_file([attr], [
        mmap2(attr, 1, 0x9000, 4096, path, time=1)], False))
    assert said == 'sfjit: %s: No such file or directory\n' % path.replace(
        '\x1b', '\ufffd').replace('\n', '\ufffd'), said
    refused(make_file([attr], [ROUND], False, features={
        F_ARCH: string('\x1bc')}),
        'recorded on a machine of another kind, \ufffdc')


def test_tables_that_are_none():
    attr = Attr(COMMON, **MONOTONIC)
    for sizes in ((6, 6, 0), (6, 7, 0), (30, 0, 0), (1 << 40, 0, 0)):
        content = jit_header() + jit_record(4, 9, words(*sizes) + b'abcdef') \
            + jit_load(10, 0x1000, 8)
        assert dumped(content, marked(attr), attr) == [
            'unload 1 10 1000 8'], sizes


def test_a_jitdump_that_is_cut_off():
    attr = Attr(COMMON, **MONOTONIC)
    content = jit_header() + jit_unwinding(9, b'table') + jit_load(
        10, 0x1000, 8)
    for length in range(40, len(content)):
        assert not dumped(content[:length], marked(attr), attr), length
    assert dumped(content, marked(attr), attr)


def test_a_jitdump_longer_than_is_read_at_once():
    attr = Attr(COMMON, **MONOTONIC)
    content = jit_header() + b''.join(
        jit_unwinding(i, b'%d' % i) + jit_load(i, i << 12, i & 0xfff)
        for i in range(1, 3000))
    assert dumped(content, marked(attr), attr) == [
        'load 1 %d %x %x %d %x' % (i, i << 12, i & 0xfff, i,
                                   (i << 12) + -(-(i & 0xfff) // 8) * 8)
        for i in range(1, 3000)]


# ---- What is refused ---------------------------------------------------

def test_not_a_recording():
    refused(b'', 'not a recording of perf')
    refused(b'0123456', 'damaged at offset 0x7: the file ends here')
    refused(bytes(200), 'not a recording of perf')
    refused(b'PERFILE2'[::-1] + bytes(200),
            'recorded on a machine of the other byte order')


def compressed(attr, kind, parts, *more, **sections):
    """The parts, each in a record; after it what is not compressed."""
    zstd = Zstd()
    return make_file([attr], [
        zstd.record(part, kind) + b''.join(before_of(after))
        for part, after in parts] + list(more), False, **sections)


def test_compressed():
    """A record may begin in one part and end in the next."""
    attr = Attr(COMMON, stack=5000)
    records = [sample(attr, pid=1, time=i) for i in range(1, 41)]
    data = b''.join(before_of(records))
    new = [mmap2(attr, 1, 0, 4096, '/a', time=50)]
    for kind, cuts in ((COMPRESSED, (0, 30000, 30004, 60001)),
                       (COMPRESSED2, (0, 1, 60000, 60000))):
        parts = [(data[a:b], [ROUND]) for a, b in
                 zip(cuts, [*cuts[1:], len(data)])]
        log = converts(
            compressed(attr, kind, parts, *new), make_file(
                [attr], after_in_rounds(records, [
                    whole_records(records, b) for _, b in zip(
                        cuts, [*cuts[1:], len(data)])]) + new, True))
        assert told(log) == ['frames 1 %d' % i for i in range(1, 41)] + [
            'mmap 1 50'], log


def whole_records(records, length):
    """How many of them are in so many bytes."""
    nr, at = 0, 0
    for before, _ in records:
        at += len(before)
        nr += at <= length
    return nr


def after_in_rounds(records, numbers):
    done, written = 0, []
    for number in numbers:
        written += after_of(records[done:number]) + [ROUND]
        done = number
    return written


def test_compressed_in_a_pipe():
    attr = Attr(COMMON)
    records = [sample(attr, pid=1, time=i) for i in range(1, 9)]
    zstd = Zstd()
    parts = [zstd.record(b''.join(before_of(records[:5]))), ROUND,
             zstd.record(b''.join(before_of(records[5:])), COMPRESSED2)]
    converts(make_pipe([attr], parts, False), make_pipe(
        [attr], after_of(records[:5]) + [ROUND] + after_of(records[5:]), True),
             pipe=True)


def test_compressed_more_than_a_round():
    """A small part has much more than is read at once."""
    attr = Attr(COMMON)
    many = [sample(attr, pid=1, time=1)] * 20000
    data = Zstd().record(b''.join(before_of(many)), COMPRESSED2)
    assert len(data) < 20000
    converts(make_file([attr], [data, ROUND], False),
             make_file([attr], after_of(many) + [ROUND], True))


def test_compressed_and_damaged():
    """What comes before is converted, and so is the rest of the file."""
    attr = Attr(COMMON, stack=4096)
    one, after = sample(attr, pid=1, time=1)
    features = {F_HOSTNAME: string('host'),
                F_COMPRESSED: zstd_feature(len(one))}
    at = 'damaged at offset 0x%x: ' % (
        len(make_file([attr], [], False)) + len(Zstd().record(one)))

    def stops(parts, why, **arguments):
        status, said, written, _ = run(make_file(
            [attr], parts, False, **arguments))
        assert (status, said) == (
            0, 'sfjit: %s%s: what comes before is used\n' % (at, why)), said
        return written

    for inner, why in (
            (bytes(8), 'a record of 0 bytes in a compressed one'),
            (record(COMPRESSED, b''), 'a record of type 81 in a compressed '
             'one'),
            (record(TRACING_DATA, halves(8)), 'a record of type 66 in a '
             'compressed one')):
        zstd = Zstd()
        stops([zstd.record(one), zstd.record(inner), zstd.record(one)], why)
    for broken, why in (
            (record(COMPRESSED, b'no block'), 'a compressed record: Data '
             'corruption detected'),
            (record(COMPRESSED2, words(9) + bytes(8)), 'a compressed record '
             'of 24 bytes'),
            (record(COMPRESSED2, bytes(7)), 'a compressed record of 15 '
             'bytes')):
        equal(stops([Zstd().record(one), broken, ROUND], why),
              make_file([attr], [after], True))
    zstd = Zstd()
    written = stops(
        [zstd.record(one), zstd.record(one + ROUND)],
        'a compressed record has more than the %u bytes of perf\'s buffers' %
        len(one), features=features)
    assert after in written and written.count(string('host')) == 1
    assert [written[a:a + n] for a, n in list_sections(written)] == [
        string('host')]


def test_compressed_without_end():
    """Also when the header does not tell the size of perf's buffers."""
    attr = Attr(COMMON)
    one = sample(attr, pid=1, time=1)[0]
    zstd = Zstd()
    first = zstd.record(one)
    large = record(FINISHED_INIT, bytes(0xfff0)) * 16
    bomb = zstd.record(large * 256 + large[:1 << 20], COMPRESSED2)
    at = len(make_file([attr], [first], False))
    with open(IN, 'wb') as file:
        file.write(make_file([attr], [first, bomb], False))
    done = subprocess.run([PROGRAM, 'inject', '-i', IN, '-o', '/dev/null'],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and (
        'sfjit: damaged at offset 0x%x: a compressed record has more than the '
        '268435456 bytes of perf\'s buffers: what comes before is used\n' %
        at) in done.stderr and 'sfjit: 1 samples' in done.stderr, done


def zstd_feature(most, kind=1):
    """F_COMPRESSED: version, kind, level, ratio, size of buffers."""
    return halves(1, kind, 1, 5, most)


def test_compressed_and_not_any_more():
    """Nothing says so of what is written, in each form."""
    attr = Attr(COMMON)
    one, after = sample(attr, pid=1, time=1)
    kept = {F_ARCH: ARCH, 28: string('a=1')}
    features = {**kept, F_COMPRESSED: zstd_feature(1 << 20)}
    status, said, written, _ = run(make_file(
        [attr], [Zstd().record(one), ROUND], False, features=features))
    assert (status, said) == (0, ''), said
    # The contents were last of 27 and before those of 28.
    sections = list_sections(written)
    assert [written[a:a + n] for a, n in sections] == list(kept.values())
    assert int.from_bytes(written[72:104], 'little') == 1 << F_ARCH | 1 << 28
    converts(written, written)

    def piped_with(more):
        return [record(HEADER_FEATURE, words(F_ARCH) + ARCH), *more,
                record(HEADER_FEATURE, words(28) + string('a=1'))]
    feature = record(HEADER_FEATURE, words(F_COMPRESSED) +
                     zstd_feature(1 << 20))
    pipe = make_pipe([attr], piped_with([]) + [after, ROUND, after], True)
    zstd = Zstd()
    converts(make_pipe([attr], piped_with([feature]) + [
        zstd.record(one), feature, ROUND, zstd.record(one)], False),
             pipe, pipe=True)
    with open(IN, 'wb') as file:
        file.write(make_file([attr], [Zstd().record(one), ROUND, one], False,
                             features=features))
    done = subprocess.run([PROGRAM, 'inject', '-q', '-i', IN, '-o', '-'],
                          stdout=subprocess.PIPE, check=True)
    equal(done.stdout, pipe)


def list_sections(data):
    start, size = struct.unpack('<2Q', data[40:56])
    bits = int.from_bytes(data[72:104], 'little')
    return [struct.unpack('<2Q', data[at:at + 16]) for at in range(
        start + size, start + size + 16 * bin(bits).count('1'), 16)]


def test_compressed_in_another_way():
    attr = Attr(COMMON)
    refused(make_file([attr], [ROUND], False, features={
        F_COMPRESSED: zstd_feature(1 << 20, kind=2)}),
            'compressed in another way than by zstd (2): record without -z')
    damaged(make_file([attr], [ROUND], False, features={
        F_COMPRESSED: bytes(16)}), len(make_file([attr], [ROUND], False)) + 16,
            'a description of compression of 16 bytes')


def test_compressed_and_cut_off():
    """Half a record is left over."""
    attr = Attr(COMMON)
    one, after = sample(attr, pid=1, time=1)
    status, said, written, _ = run(make_file(
        [attr], [Zstd().record(one + one[:20])], False))
    assert status == 0 and 'the recording is cut off' in said, said
    equal(written, make_file([attr], [after], True))


def test_compressed_without_libzstd():
    attr = Attr(COMMON)
    with open(os.path.join(DIR, 'libzstd.so.1'), 'w', encoding='utf-8'):
        pass
    data = make_file([attr], [Zstd().record(sample(attr)[0])], False)
    os.environ['LD_LIBRARY_PATH'] = DIR
    try:
        refused(data, 'the recording is compressed, and libzstd is not here: '
                'apt-get install libzstd1, or record without -z')
    finally:
        del os.environ['LD_LIBRARY_PATH']


def test_aux_areas():
    why = 'recordings with AUX area data are not converted'
    attrs = two_attrs()
    refused(make_file(attrs, [record(AUXTRACE_INFO, bytes(16))], False), why)
    refused(make_file(attrs, [ROUND], False, features={F_AUXTRACE: b''}), why)
    attr = Attr(COMMON | AUX)
    refused(make_file([attr], [ROUND], False), 'samples with AUX area data')


def test_other_machines():
    attrs = two_attrs()
    refused(make_file(attrs, [ROUND], False, features={
        F_ARCH: string('vax')}), 'recorded on a machine of another kind, vax')


def test_large_sections():
    attrs = two_attrs()
    most = 64 << 20
    data = make_pipe(attrs, [record(TRACING_DATA, halves(most + 8))], False)
    refused(data, 'tracing data of %d bytes at offset 0x%x' % (
        most + 8, len(data)), pipe=True)
    data = make_file(attrs, [ROUND], False, features={
        F_BUILD_ID: bytes(most + 1)})
    refused(data, 'a section of 0x%x bytes at 0x%x' % (
        most + 1, len(data) - most - 1))


def test_not_ended():
    attr = Attr(COMMON)
    refused(make_file([attr], [], False),
            'no events, or perf record was not ended properly')


# ---- What is cut off ---------------------------------------------------

CUT = 'sfjit: the recording is cut off: it is read up to its end\n'
UNFINISHED = 'sfjit: perf record did not finish the recording: it is read ' \
    'up to its end\n'
CUT_AFTER = 'sfjit: the recording is cut off after its events: build-ids or ' \
    'other sections are missing\n'


def converts_part(before, after, why, *, pipe=False):
    status, said, written, _ = run(before, pipe=pipe)
    assert (status, said) == (0, why), (status, said, why)
    equal(written, after)


def some_samples():
    attrs = two_attrs()
    return attrs, [ROUND, sample(attrs[0], id=100, time=1), ROUND,
                   sample(attrs[0], id=100, time=2), ROUND]


def parts_of(records):
    """Each length of their bytes, and how many are whole in it."""
    ends = list(itertools.accumulate(map(len, before_of(records))))
    return [(length, sum(end <= length for end in ends), length in ends)
            for length in range(1, ends[-1])]


def test_cut_off_pipe():
    attrs, records = some_samples()
    front = make_pipe(attrs, [], False)
    data = make_pipe(attrs, before_of(records), False)
    for length, whole, at_end in parts_of(records):
        at = len(front) + length
        converts_part(
            data[:at], make_pipe(attrs, after_of(records)[:whole], True),
            '' if at_end else 'sfjit: the recording is cut off at offset '
            '0x%x: what comes before is used\n' % at, pipe=True)


def test_cut_off_pipe_in_a_file():
    attrs, records = some_samples()
    data = make_pipe(attrs, before_of(records), False)[:-3]
    converts_part(
        data, make_pipe(attrs, after_of(records)[:-1], True),
        'sfjit: the recording is cut off at offset 0x%x: what comes before '
        'is used\n' % len(data))


def test_cut_off_in_the_description_of_an_event():
    attrs, _ = some_samples()
    data = make_pipe(attrs, [], False)
    converts_part(
        data[:-1], make_pipe(attrs[:1], [], True),
        'sfjit: the recording is cut off at offset 0x%x: what comes before '
        'is used\n' % (len(data) - 1), pipe=True)


def test_cut_off_file():
    attrs, records = some_samples()
    data = make_file(attrs, before_of(records), False,
                     features={F_HOSTNAME: string('host')})
    data_at = struct.unpack('<Q', data[40:48])[0]
    for length, whole, _ in parts_of(records):
        converts_part(
            data[:data_at + length],
            make_file(attrs, after_of(records)[:whole], True), CUT)
    damaged(data[:data_at], 40, 'events at 0x%x, 0x%x bytes, in a file of '
            '0x%x' % (data_at, len(b''.join(before_of(records))), data_at))


def test_unfinished_file():
    """perf names sections from the beginning, and writes them at the end."""
    attrs, records = some_samples()
    data = make_file(attrs, before_of(records), False,
                     features={F_HOSTNAME: string('host')})
    data_at = struct.unpack('<Q', data[40:48])[0]
    data = patched(data, 48, words(0))
    for length, whole, _ in parts_of(records):
        converts_part(
            data[:data_at + length],
            make_file(attrs, after_of(records)[:whole], True), UNFINISHED)
    refused(data[:data_at],
            'no events, or perf record was not ended properly')
    refused(patched(data, 72, words(1 << F_AUXTRACE))[:data_at + 9],
            'recordings with AUX area data are not converted')


def test_file_cut_off_after_its_events():
    """Sections that are whole stay."""
    attrs, records = some_samples()
    sections = {F_BUILD_ID: build_id('/a', b'1'), F_HOSTNAME: string('host'),
                F_ARCH: ARCH}
    data = make_file(attrs, before_of(records), False, features=sections)
    events = b''.join(after_of(records))
    data_at, size = struct.unpack('<2Q', data[40:56])
    at, ends = data_at + size + 16 * len(sections), []
    for content in sections.values():
        at += len(content)
        ends.append(at)
    for length in range(data_at + size, len(data)):
        status, said, written, _ = run(data[:length])
        assert (status, said) == (0, CUT_AFTER), (length, status, said)
        bits = sum(1 << number for number, end in zip(sections, ends)
                   if end <= length)
        assert struct.unpack('<Q', written[72:80])[0] == bits, length
        equal(written[data_at:data_at + len(events)], events)
        converts(written, written)


def damaged(data, offset, why, **arguments):
    refused(data, 'damaged at offset 0x%x: %s' % (offset, why), **arguments)


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def test_damaged_headers():
    attr = Attr(COMMON, ids=(1,))
    good = make_file([attr], [ROUND], False, features={F_HOSTNAME: b'x' * 8})
    data_at = 104 + 8 + 144
    end = len(good)
    damaged(patched(good, 8, words(103)), 8, 'a header of 0x67 bytes')
    damaged(patched(good, 16, words(79)), 16, 'attributes of 0x4f bytes')
    damaged(patched(good, 24, words(end)), 24,
            'attributes at 0x%x, 0x90 bytes' % end)
    damaged(patched(good, 24, words(data_at - 8)), 24,
            'attributes at 0x%x, 0x90 bytes' % (data_at - 8))
    damaged(patched(good, 32, words(143)), 24,
            'attributes at 0x70, 0x8f bytes')
    damaged(patched(good, 48, words(1 << 63)), 40,
            'events at 0x%x, 0x8000000000000000 bytes, in a file of 0x%x' %
            (data_at, end))
    damaged(patched(good, 40, words(8)), 40,
            'events at 0x8, 0x8 bytes, in a file of 0x%x' % end)
    at = data_at + 8
    damaged(patched(good, at, words(1 << 63)), at,
            'a section at 0x8000000000000000, 0x8 bytes')
    damaged(patched(good, at, words(data_at)), at,
            'a section at 0x%x, 0x8 bytes' % data_at)
    at = 104 + 8
    damaged(patched(good, at + 4, halves(120)), at,
            'an attribute of 120 bytes among ones of 128')
    damaged(patched(good, at + 128, words(end)), at + 128,
            'ids at 0x%x, 0x8 bytes' % end)
    damaged(patched(good, at + 136, words(9)), at + 128,
            'ids at 0x68, 0x9 bytes')


def test_damaged_sections():
    attrs = two_attrs()

    def section(number, content, offset, why):
        data = make_file(attrs, [ROUND], False, features={number: content})
        damaged(data, len(data) - len(content) + offset, why)

    leaves = 'a build-id that leaves its section'
    section(F_BUILD_ID, bytes(4), 0, leaves)
    good = build_id('/a', b'1')
    section(F_BUILD_ID, good + record(67, b'')[:7], len(good), leaves)
    section(F_BUILD_ID, good[:-1], 0, leaves)
    section(F_BUILD_ID, record(67, b'x' * 40), 0,
            'a build-id without the end of a name')
    section(F_ARCH, halves(64) + b'x', 0, 'the name of a machine has no end')
    section(F_ARCH, halves(4) + b'abcd', 0,
            'the name of a machine has no end')
    section(F_EVENT_DESC, bytes(7), 0, 'descriptions of events of 0 bytes')
    section(F_EVENT_DESC, halves(1, 63), 0,
            'descriptions of events of 63 bytes')
    section(F_EVENT_DESC, halves(1, 64) + bytes(71), 8,
            'the description of an event has no end')
    section(F_EVENT_DESC, halves(1, 64) + attrs[0].raw(False)[:64] + bytes(80),
            8 + 64 + 8, 'the description of an event has no end')
    good = event_desc(attrs, False)
    section(F_EVENT_DESC, good[:-1], 8 + 128 + 8 + 64 + 16 + 128 + 8,
            'the description of an event has no end')


def test_damaged_records():
    attrs = two_attrs()
    at = len(make_file(attrs, [], False))

    def one(body, why, offset=0):
        damaged(make_file(attrs, [body], False), at + offset, why)
        damaged(make_pipe(attrs, [body], False),
                len(make_pipe(attrs, [], False)) + offset, why, pipe=True)

    one(struct.pack('<IHH', 68, 0, 7), 'a record of 7 bytes')
    one(struct.pack('<IHH', 68, 0, 0), 'a record of 0 bytes')
    one(record(SAMPLE, words(300) + bytes(200)),
        'a record of an event that is not described')
    one(record(SAMPLE, b''), 'a record of an event that is not described')
    one(record(SAMPLE, words(100)), 'a sample of 16 bytes has less than its '
        'fields take')
    one(record(MMAP, halves(1, 1) + words(2, 100)),
        'a record of type 1 with 32 bytes')
    one(record(MMAP2, halves(1, 1) + words(1, 2, 3) + bytes(32) + b'x' * 8 +
               bytes([1]) * 40 + words(100)),
        'a record of type 10 with 128 bytes')
    one(record(FORK, halves(1, 1) + words(100)),
        'a record of type 7 with 24 bytes')
    one(record(COMM, halves(1), 1 << 13), 'a record of type 3 with 12 bytes')
    one(record(HEADER_FEATURE, bytes(4)), 'a feature of 12 bytes')
    damaged(make_file(attrs, [struct.pack('<IHH', 68, 0, 16)], False), at + 8,
            '8 bytes of a record, where the events have 0')


def test_damaged_attributes_of_a_pipe():
    attr = Attr(COMMON)
    for size in (0, 60, 63, 136, 5000):
        raw = patched(attr.raw(False), 4, halves(size))
        said = size or 64
        if said == 64:
            continue
        damaged(words(MAGIC, 16) + record(HEADER_ATTR, raw), 16,
                'an attribute of %d bytes in a record of 136' % said,
                pipe=True)
    damaged(words(MAGIC, 16) + record(HEADER_ATTR, bytes(60)), 16,
            'an attribute of 0 bytes in a record of 68', pipe=True)


def test_an_event_that_is_described_too_late():
    """Until then the only one has no need of an id."""
    attrs = two_attrs()
    early = mmap2(attrs[0], 1, 0, 4096, '/a', time=1, id=300)
    data = make_pipe(attrs[:1], [early], False)
    converts(data, make_pipe(attrs[:1], [early], True), pipe=True)
    damaged(data + record(HEADER_ATTR, attrs[1].with_ids(False)),
            len(data) - len(early),
            'a record of an event that is not described', pipe=True)


def test_events_that_cannot_be_told_apart():
    attrs = [Attr(COMMON, ids=(1,)), Attr(COMMON, ids=(2,))]
    damaged(make_file(attrs, [ROUND], False), 104 + 16 + 144,
            'events that cannot be told apart in samples')
    attrs[0].sample_type |= ID
    attrs[1].sample_type |= ID | ADDR
    damaged(make_file(attrs, [ROUND], False), 104 + 16 + 144,
            'events that cannot be told apart in samples')


def test_unknown_parts_of_samples():
    attr = Attr(COMMON | 1 << 25)
    damaged(make_file([attr], [ROUND], False), 104,
            'unknown parts of samples, sample_type 0x2003007')
    attr.sample_type &= ~DWARF
    data = make_file([attr], [record(SAMPLE, bytes(100))], False)
    converts(data, data)


def test_no_room_for_a_chain():
    attr = Attr(IP | TID | RAW | DWARF, stack=0)
    raw = bytes(0xffff - 8 - 16 - 4 - 16)
    before = sample(attr, raw=raw, abi=0, stack=[], most=0)[0]
    assert len(before) == 0xffff
    damaged(make_file([attr], [before], False), 104 + 144,
            'a sample without room for a call chain')


def test_a_file_needs_a_file():
    attr = Attr(COMMON)
    refused(make_file([attr], [ROUND], False), 'a perf.data file cannot be '
            'read from a pipe, only what perf writes to one', pipe=True)


TESTS = list(globals().items())
try:
    Zstd()
except OSError as problem:
    TESTS = [test for test in TESTS
             if not test[0].startswith('test_compressed')]
    skip('inject compressed', problem)
check_each('inject', TESTS)
check('all tests', True, '')
finish()
