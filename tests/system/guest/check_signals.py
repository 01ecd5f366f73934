# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""check_signals.py LOG SAMPLES NAME [without | enough]: are the stacks of SAMPLES
(perf script -F tid,time,ip,sym --ns) those that the program of signals.c left in
LOG? With `without', where there are no windows, none may be. With `enough' the
status says whether there are as many as that takes."""
import collections
import os
import sys

sys.path.append(sys.path[0] + '/../../lib')

import perfscript
from tap import check, finish

Phase = collections.namedtuple('Phase', 'name tid start end')
Record = collections.namedtuple('Record',
                                'phase tid start end restorer ip chain')
Sample = collections.namedtuple('Sample', 'tid time kernel frames')

SYSCALL_END = 9         # of mov $15,%rax; syscall
FEWEST = 20             # samples of a phase, of 80 handlers

HANDLERS = {'deep': ['dive', 'on_deep'], 'fault': ['on_fault'],
            'escape': ['on_escape'], 'nested-8': ['on_nested'] * 8,
            'nested-9': ['on_nested'] * 9, 'nested-timer': ['on_two'] * 2}
# What is interrupted on purpose; where a timer does it, only mostly.
WORK = {'raise': ['work_raise'], 'deep': ['work_deep', 'work_down'],
        'fault': ['signals_poke', 'work_fault'], 'escape': ['work_escape'],
        'nested-8': ['work_raise']}
TIMED = {'copy': 'work_copy', 'regcomp': 'work_regcomp'}
# At most 8 signals a walk; a restorer without call frame information.
SIGNALS_SHOWN = {'nested-9': 8, 'bare': 0}

def read_log(path):
    phases, records, windows = [], [], []
    for line in open(path, encoding='ascii'):
        kind, *words = line.split()
        if kind == 'phase':
            phases.append(Phase(words[0], *map(int, words[1:])))
        elif kind == 'record':
            addresses = [int(word, 16) for word in words[4:]]
            records.append(Record(words[0], *map(int, words[1:4]),
                                  *addresses[:2], addresses[2:]))
        else:
            windows.append(words)
    return phases, records, windows


def split(sample):
    """Its frames of the kernel apart."""
    kernel = [frame.name for frame in sample.frames
              if frame.ip >= perfscript.KERNEL]
    return Sample(sample.tid, sample.time, kernel, [
        (frame.ip, frame.name) for frame in sample.frames
        if frame.ip < perfscript.KERNEL])


def read_samples(path):
    return list(map(split, perfscript.read(path, 'tid,time,ip,sym')))


def is_known(record):
    """Not where the C library runs through the nops between two functions, as
    from __memset_chk() into memset(): no call frame information is of these, and
    the unwinder ends there."""
    return record.chain[-1] != record.ip


def wanted(record):
    """The frames that are around spin(), and those that perf is to show."""
    chain = record.chain[1:]
    signals = [i for i, ip in enumerate(chain) if ip == record.restorer]
    shown = SIGNALS_SHOWN.get(record.phase, len(signals))
    return chain[:signals[shown] + 1] if shown < len(signals) else chain


def is_exact(found, record):
    want = wanted(record)
    inner = len(found.frames) - len(want)
    return (inner > 0 and
            [ip for ip, _ in found.frames[inner:]] == want and
            found.frames[inner - 1][1] == 'spin')


def is_right(found, record, phase):
    """Of an unknown stack the handler, its caller and the program's functions."""
    if is_known(record):
        return is_exact(found, record) and has_names(found, phase)
    around = [ip for ip, _ in found.frames]
    chain = record.chain[1:]
    return has_names(found, phase) and any(
        around[i:i + len(chain)] == chain for i in range(len(around)))


def has_names(found, phase):
    """The program's own functions, each where it is."""
    handlers = HANDLERS.get(phase.name, ['on_signal'])
    names = ['spin'] + handlers
    if phase.name not in SIGNALS_SHOWN:
        names += WORK.get(phase.name, []) + ['run_phase']
        names += (['thread_main'] if phase.name == 'thread' else
                  ['main', '_start'])
    # each is found after the one before
    found_names = iter([name for _, name in found.frames])
    return all(name in found_names for name in names)


def of_phase(phase, items, time):
    return [item for item in items if item.tid == phase.tid and
            phase.start <= time(item) <= phase.end]


def show(found):
    return ' '.join('%x:%s' % frame for frame in found.frames) + \
        ' in the kernel: ' + ' '.join(found.kernel)


def check_records(phase, records):
    """The kernel's own signal frame says the same as the unwinder."""
    bad = [record for record in records if record.chain[
        record.chain.index(record.restorer) + 1] != record.ip]
    known = len([record for record in records if is_known(record)])
    check(name + phase.name + ': %d handlers, the stacks of %d are known' %
          (len(records), known), known >= 40 and not bad, bad[:1])


