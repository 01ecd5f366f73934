# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Rows at an address: of call frame information, as readelf shows its
instructions, and of an SFrame section, by its specification.

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


class Section:
    """A section of one function whose rows repeat, version 3."""

    def __init__(self, machine, address, data):
        self.machine, self.data = machine, data
        self.mark = '<' if machine.order == 'little' else '>'
        (magic, version, flags, abi, fp, ra, aux, fdes, self.fres, length,
         index, rows) = self._unpack('HBBBbbBIIIII', 0)
        if (magic, version, flags, abi, fp, ra, aux, fdes, index) != \
                (0xdee2, 3, 5, machine.abi or machine.trial_abi, 0, 0, 0, 1, 0):
            raise ValueError(f'header {data[:28].hex()}')
        start, self.size, offset = self._unpack('qII', 28)
        self.start = address + 28 + start
        self.at = 28 + rows + offset
        (self.nr, info, kind, self.repeat) = self._unpack('HBBB', self.at)
        self.key_b = bool(info & 0x20)
        # Starts of a byte, PCMASK; not FLEX.
        if info & ~0x20 != 0x10 or kind or len(data) != 28 + rows + length:
            raise ValueError(f'attributes {info:#x} {kind:#x}')

    def _unpack(self, layout, at):
        return struct.unpack_from(self.mark + layout, self.data, at)

    def row(self, address):
        if not 0 <= address - self.start < self.size:
            return None
        place = (address - self.start) % self.repeat
        found, at = None, self.at + 5
        for _ in range(self.nr):
            start, info = self._unpack('BB', at)
            nr, size = info >> 1 & 15, 1 << (info >> 5 & 3)
            words = self._unpack(f'{nr}{"bhi"[size >> 1]}', at + 2)
            at += 2 + nr * size
            if start <= place:
                found = info, words
        return self._rules(*found)

    def _rules(self, info, words):
        machine = self.machine
        cfa = words[0]
        row = {'mangled': bool(info & 0x80)}
        if machine.order == 'big' and machine.bias:
            cfa = cfa * 8 + machine.bias
            row[machine.sp] = ('value', -machine.bias)
        row['cfa'] = (machine.sp if info & 1 else machine.fp, cfa)
        # 0: the return address is not saved, and the frame pointer is.
        if len(words) > 1 and words[1]:
            row[machine.ra] = ('cfa', words[1])
        if len(words) > 2:
            row[machine.fp] = ('cfa', words[2])
        return row
