# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Samples from the text of "perf script -F FIELDS", which has call chains.

usage: perfscript.py [--ip] [--user] [--separator=TEXT] FIELDS <TEXT

Prints a line for each sample: its command, pid and tid, of those that are among
FIELDS, and the names of its frames, the innermost first; with +0xOFFSET if
FIELDS has symoff. With --ip a frame is ADDRESS:NAME. With --user frames are those of
user space, as the kernel found them.

What is neither a sample nor one of perf's other records is an error with its
line number. A last line that is cut off makes its sample unknown: it is left
out. This runs in guests, with nothing but Python's own library.
"""
import argparse
import io
import re
import sys
from collections import namedtuple

# All fields, to read everything of a recording.
FIELDS = 'comm,pid,tid,time,event,misc,ip,sym,symoff,dso,dsoff'

# mode: perf's cpumode letter, U for user. time: ns. frames: leaf first.
# Missing fields are None.
Sample = namedtuple('Sample', 'comm pid tid mode time event frames')

# The kernel's addresses, and perf's context markers, have the top bit set.
KERNEL = 1 << 63

UNKNOWN = '[unknown]'
OFFSET = re.compile(r'(.*)\+0x([0-9a-f]+)$')
# Printed as the event if a stack was not merged with its sample.
DEFERRED = r'DEFERRED CALLCHAIN \[cookie: [0-9a-f]+\]'
FILE = r'[^()]*(?: \(deleted\))?(?:\+0x[0-9a-f]+)?'


class Frame(namedtuple('Frame', 'ip sym symoff dso off inlined',
                       defaults=(False,))):
    """
    ip: as in the callchain (leaf: the interrupted instruction, else the return
    address). sym: None without symbol. dso: None without mapping, or inlined.
    off: position in that file, None where perf gives none.
    """
    __slots__ = ()

    @property
    def name(self):
        return UNKNOWN if self.sym is None else self.sym


class ParseError(Exception):
    pass


def split_offset(text):
    """'name+0x1f' -> ('name', 31); without offset -> (text, None)."""
    match = OFFSET.match(text)
    return (match[1], int(match[2], 16)) if match else (text, None)


def known(text):
    return None if text == UNKNOWN else text


class Format:
    """How perf prints these fields. Frames begin with a tab, headers do not."""

    def __init__(self, fields):
        self.fields = frozenset(fields.split(','))
        unknown = self.fields.difference(FIELDS.split(','))
        if unknown or 'ip' not in self.fields:
            raise ValueError('fields: %s' % fields)
        self.is_head = self.head_pattern()
        # Files with parentheses in their names are rare, and come last.
        self.is_frame = [re.compile(self.frame_pattern(file))
                         for file in (FILE, '.*')]
        # Frames repeat a lot: each distinct line is parsed once.
        self.cache = {}

    def head_pattern(self):
        parts = {'pid': r'(?P<pid>-?\d+)', 'tid': r'(?P<tid>-?\d+)'}
        has = [parts[field] for field in ('pid', 'tid')
               if field in self.fields]
        pattern = [r'(?P<comm>\S.*?)'] if 'comm' in self.fields else []
        pattern += ['/'.join(has)] if has else []
        pattern += ['(?P<mode>[A-Za-z]*)'] if 'misc' in self.fields else []
        if 'time' in self.fields:
            pattern.append(r'(?P<sec>\d+)\.(?P<part>\d{6}|\d{9}):')
        event = r'(?P<event>\S+):' if 'event' in self.fields else ''
        return (pattern or event) and re.compile(r' *%s(?:%s|%s)\s*$' % (
            ''.join(part + r'\s+' for part in pattern), event, DEFERRED))

    def frame_pattern(self, file):
        pattern = r'\t\s*(?P<ip>[0-9a-f]+)'
        if 'sym' in self.fields:
            pattern += ' (?P<sym>.*)'
        if 'dso' in self.fields:
            pattern += r' \((?P<dso>%s)\)' % file
        return pattern + r'\s*$'

    def new_frame(self, line):
        match = self.is_frame[0].match(line) or self.is_frame[1].match(line)
        if not match:
            return None
        has = match.groupdict()
        sym, dso, symoff, off = has.get('sym'), has.get('dso'), None, None
        inlined = dso == 'inlined'
        if sym is not None and 'dso' not in self.fields:
            inlined = sym.endswith(' (inlined)')
            sym = sym.removesuffix(' (inlined)')
        if sym is not None and 'symoff' in self.fields:
            sym, symoff = split_offset(sym)
        if dso is not None and 'dsoff' in self.fields:
            dso, off = split_offset(dso)
        return Frame(int(has['ip'], 16), known(sym), symoff,
                     None if inlined else known(dso), off, inlined)

    def frame(self, line):
        """None if the line is not a frame."""
        if line not in self.cache:
            self.cache[line] = self.new_frame(line)
        return self.cache[line]

    def head(self, line):
        """A sample without frames; None if the line is not its head."""
        match = self.is_head and self.is_head.match(line)
        if not match:
            return None
        has = match.groupdict()
        time = int(has['sec'] + has['part'].ljust(9, '0')) \
            if 'sec' in has else None
        pid, tid = (int(has[key]) if key in has else None
                    for key in ('pid', 'tid'))
        return Sample(has.get('comm'), pid, tid, has.get('mode'), time,
                      has.get('event'), [])

    def start(self, line):
        """The same of the first line, which is a frame if there are no heads."""
        if self.is_head:
            return self.head(line)
        frame = self.frame(line)
        return frame and Sample(*[None] * 6, [frame])


def samples(text, fields=FIELDS, name='perf script'):
    """Samples of a string, or of lines."""
    if isinstance(text, str):
        text = io.StringIO(text)
    form, sample = Format(fields), None
    for number, line in enumerate(text, 1):
        if not line.endswith('\n'):
            return
        if not line.strip():
            if sample:
                yield sample
            sample = None
        elif sample:
            frame = form.frame(line)
            if not frame:
                raise ParseError('%s: line %d: no frame' % (name, number))
            sample.frames.append(frame)
        elif ' PERF_RECORD_' not in line:
            sample = form.start(line)
            if not sample:
                raise ParseError('%s: line %d: no sample header' %
                                 (name, number))
    if sample:
        yield sample


def read(path, fields=FIELDS):
    with open(path, encoding='utf-8', errors='surrogateescape') as file:
        return list(samples(file, fields, path))


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


def words(sample, frames, with_ip):
    """A line of a sample."""
    for value in sample.comm, sample.pid, sample.tid:
        if value is not None:
            yield str(value)
    for frame in frames:
        offset = '' if frame.symoff is None else '+0x%x' % frame.symoff
        yield ('%x:' % frame.ip if with_ip else '') + frame.name + offset


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--ip', action='store_true')
    parser.add_argument('--user', action='store_true')
    parser.add_argument('--separator', default=' ')
    parser.add_argument('fields')
    arguments = parser.parse_args()
    for file in sys.stdin, sys.stdout:
        file.reconfigure(encoding='utf-8', errors='surrogateescape')
    try:
        for sample in samples(sys.stdin, arguments.fields):
            frames = user_frames(sample) if arguments.user else sample.frames
            print(arguments.separator.join(words(sample, frames, arguments.ip)))
    except (ParseError, ValueError) as error:
        sys.exit('perfscript.py: %s' % error)


if __name__ == '__main__':
    main()
