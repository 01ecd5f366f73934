# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""The figures as text and as a page."""
from sfdemo import flame
from sfdemo import page as demo
from sfdemo import report as figures

from . import judge

NAMES = ('lli', 'lli-mcjit', 'llvm-jitlink', 'llvm-rtdyld', 'postgres', 'qemu',
         'luajit', 'llvmpipe', 'hotspot', 'hotspot-changes', 'hotspot-yield',
         'node', 'node-native', 'ruby', 'php', 'php-jit', 'perl', 'python')
MODES = ('before', 'fp', 'defer')
TITLES = {'before': 'fp, without sfjit', 'fp': 'fp', 'defer': 'fp,defer'}
COLUMNS = ('program', 'call graph', 'samples', 'complete', 'exact',
           'silently wrong')
# Reasons that are given apart; the others of a program are one.
SHOWN = 4

KEYS = (
    ('python', 'generated code'),
    ('program', 'program'),
    ('library', 'shared library'),
    ('ours', 'sfjit'),
    ('unknown', 'address outside all code'),
    ('found', 'found by search'),
)

INTRO = '''<p>Programs of Debian 13 as they are, in a guest with Linux %s and
the sfjit series. Left: plain perf. Right: under <code>sfjit run</code>.</p>'''


def kind(frame):
    """Of a box: the page has the colour of each."""
    return flame.PYTHON if judge.is_generated(frame) else flame.kind(frame)


def silent(item):
    return sum(n for reason, n in item['lost'].items()
               if reason.startswith(judge.SILENT))


def percent(part, whole):
    return figures.percent(part / whole) if whole else '-'


def row(name, mode, item):
    nr = item['samples']
    return [name, TITLES[mode], str(nr), percent(item['complete'], nr),
            percent(item['exact'], nr), str(silent(item))]


def rows(result):
    for name in NAMES:
        for mode in MODES:
            if mode in result.get(name, {}):
                yield row(name, mode, result[name][mode])


def reasons(item):
    """The lost samples, the largest classes first."""
    lost = sorted(item['lost'].items(), key=lambda pair: (-pair[1], pair[0]))
    lines = [(n, reason) for reason, n in lost[:SHOWN]]
    if lost[SHOWN:]:
        lines.append((sum(n for _, n in lost[SHOWN:]), 'others'))
    return lines


def table(result):
    lines = [list(COLUMNS)] + list(rows(result))
    widths = [max(len(line[i]) for line in lines)
              for i in range(len(COLUMNS))]
    return ''.join('  '.join(
        cell.ljust(width) if i < 2 else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(line, widths))).rstrip() + '\n'
        for line in lines)


def losses(result):
    """(program, call graph, samples, reason) of runs with sfjit."""
    for name in NAMES:
        for mode in MODES[1:]:
            for n, reason in reasons(result[name][mode]) \
                    if name in result else []:
                yield name, TITLES[mode], n, reason


def text(result):
    return table(result) + ''.join(
        '%s, %s: %d %s\n' % loss for loss in losses(result))


def html_table(result):
    lines = [COLUMNS] + list(rows(result))
    cells = ['<tr>%s</tr>' % ''.join(
        '<%s>%s</%s>' % (tag, demo.escape(cell), tag) for cell in line)
        for tag, line in zip(['th'] + ['td'] * len(lines), lines)]
    return '<table id="figures">%s</table>' % '\n'.join(cells)


def section(name, result, shown):
    parts = []
    for part, mode in (('before', 'before'), ('after', 'fp')):
        item = result[mode]
        parts.append(demo.part(part, '%s of the stacks exact' % percent(
            item['exact'], item['samples']), shown['commands'][mode]))
    lost = '; '.join('%d %s' % pair for pair in reasons(result['fp']))
    return demo.pair(name, 'Lost with sfjit: ' + (lost or 'none'), parts)


def page(result, shown, cut):
    kernels = {item['kernel'] for item in shown.values()}
    return demo.document({
        'title': 'sfjit: programs that generate code',
        'heading': 'Programs that generate code, without and with sfjit',
        'intro': INTRO % demo.escape(', '.join(sorted(kernels))),
        'table': html_table(result), 'meanings': '',
        'sections': '\n'.join(section(name, result[name], shown[name])
                              for name in NAMES if name in shown),
        'cut': demo.escape(cut),
    }, KEYS, {name: item['trees'] for name, item in shown.items()})
