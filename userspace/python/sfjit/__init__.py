# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Python functions in the stacks of perf record --call-graph=fp.

install() lets every call of a Python function that begins from now on go
through a trampoline that the kernel can walk and that perf shows as
py::function:file. The rest of the interpreter has to be walkable too:

    sfjit run -- python3 -m sfjit script.py

Each interpreter of a process that is to be seen calls install() itself. A call
from Python to Python uses C stack, as with -X perf: very deep recursion ends
with RecursionError whatever sys.setrecursionlimit() allows.
"""

import os

from sfjit import _evaluator
from sfjit._evaluator import stat, uninstall

__all__ = ["install", "stat", "uninstall"]

_forks_followed = False


def install():
    """Start. RuntimeError when another frame evaluator is in use."""
    global _forks_followed
    _evaluator.install()
    if not _forks_followed:
        os.register_at_fork(after_in_child=_evaluator.sync_names)
        _forks_followed = True
