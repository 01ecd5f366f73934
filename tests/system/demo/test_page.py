# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Checks what Chromium made of the page; called by page.sh.

Usage: test_page.py DIRECTORY PAGE
"""
import inspect
import re
import struct
import sys
import zlib

sys.path.append(sys.path[0] + '/../../lib')

from tap import check_each, finish

COLOURS = {
    'python': (0xf2, 0xc1, 0x4e), 'tramp': (0xef, 0x83, 0x54),
    'program': (0x8f, 0xb8, 0xde), 'library': (0xa9, 0xd6, 0xa5),
    'ours': (0xc3, 0xae, 0xd6), 'unknown': (0xd0, 0xd0, 0xd0),
    'found': (0xff, 0x7a, 0xc0),
}
# The legend shows each colour once, in a box of 16 x 14.
LEGEND = 16 * 14
CHARTS = 7


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfilter(kind, line, above, step):
    if kind == 2:
        return bytearray((x + y) & 255 for x, y in zip(line, above))
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        line[i] = (line[i] + (
            0, left, 0, (left + above[i]) // 2,
            paeth(left, above[i], corner))[kind]) & 255
    return line


def png(path):
    """(width, height, {colour: number of pixels})"""
    with open(path, 'rb') as file:
        data = file.read()
    check(data[:8] == b'\x89PNG\r\n\x1a\n', path + ' is no PNG')
    width, height, depth, kind = struct.unpack_from('>IIBB', data, 16)
    check(depth == 8 and kind in (2, 6), 'unexpected kind of PNG')
    step, at, packed = {2: 3, 6: 4}[kind], 8, b''
    while at < len(data):
        size, name = struct.unpack_from('>I4s', data, at)
        if name == b'IDAT':
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    return width, height, count(zlib.decompress(packed), width, height, step)


def count(raw, width, height, step):
    stride, above, colours = width * step, bytearray(width * step), {}
    for y in range(height):
        start = y * (stride + 1)
        line = bytearray(raw[start + 1:start + 1 + stride])
        if raw[start]:
            line = unfilter(raw[start], line, above, step)
        above = line
        for x in range(0, stride, step):
            key = (line[x], line[x + 1], line[x + 2])
            colours[key] = colours.get(key, 0) + 1
    return colours


def read(path):
    with open(path, encoding='utf-8', errors='replace') as file:
        return file.read()


def boxes(dom):
    return re.findall(r'<g [^>]*name="([^"]*)"[^>]*class="frame', dom)


class Page:
    def __init__(self, directory, page):
        self.source = read(page)
        self.plain = read(directory + '/plain.dom')
        self.found = read(directory + '/found.dom')
        self.log = read(directory + '/plain.log')
        self.plain_png = png(directory + '/plain.png')
        self.found_png = png(directory + '/found.png')

    def test_title_and_figures(self):
        check('<title>sfjit: perf record --call-graph=fp before and after<'
              in self.plain, 'no title')
        for value in ('66.67 %', '100.00 %', '50.00 %', '25.00 %'):
            check('<td>%s</td>' % value in self.plain, 'no ' + value)

    def test_all_charts_are_drawn(self):
        check('data-ready="%d"' % CHARTS in self.plain, 'script did not end')
        roots = boxes(self.plain).count('all user samples')
        check(roots == CHARTS, '%d charts, not %d' % (roots, CHARTS))

    def test_functions_are_in_the_charts(self):
        names = boxes(self.plain)
        for name in ('tramp:f2', 'main', '_start', 'spin',
                     'py::work:/demo/workload.py', '[libc.so.6+0x400300]',
                     'cut stacks: callers unknown', 'complete stacks'):
            check(name in names, 'no box for ' + name)

    def test_search_says_how_much(self):
        check('class="note">found' not in self.plain, 'found without search')
        for share, charts in ('75.00', 2), ('100.00', 3):
            nr = self.found.count('class="note">found on %s %% of' % share)
            check(nr == charts, '%d charts with %s %% found' % (nr, share))
        check(self.found.count('class="note">not found<') == 2,
              'found in c-trampolines')

    def test_nothing_is_loaded(self):
        sources = re.findall(r'(?:src|href)\s*=\s*"([^"]*)"', self.source)
        check(sources == ['data:,'], 'loads %r' % sources)
        check('@import' not in self.source and 'fetch(' not in self.source,
              'can load')
        check('NAME_NOT_RESOLVED' not in self.log, 'tried to load')

    def test_no_error_on_the_console(self):
        check('CONSOLE' not in self.log, 'console: ' + self.log[-2000:])

    def test_picture_has_the_colours(self):
        colours = self.plain_png[2]
        for name, colour in COLOURS.items():
            pixels = colours.get(colour, 0)
            if name == 'found':
                check(pixels <= LEGEND, 'found without search')
            else:
                check(pixels > 2 * LEGEND, '%s: %d pixels' % (name, pixels))

    def test_picture_shows_what_was_found(self):
        check(self.found_png[2].get(COLOURS['found'], 0) > 10 * LEGEND,
              'nothing is marked')

    def test_picture_is_of_the_size(self):
        check(self.plain_png[:2] == (1600, 1800), 'size %r' % (
            self.plain_png[:2],))


def main(directory, path):
    check_each('demo page:', inspect.getmembers(Page(directory, path)))
    finish()


if __name__ == '__main__':
    main(*sys.argv[1:])
