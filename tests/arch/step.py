#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: step.py MACHINE BUILD

Description: from each instruction of each trampoline the true caller is found,
by the call frame information of the assembler, by that of the template, and by
the table of the window; and a directive that is wrong is found.

A program calls the trampolines under qemu-user, which steps. What is true at
the first instruction, by the psABI, is what each row has to lead to.
"""
import os
import re
import subprocess
import sys
import tempfile

import tap
import machines
from judge import Wrong, judge
from remote import Remote
from tables import Frames, Table

STACK = 1024        # bytes above and below the stack pointer
MARK = 0x7a11c0de5eed0bad


class Trampoline:
    def __init__(self, name):
        self.name = name
        self.numbers, self.bytes = {}, {}
        self.steps = []     # by the program, the first at the entry
        self.outside = 0    # of these, those in what was called

    def offset(self, step):
        return step['lookup'] - self.numbers['entry']


def symbols(machine, program):
    text = subprocess.run([f'{machine.triple}-nm', program], check=True,
                          capture_output=True, text=True).stdout
    return {name: int(at, 16) for at, _, name in
            re.findall(r'^(\w+) (\w) (\w+)$', text, re.M)}


def look(machine, remote):
    registers = {dwarf: remote.register(number, machine.order)
                 for dwarf, number in machine.stub.items()}
    stack = registers[machine.sp] - STACK
    pc = remote.register(machine.pc, machine.order)
    memory = remote.memory(stack, 2 * STACK)
    if machine.pushed:
        # As if there was a register for it.
        registers[machine.ra] = int.from_bytes(
            memory[STACK:STACK + machine.pushed], machine.order)
    return {'registers': registers, 'pc': pc, 'lookup': pc,
            'stack_address': stack, 'stack': memory}


def step_through(machine, remote, entry, size):
    """All steps from the entry until it has returned. The frame pointer has a
    value meanwhile that the stack has nowhere else."""
    number = machine.stub[machine.fp]
    frame = remote.register(number, machine.order)
    remote.set_register(number, MARK, machine.order)
    steps = steps_through(machine, remote, entry, size)
    remote.set_register(number, frame, machine.order)
    return steps


def steps_through(machine, remote, entry, size):
    steps = [look(machine, remote)]
    truth = steps[0]['registers']
    while True:
        if not remote.step():
            raise RuntimeError('the program has ended in a trampoline')
        step = look(machine, remote)
        if step['pc'] == truth[machine.ra] and \
                step['registers'][machine.sp] == \
                truth[machine.sp] + machine.pushed:
            return steps
        if not 0 <= step['pc'] - entry < size:
            # At the first instruction of what was called: the trampoline is
            # its caller, and a walk looks in front of the return address.
            back = step['registers'][machine.ra]
            step['lookup'] = back - 1
            step['registers'][machine.sp] += machine.pushed
            steps.append(step)
            if not remote.run_to(back):
                raise RuntimeError('the program has ended in a call')
            step = look(machine, remote)
        steps.append(step)


def run(machine, program, tmp):
    """The trampolines, by name, with their steps."""
    at = symbols(machine, program)
    path = os.path.join(tmp, 'out')
    command = [machine.emulator, *machine.options, '-L',
               f'/usr/{machine.triple}', program]
    all_steps = []
    with open(path, 'w') as output:
        remote = Remote(command, os.path.join(tmp, 'socket'), output)
        try:
            while remote.run_to(at['step_begin']):
                entry = remote.register(machine.stub[machine.argument],
                                        machine.order)
                if not remote.run_to(entry):
                    raise RuntimeError('the trampoline is not called')
                # The size of a slot is a power of two, known below.
                all_steps.append(step_through(machine, remote, entry, 64))
        finally:
            remote.close()
    return read(path, all_steps)


def read(path, all_steps):
    found = {}
    with open(path) as lines:
        for line in lines:
            what, name, text = line.split()
            tramp = found.setdefault(name, Trampoline(name))
            if what in ('table', 'eh_frame'):
                tramp.bytes[what] = bytes.fromhex(text)
            else:
                tramp.numbers[what] = int(text, 16)
    for tramp, steps in zip(found.values(), all_steps, strict=True):
        tramp.steps = steps
    return found


def instructions(machine, path):
    """Offsets of the instructions of each function, up to the traps."""
    text = subprocess.run([f'{machine.triple}-objdump', '-d', path],
                          check=True, capture_output=True, text=True).stdout
    found = {}
    for function in re.split(r'\n\n', text):
        head = re.match(r'([0-9a-f]+) <(sfjit_\w+)>:\n', function)
        if not head:
            continue
        found[head[2]] = [int(at, 16) - int(head[1], 16) for at, rest in
                          re.findall(r'^ *([0-9a-f]+):\t(.*)$', function, re.M)
                          if not is_trap(rest)]
    return found


def is_trap(text):
    return not int(re.match(r'([0-9a-f ]+)', text)[1].replace(' ', ''), 16)


def mistake(machine, tramp, table, place, only=None):
    """What is wrong with the rows, or ''. @place: of the slot, in the table"""
    for step in tramp.steps:
        at = tramp.offset(step)
        try:
            judge(machine, table.row(place + at), step, tramp.steps[0], only)
        except Wrong as wrong:
            return f'+{at:#x}: {wrong}'
    return ''


def wrap(machine, tmp, data):
    """An object file whose .eh_frame this is."""
    raw, path = os.path.join(tmp, 'raw'), os.path.join(tmp, 'wrapped.o')
    with open(raw, 'wb') as out:
        out.write(data)
    empty = os.path.join(tmp, 'empty.o')
    subprocess.run([f'{machine.triple}-gcc', '-c', '-x', 'assembler', '-o',
                    empty, '/dev/null'], check=True)
    subprocess.run([f'{machine.triple}-objcopy', '--add-section',
                    f'.eh_frame={raw}', empty, path], check=True)
    return path


def check_tramp(machine, tramp, object_file, frames, readelf, tmp):
    name = tramp.name
    tap.check(f'{name}: result', tramp.numbers.get('result') == 1235,
               f'{tramp.numbers}')
    want = instructions(machine, object_file)[name]
    slot = tramp.numbers['slot']
    seen = sorted({tramp.offset(s) for s in tramp.steps
                   if s['lookup'] == s['pc']})
    tap.check(f'{name}: each of {len(want)} instructions was run',
               seen == want, f'{seen}, not {want}')
    outside = [s for s in tramp.steps if s['lookup'] != s['pc']]
    tap.check(f'{name}: one call', len(outside) == 1, f'{len(outside)}')
    place = symbols(machine, object_file)[name]
    wrong = mistake(machine, tramp, frames, place)
    tap.check(f'{name}: .eh_frame of the assembler', not wrong, wrong)
    entry = tramp.numbers['entry']
    made = Frames(readelf, wrap(machine, tmp, tramp.bytes['eh_frame']))
    wrong = mistake(machine, tramp, made, entry)
    tap.check(f'{name}: .eh_frame of the template', not wrong, wrong)
    check_table(machine, tramp, entry, slot)


def check_table(machine, tramp, entry, slot):
    table = Table(machine, tramp.bytes['table'])
    wrong = mistake(machine, tramp, table, entry, [machine.fp])
    tap.check(f'{tramp.name}: table of the window', not wrong, wrong)
    tap.check(f'{tramp.name}: table repeats with the slot',
               table.repeat == slot and table.size == 65536,
               f'{table.repeat} {table.size}')
    tap.check(f'{tramp.name}: key of the table',
               table.key_b == tramp.name.endswith('_b'), table.key_b)


# ---- Directives that are wrong ---------------------------------------------

def mutants(lines):
    """(line, text) of each change of one directive."""
    for at, line in enumerate(lines):
        if not re.match(r'\s*\.cfi_(?!startproc|endproc|b_key)', line):
            continue
        yield at, ''
        number = re.search(r'(?<=[ ,\t])-?\d+$', line.rstrip())
        if number:
            yield at, f'{line[:number.start()]}{int(number[0]) + 16}\n'


def function_at(lines, at):
    """The name of the function that a line of the preprocessed file is in."""
    for line in reversed(lines[:at]):
        found = re.match(r'\s*slot_start (\w+)', line)
        if found:
            return found[1]
    raise ValueError(f'line {at + 1} is in no function')


def is_needless(machine, line):
    """The place where a register was saved is the caller's memory, or in the
    red zone: it is right to say that it still has the value."""
    return '.cfi_restore' in line and machine.keeps_slots


def check_mutants(machine, found, source, readelf, tmp):
    with open(source) as text:
        lines = text.readlines()
    total, missed = 0, []
    for at, text in mutants(lines):
        if is_needless(machine, lines[at]):
            continue
        total += 1
        path = os.path.join(tmp, 'mutant')
        with open(path + '.s', 'w') as out:
            out.writelines(lines[:at] + [text] + lines[at + 1:])
        subprocess.run([f'{machine.triple}-gcc', '-c', '-o', path + '.o',
                        path + '.s'], check=True)
        tramp = found[function_at(lines, at)]
        place = symbols(machine, path + '.o')[tramp.name]
        if not mistake(machine, tramp, Frames(readelf, path + '.o'), place):
            missed.append(f'{tramp.name}: {lines[at].strip()} -> '
                          f'{text.strip() or "nothing"}')
    tap.check(f'each of {total} wrong directives is found',
               total >= 8 and not missed, missed)


def main(name, build):
    machine = machines.machine(name)
    readelf = 'readelf'
    trampoline = f'{build}/obj/arch/{name}/trampoline'
    object_file = trampoline + '.o'
    with tempfile.TemporaryDirectory() as tmp:
        found = run(machine, f'{build}/tests/arch/step', tmp)
        frames = Frames(readelf, object_file)
        tap.check('all trampolines', set(found) == set(
            instructions(machine, object_file)), list(found))
        for tramp in found.values():
            check_tramp(machine, tramp, object_file, frames, readelf, tmp)
        check_mutants(machine, found, trampoline + '.s', readelf, tmp)
    tap.finish()


if __name__ == '__main__':
    main(*sys.argv[1:])
