# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""test_flamegraph.py DIRECTORY: what Chromium made of the pages of flamegraph.py."""
import html
import html.parser
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib')]
sys.dont_write_bytecode = True

from tap import check_each, finish
import flamegraph as made

DIRECTORY = sys.argv[1]
LEAST, LABELLED = 0.5, 15


def equal(got, want):
    if got != want:
        raise AssertionError('%r, not %r' % (got, want))


def read(name):
    with open('%s/%s' % (DIRECTORY, name), encoding='utf-8',
              errors='replace') as file:
        return file.read()


def said(name):
    return json.loads(html.unescape(
        re.search(r'<pre id="said">(.*?)</pre>', read(name + '.dom'), re.S)[1]))


stacks = said('stacks')
WIDTH = stacks['width']


def total(node):
    return node['v'] + sum(map(total, node['c']))


ALL = total(made.STACKS)
FOUND = 'found on 25.01 % of the samples'


def thousands(value):
    return '{:,}'.format(value)


def label(node, caller):
    nr = total(node)
    text = '%s: %s sample%s, %.2f %%' % (
        node['n'], thousands(nr), '' if nr == 1 else 's', 100 * nr / ALL)
    if caller:
        text += ', %.2f %% of those below' % (100 * nr / total(caller))
    return '%s; %s in itself' % (text, thousands(node['v']))


def kind(node):
    if node['l']:
        return 'all' if node['l'] == 'root' else 'kernel'
    name = node['n']
    return 'unknown' if name == '[unknown]' else \
        'python' if name.startswith('py::') else 'user'


def box(node, caller, row, left, width, below=False):
    """As boxes() of the page says it."""
    narrow = width < LABELLED
    return {'label': label(node, caller), 'left': left, 'width': width,
            'row': row, 'level': str(row + 1),
            'text': '' if narrow else node['n'],
            'kind': 'frame ' + kind(node) + (' caller' if below else '') +
            (' narrow' if narrow else '')}


def boxes(node, caller=None, row=0, left=0.0, width=float(WIDTH)):
    """Those that are drawn of @node and what it calls."""
    if width < LEAST:
        return
    yield box(node, caller, row, left, width)
    for callee in sorted(node['c'], key=lambda item: item['n']):
        part = width * total(callee) / total(node)
        yield from boxes(callee, node, row + 1, left, part)
        left += part


def path(*names):
    """[all, ..., the last of @names]"""
    found = [made.STACKS]
    for name in names:
        found.append(next(node for node in found[-1]['c']
                          if node['n'] == name))
    return found


def zoomed(nodes):
    """The boxes when the last one of @nodes has the whole width."""
    for row, node in enumerate(nodes[:-1]):
        yield box(node, nodes[row - 1] if row else None, row, 0.0,
                  float(WIDTH), True)
    yield from boxes(nodes[-1], nodes[-2] if nodes[1:] else None,
                     len(nodes) - 1)


def same_boxes(got, want):
    """Places to a hundredth of a pixel: layout is in 64ths."""
    equal([item['label'] for item in got], [item['label'] for item in want])
    for have, item in zip(got, want):
        for side in ('left', 'width', 'row'):
            if abs(have[side] - item[side]) > 1 / 32:
                raise AssertionError('%s of %s: %r, not %r' % (
                    side, item['label'], have[side], item[side]))
            have[side] = item[side]
        equal(have, item)


def test_each_box_has_the_width_of_its_samples():
    same_boxes(stacks['plain'], list(boxes(made.STACKS)))


def test_what_is_too_narrow_is_not_drawn():
    names = [item['label'].split(':')[0] for item in stacks['plain']]
    equal(('few' in names, 'fewer' in names), (True, False))


def test_a_click_zooms():
    nodes = path('prog (7)', '_start', 'main', 'few')
    same_boxes(stacks['zoomed'], list(zoomed(nodes)))


def test_a_click_on_a_caller_zooms_out():
    same_boxes(stacks['out'], list(boxes(made.STACKS)))


def test_hover():
    equal(stacks['hover'], label(*reversed(path(
        'prog (7)', '_start', 'main')[-2:])))


# Callers and callees, neighbours in a row (over the neighbours below as well),
# zoom, and what has no neighbour there.
def test_keys():
    equal(stacks['keys'], [
        'prog (7)', '_start', 'main', 'py::b:/x.py', 'py::b:/x.py',
        'py::b:/x.py', 'few', 'few', 'fewer', 'all', 'all', 'all', 'all',
        'all', 'all', '_start', 'search'])
    equal(stacks['about'], label(made.STACKS, None))


def test_one_box_is_reached_by_tab():
    equal(stacks['reached'], [['all'], ['all']])


def test_search():
    nodes = path('prog (7)', '_start', 'main', 'py::b:/x.py', 'A::b')
    equal(stacks['found'], [FOUND, [label(nodes[-2], nodes[-3])]])


def test_samples_with_two_functions_that_are_found_count_once():
    main = path('prog (7)', '_start', 'main')
    equal(stacks['nested'][0],
          'found on %.2f %% of the samples' % (100 * total(main[-1]) / ALL))


def test_nothing_is_found():
    equal(stacks['nothing'], ['not found', []])


def test_reset():
    equal(stacks['reset'][:2], ['', ''])
    same_boxes(stacks['reset'][2], list(boxes(made.STACKS)))


def test_search_in_the_address():
    equal(said('address')['note'], FOUND)


def test_header():
    equal((stacks['command'], stacks['header']), (made.COMMAND, made.HEADER))


def test_names_are_only_text():
    equal(['data-owned' in read(name + '.dom') for name in (
        'stacks', 'orange')], [False, False])
    equal('img' in Loads(read('stacks.dom')).tags, False)


def test_colour_schemes():
    equal((stacks['orange'], said('orange')['orange']), ('', 'orange'))


def test_light_and_dark():
    dark = said('dark')
    equal((stacks['back'], stacks['colour']),
          ('rgb(255, 255, 255)', 'rgb(29, 36, 41)'))
    equal((dark['back'], dark['colour']),
          ('rgb(20, 24, 27)', 'rgb(238, 242, 244)'))
    same_boxes(dark['plain'], list(boxes(made.STACKS)))


def test_options_that_hold_the_place_of_the_stacks():
    got = said('options')
    equal((got['command'], got['header']), ('', ''))
    same_boxes(got['plain'], list(boxes(made.STACKS)))


def test_no_samples():
    equal((said('empty')['plain'], 'id="about">No samples.<' in
           read('empty.dom')), ([], True))


def test_not_filled():
    equal(('id="about">No stacks: perf script report flamegraph -- --template '
           'FILE fills this page.<' in read('template.dom'),
           'class="frame' in read('template.dom')), (True, False))


def test_no_error_and_no_load():
    for name in ('stacks', 'empty', 'orange', 'options', 'template', 'dark',
                 'address'):
        log = read(name + '.log')
        equal((name, [line for line in log.splitlines()
                      if 'CONSOLE' in line or 'NAME_NOT_RESOLVED' in line]),
              (name, []))


class Loads(html.parser.HTMLParser):
    """What elements in front of the data would load, and which there are."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.sources = set(), []
        self.feed(source[:source.index('<plaintext id="data">')])

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.sources += [value for name, value in attributes
                         if name in ('src', 'href')]


def test_nothing_to_load():
    equal(Loads(read('stacks.dom')).sources, ['data:,'])


check_each('flame graph:', list(globals().items()))
finish()
