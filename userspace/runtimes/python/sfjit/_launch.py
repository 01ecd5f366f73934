# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""python3 -m sfjit: runs a program as python3 itself would."""

import builtins
import linecache
import os
import sys
import warnings
from importlib.machinery import BuiltinImporter
from pkgutil import get_importer

import sfjit
from sfjit import _evaluator

USAGE = """\
usage: python3 -m sfjit [-h | --help]
       python3 -m sfjit [--assist] (-m MODULE | -c COMMAND | SCRIPT) [ARGUMENT]...

Runs a Python program with a trampoline for each function, so that perf record
shows them. With --assist it needs no trampolines: the kernel requests the
functions, with perf record --call-graph=fp,defer. Options of python3 itself go
before -m sfjit.
"""


def usage_error(message):
    sys.stderr.write(f"sfjit: {message}\n{USAGE}")
    sys.exit(2)


def empty_main():
    """What __main__ holds when the interpreter has just started."""
    names = sys.modules["__main__"].__dict__
    names.clear()
    names.update(
        __name__="__main__",
        __doc__=None,
        __package__=None,
        __loader__=BuiltinImporter,
        __spec__=None,
        __annotations__={},
        __builtins__=builtins,
    )


def set_path(first):
    # -P: nothing was put in front of sys.path for -m sfjit either.
    if not sys.flags.safe_path:
        sys.path[0] = first


def show_source(command):
    """Lets tracebacks quote the command, as those of python3 -c do."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(command, "<string>", "exec")
    except (SyntaxError, ValueError):
        return
    linecache._register_code(code, command, "<string>")


def run_command(arguments):
    if not arguments:
        usage_error("-c needs a command")
    sys.argv[:] = ["-c"] + arguments[1:]
    set_path("")
    show_source(arguments[0])
    empty_main()
    return _evaluator.run_command(arguments[0] + "\n")


def run_module(arguments):
    if not arguments:
        usage_error("-m needs a module")
    sys.argv[:] = ["-m"] + arguments[1:]
    empty_main()
    return _evaluator.run_module(arguments[0], True)


def run_directory(path):
    # A directory or zip file with a __main__.py, whatever -P says.
    if sys.flags.safe_path:
        sys.path.insert(0, path)
    else:
        sys.path[0] = path
    empty_main()
    return _evaluator.run_module("__main__", False)


def run_file(path):
    try:
        open(path, "rb").close()
    except OSError as e:
        sys.stderr.write(
            f"{sys.orig_argv[0]}: can't open file {path!r}: "
            f"[Errno {e.errno}] {e.strerror}\n"
        )
        return 2
    set_path(os.path.dirname(os.path.realpath(path)))
    empty_main()
    return _evaluator.run_file(path)


def run_script(arguments):
    sys.argv[:] = arguments
    path = os.path.abspath(arguments[0])
    if get_importer(path) is not None:
        return run_directory(path)
    return run_file(path)


def run(arguments):
    if not arguments:
        usage_error("nothing to run")
    if arguments[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0
    start = sfjit.install
    if arguments[0] == "--assist":
        start = sfjit.assist
        arguments = arguments[1:]
        if not arguments:
            usage_error("nothing to run")
    try:
        start()
    except (OSError, RuntimeError) as e:
        sys.exit(f"sfjit: {e}")
    if arguments[0] == "-c":
        return run_command(arguments[1:])
    if arguments[0] == "-m":
        return run_module(arguments[1:])
    if arguments[0].startswith("-"):
        usage_error(f"unknown option {arguments[0]}")
    return run_script(arguments)


def was_interrupted():
    return isinstance(getattr(sys, "last_exc", None), KeyboardInterrupt)


def main():
    status = run(sys.argv[1:])
    # The interpreter remembers an interrupted program and ends itself by
    # SIGINT, unless told a status.
    if status and not was_interrupted():
        sys.exit(status)
