#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: rows.py MACHINE DUMP CODE EH_FRAME PROGRAM DOCUMENT

Description: at each instruction of CPython's trampoline the rows that its source
gives, with .cfi_*, lead to the true caller; those that CPython writes to its
jitdump do, but where the document says what they say.
"""
import struct
import sys
import tempfile

import tap
import machines
from judge import Wrong, judge
from machines import Machine
from remote import Remote
from step import step_through, symbols, wrap
from tables import Frames

# What a call pushes is above the stack pointer: step.py's other machines have
# it in a register.
AMD64 = Machine(
    triple='x86_64-linux-gnu', entry='AMD64', sp=7, fp=6, ra=16, pushed=8,
    saved=[3, 6, *range(12, 16)],
    stub=dict(enumerate([0, 3, 2, 1, 4, 5, 6, 7, *range(8, 16)])), pc=16,
    argument=5)


def records(path):
    """Code and unwinding information of each function of a jitdump."""
    with open(path, 'rb') as file:
        data = file.read()
    at, cfi = struct.unpack_from('=I', data, 8)[0], None
    while at < len(data):
        kind, length = struct.unpack_from('=II', data, at)
        body = data[at + 16:at + length]
        if kind == 4:
            size, hdr, _ = struct.unpack_from('=QQQ', body)
            cfi = body[24:24 + size - hdr], body[24 + size - hdr:24 + size]
        elif kind == 0:
            size = struct.unpack_from('=Q', body, 24)[0]
            yield body[-size:], *cfi
        at += length


def run(machine, program, code, tmp):
    """Steps through the trampoline, and the first of what it calls."""
    at = symbols(machine, program)
    command = [machine.emulator, *machine.options, program, code]
    with open(f'{tmp}/out', 'w') as output:
        remote = Remote(command, f'{tmp}/socket', output)
        try:
            remote.run_to(at['step_begin'])
            entry = remote.register(machine.stub[machine.argument],
                                    machine.order)
            remote.run_to(entry)
            return step_through(machine, remote, entry, 32)
        finally:
            remote.close()


def shown(machine, row):
    """A row in few words."""
    if not row:
        return 'no row'
    base, offset = row['cfa']
    text = [f'CFA=r{base}{offset:+}']
    for register in sorted({machine.ra, machine.fp} & set(row)):
        if row[register] != 'same':
            text.append(f'r{register}=[CFA{row[register][1]:+}]')
    return ' '.join(text)


def is_true(machine, row, step, entry):
    try:
        judge(machine, row, step, entry)
        return True
    except Wrong:
        return False


def differences(machine, steps, ours, theirs, place):
    """Lines for each place where the two do not say the same, or are wrong;
    and the places where ours are."""
    lines, wrong = [], []
    for step in steps:
        at = step['lookup'] - steps[0]['lookup']
        rows = ours.row(place + at), theirs.row(place + at)
        good = [is_true(machine, row, step, steps[0]) for row in rows]
        texts = [shown(machine, row) for row in rows]
        if not good[0]:
            wrong.append(f'+{at} {texts[0]}')
        if texts[0] != texts[1] or not good[1]:
            lines.append(f'+{at}: {texts[1]}, is {texts[0]}' +
                         (', which is as good' if good[1] else ''))
    return lines, wrong


def documented(path, name):
    """The literal block after the line "NAME::"."""
    with open(path) as lines:
        text = lines.read()
    block = text.split(f'\n{name}::\n\n')[1].split('\n\n')[0]
    return [line.strip() for line in block.split('\n')]


def main(name, dump, code, eh_frame, program, document):
    machine = AMD64 if name == 'x86_64' else machines.machine(name)
    with open(code, 'rb') as file:
        source = file.read()
    with open(eh_frame, 'rb') as file:
        made = file.read()
    found = set(records(dump))
    tap.check('its functions have the same code and unwinding information',
               len(found) == 1, f'{len(found)} different ones')
    runs, cfi, hdr = found.pop()
    at_hdr = len(cfi)
    tap.check('what runs is the source', runs == source,
               f'{runs.hex()}, not {source.hex()}')
    place = -(len(runs) + 7 & ~7) % 2**64
    with tempfile.TemporaryDirectory() as tmp:
        steps = run(machine, program, code, tmp)
        seen = {s['lookup'] for s in steps if s['lookup'] == s['pc']}
        tap.check('all instructions and the call were run', len(seen) >= 4 and
                   len(steps) == len(seen) + 1, len(steps))
        ours = Frames('readelf', wrap(machine, tmp, made))
        theirs = Frames('readelf', wrap(machine, tmp, cfi + bytes(4)))
        lines, wrong = differences(machine, steps, ours, theirs, place)
    tap.check('rows of the source are true', not wrong, wrong)
    start = (theirs.fdes[0][0] - place) % 2**64
    indexed = (at_hdr + struct.unpack_from('<i', hdr, 12)[0] - place) % 2**64
    lines[:0] = [f'CIE {cfi[:24].hex()}', f'FDE {cfi[24:].hex()}',
                 f'.eh_frame is for +{start}, .eh_frame_hdr for +{indexed}']
    want = documented(document, name)
    tap.check('CPython says the same, but for what is documented',
               lines == want, '\n' + '\n'.join(lines))
    tap.finish()


if __name__ == '__main__':
    main(*sys.argv[1:])
