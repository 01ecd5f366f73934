# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""What the workloads say about themselves (their TRUTH-FILE or STAMP-FILE)."""


class TruthError(Exception):
    pass


class Level:
    """One function of c-trampolines and the trampoline it was called by."""

    def __init__(self, fields):
        self.number = int(fields[0])
        self.kind = fields[1]
        self.slot = int(fields[2], 16)
        self.slot_end = self.slot + int(fields[3])
        self.into_tramp, self.into_caller, self.from_spin = (
            int(x, 16) for x in fields[4:7])

    def in_slot(self, ip):
        return self.slot <= ip < self.slot_end


def to_ns(text):
    sec, nsec = text.split('.')
    if len(nsec) != 9:
        raise ValueError(text)
    return int(sec) * 10 ** 9 + int(nsec)


class Truth:
    """
    begin, end: ns of CLOCK_MONOTONIC; end is None for the whole run. pid: the
    only process whose samples count, or None.
    """

    def __init__(self, path):
        self.begin = self.end = None
        self.levels, self.outer = [], []
        self.f0 = self.windows = self.pid = None
        with open(path, encoding='utf-8') as file:
            for line in file:
                try:
                    self.take(line.split())
                except (ValueError, IndexError) as error:
                    raise TruthError('%s: %s' % (path, line)) from error
        if self.begin is None:
            raise TruthError('%s: the workload did not begin' % path)

    def take(self, fields):
        what, rest = fields[0], fields[1:]
        if what == 'begin':
            self.begin = to_ns(rest[0])
        elif what == 'end':
            self.end = to_ns(rest[0])
        elif what == 'level':
            self.levels.append(Level(rest))
        elif what == 'outer':
            self.outer = [int(x, 16) for x in rest]
        elif what == 'f0':
            self.f0 = int(rest[0], 16)
        elif what == 'windows':
            self.windows = int(rest[0])
        elif what == 'pid':
            self.pid = int(rest[0])

    def above(self, number):
        """Return addresses on the stack of level @number, innermost first."""
        stack = []
        for level in reversed(self.levels[:number + 1]):
            stack += [level.into_tramp, level.into_caller]
        return stack + self.outer
