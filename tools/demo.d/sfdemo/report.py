# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""The figures as text, and what was promised of them."""

WORKLOADS = ('c-trampolines', 'python', 'python-defer')
MODES = ('before', 'after')
# Besides: Python says itself which functions it runs.
ASSISTED = {'python-defer': ('assisted',)}
TITLES = {'before': 'without', 'after': 'with', 'assisted': 'assisted'}
MINIMUM_SAMPLES = 10000

# figure -> least value after; a figure that is None is a miss.
PROMISED = {
    'c-trampolines': {'complete': 1.0, 'exact': 1.0, 'direct_caller': 1.0},
    'python': {'complete': 0.999, 'python_named': 1.0,
               'direct_caller': 0.999},
    'python-defer': {'complete': 0.999, 'python_named': 1.0,
                     'direct_caller': 0.999},
}
# Where a loop is about to have a function, the reader may leave a stack to the
# kernel, which knows none.
PROMISED_ASSISTED = {
    'python-defer': {'complete': 0.999, 'python_named': 0.999},
}
# Largest shares of the samples that are of the answering itself, and of a loop
# that begins or ends.
MOST_ASSISTED = {'answering': 0.05, 'at_edge': 0.02}

COLUMNS = (
    ('samples', 'samples', 'd'), ('frames_per_sample', 'frames', 'f'),
    ('complete', 'complete', '%'), ('exact', 'exact', '%'),
    ('direct_caller', 'direct caller', '%'),
    ('python_named', 'named', '%'),
    ('python_functions_per_sample', 'Python functions', 'f'),
    ('bytes_per_sample', 'bytes', 'd'),
)

LEGEND = (
    ('samples', 'taken in user mode after the workload began'),
    ('frames', 'mean length of the stacks'),
    ('complete', "stacks whose last frame is the thread's first function"),
    ('exact', 'stacks equal to the known true stack, address by address'),
    ('direct caller', 'trampoline frames followed by their true caller'),
    ('named', 'Python functions on the stacks that have their name'),
    ('Python functions', 'named Python functions per stack'),
    ('bytes', 'of perf.data for each sample'),
)


def modes(workload):
    return MODES + ASSISTED.get(workload, ())


def percent(value):
    """Never rounds up to 100 %."""
    text = '%.2f' % (100 * value)
    if value < 1 and text == '100.00':
        text = '99.99'
    return text + ' %'


def cell(value, form):
    if value is None:
        return '-'
    if form == '%':
        return percent(value)
    return '%.1f' % value if form == 'f' else '%d' % round(value)


def rows(result):
    for workload in WORKLOADS:
        for mode in modes(workload):
            figures = result.get(workload, {}).get(mode)
            if figures is not None:
                yield [workload, mode] + [
                    cell(figures.get(key), form) for key, _, form in COLUMNS]


def table(result):
    lines = [['workload', 'sfjit'] + [title for _, title, _ in COLUMNS]]
    lines += [[row[0], TITLES[row[1]]] + row[2:] for row in rows(result)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = []
    for line in lines:
        cells = [value.ljust(width) if i < 2 else value.rjust(width)
                 for i, (value, width) in enumerate(zip(line, widths))]
        text.append('  '.join(cells).rstrip())
    return '\n'.join(text) + '\n'


def legend():
    return ''.join('  %-17s %s\n' % item for item in LEGEND)


def sentence(workload, figures):
    before, after = figures['before'], figures['after']
    return ('%s: without sfjit %s of the stacks are complete (%.1f frames in '
            'the mean), with it %s (%.1f frames).\n' % (
                workload, percent(before['complete']),
                before['frames_per_sample'], percent(after['complete']),
                after['frames_per_sample']))


def words(result):
    return ''.join(sentence(workload, result[workload])
                   for workload in WORKLOADS if workload in result)


def too_few(result):
    for workload in WORKLOADS:
        for mode in modes(workload):
            nr = result[workload][mode]['samples']
            if nr < MINIMUM_SAMPLES:
                yield '%s, %s: %d samples, at least %d are needed' % (
                    workload, mode, nr, MINIMUM_SAMPLES)


def registered_before(result):
    """Without sfjit means that the kernel knew no window at all."""
    nr = result['c-trampolines']['before']['windows']
    if nr:
        yield 'c-trampolines, before: %d windows were registered' % nr


def promises():
    """workload, mode, {figure: least value} of each"""
    for mode, table_ in (('after', PROMISED), ('assisted', PROMISED_ASSISTED)):
        for workload, promised in table_.items():
            yield workload, mode, promised


def missed(result):
    for workload, mode, promised in promises():
        for key, least in promised.items():
            value = result[workload][mode][key]
            if value is None or value < least:
                yield '%s: %s is %s, promised is %s' % (
                    workload, key,
                    'not measurable' if value is None else '%.5f' % value,
                    least)
    for workload in PROMISED_ASSISTED:
        for key, most in MOST_ASSISTED.items():
            value = result[workload]['assisted'][key]
            if value is None or value > most:
                yield '%s: %s is %s, at most %s is promised' % (
                    workload, key, cell(value, '%'), cell(most, '%'))
