# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Tests of tests/lib/perfscript.py: texts of perf script, and what they say."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '../lib')]
sys.dont_write_bytecode = True

from perfscript import FIELDS, Frame, ParseError, Sample, samples
from tap import check_each, finish

# Of perf 6.1: --ns, inlined lines, the kernel's frames.
PERF_6_1 = '''\
bash 30096/30096 K      6036.131673648: cpu-clock: \n\
\tffffffff816fdd35 __d_lookup_rcu+0x5 ([kernel.kallsyms])
\t           27304 __libc_start_main_impl+0x84 (inlined)
\t           27304 __libc_start_main@@GLIBC_2.34+0x84 (/usr/lib/libc.so.6)
\t           95074 [unknown] (/usr/bin/bash)

'''
# Of perf 7.3, with --no-merge-callchains; the last sample is made up.
PERF_7_3 = '''\
sfjit      91/91      K         2.118963417: cpu-clock: \n\
\tffffffff8114083e __css_rstat_updated+0x2e ([kernel.kallsyms])
\t       300000001 (cookie) ([unknown])

sfjit      91/91      U         2.118971732: DEFERRED CALLCHAIN \
[cookie: 300000001]
\t    7f3bc9e47000 [unknown] (/usr/lib/libelf-0.192.so+0x3000)

python3      77/78      U       100.000000001: cpu-clock:u: \n\
\t    7feb28091e64 py::f (x):/a b.py+0x4 (/tmp/perf-9.map+0x7feb28091e64)
\t    7feb28091e65 [unknown] (/memfd:jit (deleted)+0x1000)

'''


def equal(got, want):
    if got != want:
        raise AssertionError('%r, not %r' % (got, want))


def refused(error, part, text, fields):
    try:
        got = list(samples(text, fields, 'x'))
    except error as caught:
        equal(str(caught), part)
        return
    raise AssertionError('accepted: %r' % (got,))


def only(text, fields):
    sample, = samples(text, fields)
    return sample


def frame(line, fields='ip,sym,symoff,dso'):
    found, = only('\t%s\n\n' % line, fields).frames
    return found


def head(line, fields):
    return only(line + ' \n\t1 f\n\n', fields + ',ip,sym')[:-1]


def test_perf_6_1():
    equal(list(samples(PERF_6_1, FIELDS.removesuffix(',dsoff'))), [
        Sample('bash', 30096, 30096, 'K', 6036131673648, 'cpu-clock', [
            Frame(0xffffffff816fdd35, '__d_lookup_rcu', 5,
                  '[kernel.kallsyms]', None),
            Frame(0x27304, '__libc_start_main_impl', 0x84, None, None, True),
            Frame(0x27304, '__libc_start_main@@GLIBC_2.34', 0x84,
                  '/usr/lib/libc.so.6', None),
            Frame(0x95074, None, None, '/usr/bin/bash', None)])])


def test_perf_7_3():
    equal(list(samples(PERF_7_3)), [
        Sample('sfjit', 91, 91, 'K', 2118963417, 'cpu-clock', [
            Frame(0xffffffff8114083e, '__css_rstat_updated', 0x2e,
                  '[kernel.kallsyms]', None),
            Frame(0x300000001, '(cookie)', None, None, None)]),
        Sample('sfjit', 91, 91, 'U', 2118971732, None, [
            Frame(0x7f3bc9e47000, None, None, '/usr/lib/libelf-0.192.so',
                  0x3000)]),
        Sample('python3', 77, 78, 'U', 100000000001, 'cpu-clock:u', [
            Frame(0x7feb28091e64, 'py::f (x):/a b.py', 4, '/tmp/perf-9.map',
                  0x7feb28091e64),
            Frame(0x7feb28091e65, None, None, '/memfd:jit (deleted)',
                  0x1000)])])


def test_heads():
    equal(head('my (odd) 1 prog  12/34     6.000001:  a:b:',
               'comm,pid,tid,time,event'),
          ('my (odd) 1 prog', 12, 34, None, 6000001000, 'a:b'))
    equal(head('  4711 ', 'tid'), (None, None, 4711, None, None, None))
    equal(head(':-1    -1 ', 'comm,pid'), (':-1', -1, *[None] * 4))
    equal(head('12.000000001:', 'time')[4], 12000000001)
    equal(head('mem:0x401136:x:', 'event')[5], 'mem:0x401136:x')


def test_without_heads():
    equal([[frame.name for frame in sample.frames] for sample in samples(
        '\n\t1 a\n\t2 b\n\n\n\t3 c\n', 'ip,sym')], [['a', 'b'], ['c']])


def test_a_sample_without_frames():
    equal([sample.frames for sample in samples(' 1 \n\n 2 \n', 'tid,ip')],
          [[], []])


def test_names():
    equal(frame('1 operator()(int (*)(long)) const+0x1f (/a)'), Frame(
        1, 'operator()(int (*)(long)) const', 0x1f, '/a', None))
    equal(frame('1 f+0x2', 'ip,sym').sym, 'f+0x2')
    equal(frame('1 a b (inlined)', 'ip,sym'),
          Frame(1, 'a b', None, None, None, True))
    equal(frame('1 [unknown]', 'ip,sym').name, '[unknown]')
    equal(frame('1 ([unknown])', 'ip,dso').dso, None)


def test_files():
    equal(frame('1 f (/a b (deleted))').dso, '/a b (deleted)')
    equal(frame('1 f (/a(b)/c.so)'), Frame(1, 'f', None, '/a(b)/c.so', None))
    equal(frame('1 (/a+0x2f)', 'ip,dso,dsoff')[3:5], ('/a', 0x2f))
    equal(frame('1 (/a+0x2f)', 'ip,dso').dso, '/a+0x2f')


def test_other_records():
    equal([sample.tid for sample in samples(
        ' 7 \n\t1 f\n\n'
        ' 8 PERF_RECORD_LOST_SAMPLES lost 3\n'
        ' 9 \n\t2 g\n\n', 'tid,ip,sym')], [7, 9])


def test_cut_off():
    for end in '', ' ', ' 9', ' 9 \n\t', ' 9 \n\t2', ' 9 \n\t2 g\n\t3 h':
        equal([sample.tid for sample in samples(
            ' 7 \n\t1 f\n\n' + end, 'tid,ip,sym')], [7])


def test_last_sample_without_empty_line():
    equal(only(' 7 \n\t1 f\n', 'tid,ip,sym').frames[0].sym, 'f')


def test_refuses_other_text():
    refused(ParseError, 'x: line 1: no sample header', 'Warning:\n', 'tid,ip')
    refused(ParseError, 'x: line 2: no frame', ' 1 \nhello\n', 'tid,ip')
    refused(ParseError, 'x: line 2: no frame', '\t1 f\n\tg\n', 'ip,sym')
    refused(ParseError, 'x: line 2: no frame', ' 1 \n 2 f\n', 'tid,ip,sym')
    refused(ValueError, 'fields: ip,brstack', '', 'ip,brstack')
    refused(ValueError, 'fields: sym', '', 'sym')


check_each('perfscript:', list(globals().items()))
finish()
