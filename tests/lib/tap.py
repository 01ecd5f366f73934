# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""The cases of a test, in TAP for prove(1):

    ok 1 - NAME               the case passed
    not ok 2 - NAME           it failed
    # WHY
    ok 3 - NAME # SKIP WHY    it cannot run here
    1..3

A test ends with finish(), which prints the last line. One that ends before it,
or without a case, has failed. Children of fork() count on.
"""
import atexit
import os
import sys

_test = os.path.basename(sys.argv[0]).removesuffix('.py')
_process = os.getpid()
# Cases and failures of the test and its children; an interpreter without its
# libraries can use it, too.
_all = os.memfd_create('tap')
os.write(_all, b'0 0')


def _counts():
    return map(int, os.pread(_all, 64, 0).split())


def _count(good):
    """The number of this case."""
    cases, failed = _counts()
    os.pwrite(_all, b'%d %d' % (cases + 1, failed + (not good)), 0)
    return cases + 1


def _text(text):
    """Escapes `#' and newlines, which are syntax in TAP."""
    return ' | '.join(
        text.replace('\\', '\\\\').replace('#', '\\#').splitlines())


def check(name, good, why):
    word = 'ok' if good else 'not ok'
    lines = [f'{word} {_count(good)} - {_text(name)}']
    if not good:
        lines += [f'# {line}' for line in str(why).splitlines()]
    print('\n'.join(lines), flush=True)
    return bool(good)


def skip(name, why):
    print(f'ok {_count(True)} - {_text(name)} # SKIP {_text(why)}', flush=True)


def check_each(prefix, tests):
    """A case for each (NAME, FUNCTION) named test_*; failures are exceptions."""
    for name, function in sorted(tests):
        if not name.startswith('test_'):
            continue
        wrong = None
        try:
            function()
        except Exception as error:
            wrong = f'{type(error).__name__}: {error}'
        check(f'{prefix} {name[5:].replace("_", " ")}', not wrong, wrong)


def finish():
    if not next(_counts()):
        check(_test, False, 'no case')
    cases, failed = _counts()
    print(f'1..{cases}', flush=True)
    not_the_test()
    sys.exit(failed != 0)


def not_the_test():
    """This run has no cases and need not call finish()."""
    atexit.unregister(_end)


@atexit.register
def _end():
    if os.getpid() != _process:
        return
    check(_test, False, 'ended before its last case')
    os._exit(1)
