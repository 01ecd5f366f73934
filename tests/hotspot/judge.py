#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: judge.py STACKS [--show N]

Judges stacks of Graph.java, as perf script -F comm,tid,time,ip,sym,dso prints
them, and prints JSON. Of each stack with Java code:

exact  each pair of neighbouring methods of the graph is an edge of it; what is
       between them is the JDK's, the VM's or the interpreter's, where the edge
       has that; the rest is native code down to the thread's first function
ended  the same as far as it goes
wrong  anything else
"""
import collections
import json
import re
import sys

# caller: callees. After "+" those that are reached through other code.
EDGES = """
gWork: gStep
gStep: gRecurse gEven gShapes gAnimals gCatch gStream gLambda gSort gReflect
gStep: gHandle gLocked gArguments gAllocate gCopy gLong
gRecurse: gRecurse gLeaf
gEven: gOdd gLeaf
gOdd: gEven gLeaf
gShapes: gArea
gArea: gLeaf
gAnimals: gSound
gSound: gLeaf
gCatch: gThrow gLeaf
gThrow: gThrow gLeaf
gStream: + gMapped
gMapped: gLeaf
gLambda: gApply
gApply: + gMapped gLeaf
gSort: + gCompare
gCompare: gLeaf
gReflect: + gReflected
gReflected: gLeaf
gHandle: + gHandled
gHandled: gLeaf
gLocked: gLeaf
gArguments: gMany
gMany: gLeaf
gAllocate: gLeaf
gCopy: gLeaf
gLong: gLeaf
"""

# How often a method may be in a stack.
MOST = {"gRecurse": 21, "gEven": 8, "gOdd": 8, "gThrow": 6}
FIRST = {"__clone3", "clone3", "_start"}


def read_edges():
    edges = {}
    for line in EDGES.split("\n"):
        caller, _, rest = line.partition(":")
        for part, far in zip(rest.split("+"), (False, True)):
            for callee in part.split():
                edges[caller, callee] = far
    return edges


EDGES = read_edges()
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*?)\)$")


def read_stacks(path):
    stack = None
    for line in open(path, errors="replace"):
        match = FRAME.match(line)
        if match and stack is not None:
            stack.append(match.groups())
        elif not line.strip():
            if stack:
                yield stack
            stack = None
        elif not line[0].isspace():
            stack = []
    if stack:
        yield stack


# What a frame is: a method of the graph, java (the JDK, stubs, adapters),
# interpreter, native, kernel, or unknown.
def kind(frame):
    ip, symbol, dso = frame
    if dso.startswith("[kernel") or dso.startswith("[guest"):
        return "kernel", symbol
    if "perf-" in dso:
        if symbol == "[unknown]":
            return "unknown", symbol
        if symbol.startswith("Interpreter: "):
            return "interpreter", symbol
        name = re.match(r"Graph(?:\$\w+)?::(g[A-Z]\w*)$", symbol)
        if name:
            return "graph", name[1]
        return "java", symbol
    if dso == "[unknown]" or dso.startswith("//anon") or "memfd" in dso:
        return "unknown", symbol
    return "native", symbol


def judge(stack):
    """-> class, reason; None without Java."""
    frames = [kind(frame) for frame in stack]
    kinds = {what for what, _ in frames}
    if not kinds & {"graph", "java", "interpreter"}:
        return None
    callee, between, seen = None, [], collections.Counter()
    for at, (what, name) in enumerate(frames):
        if what == "unknown":
            return "wrong", "unknown address behind " + str(frames[at - 1][1])
        if what == "graph":
            seen[name] += 1
            if seen[name] > MOST.get(name, 1):
                return "wrong", "too many of " + name
            if callee is not None and "interpreter" not in between:
                far = EDGES.get((name, callee))
                if far is None:
                    return "wrong", f"{name} > {callee}"
                if far is False and between:
                    return "wrong", f"{name} > {callee} through others"
            callee, between = name, []
        elif callee is not None:
            between.append(what)
    last_kind, last = frames[-1]
    if last_kind == "native" and last in FIRST:
        if "graph" in kinds and not any(
                name == "call_stub" for what, name in frames):
            return "wrong", "no call_stub"
        return "exact", ""
    if last_kind == "native":
        return "ended", "native " + last
    return "ended", last_kind + " " + last


def main():
    show = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    counts = collections.Counter()
    reasons = {"ended": collections.Counter(), "wrong": collections.Counter()}
    shown = collections.Counter()
    for stack in read_stacks(sys.argv[1]):
        verdict = judge(stack)
        if verdict is None:
            counts["native"] += 1
            continue
        counts["samples"] += 1
        counts[verdict[0]] += 1
        if verdict[0] == "exact":
            continue
        reasons[verdict[0]][verdict[1]] += 1
        shown[verdict] += 1
        if verdict[0] == "wrong" and shown[verdict] <= show or \
                verdict[0] == "ended" and shown[verdict] <= show - 2:
            print(*verdict, file=sys.stderr)
            for frame in stack:
                print("   ", *frame, file=sys.stderr)
    lost = {name: dict(of.most_common(20)) for name, of in reasons.items()}
    json.dump({**counts, "lost": lost}, sys.stdout, indent=1)
    print()


main()
