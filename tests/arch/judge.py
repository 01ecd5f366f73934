# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Whether a row leads from the registers at an instruction to the caller."""


class Wrong(Exception):
    pass


def word(machine, step, address):
    """Of the stack; what is below it is lost."""
    if address < step['registers'][machine.sp] - machine.red_zone:
        raise Wrong(f'{address:#x} is below the stack pointer')
    offset = address - step['stack_address']
    if not 0 <= offset <= len(step['stack']) - 8:
        raise Wrong(f'{address:#x} is not on the stack')
    return int.from_bytes(step['stack'][offset:offset + 8], machine.order)


def value(machine, step, row, cfa, register):
    rule = row.get(register, 'same')
    if rule == 'same':
        return step['registers'][register]
    how, offset = rule
    return word(machine, step, cfa + offset) if how == 'cfa' else cfa + offset


def return_address(machine, step, row, cfa, truth):
    found = value(machine, step, row, cfa, machine.ra)
    if not row['mangled']:
        return found
    if found == truth:
        raise Wrong('the return address is not signed')
    return found & ~machine.signature


def same(what, found, truth):
    if found != truth:
        raise Wrong(f'{what} is {found:#x}, truly {truth:#x}')


def judge(machine, row, step, entry, only=None):
    """Compares the caller's registers with those at the entry, or with only
    some of them for tables that have no others."""
    if not row:
        raise Wrong('no row')
    base, offset = row['cfa']
    cfa = step['registers'][base] + offset
    truth = entry['registers']
    same('CFA', cfa, truth[machine.sp] + machine.pushed + machine.bias)
    same('return address', return_address(machine, step, row, cfa,
                                          truth[machine.ra]),
         truth[machine.ra])
    # The caller's stack pointer is the CFA, if no rule says otherwise.
    if machine.sp in row:
        same('stack pointer', value(machine, step, row, cfa, machine.sp),
             truth[machine.sp])
    elif machine.bias and cfa - machine.bias != step['registers'][machine.sp]:
        raise Wrong('no rule for the stack pointer')
    for register in machine.saved if only is None else only:
        same(f'register {register}',
             value(machine, step, row, cfa, register), truth[register])
