# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""As much of an ELF file and its .eh_frame as the demo needs: which function
(FDE) covers an address, and whether its CFI calls the return address undefined
there, which is how code says that it has no caller.
"""
import bisect
import struct

PT_LOAD = 1
SHT_SYMTAB, SHT_DYNSYM = 2, 11
EM_S390, EM_X86_64, EM_AARCH64 = 22, 62, 183
# EI_CLASS and EI_DATA of each.
IDENTS = {EM_S390: b'\2\2', EM_X86_64: b'\2\1', EM_AARCH64: b'\2\1'}


class ElfError(Exception):
    pass


class Elf:
    """An ELF file of x86-64, AArch64 or s390x."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            self.data = file.read()
        self.path = path
        try:
            self.read_header()
            self.cfi = Cfi(*self.section('.eh_frame'), self.order)
        except (struct.error, IndexError, KeyError) as error:
            raise ElfError('%s: damaged: %s' % (path, error)) from error

    def read_header(self):
        self.order = '>' if self.data[5] == 2 else '<'
        self.machine, = self.unpack('H', 18)
        if self.data[:6] != b'\x7fELF' + IDENTS.get(self.machine, b''):
            raise ElfError('%s: no ELF file of x86-64, AArch64 or s390x' %
                           self.path)
        self.entry, phoff, shoff = self.unpack('QQQ', 24)
        phnum, _, shnum, shstrndx = self.unpack('HHHH', 56)
        self.loads = self.read_loads(phoff, phnum)
        self.sections = self.read_sections(shoff, shnum, shstrndx)

    def unpack(self, form, at):
        return struct.unpack_from(self.order + form, self.data, at)

    def read_loads(self, phoff, phnum):
        loads = []
        for i in range(phnum):
            kind, _, offset, vaddr, _, filesz = self.unpack(
                'IIQQQQ', phoff + 56 * i)
            if kind == PT_LOAD:
                loads.append((offset, filesz, vaddr))
        return loads

    def read_sections(self, shoff, shnum, shstrndx):
        raw = [self.unpack('IIQQQQIIQQ', shoff + 64 * i)
               for i in range(shnum)]
        names = raw[shstrndx][4]
        return [(self.string(names + s[0]),) + s[1:] for s in raw]

    def string(self, offset):
        return self.data[offset:self.data.index(b'\0', offset)].decode()

    def section(self, name):
        for s in self.sections:
            if s[0] == name:
                return self.data[s[4]:s[4] + s[5]], s[3]
        raise ElfError('%s: no %s' % (self.path, name))

    def symbols(self):
        """name -> (address, size) of all defined functions."""
        found = {}
        for s in self.sections:
            if s[1] not in (SHT_SYMTAB, SHT_DYNSYM):
                continue
            strings = self.sections[s[6]][4]
            for at in range(s[4], s[4] + s[5], 24):
                name, info, _, shndx, value, size = self.unpack('IBBHQQ', at)
                if shndx and info & 15 == 2:
                    found[self.string(strings + name)] = (value, size)
        return found

    def address(self, offset):
        """Link-time address of a position in the file, or None."""
        for start, size, vaddr in self.loads:
            if start <= offset < start + size:
                return vaddr + offset - start
        return None

    def bytes_at(self, start, end):
        """Contents of link-time addresses, what is not in the file left out."""
        for offset, size, vaddr in self.loads:
            if vaddr <= start < vaddr + size:
                end = min(end, vaddr + size)
                return self.data[offset + start - vaddr:offset + end - vaddr]
        return b''

    def function(self, offset):
        """[start, end) of the FDE that covers a file position, or None."""
        address = self.address(offset)
        return None if address is None else self.cfi.function(address)

    def outermost(self, offset):
        """Does the CFI call the return address undefined there?"""
        address = self.address(offset)
        return address is not None and self.cfi.ra_undefined(address)


def uleb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def skip_leb(data, at):
    while data[at] >= 0x80:
        at += 1
    return at + 1


# Pointer encodings: low nibble -> struct format.
FORMATS = {0: 'Q', 2: 'H', 3: 'I', 4: 'Q', 10: 'h', 11: 'i', 12: 'q'}


class Cie:
    """Common part of FDEs: encoding of addresses and first instructions."""

    def __init__(self, data, at, end, order):
        self.encoding, self.order = 0, order
        version = data[at]
        mark = data.index(b'\0', at + 1)
        augmentation = data[at + 1:mark].decode()
        self.code_align, at = uleb(data, mark + 1)
        at = skip_leb(data, at)
        self.ra, at = ((data[at], at + 1) if version == 1
                       else uleb(data, at))
        self.augmented = augmentation.startswith('z')
        if self.augmented:
            size, at = uleb(data, at)
            self.read_augmentation(data, at, augmentation[1:])
            at += size
        self.program = data[at:end]

    def read_augmentation(self, data, at, letters):
        for letter in letters:
            if letter == 'R':
                self.encoding = data[at]
                at += 1
            elif letter == 'L':
                at += 1
            elif letter == 'P':
                at += 1 + struct.calcsize('=' + FORMATS[data[at] & 15])
            elif letter not in 'SB':
                break


