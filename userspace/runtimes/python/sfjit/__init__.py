# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Python functions in the stacks of perf record.

install() sends each new call of a Python function through a trampoline that
the kernel can walk and that perf shows as py::function:file. The rest of the
interpreter must be walkable, too:

    sfjit run -- python3 -m sfjit script.py

Call install() in each interpreter of the process. Calls from Python to Python
then use C stack, as with -X perf: very deep recursion ends with RecursionError,
whatever sys.setrecursionlimit() allows.

assist() does not change calls. A kernel with assisted unwinding requests the
functions when perf record --call-graph=fp,defer takes a stack:

    sfjit run -- python3 -m sfjit --assist script.py

It covers one interpreter of a process: the calling thread, and threads started
later. assist_stat() returns counts.
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
    """Start. Raises RuntimeError if Python does not allow it, OSError if the kernel."""
    global _end_followed
    _evaluator.assist()
    if not _end_followed:
        # Runs after the program's functions: they run last to first.
        atexit.register(_evaluator.end_assist)
        _end_followed = True


def install():
    """Start. Raises RuntimeError if another frame evaluator is in use."""
    global _forks_followed
    _evaluator.install()
    if not _forks_followed:
        os.register_at_fork(after_in_child=_evaluator.sync_names)
        _forks_followed = True
