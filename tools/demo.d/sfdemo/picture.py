# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Two flame graphs beside each other as a still picture, for README.md."""
from xml.sax.saxutils import escape

from . import flame

# Those of page.css.
COLOURS = {
    flame.PYTHON: '#f2c14e', flame.TRAMPOLINE: '#ef8354',
    flame.PROGRAM: '#8fb8de', flame.LIBRARY: '#a9d6a5',
    flame.OURS: '#c3aed6', flame.UNKNOWN: '#d0d0d0', flame.GROUP: '#eceff1',
}

WIDTH, GAP, HEAD, FOOT = 440, 20, 44, 8
ROW = 11
LETTER = 4.6            # of a monospaced font of 7.5 pixels
LEAST = 2             # narrower boxes are left out

SVG = '''<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d"
font-family="DejaVu Sans Mono, Consolas, monospace" font-size="7.5">
<!-- SPDX-License-Identifier: MIT -->
<!-- SPDX-FileCopyrightText: 2026 The sfjit authors -->
<title>%s</title>
<rect width="100%%" height="100%%" fill="#fff"/>
%s
</svg>
'''


def boxes(tree, left, width, level=0):
    """(left, width, level, node) of each box that can be seen."""
    if width < LEAST:
        return
    yield left, width, level, tree
    for child in tree.get('c', ()):
        part = width * child['v'] / tree['v']
        yield from boxes(child, left, part, level + 1)
        left += part


def printable(text):
    return ''.join(c if c.isprintable() else '?' for c in text)


def label(name, width):
    """As much of @name as fits."""
    room = int((width - 3) / LETTER)
    return escape(printable(name)[:room]) if room >= 3 else ''


def drawn(box, bottom):
    left, width, level, node = box
    top = bottom - (level + 1) * ROW
    text = label(node['n'], width)
    out = '<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (
        left, top, max(width - 0.4, 0.4), ROW - 1, COLOURS[node['k']])
    if text:
        out += '<text x="%.1f" y="%d">%s</text>' % (left + 2, top + 7, text)
    return out


def graph(seen, title, left, bottom):
    lines = ['<text x="%d" y="20" font-size="12" font-weight="bold" '
             'font-family="sans-serif">%s</text>' % (left, escape(title))]
    return '\n'.join(lines + [drawn(box, bottom) for box in seen])


def picture(title, pair):
    """@pair: [(title, tree)], from the left."""
    lefts = [i * (WIDTH + GAP) for i in range(len(pair))]
    seen = [list(boxes(tree, left, WIDTH))
            for left, (_, tree) in zip(lefts, pair)]
    bottom = HEAD + ROW * (1 + max(box[2] for part in seen for box in part))
    graphs = [graph(part, text, left, bottom)
              for part, left, (text, _) in zip(seen, lefts, pair)]
    return SVG % (lefts[-1] + WIDTH, bottom + FOOT, escape(title),
                  '\n'.join(graphs))