class Cfi:
    """All FDEs of an .eh_frame, sorted."""

    def __init__(self, data, base, order='<'):
        self.data, self.base, self.order = data, base, order
        self.cies = {}
        self.fdes = sorted(self.read())
        self.starts = [fde[0] for fde in self.fdes]

    def unpack(self, form, at):
        return struct.unpack_from(self.order + form, self.data, at)

    def read(self):
        at = 0
        while at + 4 <= len(self.data):
            length, = self.unpack('I', at)
            if length == 0:
                return
            pointer, = self.unpack('I', at + 4)
            if pointer:
                yield self.read_fde(at, at + 4 + length, at + 4 - pointer)
            at += 4 + length

    def cie(self, at):
        if at not in self.cies:
            length, = self.unpack('I', at)
            self.cies[at] = Cie(self.data, at + 8, at + 4 + length, self.order)
        return self.cies[at]

    def read_fde(self, at, end, cie_at):
        cie = self.cie(cie_at)
        form = FORMATS[cie.encoding & 15]
        size = struct.calcsize('=' + form)
        start, = self.unpack(form, at + 8)
        if cie.encoding & 0x70 == 0x10:
            start += self.base + at + 8
        length, = self.unpack(form.upper(), at + 8 + size)
        program = at + 8 + 2 * size
        if cie.augmented:
            skip, program = uleb(self.data, program)
            program += skip
        return start, start + length, cie_at, program, end

    def find(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        if i < 0 or address >= self.fdes[i][1]:
            return None
        return self.fdes[i]

    def function(self, address):
        fde = self.find(address)
        return fde and fde[:2]

    def ra_undefined(self, address):
        fde = self.find(address)
        if fde is None:
            return False
        start, _, cie_at, program, end = fde
        cie = self.cie(cie_at)
        first = RaRule(cie, False)
        first.run(cie.program, start, None)
        rule = RaRule(cie, first.undefined)
        rule.run(self.data[program:end], start, address)
        return rule.undefined


# Operands of the instructions that have no effect on the return address rule
# unless they name its register: L a LEB128, B a block (ULEB128 length first),
# digits so many bytes. The second item: is the first operand a register?
OPERANDS = {
    0x00: ('', False), 0x05: ('LL', True), 0x06: ('L', True),
    0x07: ('L', True), 0x08: ('L', True), 0x09: ('LL', True),
    0x0c: ('LL', False), 0x0d: ('L', False), 0x0e: ('L', False),
    0x0f: ('B', False), 0x10: ('LB', True), 0x11: ('LL', True),
    0x12: ('LL', False), 0x13: ('L', False), 0x14: ('LL', True),
    0x15: ('LL', True), 0x16: ('LB', True), 0x2d: ('', False), 0x2e: ('L', False),
    0x2f: ('LL', True),
}
UNDEFINED, RESTORE = 0x07, 0x06
REMEMBER_STATE, RESTORE_STATE, SET_LOC = 0x0a, 0x0b, 0x01
ADVANCE = {0x02: 1, 0x03: 2, 0x04: 4}


class RaRule:
    """Runs CFI instructions and keeps only: is the return address undefined?"""

    def __init__(self, cie, initial):
        self.cie = cie
        self.initial = self.undefined = initial
        self.stack = []

    def run(self, code, location, target):
        """Up to the row of target; None: all of it."""
        at = 0
        while at < len(code):
            byte = code[at]
            advance, at = self.advance(code, at, byte)
            if advance is None:
                at = self.instruction(code, at, byte)
                continue
            location += advance * self.cie.code_align
            if target is not None and location > target:
                return

    def advance(self, code, at, byte):
        """(delta or None, next position)"""
        if byte >> 6 == 1:
            return byte & 0x3f, at + 1
        if byte in ADVANCE:
            size = ADVANCE[byte]
            order = 'big' if self.cie.order == '>' else 'little'
            delta = int.from_bytes(code[at + 1:at + 1 + size], order)
            return delta, at + 1 + size
        if byte == SET_LOC:
            raise ElfError('DW_CFA_set_loc is not supported')
        return None, at

    def instruction(self, code, at, byte):
        if byte >> 6 == 2:
            self.rule(byte & 0x3f, 'offset')
            return skip_leb(code, at + 1)
        if byte >> 6 == 3:
            self.rule(byte & 0x3f, RESTORE)
            return at + 1
        if byte == REMEMBER_STATE:
            self.stack.append(self.undefined)
            return at + 1
        if byte == RESTORE_STATE:
            self.undefined = self.stack.pop()
            return at + 1
        return self.with_operands(code, at + 1, byte)

    def with_operands(self, code, at, byte):
        if byte not in OPERANDS:
            raise ElfError('unknown CFI instruction 0x%x' % byte)
        operands, has_register = OPERANDS[byte]
        if has_register:
            self.rule(uleb(code, at)[0], byte)
        for kind in operands:
            if kind == 'B':
                size, at = uleb(code, at)
                at += size
            else:
                at = skip_leb(code, at)
        return at

    def rule(self, register, what):
        if register != self.cie.ra:
            return
        self.undefined = self.initial if what == RESTORE else what == UNDEFINED
