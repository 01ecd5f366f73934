# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""The figures of one recording. Metrics are shares of user samples taken after
the workload began (its own stamp, by which time all tables are registered).

complete       last frame is in a row whose CFI has no return address
exact          all return addresses equal the known true stack, and the leaf is
               in a function whose stack that is (c-trampolines)
direct_caller  share of the trampoline frames that are followed by their caller:
               c-trampolines: the known one; Python: a return address after a
               call that can have entered the trampoline (see calls.py)
python_named   share of the Python functions on the stacks that have their name
"""
import bisect
import os
import re
import struct

import perfscript

from . import calls, elf, flame

PERF_MAP = re.compile(r'/tmp/perf-\d+\.map$')
EVAL = '_PyEval_EvalFrameDefault'
# Outside of the innermost of these is what started the program.
PROGRAM = re.compile(r'py::(<module>:(.*/)?workload\.py|.*/sfjit/_launch\.py)$')


class Modules:
    """ELF files of the guest, found under a directory by their guest path."""

    def __init__(self, root):
        self.root = root
        self.known = {}

    def get(self, path):
        if path not in self.known:
            self.known[path] = self.load(path)
        return self.known[path]

    def paths(self):
        """Guest paths of all files there are."""
        for directory, _, files in os.walk(self.root):
            for name in files:
                yield os.path.join(directory, name)[len(self.root):]

    def all(self):
        return [self.get(path) for path in self.paths()]

    def load(self, path):
        file = self.root + '/' + (path or '')
        if not path or not path.startswith('/') or not os.path.isfile(file):
            return None
        return elf.Elf(file)


def lookup(frames, i):
    """The address before a return address belongs to the call."""
    return frames[i].off - (i > 0)


class Walk:
    """Questions about the frames of one stack, leaf first."""

    def __init__(self, modules):
        self.modules = modules
        self.cache = {}

    def cached(self, what, frame, leaf, compute):
        key = (what, frame.dso, frame.off, leaf)
        if key not in self.cache:
            self.cache[key] = compute()
        return self.cache[key]

    def module(self, frame):
        return None if frame.off is None else self.modules.get(frame.dso)

    def function(self, frames, i):
        """(dso, start) of the function a frame is in, or None."""
        frame = frames[i]
        module = self.module(frame)
        if not module:
            return None
        fde = self.cached('function', frame, i == 0,
                          lambda: module.function(lookup(frames, i)))
        return fde and (frame.dso, fde[0])

    def complete(self, frames):
        if not frames:
            return False
        i = len(frames) - 1
        module = self.module(frames[i])
        if not module:
            return False
        return self.cached('outermost', frames[i], i == 0,
                           lambda: module.outermost(lookup(frames, i)))

    def can_call(self, frame):
        """Can the call that returns to @frame have entered a trampoline?"""
        module = self.module(frame)
        return bool(module) and self.cached(
            'call', frame, False,
            lambda: calls.reaches_pointer(module, frame.off))


def share(part, whole):
    return part / whole if whole else None


def is_perf_map(frame):
    return bool(frame.dso and PERF_MAP.match(frame.dso))


class Python:
    """Trampolines and Python functions of the interpreter's stacks."""

    def __init__(self, walk):
        self.walk = walk
        self.tramps = self.followed = 0
        self.named = self.unnamed = 0

    def between_parts(self, frames):
        return False

    def is_tramp(self, frame):
        return is_perf_map(frame) and bool(
            frame.sym and frame.sym.startswith('py::'))

    def count(self, frames):
        self.count_tramps(frames)
        self.count_names(frames)

    def count_tramps(self, frames):
        for i, frame in enumerate(frames):
            if is_perf_map(frame):
                self.tramps += 1
                self.followed += (i + 1 < len(frames) and
                                  self.walk.can_call(frames[i + 1]))

    def count_names(self, frames):
        """
        An activation of the interpreter loop is one Python function when it
        was entered through a trampoline. The launcher's functions (`python3
        -m'), which were running before there were trampolines, are no part of
        the program and not counted.
        """
        frames = frames[:self.program_end(frames)]
        for i, frame in enumerate(frames):
            if self.is_tramp(frame):
                self.named += 1
            elif self.is_loop(frame) and not self.has_name(frames, i):
                self.unnamed += 1

    def program_end(self, frames):
        if self.launcher_alone(frames):
            return 0
        for i, frame in enumerate(frames):
            if self.is_tramp(frame) and PROGRAM.match(frame.sym):
                return i + 1
        return len(frames)

    def launcher_alone(self, frames):
        """At exit: the main thread, and no trampoline on its stack."""
        return (any(frame.sym == 'Py_RunMain' for frame in frames) and
                not any(is_perf_map(frame) for frame in frames))

    def is_loop(self, frame):
        return frame.sym == EVAL

    def has_name(self, frames, i):
        return i + 1 < len(frames) and self.is_tramp(frames[i + 1])

    def result(self, samples):
        return {
            'direct_caller': share(self.followed, self.tramps),
            'trampoline_frames': self.tramps,
            'python_named': share(self.named, self.named + self.unnamed),
            'python_functions_per_sample': share(self.named, samples),
        }


