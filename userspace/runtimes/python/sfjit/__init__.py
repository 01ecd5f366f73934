# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Python functions in the stacks of perf record.

install() lets every call of a Python function that begins from now on go
through a trampoline that the kernel can walk and that perf shows as
py::function:file. The rest of the interpreter has to be walkable too:

    sfjit run -- python3 -m sfjit script.py

Each interpreter of a process that is to be seen calls install() itself. A call
from Python to Python uses C stack, as with -X perf: very deep recursion ends
with RecursionError whatever sys.setrecursionlimit() allows.

assist() leaves the program as it is. The kernel asks it for its functions when
perf record --call-graph=fp,defer takes a stack; it has to be one that does:

    sfjit run -- python3 -m sfjit --assist script.py

It is for one interpreter of a process, for the thread that calls it and for
those that begin later. assist_stat() has counts.
"""

import atexit
import os
import sys

try:
    import sfjit._evaluator as _evaluator
except ImportError as e:
    raise ImportError(
        "sfjit is built for CPython 3.13, and this is "
        f"{sys.implementation.name} {sys.version.split()[0]}: {e}",
        name="sfjit",
    ) from None
from sfjit._evaluator import assist_stat, stat, uninstall

__all__ = ["assist", "assist_stat", "install", "stat", "uninstall"]

_forks_followed = False
_end_followed = False


def assist():
    """Start. RuntimeError where it cannot be, OSError of the kernel."""
    global _end_followed
    _evaluator.assist()
    if not _end_followed:
        # After what the program registers: functions run last to first.
        atexit.register(_evaluator.end_assist)
        _end_followed = True


def install():
    """Start. RuntimeError when another frame evaluator is in use."""
    global _forks_followed
    _evaluator.install()
    if not _forks_followed:
        os.register_at_fork(after_in_child=_evaluator.sync_names)
        _forks_followed = True
