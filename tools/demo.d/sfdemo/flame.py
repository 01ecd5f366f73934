# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Flame graph trees: {n: name, v: samples, k: kind, c: children}."""
import os

# Kinds of frames; the page has the colour of each.
PYTHON, TRAMPOLINE, PROGRAM, LIBRARY, OURS, UNKNOWN, GROUP = 'ptwlsug'

COMPLETE = 'complete stacks'
CUT = 'cut stacks: callers unknown'


def kind(frame):
    if frame.sym and frame.sym.startswith('py::'):
        return PYTHON
    if frame.sym and frame.sym.startswith('tramp:'):
        return TRAMPOLINE
    if not frame.dso:
        return UNKNOWN
    directory, base = os.path.split(frame.dso)
    if 'sfjit' in base or directory.endswith('/python/sfjit'):
        return OURS
    return LIBRARY if '.so' in base or base == '[vdso]' else PROGRAM


def label(walk, frames, i):
    """Code without symbol: its file and where in it the function begins."""
    frame = frames[i]
    if frame.sym:
        return frame.sym
    if not frame.dso:
        return '[unknown]'
    function = walk.function(frames, i)
    place = '+0x%x' % function[1] if function else ''
    return '[%s%s]' % (os.path.basename(frame.dso).strip('[]'), place)


def path(walk, frames, complete, kind_of):
    """Boxes from the root up. A run of addresses outside all code is one."""
    boxes = [(COMPLETE if complete else CUT, GROUP)]
    for i in range(len(frames) - 1, -1, -1):
        box = (label(walk, frames, i), kind_of(frames[i]))
        if box[1] != UNKNOWN or boxes[-1] != box:
            boxes.append(box)
    return boxes


class Node:
    def __init__(self):
        self.value = 0
        self.children = {}

    def child(self, name, what):
        return self.children.setdefault((name, what), Node())

    def add(self, boxes):
        node = self
        node.value += 1
        for key in boxes:
            node = node.child(*key)
            node.value += 1

    def export(self, name, what):
        tree = {'n': name, 'v': self.value, 'k': what}
        if self.children:
            tree['c'] = [node.export(*key)
                         for key, node in sorted(self.children.items())]
        return tree


def tree(walk, marked, kind_of=kind):
    """@marked: [(frames leaf first, is the stack complete?)]"""
    root = Node()
    for frames, complete in marked:
        root.add(path(walk, frames, complete, kind_of))
    return root.export('all user samples', GROUP)
