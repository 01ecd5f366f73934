# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Is a stack exact, and if it is not, what was lost?

complete  the last frame is the thread's first function: its call frame
          information has no return address
exact     complete, each pair of known neighbours is an edge of the graph
          (graph.py), and in front of each return address in a file there is a
          call that can have led to the frame below (native.py)

A stack that is complete and not exact is `silently wrong'.
"""
import os
import re
from collections import Counter

GENERATED = re.compile(r'/tmp/perf-\d+\.map$|//anon|\[anon|.*\(deleted\)$'
                       r'|/memfd:|/jitted-.*\.so$|/SYSV|\[heap\]|\[stack\]')
NO_FILE = re.compile(r'\[v(dso|syscall)\]|\[uprobes\]')
LENGTH = 127            # kernel.perf_event_max_stack

SILENT = 'silently wrong'
WRONG = 'cut and wrong'
CUT = 'cut'
FALSE = 'cut where call frame information is false'


def is_generated(frame):
    return bool(frame.dso and GENERATED.match(frame.dso))


def where(frame):
    """The place of a frame, as one of few words."""
    if not frame.dso:
        return 'outside all code'
    if is_generated(frame):
        return 'generated code'
    return os.path.basename(frame.dso)


class Judge:
    """@walk: sfdemo's; @graph may be None."""

    def __init__(self, walk, native, graph):
        self.walk, self.native, self.graph = walk, native, graph

    def wrong(self, frames, complete):
        """What is wrong with it, or None."""
        return self.wrong_call(frames) or self.wrong_edge(frames, complete)

    def wrong_edge(self, frames, complete):
        if not self.graph:
            return None
        pair = self.graph.missing([frame.sym for frame in frames],
                                  [is_generated(frame) for frame in frames],
                                  complete)
        return pair and 'no edge ' + pair

    def wrong_call(self, frames):
        called = False
        for below, above in zip(frames, frames[1:]):
            if not above.dso:
                return 'a return address outside all code'
            # The kernel called the handler and stopped what is above.
            if self.native.is_restorer(above) or \
                    self.native.is_restorer(below):
                called = False
                continue
            if not self.can_call(above, below, called):
                return 'no call in %s leads to %s' % (
                    where(above), where(below))
            called = True
        return None

    def can_call(self, above, below, called):
        if is_generated(above) or NO_FILE.match(above.dso):
            return True
        if not self.native.modules.get(above.dso):
            return False
        return self.native.can_call(above, below, called)

    def unseen(self, stacks):
        """Calls that have to be among these, and are not: CALLEE < CALLER."""
        missing = self.graph.wanted() if self.graph else set()
        for frames in stacks:
            if missing:
                missing -= self.graph.pairs([frame.sym for frame in frames])
        return sorted('%s < %s' % (callee, caller)
                      for caller, callee in missing)

    def verdict(self, frames):
        """(complete, reason or None)"""
        complete = self.walk.complete(frames)
        wrong = self.wrong(frames, complete)
        if complete:
            return True, wrong and '%s: %s' % (SILENT, wrong)
        if wrong:
            return False, '%s: %s' % (WRONG, wrong)
        if len(frames) >= LENGTH:
            return False, CUT + ': longer than perf records'
        if not frames:
            return False, CUT + ': no frame'
        if self.native.is_false(frames[-1], len(frames) > 1):
            return False, '%s: %s' % (FALSE, where(frames[-1]))
        return False, '%s in %s' % (CUT, where(frames[-1]))


def counters(text):
    """{REASON: N} of what /proc/PID/sframe has behind the windows."""
    words = [line.split() for line in text.splitlines()]
    return {word[0]: int(word[1]) for word in words
            if word and word[0] not in ('windows', 'last') and int(word[1])}


def figures(judge, stacks, named=None):
    """
    (what result.json has of these stacks, [(frames, complete)]); @named: the
    same, with the names that perf gives them, if these are others.
    """
    lost, marked, exact, complete, generated = Counter(), [], [], 0, 0
    for frames, whose in zip(stacks, named or stacks):
        whole, reason = judge.verdict(frames)
        complete += whole
        generated += any(map(is_generated, frames))
        marked.append((frames, whole))
        if reason:
            lost[reason] += 1
        else:
            exact.append(whose)
    return {
        'samples': len(marked), 'generated': generated, 'complete': complete,
        'exact': len(exact), 'unseen': judge.unseen(exact),
        'lost': dict(lost.most_common()),
    }, marked