class Assisted(Python):
    """
    Python functions stand behind the activation of the interpreter loop that
    runs them. Samples of the answering itself have none: the kernel does not
    ask then. The innermost loop has none while it begins or ends.
    """
    def __init__(self, walk):
        super().__init__(walk)
        self.answering = self.at_edge = 0

    def is_answering(self, frames):
        """The launcher is outside of a loop, the handler inside of all."""
        for frame in frames:
            if self.is_loop(frame):
                return False
            if flame.kind(frame) == flame.OURS:
                return True
        return False

    def launcher_alone(self, frames):
        """A main thread without functions has not answered."""
        return False

    def innermost_is_bare(self, frames):
        """In an answer: others on the stack have functions."""
        loops = [self.has_name(frames, i) for i, frame in enumerate(frames)
                 if self.is_loop(frame)]
        return any(loops) and not loops[0]

    def without_innermost(self, frames):
        loop = next(filter(self.is_loop, frames))
        return frames[frames.index(loop) + 1:]

    def count(self, frames):
        if self.is_answering(frames):
            self.answering += 1
            return
        if self.innermost_is_bare(frames):
            self.at_edge += 1
            frames = self.without_innermost(frames)
        self.count_names(frames)

    def result(self, samples):
        figures = super().result(samples)
        figures['answering'] = share(self.answering, samples)
        figures['at_edge'] = share(self.at_edge, samples)
        return figures


class Known:
    """Compares with the true stack of c-trampolines."""

    SYMBOL = re.compile(r'f(\d+)$')
    OTHERS = ('main', 'spin', 'next_phase')

    def __init__(self, truth, program):
        self.truth = truth
        self.tramps = self.followed = self.exact = 0
        self.slots = sorted(truth.levels, key=lambda level: level.slot)
        self.starts = [level.slot for level in self.slots]
        self.spin_sites = {x.from_spin: x.number for x in truth.levels}
        self.places = self.program_functions(program)

    def program_functions(self, program):
        symbols = program.symbols()
        bias = self.truth.f0 - symbols['f0'][0]
        return [(start + bias, start + bias + size, name)
                for name, (start, size) in symbols.items()
                if name in self.OTHERS or self.SYMBOL.match(name)]

    def between_parts(self, frames):
        """In next_phase(), where the measured part begins and ends?"""
        return any(self.place(frame.ip) == 'next_phase' for frame in frames)

    def level_of_slot(self, ip):
        i = bisect.bisect_right(self.starts, ip) - 1
        if i >= 0 and self.slots[i].in_slot(ip):
            return self.slots[i]
        return None

    def place(self, ip):
        for start, end, name in self.places:
            if start <= ip < end:
                return name
        return None

    def expected(self, ips):
        """Return addresses that belong above the leaf; None: cannot be."""
        level = self.level_of_slot(ips[0])
        if level:
            return self.truth.above(level.number)[1:]
        name = self.place(ips[0])
        if name == 'main':
            return self.truth.outer
        if name == 'spin':
            return self.expected_in_spin(ips)
        match = name and self.SYMBOL.match(name)
        return self.truth.above(int(match[1])) if match else None

    def expected_in_spin(self, ips):
        number = self.spin_sites.get(ips[1]) if len(ips) > 1 else None
        if number is None:
            return None
        return [ips[1]] + self.truth.above(number)

    def count(self, frames):
        ips = [frame.ip for frame in frames]
        self.exact += bool(ips) and self.expected(ips) == ips[1:]
        for i, ip in enumerate(ips):
            level = self.level_of_slot(ip)
            if level:
                self.tramps += 1
                self.followed += ips[i + 1:i + 2] == [level.into_caller]

    def result(self, samples):
        return {
            'exact': share(self.exact, samples),
            'direct_caller': share(self.followed, self.tramps),
            'trampoline_frames': self.tramps,
            'windows': self.truth.windows,
        }


class DataFile:
    """Size of the data section of a perf.data file: all records."""

    # A number: it says in which order its bytes are.
    ORDERS = {b'PERFILE2': '<', b'2ELIFREP': '>'}

    def __init__(self, path):
        with open(path, 'rb') as file:
            head = file.read(104)
        order = self.ORDERS.get(head[:8])
        if len(head) < 104 or not order:
            raise perfscript.ParseError('%s: not a perf.data file' % path)
        self.data_size, = struct.unpack_from(order + 'Q', head, 48)


def split(samples, truth):
    """The user samples by time: (startup, measured, shutdown)."""
    user = [s for s in samples if s.mode.startswith('U')]
    end = truth.end if truth.end is not None else float('inf')
    return ([s for s in user if s.time < truth.begin],
            [s for s in user if truth.begin <= s.time <= end],
            [s for s in user if s.time > end])


def measure(samples, truth, walk, counter, data_size):
    """(figures, [(sample, complete)] of the measured samples)"""
    startup, measured, shutdown = split(samples, truth)
    stacks = [perfscript.user_frames(sample) for sample in measured]
    stacks = [stack for stack in stacks if not counter.between_parts(stack)]
    marked, frames = [], 0
    for stack in stacks:
        frames += len(stack)
        counter.count(stack)
        marked.append((stack, walk.complete(stack)))
    nr = len(stacks)
    figures = {
        'samples': nr,
        'startup': len(startup),
        'shutdown': len(shutdown),
        'startup_complete': share(
            sum(walk.complete(perfscript.user_frames(s)) for s in startup),
            len(startup)),
        'kernel': len(samples) - len(startup + measured + shutdown),
        'frames_per_sample': share(frames, nr),
        'complete': share(sum(done for _, done in marked), nr),
        'bytes_per_sample': share(data_size, len(samples)),
    }
    figures.update(counter.result(nr))
    return figures, marked
