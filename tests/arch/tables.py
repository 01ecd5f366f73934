# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Rows at an address: of call frame information, as readelf shows its
instructions, and of a packed table, by its specification.

A row is a dict: 'cfa' is (register, offset); 'mangled' says that the return
address is signed; a register's number leads to 'same', ('cfa', offset), which
is loaded from there, or ('value', offset), which is CFA + offset.
"""
import re
import struct
import subprocess


class Frames:
    """readelf --debug-dump=frames, which decodes and does not interpret."""

    def __init__(self, readelf, path):
        text = subprocess.run([readelf, '--debug-dump=frames', path],
                              capture_output=True, text=True, check=True)
        self.rules = {}     # of CIEs, by offset
        self.fdes = []      # (start, end, CIE, instructions)
        self.cies = {}
        if text.stderr:
            raise ValueError(text.stderr)
        for block in text.stdout.split('\n\n'):
            self._read(block)

    def _read(self, block):
        head = re.search(r'^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (CIE|FDE)(.*)$',
                         block, re.M)
        if not head:
            return
        code = re.findall(r'^  (DW_CFA_\w+):? ?(.*)$', block, re.M)
        if head[2] == 'CIE':
            self.cies[int(head[1], 16)] = code
            return
        of = re.match(r' cie=(\w+) pc=(\w+)\.\.(\w+)', head[3])
        cie, start, end = (int(n, 16) for n in of.groups())
        self.fdes.append((start, end, cie, code))

    def row(self, address):
        for start, end, cie, code in self.fdes:
            if (address - start) % 2**64 < (end - start) % 2**64:
                return self._run(cie, code, start, address)
        return None

    def _run(self, cie, code, start, address):
        # gas's CIE of RISC-V sets the register alone.
        row = {'cfa': (None, 0), 'mangled': False}
        for name, text in self.cies[cie]:
            self._step(row, {}, [], name, text)
        initial, stack, at = dict(row), [], start
        for name, text in code:
            if name.startswith('DW_CFA_advance_loc'):
                at += int(text.split()[0])
                if (address - at) % 2**64 >= 2**63:
                    break
            self._step(row, initial, stack, name, text)
        return row

    @staticmethod
    def _step(row, initial, stack, name, text):
        name = name.removeprefix('DW_CFA_')
        register = re.match(r'r(\d+)', text)
        register = register and int(register[1])
        number = re.search(r'([+-]?\d+)$', text)
        number = number and int(number[1])
        if name in ('nop',) or name.startswith('advance_loc'):
            return
        if name == 'def_cfa':
            row['cfa'] = (register, number)
        elif name == 'def_cfa_offset':
            row['cfa'] = (row['cfa'][0], number)
        elif name == 'def_cfa_register':
            row['cfa'] = (register, row['cfa'][1])
        elif name in ('offset', 'offset_extended', 'offset_extended_sf'):
            row[register] = ('cfa', number)
        elif name in ('val_offset', 'val_offset_sf'):
            row[register] = ('value', number)
        elif name in ('restore', 'restore_extended'):
            row[register] = initial.get(register, 'same')
        elif name == 'same_value':
            row[register] = 'same'
        elif name == 'AARCH64_negate_ra_state':
            row['mangled'] = not row['mangled']
        elif name == 'remember_state':
            stack.append(dict(row))
        elif name == 'restore_state':
            row.clear()
            row.update(stack.pop())
        else:
            raise ValueError(f'DW_CFA_{name} {text}')


class Table:
    """A packed table of one bucket whose rules repeat."""

    BLOCK, WIDE, OFFSET = 1 << 31, 1 << 30, (1 << 30) - 1
    PLAIN, RULES = 1, 2

    def __init__(self, machine, data):
        self.machine, self.data = machine, data
        self.mark = '<' if machine.order == 'little' else '>'
        (magic, version, abi, self.shift, self.repeat, self.nr, self.start,
         self.size, length, _) = self._unpack('HBBBBHQIIQ', 0)
        if (magic, version, abi) != \
                (0x5053, 1, machine.abi or machine.trial_abi):
            raise ValueError(f'header {data[:32].hex()}')
        self.index = 32 + 16 * self.nr
        if len(data) != self.index + 4 + length + 8 or any(data[-8:]):
            raise ValueError(f'{len(data)} bytes, {length} of blocks')
        self.key_b = any(self._rule(i)[0] & 0x10 for i in range(self.nr))

    def _unpack(self, layout, at):
        return struct.unpack_from(self.mark + layout, self.data, at)

    def _rule(self, number):
        return self._unpack('BBBBiii', 32 + 16 * number)

    def row(self, address):
        if not 0 <= address - self.start < self.size:
            return None
        unit = (address - self.start) % self.repeat >> self.shift
        number, = self._unpack('I', self.index)
        if number & self.BLOCK:
            number = self._find(number, unit)
        return self._rules(*self._rule(number))

    def _find(self, entry, unit):
        at = self.index + 4 + (entry & self.OFFSET)
        nr = self.data[at]
        changes = self.data[at + 1:at + 1 + nr]
        place = sum(change <= unit for change in changes)
        at += 1 + nr
        if entry & self.WIDE:
            return self._unpack('H', at + 2 * place)[0]
        return self.data[at + place]

    def _rules(self, kind, cfa, ra, fp, cfa_off, ra_off, fp_off):
        machine = self.machine
        row = {'mangled': bool(kind & 0x08)}
        if machine.bias:
            row[machine.sp] = ('value', -machine.bias)
        if kind & 7 == self.PLAIN:
            register = machine.fp if kind & 0x40 else machine.sp
            ra, fp = 0xa0, 0xa0 if kind & 0x80 else 0
        elif kind & 7 == self.RULES and cfa & 0xe0 == 0x40:
            register = cfa & 0x1f
        else:
            raise ValueError(f'rule of kind {kind:#x}')
        row['cfa'] = (register, cfa_off)
        for place, offset, number in ((ra, ra_off, machine.ra),
                                      (fp, fp_off, machine.fp)):
            if place not in (0, 0xa0):
                raise ValueError(f'place {place:#x}')
            if place:
                row[number] = ('cfa', offset)
        return row
