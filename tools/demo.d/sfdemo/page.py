# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""One HTML page with everything in it."""
import html
import json
import os

from . import report

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

KEYS = (
    ('python', 'Python function (its trampoline)'),
    ('tramp', 'trampoline'),
    ('program', 'program / interpreter'),
    ('library', 'shared library'),
    ('ours', 'sfjit'),
    ('unknown', 'address outside all code'),
    ('found', 'found by search'),
)

ABOUT = {
    'c-trampolines': 'C code with frame pointers: f0 to f19 call each other '
                     'through trampolines that keep none, of three kinds in '
                     'turn.',
    'python': "Debian's python3.13 running a log analyser (json, re, sqlite3, "
              'zlib, threads).',
    'python-defer': 'The same program; the kernel walks the stack on return '
                    'to user mode (fp,defer). On the right no trampolines: the '
                    'kernel asks Python itself for the functions it runs.',
}

HEADINGS = {'before': 'Without sfjit', 'after': 'With sfjit',
            'assisted': 'With sfjit, assisted'}


def asset(name):
    with open(os.path.join(HERE, name), encoding='utf-8') as file:
        return file.read()


def escape(text):
    return html.escape(str(text), quote=True)


def embed(value):
    """JSON that cannot end the script element it is put in."""
    text = json.dumps(value, separators=(',', ':'))
    return text.replace('<', '\\u003c')


def head_cells():
    titles = ['workload', 'sfjit'] + [c[1] for c in report.COLUMNS]
    return ''.join('<th>%s</th>' % escape(title) for title in titles)


def table(result):
    lines = ['<table id="figures"><tr>%s</tr>' % head_cells()]
    for row in report.rows(result):
        cells = [row[0], report.TITLES[row[1]]] + row[2:]
        lines.append('<tr class="%s">%s</tr>' % (row[1], ''.join(
            '<td>%s</td>' % escape(cell) for cell in cells)))
    return '\n'.join(lines + ['</table>'])


def meanings():
    return '<dl>%s</dl>' % ''.join(
        '<dt>%s</dt><dd>%s</dd>' % (escape(a), escape(b))
        for a, b in report.LEGEND)


def key_line(keys):
    return ''.join(
        '<span class="key"><i style="background:var(--%s)"></i>%s</span>' %
        (name, escape(text)) for name, text in keys)


def part(mode, text, command):
    """One of the graphs beside each other."""
    return '''<div class="%s">
<h3>%s: %s</h3>
<div class="cmd">%s</div>
<p class="note"></p><div class="chart"></div><div class="hover"></div>
</div>''' % (mode, HEADINGS[mode], escape(text), escape(command))


def pair(name, about, parts):
    return '''<h2>%s</h2>
<p>%s</p>
<div class="pair%s" data-workload="%s">
%s
</div>''' % (escape(name), escape(about), ' three' if len(parts) == 3 else '',
              escape(name), '\n'.join(parts))


def section(workload, figures, commands):
    return pair(workload, ABOUT[workload], [
        part(mode, '%s of the stacks complete, %.1f frames each' % (
            report.percent(figures[mode]['complete']),
            figures[mode]['frames_per_sample']), commands[workload][mode])
        for mode in report.modes(workload)])


PAGE = '''<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>%(title)s</title>
<style>
%(vendor_css)s
%(css)s
</style>
</head>
<body>
<h1>%(heading)s</h1>
%(intro)s
%(table)s
%(meanings)s
<div class="bar">
<label>Search <input id="search" type="search"
placeholder="part of a function name"></label>
<button id="reset" type="button">Reset</button>
%(keys)s
</div>
<p>Each box is a function, its width the share of user samples it is on; below
it is its caller. A stack that does not reach the first function of its thread
stands on &ldquo;%(cut)s&rdquo;. A name in brackets is a function
without symbol: its file and address there; addresses outside all code that
follow each other are one box. Click to zoom in, click a lower box to zoom
out.</p>
%(sections)s
<script type="application/json" id="data">%(data)s</script>
<script>
%(vendor_js)s
</script>
<script>
%(js)s
</script>
</body>
</html>
'''


# By the last word that uname -rm says.
MACHINES = {
    's390x': '''<p>Programs for s390x have neither frame pointers nor back
chains: nothing tells a caller without sfjit. The C workload was compiled with back
chains, which its trampolines lack. CPython&rsquo;s own trampolines, which name its
functions on other machines, are not for this one.</p>''',
    'aarch64': '''<p>Programs of AArch64 have frame records, so that stacks of
Python end where they should without sfjit, too. What they lack then is the
caller of a function that has no record, or none yet. Some of these perf adds
itself, with --call-graph=fp, less one byte; where the kernel has found it, perf
shows it twice, and this page once.</p>''',
}

INTRO = '''<p>Same unmodified perf, same unmodified programs, same kernel (%s,
sfjit series applied). Left: nothing registered. Beside it the kernel was given
SFrame tables for the program, its libraries and the trampolines.</p>'''


def document(parts, keys, trees):
    """
    The page. @parts: its texts, as HTML: title, heading, intro, table,
    meanings, sections and cut. @keys: as KEYS. @trees: by name of a pair.
    """
    return PAGE % dict(parts, keys=key_line(keys), data=embed(trees),
                       vendor_css=asset('vendor/flamegraph.bundle.css'),
                       vendor_js=asset('vendor/flamegraph.bundle.js'),
                       css=asset('page.css'), js=asset('page.js'))


def page(result, trees, commands, kernel, cut):
    return document({
        'title': 'sfjit: perf record --call-graph=fp before and after',
        'heading': 'What perf record --call-graph=fp sees, without and with '
                   'sfjit',
        'intro': INTRO % escape(kernel) +
                 MACHINES.get(kernel.split()[-1], ''),
        'table': table(result),
        'meanings': '<details><summary>What the columns mean</summary>'
                    '%s</details>' % meanings(),
        'sections': '\n'.join(section(w, result[w], commands)
                              for w in report.WORKLOADS if w in result),
        'cut': escape(cut),
    }, KEYS, trees)
