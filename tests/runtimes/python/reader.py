# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: reader.py PROGRAM...

Description: at each instruction of programs whose calls are known, the reader of
python3 -m sfjit --assist answers with the functions that run, or not at all.

What the interpreter tells a profile function is the truth: the stacks of a run,
one after the other. Answers to a run that is stepped through have to be the same
stacks, in this order, with none missing and none else.
"""
import _thread
import gc
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), '../../lib')]

import _reader
from tap import check, finish
from programs import PROGRAMS, leaf


def name_of(code):
    text = f'py::{code.co_qualname}:{code.co_filename}'
    return text.encode('utf-8', 'backslashreplace').decode()


def chain(frame):
    """The names of it and its callers, the outermost first."""
    names = []
    while frame:
        names.append(name_of(frame.f_code))
        frame = frame.f_back
    return names[::-1]


def true_stacks(function):
    """Each stack of a run of the function, from the function on."""
    stacks = []

    def note(frame):
        names = tuple(chain(frame)[base:])
        if not stacks or stacks[-1] != names:
            stacks.append(names)

    def profile(frame, event, _):
        if event == 'call':
            note(frame)
        elif event == 'return':
            note(frame.f_back)

    base = len(chain(sys._getframe()))
    note(sys._getframe())
    sys.setprofile(profile)
    function()
    sys.setprofile(None)
    # The functions that turn it on and off are C's.
    return stacks


def short(name):
    return name.split(':')[2]


class Judge:
    """Of a program's answers, as lists of (NAME, LOOP) from the program on."""

    def __init__(self, calls, makes, optional):
        self.calls, self.makes, self.optional = calls, makes, optional

    def edge(self, state):
        """Of its innermost function: its caller, its name, how it is called."""
        if len(state) < 2:
            return None
        (caller, outside), (callee, inside) = state[-2:]
        return short(caller), short(callee), 'c' if inside > outside else 'py'

    def check_edges(self, state):
        for i in range(2, len(state) + 1):
            caller, callee, how = self.edge(state[:i])
            if callee in self.optional:
                continue
            if (caller, callee) in self.makes and how == 'py':
                continue
            want = self.calls.get((caller, callee))
            if want is None:
                return f'{caller} does not call {callee}'
            if want not in ('any', how):
                return f'{callee} is called by {caller} as {how}'
        return None

    def is_made(self, state):
        """This is how it is made, and not how it is called."""
        edge = self.edge(state)
        return edge and edge[2] == 'py' and edge[:2] in self.makes and \
            self.calls.get(edge[:2]) == 'c'

    def is_extra(self, before, state):
        """A generator is made, or what may run anywhere runs."""
        if len(state) < len(before):
            before, state = state, before
        if state[:-1] != before or len(state) < 2:
            return False
        caller, callee, how = self.edge(state)
        return callee in self.optional or (
            (caller, callee) in self.makes and how == 'py')

    def compare(self, states, stacks):
        """What is wrong, or None."""
        want, before = 0, None
        for state in states:
            wrong = self.check_edges(state)
            if wrong:
                return f'{wrong}: {[short(n) for n, _ in state]}'
            names = tuple(name for name, _ in state)
            if names == (before and tuple(n for n, _ in before)) or \
                    self.is_made(state):
                pass
            elif want < len(stacks) and names == stacks[want]:
                want += 1
            elif not self.is_extra(before, state):
                return (f'{[short(n) for n in names]} is not '
                        f'{[short(n) for n in stacks[want]]}'
                        if want < len(stacks) else f'{names} is too much')
            before = state
        if want < len(stacks):
            return f'{stacks[want]} is missing'
        return None


def functions_of(answer, base, depth):
    """An answer without what was there before; ValueError: it is not that."""
    loops, functions = answer
    functions = functions[::-1]
    if [name for name, _ in functions[:depth]] != base:
        raise ValueError(f'{functions} does not begin with {base}')
    # Each loop runs a function, but for the innermost one, which has not begun
    # or has ended, and those that wait for what a function's end has dropped.
    seen = [loop for _, loop in functions]
    if seen != sorted(seen) or loops <= seen[-1]:
        raise ValueError(f'{functions}: {loops} loops')
    return functions[depth:]


