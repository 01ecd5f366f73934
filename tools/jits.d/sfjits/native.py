# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Can a call in an ELF file have led to the frame below?

In front of a return address there is a call. A direct one has entered a
function that is known: that of the frame below, or one that jumps there. So a
stack that lacks a function which was called directly is found out, without
symbols and without the tables that it was made of. A call by a pointer may have
led anywhere.
"""
import os
import struct

from sfdemo import calls, elf
from . import resume

ANYWHERE = None
# Functions that jump to each other.
MOST = 1000
R_JUMP_SLOT, R_GLOB_DAT = 7, 6
STT_FUNC, STT_IFUNC = 2, 10
NOTRACK = 0x3e
# mov $15, %rax; syscall
RESTORER = b'\x48\xc7\xc0\x0f\0\0\0\x0f\x05'
# What a call by a symbol that is not bound yet goes through.
LINKER = 'ld-linux'
# Over these empty functions the module writes a jump to itself.
MODULE = 'libsfjit-preload.so'
DIVERTED = '__jit_debug_register_code', '_dl_debug_state'


def jump_targets(code, start):
    """
    Where jumps in @code at @start may go to, outside of it. Bytes that look
    like a jump count as one: that they name the function in question by chance
    is not likely.
    """
    end = start + len(code)
    for i, byte in enumerate(code):
        if byte == 0xe9 or (byte == 0x0f and i + 1 < len(code) and
                            code[i + 1] >> 4 == 8):
            at = i + 1 + (byte == 0x0f)
            if at + 4 > len(code):
                continue
            to = start + at + 4 + struct.unpack_from('<i', code, at)[0]
        elif byte == 0xeb or byte >> 4 == 7:
            if i + 2 > len(code):
                continue
            to = start + i + 2 + struct.unpack_from('<b', code, i + 1)[0]
        else:
            continue
        if not start <= to < end:
            yield to


def jumps_by_pointer(code):
    """Jumps of a switch have the prefix notrack where functions have endbr."""
    for i in range(len(code) - 1):
        if code[i] != 0xff or code[i + 1] >> 3 & 7 != 4:
            continue
        if not i or code[i - 1] != NOTRACK:
            return True
    return False


class Bound:
    """Symbols of a file: what its PLT goes to, and what it defines."""

    def __init__(self, module):
        self.module = module
        self.slots, self.defined, self.ifuncs = {}, {}, set()
        for section in module.sections:
            if section[1] in (elf.SHT_SYMTAB, elf.SHT_DYNSYM):
                self.read_symbols(section)
            elif section[0] in ('.rela.plt', '.rela.dyn'):
                self.read_relocations(section)

    def symbol(self, section, index):
        name, info, _, shndx, value, _ = struct.unpack_from(
            '<IBBHQQ', self.module.data, section[4] + 24 * index)
        strings = self.module.sections[section[6]][4]
        return self.module.string(strings + name), info & 15, shndx, value

    def read_symbols(self, section):
        for index in range(section[5] // 24):
            name, kind, shndx, value = self.symbol(section, index)
            if shndx and kind in (STT_FUNC, STT_IFUNC):
                self.defined[name] = value
                if kind == STT_IFUNC:
                    self.ifuncs.add(name)

    def read_relocations(self, section):
        symbols = self.module.sections[section[6]]
        for at in range(section[4], section[4] + section[5], 24):
            slot, info = struct.unpack_from('<QQ', self.module.data, at)
            if info & 0xffffffff in (R_JUMP_SLOT, R_GLOB_DAT):
                self.slots[slot] = self.symbol(symbols, info >> 32)[0]

    def stub(self, address):
        """The slot that a PLT entry at @address jumps through, or None."""
        code = self.module.bytes_at(address, address + 16)
        at = code.find(b'\xff\x25')
        if at not in (0, 1, 4, 5) or len(code) < at + 6:
            return None
        return address + at + 6 + struct.unpack_from('<i', code, at + 2)[0]


class Native:
    """Pairs of frames of which the caller is in an ELF file."""

    def __init__(self, modules):
        self.modules = modules
        self.bound = {}
        self.reached = {}
        self.pairs = {}
        self.false = {}

    def symbols(self, module):
        if module.path not in self.bound:
            self.bound[module.path] = Bound(module)
        return self.bound[module.path]

    def place(self, frame, called):
        """(module, start of the function) of a frame; None: in no file."""
        module = None if frame.off is None else self.modules.get(frame.dso)
        address = module.address(frame.off) if module else None
        if address is None:
            return None
        found = module.cfi.function(address - called)
        return module, found and found[0]

    def is_restorer(self, frame):
        """Whether a signal handler returns to this: it calls rt_sigreturn."""
        module = None if frame.off is None else self.modules.get(frame.dso)
        return bool(module) and \
            module.data.startswith(RESTORER, frame.off)

    def is_false(self, frame, called):
        """Whether the call frame information at a frame is false."""
        place = self.place(frame, called)
        if not place or not place[1]:
            return False
        module, start = place
        if (module, start) not in self.false:
            self.false[module, start] = resume.find(module, start)
        found = self.false[module, start]
        return bool(found) and \
            found[0] <= module.address(frame.off) - called < found[1]

    def can_call(self, caller, callee, called):
        """
        Whether the call that returns to @caller can have led to @callee, which
        has itself called something, or not.
        """
        key = caller, callee, called
        if key not in self.pairs:
            below = self.place(callee, called)
            # A wrong frame may be where a file has no code.
            self.pairs[key] = bool(self.place(caller, True)) and (
                self.look(caller, below) or self.binds(caller, below) or
                self.diverts(caller, callee))
        return self.pairs[key]

    def diverts(self, caller, callee):
        """Whether a function was called that now leads to the module."""
        if not callee.dso or os.path.basename(callee.dso) != MODULE:
            return False
        module = self.modules.get(caller.dso)
        target = calls.direct_call(module, module.address(caller.off))
        if target is None:
            return False
        symbols = self.symbols(module)
        slot = symbols.stub(target)
        if slot is not None:
            return symbols.slots.get(slot) in DIVERTED
        return target in [symbols.defined.get(name) for name in DIVERTED]

    def binds(self, caller, below):
        """
        Whether the dynamic linker looks a symbol up. Its code is entered from a
        PLT, so the call is a direct one of a stub.
        """
        if not below or LINKER not in below[0].path:
            return False
        module = self.modules.get(caller.dso)
        target = calls.direct_call(module, module.address(caller.off))
        return target is not None and \
            self.symbols(module).stub(target) is not None

    def look(self, caller, below):
        module = self.modules.get(caller.dso)
        address = module.address(caller.off)
        if calls.indirect_call(module, address):
            return True
        target = calls.direct_call(module, address)
        if target is None:
            return False
        entered = self.entered(module, target)
        return entered is ANYWHERE or below in entered

    def entered(self, module, target):
        """
        The functions that a call of @target can have led to, as place() has
        them; or ANYWHERE.
        """
        key = module, target
        if key not in self.reached:
            self.reached[key] = self.follow([key])
        return self.reached[key]

    def follow(self, ways):
        entered, seen = set(), set()
        while ways:
            module, target = ways.pop()
            found = module.cfi.function(target)
            # Code without call frame information is not looked into; where a
            # function jumps there, it is all that is entered.
            if not found and seen:
                entered.add((module, None))
                continue
            if not found or len(seen) == MOST:
                return ANYWHERE
            entered.add((module, found[0]))
            slot = self.symbols(module).stub(target)
            more = self.by_pointer(module, slot) if slot is not None else \
                self.by_jump(module, *found)
            if more is ANYWHERE:
                return ANYWHERE
            ways += [way for way in more if way not in seen]
            seen.update(more)
        return entered

    @staticmethod
    def by_jump(module, start, end):
        code = module.bytes_at(start, end)
        if jumps_by_pointer(code):
            return ANYWHERE
        return [(module, to) for to in set(jump_targets(code, start))]

    def by_pointer(self, module, slot):
        """The definitions of the symbol that this slot is for."""
        name = self.symbols(module).slots.get(slot)
        found = [(other, self.symbols(other))
                 for other in self.modules.all() if other]
        homes = [(other, symbols.defined[name]) for other, symbols in found
                 if name in symbols.defined]
        if not homes or any(name in symbols.ifuncs for _, symbols in found):
            return ANYWHERE
        return homes
