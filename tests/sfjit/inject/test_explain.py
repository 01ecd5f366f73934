# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: test_explain.py PROGRAM DIRECTORY

sfjit explain, with a tracker that reads from an address what lies there, against
recordings whose stacks end where they say.
"""
import json
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../lib'))
# pylint: disable=wrong-import-position,wildcard-import,unused-wildcard-import
from tap import check, check_each, finish  # noqa: E402
from recording import *  # noqa: E402,F403

PROGRAM, DIR = sys.argv[1:]
IN, LOG = (os.path.join(DIR, name) for name in ('in', 'log'))
CHAINS = IP | TID | TIME | CALLCHAIN
FILE, NOWHERE, JITDUMP, MEMORY = 0x401000, 0x400000, 0x402000, 0x404000
(OUTERMOST, TRUNCATED, NO_MAPPING, NO_FILE, NO_TABLE, NO_RULE, NO_REGISTER,
 NOT_SUPPORTED, DAMAGED, LIMIT, STOPPED) = range(11)
UNUSED = 'its call frame information was not used'
AT_CALLER = "nothing is known of its caller's address"
MISSING = 'the deferred part is missing'


def run(data, *options):
    with open(IN, 'wb') as file:
        file.write(data)
    done = subprocess.run([PROGRAM, 'explain', *options, IN],
                          capture_output=True, check=False,
                          env=dict(os.environ, TRACKER_LOG=LOG))
    return done.returncode, done.stderr.decode(), done.stdout.decode()


def explain(attrs, records, **arguments):
    status, said, out = run(make_file(attrs, records, False, **arguments),
                            '--json')
    assert (status, said) == (0, ''), (status, said)
    found = json.loads(out)
    return found['samples'], found['without'], found['complete'], [
        (end['samples'], end['module'], end['why'], end['remedy'])
        for end in found['ends']]


def ends(attrs, records, complete, *want, without=0):
    """WANT: (SAMPLES, MODULE, WHY)"""
    samples, none, whole, got = explain(attrs, records)
    assert samples == none + whole + sum(end[0] for end in got)
    assert (none, whole) == (without, complete), (none, whole)
    assert [end[:3] for end in got] == list(want), got


def chain_of(attr, *ips, **values):
    return sample(attr, old_user=[CONTEXT_USER, *ips], **values)[0]


def deferred(attr, cookie, *ips, **values):
    return event(attr, CALLCHAIN_DEFERRED, words(cookie, len(ips), *ips), **values)


def waits(attr, cookie, **values):
    return sample(attr, kernel=[CONTEXT_KERNEL, 1 << 63],
                  old_user=[CONTEXT_DEFERRED, cookie], **values)[0]


def looked_at():
    with open(LOG, encoding='utf-8') as file:
        return [line.split() for line in file if line.startswith('look ')]


# ---- What is cut off ---------------------------------------------------

def explain_part(data):
    with open(IN, 'wb') as file:
        file.write(data)
    done = subprocess.run([PROGRAM, 'explain', '--json', IN],
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr.decode(), json.loads(done.stdout)['samples']


def test_cut_off():
    """What comes before counts, and it is said."""
    attr = Attr(CHAINS)
    events = [chain_of(attr, FILE + NO_RULE)] * 3
    data = make_file([attr], events, False)
    last = len(events[0])
    cut = 'sfjit: the recording is cut off: it is read up to its end\n'
    assert explain_part(data) == ('', 3)
    assert explain_part(data[:-1]) == (cut, 2)
    assert explain_part(data[:-last]) == (cut, 2)
    assert explain_part(data[:48] + words(0) + data[56:]) == (
        'sfjit: perf record did not finish the recording: it is read up to '
        'its end\n', 3)
    data = make_pipe([attr], events, False)
    assert explain_part(data[:-1]) == (
        'sfjit: the recording is cut off at offset 0x%x: what comes before '
        'is used\n' % (len(data) - 1), 2)


# ---- What sfjit record has saved ---------------------------------------

SAVED = IN + '.ends'
SOME = b'14 2 5\n4 1 0 libc.so.6\n2 5 2 \n1 4 0 /\n'


def explain_saved(content, moved=0):
    """Of the recording that is there, or of one changed MOVED ns before."""
    st = os.stat(IN)
    head = b'sfjit ends 1\nof %d %d %d\n' % (
        st.st_size, *divmod(st.st_mtime_ns - moved, 10 ** 9))
    with open(SAVED, 'wb') as file:
        file.write(content(head) if callable(content) else head + content)
    done = subprocess.run([PROGRAM, 'explain', '--json', IN],
                          capture_output=True, check=False)
    os.unlink(SAVED)
    found = json.loads(done.stdout) if done.returncode == 0 else None
    return done.returncode, done.stderr.decode(), found


def one_recording():
    attr = Attr(CHAINS)
    run(make_file([attr], [chain_of(attr, FILE + NO_RULE)], False))


def test_saved():
    one_recording()
    status, said, found = explain_saved(SOME)
    assert (status, said) == (0, ''), (status, said)
    assert (found['samples'], found['without'], found['complete']) == (14, 2, 5)
    assert [(end['samples'], end['module'], end['why'])
            for end in found['ends']] == [
                (4, 'libc.so.6', 'end 1'),
                (2, '[generated code]', 'end 5'),
                (1, '[other files]', 'end 4')], found
    assert explain_saved(SOME, moved=1)[1:] == ('', dict(
        found, samples=1, without=0, complete=0, ends=[dict(
            found['ends'][0], samples=1, share=1.0, module='401',
            why='end 5', remedy='assembly without .cfi '
            'directives: add them, or build without it')]))


def test_lost_is_saved():
    one_recording()
    lost = SOME.replace(b'14 2 5\n', b'14 2 5 9\n')
    status, said, found = explain_saved(lost)
    assert (status, said, found['lost']) == (0, '', 9), (status, said, found)
    assert explain_saved(SOME)[2] == dict(found, lost=0)


def test_lost():
    """The kernel says it in the ring, and perf at the end once more."""
    attr = Attr(CHAINS)
    one = chain_of(attr, FILE)
    lost = [event(attr, LOST, words(1, 5)), event(attr, LOST, words(1, 2))]
    for records, wanted in ((lost, 7), ([*lost, record(13, words(9))], 9),
                            ([event(attr, LOST, words(1, 1 << 40))], 0)):
        status, said, out = run(make_file([attr], [one, *records], False))
        assert (status, said) == (0, ''), (status, said)
        assert ('%d more were lost: ' % wanted in out) == (wanted > 0), out


def test_saved_is_damaged():
    one_recording()
    for bad in (b'', b'14 2 5', b'14 2 5\n', SOME[:-1], SOME + b'\n',
                SOME + b'x', SOME.replace(b'5 2', b'0 2'),
                SOME + b'1 4 0 a\n', SOME.replace(b'14 ', b'15 '),
                SOME.replace(b'14 ', b'-14 '), SOME.replace(b'5 2', b'12 2'),
                SOME.replace(b'5 2', b'5 4'), SOME.replace(b'4 1', b'4 1x'),
                SOME.replace(b'14 ', b'99999999999999999999 '),
                SOME.replace(b'libc', bytes(9)), b'0 0 0\n' + b'0 1 3 \n' * 9999,
                SOME.replace(b'libc', b'a' * 9000)):
        status, said, found = explain_saved(bad)
        assert (status, said) == (0, 'sfjit: %s: not what sfjit record writes\n'
                                  % SAVED), (bad[:80], status, said)
        assert found['samples'] == 1


def test_saved_is_anything():
    one_recording()
    rng = random.Random(3)
    for _ in range(200):
        def mutated(head):
            data = bytearray(head + SOME)
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(data))
                data[at:at + rng.randrange(3)] = rng.choice(
                    (b'', b'\n', b' ', b'\0', b'9', b'\xff', b'-', b'/'))
            return bytes(data)
        status, said, found = explain_saved(mutated)
        assert status == 0 and said in (
            '', 'sfjit: %s: not what sfjit record writes\n' % SAVED), said
        assert found['samples'] == found['without'] + found['complete'] + sum(
            end['samples'] for end in found['ends'])


# ---- Copies ------------------------------------------------------------

def test_copies_by_reason():
    """The last address is inside of a call."""
    attr = Attr(COMMON)
    one = sample(attr, stack=(0x405000, FILE + 1 + OUTERMOST, 0))[0]
    ends([attr], [one, one], 2)
    for why in (TRUNCATED, *range(NO_FILE, STOPPED)):
        one = sample(attr, stack=(0x405000, FILE + 1 + why, 0))[0]
        ends([attr], [one], 0, (1, '401', 'end %d' % why))
    one = sample(attr, stack=(0x405001, NOWHERE + 1 + NO_MAPPING, 0))[0]
    ends([attr], [one], 0, (1, '405', AT_CALLER))


def test_copies_without_registers():
    attr = Attr(COMMON)
    one = sample(attr, abi=0, kernel=[CONTEXT_KERNEL, 1 << 63], misc=1)[0]
    ends([attr], [one, one], 0, without=2)
    one = sample(attr, abi=1, ip=FILE)[0]
    ends([attr], [one], 0, (1, '401', 'end %d' % NOT_SUPPORTED))


# ---- Call chains -------------------------------------------------------

def test_chains_by_reason():
    attr = Attr(CHAINS)
    for why in (NO_FILE, NO_TABLE, NO_RULE, STOPPED):
        one = chain_of(attr, 0x405000, FILE + 1 + why, pid=7, time=9)
        samples, _, whole, got = explain([attr], [one])
        assert (samples, whole, len(got)) == (1, 0, 1), got
        assert got[0][1] == '401'
        assert looked_at() == [['look', '7', '9', '%x' % (FILE + why)]]
    one = chain_of(attr, 0x405000, FILE + 1)
    ends([attr], [one], 1)
    assert looked_at()[0][3] == '%x' % FILE


def test_the_only_address_is_exact():
    attr = Attr(CHAINS)
    ends([attr], [chain_of(attr, FILE + STOPPED)], 0, (1, '401', UNUSED))
    assert looked_at()[0][3] == '%x' % (FILE + STOPPED)


def test_places():
    attr = Attr(CHAINS)
    records = [chain_of(attr, MEMORY + NO_TABLE)] * 4 + \
        [chain_of(attr, JITDUMP + NO_RULE)] * 3 + \
        [chain_of(attr, NOWHERE + NO_MAPPING)] * 2 + \
        [chain_of(attr, FILE, NOWHERE + NO_MAPPING + 1)]
    ends([attr], records, 0,
         (4, '[generated code]', 'end %d' % NO_TABLE),
         (3, '[jitdump]', 'end %d' % NO_RULE),
         (2, '[unknown]', 'end %d' % NO_MAPPING),
         (1, '401', AT_CALLER))


def test_nothing_of_user_space():
    attr = Attr(CHAINS)
    kernel = sample(attr, kernel=[CONTEXT_KERNEL, FILE + STOPPED])[0]
    ends([attr], [kernel, chain_of(attr), sample(attr)[0]], 0, without=3)
    attr = Attr(IP | TID | TIME)
    ends([attr], [sample(attr)[0]], 0, without=1)


def test_the_kernels_part_is_not_the_end():
    attr = Attr(CHAINS)
    both = sample(attr, kernel=[CONTEXT_KERNEL, FILE + NO_RULE],
                  old_user=[CONTEXT_USER, FILE + STOPPED])[0]
    ends([attr], [both], 0, (1, '401', UNUSED))


def test_as_long_as_it_may_be():
    """127 addresses, or what the attribute says after its first 104 bytes."""
    def one(attr, length, why):
        return chain_of(attr, *[FILE] * (length - 1), FILE + 1 + why)

    full = 'end %d' % LIMIT
    attr = Attr(CHAINS, size=104)
    for length, why in ((126, UNUSED), (127, full), (128, UNUSED)):
        ends([attr], [one(attr, length, STOPPED)], 0, (1, '401', why))
    ends([attr], [one(attr, 127, OUTERMOST)], 1)
    attr.raw = lambda converted, raw=attr.raw: \
        raw(converted)[:104] + struct.pack('<IHH', 0, 5, 0)
    attr.size = 112
    for length, why in ((4, UNUSED), (5, full), (127, full)):
        ends([attr], [one(attr, length, STOPPED)], 0, (1, '401', why))


# ---- Deferred chains ---------------------------------------------------

def test_a_deferred_chain_is_of_all_that_wait():
    attr = Attr(CHAINS)
    last = deferred(attr, 5, 0x405000, FILE + STOPPED + 1, pid=3, time=8)
    wait = waits(attr, 5, pid=3)
    want = (2, '401', UNUSED)
    ends([attr], [wait, wait, last], 0, want)
    assert looked_at() == [['look', '3', '8', '%x' % (FILE + STOPPED)]]
    ends([attr], [wait, ROUND, ROUND, ROUND, wait, last], 0, want)


def test_a_deferred_chain_may_be_read_first():
    attr = Attr(CHAINS)
    last = deferred(attr, 5, 0x405000, FILE + STOPPED + 1)
    whole = deferred(attr, 5, FILE + OUTERMOST)
    wait = waits(attr, 5)
    ends([attr], [last, wait, wait], 0, (2, '401', UNUSED))
    ends([attr], [wait, last, ROUND, wait], 0, (2, '401', UNUSED))
    ends([attr], [wait, whole, ROUND, wait], 2)
    ends([attr], [last, ROUND, ROUND, wait], 0, (1, '[unknown]', MISSING))


def test_deferred_chains_that_nobody_waits_for():
    attr = Attr(CHAINS)
    ends([attr], [deferred(attr, 5, FILE + NO_RULE)], 0)
    ends([attr], [waits(attr, 4), deferred(attr, 5, FILE + NO_RULE)], 0,
         (1, '[unknown]', MISSING))


def test_damaged_deferred_chains():
    attr = Attr(CHAINS)
    for body, why in ((words(1), 'of 32 bytes'),
                      (words(1, 3, 1, 2), 'of 3 addresses'),
                      (words(1, 1 << 61, 1, 2), 'of 2305843009213693952 '
                       'addresses')):
        data = make_file([attr], [event(attr, CALLCHAIN_DEFERRED, body)], False)
        at = len(make_file([attr], [], False))
        assert run(data) == (1, 'sfjit: %s: damaged at offset 0x%x: a '
                             'deferred call chain %s\n' % (IN, at, why), '')


# ---- Who was run -------------------------------------------------------

def test_whom_sfjit_run_started():
    attr = Attr(CHAINS)
    records = [
        mmap2(attr, 1, 0x1000, 4096, '/x/libsfjit-preload.so', time=1),
        mmap2(attr, 5, 0x1000, 4096, '/x/xlibsfjit-preload.so', time=1),
        task(attr, FORK, 2, 2, 1, time=2), task(attr, FORK, 3, 3, 2, time=3),
    ] + [chain_of(attr, FILE + STOPPED, pid=pid, time=9)
         for pid in (1, 2, 3, 4, 5)]
    _, _, _, got = explain([attr], records)
    assert [(end[0], 'sfjit doctor' in end[3]) for end in got] == \
        [(3, True), (2, False)], got


# ---- Much of it --------------------------------------------------------

def test_more_modules_than_are_told_apart():
    attr = Attr(CHAINS)
    records = [chain_of(attr, (0x1001 + 16 * i << 12) + NO_RULE)
               for i in range(5000)]
    _, _, whole, got = explain([attr], records + records[:1])
    assert whole == 0 and len(got) == 4097
    assert got[0][:2] == (5000 - 4096, '[other files]'), got[0]
    assert got[1][:2] == (2, '1001'), got[1]
    _, _, out = run(make_file([attr], records, False))
    assert 'and 4057 rows more, of 4057 samples' in out, out[-600:]


def test_for_a_terminal():
    attr = Attr(CHAINS)
    one = chain_of(attr, FILE + STOPPED)
    assert run(make_file([attr], [
        one, one, one, chain_of(attr, FILE), sample(attr)[0]], False)) == (
        0, '', '1 of 4 samples complete (25.00 %)\n'
        '1 more have no stack of user space\n\n'
        'SAMPLES    SHARE  MODULE  WHY STACKS END THERE\n'
        '      3  75.00 %  401     ' + UNUSED + '\n\n' + UNUSED + '\n'
        '    fix: sfjit record on any kernel; sfjit run or sfjit daemon on '
        'one with windows\n')


def test_the_recording_is_named_as_for_perf():
    """By -i, or by itself; never twice."""
    attr = Attr(CHAINS)
    whole = run(make_file([attr], [chain_of(attr, FILE + 1)], False))
    assert whole[0] == 0, whole

    def named(*words):
        done = subprocess.run([PROGRAM, 'explain', *words], cwd=DIR,
                              capture_output=True, check=False,
                              env=dict(os.environ, TRACKER_LOG=LOG))
        return done.returncode, done.stderr.decode(), done.stdout.decode()

    os.replace(IN, os.path.join(DIR, 'perf.data'))
    for words in ((), ('perf.data',), ('-i', 'perf.data'),
                  ('-iperf.data',), ('--input', 'perf.data'),
                  ('--input=perf.data',), ('-i', IN, '-i', 'perf.data')):
        assert named(*words) == whole, words
    status, said, out = named('-i', 'perf.data', 'perf.data')
    assert (status, out) == (125, ''), (status, out)
    assert said.startswith('sfjit explain: perf.data: unexpected after '
                           'perf.data\nUsage: sfjit explain '), said


check_each('explain', list(globals().items()))
check('all tests', True, '')
finish()
