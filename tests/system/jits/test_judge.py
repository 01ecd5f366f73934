# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""test_judge.py CALLS: what the judge of tools/jits says of known stacks.

CALLS is calls.c, built.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', '..', 'tools', 'demo.d'),
                os.path.join(HERE, '..', '..', '..', 'tools', 'jits.d'),
                os.path.join(HERE, '..', '..', 'lib')]
sys.dont_write_bytecode = True

from perfscript import Frame
from tap import check_each, finish
from sfdemo import calls, metrics
from sfjits import graph, judge, native, report, reused

PROGRAM = os.path.abspath(sys.argv[1])
MAP = '/tmp/perf-7.map'
GRAPH = '''
# a cycle, a callback
name ^jit::([a-z]+)$
start main
main > a
a > b
b > c sorted
c > a
b ~ compare
compare > eta
compare ~ eta
hidden ^any$
main * run
each a b compare
'''


def equal(got, want):
    if got != want:
        raise AssertionError('%r, not %r' % (got, want))


def refused(part, call, *arguments):
    try:
        got = call(*arguments)
    except graph.GraphError as caught:
        if part not in str(caught):
            raise AssertionError('%r is not in %r' % (part, str(caught)))
        return
    raise AssertionError('accepted: %r' % (got,))


# ---- frames of the program ----