def observe(function):
    """steps, refused, unwalked, answers, refusals"""
    base = chain(sys._getframe())
    _reader.start()
    function()
    steps, refused, unwalked, answers, where = _reader.stop()
    return (steps, refused, unwalked,
            [functions_of(a, base, len(base)) for a in answers], where)


def test(function, calls, makes, optional, warm):
    label = f'{function.__name__}, {"again" if warm else "the first time"}'
    for _ in range(40 if warm else 0):
        function()
    stacks = true_stacks(function) if warm else None
    try:
        steps, refused, unwalked, states, where = observe(function)
    except ValueError as error:
        check(label, False, str(error))
        return 0, 0, 0
    # Only then, as to be told changes what is run the first time.
    stacks = stacks or true_stacks(function)
    wrong = Judge(calls, makes, optional).compare(states, stacks)
    check(f'{label}: {len(stacks)} stacks', not wrong, wrong)
    if os.environ.get('READER_WHERE'):
        for number, pc in sorted(where, reverse=True)[:20]:
            print(f'#   {number} at {pc:#x}')
    print(f'# {steps} steps, {refused} refused, {unwalked} unwalked')
    return steps, refused, unwalked


# What is read may be torn: each of these is a question with some words of memory
# read as others, from the innermost of these functions.

def at_depth(ask):
    return through_python(ask)


def through_python(ask):
    return sorted([1], key=lambda _: by_c(ask)) and RESULT[0]


def by_c(ask):
    return in_loop(ask)


def in_loop(ask):
    RESULT[0] = ask()


OFFSETS = {}
RESULT = [None]
LOCK = _thread.allocate_lock()
FUNCTIONS = ['in_loop', 'by_c', 'through_python.<locals>.<lambda>',
             'through_python', 'at_depth']


def asks(make_patches):
    """Answers to questions with each list of patches, from in_loop."""
    def ask():
        frames = [f for f in _reader.frames()]
        while frames[0][3] != 'in_loop':
            frames.pop(0)
        return [(label, _reader.ask(*patches))
                for label, patches in make_patches(frames)]
    return at_depth(ask)


def no_patches(frames):
    yield 'nothing', []


def links(frames):
    """Each frame linked to each other one, and to what is none."""
    others = [0, 1, 8, frames[0][0] + 4, 1 << 46, 1 << 63, id(None), id(links)]
    for i, (address, previous, _, name) in enumerate(frames[:-1]):
        for j, other in enumerate([f[0] for f in frames] + others):
            if other != previous:
                yield (f'frame {i}, {name or "entry"}, is linked to {j}',
                       [(address + OFFSETS['previous'], other)])


def first_links(frames):
    """To an outer frame: to the interpreter the others have returned."""
    for other in 0, 4, frames[0][0] + 8, 1 << 46, id(links):
        yield f'the first frame is {other:#x}', [(OFFSETS['current'], other)]


def codes(frames):
    for i, (address, _, owner, name) in enumerate(frames):
        for other in (0, 1, id(links), id(None), id(b''), 1 << 46):
            if owner != 3 or other != id(None):
                yield (f'frame {i}, {name or "entry"}, has code {other:#x}',
                       [(address + OFFSETS['code'], other)])


def owners(frames):
    """The word has 4 bytes of stacktop, 2 of an offset, and the owner."""
    for i, (address, _, owner, name) in enumerate(frames):
        for other in (2, 4, 255):
            if owner != 3:
                yield (f'frame {i}, {name}, is owned by {other}',
                       [(address + OFFSETS['stacktop'], other << 48 | 1)])


def callers(frames):
    """One that calls in the loop has put its values away."""
    for i, (address, _, owner, name) in enumerate(frames[1:]):
        if owner == 0 and frames[i][2] == 0:
            yield (f'{name} runs', [(address + OFFSETS['stacktop'],
                                     0xffffffff)])


