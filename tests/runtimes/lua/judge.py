# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: judge.py calls|languages SAMPLES

Prints how many samples have the functions that they should have, all of them and
none else, how many have none, between the first and the last that have and outside
of the handler that answers the kernel, and how many have others, of which the first
is shown. SAMPLES is what perf script -F ip,sym says.
"""

import re
import sys

sys.path.append(sys.path[0] + "/../../lib")

import perfscript

# By the lines that functions begin in.
CALLS = {0: "main", 5: "leaf", 13: "compare", 18: "sorted", 24: "guarded",
         31: "index", 37: "body", 45: "outer"}
CALLED = {
    "main", "outer main",
    "leaf outer main",
    "sorted outer main", "compare sorted outer main",
    "leaf compare sorted outer main",
    "guarded outer main", "leaf guarded outer main",
    "index outer main", "leaf index outer main",
    "body outer main", "leaf body outer main",
    "sorted body outer main", "compare sorted body outer main",
    "leaf compare sorted body outer main",
}
LANGUAGES = {0: "chunk", 2: "hot", 7: "inner", 12: "outer", 17: "body",
             24: "resume"}
# The innermost first, Python's functions by their own names, after the loop of the
# interpreter that runs them: what is called is all of it from one of these on.
SPOKEN = [
    "hot inner loop call() back() outer loop call() main() <module>()",
    "hot inner loop call() back() body resume loop call() main() <module>()",
    "must() call() back() outer loop call() main() <module>()",
    "must() call() back() body resume loop call() main() <module>()",
    "must() call() main() <module>()",
    "chunk loop run() main() <module>()",
    "must() run() main() <module>()",
]
LOOP = "_PyEval_EvalFrameDefault"
PYTHON = re.compile(r"py::(.*):.*/languages\.py$")
LUA = re.compile(r"lua::(main|function):(.*):(\d+)$")


def is_answer(stack):
    """A sample of the handler itself, which is not asked for its stack."""
    return any(symbol in ("handle", "answer", "lua_add_frames") or
               symbol.startswith("sfjit_assist_") for symbol in stack)


def names(stack, program, lines):
    """Of Lua, and with () of the program of Python, and loops between them."""
    found = []
    for symbol in stack:
        lua, python = LUA.match(symbol), PYTHON.match(symbol)
        if lua and lua[2] == program:
            found.append(lines.get(int(lua[3]), symbol))
        elif lua and lua[2] != "load":
            found.append(symbol)
        elif python:
            found.append(python[1] + "()")
        elif found and symbol.startswith(LOOP):
            found.append("loop")
    # Those of who started the program.
    while found[-1:] == ["loop"]:
        found.pop()
    return found


def is_good(kind, found):
    if kind == "calls":
        return " ".join(found) in CALLED
    return any(words.split()[-len(found):] == found for words in SPOKEN)


def main(kind, path):
    program, lines = {
        "calls": ("tests/runtimes/lua/calls.lua", CALLS),
        "languages": ("program", LANGUAGES),
    }[kind]
    good = none = later = bad = 0
    seen = {}
    for sample in perfscript.read(path, "ip,sym"):
        stack = [frame.name for frame in sample.frames]
        found = names(stack, program, lines)
        if not found:
            later += 1 if good and not is_answer(stack) else 0
        elif is_good(kind, found):
            good += 1
            none, later = none + later, 0
            key = " ".join(found)
            seen[key] = seen.get(key, 0) + 1
        else:
            bad += 1
            if bad == 1:
                print("\n".join(["wrong:"] + stack), file=sys.stderr)
    for key in sorted(seen):
        print(f"# {seen[key]:6} {key}", file=sys.stderr)
    print(good, none, bad)


main(*sys.argv[1:])
