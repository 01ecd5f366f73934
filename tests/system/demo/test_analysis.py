# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Tests of the demo's analysis on made-up recordings; see recording.py.

Usage: test_analysis.py DIRECTORY (scratch)
"""
import functools
import os
import struct
import subprocess
import sys
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = os.path.join(HERE, '..', '..', '..', 'tools', 'demo.d')
sys.path[:0] = [DEMO, HERE, os.path.join(HERE, '..', '..', 'lib')]
sys.dont_write_bytecode = True

import perfscript
import recording
from tap import check_each, finish
from sfdemo import (calls, elf, flame, metrics, page, picture, report, truth,
                    x86_64)

BAD_ELF = '/bad.so'


def equal(got, want):
    if got != want:
        raise AssertionError('%r, not %r' % (got, want))


def refused(error, part, call, *arguments):
    try:
        got = call(*arguments)
    except error as caught:
        if part not in str(caught):
            raise AssertionError('%r is not in %r' % (part, str(caught)))
        return
    raise AssertionError('accepted: %r' % (got,))


def parse(text):
    return list(perfscript.samples(text, name='x.txt'))


def parse_frame(line):
    return perfscript.Format(perfscript.FIELDS).frame(line)


# ---- perf script ----

def test_sample_header(_):
    text = 'my prog  12/34     UH       5.000000007: cpu-clock:u: \n\n'
    equal(parse(text), [perfscript.Sample('my prog', 12, 34, 'UH', 5 * 10 ** 9 + 7,
                                    'cpu-clock:u', [])])


def test_frame_of_perf_map(_):
    line = ('\t    7feb28091e64 py::f (x):/a b.py+0x4 '
            '(/tmp/perf-9.map+0x7feb28091e64)\n')
    equal(parse_frame(line), perfscript.Frame(
        0x7feb28091e64, 'py::f (x):/a b.py', 4, '/tmp/perf-9.map',
        0x7feb28091e64))


def test_frame_without_anything(_):
    equal(parse_frame('\t   3e8 [unknown] ([unknown])\n'),
          perfscript.Frame(0x3e8, None, None, None, None))


def test_frame_without_symbol(_):
    equal(parse_frame('\t 5567b4 [unknown] (/usr/bin/p+0x1567b4)\n'),
          perfscript.Frame(0x5567b4, None, None, '/usr/bin/p', 0x1567b4))


def test_last_sample_without_empty_line(_):
    text = recording.sample([recording.garbage(1)]).rstrip('\n') + '\n'
    equal(len(parse(text)[0].frames), 1)


def test_refuses_other_text(_):
    refused(perfscript.ParseError, 'x.txt: line 1: no sample header', parse,
            'Warning: something\n')
    refused(perfscript.ParseError, 'x.txt: line 2: no frame', parse,
            recording.sample([]).rstrip('\n') + '\nhello\n')


def test_kernel_frames_are_left_out(_):
    frames = [recording.line(0xffffffff81000000, 'k+0x1', '[k]'),
              recording.line(0x7fffffffffff, 'u+0x1', '/u+0x1')]
    equal([f.ip for f in perfscript.user_frames(
        parse(recording.sample(frames))[0])], [0x7fffffffffff])


def test_caller_that_perf_adds_again_is_left_out(_):
    def shown(*ips):
        return [frame.ip for frame in perfscript.user_frames(parse(
            recording.sample([recording.garbage(ip) for ip in ips]))[0])]
    equal(shown(0x1000, 0x2003, 0x2004, 0x3007, 0x3008),
          [0x1000, 0x2004, 0x3007, 0x3008])
    equal(shown(0x1000, 0x50ffffbd222003, 0xffffbd222004),
          [0x1000, 0xffffbd222004])
    for kept in ([0x1000, 0x2003, 0x3008], [0x1000, 0x2004, 0x3007, 0x3008],
                 [0x1000, 0x50ffffbd222004, 0xffffbd222004]):
        equal(shown(*kept), kept)


# ---- CFI ----

def rule_at(program, offset, initial=b''):
    data = recording.eh_frame([0x1000], [])
    cie = elf.Cfi(data, 0).cie(0)
    cie.program += initial
    first = elf.RaRule(cie, False)
    first.run(cie.program, 0x1000, None)
    rule = elf.RaRule(cie, first.undefined)
    rule.run(program, 0x1000, 0x1000 + offset)
    return rule.undefined


def test_undefined_from_a_row_on(_):
    program = b'\x44\x07\x10\x44\x90\x01'       # +4 undefined, +4 offset
    equal([rule_at(program, at) for at in (0, 3, 4, 7, 8)],
          [False, False, True, True, False])


def test_undefined_other_register(_):
    equal(rule_at(b'\x07\x06', 0), False)


def test_remember_and_restore(_):
    program = b'\x0a\x41\x07\x10\x41\x0b\x41\x07\x10\x41\xd0'
    equal([rule_at(program, at) for at in range(5)],
          [False, True, False, True, False])


def test_restore_takes_the_rule_of_the_cie(_):
    equal(rule_at(b'\x90\x01\x41\xd0', 0, b'\x07\x10'), False)
    equal(rule_at(b'\x90\x01\x41\xd0', 1, b'\x07\x10'), True)


def test_operands_are_skipped(_):
    # def_cfa_expression of 3 bytes that look like undefined rip; expression
    # for rbx; args_size; advance_loc2; negate_ra_state; then the real one.
    program = (b'\x0f\x03\x07\x10\x07' b'\x10\x03\x02\x07\x10' b'\x2e\x81\x01'
               b'\x03\x00\x01' b'\x2d' b'\x07\x10')
    equal([rule_at(program, at) for at in (0, 255, 256)],
          [False, False, True])


def test_unknown_instruction(_):
    refused(elf.ElfError, '0x3f', rule_at, b'\x3f', 0)


# ---- ELF ----

def test_functions_by_file_offset(directory):
    module = elf.Elf(directory + '/root' + recording.LIBC)
    offset = recording.CLONE3 - recording.LINK + recording.FILE
    equal(module.function(offset + 5), (recording.CLONE3,
                                        recording.CLONE3 + recording.SIZE))
    equal(module.function(offset + recording.SIZE), None)
    equal([module.outermost(offset), module.outermost(offset - 1)],
          [True, False])


def test_symbols(directory):
    module = elf.Elf(directory + '/root' + recording.PROGRAM)
    equal(module.symbols()['f1'], (recording.LEVEL[1], recording.SIZE))


def test_own_interpreter(_):
    """A real file: _start has no caller, what follows the entry has one."""
    module = elf.Elf(os.path.realpath('/proc/self/exe'))
    offset = next(o + module.entry - v for o, size, v in module.loads
                  if v <= module.entry < v + size)
    equal(module.outermost(offset + 4), True)
    others = [f for f in module.cfi.starts if f != module.entry]
    equal(any(module.cfi.ra_undefined(f) for f in others[:200]), False)


def test_damaged_elf(directory):
    with open(directory + '/root' + recording.LIBC, 'rb') as file:
        good = file.read()
    path = directory + '/damaged'
    for size in (0, 10, 63, 100, len(good) - 1):
        recording.put(path, good[:size])
        refused(elf.ElfError, path, elf.Elf, path)
    recording.put(path, good[:18] + struct.pack('<H', 243) + good[20:])
    refused(elf.ElfError, 'no ELF file of x86-64', elf.Elf, path)


# ---- calls ----

def test_indirect_calls(_):
    good = ('ffd0', '41ffd5', 'ff10', 'ff5018', 'ff9000010000', 'ff542408',
            'ff1424', 'ff942480000000', 'ff1500100000', '90ff142500100000')
    bad = ('e800000000', 'ffe0', 'c3', '', 'ffd090', 'ff75f8')
    equal([x86_64.indirect_call_before(bytes.fromhex(x)) for x in good],
          [True] * len(good))
    equal([x86_64.indirect_call_before(bytes.fromhex(x)) for x in bad],
          [False] * len(bad))


def test_which_calls_reach_a_pointer(directory):
    module = elf.Elf(directory + '/root' + recording.PYTHON)
    offset = recording.EVAL - recording.LINK + recording.FILE
    equal([calls.reaches_pointer(module, offset + at)
           for at in (0x50, 0x60, 0x70, 0x80, 0x90)],
          [False, True, True, True, False])
    equal(calls.reaches_pointer(module, 0x100000), False)


def test_which_calls_of_aarch64_reach_a_pointer(directory):
    path = directory + '/aarch64'
    recording.put(path, recording.elf(
        {}, [recording.EVAL, recording.HELPER, recording.JUMPS,
             recording.FAR], code=recording.AARCH64_CODE, machine=183))
    module = elf.Elf(path)
    offset = recording.EVAL - recording.LINK + recording.FILE
    equal([calls.reaches_pointer(module, offset + at)
           for at in (0x50, 0x60, 0x70, 0x80, 0x90, 0xa0)],
          [False, True, True, True, True, False])
    equal(calls.reaches_pointer(module, 0x100000), False)


def test_which_calls_of_s390x_reach_a_pointer(directory):
    path = directory + '/s390x'
    recording.put(path, recording.elf(
        {'loop': recording.EVAL}, [recording.HELPER, recording.JUMPS,
                                   recording.FAR],
        outermost=[recording.FAR], code=recording.S390X_CODE, machine=22,
        order='>'))
    module = elf.Elf(path)
    offset = recording.EVAL - recording.LINK + recording.FILE
    equal([calls.reaches_pointer(module, offset + at)
           for at in (0x50, 0x60, 0x70, 0x80, 0x90, 0xa0, 0xb0)],
          [False, True, True, True, False, True, False])
    equal(calls.reaches_pointer(module, 0x100000), False)
    equal(module.symbols()['loop'], (recording.EVAL, recording.SIZE))
    equal([module.cfi.ra_undefined(at)
           for at in (recording.FAR, recording.JUMPS)], [True, False])


def test_big_endian_rules(_):
    data = recording.eh_frame([0x1000], [], '>')
    rule = elf.RaRule(elf.Cfi(data, 0, '>').cie(0), False)
    rule.run(b'\x03\x01\x00\x07\x10', 0, 255)
    equal(rule.undefined, False)
    rule.run(b'\x03\x01\x00\x07\x10', 0, 256)
    equal(rule.undefined, True)


# ---- truth ----

def test_truth_without_begin(directory):
    recording.put(directory + '/t', 'pid 1\n')
    refused(truth.TruthError, 'did not begin', truth.Truth, directory + '/t')


def test_truth_damaged(directory):
    for text in ('begin 1.5\n', 'begin x\n', 'level 1 arg\n'):
        recording.put(directory + '/t', text)
        refused(truth.TruthError, text.split()[0], truth.Truth,
                directory + '/t')


def test_data_file(directory):
    recording.put(directory + '/d', recording.perf_data(12345))
    equal(metrics.DataFile(directory + '/d').data_size, 12345)
    recording.put(directory + '/d', recording.perf_data(54321, '>'))
    equal(metrics.DataFile(directory + '/d').data_size, 54321)
    recording.put(directory + '/d', b'PERFILE2')
    refused(perfscript.ParseError, 'not a perf.data', metrics.DataFile,
            directory + '/d')


# ---- figures ----

def figures(directory, name):
    walk = metrics.Walk(metrics.Modules(directory + '/root'))
    known = truth.Truth('%s/%s.truth' % (directory, name))
    samples = perfscript.read('%s/%s.txt' % (directory, name))
    if name.startswith('python'):
        counter = metrics.Python(walk)
    else:
        counter = metrics.Known(known, walk.modules.get(recording.PROGRAM))
    return metrics.measure(samples, known, walk, counter, 1000)


def test_c_before(directory):
    got, marked = figures(directory, 'c-trampolines.before')
    equal(got, {
        'samples': 4, 'startup': 1, 'startup_complete': 0.0, 'shutdown': 0,
        'kernel': 0,
        'frames_per_sample': 25 / 4, 'complete': 2 / 4,
        'bytes_per_sample': 200.0, 'exact': 1 / 4,
        'direct_caller': 4 / 6, 'trampoline_frames': 6, 'windows': 0})
    equal([done for _, done in marked], [True, False, False, True])


def test_c_after(directory):
    got, _ = figures(directory, 'c-trampolines.after')
    equal(got, {
        'samples': 4, 'startup': 1, 'startup_complete': 0.0, 'shutdown': 1,
        'kernel': 1,
        'frames_per_sample': 32 / 4, 'complete': 1.0,
        'bytes_per_sample': 1000 / 8, 'exact': 1.0,
        'direct_caller': 1.0, 'trampoline_frames': 8, 'windows': 9})


def exact(directory, frames):
    known = truth.Truth(directory + '/c-trampolines.after.truth')
    counter = metrics.Known(
        known, elf.Elf(directory + '/root' + recording.PROGRAM))
    counter.count(parse(recording.sample(frames))[0].frames)
    return counter.exact


def test_exact_is_every_address(directory):
    good = [recording.leaf(2)] + recording.above(2)
    equal(exact(directory, good), 1)
    for i in range(len(good)):
        wrong = list(good)
        wrong[i] = recording.garbage(0x1234)
        equal(exact(directory, wrong), 0)
        equal(exact(directory, good[:i + 1] + good[i + 2:]),
              int(i + 1 == len(good)))
        equal(exact(directory, good[:i] + good[i:i + 1] * 2 + good[i + 1:]), 0)


def test_exact_wrong_call_site(directory):
    good = [recording.leaf(1)] + recording.above(1)
    other = recording.code(recording.PROGRAM, recording.LEVEL[0], 0x61, 'f0')
    equal(good[2] == recording.caller(1), True)
    equal(exact(directory, good[:2] + [other] + good[3:]), 0)


def test_exact_spin_from_the_wrong_level(directory):
    spin = [recording.code(recording.PROGRAM, recording.SPIN, 4, 'spin'),
            recording.code(recording.PROGRAM, recording.LEVEL[1], 0x50, 'f1')]
    equal(exact(directory, spin + recording.above(1)), 1)
    equal(exact(directory, spin + recording.above(2)), 0)
    equal(exact(directory, spin[:1]), 0)


def test_python_before(directory):
    got, _ = figures(directory, 'python.before')
    equal([got[key] for key in ('samples', 'complete', 'direct_caller',
                                'python_named', 'trampoline_frames',
                                'python_functions_per_sample')],
          [4, 0.0, 1 / 2, 2 / 3, 2, 0.5])


def test_python_after(directory):
    got, _ = figures(directory, 'python.after')
    equal([got[key] for key in ('samples', 'complete', 'direct_caller',
                                'python_named', 'trampoline_frames',
                                'python_functions_per_sample')],
          [4, 1.0, 1.0, 1.0, 7, 7 / 4])


def assisted(directory, samples):
    walk = metrics.Walk(metrics.Modules(directory + '/root'))
    known = truth.Truth(directory + '/python-defer.assisted.truth')
    got, _ = metrics.measure(parse(''.join(samples)), known, walk,
                             metrics.Assisted(walk), 1000)
    return [got[key] for key in ('samples', 'complete', 'direct_caller',
                                 'python_named', 'answering', 'at_edge',
                                 'python_functions_per_sample')]


def test_python_assisted(directory):
    equal(assisted(directory, recording.py_assisted()),
          [2, 1.0, None, 1.0, 0.0, 0.0, 4 / 2])


def test_python_answering(directory):
    equal(assisted(directory,
                   recording.py_assisted() + [recording.py_answering()]),
          [3, 1.0, None, 1.0, 1 / 3, 0.0, 4 / 3])


def test_loop_without_function(directory):
    equal(assisted(directory, recording.py_assisted() + [recording.py_bare(2)]),
          [3, 1.0, None, 1.0, 0.0, 1 / 3, 5 / 3])
    equal(assisted(directory, recording.py_assisted() + [recording.py_bare(3)]),
          [3, 1.0, None, 5 / 6, 0.0, 1 / 3, 5 / 3])


def test_stack_without_answer(directory):
    native = recording.sample([recording.loop(), recording.loop()] +
                              recording.ASSISTED_OUTER[2:])
    equal(assisted(directory, recording.py_assisted() + [native]),
          [3, 1.0, None, 4 / 6, 0.0, 0.0, 4 / 3])


def names(directory, frames):
    walk = metrics.Walk(metrics.Modules(directory + '/root'))
    counter = metrics.Python(walk)
    counter.count(parse(recording.sample(frames))[0].frames)
    return counter.named, counter.unnamed, counter.followed, counter.tramps


def test_python_function_without_name(directory):
    stack = [recording.loop(), recording.evaluator()] + recording.program()
    equal(names(directory, stack), (1, 1, 1, 1))


def test_trampoline_without_name_is_no_name(directory):
    bare = recording.slot(9, 9).replace('tramp:f9+0x9', '[unknown]')
    stack = [recording.loop(), bare, recording.evaluator()]
    equal(names(directory, stack + recording.program()), (1, 1, 2, 2))


def test_launcher_is_not_the_program(directory):
    equal(names(directory, recording.program()), (1, 0, 1, 1))
    equal(names(directory, recording.LAUNCHER), (0, 0, 0, 0))
    thread = [recording.loop(), recording.code(recording.LIBC,
                                               recording.CLONE3, 0x8)]
    equal(names(directory, thread), (0, 1, 0, 0))
    launch = recording.py(3, 'run_file:/x/sfjit/_launch.py')
    stack = [launch, recording.evaluator()] + recording.LAUNCHER
    equal(names(directory, stack), (1, 0, 1, 1))
    equal(names(directory, [recording.loop(), recording.evaluator()] + stack),
          (1, 1, 1, 1))


def test_dropped_evaluator(directory):
    stack = [recording.loop(), recording.py(1, 'f:x'), recording.loop()]
    equal(names(directory, stack + recording.program()), (2, 0, 1, 2))


def complete(directory, frames):
    walk = metrics.Walk(metrics.Modules(directory + '/root'))
    return walk.complete(parse(recording.sample(frames))[0].frames)


def test_complete_is_the_last_frame_only(directory):
    start = recording.code(recording.PROGRAM, recording.START, 0x21, '_start')
    equal(complete(directory, [recording.leaf(0), start]), True)
    equal(complete(directory, [start, recording.leaf(0)]), False)
    equal(complete(directory, [start, recording.garbage(1)]), False)
    equal(complete(directory, []), False)


def test_complete_looks_before_the_return_address(directory):
    """A call at the end of the last function returns after it."""
    behind = recording.code(recording.LIBC, recording.CLONE3, recording.SIZE)
    equal(complete(directory, [recording.leaf(0), behind]), True)
    equal(complete(directory, [behind]), False)
    first = recording.code(recording.LIBC, recording.CLONE3, 0)
    equal(complete(directory, [recording.leaf(0), first]), False)
    equal(complete(directory, [first]), True)


# ---- output ----

def test_percent_never_rounds_up_to_all(_):
    equal([report.percent(x) for x in (1.0, 0.99999, 0.5, 0.0)],
          ['100.00 %', '99.99 %', '50.00 %', '0.00 %'])


def test_tree(directory):
    _, marked = figures(directory, 'python.before')
    walk = metrics.Walk(metrics.Modules(directory + '/root'))
    tree = flame.tree(walk, marked)
    equal((tree['n'], tree['v'], [c['n'] for c in tree['c']]),
          ('all user samples', 4, [flame.CUT]))
    boxes = {c['n']: (c['v'], c['k']) for c in tree['c'][0]['c']}
    equal(boxes, {
        '[python3.13+0x400300]': (1, 'w'), '[unknown]': (2, 'u'),
        '[sfjit-client.so+0x400100]': (1, 's')})
    unknown = next(c for c in tree['c'][0]['c'] if c['n'] == '[unknown]')
    equal([c['n'] for c in unknown['c']], ['_PyEval_EvalFrameDefault',
                                           'py::work:/demo/workload.py'])


def test_embedded_data_cannot_end_its_element(_):
    equal('<' in page.embed({'n': '</script><b>'}), False)


SVG = '{http://www.w3.org/2000/svg}'
HOSTILE = '<a>&"\x00\x1b' + 'f' * 200


def pictured(*trees):
    """The texts and boxes of a picture, as (left, top, width) without the page."""
    root = xml.fromstring(picture.picture('t<', [('of', t) for t in trees]))
    boxes = [tuple(float(box.get(key)) for key in ('x', 'y', 'width'))
             for box in root.iter(SVG + 'rect') if box.get('x')]
    return [text.text for text in root.iter(SVG + 'text')], boxes


def node(name, value, *children):
    return {'n': name, 'v': value, 'k': flame.PROGRAM, 'c': list(children)}


def test_picture_has_boxes_by_their_share(_):
    _, boxes = pictured(node('root', 4, node('a', 1), node('b', 3)))
    equal(boxes, [(0.0, 55.0, 439.6), (0.0, 44.0, 109.6),
                  (110.0, 44.0, 329.6)])


def test_picture_leaves_out_what_is_too_narrow(_):
    deep = node('x', 1, node('y', 1))
    _, boxes = pictured(node('root', 1000, node('a', 999), deep))
    equal(len(boxes), 2)


def test_picture_has_graphs_beside_each_other(_):
    _, boxes = pictured(node('a', 1), node('b', 1))
    equal([box[0] for box in boxes], [0.0, 460.0])


def test_picture_of_hostile_names(_):
    texts, _ = pictured(node(HOSTILE, 1))
    equal(texts[1], ('<a>&"??' + 'f' * 200)[:95])


def test_page_says_what_a_machine_is_like(_):
    def says(kernel):
        text = page.page({}, {}, {}, kernel, '')
        return [words in text for words in ('frame records', 'back\nchains')]
    equal([says('7.3.4 ' + machine)
           for machine in ('aarch64', 's390x', 'x86_64')],
          [[True, False], [False, True], [False, False]])


def run(directory, *options):
    output = directory + '/out'
    result = subprocess.run(
        [sys.executable, '-B', DEMO + '/analyse', *options, directory, output],
        capture_output=True, text=True)
    return result, output


def test_command_names_what_is_missed(directory):
    result, output = run(directory)
    equal(result.returncode, 1)
    equal('analyse: python, after: 4 samples, at least 10000 are needed'
          in result.stderr, True)
    equal('promised' in result.stderr, False)
    equal(sorted(os.listdir(output)), ['flamegraph.html', 'flamegraph.svg',
                                       'result.json', 'table.txt'])


def test_command_misses_a_promise(directory):
    name = directory + '/python.after.txt'
    with open(name, encoding='utf-8') as file:
        text = file.read()
    recording.put(name, text + recording.sample([recording.garbage(1)]))
    result, _ = run(directory)
    recording.put(name, text)
    equal('analyse: python: complete is 0.80000, promised is 0.99'
          in result.stderr, True)
    equal(result.returncode, 1)


def test_command_refuses_unusable_recordings(directory):
    name = directory + '/python.after.txt'
    with open(name, encoding='utf-8') as file:
        text = file.read()
    recording.put(name, 'nonsense\n' + text)
    result, _ = run(directory)
    recording.put(name, text)
    equal((result.returncode, result.stdout), (2, ''))
    equal(result.stderr, 'analyse: %s: line 1: no sample header\n' % name)


def test_command_usage(_):
    result = subprocess.run([sys.executable, '-B', DEMO + '/analyse'],
                            capture_output=True, text=True)
    equal((result.returncode, result.stderr.startswith('Usage: analyse')),
          (2, True))


def main(directory):
    recording.make(directory)
    check_each('demo', [(name, functools.partial(test, directory))
                        for name, test in globals().items()
                        if name.startswith('test_')])
    finish()


if __name__ == '__main__':
    main(sys.argv[1])
