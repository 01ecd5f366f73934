# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Memory that had several functions: its names of a perf map do not say which.

A frame in it gets the name UNCERTAIN, unless all of them are the same known
function of a graph; so does one in generated code without any name, as of a
method that was gone before it was told of.
"""
import bisect

UNCERTAIN = 'uncertain'


def entries(lines):
    """(start, end, name) of the lines of a perf map."""
    for line in lines:
        start, size, name = line.rstrip('\n').split(' ', 2)
        yield int(start, 16), int(start, 16) + int(size, 16), name


class Reused:
    """
    @known: the known function of a name, or None; @is_generated: whether a
    frame is in generated code.
    """

    def __init__(self, lines, known, is_generated):
        self.is_generated = is_generated
        self.starts, self.several = [], []
        inside = {}
        changes = []
        for start, end, name in entries(lines):
            key = known(name) or name
            changes += [(start, 1, key), (end, -1, key)]
        for at, change, key in sorted(changes):
            inside[key] = inside.get(key, 0) + change
            if not inside[key]:
                del inside[key]
            if self.starts and self.starts[-1] == at:
                self.several[-1] = len(inside) > 1
            else:
                self.starts.append(at)
                self.several.append(len(inside) > 1)

    def had_several(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return i >= 0 and self.several[i]

    def rename(self, frames):
        """Callers are where their call is, in front of the return address."""
        return [frame._replace(sym=UNCERTAIN)
                if self.had_several(frame.ip - bool(i)) or
                not frame.sym and self.is_generated(frame) else frame
                for i, frame in enumerate(frames)]
