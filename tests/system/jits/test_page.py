# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""test_page.py PAGE [DOM]: what tools/jits --page makes of page_output.py.

DOM is what a browser made of it.
"""
import html.parser
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib')]
sys.dont_write_bytecode = True

from tap import check_each, finish
import page_output as made


def equal(got, want):
    if got != want:
        raise AssertionError('%r, not %r' % (got, want))


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


class Page(html.parser.HTMLParser):
    """Texts of the elements that matter, and the data of the charts."""

    def __init__(self, source):
        super().__init__()
        self.texts, self.rows, self.pairs, self.inside = [], [], [], []
        self.data = None
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.inside = [tag, attributes.get('class'), attributes.get('id')]
        if tag == 'tr':
            self.rows.append([])
        if 'data-workload' in attributes:
            self.pairs.append(attributes['data-workload'])

    def handle_data(self, data):
        tag, kind, name = (self.inside + [None] * 3)[:3]
        if tag == 'script' and name == 'data':
            self.data = json.loads(data)
        elif tag in ('td', 'th'):
            self.rows[-1].append(data)
        elif tag in ('title', 'h1', 'h2', 'h3', 'p') or kind == 'cmd':
            self.texts.append(data)

    def handle_endtag(self, tag):
        self.inside = []


page = Page(read(sys.argv[1]))
dom = read(sys.argv[2]) if len(sys.argv) > 2 else None


def test_figures():
    nothing = ['0', '-', '-', '0']
    equal(page.rows, [
        ['program', 'call graph', 'samples', 'complete', 'exact',
         'silently wrong'],
        ['lli', 'fp, without sfjit', '3', '100.00 %', '33.33 %', '2'],
        ['lli', 'fp', '2', '100.00 %', '100.00 %', '0'],
        ['lli', 'fp,defer', '2', '100.00 %', '100.00 %', '0'],
        ['node', 'fp, without sfjit', '8', '0.00 %', '0.00 %', '0'],
        ['node', 'fp', '8', '87.50 %', '75.00 %', '1'],
        ['node', 'fp,defer', '4', '100.00 %', '100.00 %', '0'],
        ['python', 'fp, without sfjit'] + nothing,
        ['python', 'fp'] + nothing, ['python', 'fp,defer'] + nothing])


def test_programs_with_stacks_have_graphs():
    equal(page.pairs, ['lli', 'node'])


def test_data_are_the_trees():
    equal(page.data, {name: item['trees']
                      for name, item in made.SHOWN.items()})


def has(text):
    equal(text in page.texts, True)


def test_what_was_lost():
    has('Lost with sfjit: none')
    has('Lost with sfjit: 1 cut in generated code; 1 ' + made.LOST)


def test_shares_and_commands():
    has('With sfjit: 75.00 % of the stacks exact')
    has('Without sfjit: 33.33 % of the stacks exact')
    has('perf record before <node>')
    has('perf record fp <node>')


def test_kernel():
    equal([text for text in page.texts if made.KERNEL in text],
          ['Programs of Debian 13 as they are, in a guest with Linux %s and\n'
           'the sfjit series. Left: plain perf. Right: under ' % made.KERNEL])


if dom is not None:
    def test_charts_are_drawn():
        equal(re.findall('data-ready="(.*?)"', dom), ['4'])
        names = re.findall(r'<g [^>]*name="([^"]*)"[^>]*class="frame', dom)
        equal(sorted(names), sorted(
            ['all user samples'] * 4 + ['complete stacks'] * 3 +
            ['cut stacks: callers unknown', '[libc.so.6+0x1]', 'JS:beta',
             '&lt;/script&gt;', 'main', 'jit::a']))


check_each('jits page:', list(globals().items()))
finish()
