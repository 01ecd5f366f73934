# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Programs whose calls are known.

Each is a function, the calls that it makes as 'CALLER CALLEE HOW', and those that
make a generator: its frame is there for a moment then, and runs nothing. HOW is
py: the interpreter's loop that runs the caller goes on; c: there is another one;
any: the one or the other, as the interpreter has specialized the code.
"""
import functools
import marshal
import sys
import time

PROGRAMS = []


def program(calls, makes='', optional=''):
    def add(function):
        known = {}
        for line in calls.strip().splitlines():
            caller, callee, how = line.split()
            known[caller, callee] = how
        made = {tuple(line.split()) for line in makes.strip().splitlines()}
        PROGRAMS.append((function, known, made, set(optional.split())))
        return function
    return add


# Calls from Python to Python, and through C.

def add(a, b=1, *more, c=2, **others):
    return a + b + c


def by_key(x):
    return -add(x)


def through_sorted(values):
    return sorted(values, key=by_key)


def many(values):
    def inner(x):
        return add(x) + len(values)

    total = 0
    for value in values:
        total += inner(value)
    return total


class Point:
    def __init__(self, x):
        self.x = add(x)

    @property
    def twice(self):
        return add(self.x, self.x)

    def __getitem__(self, i):
        return add(i, self.x)

    def __eq__(self, other):
        return add(self.x) == add(other.x)

    def __hash__(self):
        return 1

    def __getattr__(self, name):
        return add(len(name))

    def method(self, n):
        return add(self.x, n)

    def __call__(self, n):
        return add(n)


@program('''
    calls through_sorted py
    through_sorted by_key c
    by_key add py
    calls many py
    many many.<locals>.inner py
    many.<locals>.inner add py
    calls add any
    calls calls.<locals>.<lambda> c
    calls.<locals>.<lambda> add py
''')
def calls():
    through_sorted([3, 1, 2])
    many([1, 2, 3])
    add(1, 2, 3, 4, c=5, d=6)
    add(*(1, 2), **{'c': 3})
    functools.partial(add, 1)(2)
    time.sleep(0)
    list(map(lambda x: add(x), range(3)))
    max([1, 2], key=lambda x: add(x))


@program('''
    objects Point.__init__ any
    Point.__init__ add py
    objects Point.twice any
    Point.twice add py
    objects Point.__getitem__ any
    Point.__getitem__ add py
    objects Point.__eq__ any
    Point.__eq__ add py
    objects Point.__hash__ any
    objects Point.__getattr__ any
    Point.__getattr__ add py
    objects Point.method any
    Point.method add py
    objects Point.__call__ any
    Point.__call__ add py
''')
def objects():
    a, b = Point(1), Point(2)
    for i in range(4):
        a.twice
        a[i]
        a == b
        a.missing
        a.method(i)
        a(i)
        Point(i)
    [a].index(b) if b in [a] else None
    {a: 1}.get(b)


# Recursion, in several pieces of the stack of frames.

def deep(n, function):
    return deep(n - 1, function) + 1 if n else function()


def through_c(n):
    return max([n], key=through_c_key) if n else 0


def through_c_key(n):
    return through_c(n - 1)


def leaf():
    return 7


@program('''
    recursion deep py
    deep deep py
    deep leaf py
    recursion through_c py
    through_c through_c_key c
    through_c_key through_c py
''')
def recursion():
    deep(260, leaf)
    through_c(12)


# Generators.

def count(n):
    for i in range(n):
        yield i


def make_count(n):
    return count(n)


def nested(n):
    yield from make_count(n)
    yield add(n)


def make_nested(n):
    return nested(n)


def squares(n):
    return sum(add(x) for x in range(n))


def loop_over(generator):
    total = 0
    for x in generator:
        total += x
    return total


def closes(generator):
    next(generator)
    generator.close()


def waits():
    try:
        yield 1
    except KeyError:
        yield add(2)
    finally:
        leaf()


def make_waits():
    return waits()


def throws(generator):
    next(generator)
    generator.throw(KeyError('thrown'))
    for _ in generator:
        pass


@program('''
    generators make_count py
    generators make_nested py
    generators make_waits py
    nested make_count py
    generators loop_over py
    loop_over count any
    loop_over nested any
    nested count any
    nested add py
    generators count c
    generators squares py
    squares squares.<locals>.<genexpr> c
    squares.<locals>.<genexpr> add py
    generators closes py
    closes waits c
    waits leaf py
    waits add py
    generators throws py
    throws waits any
''', '''
    make_count count
    make_nested nested
    make_waits waits
    squares squares.<locals>.<genexpr>
''')
def generators():
    loop_over(make_count(3))
    loop_over(make_nested(3))
    list(make_count(3))
    squares(3)
    closes(make_waits())
    throws(make_waits())


# A generator that waits for another one is put on the stack to throw.

def outer():
    try:
        yield from make_waits()
    finally:
        leaf()


def make_outer():
    return outer()


def throws_deep(generator):
    generator.send(None)
    generator.throw(KeyError('thrown'))
    generator.close()


@program('''
    delegation make_outer py
    delegation throws_deep py
    outer make_waits py
    throws_deep outer any
    throws_deep waits c
    outer waits any
    waits add py
    waits leaf py
    outer leaf py
''', '''
    make_outer outer
    make_waits waits
    throws_deep outer
''')
def delegation():
    throws_deep(make_outer())


# Coroutines.

class Awaitable:
    def __init__(self, n):
        self.n = n

    def __await__(self):
        yield self.n
        return add(self.n)


def make_awaitable(n):
    return Awaitable(n)


async def wait_for(n):
    return await make_awaitable(n)


def make_wait_for(n):
    return wait_for(n)


async def gather(n):
    total = 0
    for i in range(n):
        total += await make_wait_for(i)
    async for i in make_ticks(n):
        total += i
    return total


def make_gather(n):
    return gather(n)


async def ticks(n):
    for i in range(n):
        await make_awaitable(i)
        yield i


def make_ticks(n):
    return ticks(n)


def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


@program('''
    coroutines make_gather py
    coroutines drive py
    drive gather c
    gather make_wait_for py
    gather wait_for any
    wait_for make_awaitable py
    make_awaitable Awaitable.__init__ any
    wait_for Awaitable.__await__ any
    Awaitable.__await__ add py
    gather make_ticks py
    gather ticks c
    ticks make_awaitable py
    ticks Awaitable.__await__ any
''', '''
    make_gather gather
    make_wait_for wait_for
    make_ticks ticks
    wait_for Awaitable.__await__
    ticks Awaitable.__await__
''')
def coroutines():
    drive(make_gather(2))


# Exceptions.

def fails(n):
    if not n:
        raise ValueError(n)
    return fails(n - 1)


def fails_by_key(n):
    return fails(2)


def catches():
    try:
        fails(2)
    except ValueError:
        leaf()
    try:
        sorted([2, 1], key=fails_by_key)
    except ValueError:
        leaf()
    finally:
        leaf()


class Context:
    def __enter__(self):
        return leaf()

    def __exit__(self, *exception):
        return leaf()


CONTEXT = Context()


def with_context():
    with CONTEXT:
        fails(1)


@program('''
    exceptions catches py
    catches fails py
    fails fails py
    catches leaf py
    catches fails_by_key c
    fails_by_key fails py
    exceptions with_context py
    with_context Context.__enter__ any
    with_context Context.__exit__ c
    Context.__enter__ leaf py
    Context.__exit__ leaf py
    with_context fails py
''')
def exceptions():
    catches()
    with_context()


# What runs when values are dropped: by the loop, by a frame that ends, by C.

class Dropped:
    def __del__(self):
        leaf()


def make_dropped():
    return Dropped()


def drops(value):
    local = make_dropped()
    value = None
    other = [make_dropped()]
    other.clear()
    return leaf()


@program('''
    destructors drops py
    drops make_dropped py
    drops Dropped.__del__ c
    destructors Dropped.__del__ c
    Dropped.__del__ leaf py
    drops leaf py
''')
def destructors():
    drops(1)


# Functions that come and go, at the same addresses.

def run_new(name):
    return type(leaf)(marshal.loads(CODES[name]), globals())()


CODES = {
    name: marshal.dumps(compile(f'def {name}(): return leaf()', f'<{name}>',
                                'exec').co_consts[0])
    for name in ('one', 'two', 'three')
}


def run_code(name):
    exec(CODE)
    return eval('leaf()')


CODE = compile('leaf()', '<code>', 'exec')


@program('''
    code run_new py
    run_new one py
    run_new two py
    run_new three py
    one leaf py
    two leaf py
    three leaf py
    code run_code py
    run_code <module> c
    <module> leaf py
''')
def code():
    run_new('one')
    run_new('two')
    run_new('three')
    run_code('one')


# A trace function runs between any two lines, on top of what they run.

def tracer(frame, event, argument):
    return tracer


def traced(n):
    total = 0
    for i in range(n):
        total += add(i)
    return total


@program('''
    tracing traced any
    traced add any
''', optional='tracer')
def tracing():
    sys.settrace(tracer)
    try:
        traced(1)
    finally:
        sys.settrace(None)


# Names of all kinds of strings, and comprehensions, classes, lambdas.

exec(compile('''
def naïve(): return leaf()
def имя(): return naïve()
def Uni(): return имя()
''', '/\udc80/\U0001d518/ÿ', 'exec'))


def class_body():
    class Local:
        value = leaf()
        other = [leaf() for _ in range(2)]

    return Local


@program('''
    names Uni any
    Uni имя py
    имя naïve py
    naïve leaf py
    names class_body py
    class_body class_body.<locals>.Local c
    class_body.<locals>.Local leaf py
    names names.<locals>.<lambda> py
    names.<locals>.<lambda> leaf py
''')
def names():
    Uni()
    class_body()
    (lambda: leaf())()