class Program:
    """Frames in calls.c; a frame that has called is at its return address."""

    def __init__(self):
        self.modules = metrics.Modules('/')
        self.modules.paths = lambda: [PROGRAM]
        self.module = self.modules.get(PROGRAM)
        said = subprocess.run([PROGRAM], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        self.at = {}
        for line in said.splitlines():
            name, start, back = line.split()
            self.at[name] = int(start, 16), int(back, 16)

    def offset(self, address):
        return next(offset + address - vaddr
                    for offset, size, vaddr in self.module.loads
                    if vaddr <= address < vaddr + size)

    def frame(self, address, name):
        return Frame(address, name, 0, PROGRAM, self.offset(address))

    def leaf(self, name):
        return self.frame(self.at[name][0] + 1, name)

    def behind(self, name):
        """The frame that this function returns to."""
        return self.frame(self.at[name][1], 'caller of ' + name)

    def start(self):
        """_start, after its call: the last but one instruction."""
        _, end = self.module.cfi.function(self.module.entry)
        return self.frame(end - 1, '_start')

    def stack(self, leaf, *callees):
        return [self.leaf(leaf)] + [self.behind(name) for name in callees] + \
            [self.start()]


program = Program()
decide = judge.Judge(metrics.Walk(program.modules),
                     native.Native(program.modules), graph.Graph(
                         GRAPH.splitlines()))


def jit(name, address=0x7f0000001000):
    return Frame(address, name and 'jit::' + name, 0, MAP, address)


def outside():
    return Frame(0x1b00000000, None, None, None, None)


def verdict(frames):
    return decide.verdict(frames)


WRONG_CALL = 'no call in jits-calls leads to jits-calls'


# ---- calls in files ----

def test_whole_stack_of_direct_calls():
    equal(verdict(program.stack('inner', 'inner', 'middle', 'outer')),
          (True, None))


def test_direct_caller_missing():
    equal(verdict(program.stack('inner', 'middle', 'outer')),
          (True, 'silently wrong: ' + WRONG_CALL))


def test_other_caller_missing():
    equal(verdict(program.stack('inner', 'inner', 'outer')),
          (True, 'silently wrong: ' + WRONG_CALL))


def test_jump_at_the_end_of_a_function():
    equal(verdict(program.stack('last', 'jumper', 'caller')), (True, None))


def test_jump_leads_nowhere_else():
    equal(verdict(program.stack('pointed', 'jumper', 'caller')),
          (True, 'silently wrong: ' + WRONG_CALL))


def test_jump_to_code_without_call_frame_information():
    equal(verdict(program.stack('bare', 'bare', 'caller_of_bare')),
          (True, None))


def test_no_jump_to_code_without_call_frame_information():
    equal(verdict(program.stack('bare', 'middle', 'outer')),
          (True, 'silently wrong: ' + WRONG_CALL))


def test_empty_function_that_leads_to_the_module():
    leaf = Frame(0x7f0000001000, None, None, '/lib/libsfjit-preload.so', 16)
    equal(verdict([leaf, program.behind('__jit_debug_register_code'),
                   program.start()]), (True, None))
    equal(verdict([leaf, program.behind('inner'), program.start()]),
          (True, 'silently wrong: no call in jits-calls leads to '
           'libsfjit-preload.so'))
    other = leaf._replace(dso='/lib/libother.so')
    equal(verdict([other, program.behind('__jit_debug_register_code'),
                   program.start()]),
          (True, 'silently wrong: no call in jits-calls leads to '
           'libother.so'))


def test_call_by_pointer():
    equal(verdict(program.stack('pointed', 'pointed', 'by_pointer')),
          (True, None))


def test_caller_of_the_caller_by_pointer():
    equal(verdict(program.stack('pointed', 'by_pointer')),
          (True, 'silently wrong: ' + WRONG_CALL))


def test_no_call_before_the_return_address():
    frames = program.stack('inner', 'inner', 'middle', 'outer')
    frames[1] = program.frame(program.at['inner'][1] + 1, 'middle')
    equal(verdict(frames), (True, 'silently wrong: ' + WRONG_CALL))


def test_return_address_where_a_file_has_no_code():
    frames = program.stack('inner', 'inner', 'middle', 'outer')
    frames[1] = Frame(0x1000, None, 0, PROGRAM, len(program.module.data))
    equal(verdict(frames), (True, 'silently wrong: ' + WRONG_CALL))
    # What the dynamic linker binds, or leads to the module, has no call either.
    frames[0] = Frame(0x2000, None, 0, '/lib/' + native.MODULE, 0x100)
    equal(verdict(frames),
          (True, 'silently wrong: no call in jits-calls leads to ' +
           native.MODULE))


def test_generated_code_is_called_by_pointer():
    tail = [program.behind('pointed'), program.behind('by_pointer'),
            program.start()]
    equal(verdict([jit('a'), jit('main')] + tail), (True, None))
    equal(verdict([jit('b'), jit('main')] + tail),
          (True, 'silently wrong: no edge b < main'))
    equal(verdict([jit('main')] + program.stack('inner', 'inner', 'middle',
                                                'outer')[1:]),
          (True, 'silently wrong: no call in jits-calls leads to generated code'))


# ---- how a stack ends ----

def test_cut():
    equal(verdict(program.stack('inner', 'inner', 'middle')[:-1]),
          (False, 'cut in jits-calls'))
    equal(verdict([jit('main')]), (False, 'cut in generated code'))
    equal(verdict([]), (False, 'cut: no frame'))


def test_cut_outside_all_code():
    equal(verdict([outside()]), (False, 'cut in outside all code'))
    equal(verdict([jit('main'), outside()]),
          (False, 'cut and wrong: a return address outside all code'))


def test_outside_all_code_and_on():
    frames = program.stack('pointed', 'pointed', 'by_pointer')
    frames.insert(1, outside())
    equal(verdict(frames),
          (True, 'silently wrong: a return address outside all code'))


def test_longer_than_recorded():
    equal(verdict([jit(None)] * 127),
          (False, 'cut: longer than perf records'))


def goes_on():
    """(addresses of its returns, where it sets the stack pointer)"""
    start, end = program.module.cfi.function(program.at['goes_on'][0])
    code = program.module.bytes_at(start, end)
    sets = code.index(b'\x48\x89\xcc')
    targets = {program.at[name][0] for name in ('tells', 'writes')}
    found = [at for at in range(start, end)
             if calls.direct_call(program.module, at) in targets]
    return found, start + sets


def cut_at(address, leaf=None):
    frame = program.frame(address, 'goes_on')
    _, reason = verdict([leaf, frame] if leaf else [frame])
    return reason


FALSE = 'cut where call frame information is false: jits-calls'
CUT = 'cut in jits-calls'


def test_cut_where_call_frame_information_is_false():
    (told, wrote, told_again), end = goes_on()
    for address in range(wrote, end):
        equal((address, cut_at(address)), (address, FALSE))
    equal(cut_at(wrote, program.leaf('writes')), FALSE)
    equal(cut_at(told_again, program.leaf('tells')), FALSE)


def test_cut_where_it_is_not_false():
    (told, wrote, _), end = goes_on()
    start, behind = program.module.cfi.function(end)
    for address in [*range(start, wrote - 1), *range(end, behind)]:
        equal((address, cut_at(address)), (address, CUT))
    equal(cut_at(told, program.leaf('tells')), CUT)
    equal(verdict([program.leaf('writes')]), (False, CUT))
    equal(verdict(program.stack('inner', 'inner', 'middle')[:-1]),
          (False, CUT))


def test_wrong_where_call_frame_information_is_false():
    frames = program.stack('writes', 'inner')
    frames[1:1] = [program.frame(goes_on()[0][1], 'goes_on')]
    equal(verdict(frames)[1].split(':')[0], 'silently wrong')


def test_calls_are_seen_by_the_names_of_perf():
    stack = [jit('b'), jit('a'), jit('main'),
             *program.stack('pointed', 'pointed', 'by_pointer')[1:]]
    other = [stack[0], stack[1]._replace(sym='any')] + stack[2:]
    equal(judge.figures(decide, [other])[0]['unseen'],
          ['b < a', 'compare < b'])
    equal(judge.figures(decide, [other], [stack])[0]['unseen'],
          ['compare < b'])


def test_figures():
    good = program.stack('pointed', 'pointed', 'by_pointer')
    wrong = program.stack('inner', 'middle', 'outer')
    result, marked = judge.figures(decide, [good, wrong, [], good, good])
    equal(result, {'samples': 5, 'generated': 0, 'complete': 4, 'exact': 3,
                   'unseen': ['b < a', 'compare < b'],
                   'lost': {'silently wrong: ' + WRONG_CALL: 1,
                            'cut: no frame': 1}})
    equal([whole for _, whole in marked], [True, True, False, True, True])
    equal(report.silent(result), 1)
    equal(report.row('lli', 'fp', result), [
        'lli', 'fp', '5', '80.00 %', '60.00 %', '1'])


def test_stacks_with_generated_code():
    good = program.stack('pointed', 'pointed', 'by_pointer')
    through = [jit(None), jit(None)] + good[1:]
    result, _ = judge.figures(decide, [good, [jit(None)], through, through])
    equal((result['generated'], result['complete']), (3, 3))


def test_counters():
    equal(judge.counters('windows 3\nno_fde 7\nsection_fault 0\n'
                         'stack_fault 2\nlast no_fde 7f00\n'),
          {'no_fde': 7, 'stack_fault': 2})


# ---- known calls ----

def missing(*names, complete=True):
    """@names from the leaf on; with ! native code, with ? generated code."""
    symbols = [None if name in '!?' else 'any' if name == 'any' else
               'jit::' + name for name in names]
    return decide.graph.missing(symbols, [name != '!' for name in names],
                                complete)


def cut(*names):
    return missing(*names, complete=False)


def test_known_stack():
    equal(missing('a', 'c', 'b', 'a', 'c', 'b', 'a', 'main'), None)


def test_each_missing_function_of_a_cycle():
    equal(missing('c', 'a', 'main'), 'c < a')
    equal(missing('b', 'main'), 'b < main')
    equal(missing('a', 'b', 'a', 'main'), 'a < b')


def test_direct_call_has_nothing_between():
    equal(missing('b', '!', 'a', 'main'), 'b < a')
    equal(missing('b', '?', 'a', 'main'), 'b < a')


def test_callback_has_native_code_between():
    equal(missing('compare', '!', '!', 'b', 'a', 'main'), None)
    equal(missing('compare', 'b', 'a', 'main'), 'compare < b')
    equal(missing('compare', '!', '?', 'b', 'a', 'main'), 'compare < b')
    equal(missing('compare', '!', 'a', 'main'), 'compare < a')


def test_hidden_functions():
    equal(missing('b', 'any', 'main'), None)
    equal(missing('c', 'any', 'a', 'main'), None)
    equal(missing('a', 'any', 'any', 'a', 'main'), None)
    equal(missing('b', 'any', 'any', 'main'), 'b < main')
    equal(missing('c', 'any', 'main'), 'c < main')
    equal(missing('b', 'any', '!', 'main'), 'b < main')
    equal(missing('c', 'any', 'any', 'any', 'any'), None)
    equal(missing('c', 'any', '!'), 'c < outside')
    equal(missing('a', 'any', '!'), None)


def test_call_by_any_code():
    equal(missing('run', 'any', '!', '?', 'main', '!'), None)
    equal(missing('run', 'any', '!', '?', 'a', 'main'), 'run < a')


def test_hidden_functions_on_the_way_of_a_call_by_any_code():
    equal(missing('run', '?', 'any', '!', 'main'), None)
    equal(missing('eta', '!', 'any', '!', 'b', 'a', 'main'), None)
    equal(missing('eta', '!', 'any', '?', 'b', 'a', 'main'), 'eta < b')
    equal(missing('eta', '?', 'any', '!', 'b', 'a', 'main'), 'eta < b')


def test_either_way():
    equal(missing('eta', 'compare', '!', 'b', 'a', 'main'), None)
    equal(missing('eta', '!', 'compare', '!', 'b', 'a', 'main'), None)


def test_first_known_function_is_a_start():
    equal(missing('b', 'a', '!'), 'a < outside')
    equal(missing('main', '!', '!'), None)


def test_cut_at_a_known_function():
    equal(missing('b', 'a'), None)
    equal(missing('a'), None)


def test_cut_on_the_way_to_a_caller():
    equal(missing('run', '?', '!'), 'run < outside')
    equal(cut('run', '?', '!'), None)
    equal(cut('compare', '!', '!'), None)
    equal(cut('compare', '!', '?'), 'compare < outside')
    equal(cut('eta', '?'), 'eta < outside')
    equal(cut('b', '!'), 'b < outside')
    equal(cut('c', '?', 'a', '!'), 'c < a')


def test_cut_behind_hidden_functions():
    equal(cut('c', 'any'), None)
    equal(cut('c', 'any', '!'), 'c < outside')
    equal(cut('eta', 'any', '!'), None)
    equal(cut('eta', 'any', '?'), 'eta < outside')
    equal(missing('eta', 'any', '!'), 'eta < outside')


def unseen(*stacks):
    return decide.unseen([[jit(name) for name in names] for names in stacks])


MEMORY = reused.Reused(['1000 100 jit::a\n', '1080 100 jit::b\n',
                        '2000 10 x y\n', '2000 20 x y\n', '3000 10 x y\n',
                        '3000 10 z'], decide.graph.name, judge.is_generated)


def test_memory_that_had_several_functions():
    equal([at for at in (0xfff, 0x1000, 0x107f, 0x1080, 0x10ff, 0x1100, 0x117f,
                         0x1180, 0x2008, 0x2018, 0x3000, 0x300f, 0x3010)
           if MEMORY.had_several(at)], [0x1080, 0x10ff, 0x3000, 0x300f])


def test_names_of_memory_that_had_several_functions():
    frames = [jit('a', 0x1080), jit('a', 0x1080), jit('b', 0x1100),
              jit('b', 0x1101), jit(None, 0x5000), outside()]
    equal([frame.sym for frame in MEMORY.rename(frames)],
          [reused.UNCERTAIN, 'jit::a', reused.UNCERTAIN, 'jit::b',
           reused.UNCERTAIN, None])


def test_each_call_that_has_to_be():
    equal(unseen(), ['b < a', 'compare < b'])
    equal(unseen(['b', 'a', 'main'], ['a', 'c']), ['compare < b'])
    equal(unseen(['compare', None, 'b', 'a']), [])
    equal(unseen(['compare', 'a'], ['b', 'main', 'a']),
          ['b < a', 'compare < b'])
    equal(judge.Judge(decide.walk, decide.native, None).unseen([]), [])


def test_leaf_in_other_code():
    equal(missing('!', '?', '!', 'a', 'main'), None)
    equal(missing('!', '!'), None)


def test_no_graph():
    refused('no name or no start', graph.Graph, ['a > b'])
    refused('line 2', graph.Graph, ['name x', 'a b c'])
    refused('line 1', graph.Graph, ['name'])


def test_graphs_in_the_tree():
    found = [name for name in os.listdir(HERE) if name.endswith('.graph')]
    for name in found:
        known = graph.read(os.path.join(HERE, name))
        callees = {callee for _, callee in known.edges}
        callers = {caller for caller, _ in known.edges}
        equal((name, callers - callees - known.starts), (name, set()))
    equal('node.graph' in found, True)


check_each('judge:', list(globals().items()))
finish()
