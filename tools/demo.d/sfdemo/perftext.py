# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Samples from the text of

    perf script --ns -F comm,pid,tid,time,event,misc,ip,sym,symoff,dso,dsoff

Anything else in it is an error with its line number.
"""
import re
from collections import namedtuple

# ip: as in the callchain (leaf: the interrupted instruction, else the return
# address). sym: None without symbol. dso: None without mapping; off: position
# in that file, None where perf gives none.
Frame = namedtuple('Frame', 'ip sym symoff dso off')
# mode: perf's cpumode letter, U for user. time: ns. frames: leaf first.
Sample = namedtuple('Sample', 'comm pid tid mode time frames')

FIELDS = 'comm,pid,tid,time,event,misc,ip,sym,symoff,dso,dsoff'

HEADER = re.compile(
    r'\s*(?P<comm>\S.*?)\s+(?P<pid>\d+)/(?P<tid>\d+)\s+(?P<mode>[A-Z]*)\s+'
    r'(?P<sec>\d+)\.(?P<nsec>\d{9}):\s+(?P<event>\S+):\s*$')
FRAME = re.compile(r'\t\s*(?P<ip>[0-9a-f]+) (?P<sym>.+) \((?P<dso>.*)\)\s*$')

# Addresses of the kernel, and perf's context markers, have the top bit set.
KERNEL = 1 << 63


class ParseError(Exception):
    pass


def split_offset(text):
    """'name+0x1f' -> ('name', 31); without offset -> (text, None)."""
    name, plus, digits = text.rpartition('+0x')
    if not plus:
        return text, None
    return name, int(digits, 16)


def known(text):
    return None if text == '[unknown]' else text


def parse_frame(line):
    match = FRAME.match(line)
    if not match:
        return None
    sym, symoff = split_offset(match['sym'])
    dso, off = split_offset(match['dso'])
    return Frame(int(match['ip'], 16), known(sym), symoff, known(dso), off)


def parse_header(line):
    match = HEADER.match(line)
    if not match:
        return None
    time = int(match['sec']) * 10 ** 9 + int(match['nsec'])
    return Sample(match['comm'], int(match['pid']), int(match['tid']),
                  match['mode'], time, [])


class Parser:
    """Frames repeat a lot: each distinct line is parsed once."""

    def __init__(self, name):
        self.name = name
        self.cache = {}

    def frame(self, line):
        frame = self.cache.get(line)
        if frame is None:
            frame = self.cache[line] = parse_frame(line)
        return frame

    def fail(self, number, what):
        raise ParseError('%s: line %d: %s' % (self.name, number, what))

    def samples(self, lines):
        sample = None
        for number, line in enumerate(lines, 1):
            if not line.strip():
                if sample:
                    yield sample
                sample = None
            elif sample is None:
                sample = parse_header(line)
                if not sample:
                    self.fail(number, 'no sample header')
            else:
                frame = self.frame(line)
                if not frame:
                    self.fail(number, 'no frame')
                sample.frames.append(frame)
        if sample:
            yield sample


def read(path):
    with open(path, encoding='utf-8', errors='surrogateescape') as file:
        return list(Parser(path).samples(file))


def user_frames(sample):
    """
    As the kernel found them. By the link register of AArch64 perf adds what
    called a function without a frame, less one, and does not see that this is
    where the next frame returns to. It may be signed, above 48 bits.
    """
    frames = [frame for frame in sample.frames if frame.ip < KERNEL]
    if len(frames) > 2 and (frames[1].ip + 1 - frames[2].ip) % 2 ** 48 == 0:
        del frames[1]
    return frames