def in_handlers(records, samples):
    """Samples with the innermost handler that each is of."""
    pairs = []
    for found in samples:
        around = [record for record in records
                  if record.start <= found.time <= record.end]
        if around:
            pairs.append((found, max(around, key=lambda r: r.start)))
    return pairs


def is_late(found):
    """Documented for fp,defer: taken while the stack of an earlier one is on
    its way to perf; in place of its own it has that one's number."""
    return (found.kernel and len(found.frames) == 1 and
            found.frames[0][1] == '[unknown]')


def check_late(phase, samples):
    late = len([found for found in samples if is_late(found)])
    if 'defer' in name:
        check(name + phase.name + ': %d samples on the way out of the kernel'
              % late, late * 10 <= len(samples), len(samples))
        samples = [found for found in samples if not is_late(found)]
    return samples


def check_interrupted(phase, pairs):
    """The timer came while that was at work, not only around it."""
    work = TIMED.get(phase.name, 'work_sort')
    inside = [found for found, _ in pairs
              if work in [symbol for _, symbol in found.frames]]
    if phase.name not in WORK and phase.name not in SIGNALS_SHOWN:
        check(name + phase.name + ': %d samples interrupt %s' %
              (len(inside), work), len(inside) * 8 >= len(pairs), len(pairs))


def check_handlers(phase, pairs):
    bad = [(found, record) for found, record in pairs
           if not is_right(found, record, phase)]
    why = 'too few'
    if bad:
        why = '%d wrong, first: %s, wanted: %s' % (
            len(bad), show(bad[0][0]),
            ' '.join('%x' % ip for ip in wanted(bad[0][1])))
    check(name + phase.name + ': all %d samples in handlers' % len(pairs),
          len(pairs) >= FEWEST and not bad, why)


def may_be_short(found, restorer):
    """Documented: behind the system call of the restorer; while the kernel is
    about to exchange one set of registers for the other."""
    between = {'__x64_sys_rt_sigreturn', '__do_sys_rt_sigreturn',
               'arch_do_signal_or_restart'}
    return (not found.frames or
            found.frames[0][0] == restorer + SYSCALL_END or
            not between.isdisjoint(found.kernel))


def check_complete(phase, records, samples):
    """Also those before, between and after."""
    ends = {record.chain[-1] for record in records if is_known(record)}
    short = [found for found in samples
             if not found.frames or found.frames[-1][0] not in ends]
    bad = [found for found in short
           if not may_be_short(found, records[0].restorer)]
    check(name + phase.name + ': all %d samples are complete, but %d at the '
          'end of a handler' % (len(samples), len(short) - len(bad)),
          samples and not bad and len(short) * 10 <= len(samples),
          '%d not, first: %s' % (len(bad), show(bad[0]) if bad else '-'))


def check_phase(phase, records, samples):
    records = of_phase(phase, records, lambda record: record.start)
    samples = of_phase(phase, samples, lambda found: found.time)
    samples = check_late(phase, samples)
    check_records(phase, records)
    pairs = in_handlers(records, samples)
    check_handlers(phase, pairs)
    check_interrupted(phase, pairs)
    if phase.name not in SIGNALS_SHOWN:
        check_complete(phase, records, samples)


def check_windows(records, windows):
    """The byte in front of the restorer is in its window."""
    ranges = [[int(part, 16) for part in words[0].split('-')]
              for words in windows if '-' in words[0]]
    counts = {words[0]: int(words[1]) for words in windows
              if len(words) == 2}
    restorers = {record.restorer for record in records}
    outside = [hex(ip) for ip in restorers
               if not any(start <= ip - 1 and ip + SYSCALL_END <= end
                          for start, end in ranges)]
    check(name + 'windows have the byte in front of the restorer',
          len(restorers) == 2 and not outside, (restorers, outside))
    check(name + 'refused: the ninth signal, code without information',
          counts['signal'] > 0 and counts['no_row'] > 0, counts)


def check_without(records, samples):
    pairs = in_handlers(records, samples)
    exact = [found for found, record in pairs if is_exact(found, record)]
    check(name + 'without windows none of %d samples is right' % len(pairs),
          len(pairs) >= FEWEST and not exact, len(exact))


def are_enough(phase, records, samples):
    records = of_phase(phase, records, lambda record: record.start)
    samples = of_phase(phase, samples, lambda found: found.time)
    return len(in_handlers(records, samples)) >= 2 * FEWEST


def main():
    phases, records, windows = read_log(sys.argv[1])
    samples = read_samples(sys.argv[2])
    if sys.argv[4:] == ['enough']:
        # It has no cases.
        os._exit(not all(are_enough(phase, records, samples)
                         for phase in phases))
    if sys.argv[4:] == ['without']:
        check_without(records, samples)
        return
    for phase in phases:
        check_phase(phase, records, samples)
    check('%s14 phases' % name, len(phases) == 14, len(phases))
    check_windows(records, windows)


name = sys.argv[3] + ', '
main()
finish()