def test_torn():
    for label, answer in asks(no_patches):
        got = answer and [short(name) for name, _ in answer[1]]
        while got and got[0] != 'in_loop':
            got.pop(0)
        check(f'once, with {label} changed',
              got and got[:len(FUNCTIONS)] == FUNCTIONS, got)
    for patches in links, first_links, codes, owners, callers:
        answers = asks(patches)
        wrong = [f'{label}: {answer}' for label, answer in answers if answer]
        check(f'{len(answers)} questions with {patches.__name__} changed are '
              'refused', answers and not wrong, wrong[:3])


def test_garbled(number):
    refused = sum(_reader.garble(seed) is None for seed in range(1, number))
    check(f'{number} questions with memory made up: most are refused',
          refused * 2 > number, refused)


class Text(str):
    pass


def test_names():
    def plain():
        return _reader.ask()[1][0][0]

    def named(**names):
        code = plain.__code__.replace(**names)
        return type(plain)(code, {'_reader': _reader})()

    for what, name in (('plain', 'x'), ('Latin-1', 'ÿ' * 9), ('BMP', 'я' * 9),
                       ('beyond', '\U0001d518' * 9), ('surrogate', '\udcff'),
                       ('type', Text('\u20ac')), ('nothing', '')):
        want = name_of(plain.__code__.replace(co_qualname=name))
        got = named(co_qualname=name)
        check(f'a name, {what}', got == want, f'{got!a} is not {want!a}')
    for name in 'x' * 300, 'я' * 300:
        want = f'py::{name}'.encode()[:256].decode('utf-8', 'ignore')
        got = named(co_qualname=name)
        check(f'a long name of {name[0]!a}', got == want, ascii(got))


class Ended:
    def __del__(self):
        leaf()
        RESULT[0] = _reader.stop()
        LOCK.release()


def make_ended():
    return Ended()


def outermost():
    local = make_ended()
    _reader.start()


def test_outermost():
    """What a thread's first function holds is dropped when it has ended."""
    LOCK.acquire()
    _thread.start_new_thread(outermost, ())
    LOCK.acquire()
    steps, refused, _, answers, _ = RESULT[0]
    got = []
    for _, functions in answers:
        names = [short(name) for name, _ in functions[::-1]]
        if not got or got[-1] != names:
            got.append(names)
    want = [['outermost'], [], ['Ended.__del__'], ['Ended.__del__', 'leaf'],
            ['Ended.__del__']]
    check('the end of a thread', got == want and not refused,
          f'{got}, {refused} of {steps} refused')


def in_other():
    _reader.run_other('sum(x for x in range(10))')


def test_other():
    """What another interpreter runs in the thread is not known."""
    _reader.make_other()
    steps, refused, _, answers, _ = observe(in_other)
    _reader.end_other()
    names = {tuple(short(name) for name, _ in answer) for answer in answers}
    want = {(), ('in_other',)}
    check('another interpreter of the thread', names == want and
          refused > 1000, f'{names}, {refused} of {steps} refused')


def test_too_deep():
    """The kernel takes 510 frames: more of them are no answer, and no part."""
    def down(n):
        return down(n - 1) if n else _reader.ask()

    answers = [down(n) for n in (450, 520)]
    check('450 functions', answers[0] and len(answers[0][1]) > 450, answers[0])
    check('520 functions', answers[1] is None, answers[1])


def main(chosen):
    _reader.install()
    OFFSETS.update(_reader.offsets())
    gc.disable()
    if not chosen:
        test_torn()
        test_garbled(20000)
        test_names()
        test_too_deep()
        test_outermost()
        test_other()
    totals = [0, 0, 0]
    for program in PROGRAMS:
        if chosen and program[0].__name__ not in chosen:
            continue
        for warm in (False, True):
            for i, n in enumerate(test(*program, warm)):
                totals[i] += n
    steps, refused, unwalked = totals
    print(f'# {steps} steps, {refused} refused, {unwalked} without a walk')
    check('nearly all are answered', refused * 10000 <= steps, refused)
    check('nearly all are walked', unwalked * 1000 <= steps, unwalked)
    finish()


main(sys.argv[1:])
