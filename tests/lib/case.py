# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""The cases of a test, one line each, as tools/run-test counts them:

    ok - NAME             it holds
    not ok - NAME: WHY    it does not
    skip - NAME: WHY      it cannot be tried here

A test ends with finish(). One that ends before it, or without a case, has
failed.
"""
import atexit
import os
import sys

_test = os.path.basename(sys.argv[0]).removesuffix('.py')
_process = os.getpid()
_cases = 0
_failed = False


def check(name, good, why):
    global _cases, _failed
    _cases += 1
    _failed |= not good
    line = f'ok - {name}' if good else f'not ok - {name}: {why}'
    print(line.replace('\n', ' | '), flush=True)
    return bool(good)


def skip(name, why):
    global _cases
    _cases += 1
    print(f'skip - {name}: {why}', flush=True)


def check_each(prefix, tests):
    """A case for each (NAME, FUNCTION) named test_*; it raises what is wrong."""
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
    if not _cases:
        check(_test, False, 'no case')
    not_the_test()
    sys.exit(_failed)


def not_the_test():
    """This run has no cases, and need not finish."""
    atexit.unregister(_end)


@atexit.register
def _end():
    if os.getpid() != _process:
        return
    check(_test, False, 'ended before its last case')
    os._exit(1)
